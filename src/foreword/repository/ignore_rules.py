"""What `.gitignore` files hide: their patterns, as git reads them.

The last pattern that matches a path decides, and a file below a hidden folder stays hidden. No
pattern of a stranger's takes longer than the name it is held against: each is matched name by name,
without going back. Pure.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from foreword.pattern import lazy_pattern

FILE_NAME = ".gitignore"
MOST_RULES = 2_000  # of one file; the longest of the collections of templates has 500
_LONGEST_RULE = 500  # characters
_MAGIC = lazy_pattern(r"[*?\[\\]")
_ESCAPED = lazy_pattern(r"\\(.)")
_SUFFIX = lazy_pattern(r"\*(\.[\w-]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PathRule:
    """A pattern that names more than the end of a path, name by name; `None` stands for `**`."""

    names: tuple[re.Pattern[str] | None, ...]
    folders_only: bool


@dataclass(slots=True, kw_only=True)
class IgnoreRules:
    """The patterns of one `.gitignore` in the order of their lines."""

    _plain: dict[tuple[str, bool], int] = field(default_factory=dict)  # a name, for folders only?
    _suffixes: dict[tuple[str, bool], int] = field(default_factory=dict)
    _paths: dict[int, _PathRule] = field(default_factory=dict)
    _hides: dict[int, bool] = field(default_factory=dict)
    _open: dict[str, list[tuple[int, frozenset[int]]]] = field(default_factory=dict)  # by folder

    def add(self, line: str) -> None:
        """Add one line of the file."""
        number = len(self._hides)
        pattern = _without_trailing_spaces(line.rstrip("\r\n"))
        if not pattern or pattern.startswith("#") or len(pattern) > _LONGEST_RULE:
            return
        if number >= MOST_RULES:
            return
        hides = not pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        folders_only = pattern.endswith("/")
        pattern = pattern.rstrip("/")
        if not pattern:
            return
        self._hides[number] = hides
        suffix = _SUFFIX.fullmatch(pattern)
        if "/" not in pattern and not _MAGIC.search(pattern):
            self._plain[pattern, folders_only] = number
        elif suffix:
            self._suffixes[suffix[1], folders_only] = number
        else:
            self._paths[number] = _PathRule(names=_names(pattern), folders_only=folders_only)

    def __bool__(self) -> bool:
        """Whether there is a pattern at all."""
        return bool(self._hides)

    def decision(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether a path, relative to the folder of the file, is hidden; None where no pattern
        says."""
        folder, _, name = path.rpartition("/")
        last = self._plain.get((name, False), -1)
        if is_folder:
            last = max(last, self._plain.get((name, True), -1))
        if self._suffixes and "." in name:
            last = max(last, self._by_suffix(name, is_folder=is_folder))
        if self._paths:
            for number, places in self._open_paths(folder):
                if number <= last:
                    break
                rule = self._paths[number]
                if rule.folders_only and not is_folder:
                    continue
                if _is_end(rule.names, _step(rule.names, places, name), path):
                    last = number
                    break
        return self._hides[last] if last >= 0 else None

    def _by_suffix(self, name: str, *, is_folder: bool) -> int:
        """The last pattern that names an end of a name, as `*.pyc`."""
        last = -1
        dot = name.find(".")
        while dot >= 0:
            last = max(last, self._suffixes.get((name[dot:], False), -1))
            if is_folder:
                last = max(last, self._suffixes.get((name[dot:], True), -1))
            dot = name.find(".", dot + 1)
        return last

    def _open_paths(self, folder: str) -> list[tuple[int, frozenset[int]]]:
        """The patterns that something inside a folder may match, the last first, each with the
        places it has reached there: of most nothing is left below the first folder."""
        found = self._open.get(folder)
        if found is None:
            found = self._step_into(folder) if folder else self._open_at_top()
            self._open[folder] = found
        return found

    def _open_at_top(self) -> list[tuple[int, frozenset[int]]]:
        """Every pattern, at its beginning."""
        found = list[tuple[int, frozenset[int]]]()
        for number, rule in reversed(self._paths.items()):
            found.append((number, _past_any({0}, rule.names)))
        return found

    def _step_into(self, folder: str) -> list[tuple[int, frozenset[int]]]:
        """The patterns of the folder above that go on in this one, and how far each has matched."""
        above, _, name = folder.rpartition("/")
        found = list[tuple[int, frozenset[int]]]()
        for number, places in self._open_paths(above):
            reached = _step(self._paths[number].names, places, name)
            if reached:
                found.append((number, reached))
        return found


def rules_in(text: str) -> IgnoreRules:
    """The rules of one file."""
    rules = IgnoreRules()
    for line in text.splitlines():
        rules.add(line)
    return rules


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    return bare + " " if bare.endswith("\\") and bare != line else bare


def _names(pattern: str) -> tuple[re.Pattern[str] | None, ...]:
    """A pattern, name by name; without a slash inside it holds at any depth."""
    is_anchored = "/" in pattern
    found: list[re.Pattern[str] | None] = [] if is_anchored else [None]
    for segment in pattern.strip("/").split("/"):
        if segment == "**":
            if found[-1:] != [None]:
                found.append(None)
        else:
            found.append(_name_pattern(segment))
    return tuple(found)


def _name_pattern(segment: str) -> re.Pattern[str]:
    """One name of a pattern. `fnmatch` never goes back over a star that has matched."""
    spelled = _ESCAPED.sub(_literal, segment.replace("[^", "[!"))
    try:
        return re.compile(fnmatch.translate(spelled))
    except re.error:  # as an empty range: git matches nothing
        return re.compile(r"(?!)")


def _literal(escaped: re.Match[str]) -> str:
    """A character behind a backslash, as `fnmatch` spells it."""
    return f"[{escaped[1]}]" if escaped[1] in "*?[" else escaped[1]


def _step(
    pattern: Sequence[re.Pattern[str] | None], places: frozenset[int], name: str
) -> frozenset[int]:
    """The places that a pattern may have reached after one more name."""
    following: set[int] = set()
    for place in places:
        if place == len(pattern):
            continue
        wanted = pattern[place]
        if wanted is None:
            following.add(place)
        elif wanted.match(name):
            following.add(place + 1)
    return _past_any(following, pattern) if following else _NOWHERE


_NOWHERE = frozenset[int]()


def _is_end(pattern: Sequence[re.Pattern[str] | None], places: frozenset[int], path: str) -> bool:
    """Whether a pattern that has reached these places after all names of a path matches it."""
    if len(pattern) not in places:
        return False
    # `folder/**` hides what is inside the folder, not the folder itself
    return pattern[-1] is not None or path.count("/") + 1 >= len(pattern)


def _past_any(places: set[int], pattern: Sequence[re.Pattern[str] | None]) -> frozenset[int]:
    """The places, and those behind each `**` that is next."""
    found = set(places)
    for place in places:
        while place < len(pattern) and pattern[place] is None:
            place += 1
            found.add(place)
    return frozenset(found)
