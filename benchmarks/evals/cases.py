"""A case of an evaluation, and what of the evidence a text kept.

The engine sees the turns and the question; the evidence is for the score alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation as its data has it."""

    text: str
    role: str = "user"
    speaker: str = ""
    date: str = ""
    session: str = ""

    @property
    def line(self) -> str:
        """As every maker writes it: the speaker's label is charged to everybody."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Turns, a question, and what was really needed to answer it."""

    turns: Sequence[Turn]
    question: str
    evidence: frozenset[int] = frozenset()  # places of turns
    raw: Mapping[str, Any] = field(default_factory=dict)  # where a folder scores its own cases


Maker = Callable[[Case, int], str]
Score = Callable[[Case, str], float | None]


def evidence_kept(case: Case, text: str) -> float | None:
    """The share of the evidence's turns that are in a text, which keeps their order. A long turn of
    which parts are kept is in when they are at least half of it."""
    if not case.evidence:
        return None
    chars = [0] * len(case.turns)  # kept of each
    place = 0
    for line in text.split("\n"):
        at = _turn_of(line.strip(), case.turns, place)
        if at is not None:
            chars[at] += len(line.strip())
            place = at
    kept = {at for at, turn in enumerate(case.turns) if 2 * chars[at] >= len(turn.line.strip()) > 0}
    return len(kept & case.evidence) / len(case.evidence)


# Characters: a shorter line is looked for as a whole turn only.
_LONG_LINE = 40


def _turn_of(line: str, turns: Sequence[Turn], place: int) -> int | None:
    """The first turn from a place on that a line is, or is a part of; of two turns with the same
    words the earlier one, for every maker alike."""
    if not line or line.startswith("[..."):
        return None
    for at in range(place, len(turns)):
        if turns[at].line.strip() == line and (at > place or at == 0):
            return at
    if len(line) < _LONG_LINE:
        return None
    for at in range(place, len(turns)):
        label = f"{turns[at].speaker}: " if turns[at].speaker else ""
        if line.removeprefix(label) in turns[at].text:
            return at
    return None


def tokens(text: str) -> int:
    """The size that every maker has to keep to: characters / 4."""
    return (len(text) + CHARS_PER_TOKEN - 1) // CHARS_PER_TOKEN
