"""The store: what is saved is there, whole, in any process, whoever else is writing."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from foreword.errors import UnknownHandle
from foreword.section import handle_of
from foreword.store.locations import register, state_path
from foreword.store.reports import save_report
from foreword.store.sqlite import Sqlite
from foreword.store.urls import recall
from tests.command import foreword as command
from tests.patience import PATIENCE_SECONDS
from tests.warm_process import run_command

REPORT = {"recipe": "r", "total_tokens": 1, "budget_tokens": 2}


def project(
    root: Path, text: str = "# Notes\n\n" + "One line about the harbour and its tides. \n\n" * 400
) -> Path:
    recipes = root / "foreword" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "mine.yaml").write_text("name: mine\nsections:\n  notes: {file: NOTES.md}\n")
    (root / "NOTES.md").write_text(text)
    return root


def test_what_was_cut_is_recalled_byte_for_byte_in_another_process_from_another_folder(
    tmp_path: Path,
) -> None:
    root, home = project(tmp_path / "project"), str(tmp_path / "home")
    raw = b"\xef\xbb\xbf# Notes\r\n\r\n" + b"caf\xc3\xa9 at the harbour, every tide\r\n" * 500
    (root / "NOTES.md").write_bytes(raw)
    assembled = command("assemble", "mine", "--root", root, "--budget", "300", HOME=home)
    handle = next(word for word in assembled.err.split() if word.startswith("fw_"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code, output, errors = run_command(
        ["recall", handle],
        folder=elsewhere,
        environment={**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/.cache"},
        stdin=b"",
        timeout_seconds=PATIENCE_SECONDS,
    )
    assert (code, output) == (0, raw), errors


def test_a_handle_that_means_two_things_is_an_error(tmp_path: Path) -> None:
    # more than there are beginnings of three digits
    bodies = [str(number).encode() for number in range(5_000)]
    register(tmp_path)
    db = Sqlite(state_path(tmp_path))
    save_report(db, {handle_of(body): body for body in bodies}, REPORT, created="now")
    db.close()
    ((shared, _),) = Counter(handle_of(body)[:6] for body in bodies).most_common(1)
    with pytest.raises(UnknownHandle, match="2 originals begin with"):
        recall(shared, tmp_path)
