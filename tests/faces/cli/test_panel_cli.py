"""`foreword panel`, as a user runs it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from shutil import copytree

import jsonschema
import pytest
from click.testing import CliRunner

import foreword as package
from foreword.faces.cli.main import cli
from foreword.faces.cli.panel import as_markdown, as_text
from foreword.faces.cli.run_board import RunBoard
from foreword.review.change_facts import MemberResult, ReviewedChange
from foreword.review.findings import Finding
from foreword.review.panel_result import PanelResult
from foreword.store.locations import state_path
from foreword.testing import fake_provider
from foreword.work.run_status import RunStatus
from tests.command import foreword, run_in_process
from tests.corpus import rows
from tests.factory import DIFF, project

SAMPLE = Path(package.__file__).parent / "demos" / "factory"
RESULT = PanelResult(
    panel="review",
    title="Code Review",
    verdict="changes_requested",
    reasons=("1 high finding; profile default allows none.",),
    confidence=0.7,
    profile="default",
    findings=(
        Finding(
            severity="high",
            title="Query <b>by</b> f-string",
            file="a.py",
            line=3,
            said_by=("Anna", "Bert"),
            reason="Ask @admin.\nBind it.",
        ),
        Finding(severity="low", title="No test", said_by=("Anna",)),
    ),
    members=(
        *(MemberResult(name=name, status="answered") for name in ("Anna", "Bert")),
        MemberResult(name="Cleo", status="late", why="no answer in 9 s"),
    ),
    change=ReviewedChange("HEAD~1", "sha256:0", ("a.py",), 3),
)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    return copytree(SAMPLE, tmp_path / "factory")


def test_the_verdict_comes_first_then_the_findings_then_who_did_not_answer() -> None:
    assert list(as_text(RESULT)) == [
        "changes requested: Code Review",
        "  1 high finding; profile default allows none.",
        "",
        "a.py:3  high  Query <b>by</b> f-string (assistant Anna, assistant Bert)",
        "    Ask @admin.",
        "    Bind it.",
        "",
        "(the change)  low  No test (assistant Anna)",
        "",
        "did not answer:",
        "  Cleo: late, no answer in 9 s",
    ]


def test_as_markdown_a_model_can_neither_write_tags_nor_call_people() -> None:
    text = "\n".join(as_markdown(RESULT))
    assert text.startswith("# Code Review: changes requested\n")
    assert "- `a.py:3` **Query &lt;b>by&lt;/b> f-string** (assistant Anna, assistant Bert)" in text
    assert "@admin" not in text
    assert "## Did not answer\n\n- Cleo: late" in text


def test_a_panel_runs_on_the_sample_and_says_who_is_done(sample: Path) -> None:
    ran = foreword(
        "panel", "run", "code-review", "--diff", "change.diff", "--model", "test", cwd=sample
    )
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "changes requested: Code Review"
    assert lines[1] == ('  Profile default blocks: any_finding_severity in ["critical", "high"].')
    assert any(
        line.startswith(
            "tidepool/stations.py:5  critical  Hard-coded secret (assistant Code Reviewer, "
        )
        for line in lines
    )
    head, *agents = ran.err.splitlines()
    assert head == "code-review: 26 changed lines in 2 files"
    assert sorted(line.split("  ")[1] for line in agents) == [
        "Code Reviewer",
        "Maintainer",
        "Performance Engineer",
        "Security Auditor",
        "Test Engineer",
    ]
    assert all("answered" in line for line in agents)


def test_as_json_it_follows_the_schema_that_is_printed_and_check_tells_by_the_exit_code(
    sample: Path,
) -> None:
    diff = (sample / "change.diff").read_bytes()
    words = (
        "panel",
        "run",
        "release",
        "--root",
        sample,
        "--diff",
        "-",
        "--model",
        "test",
        "--format",
        "json",
        "--check",
    )
    ran = run_in_process(*words, stdin=diff)
    assert ran.code == 1
    schema = CliRunner().invoke(cli, ["panel", "schema"])
    jsonschema.validate(json.loads(ran.out), json.loads(schema.output))
    assert json.loads(ran.out)["change"]["source"] == "standard input"


def test_the_panels_of_a_project_are_listed_with_who_sits_on_them(tmp_path: Path) -> None:
    root = project(tmp_path, ["anna", "bert"], listed=["anna", "bert", "nobody"])
    (root / "personas/round_tables/empty.md").write_text("# Nobody\n")
    ran = run_in_process("panel", "list", "--root", root)
    empty, review = ran.out.splitlines()
    assert review == "review  anna, bert; missing: nobody"
    assert empty.startswith(
        "empty   can't be run: personas/round_tables/empty.md: names no persona"
    )


@pytest.mark.parametrize(("words", "message", "hint"), rows("commands/panel_misuse.jsonl"))
def test_wrong_use_is_one_line_with_a_hint_and_nothing_is_left_behind(
    words: list[str], message: str, hint: str, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sample / "empty.diff").write_text("\n")
    monkeypatch.chdir(sample)
    ran = run_in_process("panel", "run", *words)
    assert (ran.code, ran.out) == (2, "")
    *before, error, hint_line = ran.err.splitlines()
    assert message in error
    assert hint in hint_line
    assert all("changed lines" in line and "nosuch:x" in words for line in before)
    assert not state_path(sample).exists()


def test_where_nobody_has_answered_the_exit_code_says_so_and_invalid_is_called_that(
    tmp_path: Path,
) -> None:
    root = project(tmp_path, ["anna", "bert"])
    (root / "c.diff").write_text(DIFF)
    with fake_provider("Looks good to me.") as provider:
        words = (
            "panel",
            "run",
            "review",
            "--diff",
            root / "c.diff",
            "--model",
            provider.openai,
            "--root",
            root,
        )
        ran = run_in_process(*words)
    assert ran.code == 1
    assert ran.out.startswith("inconclusive: ")
    lines = [line for line in ran.err.splitlines() if " invalid " in line]
    told = {line.partition(" invalid ")[0].strip() for line in lines}
    assert told == {"anna", "bert"}
    assert 'it is not the one JSON object that was requested): "Looks good to me."' in ran.out


def test_a_project_without_panels_says_where_they_go(tmp_path: Path) -> None:
    ran = run_in_process("panel", "list", "--root", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "personas/round_tables/" in ran.err


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def run_status(agent: str, status: str, error: str = "") -> RunStatus:
    return RunStatus(run=f"run/{agent}", agent=agent, status=status, seconds=1.5, error=error)


def test_on_a_terminal_every_agent_has_one_line_that_is_kept_up_to_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stderr", screen := Terminal())
    board = RunBoard()
    board([run_status("anna", "running"), run_status("bert", "waiting")])
    board([run_status("anna", "answered"), run_status("bert", "failed", "no\nkey \x1b[31m")])
    first, second = screen.getvalue().split("\x1b[2A")
    assert [line.removeprefix("\x1b[2K").split() for line in first.splitlines()] == [
        ["anna", "running"],
        ["bert", "waiting"],
    ]
    assert second.splitlines() == [
        "\x1b[2K  anna  answered     1.5 s",
        "\x1b[2K  bert  failed       1.5 s  no key \ufffd[31m",
    ]


def test_in_a_pipe_an_agent_is_told_once_when_it_is_settled(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board = RunBoard()
    for status in ("waiting", "running", "answered", "answered"):
        board([run_status("anna", status)])
    assert capsys.readouterr().err == "  anna  answered     1.5 s\n"


def test_phases_are_told_with_their_titles_under_each_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = RunStatus(run="r/1", agent="1", status="already done", seconds=4.1, title="Requirements")
    two = RunStatus(run="r/3a", agent="3a", status="answered", seconds=1.5, title="Build")
    RunBoard()([one, two, run_status("anna", "invalid", "no findings")])
    assert capsys.readouterr().err.splitlines() == [
        "  1   Requirements  already done",
        "  3a  Build         answered     1.5 s",
        "  anna              invalid      1.5 s  no findings",
    ]


def test_a_panel_takes_a_recipe_and_facts(tmp_path: Path) -> None:
    root = project(tmp_path, ["anna"])
    rules = "auto_merge: {enabled: true, conditions: [ci_checks_passed == true]}\n"
    (root / "policy/default.yaml").write_text(rules)
    (root / "mine.yaml").write_text("name: mine\nextends: factory\n")
    (root / "c.diff").write_text(DIFF.replace("t0p-s3cret-value", "").replace("TODO", "Now"))
    words = ("panel", "run", "review", "--diff", root / "c.diff", "--model", "test")
    place = ("--root", root, "--recipe", root / "mine.yaml")
    unknown = run_in_process(*words, *place)
    assert unknown.out.startswith("human review: ")
    assert "ci_checks_passed" in unknown.out
    known = run_in_process(*words, *place, "--fact", "ci_checks_passed=true")
    assert known.out.startswith("approve: ")
    assert run_in_process(*words, "--root", root, "--fact", "ci").code == 2
    assert run_in_process(*words, "--root", root, "--recipe", "nothing").code == 2
