"""A vector for every wordpiece, distilled from a small language model, and the words they make up.

Needs numpy (`foreword[semantic]`); `load` gives nothing without it. The table is data of the
package, read on first use and never downloaded. `make table` distils it.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib import resources
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.int32]

DIMENSIONS = 256  # of a row, as the table was made: `requirements/token_table.py`
LONGEST_WORD = 40  # characters: what is longer is a blob and means nothing
NORM_BITS = 8  # behind the point of a vector's length
_MOST_WORDS = 200_000  # whose vectors are remembered: 200 MB at the very most, 5 MB for a meeting


class TokenTable:
    """Words as vectors of whole numbers."""

    def __init__(self, rows: npt.NDArray[np.int8], wordpieces: list[str]) -> None:
        self._rows = rows
        self._places = {piece: at for at, piece in enumerate(wordpieces)}
        self._words: dict[str, tuple[Vector, int] | None] = {}

    def vector(self, word: str) -> tuple[Vector, int] | None:
        """A word in lower case as the sum of its wordpieces, and the length of that; None where it
        has none."""
        if word not in self._words:
            if len(self._words) >= _MOST_WORDS:
                self._words.clear()
            self._words[word] = self._new_vector(word)
        return self._words[word]

    def _new_vector(self, word: str) -> tuple[Vector, int] | None:
        places = self._wordpieces(_without_accents(word))
        if not places:
            return None
        summed = self._rows[places].sum(axis=0, dtype="int32")
        length = isqrt(int((summed.astype("int64") ** 2).sum()) << 2 * NORM_BITS)
        return (summed, length) if length else None

    def _wordpieces(self, word: str) -> list[int]:
        """The longest wordpieces from the left; nothing where one is not in the vocabulary."""
        if len(word) > LONGEST_WORD:
            return []
        places: list[int] = []
        start = 0
        while start < len(word):
            before = "##" if start else ""
            for end in range(len(word), start, -1):
                place = self._places.get(before + word[start:end])
                if place is not None:
                    places.append(place)
                    start = end
                    break
            else:
                return []
        return places


@cache
def load() -> TokenTable | None:
    """The table, where numpy is installed."""
    try:
        import numpy
    except ImportError:
        return None
    folder = resources.files("foreword") / "data"
    wordpieces = (folder / "token_table.txt").read_text("utf-8").split("\n")[:-1]
    rows = numpy.frombuffer((folder / "token_table.bin").read_bytes(), dtype=numpy.int8)
    return TokenTable(rows.reshape(len(wordpieces), DIMENSIONS), wordpieces)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    return "".join([char for char in apart if not unicodedata.combining(char)])
