"""`foreword director demo`: everything real but the model, and the figures at its end."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from foreword.demos import scripted_model
from foreword.demos.site import ROWS, site_pages
from foreword.faces.cli.browser_choice import browser_from_options
from tests.command import run_in_process

SCRIPT = scripted_model.scripted_model


def test_it_tells_its_figures_and_keeps_the_workflow_in_the_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOREWORD_DB", f"sqlite:///{tmp_path}/mine.db")
    monkeypatch.setattr(site_pages, "ROWS", ROWS[:5])
    monkeypatch.setattr(scripted_model, "scripted_model", partial(SCRIPT, pages=1))
    choice = partial(browser_from_options, action_seconds=1)
    monkeypatch.setattr("foreword.faces.cli.director_demo.browser_from_options", choice)
    folder = tmp_path / "kept"
    ran = run_in_process("director", "demo", "--keep", folder)
    assert ran.code == 0, ran.err
    table = dict(line.strip().split("  ", 1) for line in ran.out.splitlines()[-11:])
    figures = {name: value.strip() for name, value in table.items()}
    assert figures["rows registered"] == "5 of 5"
    assert figures["nodes"] == "13, 13 of them passed"
    assert figures["password sent"].startswith("in 0 of ")
    assert figures["largest context"].partition(" of ")[2] == "200,000 tokens"
    assert "of 200,000 tokens" in ran.err  # the window, as it is told meanwhile
    for name in ("six parts", "append to the one before"):
        complete, requests = re.findall(r"\d+", figures[name])
        assert int(complete) == int(requests) > 0
    assert "harbour-7" not in ran.out + ran.err
    monkeypatch.delenv("FOREWORD_DB")
    assert run_in_process("director", "nodes", "letters", "--root", folder).code == 0
    assert not (tmp_path / "mine.db").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep me")
    ran = run_in_process("director", "demo", "--keep", tmp_path)
    assert ran.code == 2
    assert "is not an empty folder" in ran.err
