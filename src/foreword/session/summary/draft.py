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

# Of the room, for lines, as far as there are any; the rest is for the ledger. Chosen by trials on
# 17 real compactions and a quarter of 82 sessions, which `benchmarks.compaction_fit` repeats with
# sessions left out (three of four folds choose 0.5, too): with 0.36 names come through better (86
# against 84 of 100) and whole lines worse (52 against 53, 55 against 61 in sessions).
LINES = 0.5
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
        for _ in range(_ROUNDS):
            self._choose(goal)
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

    def _choose(self, room: int) -> None:
        """Take lines, then names that no line says, then more lines, and faint names if there is
        room even then."""
        room_for_lines = int(LINES * max(0, room - self._total(self.required)))
        lasting = self.choice.lasting(min(room_for_lines, int(LASTING * room)))
        caps = {part: int(cap * room) for part, cap in CAPS.items()}
        stated = self.choice.statements(int(STATED * room), lasting)
        within_caps = self.choice.fill(room_for_lines, stated, caps)
        self.taken = self.choice.fill(room_for_lines, within_caps)
        self.entries = self._names(room - self.choice.total(self.taken))
        self.taken = self.choice.fill(room - self._total(self.entries), self.taken)
        left = room - self.choice.total(self.taken) - self._total(self.entries)
        said = ledger.with_names(self._line_text(), self.entries)
        self.entries += ledger.take(self._faint, left, self.measure, said)

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
