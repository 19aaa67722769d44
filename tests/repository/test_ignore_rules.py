"""Patterns of `.gitignore` files mean what they mean to git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from foreword.repository.file_tree import read_tree
from foreword.repository.ignore_rules import rules_in

RULES = r"""
# a comment
*.pyc
build/
/top.py
docs/*.txt
**/deep/secret.py
logs/**
!logs/keep.py
*.tmp
!important.tmp
a?c.py
[xyz].py
[!q]uiet.py
\#odd.py
\!bang.py
with\ space.py
foo/**/bar.py
temp*/
no_slash
"""
RULES += "trailing.py   \n"
PATHS = """
a.pyc sub/a.pyc build/x.py sub/build/x.py top.py sub/top.py docs/a.txt docs/sub/a.txt
deep/secret.py one/two/deep/secret.py logs/a.py logs/keep.py logs/sub/b.py x.tmp important.tmp
abc.py abbc.py x.py q.py quiet.py buiet.py #odd.py !bang.py foo/bar.py foo/a/b/bar.py foo/a/baz.py
temporary/x.py temporary.py no_slash sub/no_slash/x.py trailing.py plain.py
""".split()


def test_the_same_files_are_hidden_as_by_git(tmp_path: Path) -> None:
    for path in [*PATHS, "with space.py"]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    (tmp_path / ".gitignore").write_text(RULES)
    (tmp_path / "sub").mkdir(exist_ok=True)
    (tmp_path / "sub/.gitignore").write_text("!a.pyc\nnested.py\n/only_here.py\n")
    for path in ("sub/nested.py", "sub/in/nested.py", "sub/only_here.py", "sub/in/only_here.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    command = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout
    by_git = {path for path in listed.decode().split("\0") if path.endswith((".py", ".txt"))}

    ours = {file.path for file in read_tree(tmp_path).files}

    assert ours == by_git


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    rules = rules_in("*a" * 60 + "*b\n" + "**/" * 60 + "x\n")
    assert rules.decision("a" * 250, is_folder=False) is None
    assert rules.decision("/".join(["y"] * 40), is_folder=False) is None
