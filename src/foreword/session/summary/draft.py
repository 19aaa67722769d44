"""A summary in the making: lines and names taken until the room is full, then measured whole and
trimmed.

Lines have the larger part of the room, the ledger the rest; what one leaves the other may use. The
pieces are measured as they are taken, but only the measure of the whole text is believed. Where the
lines and names come from is in `compress`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foreword.session.summary import ledger
from foreword.session.summary.candidate_lines import CandidateLine
from foreword.session.summary.ledger import LedgerEntry
from foreword.session.summary.line_choice import LineChoice
from foreword.session.summary.name_weights import Mention
from foreword.session.summary.summary_text import HEADINGS, PART_OF, Part, write
from foreword.tokens import Counter

LINES = 0.55  # of the room is for lines, as far as there are any; the rest for the ledger
LASTING = 0.35  # of the room is for what an earlier summary decided
CAPS: Mapping[Part, float] = {
    "user": 0.25,
    "decisions": 0.2,
    "findings": 0.2,
    "errors": 0.2,
    "open": 0.1,
    "commands": 0.1,
}

_ROUNDS = 8
_CLOSE = 0.01  # of the room may stay empty


class Draft:
    """The lines and names there are, and those taken."""

    def __init__(
        self,
        lines: Sequence[CandidateLine],
        found: Mapping[str, Mention],
        worth: Mapping[str, float],
        names_before: Sequence[str],
        forced: Sequence[LedgerEntry],
        room: int,
        counter: Counter,
    ) -> None:
        self.lines, self.found, self.worth, self.names_before = lines, found, worth, names_before
        self.forced, self.room, self.measure = forced, room, counter.measure
        self.choice = LineChoice(lines, worth, counter)
        self.taken: list[int] = []
        self.entries: list[LedgerEntry] = []
        order = ledger.entries(found, worth)
        self._clear = [each for each in order if worth[each.name] >= ledger.FAINT]
        self._faint = order[len(self._clear) :]

    def settle(self) -> str:
        """The text that fills the room best and does not exceed it."""
        best, last = "", ""
        goal = self.room - self._headings()
        for _ in range(_ROUNDS):
            self._choose(goal)
            text = self._written()
            excess = self.measure(text) - self.room
            if excess <= 0 and len(text) > len(best):
                best = text
            if -_CLOSE * self.room <= excess <= 0 or (text == last and excess <= 0):
                break
            goal, last = goal - (excess if excess > 0 else excess // 2), text
        return best or self._trimmed()

    def _trimmed(self) -> str:
        """What was chosen last without its last names and lines, as many as it takes."""
        while self.taken or self.entries:
            shrunk = (
                self.entries if len(self.entries) > len(self.forced) else self.taken or self.entries
            )
            del shrunk[-max(1, len(shrunk) // 20) :]
            text = self._written()
            if text and self.measure(text) <= self.room:
                return text
        return self._least()

    def _choose(self, room: int) -> None:
        """Take lines, then names that no line says, then more lines, and faint names if there is
        room even then."""
        room_for_lines = int(LINES * max(0, room - self._total(self.forced)))
        lasting = self.choice.lasting(min(room_for_lines, int(LASTING * room)))
        within_caps = self.choice.fill(
            room_for_lines, lasting, {part: int(cap * room) for part, cap in CAPS.items()}
        )
        self.taken = self.choice.fill(room_for_lines, within_caps)
        self.entries = self._names(room - self.choice.total(self.taken))
        self.taken = self.choice.fill(room - self._total(self.entries), self.taken)
        left = room - self.choice.total(self.taken) - self._total(self.entries)
        self.entries += ledger.take(
            self._faint, left, self.measure, _more(self._said(), self.entries)
        )

    def _said(self) -> str:
        return "\n".join(self.lines[at].text for at in self.taken)

    def _names(self, room: int) -> list[LedgerEntry]:
        said = self._said()
        forced = ledger.take(self.forced, room, self.measure, said)
        said, left = _more(said, forced), room - self._total(forced)
        before = ledger.take_before(
            self.names_before, self.worth, int(ledger.FROM_BEFORE * left), self.measure, said
        )
        said, left = _more(said, before), left - self._total(before)
        return [*forced, *before, *ledger.take(self._clear, left, self.measure, said)]

    def _total(self, entries: Sequence[LedgerEntry]) -> int:
        return sum(self.measure(each.written) for each in entries)

    def _headings(self) -> int:
        """About what the headings take."""
        used: set[Part] = {PART_OF[line.kind] for line in self.lines} | {"files", "names"}
        return sum(self.measure(f"{HEADINGS[part]}\n\n") for part in used)

    def _written(self) -> str:
        parts = ledger.parts(self.entries, self.found)
        for at in sorted(self.taken):
            parts.setdefault(PART_OF[self.lines[at].kind], []).append(self.lines[at].text)
        return write(parts)

    def _least(self) -> str:
        """For a room too small for headings: the names asked for, or the one line that says
        most."""
        order = self.choice.fill(self.room)
        names = ledger.take(self.forced, self.room, self.measure, "")
        for text in (
            ", ".join(each.name for each in names),
            *(self.lines[at].text for at in order[:1]),
        ):
            if text and self.measure(text) <= self.room:
                return text
        return ""


def _more(said: str, entries: Sequence[LedgerEntry]) -> str:
    return "\n".join([said, *(each.name for each in entries)])
