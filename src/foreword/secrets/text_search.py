"""Search texts quickly: with patterns compiled when first needed, in the lines that matter only,
and short ones once.

To look for a word is a hundred times quicker than to look for a pattern. What is searched for is
the business of `assignments` and `patterns`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, wraps
from typing import TypeVar

# Characters of a text whose answer is remembered. Names of fields, statuses and short values are
# masked at every call of a model, and to search one takes some 5 us; what is longer says something
# new each time.
LONGEST_REMEMBERED = 200

Answer = TypeVar("Answer")


@cache
def compile_once(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled once; importing a module of patterns then costs nothing."""
    return re.compile(pattern)


def remember_short(ask: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """The function, which works out its answer for a short text once."""
    remembered = lru_cache(maxsize=4096)(ask)

    @wraps(ask)
    def answer(text: str) -> Answer:
        return remembered(text) if len(text) <= LONGEST_REMEMBERED else ask(text)

    return answer


def change_lines(text: str, words: Sequence[str], change: Callable[[str], str]) -> str:
    """The text with every line changed that has one of the words, in upper or lower case.

    Where the case makes the text longer (`ß`), a place in one is none in the other, and all of it
    is changed.
    """
    folded = text.casefold()
    present = [word for word in words if word in folded]
    if not present:
        return text
    if len(folded) != len(text):
        return change(text)
    lines: set[tuple[int, int]] = set()
    for word in present:
        lines.update(_lines_with(folded, word))
    pieces: list[str] = []
    done = 0
    for start, end in sorted(lines):
        pieces += [text[done:start], change(text[start:end])]
        done = end
    return "".join(pieces) + text[done:]


def _lines_with(text: str, word: str) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    at = text.find(word)
    while at >= 0:
        end = text.find("\n", at) + 1 or len(text)
        lines.append((text.rfind("\n", 0, at) + 1, end))
        at = text.find(word, end)
    return lines
