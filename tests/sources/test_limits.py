"""How much is read: a project with too much in it costs time and says so, and never takes all
memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import foreword
from foreword.sources import files
from foreword.sources.files import Allowance, File, Skip
from foreword.sources.items import MOST_ITEMS, read_items
from tests.attacks import AT_LENGTH

pytestmark = pytest.mark.attack

MANY = 100_000 if AT_LENGTH else files.MOST_FILES + 3
RECIPE = "name: mine\nsections:\n  notes: {files: 'notes/*.md'}\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("many")
    (root / "notes").mkdir()
    for number in range(MANY):
        (root / "notes" / f"{number}.md").write_text("a")
    (root / "foreword" / "recipes").mkdir(parents=True)
    (root / "foreword" / "recipes" / "mine.yaml").write_text(RECIPE)
    return root


def test_a_section_reads_so_many_files_and_the_report_says_how_many_are_left_out(
    root: Path,
) -> None:
    report = foreword.assemble("mine", root=root, budget=1_000).report
    assert len(report.choices) == files.MOST_FILES
    left_out = MANY - files.MOST_FILES
    assert (
        report.notes[0]
        == f"notes: {left_out:,} of {MANY:,} files are left out, for a section reads at most 10,000"
        " files and 64 MiB, and a context twice as much: narrow `files`, or name some in"
        " `leave_out`"
    )
    assert report.shortcomings == (f"{left_out:,} files of notes were not read",)
    assert report.notes[0] in report.to_dict()["warnings"]


def test_a_folder_of_items_has_the_same_limit(root: Path) -> None:
    read = read_items("notes", root, lambda: b"")
    assert len(read.items) == files.MOST_FILES
    assert len(read.left_out) == MANY - files.MOST_FILES
    assert {skip.reason for skip in read.left_out} == {files.PAST_LIMIT}


def test_only_so_many_items_of_a_json_source_are_read(tmp_path: Path) -> None:
    source = json.dumps([{"text": "a"}] * (MOST_ITEMS + 5)).encode()
    read = read_items("-", tmp_path, lambda: source)
    assert len(read.items) == MOST_ITEMS
    assert read.notes == [
        "standard input: 5 items are left out, for at most 100,000 are read: bring fewer"
    ]


def test_what_is_left_to_read_is_shared_by_the_sections_of_a_context(tmp_path: Path) -> None:
    for name in "abcdef":
        (tmp_path / name).write_text("x" * 10)
    context = Allowance(files=4, bytes=45)
    first = Allowance(files=3, bytes=25, of=context)
    second = Allowance(files=3, bytes=1_000, of=context)
    read = [(name, first.read(tmp_path, name)) for name in "abc"]
    read += [(name, second.read(tmp_path, name)) for name in "def"]
    assert [name for name, one in read if isinstance(one, File)] == ["a", "b", "d", "e"]
    assert [one.reason for _, one in read if isinstance(one, Skip)] == [files.PAST_LIMIT] * 2


def test_hundreds_of_links_out_of_the_root_are_told_in_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(300):
        (tmp_path / "notes" / f"{number}.md").symlink_to("/etc/hostname")
    (tmp_path / "mine.yaml").write_text(RECIPE)
    notes = foreword.assemble(str(tmp_path / "mine.yaml"), root=tmp_path, budget=1_000).report.notes
    assert len(notes) == files.MOST_SKIPS_NAMED + 1
    assert notes[-1] == "290 more are left out like these"


def test_a_yaml_file_of_many_megabytes_is_told_and_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "instructions.md").write_text("# Rules\n\nBe brief.\n")
    (tmp_path / "project.yaml").write_text("name: x\npersonas:\n" + "  - p\n" * 2_000_000)
    notes = foreword.assemble("factory", root=tmp_path, budget=1_000).report.notes
    assert "project.yaml: it has more than 200,000 characters: not looked into" in notes


@pytest.mark.skipif(not AT_LENGTH, reason="200,001 files take a while")
def test_a_search_that_is_too_large_is_ended_and_told(tmp_path: Path) -> None:
    for number in range(files.MOST_FOUND + 1):
        (tmp_path / f"{number}.md").touch()
    unread = list[Skip]()
    assert len(files.find(tmp_path, "*.md", unread)) == files.MOST_FOUND
    assert unread == [Skip("*.md", "unreadable to its end: more than 200,000 files and folders")]
