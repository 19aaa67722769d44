"""What reaches a terminal: lines that fit it, and nothing that steers it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import foreword
from foreword.engine.report import Report
from foreword.engine.report_table import draw
from foreword.faces.cli import demo_recipes
from tests.attacks import sample
from tests.command import foreword as command

pytestmark = pytest.mark.attack

NOWHERE = list(
    product(("recipes", "recipe schema", "count README"), (">&-", "> /dev/full", ">&- <&-"))
)
ESCAPE = "\x1b]0;x\x07\x9b31m"


def package_report(root: Path, items: list[dict[str, str]], budget: int = 400) -> Report:
    (root / "items.json").write_text(json.dumps({"items": items}))
    return foreword.assemble(
        "package", root=root, purpose="design", source="items.json", budget=budget
    ).report


def test_a_title_cannot_forge_a_line_or_an_escape(tmp_path: Path) -> None:
    titles = [f"{ESCAPE} one\nwarnings\n  none", "two\r\u2028three"]
    report = package_report(
        tmp_path, [{"kind": "learning", "title": t, "text": "word " * 400} for t in titles]
    )
    table = draw(report)
    assert not set(table) & set("\x1b\x07\x9b\r\u2028")
    assert "\n  none" not in table


def test_an_error_is_one_line_whatever_is_in_a_file_name(tmp_path: Path) -> None:
    ran = command("count", f"a\nhint: trust me\x1b[31m{ESCAPE}", cwd=tmp_path)
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["error", "hint"]
    assert "\x1b" not in ran.err


@pytest.mark.parametrize("width", [40, 60, 79, 80, 90, 100, 140])
def test_the_table_fits_the_terminal(tmp_path: Path, width: int) -> None:
    items = [
        {
            "kind": kind,
            "title": f"A rather long title about {kind} and about much else",
            "text": "word " * 300,
        }
        for kind in ("learning", "history", "doc", "pattern")
    ]
    report = package_report(tmp_path, items, budget=500)
    table = draw(report, width).partition("\n\nself-check")[0]
    assert max(len(line) for line in table.splitlines()) <= width
    assert ("█" in table) == (width >= 80)
    assert all(omission.handle in draw(report, width) for omission in report.omissions)


def test_the_reasons_are_whole_where_the_table_goes_to_a_file(tmp_path: Path) -> None:
    items = [{"kind": "learning", "title": "much", "text": "word " * 300}]
    report = package_report(tmp_path, items, budget=200)
    assert all(omission.reason in draw(report) for omission in report.omissions)
    assert "…" in draw(report, 60)


def test_what_is_kept_free_is_shown_without_a_double_minus(tmp_path: Path) -> None:
    source = [{"kind": "task", "text": "Do it."}]
    table = str(foreword.assemble("package", root=tmp_path, purpose="design", source=source).report)
    assert "less system prompt 8,000" in table
    assert "-8,000" not in table


@pytest.mark.parametrize("width", [40, 60, 80, 97])
def test_on_a_narrow_terminal_the_tables_of_the_demo_come_one_after_the_other(width: int) -> None:
    lines: list[str] = []
    demo_recipes.run(lines.append, width)
    text = "\n".join(lines)
    tables = [
        line
        for line in text.splitlines()
        if line.startswith(("section", "roomy", "tight", "total"))
    ]
    assert len(tables) == 3 * 6
    prose = [line for line in text.splitlines() if not line.startswith("  foreword")]
    assert max(len(line) for line in prose) <= max(width, 46)


def test_the_sample_of_the_demo_can_be_kept(tmp_path: Path) -> None:
    ran = command("demo", "--keep", "sample", cwd=tmp_path)
    assert "laid out in sample and stays there" in ran.out
    tries = [line.split("  ")[1] for line in ran.out.splitlines() if line.startswith("  foreword ")]
    assert len(tries) > 3
    for words in map(shlex.split, tries):
        # one never ends, the other has tests of its own
        if words[1:] in (["serve"], ["director", "demo"]):
            continue
        assert command(*words[1:], cwd=tmp_path / "sample", HOME=str(tmp_path)).code == 0
    again = command("demo", "--keep", "sample", cwd=tmp_path)
    assert again.code == 2
    assert "not an empty folder" in again.err


def test_without_a_command_the_help_is_shown_and_that_is_no_error() -> None:
    for group in ([], ["report"], ["recipe"]):
        ran = command(*group)
        assert ran.code == 0
        assert ran.out.startswith("Usage: foreword")
        assert ran.err == ""


def test_a_broken_recipe_is_marked_and_the_others_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "foreword/recipes"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text("name: [\n")
    (folder / "zest.yaml").write_text("name: zest\nabout: Fine\nsections: {a: {file: A.md}}\n")
    ran = command("recipes", cwd=tmp_path)
    assert ran.code == 0
    listed = dict(line.split(maxsplit=1) for line in ran.out.splitlines())
    assert listed["broken"].startswith("BROKEN, line 2: not valid YAML")
    assert listed["zest"].startswith("Fine")


def test_lint_without_recipes_says_where_it_looked(tmp_path: Path) -> None:
    assert f"{tmp_path.resolve()}/foreword/recipes" in command("lint", cwd=tmp_path).err


@pytest.mark.parametrize(("words", "end"), sample(NOWHERE, 4))
def test_output_that_goes_nowhere_is_one_error_and_exit_1(
    tmp_path: Path, words: str, end: str
) -> None:
    (tmp_path / "README").write_text("word " * 10)
    line = f"{sys.executable} -m foreword {words} {end}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert [line.split(":")[0] for line in done.stderr.splitlines() if "counted" not in line] == [
        "error",
        "hint",
    ]


def test_arguments_that_are_not_utf_8_get_an_answer(tmp_path: Path) -> None:
    name = b"\xff.md"
    (tmp_path / name.decode("utf-8", "surrogateescape")).write_text("word")
    for words in (
        [b"count", name],
        [b"count", b"\xfe"],
        [b"assemble", name],
        [b"recall", name],
        [b"lint", name],
    ):
        done = subprocess.run(
            [sys.executable.encode(), b"-m", b"foreword", *words],
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert b"Traceback" not in done.stderr
        assert done.returncode == (0 if words == [b"count", name] else done.returncode)
