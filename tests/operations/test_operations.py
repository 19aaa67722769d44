"""The operations that agents are given, called from Python: the shared suite, and what only
Python can pass."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from foreword.context.recall import page
from foreword.errors import BadRequest, ForewordError, UnknownHandle
from foreword.operations.context_operations import ASSEMBLE_CONTEXT, RECALL, WHY, recall
from foreword.operations.conversation_operations import PREVIEW_CONTEXT, preview_context
from foreword.operations.operation import Project
from foreword.operations.variable_operations import GET_WORKFLOW_VARIABLE, SET_VARIABLE
from foreword.tokens import counter
from tests.faces.behaviour import PythonClient, check_every_case, project
from tests.postgres import new_database
from tests.sessions import Open, words


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_python_does_what_every_face_does(tmp_path: Path, database: str) -> None:
    url = new_database() if database == "postgresql" else None
    check_every_case(PythonClient(project(tmp_path), url))


def test_a_caller_can_not_allow_commands() -> None:
    for more in (
        {"allow_commands": ["rm"]},
        {"allow_shell": True},
        {"root": "/"},
        {"save": False},
        {"carry": "x"},
    ):
        asked: dict[str, Any] = {"agent": "builder", **more}
        with pytest.raises(BadRequest, match="unknown name"):
            ASSEMBLE_CONTEXT.read({"recipe": "director", **asked})


def test_a_source_outside_the_root_is_treated_alike_whether_it_exists_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.chdir(tmp_path)
    outside = tmp_path / "notes of the month may.md"
    (root / "link to notes of may.md").symlink_to(outside)
    (root / "our notes of the month.md").write_text("Fire at cone 6.")

    def answer(source: str) -> str:
        given = {"recipe": "package", "purpose": "design", "source": source, "about": source}
        try:
            return str(WHY.perform(nullcontext(Project(root, None)), given))
        except ForewordError as error:
            return error.code

    sources = [str(outside), f"../{outside.name}", f"x/../../{outside.name}", outside.name]
    sources += ("link to notes of may.md", "~/notes of the month may.md", "/* C */\nint x;\n")
    before = {source: answer(source) for source in sources}
    outside.write_text("# Kilns\n\nFire at cone 6.")
    assert {source: answer(source) for source in sources} == before
    assert before[str(outside)] == before[f"../{outside.name}"] == "outside_root"
    assert "cone 6" not in str(before)
    assert answer("our notes of the month.md") != answer("our notes of the year.md")


def test_of_very_many_problems_a_few_are_told() -> None:
    with pytest.raises(BadRequest) as refused:
        RECALL.read({"x" * 5_000 + str(number): number for number in range(3_000)})
    assert len(refused.value.problems) == 20
    assert len(refused.value.message) < 3_000
    assert refused.value.message.splitlines()[1:3] == [
        "  handle: missing",
        f"  {'x' * 60}: unknown name, known: handle, offset, budget",
    ]


def test_half_a_character_can_be_answered(open_session: Open) -> None:
    session = open_session()
    given = {"name": "half", "value": {"a": "x\ud800y"}, "reason": "try"}
    SET_VARIABLE.perform(nullcontext(session), given)
    answer = GET_WORKFLOW_VARIABLE.perform(nullcontext(session), {"name": "half"})
    assert answer == {"value": {"a": "x?y"}}


def test_bytes_that_are_not_utf_8_are_replaced_and_that_is_said(open_session: Open) -> None:
    from foreword.store.originals import keep

    session = open_session()
    handle = keep(session.db, b"caf\xe9 au lait")
    answer = recall(session.db, RECALL.read({"handle": handle}))
    assert answer.text == "caf\ufffd au lait"
    assert "byte for byte" in answer.warnings[0]


def test_originals_of_other_projects_stay_there(open_session: Open, tmp_path: Path) -> None:
    from foreword.store.originals import keep

    mine = open_session("mine")
    other = open_session("other")
    handle = keep(other.db, b"somebody else's")
    with pytest.raises(UnknownHandle):
        recall(mine.db, RECALL.read({"handle": handle}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "short",
        words("w", 4000),
        "x" * 20_000,
        "line\n" * 5000,
        "\U0001f600" * 3000,
        "\n" * 9000,
    ],
)
def test_pages_are_within_their_budget_and_together_the_whole(text: str) -> None:
    count = counter("o200k").count
    pages = ""
    while len(pages) < len(text):
        part = page(text, offset=len(pages), budget=300)
        assert part
        assert count(part) <= 300 or len(part) == 1
        pages += part
    assert pages == text


def test_the_messages_of_a_context_can_have_a_providers_shape(open_session: Open) -> None:
    session = open_session()
    session.append({"role": "user", "content": "hello"})
    for_anthropic = preview_context(session, PREVIEW_CONTEXT.read({"form": "anthropic"}))
    assert isinstance(for_anthropic.messages, dict)
    assert for_anthropic.messages["messages"][0]["role"] == "user"
    for_openai = preview_context(session, PREVIEW_CONTEXT.read({"form": "openai"}))
    assert isinstance(for_openai.messages, list)
    assert for_openai.messages[-1]["role"] == "user"
