"""A small project with personas and a panel, for tests."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

DIFF = """\
diff --git a/kiln.py b/kiln.py
--- a/kiln.py
+++ b/kiln.py
@@ -1,2 +1,4 @@
 def fire(kiln):
-    kiln.start()
+    token = "t0p-s3cret-value"
+    kiln.start(token)
+    # TODO: cool down
"""


def project(root: Path, personas: Iterable[str], listed: Iterable[str] | None = None) -> Path:
    """A project whose panel `review` lists these personas; `listed` may name others than there
    are."""
    names = list(personas)
    write(root, "instructions.md", "# Base\n\nFire no kiln that is open.\n")
    write(
        root, "project.yaml", "name: kilns\nlanguage: python\nframework: none\nprofile: default\n"
    )
    write(
        root,
        "policy/default.yaml",
        "profile: default\nthresholds: {critical: 0, high: 1, answered: 0.7}\n",
    )
    write(root, "templates/python/instructions.md", "# Python\n\nSECOND TIER WORDS\n")
    for name in names:
        write(
            root,
            f"personas/crew/{name}.md",
            f"# Persona: {name}\n\n## Role\n\nYou are {name} of the crew.\n",
        )
    items = "".join(f"- {name}\n" for name in (names if listed is None else listed))
    write(
        root,
        "personas/round_tables/review.md",
        f"# Round Table: Review\n\n## Participants\n\n{items}",
    )
    return root


def write(root: Path, path: str, text: str) -> None:
    """Write a file of the project, with its folders."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, "utf-8")


def forbid_listing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody may look into a folder from now on: to root, who runs some tests, nothing is
    forbidden."""
    scandir = os.scandir

    def refusing(path: Any) -> Any:
        if path == folder:
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
