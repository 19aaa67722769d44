"""What a user names as a source: found from here or from the root, and read whatever it is.

A regular file, or a pipe that a shell makes (`--source <(jq . notes.json)`). It may lie anywhere, since the user named
it and no project did. What the bytes mean is for `items` and `state`.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from foreword.errors import BadSource
from foreword.sources import files


def locate(where: str, root: Path, hint: str) -> Path:
    """The path of what was named: as seen from here, else from the root."""
    try:
        for path in (Path(where).expanduser(), root / where):
            if where and path.exists():
                return path if path.is_fifo() else path.resolve()  # the pipe of a shell has no real path
    except (OSError, ValueError, RuntimeError) as problem:
        raise BadSource(where, f"can't be looked up: {problem}", hint=hint) from problem
    raise BadSource(where, "there is no such file or folder", hint=hint)


def read(path: Path, where: str) -> bytes:
    """The bytes of what was found."""
    if not path.is_fifo():
        return files.read(path.parent, path.name, must=True).raw
    try:
        return _piped(path, where)
    except OSError as problem:
        raise BadSource(where, f"unreadable: {problem.strerror or problem}") from problem


def _piped(path: Path, where: str) -> bytes:
    """All that is written to a pipe; one that nobody writes to is empty and does not hold us up."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as pipe:
        if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            raise BadSource(where, "not a pipe any more")
        os.set_blocking(descriptor, True)
        raw = pipe.read(files.LARGEST_BYTES + 1)
    if len(raw) > files.LARGEST_BYTES:
        raise BadSource(where, f"larger than {files.LARGEST_BYTES // 1024**2} MiB")
    return raw
