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

REAL = Path(__file__).parents[2].parent / "shared" / "real"
# Folder, question, part of the path of the document that answers it.
QUESTIONS = """
spellbook|how do two agent sessions talk to each other through files|agent2agent
spellbook|do our tests really catch failures or do they only look green|auditing-green-mirage
spellbook|check whether a function that was cited exists or was made up|dehallucination
spellbook|when should I use a subagent instead of staying in the main context|parallel-agents
spellbook|turn promise chains into async await|async-await-patterns
spellbook|mute the desktop notifications|audio-notifications
spellbook|a state machine with approval steps|designing-workflows
director|go back to before the last task|skills/undo
director|which agent updates documents that have drifted from the code|director-syncer
director|what happens when the user changes the direction of the project|pivot
director|who asks the user one question at a time about their vision|director-interviewer
planning|how is the cost in tokens and dollars shown for each goal|06-progress-continuity
planning|what breaks when Claude Code changes how plugins are discovered|PITFALLS
planning|what does the landing page look like|11-landing-page
shipfast|which known bugs and technical debt does the code have|codebase/CONCERNS
shipfast|how is the PDF report generated|02-pdf-generation
shipfast|pin the versions of dependencies|pin-dependency-versions
bmad|how are review findings sorted into patch, defer and reject|step-03-triage
bmad|what sections does a PRD have|prd-template
bmad|how do I find edge cases that nobody handles|edge-case-hunter
voltagent|who tests that a site works with a screen reader|accessibility-tester
voltagent|inject failures into production to see how the system copes|chaos-engineer
wshobson-agents|upgrade outdated dependencies safely|deps-upgrade
wshobson-agents|durable workflows with the Temporal SDK|temporal-python-pro
wshobson-agents|write a failing test first|tdd-red
"""
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
