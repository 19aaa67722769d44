"""A summary in the making: lines and names taken until the room is full, then measured whole and
trimmed.

Lines and the ledger share the room so that most is named; what one leaves the other may use. The
pieces are measured as they are taken, but only the measure of the whole text is believed. Where the
lines and names come from is in `compress`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

from foreword.session.summary import ledger
from foreword.session.summary.candidate_lines import CandidateLine
from foreword.session.summary.ledger import LedgerEntry
from foreword.session.summary.line_choice import LineChoice
from foreword.session.summary.name_weights import Mention
from foreword.session.summary.summary_text import HEADINGS, PART_OF, Part, write
from foreword.tokens import Counter

# Of the room, for lines at first, as far as there are any; the ledger has the next of it, and lines
# what that leaves. Tried one after another for each conversation, since some name ten times as much
# as others for their length. On 17 real compactions and 82 sessions of two projects one share for
# all, 0.5, keeps 54, 84 and 80 of 100 whole lines that are needed later, these three 57, 86 and 82,
# and as many names to half a name; 0.3, 0.45, 0.6 lose two names of 100 in compactions.
LINE_SHARES = (0.35, 0.5, 0.65)
# What a name in the ledger counts beside one in a line, for choosing the share. At 0.4 lines win
# one of 100 and names lose half a one, at 0.75 it is the other way round, by two and one.
BARE_NAME = 0.5
# Of the room, for each kind of statement by its weight alone, so that names do not push out what
# the user demands and what was decided: without it a test lost a failed approach; 0.1 costs
# nothing on real sessions.
STATED = 0.08
LASTING = 0.35  # of the room is for what an earlier summary decided
# Of the room, for each part at first, so that none crowds out the others; what is left after that
# goes to the best lines of any part.
CAPS: Mapping[Part, float] = {
    "user": 0.25,
    "decisions": 0.2,
    "findings": 0.2,
    "errors": 0.2,
    "open": 0.1,
    "commands": 0.1,
}

# How often names are taken out of the ledger that a line says by then, and more lines put in: the
# first time wins one whole line of 100, the second hardly any, a third none.
REFILLS = 2
_ROUNDS = 8  # tries to fill the room; each makes up for about half of what the last one missed
_CLOSE = 0.01  # of the room may stay empty: another try would win less than it costs
_TRIM_DIVISOR = 20  # a twentieth goes at a time where the text is too long after all rounds


class Draft:
    """The lines and names there are, and those taken."""

    def __init__(
        self,
        *,
        lines: Sequence[CandidateLine],
        found: Mapping[str, Mention],
        worth: Mapping[str, float],
        names_before: Sequence[str],
        required: Sequence[LedgerEntry],
        room: int,
        counter: Counter,
    ) -> None:
        self.lines = lines
        self.found = found
        self.worth = worth
        self.names_before = names_before
        self.required = required
        self.room = room
        self.measure = counter.measure
        self.choice = LineChoice(lines, worth, counter)
        self.taken: list[int] = []
        self.entries: list[LedgerEntry] = []
        order = ledger.entries(found, worth)
        self._clear = [each for each in order if worth[each.name] >= ledger.FAINT]
        self._faint = order[len(self._clear) :]

    def write(self) -> str:
        """The text that fills the room best and does not exceed it."""
        best = ""
        last = ""
        goal = self.room - self._headings_size()
        share = self._best_share(goal)
        for _ in range(_ROUNDS):
            self._choose(goal, share)
            text = self._text()
            excess = self.measure(text) - self.room
            if excess <= 0 and len(text) > len(best):
                best = text
            is_full = -_CLOSE * self.room <= excess <= 0
            is_final = text == last and excess <= 0
            if is_full or is_final:
                break
            goal -= excess if excess > 0 else excess // 2
            last = text
        return best or self._trim()

    def _trim(self) -> str:
        """What was chosen last without its last names and lines, as many as it takes."""
        while self.taken or self.entries:
            has_spare_entries = len(self.entries) > len(self.required)
            shrunk: list[LedgerEntry] | list[int] = self.entries
            if self.taken and not has_spare_entries:
                shrunk = self.taken
            del shrunk[-max(1, len(shrunk) // _TRIM_DIVISOR) :]
            text = self._text()
            if text and self.measure(text) <= self.room:
                return text
        return self._smallest_text()

    def _best_share(self, room: int) -> float:
        """The share for lines with which most is named of what is likely to be needed."""
        values = dict[float, float]()
        for share in LINE_SHARES:
            self._choose(room, share)
            values[share] = self._named_worth()
        return max(values, key=values.__getitem__)

    def _named_worth(self) -> float:
        """What the names come to that were taken. By their square roots: many names that may be
        needed are worth more than the same few once more."""
        in_lines = set[str]()
        for at in self.taken:
            in_lines.update(self.lines[at].names)
        bare = {each.name for each in self.entries} - in_lines
        return self._sum_of_roots(in_lines) + BARE_NAME * self._sum_of_roots(bare)

    def _sum_of_roots(self, names: Iterable[str]) -> float:
        # added up in order: a sum of floats depends on it, and a set has none
        worth = sorted(min(1.0, self.worth.get(name, 0.0)) for name in names)
        return sum(map(sqrt, worth))

    def _choose(self, room: int, share: float) -> None:
        """Take lines, then names that no line says, then more lines, and faint names if there is
        room even then."""
        room_for_lines = int(share * max(0, room - self._total(self.required)))
        lasting = self.choice.lasting(min(room_for_lines, int(LASTING * room)))
        caps = {part: int(cap * room) for part, cap in CAPS.items()}
        stated = self.choice.statements(int(STATED * room), lasting)
        filling = self.choice.filling(stated)
        filling.fill(room_for_lines, caps)
        filling.fill(room_for_lines)
        self.taken = filling.taken
        self.entries = self._names(room - filling.size)
        filling.fill(room - self._total(self.entries))
        for _ in range(REFILLS):
            self.entries = self._without_said(self.entries)
            filling.fill(room - self._total(self.entries))
        left = room - filling.size - self._total(self.entries)
        said = ledger.with_names(self._line_text(), self.entries)
        self.entries += ledger.take(self._faint, left, self.measure, said)

    def _without_said(self, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
        """The entries without names that a line says; what has lasted keeps its place, since the
        line may not last."""
        said = self._line_text()
        kept = list[LedgerEntry]()
        for each in entries:
            if each.part == "before" or each.name not in said:
                kept.append(each)
        return kept

    def _line_text(self) -> str:
        return "\n".join(self.lines[at].text for at in self.taken)

    def _names(self, room: int) -> list[LedgerEntry]:
        """Names for the ledger: those required, those of an earlier summary, those in play."""
        said = self._line_text()
        required = ledger.take(self.required, room, self.measure, said)
        said = ledger.with_names(said, required)
        left = room - self._total(required)
        before = ledger.take_before(
            self.names_before,
            self.worth,
            room=int(ledger.FROM_BEFORE * left),
            measure=self.measure,
            said=said,
        )
        said = ledger.with_names(said, before)
        left -= self._total(before)
        return [*required, *before, *ledger.take(self._clear, left, self.measure, said)]

    def _total(self, entries: Sequence[LedgerEntry]) -> int:
        return sum(self.measure(each.text) for each in entries)

    def _headings_size(self) -> int:
        """About what the headings take."""
        used: set[Part] = {PART_OF[line.kind] for line in self.lines} | {"files", "names"}
        return sum(self.measure(f"{HEADINGS[part]}\n\n") for part in used)

    def _text(self) -> str:
        parts = ledger.parts(self.entries, self.found)
        for at in sorted(self.taken):
            parts.setdefault(PART_OF[self.lines[at].kind], []).append(self.lines[at].text)
        return write(parts)

    def _smallest_text(self) -> str:
        """For a room too small for headings: the names asked for, or the one line that says
        most."""
        names = ledger.take(self.required, self.room, self.measure, "")
        texts = [", ".join(each.name for each in names)]
        best_lines = self.choice.fill(self.room)
        if best_lines:
            texts.append(self.lines[best_lines[0]].text)
        for text in texts:
            if text and self.measure(text) <= self.room:
                return text
        return ""
