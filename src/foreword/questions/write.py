"""Write the chosen passages in the order they came, a mark in every gap; as text and as messages.

Pure. A turn begins with its speaker's label; a line inside a turn that looks like one is quoted, so
that nobody speaks in another's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from foreword.messages.message import RESULT_MARK, ROLES, Message, Role, edit
from foreword.messages.parts import Text, ToolResult
from foreword.origin import gap_in_tags, tags_at
from foreword.pattern import lazy_pattern
from foreword.questions.material import MaterialUnit
from foreword.questions.passages import PassageSlot
from foreword.section import Entry
from foreword.text.omission_mark import GAP

_ISO_DAY = lazy_pattern(r"\d{4}-\d\d-\d\d(?:T|\Z)")
KeptSlots = Mapping[int, Sequence[PassageSlot]]
"""What is kept: passages of units by the unit's place, both in order."""


def unit_text(unit: MaterialUnit, slots: Sequence[PassageSlot]) -> str:
    """What is kept of one unit, its words alone."""
    is_user = unit.message is not None and unit.message.role == "user"
    parts: list[str] = []
    end = 0
    for slot in slots:
        if slot.start > end:
            tags = tags_at(unit.text, (end, slot.start)) if is_user else ("", "")
            parts.append(_gap_after(parts, *tags))
        parts.append(slot.text)
        end = slot.end
    if end < len(unit.text) and unit.text[end:].strip():
        (tag,) = tags_at(unit.text, (end,)) if is_user else ("",)
        parts.append(_gap_after(parts, tag, "").rstrip("\n"))
    return "".join(parts)


def _gap_after(parts: Sequence[str], tag: str, next_tag: str) -> str:
    """The mark of a gap, on a line of its own, between text inside of these tags."""
    break_before = "" if not parts or parts[-1].endswith("\n") else "\n"
    return break_before + gap_in_tags(f"{GAP}\n", before=tag, after=next_tag)


class TurnWriter:
    """Writes units with their labels; knows all labels, so that none can be forged."""

    def __init__(self, units: Iterable[MaterialUnit]) -> None:
        labels = {unit.label for unit in units if unit.label}
        self._forgery: re.Pattern[str] | None = None
        if labels:
            labels.update(ROLES)  # nobody speaks as the user where the user says nothing either
            names = "|".join(map(re.escape, sorted(labels)))
            self._forgery = re.compile(rf"(?m)(?<=\n)(?=[ \t]*(?:{names}):)", re.IGNORECASE)

    def _turn(self, unit: MaterialUnit, words: str) -> str:
        """One unit as it stands in the text."""
        if not unit.label:
            return words.strip("\n")
        safe = self._forgery.sub("> ", words) if self._forgery else words
        return f"{unit.label}: {safe}".strip("\n")

    def text(self, units: Sequence[MaterialUnit], kept: KeptSlots) -> str:
        """The kept passages of some units; a mark stands where whole units are missing."""
        lines: list[str] = []
        before = -1
        date = ""
        for at, own in kept.items():
            unit = units[at]
            if _says_something(units[before + 1 : at]):
                lines.append(GAP)
            if unit.date and _day_of(unit.date) != date:
                date = _day_of(unit.date)
                lines.append(f"({date})")
            lines.append(self._turn(unit, unit_text(unit, own)))
            before = at
        if _says_something(units[before + 1 :]):
            lines.append(GAP)
        return "\n".join(lines)

    def whole_text(self, units: Sequence[MaterialUnit]) -> str:
        """Everything, as it would be written."""
        whole: dict[int, list[PassageSlot]] = {}
        for at, unit in enumerate(units):
            if unit.text.strip():
                whole[at] = [PassageSlot(unit=at, text=unit.text)]
        return self.text(units, whole)


def _day_of(date: str) -> str:
    """The day of an ISO date; any other date as it is."""
    return date[:10] if _ISO_DAY.match(date) else date


def _says_something(units: Iterable[MaterialUnit]) -> bool:
    return any(unit.text.strip() for unit in units)


def kept_entries(units: Sequence[MaterialUnit], kept: KeptSlots) -> tuple[Entry, ...]:
    """What is kept of the units, as messages. A call and its result are structured only where the
    call is whole and something of the result is in; else both are words."""
    calls: set[str] = set()
    results: set[str] = set()
    for at, own in kept.items():
        message = units[at].message
        if message is not None:
            results.update(message.results)
            if unit_text(units[at], own) == units[at].text:
                calls.update(message.calls)
    entries: list[Entry] = []
    for at, own in kept.items():
        message = _message(units[at], unit_text(units[at], own), calls & results)
        entries.append(Entry(message.text, (message,)))
    return tuple(entries)


def _message(unit: MaterialUnit, words: str, paired: set[str]) -> Message:
    """One unit as a message with these words."""
    message = unit.message
    if message is None:
        return Message("user", (Text(words),))
    is_whole = words == unit.text
    calls, results = set(message.calls), set(message.results)
    if is_whole and calls <= paired and results <= paired:
        return message
    if len(message.parts) == 1 and results and results <= paired:
        part = message.parts[0]
        assert isinstance(part, ToolResult)
        return edit(message, parts=(edit(part, text=words),), tokens=None)
    if results:
        words = f"{RESULT_MARK}\n{words}"
    role: Role = "user" if message.role == "tool" else message.role
    return edit(message, role=role, kind="conversation", parts=(Text(words),), tokens=None)
