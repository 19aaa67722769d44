"""The public data sets, each read from a folder where somebody has put it; none is shipped.

Where they come from and under which licences is in `docs/evals.md`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.evals.cases import Case, Turn

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D\d+:\d+")


def _json_files(folder: Path) -> Iterator[tuple[Path, Any]]:
    for path in sorted(folder.rglob("*.json")):
        yield path, json.loads(path.read_text("utf-8"))


def _dialogues(folder: Path) -> Iterator[Case]:
    """LoCoMo and REALTALK: sessions with dates, questions with the ids of their evidence."""
    for _, data in _json_files(folder):
        for sample in data if isinstance(data, list) else [data]:
            yield from _dialogue_cases(sample)


def _dialogue_cases(sample: Mapping[str, Any]) -> Iterator[Case]:
    talk = sample.get("conversation", sample)
    turns: list[Turn] = []
    places: dict[str, int] = {}
    for name in sorted(filter(_SESSION.fullmatch, talk), key=lambda name: int(name[8:])):
        for turn in talk[name]:
            text = turn.get("text") or turn.get("clean_text") or ""
            caption = turn.get("blip_caption")
            places[turn["dia_id"]] = len(turns)
            turns.append(
                Turn(
                    text=f"{text} [image: {caption}]" if caption else text,
                    speaker=turn["speaker"],
                    date=str(talk.get(f"{name}_date_time", "")),
                    session=name,
                )
            )
    for asked in sample.get("qa", ()):
        found = _EVIDENCE.findall(" ".join(map(str, asked.get("evidence", ()))))
        evidence = frozenset(places[each] for each in found if each in places)
        # The fifth category of LoCoMo asks for what was never said.
        if evidence and asked.get("category") != 5:
            yield Case(turns=turns, question=asked["question"], evidence=evidence)


def _longmemeval(folder: Path) -> Iterator[Case]:
    """LongMemEval: sessions of a user with an assistant; turns that have the answer are marked."""
    for _, data in _json_files(folder):
        for sample in data:
            turns: list[Turn] = []
            evidence: set[int] = set()
            sessions = zip(
                sample["haystack_session_ids"],
                sample["haystack_dates"],
                sample["haystack_sessions"],
                strict=True,
            )
            for name, date, session in sessions:
                for turn in session:
                    if turn.get("has_answer"):
                        evidence.add(len(turns))
                    turns.append(
                        Turn(
                            text=turn["content"],
                            role=turn["role"],
                            speaker=turn["role"],
                            date=date,
                            session=name,
                        )
                    )
            if evidence:
                question = sample["question"]
                yield Case(turns=turns, question=question, evidence=frozenset(evidence))


def _qmsum(folder: Path) -> Iterator[Case]:
    """QMSum: meetings, and the spans of turns that a specific question is about."""
    for _, meeting in _json_files(folder):
        turns = [
            Turn(text=turn["content"], speaker=turn["speaker"])
            for turn in meeting["meeting_transcripts"]
        ]
        for asked in meeting.get("specific_query_list", ()):
            evidence: set[int] = set()
            for first, last in asked["relevant_text_span"]:
                evidence.update(range(int(first), int(last) + 1))
            yield Case(turns=turns, question=asked["query"], evidence=frozenset(evidence))


def _beam(folder: Path) -> Iterator[Case]:
    """BEAM: long chats with an assistant, and questions with the ids of the messages they need."""
    for path in sorted(folder.rglob("probing_questions.json")):
        chat = path.parent.parent
        truncated = chat / "chat_trunecated.json"  # the authors' own spelling
        file = truncated if truncated.exists() else chat / "chat.json"
        if not file.exists():
            continue
        messages = list(_messages(json.loads(file.read_text("utf-8"))))
        places = {message["id"]: at for at, message in enumerate(messages)}
        turns = [
            Turn(text=message["content"], role=message["role"], speaker=message["role"])
            for message in messages
        ]
        for questions in json.loads(path.read_text("utf-8")).values():
            for asked in questions:
                found = _numbers(asked.get("source_chat_ids", ()))
                evidence = frozenset(places[each] for each in found if each in places)
                if evidence:
                    yield Case(turns=turns, question=asked["question"], evidence=evidence)


def _messages(data: Any) -> Iterator[Mapping[str, Any]]:
    """Every message in a chat, however deep its batches and turns are nested."""
    if isinstance(data, list):
        for each in data:
            yield from _messages(each)
    elif isinstance(data, dict) and {"role", "content", "id"} <= data.keys():
        yield data
    elif isinstance(data, dict):
        for each in data.values():
            if isinstance(each, list | dict):
                yield from _messages(each)


def _numbers(data: Any) -> Iterator[int]:
    if isinstance(data, int):
        yield data
    elif isinstance(data, dict):
        yield from _numbers(list(data.values()))
    elif isinstance(data, list):
        for each in data:
            yield from _numbers(each)


# By the name of the folder that holds it, below the one that is given.
DATASETS: Mapping[str, Callable[[Path], Iterator[Case]]] = {
    "locomo": _dialogues,
    "realtalk": _dialogues,
    "longmemeval": _longmemeval,
    "qmsum": _qmsum,
    "beam": _beam,
}
