"""The project's folder, as every command and every call takes it."""

from __future__ import annotations

from pathlib import Path

from foreword.errors import BadSource


def project_root(root: str | Path) -> Path:
    """The root as a real folder, or an error."""
    path: Path | None
    try:
        path = Path(root).expanduser().resolve()
    except (RuntimeError, ValueError, OSError):  # ~nobody, a loop of links, a NUL in the name
        path = None
    if path is None or not path.is_dir():
        raise BadSource(
            str(root), "there is no such folder", hint="give the project's folder with --root"
        )
    return path
