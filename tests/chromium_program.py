"""Which program tests find as `chromium` on the PATH.

Debian's `chromium` is a shell script that looks for settings first; for tests there are none, and a
fifth of what a start takes. The program without all that draws a window shows the same pages, and
takes half the CPU for each.
"""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = Path("/usr/lib/chromium")  # where Debian's packages have them
WHOLE = ("chromium",)
LIGHT = ("chromium-headless-shell", *WHOLE)


def path_with(names: tuple[str, ...], folder: Path) -> str:
    """A PATH on which the first of these that the system has is `chromium`; the folder is filled
    for it. Where it has none, the PATH as it is."""
    for name in names:
        if (_FOLDER / name).exists():
            (folder / "chromium").symlink_to(_FOLDER / name)
            return f"{folder}{os.pathsep}{os.environ['PATH']}"
    return os.environ["PATH"]
