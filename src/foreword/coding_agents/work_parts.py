"""The parts of a piece of work, in one table: who said each, its title, its share of the room, and
where a checkpoint keeps it.

Where the work stands is a mapping from the names of parts to their lines, each part in order of
time but the names in play, which go by worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from foreword.compression.summary_text import Part, SummaryLine, write

if TYPE_CHECKING:
    from foreword.work.checkpoint import Checkpoint

Work = Mapping[str, Sequence[str]]
NAMES = "names"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPart:
    """One part; a head is one text, all others are lines."""

    name: str
    said_by: Part
    title: str
    kept_as: str  # a field of a checkpoint, or a member of its state
    # Of the room, at first: what is open and decided before what was learnt. What a part leaves
    # goes to the names. With commands at 0.05 or 0.14, 2 points of the names that were needed after
    # 17 real compactions are lost.
    share: float = 0.0

    @property
    def is_head(self) -> bool:
        """Whether it is one text."""
        return not self.share


HEADS = (
    WorkPart(name="objective", said_by="user", title="Objective", kept_as="objective"),
    WorkPart(name="asked", said_by="user", title="Asked last", kept_as="asked last"),
    WorkPart(name="replied", said_by="assistant", title="Said last", kept_as="said last"),
)
LISTS = (
    WorkPart(
        name="user_words",
        said_by="user",
        title="Said before",
        kept_as="said by the user",
        share=0.12,
    ),
    WorkPart(
        name="open",
        said_by="assistant",
        title="Open, and what comes next",
        kept_as="pending",
        share=0.1,
    ),
    WorkPart(
        name="decisions", said_by="assistant", title="Decided", kept_as="decisions", share=0.1
    ),
    WorkPart(name="findings", said_by="assistant", title="Found", kept_as="findings", share=0.14),
    WorkPart(name="commands", said_by="call", title="Commands", kept_as="commands", share=0.12),
    WorkPart(
        name="files",
        said_by="call",
        title="Files, and what was done to them",
        kept_as="files",
        share=0.14,
    ),
)
_KEPT = {**{part.name: part.kept_as for part in (*HEADS, *LISTS)}, NAMES: "names in play"}
_FIELDS = ("objective", "decisions", "findings", "pending")  # of a checkpoint; all else is state


def head_of(work: Work, name: str) -> str:
    """Return the text of a head; nothing where there is none."""
    return next(iter(work.get(name, ())), "")


def checkpoint_fields(work: Work) -> dict[str, Any]:
    """Return the fields of a checkpoint that hold the work."""
    heads = [part.name for part in HEADS]
    members = dict[str, Any]()
    for name, kept_as in _KEPT.items():
        members[kept_as] = head_of(work, name) if name in heads else list(work.get(name, ()))
    members["decisions"] = [{"what": line, "why": ""} for line in members["decisions"]]
    fields = {name: members.pop(name) for name in _FIELDS}
    return {**fields, "state": {name: value for name, value in members.items() if value}}


def from_checkpoint(checkpoint: Checkpoint) -> Work:
    """Return the work that a checkpoint holds, as far as it holds some."""
    work = dict[str, Sequence[str]]()
    for name, kept_as in _KEPT.items():
        is_field = kept_as in _FIELDS
        value = getattr(checkpoint, kept_as) if is_field else checkpoint.state.get(kept_as)
        lines = [value] if isinstance(value, str) else value
        if value and isinstance(lines, list | tuple):
            work[name] = [_line(line) for line in lines]
    return work


def _line(value: object) -> str:
    return str(value.get("what", "") if isinstance(value, Mapping) else value)


def as_summary(work: Work) -> str:
    """Return the work as the summary of an earlier compression: what it claims for the user is
    believed only where it is attributed again."""
    lines = list[SummaryLine]()
    for part in LISTS:
        if part.name != "files":
            lines += [SummaryLine(part.said_by, text) for text in work.get(part.name, ())]
    return write(lines, work.get(NAMES, ()))
