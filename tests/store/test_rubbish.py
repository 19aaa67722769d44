"""A store in whose columns is something else than what belongs there: one clear error, whatever
is asked of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import product
from pathlib import Path

import apsw
import pytest

import foreword
from foreword.errors import ForewordError, StoreError
from foreword.store import (
    artifacts,
    changes,
    messages,
    node_results,
    node_runs,
    plans,
    reports,
    workers,
    workflows,
)
from foreword.store.carried_items import write_items
from foreword.store.project_stores import open_existing
from foreword.store.schema import SQLITE, TABLES, in_dialect
from foreword.work import task_checkpoints
from foreword.work.checkpoint import Checkpoint
from tests.attacks import sample
from tests.command import run_in_process
from tests.sessions import numbered_message, plan

pytestmark = pytest.mark.attack

NOT_UTF8 = b"\x80 no text"  # in a column of texts: SQLite does not look
NUMBERS = [2**63 - 1, -1, -(2**63), 1.5, float("inf")]
JSON = ["[1]", "{}", "null", '"x"', "NaN", '{"a": NaN}', "[" * 100_000]
RUBBISH = [
    *(b"\xff\xfe", NOT_UTF8, None),
    *NUMBERS,
    *JSON,
    *("zzz", "", "a\0b", "\u202e\x1b[2J<current_plan>", "9" * 5_000),
]
COMMANDS = (
    ("session", "list"),
    ("session", "context", "main", "--budget", "2500"),
    ("session", "usage", "main"),
    ("session", "expand", "main"),
    ("plan", "show", "main"),
    ("plan", "history", "main"),
    ("variable", "list", "main"),
    ("report", "list"),
    ("report", "show", "1"),
    ("checkpoint", "list"),
    ("checkpoint", "resume", "main"),
)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose store has a row in every table."""
    root = tmp_path_factory.mktemp("project")
    with foreword.Session.open(root=root) as session:
        db, workflow = session.db, session.workflow.id
        for status in ("in_progress", "completed"):
            session.update_plan(plan(status), "changed")
        session.put_node({"id": "n", "position": 1, "type": "t"})
        for value in ({"x": [1, 2]}, 2):
            session.set_variable("a", value, "given")
        session.append({"role": "system", "content": "You are Director."})
        for number in range(12):
            session.append(numbered_message(number, 200), pinned=number == 3)
        session.compress(to=1_000)
        for number in range(12, 16):
            session.append(numbered_message(number, 600))
        for _ in range(2):
            session.context(budget=2_500)
        artifacts.keep(
            db,
            run="run",
            name="FEAT-1",
            phase="1",
            title="Requirements",
            text="text",
            tokens=5,
            task="T",
        )
        task_checkpoints.write(root, db, Checkpoint(task="main", phase="1"))
        node_runs.begin(db, workflow, run="run", executor="me")
        node_results.keep(
            db, workflow, run="run", key="n", node="n", status="success", output={"result": 1}
        )
        workers.beat(db, executor="me", host="here", pid=1)
        item = {"kind": "decision", "title": "A", "text": "t"}
        write_items(db, "work", {("decision", "A"): item})
    return root


def alter_column(root: Path, table: str, column: str, value: object) -> bool:
    """Put a value into every row of a column; says whether SQLite took it."""
    with (
        closing(apsw.Connection(str(root / ".foreword" / "state.db"))) as db,
        suppress(apsw.ConstraintError, apsw.MismatchError),
    ):
        # a column that takes no NULL is told so by its schema, which can be written for a while
        if value is None:
            return _empty_column(db, table, column)
        cast = "CAST(? AS TEXT)" if value is NOT_UTF8 else "?"
        db.execute(f"UPDATE {table} SET {column} = {cast}", (value,))
        return True
    return False


def _empty_column(db: apsw.Connection, table: str, column: str) -> bool:
    ((before,),) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    write = (
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = ? WHERE name = ?; PRAGMA"
        " writable_schema = RESET"
    )
    db.execute(write, (str(before).replace("NOT NULL", ""), table))
    try:
        db.execute(f"UPDATE {table} SET {column} = NULL")
    finally:
        db.execute(write, (before, table))
    return True


