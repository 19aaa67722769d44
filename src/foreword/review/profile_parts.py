"""The parts of a profile, and which of them somebody has understood.

Whoever reads a mapping of a profile takes its fields by name. What nobody takes is *unread*, and
known by its path: no change is approved by half of a project's rules, so a part that is unread is a
person's business. That holds for every field at every depth without a word about it in the readers:
they say what they know, never what they do not. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern

_SEPARATORS = lazy_pattern(r"[\s_.-]+")
_DEMAND = lazy_pattern(r"block|require|wait|must|approv|condition|rule")
# What a part is called and what it is about: prose, which decides nothing. Notes and comments are
# not among it: there people put what the rules leave out.
PROSE = "about description docs id message name rationale reason summary title".split()
# And of a profile as a whole, whose it is and since when. Of a rule, `author: dependabot` may be
# the very condition.
IDENTITY = (
    "$schema apiversion author authors changelog contact contacts created date kind last_updated"
    " maintainer maintainers owner owners profile profile_name profile_version references schema"
    " schema_version tags updated version"
).split()


class ProfileReading:
    """One reading of a profile: all parts that were opened, and what was refused in them."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._parts: list[ProfilePart] = []
        self._refused: list[str] = []

    def open(self, value: Mapping[str, object], path: str = "") -> ProfilePart:
        """A mapping as a part, every field of which has to be taken."""
        part = ProfilePart(self, value, path)
        self._parts.append(part)
        return part

    def refuse(self, path: str) -> None:
        """Say that what stands at a path is not understood, though its name is."""
        self._refused.append(path)

    def unread_paths(self) -> list[str]:
        """Whatever nobody has understood, by its path."""
        paths = list(self._refused)
        for part in self._parts:
            paths += part.left_over()
        return list(dict.fromkeys(paths))


class ProfilePart:
    """A mapping of a profile. A name may be spelled in any usual way: `auto-merge`, `autoMerge`
    and `Automerge` are all `auto_merge`."""

    def __init__(self, reading: ProfileReading, data: Mapping[str, object], path: str) -> None:
        self.reading = reading
        self.path = path
        self._written: dict[str, str] = {}
        self._values: dict[str, object] = {}
        for key, value in data.items():
            name = plain_name(str(key))
            if name in self._values:
                problem = f"{self._written[name]!r} is there twice, once as {str(key)!r}"
                raise BadSource(reading.where, problem)
            self._written[name] = str(key)
            self._values[name] = value

    def __contains__(self, name: str) -> bool:
        return plain_name(name) in self._values

    def path_of(self, name: str) -> str:
        """Where a field stands in the profile, as it is written there."""
        written = self._written.get(plain_name(name), name)
        return f"{self.path}.{written}" if self.path else written

    def take(self, name: str) -> object:
        """The value of a field, which is read with that; None where there is none."""
        return self._values.pop(plain_name(name), None)

    def peek(self, name: str) -> object:
        """The value of a field, which stays to be taken."""
        return self._values.get(plain_name(name))

    def take_one(self, names: Sequence[str]) -> tuple[str, object]:
        """The one field that has any of these names, and its value; of two nobody can say which
        is meant, so they stay unread."""
        found = [name for name in names if name in self]
        return (found[0], self.take(found[0])) if len(found) == 1 else ("", None)

    def take_prose(self, *more: str) -> None:
        """Take what only describes the part: texts and lists of texts under the usual names."""
        for name in (*PROSE, *more):
            if is_prose(self._values.get(plain_name(name))):
                self.take(name)

    def take_switch(self) -> bool | None:
        """What `enabled` says; where that is no plain yes or no it stays unread."""
        value = self._values.get("enabled")
        if not isinstance(value, bool):
            return None
        self.take("enabled")
        return value

    def take_all(self) -> None:
        """Take whatever is left."""
        self._values.clear()

    def names(self) -> list[str]:
        """The fields that nobody has taken yet, as they are written."""
        return [self._written[name] for name in self._values]

    def left_over(self) -> Iterator[str]:
        """The paths of the fields that nobody has taken and that say something."""
        for name, value in self._values.items():
            if not says_nothing(value):
                yield self.path_of(name)


def plain_name(name: str) -> str:
    """A name without the ways to spell it. Letters of another alphabet stay as they are: what only
    looks like a known name is not known."""
    return _SEPARATORS.sub("", name).casefold()


def says_nothing(value: object) -> bool:
    """Whether a value is empty, as in `approvers: []`."""
    return value is None or value in ("", [], {})


def is_prose(value: object) -> bool:
    """Whether a value is a text, a number or a list of such, and no structure with a meaning."""
    members = value if isinstance(value, list) else [value]
    return not any(isinstance(member, Mapping | list) for member in members)


def names_in(value: object) -> Iterator[str]:
    """All names of fields in a value, however deep, without the ways to spell them."""
    if isinstance(value, list):
        for member in value:
            yield from names_in(member)
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield plain_name(str(key))
            yield from names_in(member)


def asks_for_something(value: object) -> bool:
    """Whether what should only tell somebody of a change has anything to wait for, as in
    `notifications: {require_ack: true}`."""
    return any(map(_DEMAND.search, names_in(value)))


def is_off(value: object) -> bool:
    """Whether a part is switched off; anything but a plain no is not."""
    if not isinstance(value, Mapping):
        return False
    return any(plain_name(str(key)) == "enabled" and off is False for key, off in value.items())
