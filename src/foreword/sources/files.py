"""Read and find files under a root, and never outside it.

A file comes back as text with its bytes and what was done to decode it, or as a `Skip` with the
reason. Only regular files are ever opened, so nothing blocks. What the text means is for others:
`front_matter` and `items` read more.
"""

from __future__ import annotations

import codecs
import fnmatch
import os
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal, overload

from foreword import regular_file
from foreword.errors import BadSource, OutsideRoot
from foreword.pattern import lazy_pattern
from foreword.regular_file import FOLDER, LEADS_NOWHERE, MISSING, OUTSIDE, UNREADABLE, Unusable
from foreword.text.clean import clean

LARGEST_BYTES = 64 * 1024 * 1024  # of one file: all that a section may have
# Of one section. Measured on two busy cores: 10,000 files of 6.7 KB, which are 64 MiB, take 40 s
# and 300 MB, 100,000 files of one byte 20 s and 330 MB, one file of 64 MiB two minutes and up to
# 1.6 GB. With double, 3 GB are not enough; at half, a single file of the largest size would not be
# read.
MOST_FILES = 10_000
MOST_BYTES = LARGEST_BYTES
MOST_FOUND = 200_000  # paths or folders of one search: a path and its place in the order take 1 KB
# Members of one folder whose listing is kept for the next search: 3 MB; folders of documents have
# a hundredth of it.
MOST_REMEMBERED = 10_000
MOST_SKIPS_NAMED = 10  # of the files that were left out; the rest is a number, as a report is read

# At least so many bytes of a text for one control character: old files have a page break here and
# there, programs and images have far more.
BYTES_PER_CONTROL = 50

PAST_LIMIT = "past the limit of what is read at once"
BINARY = "binary"
EMPTY = "empty"
HIDDEN = "hidden: give it by its own name"
TOOL_FOLDER = "filled by a tool: give it by its own name"
NO_WORDS = frozenset((BINARY, EMPTY))  # why a file that could be read has nothing to say

