"""The layouts of the texts that were cut last, and the orders that their pieces are tried in.

Cutting one text for several rooms is the rule, not the exception: a section tries its share, then
what is left, then what others gave back. Its pieces are the same each time, as long as the same
lines are larger than the room, and finding them is most of the work.
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
_MOST_LAYOUTS = 2  # of one text: with its long lines whole, and divided for a small room

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


@dataclass(frozen=True, slots=True)
class _LineQuestion:
    """A line that was asked about, and whether it was larger than the room."""

    start: int
    line: str
    is_over: bool


# By what was answered about each line: where the answers are the same, so is the layout.
_Memory = list[tuple[list[_LineQuestion], RememberedLayout]]


def layout_of(text: str, name: str, query: str, over: Over) -> RememberedLayout:
    """The layout of a text whose lines are divided where they are `over` the room."""
    memory = _memory(text, name, query)
    for answers, known in memory:
        if all(over(asked.start, asked.line) == asked.is_over for asked in answers):
            return known
    answers = list[_LineQuestion]()

    def answer(start: int, line: str) -> bool:
        is_over = over(start, line)
        answers.append(_LineQuestion(start, line, is_over))
        return is_over

    made = RememberedLayout(narrow.layout(text, name, query, answer))
    memory[:] = [(answers, made), *memory[: _MOST_LAYOUTS - 1]]
    return made


@lru_cache(maxsize=_REMEMBERED)
def _memory(text: str, name: str, query: str) -> _Memory:
    return []


def forget() -> None:
    """Forget every layout, for measuring what is done from nothing."""
    _memory.cache_clear()
