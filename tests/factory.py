"""A small project with personas and a panel, for tests."""

from __future__ import annotations

import errno
import json
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


POLICY = """\
weighting: {missing_panel_behavior: redistribute}
block:
  conditions:
    - condition: critical_findings > 0 or high_findings > 1
auto_merge: {enabled: true, conditions: [critical_findings == 0, high_findings <= 1]}
"""


def answer(*titles: str, severity: str = "medium", line: int = 3, **more: Any) -> str:
    """What a member answers who has found this in `DIFF`."""
    findings = [
        {"severity": severity, "file": "kiln.py", "line": line, "title": title, "reason": "It is."}
        for title in titles
    ]
    return json.dumps({"saw_everything": True, "confidence": 0.9, "findings": findings, **more})


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
        POLICY,
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
