"""What has changed in a workflow since somebody last looked: what live updates are made of.

A vector is a handful of numbers, each of which moves whenever something of its kind changes. Two
vectors say what has changed between them, whoever read them and in which process: so no table of
events is needed, and nothing is written. The numbers come from `store.changes`; who is told, and
when, is the faces' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from foreword.pattern import lazy_pattern
from foreword.store import changes as stored
from foreword.store.database import LARGEST_NUMBER, Database

_MARKS = lazy_pattern(r"([a-z])(\d{1,19})(?:\.|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """How new each kind of thing is; `str` of it is an event's id."""

    plan: int = 0  # its version
    messages: int = 0  # how many there are
    variables: int = 0  # the number of the last change
    workflow: int = 0  # its revision: details and nodes
    compressions: int = 0
    undone: int = 0
    checkpoints: int = 0
    checkpoint: int = 0  # when the last one was written, as a number
    report: int = 0  # the last call's

    def __str__(self) -> str:
        return ".".join(f"{letter}{getattr(self, name)}" for letter, name in LETTERS.items())


LETTERS = dict(zip("pmvwcuknr", (field.name for field in fields(Vector)), strict=True))
# every kind of event: what it says, and the part of the vector that it is
KINDS: dict[str, dict[str, str]] = {
    "plan": {"version": "plan"},
    "messages": {"seq": "messages"},
    "variables": {"change": "variables"},
    "workflow": {"revision": "workflow"},
    "compression": {"compressions": "compressions", "undone": "undone"},
    "checkpoint": {"checkpoints": "checkpoints", "written": "checkpoint"},
    "report": {"report": "report"},
}


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    """One kind of thing has changed; `at` is the vector of those who have heard of it and all
    before it."""

    kind: str
    data: dict[str, Any]
    at: Vector


def vectors(db: Database, workflows: Sequence[str] | None = None) -> dict[str, Vector]:
    """How new everything of these workflows is, or of all; one that is not there has none."""
    numbers = stored.newest_numbers(db, workflows)
    return {name: _vector(parts) for name, parts in numbers.items()}


def _vector(parts: Iterable[int]) -> Vector:
    """The vector of its parts in their order."""
    return Vector(**dict(zip(LETTERS.values(), parts, strict=True)))


def has_any(vector: Vector, kind: str) -> bool:
    """Whether anything of a kind ever happened: there is something of it to show."""
    return any(getattr(vector, part) for part in KINDS[kind].values())


def events_between(workflow: str, old: Vector, new: Vector) -> Iterator[ChangeEvent]:
    """What happened to a workflow from one vector to another, a kind at a time."""
    reached = old
    for kind, numbers in KINDS.items():
        parts = {part: getattr(new, part) for part in numbers.values()}
        if all(getattr(reached, part) == value for part, value in parts.items()):
            continue
        reached = replace(reached, **parts)
        data = {"workflow": workflow, "kind": kind}
        for name, part in numbers.items():
            data[name] = parts[part]
        yield ChangeEvent(kind, data, reached)


def sum_of(each: Iterable[Vector]) -> Vector:
    """The sum of vectors: it differs from an earlier one where any of them has moved."""
    sums = [0] * len(LETTERS)
    for one in each:
        for place, name in enumerate(LETTERS.values()):
            sums[place] = (sums[place] + getattr(one, name)) % LARGEST_NUMBER
    return _vector(sums)


def newest_of(one: Vector, other: Vector) -> Vector:
    """Of two vectors of a workflow the newer: no part of one ever goes back."""
    return _vector(max(getattr(one, name), getattr(other, name)) for name in LETTERS.values())


def parse_vector(text: str) -> Vector | None:
    """The vector of an event's id; nothing where it is none."""
    parts = dict[str, int]()
    for letter, number in _MARKS.findall(text):
        if letter in LETTERS:
            parts[LETTERS[letter]] = int(number)
    made = Vector(**parts)
    return made if str(made) == text else None
