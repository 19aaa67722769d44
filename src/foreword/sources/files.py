"""Read and find files under a root, and never outside it.

A file comes back as text with its bytes and what was done to decode it, or as a `Skip` with the reason. Only regular
files are ever opened, so nothing blocks. What the text means is for others: `front_matter` and `items` read more.
"""

from __future__ import annotations

import codecs
import errno
import fnmatch
import os
import posixpath
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

from foreword.errors import BadSource, OutsideRoot
from foreword.text.clean import clean

LARGEST_BYTES = 64 * 1024 * 1024

_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", 0)  # O_PATH: Linux only
_WIDE = (  # the longer mark first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\v\f\r\x1b")
_DIGITS = re.compile(r"(\d+)")
_OF_TOOLS = frozenset((".git", ".venv", "__pycache__", "node_modules", "venv"))
_OUTSIDE = "outside the root"
_UNREADABLE = "unreadable"
_NOWHERE = "a symbolic link that leads nowhere"
_TOO_LARGE = f"larger than {LARGEST_BYTES // 1024**2} MiB"
_REASONS = {
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
    errno.EISDIR: "a folder",
    errno.ENXIO: "not a regular file",
    errno.ELOOP: _NOWHERE,
    errno.EACCES: f"{_UNREADABLE}: permission denied",
    errno.EPERM: f"{_UNREADABLE}: permission denied",
}


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read: `path` is relative to the root, `raw` holds its bytes as they are on disk."""

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
        return self.reason.startswith(_UNREADABLE)


class _Refused(Exception):
    """Why a file can't be used, on its way to a `Skip` or an error."""


@overload
def read(root: Path, path: str, *, must: Literal[True]) -> File: ...
@overload
def read(root: Path, path: str, *, must: bool = False) -> File | Skip: ...
def read(root: Path, path: str, *, must: bool = False) -> File | Skip:
    """The file at a path inside the root; with `must`, an error instead of a `Skip`."""
    shown = path
    try:
        base, parts = _locate(root, path)
        shown = _shown(root, base, path, parts)
        raw = _bytes(base, parts)
        text, notes = decode(raw)
    except _Refused as refusal:
        return _refuse(root, shown, str(refusal), must)
    except OSError as problem:
        return _refuse(root, shown, _reason(problem), must)
    except UnicodeDecodeError:
        return _refuse(root, shown, "binary", must)
    except ValueError:
        return _refuse(root, shown, "not a valid file name", must)
    if not text.strip():
        return _refuse(root, shown, "empty", must)
    return File(shown, text, raw, notes)


def decode(raw: bytes) -> tuple[str, tuple[str, ...]]:
    """Bytes as text, and what had to be done; `UnicodeDecodeError` where they are no text. Line ends stay."""
    for mark, encoding in _WIDE:
        if raw.startswith(mark):
            text, done = clean(raw.decode(encoding))
            return text, (f"read as {encoding.upper()}", *done)
    if b"\0" in raw:
        raise _no_text(raw)
    try:
        return raw.decode("utf-8-sig"), ()
    except UnicodeDecodeError:
        return _one_byte(raw)


def find(root: Path, pattern: str, unread: list[Skip] | None = None) -> list[str]:
    """The regular files that match a glob, relative to the root, in natural order (2 before 10).

    `**` stands for any number of folders and follows no symbolic link. A hidden name matches only where the pattern
    begins with the dot itself, a folder that tools fill (`node_modules`) only where the pattern has its name. Names
    that are not valid text are passed over. Folders that could not be looked into count as empty and are added to
    `unread`, as are links that match and lead out of the root or nowhere.
    """
    base, unread = root.resolve(), [] if unread is None else unread
    segments = _segments(root, base, pattern)
    found: set[str] = set()
    waiting = [("", 0)] if segments else []
    seen = set(waiting)
    while waiting:
        folder, index = waiting.pop()
        for path, following in _step(base, folder, segments, index, unread):
            if following == len(segments):
                found.add(path)
            elif (path, following) not in seen:
                seen.add((path, following))
                waiting.append((path, following))
    return sorted(found, key=natural)


def natural(path: str) -> tuple[tuple[tuple[str | int, ...], ...], str]:
    """A sort key that orders numbers in names by their value, folder by folder."""
    return tuple(tuple(_number(part) for part in _DIGITS.split(name.casefold())) for name in path.split("/")), path


def _number(part: str) -> str | int:
    return int(part) if part[:1].isdecimal() else part


def _reason(problem: OSError) -> str:
    return _REASONS.get(problem.errno or 0, f"{_UNREADABLE}: {problem.strerror or problem}")


def _refuse(root: Path, path: str, reason: str, must: bool) -> Skip:
    if not must:
        return Skip(path, reason)
    if reason == _OUTSIDE:
        raise OutsideRoot(path, str(root))
    hint = f"check the path; it is looked up in {root}" if reason == "missing" else ""
    raise BadSource(path, reason, hint=hint)


def _locate(root: Path, path: str) -> tuple[Path, tuple[str, ...]]:
    """The real root and the file's real place in it, every symbolic link followed."""
    try:
        base = root.resolve()
        real = (base / path).resolve()
    except (RuntimeError, OSError) as problem:
        raise _Refused(_NOWHERE) from problem
    if not real.is_relative_to(base):
        raise _Refused(_OUTSIDE)
    return base, real.relative_to(base).parts


def _shown(root: Path, base: Path, path: str, parts: tuple[str, ...]) -> str:
    """The path to tell people: the one they gave where it is already relative, else the real one."""
    given = Path(path)
    if ".." in given.parts:
        return "/".join(parts)
    for start in (root, base):
        if given.is_absolute() and given.is_relative_to(start):
            return given.relative_to(start).as_posix()
    return "/".join(parts) if given.is_absolute() else given.as_posix()


def _bytes(base: Path, parts: tuple[str, ...]) -> bytes:
    descriptor = _open(base, parts)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise _Refused("a folder" if stat.S_ISDIR(state.st_mode) else "not a regular file")
        if state.st_size > LARGEST_BYTES:
            raise _Refused(_TOO_LARGE)
        with open(descriptor, "rb", closefd=False) as file:
            raw = file.read(LARGEST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(raw) > LARGEST_BYTES:  # it grew while it was read
        raise _Refused(_TOO_LARGE)
    return raw


def _open(base: Path, parts: tuple[str, ...]) -> int:
    """A descriptor for the file, folder by folder and through no link: what was checked is what is opened."""
    if not parts:
        raise _Refused("a folder")
    folder = os.open(base, _FOLDER)
    try:
        for name in parts[:-1]:
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)


def _one_byte(raw: bytes) -> tuple[str, tuple[str, ...]]:
    """Text of an older one-byte encoding; bytes with many control characters are no text."""
    controls = len(raw) - len(raw.translate(None, _CONTROLS))
    if controls * 50 > len(raw):
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
    names = [name for name in plain.split("/") if name != "."]
    names = [name for index, name in enumerate(names) if name != "**" or names[index - 1 : index] != ["**"]]
    return [*names, "*"] if names[-1:] == ["**"] else names


def _step(base: Path, folder: str, segments: list[str], index: int, unread: list[Skip]) -> Iterator[tuple[str, int]]:
    """From a folder that matches so far: what matches one name more, and how many names then do."""
    segment, last = segments[index], index + 1 == len(segments)
    if segment == "**":
        yield folder, index + 1
    for entry in _entries(base, folder, unread):
        path = f"{folder}/{entry.name}" if folder else entry.name
        if segment == "**":
            if entry.name[0] != "." and entry.name not in _OF_TOOLS and entry.is_dir(follow_symlinks=False):
                yield path, index
        elif not last and entry.name in _OF_TOOLS and entry.name != segment:
            continue
        elif _matches(entry.name, segment) and _inside(base, path, entry, unread) and _is_wanted(entry, last):
            yield path, index + 1


def _entries(base: Path, folder: str, unread: list[Skip]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(base / folder) as entries:
            return [entry for entry in entries if not _undecodable(entry.name)]
    except OSError as problem:
        if (reason := _reason(problem)) != "missing":  # it may have gone while we were looking
            unread.append(Skip(folder or ".", reason))
        return []


def _undecodable(name: str) -> bool:
    return not name.isascii() and any("\ud800" <= char <= "\udfff" for char in name)


def _matches(name: str, segment: str) -> bool:
    if name.startswith(".") and not segment.startswith("."):
        return False
    return name == segment or fnmatch.fnmatchcase(name, segment)


def _inside(base: Path, path: str, entry: os.DirEntry[str], unread: list[Skip]) -> bool:
    if not entry.is_symlink():
        return True
    try:
        if Path(entry.path).resolve(strict=True).is_relative_to(base):
            return True
        unread.append(Skip(path, _OUTSIDE))
    except (OSError, RuntimeError):
        unread.append(Skip(path, _NOWHERE))
    return False


def _is_wanted(entry: os.DirEntry[str], is_last: bool) -> bool:
    return entry.is_file() if is_last else entry.is_dir()
