"""Write the files of `init`: all are worked out before the first is written, and none outside the
root.

A project may come from a stranger, so nothing goes through a symbolic link: folders are opened one
inside the other, and a file is written beside its place and put there by one rename. Who decides
what may be replaced is the caller.
"""

from __future__ import annotations

import difflib
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from foreword.coding_agents.targets import TargetFile
from foreword.errors import BadSource, StoreError

# Of a settings file, which has kilobytes: what is larger is something else and is not rewritten.
LARGEST_BYTES = 4 * 1024 * 1024
HINT = "nothing was changed; put a folder or a file of the project in its place"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

State = Literal["new", "add", "same", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file as it is and as it would be; `other` is a file of ours in whose place there is
    another."""

    path: str
    state: State
    before: str
    after: str
    # settings of the user's own that stay, where ours would have another value
    user_settings: tuple[str, ...] = ()

    def preview(self) -> Iterator[str]:
        """The lines that go and come."""
        before = self.before.splitlines()
        after = self.after.splitlines()
        lines = list(difflib.unified_diff(before, after, lineterm="", n=2))
        return iter(lines[2:])


def changes(root: Path, files: Sequence[TargetFile]) -> list[FileChange]:
    """What would become of each file; an error where one can't be read or added to, and then
    nothing is changed."""
    return [_change(root, file) for file in files]


def _change(root: Path, file: TargetFile) -> FileChange:
    found = _read(root, file.path)
    before = found or ""
    after = file.add_to(before) if file.add_to else file.content
    if found is None:
        return FileChange(path=file.path, state="new", before="", after=after)
    state: State = "add" if file.add_to else "other"
    if before == after:
        state = "same"
    return FileChange(
        path=file.path,
        state=state,
        before=before,
        after=after,
        user_settings=tuple(file.other_settings(after)),
    )


def write_file(root: Path, change: FileChange) -> None:
    """Write a file as it should be, whole or not at all; it must still be as it was when it was
    looked at."""
    path = PurePosixPath(change.path)
    with ExitStack() as stack:
        try:
            folder = _open_folder(stack, root, path.parent, make=True)
            if (_read(root, change.path) or "") != change.before:
                raise StoreError(f"{change.path} has changed in the meantime", hint="run it again")
            _replace(folder, path.name, change.after.encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise StoreError(
                f"{change.path} can't be written: {error.strerror or error}",
                hint="check its folder and its rights",
            ) from None


def _open_folder(stack: ExitStack, root: Path, folder: PurePosixPath, *, make: bool = False) -> int:
    """A folder below the root, opened without following a link."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, descriptor)
    for name in folder.parts:
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=descriptor)
        _refuse_link(descriptor, name, str(folder))
        descriptor = os.open(name, _FOLDER, dir_fd=descriptor)
        stack.callback(os.close, descriptor)
    return descriptor


def _refuse_link(folder: int, name: str, path: str) -> None:
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise BadSource(
            path, "a symbolic link, so nothing is read or written through it", hint=HINT
        )


def _read(root: Path, path: str) -> str | None:
    """The text of a file, or nothing where there is none."""
    place = PurePosixPath(path)
    with ExitStack() as stack:
        try:
            folder = _open_folder(stack, root, place.parent)
            _refuse_link(folder, place.name, path)
            descriptor = os.open(place.name, _READ, dir_fd=folder)
            file = stack.enter_context(os.fdopen(descriptor, "rb"))
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise BadSource(path, "not a regular file")
            raw = file.read(LARGEST_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadSource(path, f"can't be read: {error.strerror or error}") from None
    if len(raw) > LARGEST_BYTES:
        raise BadSource(path, f"larger than {LARGEST_BYTES // 1024**2} MiB")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadSource(path, "not UTF-8", hint="save it as UTF-8; nothing was changed") from None


def _replace(folder: int, name: str, content: bytes) -> None:
    """Put a file in the place of another by one rename; it keeps the mode of that one."""
    temporary = f".{name}.{secrets.token_hex(4)}"
    try:
        descriptor = os.open(temporary, _NEW, 0o666, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            with suppress(FileNotFoundError):
                replaced = os.stat(name, dir_fd=folder, follow_symlinks=False)
                os.fchmod(descriptor, stat.S_IMODE(replaced.st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)
