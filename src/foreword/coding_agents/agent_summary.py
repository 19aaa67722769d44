"""The summary that an agent wrote of its own conversation, from the end of its transcript, and what
in it nobody had said or printed before.

Read without the room that reads whole sessions: an agent waits. The check itself is that of every
summary (`compression.check`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foreword.coding_agents import trusted_files
from foreword.coding_agents.hook_events import HookEvent
from foreword.text.program_words import without_program_words

# Of a transcript: behind a summary stand the files that the agent reads again, at most a few
# hundred kilobytes; in front of it what a window holds, one or two megabytes.
TAIL_BYTES = 4 * 1024 * 1024
SNAPSHOT = "<state_snapshot>"  # opens the summary of Gemini CLI
_MARKS = ('"isCompactSummary"', '"compacted"', SNAPSHOT)
_NO_WORDS = ("data", "signature", "encrypted_content")  # of images and thoughts


@dataclass(frozen=True, slots=True)
class TranscriptEnding:
    """The end of a transcript, and whether that is all of it."""

    text: str = ""
    is_whole: bool = False


def transcript_ending(event: HookEvent, root: Path) -> TranscriptEnding:
    """The end of the transcript that an event names; empty where it names none."""
    if not event.transcript:
        return TranscriptEnding()
    path = trusted_files.real_path_of(event.transcript, root)
    if not path.exists():  # a new conversation has none yet
        return TranscriptEnding()
    text = trusted_files.tail(path, TAIL_BYTES).decode("utf-8", "replace")
    return TranscriptEnding(text, path.stat().st_size <= TAIL_BYTES)


def newest_summary(ending: str) -> str:
    """The newest summary in the end of a transcript; empty where there is none."""
    for line in reversed(ending.split("\n")):
        if any(mark in line for mark in _MARKS):
            summary = _summary_in(line)
            if summary:
                return summary
    return ""


def unproven_names(ending: TranscriptEnding, summary: str, also: Iterable[str]) -> tuple[str, ...]:
    """What a summary names that its writer can't have read: not in the transcript since the
    compaction before it, nor in the summary of that one, nor in other texts that the agent has.
    Nothing where the transcript is too long to be looked through."""
    from foreword.compression.check import Evidence, check_against

    known = list(also)
    texts = list(known)
    user_texts = list(known)
    is_whole = ending.is_whole
    for line in ending.text.split("\n"):
        marked = any(mark in line for mark in _MARKS)
        earlier = _summary_in(line) if marked else ""
        if earlier == summary:
            evidence = Evidence(texts, user_texts)
            return check_against(summary, evidence).names if is_whole else ()
        if earlier:
            is_whole = True
            texts = [*known, earlier]
            user_texts = [*known, earlier]
            continue
        said = list(_said_in(line))
        texts += said
        if not _is_by_assistant(line):
            user_texts += said
    return ()  # it is of another transcript


def is_in_play(ending: str, words: str) -> bool:
    """Whether these words were said to the model since the last compaction."""
    since = max(ending.rfind(mark) for mark in _MARKS)
    return json.dumps(words)[1:-1] in ending[max(0, since) :]


def _is_by_assistant(line: str) -> bool:
    # All agents write the role in front of the content, which may be megabytes.
    return '"assistant"' in line[:2_000]


def _said_in(line: str) -> Iterator[str]:
    """Every text in a line. Claude Code has results twice, once as its program needs them."""
    value = _object_in(line)
    for name in ("message", "payload"):
        if isinstance(value.get(name), dict):
            value = value[name]
            break
    for text in _texts(value, lambda name: name not in _NO_WORDS):
        yield text
        if "\\n" in text:  # arguments of a call, JSON inside JSON
            yield text.replace("\\n", "\n").replace('\\"', '"')


def _object_in(line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _summary_in(line: str) -> str:
    """The summary that a line holds: Claude Code's, Codex's, or that of Gemini CLI."""
    value = _object_in(line)
    if value.get("isCompactSummary"):
        return without_program_words("\n".join(_texts(value.get("message"), _is_content)))
    payload = value.get("payload")
    if value.get("type") == "compacted" and isinstance(payload, dict):
        return str(payload.get("message") or "")
    snapshots = [text for text in _texts(value, _is_content) if SNAPSHOT in text]
    return "\n".join(snapshots)


def _is_content(name: str) -> bool:
    return name in ("content", "text", "messages", "$set")


def _texts(value: object, is_read: Callable[[str], bool]) -> Iterator[str]:
    """The texts in a value, however deep they are, under the names that are read."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            if is_read(name):
                yield from _texts(member, is_read)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member, is_read)
