"""Documents by kind and name, and what they refer to."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreword.sources import documents, references
from foreword.sources.documents import Document
from tests.docs.pages import save

TABLE = {
    "instructions": ["instructions.md"],
    "workflow": ["prompts/workflows/*.md"],
    "persona": ["personas/**/*.md"],
    "prompt": ["prompts/**/*.md"],
}
WITHIN = ("", "governance")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in (
        "instructions.md",
        "governance/personas/lead/tech-lead.md",
        "governance/personas/code_reviewer.md",
        "governance/prompts/commit.md",
        "governance/prompts/workflows/feature-implementation.md",
        "personas/auditor/persona.md",
    ):
        save(tmp_path, path, "x")
    return tmp_path


def documents_in(root: Path) -> list[Document]:
    return documents.find_documents(root, TABLE, WITHIN)


def test_each_document_has_the_first_kind_that_fits_and_a_name(root: Path) -> None:
    assert [(one.kind, one.name) for one in documents_in(root)] == [
        ("instructions", "instructions"),
        ("workflow", "feature-implementation"),
        ("persona", "auditor"),
        ("persona", "code_reviewer"),
        ("persona", "tech-lead"),
        ("prompt", "commit"),
    ]


@pytest.mark.parametrize(
    ("wanted", "near", "path"),
    [
        ("governance/prompts/commit.md", "", "governance/prompts/commit.md"),
        ("./instructions.md", "", "instructions.md"),
        (
            "../commit.md",
            "governance/prompts/workflows/feature-implementation.md",
            "governance/prompts/commit.md",
        ),
        ("prompts/commit.md", "", "governance/prompts/commit.md"),
        ("lead/tech-lead", "", "governance/personas/lead/tech-lead.md"),
        ("Tech Lead", "", "governance/personas/lead/tech-lead.md"),
        ("code-reviewer", "", "governance/personas/code_reviewer.md"),
        ("feature", "", "governance/prompts/workflows/feature-implementation.md"),
        ("auditor", "", "personas/auditor/persona.md"),
    ],
)
def test_a_document_is_meant_by_path_or_end_of_path_or_name(
    root: Path, wanted: str, near: str, path: str
) -> None:
    meant = documents.find_document(documents_in(root), wanted, near=near)
    assert meant is not None
    assert meant.path == path


@pytest.mark.parametrize(
    "wanted", ["", "feat", "other/tech-lead.md", "../../../etc/passwd", "nobody"]
)
def test_what_nobody_is_called_means_nothing(root: Path, wanted: str) -> None:
    assert documents.find_document(documents_in(root), wanted, near="instructions.md") is None


def test_the_kind_narrows_what_is_meant(root: Path) -> None:
    assert documents.find_document(documents_in(root), "commit", "persona") is None
    assert documents.find_document(documents_in(root), "commit", "prompt") is not None


def test_links_and_code_refer_and_addresses_globs_and_blanks_do_not() -> None:
    text = (
        "[a](b/c.md#part) `d.yaml` `./e/f.json` [w](https://x.org/a.md) `*.md` `{x}.md`"
        " `$HOME/x.md` `two words.md`"
    )
    assert [path for _, path in references.linked_paths(text)] == ["b/c.md", "d.yaml", "./e/f.json"]
    assert [text[at] for at, _ in references.linked_paths(text)] == ["]", "`", "`"]


def test_a_long_way_up_is_read_at_once() -> None:
    assert references.linked_paths(f"`{'../' * 90}x y`") == []


def test_a_reference_is_there_from_the_root_or_from_its_own_file_and_never_outside(
    root: Path,
) -> None:
    near = "governance/prompts/workflows/feature-implementation.md"
    assert documents.is_there(root, "instructions.md", near)
    assert documents.is_there(root, "../commit.md", near)
    assert not documents.is_there(root, "commit.md", near)
    assert not documents.is_there(root, "governance")
    save(root.parent, "outside.md", "x")
    (root / "link.md").symlink_to(root.parent / "outside.md")
    assert not documents.is_there(root, "../outside.md", "instructions.md")
    assert not documents.is_there(root, "link.md")
    assert not documents.is_there(root, "a\0b.md")


def test_a_file_is_named_after_its_folder_only_where_that_is_no_folder_of_documents(
    tmp_path: Path,
) -> None:
    for path in ("governance/instructions.md", "personas/auditor/persona.md"):
        save(tmp_path, path, "x")
    assert {one.path: one.name for one in documents.find_documents(tmp_path, TABLE, WITHIN)} == {
        "governance/instructions.md": "instructions",
        "personas/auditor/persona.md": "auditor",
    }
    assert (
        documents.path_in_folders(tmp_path, "instructions.md", WITHIN)
        == "governance/instructions.md"
    )
    assert documents.path_in_folders(tmp_path, "gone.md", WITHIN) == "gone.md"