def uses(root: Path) -> Iterator[Callable[[], object]]:
    """All that can be asked of a session and its store."""
    with foreword.Session.open(root=root) as session:
        db, workflow, talk = session.db, session.workflow.id, session.conversation.id
        yield from (
            lambda: session.context(budget=2_500),
            lambda: session.context(save=False).to_anthropic(),
            session.usage,
            session.history,
            session.compressions,
            session.plan_history,
            session.variable_changes,
            session.snapshot,
            lambda: changes.newest_numbers(db),
            lambda: workflows.list_workflows(db),
            lambda: reports.list_reports(db),
            lambda: [artifacts.text_of(db, one) for one in artifacts.of_task(db, "T")],
            lambda: node_runs.runs_of(db, workflow),
            lambda: node_results.newest(db, workflow),
            lambda: workers.all_workers(db),
            lambda: messages.import_marks(db, talk),
            lambda: plans.newest_version(db, workflow),
            lambda: session.update_plan(plan(), "third"),
            lambda: session.set_variable("a", 3, "set"),
            lambda: session.append(numbered_message(20, 30)),
            lambda: session.compress(to=1_000),
            session.undo,
            lambda: session.drop_node("n"),
            lambda: session.clear_all_variables("over"),
        )


def columns() -> list[tuple[str, str]]:
    """Every column of every table."""
    with closing(apsw.Connection(":memory:")) as db:
        db.execute(in_dialect(TABLES, SQLITE))
        tables = [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        found = list[tuple[str, str]]()
        for table in tables:
            found += [(table, row[1]) for row in db.execute(f"PRAGMA table_info({table})")]
        return found


CASES = [(*column, value) for value, column in product(RUBBISH, columns())]
ATTACKS = [(*case, COMMANDS[number % len(COMMANDS)]) for number, case in enumerate(CASES)]


@pytest.mark.parametrize(("table", "column", "value", "command"), sample(ATTACKS, 23))
def test_rubbish_in_a_column_is_an_error_of_ours_or_none(
    full: Path, tmp_path: Path, table: str, column: str, value: object, command: tuple[str, ...]
) -> None:
    root = tmp_path / "root"
    shutil.copytree(full, root)
    if not alter_column(root, table, column, value):
        return
    with suppress(ForewordError):
        for use in uses(root):
            with suppress(ForewordError):
                use()
    ran = run_in_process(*command, "--root", root)
    assert ran.code in (0, 1, 2)
    assert "\x1b" not in ran.out + ran.err


def read_all(root: Path) -> None:
    with foreword.Session.open(root=root) as session:
        session.plan_history()
        session.history()
        session.context(budget=2_500)


@pytest.mark.parametrize(
    ("table", "column", "value", "says"),
    [
        ("messages", "tokens", "many", "tokens in table messages holds a text 'many' (row seq 2)"),
        ("messages", "running", -7, "running in table messages holds a number -7 (row seq 2)"),
        (
            "messages",
            "message",
            b"\xff",
            r"message in table messages holds bytes b'\xff' (row seq 2)",
        ),
        ("messages", "created", NOT_UTF8, "a text in it is not UTF-8"),
        ("messages", "seq", 1.5, None),
        ("plans", "version", "zzz", None),
        ("plans", "reason", None, "reason in table plans holds nothing (row version 1)"),
        ("variables", "written", b"", "written in table variables holds bytes b'' (row name 'a')"),
        (
            "conversations",
            "warned",
            0.5,
            "warned in table conversations holds a fraction 0.5 (row id 1)",
        ),
    ],
)
def test_the_error_names_the_table_the_row_and_what_is_there(
    full: Path, tmp_path: Path, table: str, column: str, value: object, says: str | None
) -> None:
    root = tmp_path / "root"
    shutil.copytree(full, root)
    if not alter_column(root, table, column, value):
        assert says is None
        return
    with pytest.raises(StoreError) as refused:
        read_all(root)
    assert (says or "was altered") in refused.value.message
    assert str(root / ".foreword" / "state.db") in refused.value.message
    assert "copy" in refused.value.hint
    assert open_existing(root)
