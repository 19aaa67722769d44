"""The log of the hooks: what went wrong where nobody may be disturbed, in the user's cache folder.

A line for each failure, secrets hidden; the file never grows past twice its limit. Not being able
to write it is no failure either. Most hooks have nothing to log, so what it takes is imported with
the first line.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_BYTES = 512 * 1024  # thousands of failures; then a new file is begun beside the old one
LONGEST_LINE = 1_000  # characters: a message may hold what an agent sent, which has no end
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def note(what: str, problem: object) -> None:
    """Add a line; whatever happens here, the caller goes on."""
    with suppress(Exception):
        from datetime import UTC, datetime

        from foreword.secrets.masking import mask
        from foreword.store import private
        from foreword.store.locations import cache_folder

        # Cut before it is masked, which takes time, but far behind the end of the line: half of a
        # secret is not known for one.
        text = mask(f"{what}: {problem}"[: 4 * LONGEST_LINE])
        line = "".join(char if char.isprintable() else " " for char in text)[:LONGEST_LINE]
        path = cache_folder() / "hook.log"
        private.make_folder(path.parent)
        _rotate(path)
        descriptor = os.open(path, _APPEND, private.FILE_MODE)
        try:
            time = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
            os.write(descriptor, f"{time} {line}\n".encode("utf-8", "replace"))
        finally:
            os.close(descriptor)


def _rotate(path: Path) -> None:
    with suppress(FileNotFoundError):
        if path.lstat().st_size > LARGEST_BYTES:
            path.replace(path.with_suffix(".log.1"))
