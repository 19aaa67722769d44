"""What a turn costs: rows read and steps of the database, counted, never seconds. And sessions that share a store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword.runtime.limits import limits_for
from foreword.runtime.opening import opening_for
from foreword.store import messages, workflows
from foreword.store.database import Row
from foreword.store.sqlite import Sqlite

Open = Callable[..., foreword.Session]


class Counting:
    """A database that counts the rows it hands out."""

    def __init__(self, inner: Sqlite) -> None:
        self.inner, self.read, self.messages = inner, 0, 0

    @property
    def name(self) -> str:
        return self.inner.name

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        found = self.inner.rows(sql, values)
        self.read += len(found)
        self.messages += len(found) if sql.startswith(f"SELECT {messages.COLUMNS} FROM messages") else 0
        return found

    def many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        self.inner.many(sql, rows)

    def transaction(self, lock: str = "") -> AbstractContextManager[None]:
        return self.inner.transaction(lock)

    def version(self) -> int:
        return self.inner.version()

    def migrate(self, script: str, version: int) -> None:
        self.inner.migrate(script, version)

    def close(self) -> None:
        self.inner.close()


class Steps:
    """Counts the work inside SQLite, in steps of its virtual machine."""

    every = 50

    def __init__(self, db: Sqlite) -> None:
        self.count = 0
        db._db.set_progress_handler(self._step, self.every)

    def _step(self) -> bool:
        self.count += self.every
        return False


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens sessions on one store; they are closed at the end."""
    sessions: list[foreword.Session] = []

    def opening(name: str = "state", **more: Any) -> foreword.Session:
        sessions.append(foreword.Session.open(f"sqlite:///{tmp_path}/{name}.db", root=tmp_path, **more))
        return sessions[-1]

    yield opening
    for session in sessions:
        session.close()


def said(number: int) -> dict[str, Any]:
    return {"role": "assistant" if number % 2 else "user", "content": f"Message {number}. " + "word " * 30}


def counted(path: Path, recipe: str = "workflow-cached", budget: int = 4000) -> tuple[foreword.Session, Counting]:
    """A session on a database that counts."""
    limits = limits_for(10**9)
    opening = opening_for(path.parent, recipe, limits, budget, None, "estimate", None, False)
    db = Counting(Sqlite(path))
    workflow = workflows.existing(db, "main")
    return foreword.Session(db, workflow, messages.ensure(db, workflow.id, "main", "estimate"), opening), db


def turns(path: Path) -> tuple[int, int, int]:
    """Rows, messages and steps of ten turns, once a first call has been made."""
    session, db = counted(path)
    session.context()
    before, steps = (db.read, db.messages), Steps(db.inner)
    for number in range(10):
        session.append(said(number))
        session.context()
    session.close()
    return db.read - before[0], db.messages - before[1], steps.count


def test_a_turn_costs_the_same_after_100_000_messages_as_after_1_000(opened: Open, tmp_path: Path) -> None:
    spent = list[tuple[int, int, int]]()
    for count in (1_000, 100_000):
        opened(str(count), counter="estimate").extend(said(n) for n in range(count))
        spent.append(turns(tmp_path / f"{count}.db"))
    few, many = spent
    assert many[0] <= 3 * few[0], "rows"
    assert many[1] <= 3 * max(few[1], 10), "messages"
    assert many[2] <= 3 * few[2], "steps inside the database"


def test_opening_a_long_conversation_reads_about_its_window(opened: Open, tmp_path: Path) -> None:
    opened(counter="estimate").extend(said(n) for n in range(20_000))
    session, db = counted(tmp_path / "state.db")
    package = session.context()
    carried = package.text.count("<turn role=")
    session.close()
    assert db.messages <= 5 * carried + 300
    again, db = counted(tmp_path / "state.db")
    assert again.context().text == package.text
    again.close()
    assert db.messages <= 2 * carried + 100, "the cut is remembered"


def test_reading_a_message_costs_nothing_in_the_turns_after(opened: Open, tmp_path: Path) -> None:
    opened(counter="estimate").extend(said(n) for n in range(500))
    session, db = counted(tmp_path / "state.db")
    session.context()
    before = db.messages
    for _ in range(20):
        session.context()
    assert db.messages == before
    session.close()


# --- more than one session -------------------------------------------------------------------------------------


def test_two_sessions_see_each_others_messages_in_the_order_they_came(opened: Open) -> None:
    both = [opened(), opened()]
    for number in range(30):
        both[number % 2].append(said(number))
    texts = [session.context().text for session in both]
    assert texts[0] == texts[1]
    assert [f"Message {n}." in texts[0] for n in range(30)] == [True] * 30
    places = [texts[0].index(f"Message {n}.") for n in range(30)]
    assert places == sorted(places)
    assert both[0].size_tokens == both[1].size_tokens


def test_another_process_that_appends_is_seen_at_the_next_call(opened: Open, tmp_path: Path) -> None:
    session = opened()
    session.append(said(0))
    session.context()
    code = (
        "import foreword, sys\n"
        "with foreword.Session.open(sys.argv[1]) as session:\n"
        "    session.append({'role': 'user', 'content': 'from elsewhere'})\n"
        "    session.append({'role': 'system', 'content': 'You are new.'})\n"
    )
    url = f"sqlite:///{tmp_path}/state.db"
    subprocess.run([sys.executable, "-c", code, url], check=True, cwd=tmp_path, timeout=60)
    session.append(said(1))
    text = session.context().text
    assert text.index("Message 0.") < text.index("from elsewhere") < text.index("Message 1.")
    assert "You are new." in text


def test_a_compression_in_one_session_is_seen_in_the_other(opened: Open) -> None:
    one, other = opened(), opened()
    one.extend(said(n) for n in range(60))
    other.context()
    one.compress(to=600)
    assert one.context().text == other.context().text
    other.undo()
    assert one.context().text == other.context().text
    assert "[Summary" not in one.context().text


def test_another_counter_counts_every_message_anew(opened: Open) -> None:
    first = opened(counter="estimate")
    for number in range(10):
        first.append({"role": "user", "content": f"{number} 界界界界界界界界"})
        first.append({"role": "user", "content": "an old plan"}, kind="plan")
    first.close()
    session = opened(counter="o200k")
    fresh = opened("fresh", counter="o200k")
    for number in range(10):
        fresh.append({"role": "user", "content": f"{number} 界界界界界界界界"})
    assert session.usage()["history_tokens"] == fresh.usage()["history_tokens"]
    session.append(said(1))
    fresh.append(said(1))
    assert session.usage()["history_tokens"] == fresh.usage()["history_tokens"]
    assert abs(session.size_tokens - session.context().report.total_tokens) <= 20


def test_another_counter_counts_the_summary_anew(opened: Open) -> None:
    first = opened(counter="estimate")
    first.extend(
        {"role": "user", "content": f"Decision {n}: 界界界界 because of 界界界界界界界界界界"} for n in range(60)
    )
    first.compress(to=500)
    first.close()
    session = opened(counter="o200k")
    assert abs(session.size_tokens - session.context().report.total_tokens) <= 40


def test_messages_that_are_no_history_leave_no_trace_in_numbers(opened: Open) -> None:
    session = opened()
    session.append(said(0))
    before = session.size_tokens
    for _ in range(5):
        session.append({"role": "user", "content": "an old snapshot " * 50}, kind="snapshot")
    assert session.size_tokens == before
    assert [message.text for message in session.history()] == [said(0)["content"]]
