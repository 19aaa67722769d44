"""Read regular files and nothing else: without waiting, so many bytes at most, inside a folder.

A project may come from a stranger. Among its files there may be a pipe that nobody writes to, a
terminal, an endless device, or a link into the user's home: each is `Unusable`, with the reason.
What a user names on the command line may also be a pipe (`read_argument`). What the bytes mean is
the business of `sources.files` and `recipe.document`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

OUTSIDE = "outside the root"
MISSING = "missing"
FOLDER = "a folder"
UNREADABLE = "unreadable"
LEADS_NOWHERE = "a symbolic link that leads nowhere"

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# O_PATH: Linux only
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", 0)
_OF_THE_SYSTEM = ("/dev/fd/", "/dev/stdin", "/proc/")  # where a shell puts what it makes for <(...)
_CHUNK_BYTES = 65_536  # as a pipe holds; from 128 KiB on, each piece would be a mapping of its own
_REASONS = {
    errno.ENOENT: MISSING,
    errno.ENOTDIR: MISSING,
    errno.EISDIR: FOLDER,
    errno.ENXIO: "not a regular file",
    errno.ELOOP: LEADS_NOWHERE,
    errno.EACCES: f"{UNREADABLE}: permission denied",
    errno.EPERM: f"{UNREADABLE}: permission denied",
}


class Unusable(Exception):
    """Why a file can't be read, in a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def place_inside(root: Path, path: str) -> tuple[Path, tuple[str, ...]]:
    """The real root and the names that lead from it to the file, every symbolic link followed."""
    try:
        base = root.resolve()
        real = (base / path).resolve()
    except ValueError:
        raise Unusable("not a valid file name") from None
    except (RuntimeError, OSError):
        raise Unusable(LEADS_NOWHERE) from None
    if not real.is_relative_to(base):
        raise Unusable(OUTSIDE)
    return base, real.relative_to(base).parts


def read_inside(root: Path, path: str, most_bytes: int) -> bytes:
    """The bytes of a regular file inside the root."""
    base, parts = place_inside(root, path)
    return read_parts(base, parts, most_bytes)


def read_parts(base: Path, parts: tuple[str, ...], most_bytes: int) -> bytes:
    """The bytes of the regular file that these names lead to; a symbolic link on the way is
    refused, so that what was checked is what is opened."""
    with _unusable_errors():
        descriptor = _open_parts(base, parts)
        try:
            return _regular_bytes(descriptor, most_bytes)
        finally:
            os.close(descriptor)


def read_anywhere(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file wherever it lies: for a path of the user's, or of our own."""
    with _open_regular(path) as descriptor:
        return _regular_bytes(descriptor, most_bytes)


def read_beginning(path: Path, most_bytes: int) -> bytes:
    """The first bytes of a regular file, however large it is."""
    with _open_regular(path) as descriptor:
        return os.read(descriptor, most_bytes)


def read_argument(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file, or all that is written to a pipe: for what a user names on the
    command line.

    A pipe that nobody writes to would be waited for without end, and `count *` may name one that
    lies in a project, or a link to standard input.
    """
    with _unusable_errors():
        state = path.stat()
        if not stat.S_ISFIFO(state.st_mode):
            return b"" if _is_null_device(state) else read_anywhere(path, most_bytes)
        is_link = path.is_symlink()
        if is_link and not str(path.absolute()).startswith(_OF_THE_SYSTEM):
            raise Unusable("a symbolic link to a pipe")
        descriptor = os.open(path, _READ)
        try:
            if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                raise Unusable("not a pipe any more")
            os.set_blocking(descriptor, True)
            raw = _read_all(lambda size: os.read(descriptor, size), _CHUNK_BYTES, most_bytes)
        finally:
            os.close(descriptor)
    if not raw and not is_link:  # what a shell makes for <(...) is a link, and may well be empty
        raise Unusable("a pipe that nobody writes to")
    return raw


def read_argument_beginning(path: Path, most_bytes: int) -> bytes:
    """The first bytes of a file that a user names, or all of a pipe, as in `--diff <(git diff)`."""
    return read_argument(path, most_bytes) if path.is_fifo() else read_beginning(path, most_bytes)


def read_stream(stream: BinaryIO, most_bytes: int) -> bytes:
    """All of standard input."""
    with _unusable_errors():
        return _read_all(lambda size: stream.read(size), _CHUNK_BYTES, most_bytes)


def reason_of(problem: OSError) -> str:
    """What the system says is wrong, in a few words."""
    return _REASONS.get(problem.errno or 0, f"{UNREADABLE}: {problem.strerror or problem}")


@contextmanager
def _unusable_errors() -> Iterator[None]:
    """What the system says, as `Unusable`."""
    try:
        yield
    except OSError as problem:
        raise Unusable(reason_of(problem)) from None
    except ValueError:  # a NUL in the name
        raise Unusable("not a valid file name") from None


@contextmanager
def _open_regular(path: Path) -> Iterator[int]:
    with _unusable_errors():
        _require_regular(path.stat().st_mode)  # before: to open a device may do something
        descriptor = os.open(path, _READ)
        try:
            _require_regular(os.fstat(descriptor).st_mode)
            yield descriptor
        finally:
            os.close(descriptor)


def _open_parts(base: Path, parts: tuple[str, ...]) -> int:
    """A descriptor for the file, folder by folder."""
    if not parts:
        raise Unusable(FOLDER)
    folder = os.open(base, _FOLDER)
    try:
        for name in parts[:-1]:
            inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], _READ | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _regular_bytes(descriptor: int, most_bytes: int) -> bytes:
    state = os.fstat(descriptor)
    _require_regular(state.st_mode)
    if state.st_size > most_bytes:
        raise Unusable(_too_large(most_bytes))
    return _read_all(lambda size: os.read(descriptor, size), state.st_size + 1, most_bytes)


def _require_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise Unusable(FOLDER if stat.S_ISDIR(mode) else "not a regular file")


def _read_all(read: Callable[[int], bytes], first_bytes: int, most_bytes: int) -> bytes:
    """All there is to read.

    The first piece is as large as the file should be: a buffer of the largest size for each of
    100,000 small files is more mappings than a process may have.
    """
    pieces: list[bytes] = []
    left = most_bytes + 1
    size = first_bytes
    while left > 0:
        piece = read(min(left, size))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
        size = _CHUNK_BYTES
    if left <= 0:
        raise Unusable(_too_large(most_bytes))
    return b"".join(pieces)


def _too_large(most_bytes: int) -> str:
    mib, rest = divmod(most_bytes, 1024**2)
    return f"larger than {most_bytes:,} bytes" if rest else f"larger than {mib:,} MiB"


def _is_null_device(state: os.stat_result) -> bool:
    return stat.S_ISCHR(state.st_mode) and state.st_rdev == Path(os.devnull).stat().st_rdev
