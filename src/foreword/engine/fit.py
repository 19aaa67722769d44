"""Choose the form of each section so that everything fits the budget.

Pure: no clock, no files, no tokenizer of its own (the scale weighs). What a section may become is
its rule's business; how it is written out is `render`'s.

Sections give way in the order of their ranks, lowest first, each only as far as needed. Seen from
the other end: the highest rank takes what it needs, then the next, and the first one that no longer
fits takes the largest of its forms that does. Room that is left over is then given back in the same
order. Sections of equal rank share: while others of the rank are waiting, none of them takes more
than half of the room they all found.
"""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Iterable, Sequence

from foreword.engine import forms
from foreword.engine.outline import Outline
from foreword.engine.render import Scale, pieces_of, total_units
from foreword.errors import EssentialsTooLarge
from foreword.section import Body, Choice, Section, Tiers

FLOOR_TOKENS = 100  # kept for a section that may be shortened but never lost
LEAST_TOKENS = 8  # room below this, or below a 500th of the budget, is not worth handing out
SLACK_TOKENS = 4  # what a section may be charged above what it adds to the whole
LEAST_CUT_TOKENS = 40  # below this, and below a 40th of the budget, a cut is not worth its mark
SHORTENED = "shortened to fit"


def fit(
    sections: Sequence[Section],
    outline: Outline,
    budget_tokens: int,
    scale: Scale,
    tiers: Tiers,
    note: str = "",
    spare_tokens: int = 0,
) -> dict[int, Choice]:
    """What is decided for every section that is in, by its place; `EssentialsTooLarge` where the
    least does not fit.

    `note` is the longest note there may be on sections that are gone: its room is kept free while
    any are. So many tokens as `spare_tokens` says are not used at all.
    """
    room = scale.counter.room(budget_tokens - spare_tokens)
    everything = None if tiers.limits else _whole(sections, outline, room, scale)
    if everything is not None:
        return everything
    fitting = _Fitting(sections, outline, scale, tiers, room)
    fitting.secure(budget_tokens)
    reserve = min(scale.counter.measure(note), fitting.left)
    fitting.left -= reserve
    fitting.keep_floors()
    fitting.hand_out()
    fitting.give_back()
    if all(index in fitting.decided for index in outline.order):
        fitting.left += reserve
        fitting.give_back()
    fitting.deputise()
    return fitting.decided


def _whole(
    sections: Sequence[Section], outline: Outline, room: int, scale: Scale
) -> dict[int, Choice] | None:
    """Everything in full, if it fits; gives up as soon as it can't."""
    chars = room * scale.counter.longest_unit
    for section in sections:
        chars -= len(section.text)
        if chars < 0:
            return None
    decided, left = (
        dict[int, Choice](),
        room + scale.counter.room(SLACK_TOKENS) * (1 + len(outline.tags)),
    )
    for index in sorted((*outline.essential, *outline.order)):
        body = forms.full(sections[index], scale)
        decided[index] = Choice(sections[index], body, forms.units(sections[index], body, scale))
        left -= decided[index].units
        if left < 0:
            return None
    if outline.capped and not _within_caps(decided, outline, room, scale):
        return None
    return decided if total_units(pieces_of(decided.values()), scale.counter) <= room else None


def _within_caps(decided: dict[int, Choice], outline: Outline, room: int, scale: Scale) -> bool:
    after_essentials = room - sum(decided[index].units for index in outline.essential)
    return all(c.units <= _cap(c.section, room, after_essentials, scale) for c in decided.values())


def _cap(section: Section, room: int, after_essentials: int, scale: Scale) -> int:
    """The most units a section may have, framing included."""
    cap = section.rule.cap
    if cap is None:
        return room
    if cap.of == "tokens":
        return scale.counter.room(round(cap.value))
    return int((after_essentials if cap.of == "left" else room) * cap.value)


