"""Sessions of coding agents, a row each: what an import takes, and what was said and by whom.

A row has the lines of a file, the messages that are imported with the lines left out, and the
events that autopsy, handoff, hooks and search see.
"""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path
from typing import Any

from foreword.messages.call_pairs import mend
from foreword.messages.parts import Part
from foreword.transcripts import events
from foreword.transcripts.import_file import read_transcript
from foreword.transcripts.reader import open_session, read_session
from tests.corpus import check_each, rows

Case = dict[str, Any]
CASES: list[Case] = rows("transcripts/sessions.jsonl")


def file_of(case: Case, end: int | None = None) -> bytes:
    if "document" in case:
        return json.dumps(case["lines"][0], indent=1).encode()
    return "".join(json.dumps(line) + "\n" for line in case["lines"][:end]).encode()


def row_of(event: events.AgentEvent) -> list[Any]:
    """An event as the rows have it."""
    match event:
        case events.SessionHead():
            return ["head", event.session, event.folder]
        case events.MessageEvent():
            return ["typed" if event.by_user else event.message.role, event.message.text]
        case events.NoteEvent():
            return ["note", event.source, event.text]
        case events.CompactionEvent():
            return ["compaction", event.summary, event.trigger, event.tokens_before]
        case events.ModelCallEvent():
            return ["call", event.input_tokens, event.cache_read_tokens, event.output_tokens]
        case _:
            return ["bad line"]


def test_a_session_is_imported_whole_and_calls_keep_their_results() -> None:
    def is_imported(case: Case) -> None:
        transcript = read_transcript(file_of(case), "a" if "document" in case else "a.jsonl")
        messages = list(transcript)
        said = []
        for message in messages:
            role = message.role if message.kind == "conversation" else message.kind
            said.append([role, message.text])
        assert (said, dict(transcript.skipped)) == (case["imported"], case["left_out"])
        assert mend(messages)[1] == case.get("unanswered", [])

    check_each(CASES, is_imported)


def test_what_was_said_and_by_whom_is_told_and_what_no_model_read_is_not() -> None:
    def is_told(case: Case) -> None:
        session = read_session(BytesIO(file_of(case)))
        if "session" not in case:
            assert session is None
            return
        assert session is not None
        assert session.agent == case["agent"]
        assert list(map(row_of, session.events)) == case["session"]
        assert not session.skipped

    check_each(CASES, is_told)


def test_a_session_that_grows_is_imported_once_wherever_it_was_cut() -> None:
    def parts_of(case: Case, known: set[str], end: int | None = None) -> list[Part]:
        messages = list(read_transcript(file_of(case, end), "a.jsonl", known))
        for message in messages:
            known.update(message.marks)
        return [part for message in messages for part in message.parts]

    def is_imported_once(case: Case) -> None:
        whole = parts_of(case, set())
        for end in range(1, len(case["lines"])):
            known = set[str]()
            parts = parts_of(case, known, end) + parts_of(case, known)
            assert sorted(map(repr, parts)) == sorted(map(repr, whole))
            assert parts_of(case, known) == []

    only_grow = [case for case in CASES if not case.keys() & {"document", "shrinks"}]
    check_each(only_grow, is_imported_once)


def test_a_file_may_be_compressed_and_what_can_not_be_read_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl.gz"
    bad = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": 3}}
    lines = [file_of(CASES[0]), b"{broken\n", json.dumps(bad).encode()]
    path.write_bytes(gzip.compress(b"".join(lines)))
    with open_session(path) as session:
        assert session is not None
        assert list(map(row_of, session.events)) == CASES[0]["session"]
        assert sum(session.skipped.values()) == 2
    for raw in (b"", b"hello", b"[1, 2]", b'{"a": 1}', b"\x1f\x8bbroken"):
        assert read_session(BytesIO(raw)) is None
