"""A task that the plan calls finished stays so: a summary must not make it look open again.

Works on any text, by this package or by a model. It adds a word to the lines that speak of a
finished task as something to do; it removes nothing and moves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from foreword.compression.statements import states
from foreword.pattern import lazy_pattern
from foreword.text.words import STOP_WORDS, words

# Of the words of a task, for a line to be about it: a line seldom repeats all of them. Lower marks
# lines on other tasks with the same verb or object, higher misses tasks in other words.
ENOUGH = 0.6
LONGEST_LINE = 2_000  # characters of a line that are looked at: bounds the work on pasted text

_HEADING = lazy_pattern(
    r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|\d+[.)]\s+\*{0,2}[A-Z][^.]{0,60}:\*{0,2}\s*$"
    r"|[A-Z][\w /]{2,40}:\s*$)"
)
_OPEN_HEADING = lazy_pattern(
    r"\b(?:open|todo|to do|next|pending|remaining|outstanding|upcoming|in progress|current work"
    r"|plan)\b",
    re.IGNORECASE,
)
_SAYS = ", says the plan)"
_DONE = lazy_pattern(r"\[[xX]\]|\u2713|\u2705")


def mark_finished_tasks(text: str, finished: Sequence[tuple[str, str]]) -> str:
    """The text, its lines that present a finished task as open marked with what the plan says of
    it. A task is its description and its status."""
    tasks = _tasks(finished)
    if not tasks:
        return text
    lines = text.split("\n")
    under_open = False
    for at, line in enumerate(lines):
        judged = line[:LONGEST_LINE]
        if _HEADING.match(judged):
            under_open = _OPEN_HEADING.search(judged) is not None
            continue
        status = _status_of_task(line, tasks, among_open=under_open)
        if status:
            lines[at] = f"{line.rstrip()} ({status}{_SAYS}"
    return "\n".join(lines)


def reopens(line: str, finished: Sequence[tuple[str, str]]) -> bool:
    """Whether a line that stands among what is open names a finished task."""
    return _status_of_task(line, _tasks(finished), among_open=True) != ""


@dataclass(frozen=True, slots=True)
class _Task:
    stems: frozenset[str]
    status: str


def _tasks(finished: Sequence[tuple[str, str]]) -> list[_Task]:
    tasks = list[_Task]()
    for description, status in finished:
        stems = _stems(description)
        if stems and status:
            tasks.append(_Task(stems, status))
    return tasks


def _status_of_task(line: str, tasks: Sequence[_Task], *, among_open: bool) -> str:
    """The status of the finished task that a line presents as open, or nothing."""
    judged = line[:LONGEST_LINE]
    if _SAYS in line or _DONE.search(judged):
        return ""
    if not among_open and not states("open", judged):
        return ""
    stems = _stems(judged)
    best_share = 0.0
    best_status = ""
    for task in tasks:
        share = len(task.stems & stems) / len(task.stems)
        if share > best_share:
            best_share = share
            best_status = task.status
    return best_status if best_share >= ENOUGH else ""


def _stems(text: str) -> frozenset[str]:
    """The words that carry a text, without their commonest endings."""
    return frozenset(_stem(word) for word in words(text) if word not in STOP_WORDS)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
