"""How new everything of a workflow is, in one cheap query: what live updates are made of.

A vector is a handful of numbers, each of which moves whenever something of its kind changes. Two
vectors say what has changed between them, whoever read them and in which process: so no table of
events is needed, and nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from foreword.store.database import LARGEST_NUMBER, Database

MOST_NAMED = 500  # workflows asked for by name; beyond that, all are read
_MARKS = re.compile(r"([a-z])(\d{1,19})(?:\.|$)")
_STAMP = re.compile(r"\D")
_OF_WORKFLOW = "FROM conversations c WHERE c.workflow = w.id"
_QUERY = (
    "SELECT w.name, (SELECT COALESCE(MAX(version), 0) FROM plans WHERE workflow = w.id), (SELECT"
    f" COALESCE(SUM((SELECT MAX(seq) FROM messages WHERE conversation = c.id)), 0) {_OF_WORKFLOW}),"
    " (SELECT COALESCE(MAX(id), 0) FROM variable_changes WHERE workflow = w.id), w.revision,"
    " (SELECT COALESCE(SUM((SELECT COUNT(*) FROM compressions WHERE conversation = c.id)), 0)"
    f" {_OF_WORKFLOW}), (SELECT COALESCE(SUM((SELECT SUM(undone) FROM compressions WHERE"
    f" conversation = c.id)), 0) {_OF_WORKFLOW}), (SELECT COUNT(*) FROM checkpoints WHERE workflow"
    " = w.id), (SELECT COALESCE(MAX(created), '') FROM checkpoints WHERE workflow = w.id), (SELECT"
    f" COALESCE(MAX((SELECT MAX(id) FROM reports WHERE conversation = c.id)), 0) {_OF_WORKFLOW})"
    " FROM workflows w"
)


@dataclass(frozen=True, slots=True)
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


def vector(db: Database, workflow: str) -> Vector | None:
    """How new everything of a workflow is; nothing where there is no workflow of that name."""
    return vectors(db, [workflow]).get(workflow)


def vectors(db: Database, workflows: Sequence[str] | None = None) -> dict[str, Vector]:
    """The same of several workflows, or of all."""
    if workflows is None or len(workflows) > MOST_NAMED:
        rows = db.rows(_QUERY)
    elif workflows:
        rows = db.rows(
            f"{_QUERY} WHERE w.name IN ({', '.join('?' * len(workflows))})", list(workflows)
        )
    else:
        rows = []
    return {str(name): Vector(*(_number(part) for part in parts)) for name, *parts in rows}


def between(workflow: str, old: Vector, new: Vector) -> Iterator[ChangeEvent]:
    """What happened to a workflow from one vector to another, a kind at a time."""
    seen = old
    for kind, says in KINDS.items():
        parts = {part: getattr(new, part) for part in says.values()}
        if any(getattr(seen, part) != value for part, value in parts.items()):
            seen = replace(seen, **parts)
            yield ChangeEvent(
                kind,
                {"workflow": workflow, "kind": kind, **{k: parts[v] for k, v in says.items()}},
                seen,
            )


def together(each: Iterable[Vector]) -> Vector:
    """The sum of vectors: it differs from an earlier one where any of them has moved."""
    sums = [0] * len(LETTERS)
    for one in each:
        for place, name in enumerate(LETTERS.values()):
            sums[place] = (sums[place] + getattr(one, name)) % LARGEST_NUMBER
    return Vector(*sums)


def newest(one: Vector, other: Vector) -> Vector:
    """Of two vectors of a workflow the newer: no part of one ever goes back."""
    return Vector(*(max(getattr(one, name), getattr(other, name)) for name in LETTERS.values()))


def read(text: str) -> Vector | None:
    """The vector of an event's id; nothing where it is none."""
    parts = {
        LETTERS[letter]: int(number) for letter, number in _MARKS.findall(text) if letter in LETTERS
    }
    made = Vector(**parts)
    return made if str(made) == text else None


def _number(part: object) -> int:
    """A part as a number; a time becomes its digits."""
    return int(_STAMP.sub("", part[:23]) or 0) if isinstance(part, str) else int(part)  # type: ignore[call-overload]
