"""`foreword handoff`: the work of one session, packed for another agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foreword.tokens import counter
from tests.autopsy.test_autopsy import LINES, SECRET, call, line, result
from tests.command import foreword


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "s-1.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in LINES), "utf-8")
    return file


def test_the_package_has_position_pending_work_files_commands_and_names(path: Path) -> None:
    ran = foreword("handoff", "--from", path, "--to", "codex", cwd=path.parent)
    assert ran.code == 0, ran.err
    text = ran.out
    assert text.startswith(
        "<handoff>\nAnother agent (claude-code) did this work in /home/ada/tides"
    )
    assert "Objective: Convert the heights to metres, please." in text
    assert "Asked last: Go on with the harbour_list." in text
    assert "/home/ada/tides/station_table.py: read 2 times" in text
    assert "pytest tests/test_heights.py -q" in text
    assert "station_five" in text
    assert "x = 1" not in text  # raw output
    assert SECRET not in text


def test_the_whole_conversation_can_be_recalled_by_the_handle_that_it_names(path: Path) -> None:
    text = foreword("handoff", "--from", path, "--to", "gemini", cwd=path.parent).out
    handle = text.partition("foreword recall ")[2][:17]
    whole = foreword("recall", handle, cwd=path.parent).out
    assert "3 failed, 1289 passed in run_7f3a" in whole
    assert SECRET not in whole


@pytest.mark.parametrize("folder", ["/home/ada/tides", "/home/ada" + "/潮汐" * 400])
@pytest.mark.parametrize("budget", [300, 500, 4_000])
def test_it_is_never_over_its_budget(path: Path, budget: int, folder: str) -> None:
    path.write_text(path.read_text("utf-8").replace("/home/ada/tides", folder), "utf-8")
    ran = foreword(
        "handoff", "--from", path, "--to", "claude", "--budget", str(budget), cwd=path.parent
    )
    assert ran.code == 0, ran.err
    assert 150 < counter().count(ran.out) <= budget


def test_every_decision_that_fits_is_in_it_however_much_was_printed(tmp_path: Path) -> None:
    lines = [line("user", "Convert the heights to metres, please.")]
    decisions = [f"We decided to keep station_{n} in tides/table_{n}.py." for n in range(70)]
    for number, decision in enumerate(decisions):
        lines.append(line("assistant", decision))
        command = f"pytest tests/test_{number}.py"
        lines.append(line("assistant", call(f"c{number}", "Bash", command=command)))
        printed = "\n".join(f"tests/test_{number}.py::test_{n} passed it" for n in range(60))
        lines.append(line("user", result(f"c{number}", printed)))
    file = tmp_path / "s-1.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    ran = foreword("handoff", "--from", file, "--to", "codex", "--budget", "2000", cwd=tmp_path)
    assert counter().count(ran.out) <= 2_000
    said = [decision for decision in decisions if decision.removesuffix(".") in ran.out]
    assert len(said) == len(decisions)
    assert "passed it" not in ran.out  # raw output


def test_the_newest_session_of_this_project_is_taken(path: Path) -> None:
    home = path.parent / "home"
    kept = home / ".claude" / "projects" / "x"
    kept.mkdir(parents=True)
    here = path.read_text("utf-8").replace("/home/ada/tides", str(path.parent))
    (kept / "here.jsonl").write_text(here, "utf-8")
    (kept / "newer.jsonl").write_text(path.read_text("utf-8"), "utf-8")
    ran = foreword("handoff", "--from", "claude", "--to", "codex", cwd=path.parent, HOME=str(home))
    assert f"did this work in {path.parent}" in ran.out


def test_the_session_of_another_project_is_not_handed_over(path: Path) -> None:
    home = path.parent / "home"
    kept = home / ".claude" / "projects" / "x"
    kept.mkdir(parents=True)
    (kept / "other.jsonl").write_text(path.read_text("utf-8"), "utf-8")
    ran = foreword("handoff", "--from", "claude", "--to", "codex", cwd=path.parent, HOME=str(home))
    assert (ran.code, ran.out) == (2, "")
    assert "the last is of /home/ada/tides" in ran.err


def test_a_line_that_is_still_being_written_is_told_of(path: Path) -> None:
    path.write_text(path.read_text("utf-8") + '{"type": "user", "mess', "utf-8")
    ran = foreword("handoff", "--from", path, "--to", "codex", cwd=path.parent)
    assert ran.code == 0
    assert "left out: 1 line that can't be read" in ran.err


@pytest.mark.parametrize(
    ("source", "said"),
    [("nobody", "no agent and no file"), ("codex", "no session of codex on this machine")],
)
def test_who_is_not_there_is_told(tmp_path: Path, source: str, said: str) -> None:
    ran = foreword("handoff", "--from", source, "--to", "claude", cwd=tmp_path)
    assert ran.code == 2
    assert said in ran.err


def test_a_budget_that_holds_nothing_is_refused(path: Path) -> None:
    ran = foreword("handoff", "--from", path, "--to", "claude", "--budget", "20", cwd=path.parent)
    assert ran.code == 2
    assert "too few" in ran.err
