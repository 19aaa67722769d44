"""Smaller forms of what programs write: whole entries, rows under their head, failures first."""

from __future__ import annotations

import pytest

from foreword.text import cut
from foreword.text.content_type import content_type
from tests.corpus import rows
from tests.text.smaller_forms import mark

TRACE = """\
{stamp}FAIL src/pump_{n}.test.ts
{stamp}  ● opens the lid {n}
{stamp}
{stamp}    Expected: {n}
{stamp}    Received: -{n}
"""


def forms_of(text: str, *, query: str = "", least: int = 250) -> list[str]:
    """The forms of a text in rooms from small to nearly all, in all three ways."""
    forms: list[str] = []
    for way in (cut.summary, cut.relevant, cut.excerpt):
        for room in range(least, len(text), max(40, len(text) // 14)):
            form = way(text, room, len, mark, query=query)
            if form is not None:
                forms.append(form)
    assert forms
    return forms


@pytest.mark.parametrize("entry", rows("forms/log_entries.jsonl"))
def test_entries_of_logs_and_chats_are_whole(entry: str) -> None:
    entries = [entry.format(n=n) for n in range(10, 50)]
    text = "".join(entries)
    assert content_type(text) == "log"
    for form in forms_of(text, least=300):
        for each in entries:
            rows = [row for row in each.splitlines() if row.strip("| ")]
            there = [row for row in rows if f"{row}\n" in f"{form}\n"]
            assert there in ([], rows), form


@pytest.mark.parametrize("stamp", ["", "2026-05-18T07:00:00.1230000Z "])
def test_a_failed_test_comes_first_and_whole(stamp: str) -> None:
    passed = "".join(f"{stamp}PASS src/valve_{n}.test.ts\n" for n in range(40))
    failed = TRACE.format(stamp=stamp, n=7)
    text = f"{passed}{failed}{passed}{stamp}Tests: 1 failed, 80 passed\n"
    form = cut.summary(text, len(failed) + 260, len, mark)
    assert form is not None
    assert failed.rstrip() in form


def test_what_failed_comes_before_a_line_that_answers_the_query_better() -> None:
    query = "Run the pumps with python 3.11.7 of the platform linux and pytest 9.1.1 in /srv/pumps."
    head = (
        "===== test session starts =====\nplatform linux -- Python 3.11.7, pytest-9.1.1,"
        " pluggy-1.7.0 -- /srv/pumps/.venv/bin/python\nrootdir: /srv/pumps\n\n"
    )
    passed = "".join(f"tests/test_rows.py::test_field_{n} PASSED\n" for n in range(30))
    failed = "FAILED tests/test_rows.py::test_a_row - AssertionError: assert 1 == 2\n"
    text = f"{head}{passed}===== short test summary info =====\n{failed}"
    for room in range(220, len(text), 40):
        form = cut.summary(text, room, len, mark, query=query)
        assert form is not None
        assert failed in form


def test_the_source_below_an_error_of_a_compiler_belongs_to_it() -> None:
    compiled = "".join(f"   Compiling pump-{n} v1.0.{n}\n" for n in range(30))
    error = (
        "error[E0502]: cannot borrow `lids` as mutable\n  --> src/lid.rs:58:5\n   |\n"
        "57 |     let first = &lids[0];\n   |                  ---- borrowed here\n"
        "58 |     lids.push(6);\n   |     ^^^^^^^^^^^^ and here\n"
    )
    report = "---- lid::opens stdout ----\nthread 'lid::opens' panicked at src/lid.rs:9\nleft: 7\n"
    text = f"{compiled}warning: unused\n\n{error}\n{report}\n\nfailures:\n    lid::opens\n"
    for form in forms_of(text, least=450):
        rows = [row for row in error.splitlines() if row in form]
        assert rows in ([], error.splitlines())
        assert ("panicked" in form) == ("---- lid::opens stdout ----" in form)


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("NAME          READY   STATUS    AGE\n", "pump-{n:<8} 1/1     Running   {n}d\n"),
        (" id | name      | state\n----+-----------+-------\n", " {n} | pump-{n}   | open\n"),
        ("+----+------+\n| id | lid  |\n+----+------+\n", "| {n} | open |\n"),
        ("Host      State\n--------- -----\n", "pump{n}    up\n"),
        ("id;name;price\n", '{n};"Pump; {n}";{n},50\n'),
    ],
)
def test_rows_in_columns_come_with_their_titles(head: str, row: str) -> None:
    text = head + "".join(row.format(n=n) for n in range(10, 60))
    assert content_type(text) == "table"
    for form in forms_of(text, query="pump-40"):
        assert form.startswith(head), form
