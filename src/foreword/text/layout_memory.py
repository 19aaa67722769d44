"""The layouts of the texts that were cut last, and the orders that their pieces are tried in.

Cutting one text for several rooms is the rule, not the exception: a section tries its share, then
what is left, then what others gave back. Its pieces are the same each time, as long as no line is
larger than the room, and finding them is most of the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from foreword.text import narrow
from foreword.text.pieces import Layout, Over

# Texts. A context has a few that do not fit whole; at double, a server would hold the pieces of
# eight megabytes of text that nobody may ask for again.
_REMEMBERED = 4

Order = Callable[[Layout, str], list[int]]


@dataclass(frozen=True, slots=True)
class RememberedLayout:
    """A layout and the orders of its pieces, by what made them."""

    layout: Layout
    _orders: dict[Order, list[int]] = field(default_factory=dict)

    def order(self, make: Order, query: str) -> list[int]:
        """The order in which pieces are tried; not to be changed."""
        if make not in self._orders:
            self._orders[make] = make(self.layout, query)
        return self._orders[make]


@dataclass(slots=True)
class _Memory:
    """What is known of one text: its layout where no line is larger than the room, and of which
    lines that was asked."""

    whole: RememberedLayout | None = None
    asked: list[tuple[int, str]] = field(default_factory=list)


def layout_of(text: str, name: str, query: str, over: Over) -> RememberedLayout:
    """The layout of a text whose lines are divided where they are `over` the room."""
    memory = _memory(text, name, query)
    whole = memory.whole
    if whole is not None and not any(over(start, part) for start, part in memory.asked):
        return whole
    asked: list[tuple[int, str]] = []
    is_divided = False

    def over_and_asked(start: int, part: str) -> bool:
        nonlocal is_divided
        asked.append((start, part))
        is_over = over(start, part)
        is_divided = is_divided or is_over
        return is_over

    made = RememberedLayout(narrow.layout(text, name, query, over_and_asked))
    if not is_divided:
        memory.asked = asked
        memory.whole = made
    return made


@lru_cache(maxsize=_REMEMBERED)
def _memory(text: str, name: str, query: str) -> _Memory:
    return _Memory()


def forget() -> None:
    """Forget every layout, for measuring what is done from nothing."""
    _memory.cache_clear()
