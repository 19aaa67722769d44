"""Values of outside data: how a message names one, and whether any writer of JSON can take it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from foreword.secrets.masking import mask

LONGEST_NAME = 60  # characters of a name that somebody made up, in a problem: enough to know it
# How alike a mistyped word must be: 'doing' is not near 'pending'; 'complete' and 'in-progress' are
# near what they mean.
_NEAR = 0.75
_MOST_QUOTED = 60  # characters of a value in a message: enough to recognize it, and one line
# Characters of a value that are searched for secrets before it is quoted: whatever is quoted lies
# well inside, and a text of megabytes costs no more.
_MOST_SEARCHED = 10_000
# No plan and no configuration comes near; Python's own JSON gives up at about a thousand.
_MOST_DEPTH = 100
_MOST_BITS = 64  # of a whole number that is written out, sign included


def value_in_words(value: object) -> str:
    """A value as a message names it: a short one as it is, a large one by its kind."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, str):
        masked = mask(value[:_MOST_SEARCHED])
        return repr(masked if len(masked) <= _MOST_QUOTED else masked[: _MOST_QUOTED - 3] + "...")
    if isinstance(value, float) or (isinstance(value, int) and value.bit_length() < _MOST_BITS):
        return str(value)
    return f"a value of type {type(value).__name__}"


def not_one_of(value: object, options: Sequence[str]) -> str:
    """That a value is none of a few words, with the one that was probably meant."""
    problem = f"{value_in_words(value)} is not one of {', '.join(options)}"
    if isinstance(value, str):
        near = get_close_matches(value[:LONGEST_NAME].lower(), options, n=1, cutoff=_NEAR)
        if near:
            problem += f", did you mean {near[0]!r}?"
    return problem


def depth_problems(value: object) -> list[str]:
    """A line where a value is nested a hundred deep, or in itself; nothing otherwise."""
    level = [value]
    for _ in range(_MOST_DEPTH):
        # by identity, so that what is in many places is followed once
        members: dict[int, object] = {}
        for container in level:
            for member in _members(container):
                members[id(member)] = member
        if not members:
            return []
        level = list(members.values())
    return [f"nested more than {_MOST_DEPTH} deep"]


def _members(value: object) -> Iterable[object]:
    if isinstance(value, (str, int, float)):  # most are, and no mapping is found more quickly
        return ()
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()
