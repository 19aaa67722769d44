"""Check outside data against a shape and tell every problem with the path to it.

A rule takes a value and its path and yields what is wrong; rules are put together from rules.
Fields that a shape does not know are none of its business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from foreword.errors import did_you_mean
from foreword.secrets.masking import mask

Rule = Callable[[object, str], Iterable[str]]
_MOST_QUOTED = 60
_MOST_LOOKED_AT = 10_000
_MOST_DEPTH = 100
_MOST_BITS = 64
# 'doing' is not near 'pending'; 'complete' and 'in-progress' are near what they mean.
_NEAR = 0.75


def text(value: object, path: str) -> Iterator[str]:
    """Any text."""
    if not isinstance(value, str):
        yield f"{path}: must be text, not {value_in_words(value)}"


def filled_text(value: object, path: str) -> Iterator[str]:
    """A text that says something."""
    yield from text(value, path)
    if isinstance(value, str) and not value.strip():
        yield f"{path}: must not be empty"


def number(value: object, path: str) -> Iterator[str]:
    """A whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        yield f"{path}: must be a whole number, not {value_in_words(value)}"
    elif value.bit_length() >= _MOST_BITS:
        yield f"{path}: must be a smaller number"


def identity(value: object, path: str) -> Iterator[str]:
    """What something is known by: a whole number or a text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        yield f"{path}: must be text or a whole number, not {value_in_words(value)}"
    else:
        yield from (filled_text if isinstance(value, str) else number)(value, path)


def mapping(value: object, path: str) -> Iterator[str]:
    """A mapping of anything."""
    if not isinstance(value, Mapping):
        yield f"{path}: must be a mapping, not {value_in_words(value)}"


def one_of(options: Sequence[str]) -> Rule:
    """One of a few words."""

    def rule(value: object, path: str) -> Iterator[str]:
        if value not in options:
            near = (
                get_close_matches(value.lower(), options, n=1, cutoff=_NEAR)
                if isinstance(value, str)
                else []
            )
            guess = f", did you mean {near[0]!r}?" if near else ""
            yield f"{path}: {value_in_words(value)} is not one of {', '.join(options)}{guess}"

    return rule


def list_of(member: Rule) -> Rule:
    """A list whose every member follows the rule."""

    def rule(value: object, path: str) -> Iterator[str]:
        if not isinstance(value, list | tuple):
            yield f"{path}: must be a list, not {value_in_words(value)}"
            return
        for index, one in enumerate(value):
            yield from member(one, f"{path}[{index}]")

    return rule


def fields(needed: Mapping[str, Rule], optional: Mapping[str, Rule]) -> Rule:
    """A mapping with some fields that must be there and some that may be missing or null."""

    def rule(value: object, path: str) -> Iterator[str]:
        yield from mapping(value, path)
        if not isinstance(value, Mapping):
            return
        for name, follows in [*needed.items(), *optional.items()]:
            place = f"{path}.{name}" if path else name
            if name in needed and name not in value:
                yield f"{place}: missing{_instead(name, value, {*needed, *optional})}"
            elif name in needed or value.get(name) is not None:
                yield from follows(value[name], place)

    return rule


def depth(value: object) -> Iterator[str]:
    """Whatever any writer of JSON can take: neither a hundred deep nor a cycle."""
    level = [value]
    for _ in range(_MOST_DEPTH):
        members = [member for one in level for member in _members(one)]
        level = list({id(member): member for member in members}.values())
    if level:
        yield f"nested more than {_MOST_DEPTH} deep"


def value_in_words(value: object) -> str:
    """A value as a message names it: a short one as it is, a large one by its kind."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, str):
        value = mask(value[:_MOST_LOOKED_AT])
        return repr(value if len(value) <= _MOST_QUOTED else value[: _MOST_QUOTED - 3] + "...")
    if isinstance(value, float) or (isinstance(value, int) and value.bit_length() < _MOST_BITS):
        return str(value)
    return f"a value of type {type(value).__name__}"


def _members(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _instead(name: str, value: Mapping[object, object], known: set[str]) -> str:
    guess = did_you_mean(name, [str(key) for key in value if key not in known])
    return f", is it {guess!r}?" if guess else ""