_WIDE = (  # the longer mark first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\v\f\r\x1b")
_DIGITS = lazy_pattern(r"(\d+)")
_TOOL_FOLDERS = frozenset((".git", ".venv", "__pycache__", "node_modules", "venv"))
_OWN_FOLDERS = frozenset((".git", ".foreword"))


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read: `path` is relative to the root, `raw` holds its bytes as they are on
    disk."""

    path: str
    text: str
    raw: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that was not read, and why."""

    path: str
    reason: str

    @property
    def is_shut(self) -> bool:
        """Whether it is there and we may not, or can't, look into it."""
        return self.reason.startswith(UNREADABLE)


Reader = Callable[[str], File | Skip]


@dataclass(slots=True)
class FolderListings:
    """What is in each folder under a root, for many searches of it: the root is followed to where
    it is once, and a folder is listed once."""

    base: Path  # the root, every symbolic link on the way followed
    _entries: dict[str, list[os.DirEntry[str]]] = field(default_factory=dict)
    _problems: dict[str, list[Skip]] = field(default_factory=dict)

    def entries(self, folder: str, unread: list[Skip]) -> Iterator[os.DirEntry[str]]:
        """What is in a folder; one with very many members is listed anew for each search."""
        if folder not in self._entries:
            problems: list[Skip] = []
            members = _entries(self.base, folder, problems)
            first = list(islice(members, MOST_REMEMBERED))
            if len(first) == MOST_REMEMBERED:
                yield from first
                yield from members
                unread += problems
                return
            self._entries[folder] = first
            self._problems[folder] = problems
        unread += self._problems[folder]
        yield from self._entries[folder]

    def passed_over(self) -> Iterator[Skip]:
        """What searches have come by and do not look into: folders that tools fill, links to
        folders, and what is no file."""
        for folder, entries in self._entries.items():
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name in _OWN_FOLDERS or entry.is_file():
                    continue
                if entry.name in _TOOL_FOLDERS:
                    yield Skip(path, TOOL_FOLDER)
                elif entry.is_symlink() and entry.is_dir():
                    yield Skip(path, "a symbolic link to a folder")
                elif not entry.is_dir() and not entry.is_symlink():
                    yield Skip(path, "not a regular file")


@dataclass(slots=True)
class Allowance:
    """How many files and bytes may still be read for a section, and (`of`) for a whole context.

    No project may take all memory. Whoever reads by it tells how many files are past the limit.
    """

    files: int = MOST_FILES
    bytes: int = MOST_BYTES
    of: Allowance | None = None

    def read(self, root: Path, path: str, reader: Reader | None = None) -> File | Skip:
        """The file, taken off what is left; past the limit a `Skip`. `reader` is for those who
        remember what they have read."""
        if not self._has_room_for(0):
            return Skip(path, PAST_LIMIT)
        found = read(root, path) if reader is None else reader(path)
        size = len(found.raw) if isinstance(found, File) else 0
        if not self._has_room_for(size):
            return Skip(path, PAST_LIMIT)
        self._take(size)
        return found

    def _has_room_for(self, size: int) -> bool:
        is_full = self.files < 1 or self.bytes < size
        return not is_full and (self.of is None or self.of._has_room_for(size))

    def _take(self, size: int) -> None:
        self.files -= 1
        self.bytes -= size
        if self.of is not None:
            self.of._take(size)


@overload
def read(root: Path, path: str, *, must: Literal[True]) -> File: ...
@overload
def read(root: Path, path: str, *, must: bool = False) -> File | Skip: ...
def read(root: Path, path: str, *, must: bool = False) -> File | Skip:
    """The file at a path inside the root; with `must`, an error instead of a `Skip`."""
    name = path
    try:
        base, parts = regular_file.place_inside(root, path)
        name = _display_path(root, base, path, parts)
        raw = regular_file.read_parts(base, parts, LARGEST_BYTES)
        text, notes = decode(raw)
    except Unusable as unusable:
        return _refuse(root, name, unusable.reason, must)
    except UnicodeDecodeError:
        return _refuse(root, name, BINARY, must)
    if not text.strip():
        return _refuse(root, name, EMPTY, must)
    return File(name, text, raw, notes)


def decode(raw: bytes) -> tuple[str, tuple[str, ...]]:
    """Bytes as text, and what had to be done; `UnicodeDecodeError` where they are no text. Line
    ends stay."""
    for mark, encoding in _WIDE:
        if raw.startswith(mark):
            text, notes = clean(raw.decode(encoding))
            return text, (f"read as {encoding.upper()}", *notes)
    if b"\0" in raw:
        raise _no_text(raw)
    try:
        return raw.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        return _one_byte(raw)


def find(
    root: Path,
    pattern: str,
    unread: list[Skip] | None = None,
    listings: FolderListings | None = None,
) -> list[str]:
    """The regular files that match a glob, relative to the root, in natural order (2 before 10).

    `**` stands for any number of folders and follows no symbolic link. A hidden name matches only
    where the pattern begins with the dot itself, a folder that tools fill (`node_modules`) only
    where the pattern has its name. Names that are not valid text are passed over. Folders that
    could not be looked into count as empty and are added to `unread`, as are links that match and
    lead out of the root or nowhere, and a search that was too large to finish. Searches that follow
    each other may share their `listings`.
    """
    listings = listings or FolderListings(root.resolve())
    base = listings.base
    if unread is None:
        unread = []
    segments = _segments(root, base, pattern)
    found: set[str] = set()
    waiting = [("", 0)] if segments else []
    visited = set(waiting)
    while waiting and len(found) + len(visited) <= MOST_FOUND:
        folder, index = waiting.pop()
        entries = listings.entries(folder, unread)
        steps = _step(base, folder, entries, segments=segments, index=index, unread=unread)
        for path, following in steps:
            if following == len(segments):
                found.add(path)
            elif (path, following) not in visited:
                visited.add((path, following))
                waiting.append((path, following))
            if len(found) + len(visited) > MOST_FOUND:
                reason = f"{UNREADABLE} to its end: more than {MOST_FOUND:,} files and folders"
                unread.append(Skip(pattern, reason))
                break
    return sorted(found, key=natural)


def read_folder(folder: Path) -> tuple[list[File], list[Skip]]:
    """Every text file below a folder, in natural order; and all else that is in it, each with the
    reason why it was not read. What git and Foreword keep in it is no part of it."""
    listings = FolderListings(folder.resolve())
    unread = list[Skip]()
    allowance = Allowance()
    found = list[File]()
    for path in find(folder, "**/*", unread, listings):
        file = allowance.read(folder, path)
        if isinstance(file, File):
            found.append(file)
        else:
            unread.append(file)
    hidden = dict.fromkeys(find(folder, "**/.*", unread, listings))
    for path in find(folder, "**/.*/**/*", unread, listings):
        parts = path.split("/")
        first = next(at for at, name in enumerate(parts) if name.startswith("."))
        hidden["/".join(parts[: first + 1])] = None
    unread += listings.passed_over()
    named = {skip.path for skip in unread}
    for path in hidden:
        if path not in named and path.split("/")[-1] not in _OWN_FOLDERS:
            unread.append(Skip(path, HIDDEN))
    return found, list(dict.fromkeys(unread))


def skip_notes(unread: list[Skip]) -> list[str]:
    """What could not be looked into, as notes for a report: each once, the first few by name."""
    notes = [f"{skip.path}: {skip.reason}, left out" for skip in dict.fromkeys(unread)]
    more = len(notes) - MOST_SKIPS_NAMED
    if more < 1:
        return notes
    summary = f"{more:,} more are left out like these"
    return [*notes[:MOST_SKIPS_NAMED], summary]


def natural(path: str) -> tuple[tuple[tuple[str | int, ...], ...], str]:
    """A sort key that orders numbers in names by their value, folder by folder."""
    return tuple(_natural_name(name) for name in path.split("/")), path


@lru_cache(maxsize=16_384)
def _natural_name(name: str) -> tuple[str | int, ...]:
    return tuple(_number(part) for part in _DIGITS.split(name.casefold()))


def _number(part: str) -> str | int:
    return int(part) if part[:1].isdecimal() else part


def _refuse(root: Path, path: str, reason: str, must: bool) -> Skip:
    if not must:
        return Skip(path, reason)
    if reason == OUTSIDE:
        raise OutsideRoot(path, str(root))
    hints = {
        MISSING: f"check the path; it is looked up in {root}",
        FOLDER: "name a file in it",
    }
    raise BadSource(path, reason, hint=hints.get(reason, ""))


def _display_path(root: Path, base: Path, path: str, parts: tuple[str, ...]) -> str:
    """The path to tell people: the one they gave where it is already relative, else the real
    one."""
    given_path = Path(path)
    if ".." in given_path.parts:
        return "/".join(parts)
    for start in (root, base):
        if given_path.is_absolute() and given_path.is_relative_to(start):
            return given_path.relative_to(start).as_posix()
    return "/".join(parts) if given_path.is_absolute() else given_path.as_posix()


def _one_byte(raw: bytes) -> tuple[str, tuple[str, ...]]:
    """Text of an older one-byte encoding; bytes with many control characters are no text."""
    controls = len(raw) - len(raw.translate(None, _CONTROLS))
    if controls * BYTES_PER_CONTROL > len(raw):
        raise _no_text(raw)
    try:
        return raw.decode("cp1252"), ("not UTF-8: read as cp1252",)
    except UnicodeDecodeError:
        return raw.decode("latin-1"), ("not UTF-8: read as latin-1",)


def _no_text(raw: bytes) -> UnicodeDecodeError:
    return UnicodeDecodeError("text", raw[:1], 0, 1, "binary")


def _segments(root: Path, base: Path, pattern: str) -> list[str]:
    """The pattern, name by name, with a closing `**` spelled out."""
    for start in (base, root):
        if posixpath.isabs(pattern) and pattern.startswith(f"{start.as_posix()}/"):
            pattern = pattern[len(start.as_posix()) + 1 :]
    plain = posixpath.normpath(pattern)
    if posixpath.isabs(plain) or plain.split("/")[0] == "..":
        raise OutsideRoot(pattern, str(root))
    segments = list[str]()
    for name in plain.split("/"):
        is_repeated = name == "**" and segments[-1:] == ["**"]  # any number of folders, twice
        if name != "." and not is_repeated:
            segments.append(name)
    if segments[-1:] == ["**"]:
        segments.append("*")
    return segments


def _step(
    base: Path,
    folder: str,
    entries: Iterator[os.DirEntry[str]],
    *,
    segments: list[str],
    index: int,
    unread: list[Skip],
) -> Iterator[tuple[str, int]]:
    """From a folder that matches so far: what matches one name more, and how many names then do."""
    segment = segments[index]
    is_last = index + 1 == len(segments)
    if segment == "**":
        yield folder, index + 1
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if segment == "**":
            if _is_searched(entry):
                yield path, index
            continue
        if not is_last and entry.name in _TOOL_FOLDERS and entry.name != segment:
            continue
        if not _matches(entry.name, segment) or not _is_inside(base, path, entry, unread):
            continue
        if entry.is_file() if is_last else entry.is_dir():
            yield path, index + 1


def _is_searched(entry: os.DirEntry[str]) -> bool:
    """Whether `**` goes into a folder: not into hidden ones, and not into those that tools fill."""
    if entry.name[0] == "." or entry.name in _TOOL_FOLDERS:
        return False
    return entry.is_dir(follow_symlinks=False)


def _entries(base: Path, folder: str, unread: list[Skip]) -> Iterator[os.DirEntry[str]]:
    """What is in a folder, one after another: there may be millions."""
    try:
        with os.scandir(base / folder) as entries:
            for entry in entries:
                if not _undecodable(entry.name):
                    yield entry
    except OSError as problem:
        reason = regular_file.reason_of(problem)
        if reason != MISSING:  # it may have gone while we were looking
            unread.append(Skip(folder or ".", reason))


def _undecodable(name: str) -> bool:
    return not name.isascii() and any("\ud800" <= char <= "\udfff" for char in name)


def _matches(name: str, segment: str) -> bool:
    if name.startswith(".") and not segment.startswith("."):
        return False
    return name == segment or fnmatch.fnmatchcase(name, segment)


def _is_inside(base: Path, path: str, entry: os.DirEntry[str], unread: list[Skip]) -> bool:
    if not entry.is_symlink():
        return True
    try:
        if Path(entry.path).resolve(strict=True).is_relative_to(base):
            return True
        unread.append(Skip(path, OUTSIDE))
    except (OSError, RuntimeError):
        unread.append(Skip(path, LEADS_NOWHERE))
    return False
