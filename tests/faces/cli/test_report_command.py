"""`foreword report` and `foreword recall`, as a user runs them, on a database of one's choice."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from foreword.store.locations import state_path
from tests.command import foreword
from tests.postgres import new_database


@pytest.mark.parametrize("database", ["file", "postgresql"])
def test_reports_are_listed_shown_and_compared_and_originals_come_back(
    tmp_path: Path, database: str
) -> None:
    where = ("--db", new_database() if database == "postgresql" else "sqlite:///kept.db")
    words = "Somebody said something about the invoices of last year. " * 40
    for text in ("first", words, words, "last"):
        foreword("session", "append", "demo", "--text", text, *where, cwd=tmp_path)
    assert foreword("report", "list", *where, cwd=tmp_path).err.startswith("no reports yet in ")
    whole = foreword("session", "context", "demo", *where, cwd=tmp_path)
    foreword("variable", "set", "demo", "a", "1", "--reason", "x", *where, cwd=tmp_path)
    tight = foreword(
        "session", "context", "demo", "--budget", "700", "--keep", *where, cwd=tmp_path
    )
    assert (whole.code, tight.code) == (0, 0)

    listed = foreword("report", "list", *where, cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in listed] == ["2", "1"]
    assert (
        json.loads(foreword("report", "show", "2", *where, cwd=tmp_path).out)["budget_tokens"]
        == 700
    )
    diff = foreword("report", "diff", "1", "2", *where, cwd=tmp_path)
    rows = {line.split()[0]: line.split()[1:] for line in diff.out.splitlines()}
    assert rows["conversation_history"][3] == "shrank"
    assert rows["workflow_variables"][3] == "appeared"
    before, after, change = (int(number.replace(",", "")) for number in rows["total"][:3])
    assert after - before == change
    assert "budget 180,000 -> 700" in diff.out
    assert diff.err == "report 1 (chat, workflow demo) -> 2 (workflow-cached, workflow demo)\n"

    (handle, *_) = re.findall(r"fw_[0-9a-f]{14}", tight.err)
    assert words in foreword("recall", handle, *where, cwd=tmp_path).out
    assert not state_path(tmp_path).exists()


def test_sections_appear_and_go(tmp_path: Path) -> None:
    items = [{"kind": "task", "text": "Do it."}, {"kind": "learning", "text": "It was cold."}]
    for some in (items[:1], items):
        (tmp_path / "items.json").write_text(json.dumps({"items": some}))
        foreword(
            "assemble", "package", "--purpose", "design", "--source", "items.json", cwd=tmp_path
        )
    assert "appeared" in foreword("report", "diff", "1", "2", cwd=tmp_path).out
    assert "went" in foreword("report", "diff", "2", "1", cwd=tmp_path).out


def test_a_report_that_is_not_there_and_a_store_that_is_not_there(tmp_path: Path) -> None:
    for where in ((), ("--db", "sqlite:///kept.db")):
        ran = foreword("report", "diff", "1", "2", *where, cwd=tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "there is no report 1" in ran.err
        assert foreword("report", "list", *where, cwd=tmp_path).out == ""
        assert foreword("recall", "fw_00000000000000", *where, cwd=tmp_path).code == 1
    assert list(tmp_path.iterdir()) == []
    assert "did you mean 'list'?" in foreword("report", "lst", cwd=tmp_path).err
