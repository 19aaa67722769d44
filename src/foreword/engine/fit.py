"""Choose the form of each section so that everything fits the budget.

Pure: no clock, no files, no tokenizer of its own (the scale weighs). What a section may become is
its rule's business; how it is written out is `render`'s.

Sections give way in the order of their ranks, lowest first, each only as far as needed. Seen from
the other end: the highest rank takes what it needs, then the next, and the first one that no longer
fits takes the largest of its forms that does. Room that is left over is then given back in the same
order. Sections of equal rank share: short ones are in before any large one grows, and while others
of the rank are waiting, none takes more than half of the room they all found. Where tiers have
shares of the budget, all of a tier are in with the least that says something before any of it
grows, as long as that takes a fifth of the tier's room; else the first of them are. Those that are
still waiting are in with their least before the next tier has anything.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Sequence, Set

from foreword.engine import forms
from foreword.engine.outline import Outline, rank_groups, sharing_in
from foreword.engine.render import Scale, pieces_of, total_units
from foreword.errors import EssentialsTooLarge
from foreword.section import Body, Choice, Section, Share, Tiers

# Kept free for a section that may be shortened but never lost: a heading, a few lines and the mark.
# Without it a higher rank could take all the room and leave only the mark.
FLOOR_TOKENS = 100
# Room below this, or below a 500th of the budget, is not handed out: nothing worth reading fits,
# and every try costs a measurement.
LEAST_TOKENS = 8
# What a section may be charged above what it adds to the whole: a tokenizer joins tokens across
# pieces that are measured apart. Only decides whether trying everything in full is worth it.
SLACK_TOKENS = 4
# Of a tier's room, for all of it in the least form: with more, a hundred first sentences would
# leave nothing for what the task needs; with less, thirty notes of a line would not be in.
LEAST_FORMS_SHARE = 0.2
LEAST_CUT_TOKENS = 40  # below this, and below a 40th of the budget, a cut is not worth its mark
SHORTENED = "shortened to fit"


def fit(
    sections: Sequence[Section],
    outline: Outline,
    *,
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
    fitting = _Fitting(sections, outline, scale=scale, tiers=tiers, room=room)
    if fitting.place_all_in_full():
        return fitting.choices
    fitting.place_essentials(budget_tokens)
    fitting.reserve_note(note)
    fitting.reserve_floors()
    fitting.hand_out()
    fitting.give_back()
    if all(index in fitting.choices for index in outline.order):
        fitting.left += fitting.note_room
        fitting.give_back()
    fitting.place_stand_ins()
    return fitting.choices


def _cap(section: Section, room: int, after_essentials: int, scale: Scale) -> int:
    """The most units a section may have, framing included."""
    cap = section.rule.cap
    return room if cap is None else _share_units(cap, room, after_essentials, scale)


def _share_units(share: Share, room: int, after_essentials: int, scale: Scale) -> int:
    if share.of == "tokens":
        return scale.counter.room(round(share.value))
    return int((after_essentials if share.of == "left" else room) * share.value)


class _Fitting:
    """One fit under way: what is decided so far and what room is left."""

    def __init__(
        self,
        sections: Sequence[Section],
        outline: Outline,
        *,
        scale: Scale,
        tiers: Tiers,
        room: int,
    ) -> None:
        self.sections = sections
        self.outline = outline
        self.scale = scale
        self.tiers = tiers
        self.room = room
        self.left = room
        self.after_essentials = room
        self.least = max(scale.counter.room(LEAST_TOKENS), room // 500)
        self.least_cut = min(scale.counter.room(LEAST_CUT_TOKENS), room // 40)
        self.total = len(outline.essential) + len(outline.order)
        self.choices: dict[int, Choice] = {}
        self.paid_tags: set[str] = set()  # shared tags that somebody has brought along
        self.tried_stand_ins: set[str] = set()  # by the tag they stand in for
        self.floors: dict[int, int] = {}  # room kept for those that may never be lost
        self.note_room = 0  # kept for the note on those that are gone
        self.lowest_rank = float("-inf")  # nothing below it is in: what is never lost had no room
        self._wholes: dict[int, tuple[Body, int]] = {}  # sections in full that were weighed
        # the room that a smaller form was last looked for in, and what was found
        self._smaller: dict[int, tuple[int, tuple[Body, int] | None]] = {}

    def place(self, index: int, body: Body, units: int, *, reason: str) -> None:
        """Decide for one section, in place of what was decided before."""
        section = self.sections[index]
        self.left -= self._entry_fee(section) + units
        if index in self.choices:
            self.left += self.choices[index].units
        self.paid_tags.add(section.tag)
        self.choices[index] = Choice(section, body, units, reason)

    def _entry_fee(self, section: Section) -> int:
        """What the first section under a pair of shared tags pays for them."""
        return 0 if section.tag in self.paid_tags else self.scale.tag_units(section.tag)

    def _whole(self, index: int) -> tuple[Body, int]:
        """A section in full and its size, worked out once."""
        whole = self._wholes.get(index)
        if whole is None:
            section = self.sections[index]
            body = forms.full(section, self.scale)
            whole = (body, self.scale.units(section.tag, body.text))
            self._wholes[index] = whole
        return whole

    # --- everything -------------------------------------------------------------------------------

    def place_all_in_full(self) -> bool:
        """Place everything in full and say whether it fits; gives up as soon as it can't."""
        if self.tiers.limits or not self._could_all_fit():
            return False
        slack = self.scale.counter.room(SLACK_TOKENS) * (1 + len(self.outline.tags))
        left = self.room + slack
        places = sorted((*self.outline.essential, *self.outline.order))
        for index in places:
            left -= self._whole(index)[1]
            if left < 0:
                return False
        choices: dict[int, Choice] = {}
        for index in places:
            body, units = self._whole(index)
            choices[index] = Choice(self.sections[index], body, units)
        if self.outline.capped and not self._within_caps(choices):
            return False
        if total_units(pieces_of(choices.values()), self.scale.counter) > self.room:
            return False
        self.choices = choices
        return True

    def _could_all_fit(self) -> bool:
        """Whether the lengths alone leave it open."""
        chars = self.room * self.scale.counter.longest_unit
        for index in (*self.outline.essential, *self.outline.order):
            chars -= len(self.sections[index].text)
            if chars < 0:
                return False
        return True

    def _within_caps(self, choices: dict[int, Choice]) -> bool:
        after_essentials = self.room
        for index in self.outline.essential:
            after_essentials -= choices[index].units
        for choice in choices.values():
            if choice.units > _cap(choice.section, self.room, after_essentials, self.scale):
                return False
        return True

    # --- what must be in --------------------------------------------------------------------------

    def place_essentials(self, budget_tokens: int) -> None:
        """Place the essential sections and keep room for what is pinned in a list."""
        for index in self.outline.essential:
            body, units = self._whole(index)
            self.place(index, body, units, reason="essential")
        for index in self.outline.lasting:
            section = self.sections[index]
            if any(entry.pinned for entry in section.entries):
                self.floors[index] = self._floor(index)
        self.left -= sum(self.floors.values())
        if self.left < 0:
            raise self._too_large(budget_tokens)
        self.after_essentials = self.left + sum(self.floors.values())

    def reserve_note(self, note: str) -> None:
        """Keep room for the note on what is gone, as far as there is any."""
        self.note_room = min(self.scale.counter.measure(note), self.left)
        self.left -= self.note_room

    def reserve_floors(self) -> None:
        """Keep room for those that may be cut but never lost, as far as there is any, the
        highest rank first."""
        for index in self.outline.lasting:
            if index not in self.floors:
                section = self.sections[index]
                room = max(0, min(self.left, self._tier_room(section.rule.tier)))
                self.floors[index] = min(self._floor(index), room)
                self.left -= self.floors[index]

    def _floor(self, index: int) -> int:
        """The least this section can be, its share of the tags included."""
        section = self.sections[index]
        scale = self.scale
        least = max(scale.counter.room(FLOOR_TOKENS), self._least_share(section))
        if section.rule.forms[-1] == "reference":
            line = forms.reference(section, scale)
            least = scale.units(section.tag, scale.with_frame(section, line))
        elif section.entries:
            least_entries = forms.least_entries(section, scale)
            if least_entries:
                least = forms.units(section, least_entries, scale)
        _, whole = self._whole(index)
        return min(whole, least) + self._entry_fee(section)

    def _least_share(self, section: Section) -> int:
        """What a section's rule keeps for it."""
        floor = section.rule.floor
        if floor is None:
            return 0
        return _share_units(floor, self.room, self.after_essentials, self.scale)

    def _too_large(self, budget_tokens: int) -> EssentialsTooLarge:
        counter = self.scale.counter
        sizes = {index: choice.units for index, choice in self.choices.items()} | self.floors
        tokens_by_name: dict[str, int] = {}
        uses = Tally[str]()
        for index, units in sorted(sizes.items()):
            name = self.sections[index].name
            uses[name] += 1
            if uses[name] > 1:
                name = f"{name} ({uses[name]})"
            tokens_by_name[name] = counter.tokens(units)
        needed = max(counter.tokens(self.room - self.left), budget_tokens + 1)
        return EssentialsTooLarge(needed=needed, budget=budget_tokens, sections=tokens_by_name)

    # --- who gets what is left --------------------------------------------------------------------

    def hand_out(self) -> None:
        """Tier by tier: what one leaves, the next may use. Where tiers have limits, ranks alone
        make the order."""
        if self.tiers.limits and not self.tiers.shares:
            all_groups: list[list[int]] = []
            for _, waiting in self.outline.tiers:
                all_groups += rank_groups(self.sections, waiting)
            all_groups.sort(key=lambda group: -self.sections[group[0]].rank.group)
            self._hand_out_by_rank(all_groups, held_back=0)
            return
        rooms = self._tier_rooms()
        unused = 0
        for tier, waiting in self.outline.tiers:
            room = self.left
            limit = min(room, self._tier_room(tier))
            if tier in rooms and tier != self.outline.tiers[-1][0]:
                limit = min(limit, rooms[tier] + unused)
            if rooms:
                self._place_least(waiting, int(limit * LEAST_FORMS_SHARE))
            groups = rank_groups(self.sections, waiting)
            self._hand_out_by_rank(groups, held_back=room - limit)
            if tier in rooms:
                self._place_least(waiting, self.left)
                unused = max(0, limit - (room - self.left))

    def _section_units(self, index: int) -> int:
        """What a section has been given so far."""
        choice = self.choices.get(index)
        return choice.units if choice is not None else 0

    def _place_least(self, waiting: Sequence[int], room: int) -> None:
        """Let each be in with the least that says something, the newest first, as far as the
        room goes."""
        held_back = self.left - room
        newest_first = sorted(waiting, key=lambda index: -self.sections[index].recency)
        for index in newest_first:
            section = self.sections[index]
            # what has a stand-in has that for its least, and files that give way one after another
            # do not share
            if section.tag in self.outline.stand_ins or section.rule.in_order:
                continue
            least = self._least_form(index)
            if least is None:
                continue
            body, units = least
            if units > self._room_for(index, held_back):
                return
            self.place(index, body, units, reason=_cut_reason(body))

    def _least_form(self, index: int) -> tuple[Body, int] | None:
        """The least form of a section that is not placed yet, with its size."""
        section = self.sections[index]
        if index in self.choices or index in self.floors:
            return None
        body = forms.least(section, self.scale)
        if body is None:
            return None
        units = forms.units(section, body, self.scale)
        if body.form == "full" or units < self._whole(index)[1]:
            return body, units
        return self._whole(index)

    def _tier_rooms(self) -> dict[int, int]:
        """The room of each tier by its share; essentials over their tier's share take from the
        last tiers first."""
        rooms = {tier: int(share * self.room) for tier, share in sorted(self.tiers.shares.items())}
        if not rooms:
            return {}
        first = min(rooms)
        essentials = self.room - self.after_essentials
        over = max(0, essentials - rooms[first])
        rooms[first] = max(0, rooms[first] - essentials)
        for tier in sorted(rooms, reverse=True)[:-1]:
            less = min(over, rooms[tier])
            rooms[tier] -= less
            over -= less
        return _pass_on_unused(rooms, {tier for tier, _ in self.outline.tiers})

    def _tier_room(self, tier: int) -> int:
        """What a tier with a hard limit may still take: less its sections, their tags and the
        floors it keeps."""
        if tier not in self.tiers.limits:
            return self.room
        left = self.scale.counter.room(self.tiers.limits[tier])
        tags: set[str] = set()
        for choice in self.choices.values():
            if choice.section.rule.tier == tier:
                left -= choice.units
                tags.add(choice.section.tag)
        for tag in tags:
            left -= self.scale.tag_units(tag)
        for index, floor in self.floors.items():
            if self.sections[index].rule.tier == tier:
                left -= floor
        return left

    def _hand_out_by_rank(self, groups: Iterable[Sequence[int]], held_back: int) -> None:
        """Highest rank first; equal ranks in their order, none above half of the room while
        others wait."""
        for group in groups:
            rank = self.sections[group[0]].rank.group
            no_room = self.left - held_back < self.least and not self.floors
            if no_room or rank < self.lowest_rank:
                return
            half = 0
            sharing: Set[int] = frozenset()
            if len(group) > 1:  # else there is nobody to share with
                half = self._half(group, held_back)
                sharing = sharing_in(self.sections, group)
                self._place_short(group, sharing, half)
            for index in group:
                self.left += self.floors.pop(index, 0)
                if self.left - held_back < self.least and not self.floors:
                    break
                room = self._room_for(index, held_back)
                self._place_best(index, room, half if index in sharing else room)
            if len(group) > 1:  # else there is nobody who could have left room
                self._give_back(group, held_back)
            if self._had_no_room(group):
                self.lowest_rank = rank

    def _had_no_room(self, group: Sequence[int]) -> bool:
        """Whether nothing of a group is in though some of it is never lost, for want of room."""
        tags = {self.sections[index].tag for index in group}
        if any(choice.section.tag in tags for choice in self.choices.values()):
            return False
        if any(self.outline.stand_ins.get(tag) in self.choices for tag in tags):
            return False
        lasting = set(self.outline.lasting).intersection(group)
        return any(self._floor(index) > self.left for index in lasting)

    def _half(self, group: Sequence[int], held_back: int) -> int:
        """Half of the room that a group finds, with what its members have and what is kept for
        them."""
        floors = sum(self.floors.get(index, 0) for index in group) if self.floors else 0
        had = sum(self._section_units(index) for index in group) if self.tiers.shares else 0
        return (self.left - held_back + floors + had) // 2

    def _place_short(self, group: Sequence[int], sharing: Set[int], half: int) -> None:
        """Let the short ones of a group that shares be in first, where ranks alone say what
        matters: half of the room stays for what comes first. Tiers with shares have done so."""
        if not sharing or self.tiers.shares:
            return
        short = [index for index in group if forms.is_short(self.sections[index], self.scale)]
        self._place_least(short, half)

    def _room_for(self, index: int, held_back: int) -> int:
        """The most that a section may have, with what it has."""
        section = self.sections[index]
        left = self.left - held_back
        if len(self.choices) == self.total - 1 and self._is_only_one_missing(index):
            left += self.note_room  # with this one in, nothing is gone
        if self.tiers.limits:
            left = min(left, self._tier_room(section.rule.tier))
        left += self._section_units(index) - self._entry_fee(section)
        return min(left, _cap(section, self.room, self.after_essentials, self.scale))

    def _is_only_one_missing(self, index: int) -> bool:
        """Whether all but this one are in, and in full: nobody else could use more room."""
        if index in self.choices or self.outline.stand_ins:
            return False
        return all(choice.body.form == "full" for choice in self.choices.values())

    def _place_best(self, index: int, room: int, share: int) -> None:
        """Let one section have the largest of its forms that fits its share, else of those that
        fit the room."""
        if self.outline.stand_ins:
            room -= self._place_stand_in(self.sections[index].tag, room)
        best = None
        if share < room:
            best = self._best_form(index, share)
        best = best or self._best_form(index, room)
        if best is not None:
            self._place_if_larger(index, *best)

    def _place_if_larger(self, index: int, body: Body, units: int) -> None:
        """Decide for a form unless the section has more already; a reference, however long, is
        less than any words of it."""
        if units > self._section_units(index) and not (
            index in self.choices and body.form == "reference"
        ):
            self.place(index, body, units, reason=_cut_reason(body))

    def _best_form(self, index: int, room: int) -> tuple[Body, int] | None:
        """The best form within the room; nothing is measured where the length alone says no."""
        section = self.sections[index]
        too_long = len(section.text) > room * self.scale.counter.usual_unit
        can_be_less = not too_long or (room >= self.least_cut and _can_be_cut(section))
        if room <= 0 or not can_be_less:
            if "reference" not in section.rule.forms:
                return None
            return self._smaller_form(index, room)
        if section.rule.forms[0] != "full":
            return forms.best(section, room, self.scale, whole=not too_long)
        if not too_long:
            whole = self._whole(index)
            if whole[1] <= room:
                return whole
        return self._smaller_form(index, room)

    def _smaller_form(self, index: int, room: int) -> tuple[Body, int] | None:
        """The best form that is not the whole. Room that nobody could use is offered again when
        all have had their turn: then it is as large as it was, and so is the answer."""
        tried = self._smaller.get(index)
        if tried is None or tried[0] != room:
            found = forms.best(self.sections[index], room, self.scale, whole=False)
            tried = (room, found)
            self._smaller[index] = tried
        return tried[1]

    def _place_stand_in(self, tag: str, room: int) -> int:
        """Place the tag's stand-in where the tag can't be whole and the stand-in can; returns
        the room it took."""
        index = self.outline.stand_ins.get(tag)
        if index is None or tag in self.paid_tags or tag in self.tried_stand_ins:
            return 0
        self.tried_stand_ins.add(tag)
        whole = 0
        for place, section in enumerate(self.sections):
            if section.tag == tag:
                whole += self._whole(place)[1]
        stand_in = self.sections[index]
        body, units = self._whole(index)
        fits = units <= min(room, self._tier_room(stand_in.rule.tier))
        if whole <= room or not fits:
            return 0
        self.place(index, body, units, reason=f"stands in for {tag}")
        return units

    def place_stand_ins(self) -> None:
        """Let a stand-in have what room is left where the section it stands in for has come to
        nothing, the highest rank first."""
        stand_ins = sorted(
            self.outline.stand_ins.items(), key=lambda item: -self.sections[item[1]].rank.group
        )
        for tag, index in stand_ins:
            section = self.sections[index]
            if section.rank.group < self.lowest_rank:
                return
            if index in self.choices or self.left <= self.least_cut or not self._is_lost(tag):
                continue
            room = min(self.left, self._tier_room(section.rule.tier))
            best = self._best_form(index, room - self._entry_fee(section))
            if best is not None and best[0].form != "reference":
                body, units = best
                self.place(index, body, units, reason=f"stands in for {tag}")

    def _is_lost(self, tag: str) -> bool:
        """Whether nothing of a tag is in, or only references."""
        for choice in self.choices.values():
            if choice.section.tag == tag and choice.body.form != "reference":
                return False
        return True

    def give_back(self) -> None:
        """Give room that is left to the sections that were cut, the highest rank first; where
        tiers have shares, to a tier only while those below it are whole: else a larger budget
        would take back what they could not use in a smaller one."""
        if not self.tiers.shares:
            self._give_back(self.outline.order)
            return
        members: list[int] = []
        for _, waiting in reversed(self.outline.tiers):
            members = [*waiting, *members]
            if not all(self._is_whole(index) for index in waiting):
                break
        self._give_back(members)

    def _is_whole(self, index: int) -> bool:
        choice = self.choices.get(index)
        return choice is not None and choice.body.form == "full"

    def _give_back(self, members: Iterable[int], held_back: int = 0) -> None:
        for index in members:
            left = self.left - held_back
            if left < self.least:
                return
            if self.sections[index].rank.group < self.lowest_rank:
                continue
            before = self.choices.get(index)
            if before is not None and before.body.form == "full":
                continue
            room = self._room_for(index, held_back)
            if room - self._section_units(index) < self.least:
                continue
            best = self._best_form(index, room)
            if best is not None:
                self._place_if_larger(index, *best)


def _can_be_cut(section: Section) -> bool:
    """Whether a section may be anything but whole or gone."""
    first, *smaller = section.rule.forms
    return first != "full" or smaller not in ([], ["gone"])


def _cut_reason(body: Body) -> str:
    return "" if body.form == "full" else SHORTENED


def _pass_on_unused(rooms: dict[int, int], wanted: set[int]) -> dict[int, int]:
    """The room of tiers nobody waits in goes to the next one that somebody does."""
    passed_on: dict[int, int] = {}
    unused = 0
    for tier, room in rooms.items():
        if tier in wanted:
            passed_on[tier] = room + unused
            unused = 0
        else:
            passed_on[tier] = 0
            unused += room
    return passed_on
