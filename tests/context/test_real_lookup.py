"""Questions to real projects: the document that answers one comes first (SPEC F5)."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

import foreword
from foreword.relevance import read_question
from foreword.search.document_search import find, take_in
from foreword.sources.documents import Document
from foreword.sources.library import lookup_library
from foreword.store.database import Database
from foreword.store.search_index import IndexSource
from foreword.store.sqlite import Sqlite
from tests.corpus import text_of

REAL = Path(__file__).parents[2].parent / "shared" / "real"
# Folder, question, part of the path of the document that answers it.
QUESTIONS = text_of("repository/questions.txt")
LEAST_FIRST = 22  # of the 25
# `worktree` and `override` name documents that are not among those here.
NOT_HERE = {"worktree", "override"}

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="needs the real projects beside it")


@cache
def documents_of(folder: str) -> tuple[Database, dict[IndexSource, Document]]:
    """The documents of a project in an index, taken in once."""
    library = lookup_library(REAL / folder)
    index = Sqlite.in_memory()
    return index, take_in(index, library.root, library.documents, library.read)[0]


def first_document(folder: str, question: str) -> str:
    """As `lookup` finds it; what it makes of its text takes ten times as long."""
    index, known = documents_of(folder)
    document = find(index, known, read_question(question), {})[0].document
    assert document is not None
    return document.path


def test_f5_questions_to_real_projects_of_any_kind_are_answered_by_the_right_document() -> None:
    wrong = list[str]()
    for line in QUESTIONS.split("\n")[1:-1]:
        folder, question, part = line.split("|")
        if part not in first_document(folder, question):
            wrong.append(question)
    assert len(wrong) <= 25 - LEAST_FIRST, wrong


def test_f5_the_questions_beside_a_real_project_are_answered_by_the_right_document() -> None:
    with (REAL / "lookup-questions.tsv").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    wrong = list[str]()
    for question, part in rows:
        if part not in NOT_HERE and part not in first_document("dark-factory", question):
            wrong.append(question)
    assert not wrong


def test_f5_no_document_of_an_answer_is_cut_to_nothing_by_another() -> None:
    package = foreword.lookup(
        "what happens when the user changes direction", root=REAL / "director"
    )
    shown = [row.tokens for row in package.report.sections if row.source != "foreword"]
    assert len(shown) == 3
    assert min(shown) > 100
