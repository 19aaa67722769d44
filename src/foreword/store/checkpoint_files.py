"""Checkpoints as files: `.checkpoints/` under the project's root, each there as a whole or not at
all.

A new one is written beside the old one, brought to the disk, and put in its place by one rename:
whoever is killed leaves the old one or the new one. Writers take turns where the file system has
locks; where it has none, the rename alone keeps them apart. A project may come from a stranger, so
nothing here goes through a symbolic link.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from foreword.errors import StoreError
from foreword.store import private

FOLDER = ".checkpoints"
# For another writer, as long as for another writer of the database; a checkpoint is written in
# milliseconds, so who waits this long waits for a process that hangs.
WAIT_SECONDS = 30.0
_LOOK_SECONDS = 0.005  # about as long as a checkpoint takes to write
_TEMPORARY = ".new-"
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder, open to be written; `alone` where nobody else can be writing."""

    path: Path
    descriptor: int
    alone: bool

    def put(self, name: str, content: bytes) -> Path:
        """Write a file, in place of an older one of that name."""
        _refuse_link(self.path / name)
        temporary = f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}"
        with _translate_errors(self.path / name):
            try:
                _write(self.descriptor, temporary, content)
                os.replace(temporary, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=self.descriptor)
                raise
            os.fsync(self.descriptor)
            if self.alone:
                self._sweep()
        return self.path / name

    def _sweep(self) -> None:
        """Remove what writers left that died."""
        with os.scandir(self.descriptor) as entries:
            for entry in entries:
                if entry.name.startswith(_TEMPORARY):
                    with suppress(OSError):
                        os.unlink(entry.name, dir_fd=self.descriptor)


@contextmanager
def open_folder(root: Path) -> Iterator[Folder]:
    """The folder of a root, made where there is none, for one writer at a time."""
    path = root / FOLDER
    _refuse_link(path)
    with _translate_errors(path):
        if _make(path):
            _sync(root)
        descriptor = os.open(path, _OPEN_FOLDER)
    try:
        yield Folder(path, descriptor, alone=_take_lock(descriptor, path))
    finally:
        os.close(descriptor)  # and with it the lock


def names(root: Path) -> list[str]:
    """The names of the files in the folder, in order; none where there is no folder."""
    path = root / FOLDER
    _refuse_link(path)
    if not os.path.lexists(path):
        return []
    with _translate_errors(path):
        found = [entry.name for entry in path.iterdir()]
    return sorted(name for name in found if not name.startswith(_TEMPORARY))


def _refuse_link(path: Path) -> None:
    """Raise where there is a link, through which we would read or write something else."""
    if path.is_symlink():
        raise StoreError(
            f"{path} is a symbolic link, so it is not used", hint="remove the link; nothing is lost"
        )


def _make(path: Path) -> bool:
    try:
        path.mkdir(mode=private.FOLDER_MODE)
    except FileExistsError:
        return False
    return True


def _write(folder: int, name: str, content: bytes) -> None:
    with os.fdopen(os.open(name, _OPEN_NEW, private.FILE_MODE, dir_fd=folder), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _take_lock(descriptor: int, path: Path) -> bool:
    """Whether the folder is ours alone now; some network file systems lock no folder."""
    deadline = monotonic() + WAIT_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > deadline:
                raise StoreError(
                    f"{path} is in use: another process has been writing for {WAIT_SECONDS:g}"
                    " seconds",
                    hint="end that process, or try again",
                ) from None
            sleep(_LOOK_SECONDS)
        except OSError:
            return False
        else:
            return True


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Foreign errors become ours, once, here."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} can't be used: {error.strerror or error}",
            hint="check the folder, its rights and the disk",
        ) from None
