"""`foreword director demo`: everything real but the model, and the figures at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import run_in_process


def test_it_builds_the_workflow_from_nothing_and_runs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOREWORD_DB", f"sqlite:///{tmp_path}/mine.db")
    folder = tmp_path / "kept"
    ran = run_in_process("director", "demo", "--keep", folder)
    assert ran.code == 0, ran.err
    table = dict(line.strip().split("  ", 1) for line in ran.out.splitlines()[-10:])
    figures = {name: value.strip() for name, value in table.items()}
    assert figures["rows registered"] == "15 of 15"
    assert figures["nodes"] == "13, 13 of them passed"
    assert int(figures["plan versions"]) >= 3
    assert figures["password sent"].startswith("in 0 of ")
    sixes, requests = (
        figures["six parts, in order"].removeprefix("in ").removesuffix(" requests").split(" of ")
    )
    assert sixes == requests
    assert "harbour-7" not in ran.out + ran.err
    assert "test_single_node(node4)  failed" in ran.err
    assert (
        run_in_process(
            "director",
            "nodes",
            "letters",
            "--root",
            folder,
            "--db",
            f"sqlite:///{folder}/.foreword/state.db",
        ).code
        == 0
    )
    assert not (tmp_path / "mine.db").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep me")
    ran = run_in_process("director", "demo", "--keep", tmp_path)
    assert ran.code == 2
    assert "is not an empty folder" in ran.err