class _Fitting:
    """One fit under way: what is decided so far and what room is left."""

    def __init__(
        self, sections: Sequence[Section], outline: Outline, scale: Scale, tiers: Tiers, room: int
    ) -> None:
        self.sections, self.outline, self.scale, self.tiers = sections, outline, scale, tiers
        self.room = self.left = self.after_essentials = room
        self.least = max(scale.counter.room(LEAST_TOKENS), room // 500)
        self.least_cut = min(scale.counter.room(LEAST_CUT_TOKENS), room // 40)
        self.decided = dict[int, Choice]()
        self.opened = set[str]()  # shared tags already paid for
        self.asked = set[str]()  # tags whose stand-in was thought of
        self.floors = dict[int, int]()  # room kept for those that may never be lost

    def place(self, index: int, body: Body, units: int, reason: str) -> None:
        """Decide for one section, in place of what was decided before."""
        section = self.sections[index]
        self.left -= self._entry_fee(section) + units
        if index in self.decided:
            self.left += self.decided[index].units
        self.opened.add(section.tag)
        self.decided[index] = Choice(section, body, units, reason)

    def _entry_fee(self, section: Section) -> int:
        return 0 if section.tag in self.opened else self.scale.tag_units(section.tag)

    # --- what must be in --------------------------------------------------------------------------

    def secure(self, budget_tokens: int) -> None:
        """Place the essential sections and keep room for what is pinned in a list."""
        for index in self.outline.essential:
            body = forms.full(self.sections[index], self.scale)
            self.place(
                index, body, forms.units(self.sections[index], body, self.scale), "essential"
            )
        pinned = [
            i
            for i in self.outline.lasting
            if any(entry.pinned for entry in self.sections[i].entries)
        ]
        self.floors = {index: self._floor(self.sections[index]) for index in pinned}
        self.left -= sum(self.floors.values())
        if self.left < 0:
            raise self._too_large(budget_tokens)
        self.after_essentials = self.left + sum(self.floors.values())

    def keep_floors(self) -> None:
        """Keep room for those that may be cut but never lost, as far as there is any, the
        highest rank first."""
        for index in self.outline.lasting:
            if index not in self.floors:
                room = max(0, min(self.left, self._tier_left(self.sections[index].rule.tier)))
                self.floors[index] = min(self._floor(self.sections[index]), room)
                self.left -= self.floors[index]

    def _floor(self, section: Section) -> int:
        """The least this section can be, its share of the tags included."""
        scale = self.scale
        least = scale.counter.room(FLOOR_TOKENS)
        if section.rule.forms[-1] == "reference":
            least = scale.units(section.tag, scale.framed(section, forms.reference(section, scale)))
        elif section.entries and (pinned := forms.fewer(section, 0, scale)):
            least = forms.units(section, pinned, scale)
        return min(
            forms.units(section, forms.full(section, scale), scale), least
        ) + self._entry_fee(section)

    def _too_large(self, budget_tokens: int) -> EssentialsTooLarge:
        counter, needs, same = self.scale.counter, dict[str, int](), Tally[str]()
        sizes = {index: choice.units for index, choice in self.decided.items()} | self.floors
        for index, units in sorted(sizes.items()):
            name = self.sections[index].name
            same[name] += 1
            needs[name if same[name] == 1 else f"{name} ({same[name]})"] = counter.tokens(units)
        needed = max(counter.tokens(self.room - self.left), budget_tokens + 1)
        return EssentialsTooLarge(needed=needed, budget=budget_tokens, sections=needs)

    # --- who gets what is left --------------------------------------------------------------------

    def hand_out(self) -> None:
        """Tier by tier: what one leaves, the next may use. Where tiers have limits, ranks alone
        make the order."""
        if self.tiers.limits and not self.tiers.shares:
            groups = [group for _, ranks in self.outline.tiers for group in ranks]
            groups.sort(key=lambda group: -math.floor(self.sections[group[0]].rank))
            return self._by_rank(groups, held_back=0)
        rooms, unused = self._tier_rooms(), 0
        for tier, ranks in self.outline.tiers:
            before = self.left
            limit = min(rooms.get(tier, before) + unused, before, self._tier_left(tier))
            self._by_rank(ranks, held_back=before - limit)
            unused = max(0, limit - (before - self.left)) if rooms else 0
        return None

    def _tier_rooms(self) -> dict[int, int]:
        """The room of each tier by its share; essentials over their tier's share take from the
        last tiers first."""
        rooms = {tier: int(share * self.room) for tier, share in sorted(self.tiers.shares.items())}
        if not rooms:
            return {}
        taken, first = self.room - self.after_essentials, min(rooms)
        over, rooms[first] = max(0, taken - rooms[first]), max(0, rooms[first] - taken)
        for tier in sorted(rooms, reverse=True)[:-1]:
            less = min(over, rooms[tier])
            rooms[tier] -= less
            over -= less
        return _flowing_on(rooms, {tier for tier, _ in self.outline.tiers})

    def _tier_left(self, tier: int) -> int:
        """What a tier with a hard limit may still take: less its sections, their tags and the
        floors it keeps."""
        if tier not in self.tiers.limits:
            return self.room
        mine = [choice for choice in self.decided.values() if choice.section.rule.tier == tier]
        used = sum(choice.units for choice in mine)
        tags = sum(self.scale.tag_units(tag) for tag in {choice.section.tag for choice in mine})
        floors = sum(
            floor for index, floor in self.floors.items() if self.sections[index].rule.tier == tier
        )
        return self.scale.counter.room(self.tiers.limits[tier]) - used - tags - floors

    def _by_rank(self, ranks: Sequence[Sequence[int]], held_back: int) -> None:
        """Highest rank first; equal ranks in their order, none above half of the room while
        others wait."""
        for group in ranks:
            if self.left - held_back < self.least and not self.floors:
                return
            half = (self.left - held_back + sum(self.floors.get(index, 0) for index in group)) // 2
            for index in group:
                self.left += self.floors.pop(index, 0)
                if self.left - held_back < self.least and not self.floors:
                    break
                section = self.sections[index]
                room = min(
                    self.left - held_back, self._cap(section), self._tier_left(section.rule.tier)
                )
                self._take(index, room, half)
            self._give_back(group, held_back)

    def _take(self, index: int, room: int, half: int) -> None:
        """Let one section have the largest of its forms that fits."""
        section = self.sections[index]
        room -= self._entry_fee(section) + self._stand_in(section.tag, room)
        shared = index in self.outline.sharing and half < room
        found = (self._best(section, half) if shared else None) or self._best(section, room)
        if found is not None:
            self.place(index, *found, "" if found[0].form == "full" else SHORTENED)

    def _best(self, section: Section, room: int) -> tuple[Body, int] | None:
        """The best form within the room; nothing is measured where the length alone says no."""
        too_long = len(section.text) > room * self.scale.counter.usual_unit
        if room <= 0 or (
            too_long and (room < self.least_cut or section.rule.forms[1:] in ((), ("gone",)))
        ):
            return (
                None
                if "reference" not in section.rule.forms
                else forms.best(section, room, self.scale, whole=False)
            )
        return forms.best(section, room, self.scale, whole=not too_long)

    def _cap(self, section: Section) -> int:
        return _cap(section, self.room, self.after_essentials, self.scale)

    def _stand_in(self, tag: str, room: int) -> int:
        """Place the tag's stand-in where the tag can't be whole and the stand-in can; returns
        the room it took."""
        index = self.outline.stand_ins.get(tag)
        if index is None or tag in self.opened or tag in self.asked:
            return 0
        self.asked.add(tag)
        mine = [section for section in self.sections if section.tag == tag]
        wanted = sum(
            forms.units(section, forms.full(section, self.scale), self.scale) for section in mine
        )
        body = forms.full(self.sections[index], self.scale)
        units = forms.units(self.sections[index], body, self.scale)
        if (
            wanted <= room
            or units > min(room, self._tier_left(self.sections[index].rule.tier))
            or units >= wanted
        ):
            return 0
        self.place(index, body, units, f"stands in for {tag}")
        return units

    def deputise(self) -> None:
        """Let a stand-in have what room is left where the section it stands in for has come to
        nothing."""
        for tag, index in self.outline.stand_ins.items():
            lost = all(
                c.body.form == "reference" for c in self.decided.values() if c.section.tag == tag
            )
            section = self.sections[index]
            if lost and index not in self.decided and self.left > self.least_cut:
                room = min(self.left, self._tier_left(section.rule.tier))
                found = self._best(section, room - self._entry_fee(section))
                if found is not None and found[0].form != "reference":
                    self.place(index, *found, f"stands in for {tag}")

    def give_back(self) -> None:
        """Give room that is left to the sections that were cut, the highest rank first."""
        self._give_back(self.outline.order)

    def _give_back(self, members: Iterable[int], held_back: int = 0) -> None:
        for index in members:
            left = self.left - held_back
            if left < self.least:
                return
            section, had = self.sections[index], self.decided.get(index)
            if had is not None and had.body.form == "full":
                continue
            units = had.units if had is not None else 0
            room = min(min(left, self._tier_left(section.rule.tier)) + units, self._cap(section))
            if room - units < self.least:
                continue
            found = self._best(section, room - self._entry_fee(section))
            if found is not None and found[1] > units:
                self.place(index, *found, "" if found[0].form == "full" else SHORTENED)


def _flowing_on(rooms: dict[int, int], wanted: set[int]) -> dict[int, int]:
    """The room of tiers nobody waits in goes to the next one that somebody does."""
    flowing, unused = dict[int, int](), 0
    for tier, room in rooms.items():
        flowing[tier], unused = (room + unused, 0) if tier in wanted else (0, unused + room)
    return flowing
