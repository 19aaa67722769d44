"""The store: what is saved is there, whole, in any process, whoever else is writing."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

import foreword
from foreword.errors import UnknownHandle
from foreword.section import handle_of
from foreword.store import originals
from foreword.store.locations import register, state_path
from foreword.store.reports import newest_reports, save_report
from foreword.store.sqlite import Sqlite
from foreword.store.urls import recall
from tests.command import foreword as command
from tests.patience import PATIENCE_SECONDS
from tests.warm_process import ForkedCommand, run_command

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


def test_a_handle_may_be_shortened_while_it_is_unique(tmp_path: Path) -> None:
    project(tmp_path)
    package = foreword.assemble("mine", root=tmp_path, budget=300)
    (omission,) = package.report.omissions
    assert (
        foreword.recall(omission.handle[:9], root=tmp_path) == (tmp_path / "NOTES.md").read_text()
    )


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


def test_reports_are_kept_with_their_time_and_their_parts(tmp_path: Path) -> None:
    project(tmp_path)
    for budget in (300, 400):
        foreword.assemble("mine", root=tmp_path, budget=budget)
    listed = command("report", "list", "--root", tmp_path)
    rows = [line for line in listed.out.splitlines() if " mine " in line]
    assert len(rows) == 2
    assert "400" in rows[0]
    shown = command("report", "show", "1", "--root", tmp_path)
    assert '"budget_tokens": 300' in shown.out
    missing = command("report", "show", "9", "--root", tmp_path)
    assert (missing.code, "there is no report 9" in missing.err) == (2, True)


def test_ten_processes_that_open_and_write_at_once_lose_nothing(tmp_path: Path) -> None:
    project(tmp_path)
    script = (
        "import sys, foreword\nfor budget in range(300, 305): foreword.assemble('mine',"
        " root=sys.argv[1], budget=budget + int(sys.argv[2]))\n"
    )

    running = [ForkedCommand([tmp_path, number], program=script) for number in range(10)]
    errors = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 10, errors
    db = Sqlite(state_path(tmp_path))
    assert len(newest_reports(db, 100)) == 50


def test_a_writer_that_is_killed_leaves_a_store_that_opens_and_nothing_half_written(
    tmp_path: Path,
) -> None:
    register(tmp_path)
    path = state_path(tmp_path)
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from foreword.store.reports import save_report\nfrom foreword.store.sqlite import Sqlite\n"
        "from foreword.section import handle_of\n"
        "db = Sqlite(Path(sys.argv[1]))\nprint('open', flush=True)\n"
        "for n in range(10**6):\n"
        "    body = str(n).encode() * 2000\n"
        "    report = {'recipe': str(n), 'total_tokens': 1, 'budget_tokens': 1}\n"
        "    save_report(db, {handle_of(body): body}, report, created='now')\n"
        "    print(n, flush=True)\n"
    )
    for before in (1, 7, 40):
        with ForkedCommand([path], program=script) as writer:
            lines = [writer.stdout.readline() for _ in range(before)]
            writer.kill()
            lines += writer.stdout.readlines()
        acknowledged = {line.strip() for line in lines if line.strip().isdigit()}
        db = Sqlite(path)
        kept = {stored.report["recipe"] for stored in newest_reports(db, 10**6)}
        assert acknowledged <= kept
        for number in kept:
            assert originals.find(db, handle_of(number.encode() * 2000))
        db.close()
