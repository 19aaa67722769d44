"""Objects of JSON in which no key is there twice.

Python's own reader takes the last of two members of one name and forgets the first, without a word.
Not a reader: a hook for `json.loads`, wherever what people wrote comes in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

LONGEST_NAME = 60  # characters of a key in an error: one line


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these members; ValueError where one name is there twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError(f"the key {first_repeated(pairs)[:LONGEST_NAME]!r} is there twice")
    return made


def first_repeated(pairs: Iterable[tuple[str, Any]]) -> str:
    """The name that comes first of those that are there more than once; one must be."""
    counts = Counter(name for name, _ in pairs)
    return next(name for name, count in counts.items() if count > 1)
