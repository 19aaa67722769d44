"""A directory for a demo that is gone at its end, with all that was kept for the project in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_VARIABLE = "XDG_DATA_HOME"  # platformdirs honours it on every POSIX system


@contextmanager
def temporary_project() -> Iterator[Path]:
    """Give an empty directory; until it is removed, this process keeps its data beside it."""
    with TemporaryDirectory(prefix="foreword-demo-") as name:
        before = os.environ.get(_VARIABLE)
        os.environ[_VARIABLE] = str(Path(name) / "data")
        try:
            project = Path(name) / "project"
            project.mkdir()
            yield project
        finally:
            del os.environ[_VARIABLE]
            if before is not None:
                os.environ[_VARIABLE] = before
