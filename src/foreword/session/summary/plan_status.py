"""What the plan has settled stays settled: a summary must not make a finished task look open again.

Works on any text, by this package or by a model. It adds a word to the lines that speak of a
settled task as something to do; it removes nothing and moves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foreword.session.summary.facts import presents_as_open
from foreword.text.words import STOP_WORDS, words

ENOUGH = 0.6  # of the words of a task, for a line to be about it
LONGEST_LINE = 2_000

_HEADING = re.compile(
    r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|\d+[.)]\s+\*{0,2}[A-Z][^.]{0,60}:\*{0,2}\s*$|[A-Z][\w"
    r" /]{2,40}:\s*$)"
)
_OPEN_HEADING = re.compile(
    r"\b(?:open|todo|to do|next|pending|remaining|outstanding|upcoming|in progress|current"
    r" work|plan)\b",
    re.IGNORECASE,
)
_SAYS = ", says the plan)"
_DONE = re.compile(r"\[[xX]\]|\u2713|\u2705")


def mark_finished_tasks(text: str, settled: Sequence[tuple[str, str]]) -> str:
    """The text, its lines that present a settled task as open marked with what the plan says of
    it."""
    tasks = [
        (_stems(description), status)
        for description, status in settled
        if description.strip() and status
    ]
    if not tasks:
        return text
    lines, under_open = text.split("\n"), False
    for at, line in enumerate(lines):
        if _HEADING.match(line[:LONGEST_LINE]):
            under_open = _OPEN_HEADING.search(line[:LONGEST_LINE]) is not None
        elif status := _reopened(line, tasks, under_open):
            lines[at] = f"{line.rstrip()} ({status}{_SAYS}"
    return "\n".join(lines)


def reopens(line: str, settled: Sequence[tuple[str, str]], *, among_open: bool = False) -> bool:
    """Whether a line presents a settled task as open; among what is open, to name it is enough."""
    tasks = [
        (_stems(description), status)
        for description, status in settled
        if description.strip() and status
    ]
    return bool(tasks) and _reopened(line, tasks, among_open) != ""


def _reopened(line: str, tasks: Sequence[tuple[frozenset[str], str]], among_open: bool) -> str:
    """The status of the settled task that a line presents as open, or nothing."""
    judged = line[:LONGEST_LINE]
    if _SAYS in line or _DONE.search(judged) or not (among_open or presents_as_open(judged)):
        return ""
    said = _stems(judged)
    about = [(len(task & said) / len(task), status) for task, status in tasks if task]
    share, status = max(about, key=lambda each: each[0], default=(0.0, ""))
    return status if share >= ENOUGH else ""


def _stems(text: str) -> frozenset[str]:
    """The words that carry a text, without their commonest endings."""
    return frozenset(_stem(word) for word in words(text) if word not in STOP_WORDS)


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
