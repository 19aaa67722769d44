"""Units as passages: a short one is one passage, a long one falls into those of its own structure.

The passages of a unit joined are its text, character for character.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foreword.questions.material import MaterialUnit
from foreword.relevance import Passage
from foreword.text.narrow import layout
from foreword.text.pieces import Piece


@dataclass(frozen=True, slots=True)
class Grain:
    """How finely units are divided, in characters."""

    longest_whole: int  # of a unit that stays or goes whole
    passage: int  # that neighbouring pieces of a longer one are joined up to
    longest_piece: int  # what is longer is divided where it can be


# Talk and prose: a turn is one passage. Measured on meetings at 2,000 tokens: evidence kept is 59%
# so, 58% at a half; at double a page of a document would be taken for one line of it.
TALK = Grain(1_000, 400, 500)
# The work of agents, whose messages are full of names: a line or two at a time. Measured on
# dialogues with tools at 40% of their tokens: ids kept are 98% so, 88% at double, 98% at half.
WORK = Grain(300, 160, 240)
# Where no passage of either fits: a room of a few lines still gets one.
CRUMBS = Grain(80, 80, 80)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSlot:
    """A passage in its place: which unit it is of, and where in its text it begins."""

    unit: int
    text: str
    start: int = 0
    headings: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """Where in its unit the next one begins."""
        return self.start + len(self.text)


def slots_of(units: Sequence[MaterialUnit], question: str, grain: Grain) -> list[PassageSlot]:
    """The passages of all units, in order."""
    slots: list[PassageSlot] = []
    for at, unit in enumerate(units):
        if len(unit.text) <= grain.longest_whole:
            if unit.text.strip():
                slots.append(PassageSlot(unit=at, text=unit.text))
            continue
        slots += _parts_of(unit, at, question=question, grain=grain)
    return slots


def _parts_of(unit: MaterialUnit, at: int, *, question: str, grain: Grain) -> list[PassageSlot]:
    name = unit.source if "." in unit.source else ""
    longest = grain.longest_piece
    pieces = layout(unit.text, name, question, lambda _, part: len(part) > longest).pieces
    slots: list[PassageSlot] = []
    headings: dict[int, str] = {}
    for group in _groups(pieces, grain.passage):
        first = group[0]
        if first.kind == "heading":
            headings = {level: text for level, text in headings.items() if level < first.level}
            headings[first.level] = " ".join(first.text.split())
        slot = PassageSlot(
            unit=at,
            text="".join([piece.text for piece in group]),
            start=first.start,
            headings=tuple(headings.values()),
        )
        slots.append(slot)
    return slots


def _groups(pieces: Sequence[Piece], most: int) -> list[list[Piece]]:
    """Neighbouring pieces together, up to some lines; a heading begins a group and is never its
    end."""
    groups: list[list[Piece]] = []
    size = 0
    for piece in pieces:
        is_heading = piece.kind == "heading"
        is_full = size + len(piece.text) > most
        is_apart = bool(groups) and groups[-1][-1].start + len(groups[-1][-1].text) < piece.start
        follows_heading = bool(groups) and groups[-1][-1].kind == "heading"
        starts_anew = is_heading and not follows_heading
        if not groups or starts_anew or is_apart or (is_full and not follows_heading):
            groups.append([])
            size = 0
        groups[-1].append(piece)
        size += len(piece.text)
    return groups


def passages(units: Sequence[MaterialUnit], slots: Sequence[PassageSlot]) -> list[Passage]:
    """The slots as they are ranked: neighbours in one conversation, or inside one document."""
    found: list[Passage] = []
    for at, slot in enumerate(slots):
        unit = units[slot.unit]
        session = unit.session
        if unit.is_document and not unit.source:
            session = f"{session}#{slot.unit}"
        passage = Passage(
            text=slot.text,
            session=session,
            position=at,
            speaker=unit.label,
            date=unit.date,
            title=unit.title,
            path=unit.source,
            headings=slot.headings,
        )
        found.append(passage)
    return found
