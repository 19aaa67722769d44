"""`foreword lookup`: the answer on stdout, the bill on stderr, errors that say what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import foreword
from tests.conformance.workshop import workshop
from tests.corpus import rows


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workshop(tmp_path_factory.mktemp("project"))


def test_the_answer_is_on_stdout_and_the_bill_on_stderr(project: Path) -> None:
    ran = foreword("lookup", "loose", "--kind", "policy", cwd=project)
    assert ran.code == 0
    assert (
        ran.out
        == "<policy>\n# policy/loose.yaml\n\nprofile_name: loose\nauto_merge: {enabled: true}\n"
        "</policy>\n"
    )
    assert "budget" in ran.err
    assert foreword("lookup", "loose", "-q", cwd=project).err == ""


def test_several_words_are_one_question(project: Path) -> None:
    ran = foreword(
        "lookup", "how", "hot", "is", "the", "kiln", "--budget", "200", "-q", cwd=project
    )
    assert "cone six" in ran.out


def test_json_has_the_text_and_the_report(project: Path) -> None:
    ran = foreword(
        "lookup", "firing", "--format", "json", "--counter", "o200k", "-q", "--root", project
    )
    data = json.loads(ran.out)
    assert "cone six" in data["text"]
    assert data["report"]["recipe"] == "lookup"


@pytest.mark.parametrize(("args", "says", "hint"), rows("commands/lookup_misuse.jsonl"))
def test_bad_input_is_one_error_with_a_hint(
    project: Path, args: list[str], says: str, hint: str
) -> None:
    ran = foreword("lookup", *args, cwd=project)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
    assert hint in ran.err.partition("hint:")[2]


def test_a_phase_is_assembled_from_the_command_line(project: Path) -> None:
    ran = foreword(
        "assemble",
        "factory",
        "--phase",
        "3a",
        "--workflow",
        "feature",
        "--agent",
        "outsider",
        cwd=project,
    )
    assert "Build it." in ran.out
    assert "keeps to distance" in ran.out
