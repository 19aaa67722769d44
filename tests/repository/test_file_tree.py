"""Which files of a checkout are read at all."""

from __future__ import annotations

import os
from pathlib import Path

from foreword.repository.file_tree import read_tree
from tests.repository.checkout import write


def paths(root: Path) -> set[str]:
    return {file.path for file in read_tree(root).files}


def test_links_pipes_and_what_tools_make_are_passed_over_and_told(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, {"secret.py": "TOKEN = 1\n"})
    root = tmp_path / "root"
    write(
        root,
        {
            "a.py": "x = 1\n",
            "node_modules/lib/b.js": "x\n",
            "vendor/c.py": "x = 1\n",
            ".env": "PASSWORD=1\n",
            ".github/workflows/ci.yml": "on: push\n",
            "app.min.js": "x\n",
            "api_pb2.py": "x = 1\n",
            "table.csv": "1,2\n",
            "data.json": "[" + "1," * 60_000 + "1]",
        },
    )
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "linked").symlink_to(outside)
    os.mkfifo(root / "pipe.py")

    tree = read_tree(root)

    assert paths(root) == {"a.py", ".github/workflows/ci.yml"}
    assert tree.passed_over["a symbolic link"] == 2
    assert tree.passed_over["vendored"] == 1
    assert tree.passed_over["not a regular file"] == 1
    assert tree.passed_over["too large"] == 1
    assert tree.passed_over["made by a tool"] == 2


def test_rules_of_the_repository_above_hold_below_it(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.gen.py\n/part/hidden.py\n", "part/a.py": "x = 1\n"})
    write(tmp_path, {"part/hidden.py": "x = 1\n", "part/b.gen.py": "x = 1\n"})
    (tmp_path / ".git/info").mkdir(parents=True)
    (tmp_path / ".git/info/exclude").write_text("mine.py\n")
    write(tmp_path, {"part/mine.py": "x = 1\n"})

    assert paths(tmp_path / "part") == {"a.py"}
