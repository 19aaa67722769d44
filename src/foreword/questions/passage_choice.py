"""Choose passages within a room: the best for the question, what names things, then the newest.

Pure. Every passage costs its words, its label where it is the first of its unit, and the mark of a
gap where its neighbours are not in.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from foreword.questions.passages import PassageSlot
from foreword.section import Measure
from foreword.text.omission_mark import GAP

_DONE = float("inf")


@dataclass(slots=True, kw_only=True)
class SlotChoice:
    """The passages that are in so far, and the room that is left."""

    slots: Sequence[PassageSlot]
    measure: Measure
    room: int
    openings: Sequence[int]  # what the first passage of each unit costs besides its words
    kept: set[int] = field(default_factory=set)
    order: list[int] = field(default_factory=list)  # in which they were taken
    _of_unit: dict[int, int] = field(default_factory=dict)  # passages in, by unit

    def take(self, at: int) -> int:
        """Take a passage in where there is room for it; what it costs, or 0 where it is out."""
        if at in self.kept:
            return 0
        cost = self.cost(at)
        if cost > self.room:
            return 0
        self.kept.add(at)
        self.order.append(at)
        unit = self.slots[at].unit
        self._of_unit[unit] = self._of_unit.get(unit, 0) + 1
        self.room -= cost
        return max(1, cost)

    def give_back(self, units: int) -> bool:
        """Take out the last passages, of at least so many units; False where none is left."""
        given = 0
        while self.order and given < units:
            at = self.order.pop()
            self.kept.discard(at)
            self._of_unit[self.slots[at].unit] -= 1
            given += self.measure(self.slots[at].text)
        return bool(self.order)

    def cost(self, at: int) -> int:
        """What a passage adds to the text."""
        slot = self.slots[at]
        cost = self.measure(slot.text) + self.measure("\n")
        if not self._of_unit.get(slot.unit):
            cost += self.openings[slot.unit]
        beside = (at - 1 in self.kept) + (at + 1 in self.kept)
        return cost + (1 - beside) * self.measure(f"{GAP}\n")


def fill(choice: SlotChoice, streams: Sequence[tuple[Iterable[int], int]]) -> None:
    """Take passages from several streams, so that each has its share of the room at any time; what
    one does not use goes to the others."""
    waiting = [iter(stream) for stream, _ in streams]
    used: list[float] = [0.0 if share else _DONE for _, share in streams]
    while any(amount < _DONE for amount in used):
        turn = used.index(min(used))
        at = next(waiting[turn], None)
        if at is None:
            used[turn] = _DONE
        else:
            used[turn] += choice.take(at) / streams[turn][1]


def by_names(
    slots: Sequence[PassageSlot],
    names: Sequence[Sequence[str]],
    worth: Mapping[str, float],
    choice: SlotChoice,
) -> Iterator[int]:
    """The passages that name most of what is not named yet, for their length, the best first."""
    named: set[str] = set()
    seen: set[int] = set()  # passages whose names are in `named`
    heap: list[tuple[float, int]] = []
    for at, found in enumerate(names):
        gain = sum(worth.get(name, 0.0) for name in found)
        if gain > 0:
            heap.append((-gain / _length(slots[at]), at))
    heapq.heapify(heap)
    while heap:
        for at in choice.kept - seen:
            named.update(names[at])
            seen.add(at)
        _, at = heapq.heappop(heap)
        if at in choice.kept:
            continue
        gain = sum(worth.get(name, 0.0) for name in names[at] if name not in named)
        now = -gain / _length(slots[at])
        if gain <= 0:
            continue
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, at))
            continue
        yield at


def _length(slot: PassageSlot) -> int:
    """Of a passage with its label and its mark, about."""
    return len(slot.text) + 24
