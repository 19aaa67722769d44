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
_MOST_QUOTED = 60  # characters of a value in a message: enough to recognize it, and one line
# Characters of a value that are searched for secrets before it is quoted: whatever is quoted lies
# well inside, and a text of megabytes costs no more.
_MOST_SEARCHED = 10_000
# No plan and no configuration comes near; Python's own JSON gives up at about a thousand.
_MOST_DEPTH = 100
_MOST_BITS = 64  # of a whole number, sign included, as databases store them
# How alike a mistyped word must be: 'doing' is not near 'pending'; 'complete' and 'in-progress' are
# near what they mean.
_NEAR = 0.75


def anything(value: object, path: str) -> Iterator[str]:
    """Any value at all."""
    yield from ()


def yes_or_no(value: object, path: str) -> Iterator[str]:
    """True or false."""
    if not isinstance(value, bool):
        yield f"{path}: must be true or false, not {value_in_words(value)}"


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
    elif isinstance(value, str):
        yield from filled_text(value, path)
    else:
        yield from number(value, path)


def mapping(value: object, path: str) -> Iterator[str]:
    """A mapping of anything."""
    if not isinstance(value, Mapping):
        yield f"{path}: must be a mapping, not {value_in_words(value)}"


def one_of(options: Sequence[str]) -> Rule:
    """One of a few words."""

    def rule(value: object, path: str) -> Iterator[str]:
        if value not in options:
            problem = f"{path}: {value_in_words(value)} is not one of {', '.join(options)}"
            yield problem + _guess(value, options)

    return rule


def _guess(value: object, options: Sequence[str]) -> str:
    if not isinstance(value, str):
        return ""
    near = get_close_matches(value.lower(), options, n=1, cutoff=_NEAR)
    return f", did you mean {near[0]!r}?" if near else ""


def list_of(member: Rule) -> Rule:
    """A list whose every member follows the rule."""

    def rule(value: object, path: str) -> Iterator[str]:
        if not isinstance(value, list | tuple):
            yield f"{path}: must be a list, not {value_in_words(value)}"
            return
        for index, element in enumerate(value):
            yield from member(element, f"{path}[{index}]")

    return rule


def fields(needed: Mapping[str, Rule], optional: Mapping[str, Rule]) -> Rule:
    """A mapping with some fields that must be there and some that may be missing or null."""

    def rule(value: object, path: str) -> Iterator[str]:
        yield from mapping(value, path)
        if not isinstance(value, Mapping):
            return
        for name, field_rule in [*needed.items(), *optional.items()]:
            place = f"{path}.{name}" if path else name
            if name in needed and name not in value:
                yield f"{place}: missing{_mistyped_name(name, value, {*needed, *optional})}"
            elif name in needed or value.get(name) is not None:
                yield from field_rule(value[name], place)

    return rule


def depth(value: object) -> Iterator[str]:
    """Whatever any writer of JSON can take: neither a hundred deep nor a cycle."""
    level = [value]
    for _ in range(_MOST_DEPTH):
        # by identity, so that what is in many places is followed once
        members: dict[int, object] = {}
        for container in level:
            for member in _members(container):
                members[id(member)] = member
        level = list(members.values())
    if level:
        yield f"nested more than {_MOST_DEPTH} deep"


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


def _members(value: object) -> Iterable[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _mistyped_name(name: str, value: Mapping[object, object], known: set[str]) -> str:
    guess = did_you_mean(name, [str(key) for key in value if key not in known])
    return f", is it {guess!r}?" if guess else ""
