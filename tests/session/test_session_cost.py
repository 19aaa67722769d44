"""What a turn costs: rows read and steps of the database, counted, never seconds. And sessions
that share a store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

import foreword
from foreword.store.database import Row
from foreword.store.sqlite import Sqlite
from tests.patience import PATIENCE_SECONDS
from tests.sessions import Open


class Work:
    """Counts what a session's database does: rows it hands out, messages among them, steps of
    its virtual machine."""

    step = 50

    def __init__(self, session: foreword.Session) -> None:
        assert isinstance(session.db, Sqlite)
        self.rows = self.messages = self.steps = 0
        session.db._db.row_trace = self._row
        session.db._db.set_progress_handler(self._stepped, self.step)

    def _row(self, cursor: apsw.Cursor, row: Row) -> Row:
        names = [column[0] for column in cursor.get_description()]
        self.rows += 1
        self.messages += "message" in names
        return row

    def _stepped(self) -> bool:
        self.steps += self.step
        return False


@pytest.fixture
def start_session(open_session: Open) -> Open:
    """Opens sessions on one store."""

    def open_one(name: str = "state", **more: Any) -> foreword.Session:
        return open_session(name, **more)

    return open_one


def long_message(number: int) -> dict[str, Any]:
    return {
        "role": "assistant" if number % 2 else "user",
        "content": f"Message {number}. " + "word " * 30,
    }


LONG = {"recipe": "workflow-cached", "budget": 4000, "counter": "estimate", "auto_compress": False}


def ten_turns(session: foreword.Session) -> Work:
    """The work of ten turns, once a first call has been made."""
    session.context()
    work = Work(session)
    for number in range(10):
        session.append(long_message(number))
        session.context()
    return work


def test_a_turn_costs_the_same_after_many_thousand_messages_as_after_1_000(
    start_session: Open,
) -> None:
    most = 100_000 if os.environ.get("FOREWORD_SOAK") else 20_000
    spent = list[Work]()
    for count in (1_000, most):
        start_session(str(count), **LONG).extend(long_message(n) for n in range(count))
        spent.append(ten_turns(start_session(str(count), **LONG)))
    few, many = spent
    assert 0 < many.rows <= 3 * few.rows
    assert many.messages <= 3 * max(few.messages, 10)
    assert 0 < many.steps <= 3 * few.steps


# --- more than one session ------------------------------------------------------------------------


def test_two_sessions_see_each_others_messages_in_the_order_they_came(start_session: Open) -> None:
    both = [start_session(), start_session()]
    for number in range(30):
        both[number % 2].append(long_message(number))
    texts = [session.context().text for session in both]
    assert texts[0] == texts[1]
    assert [f"Message {n}." in texts[0] for n in range(30)] == [True] * 30
    places = [texts[0].index(f"Message {n}.") for n in range(30)]
    assert places == sorted(places)
    assert both[0].size_tokens() == both[1].size_tokens()


def test_another_process_that_appends_is_seen_at_the_next_call(
    start_session: Open, tmp_path: Path
) -> None:
    session = start_session()
    session.append(long_message(0))
    session.context()
    code = (
        "import foreword, sys\n"
        "with foreword.Session.open(sys.argv[1]) as session:\n"
        "    session.append({'role': 'user', 'content': 'from elsewhere'})\n"
        "    session.append({'role': 'system', 'content': 'You are new.'})\n"
    )
    url = f"sqlite:///{tmp_path}/state.db"
    subprocess.run(
        [sys.executable, "-c", code, url], check=True, cwd=tmp_path, timeout=PATIENCE_SECONDS
    )
    session.append(long_message(1))
    text = session.context().text
    assert text.index("Message 0.") < text.index("from elsewhere") < text.index("Message 1.")
    assert "You are new." in text


def test_a_compression_in_one_session_is_seen_in_the_other(start_session: Open) -> None:
    one, other = start_session(), start_session()
    one.extend(long_message(n) for n in range(60))
    other.context()
    one.compress(to=600)
    assert one.context().text == other.context().text
    other.undo()
    assert one.context().text == other.context().text
    assert "[Summary" not in one.context().text


def test_another_counter_counts_every_message_anew(start_session: Open) -> None:
    first = start_session(counter="estimate")
    for number in range(10):
        first.append({"role": "user", "content": f"{number} 界界界界界界界界"})
        first.append({"role": "user", "content": "an old plan"}, kind="plan")
    first.close()
    session = start_session(counter="o200k")
    fresh = start_session("fresh", counter="o200k")
    for number in range(10):
        fresh.append({"role": "user", "content": f"{number} 界界界界界界界界"})
    assert session.usage()["history_tokens"] == fresh.usage()["history_tokens"]
    session.append(long_message(1))
    fresh.append(long_message(1))
    assert session.usage()["history_tokens"] == fresh.usage()["history_tokens"]
    assert abs(session.size_tokens() - session.context().report.total_tokens) <= 20


def test_another_counter_counts_the_summary_anew(start_session: Open) -> None:
    first = start_session(counter="estimate")
    first.extend(
        {"role": "user", "content": f"Decision {n}: 界界界界 because of 界界界界界界界界界界"}
        for n in range(60)
    )
    first.compress(to=500)
    first.close()
    session = start_session(counter="o200k")
    assert abs(session.size_tokens() - session.context().report.total_tokens) <= 40


def test_messages_that_are_no_history_leave_no_trace_in_numbers(start_session: Open) -> None:
    session = start_session()
    session.append(long_message(0))
    before = session.size_tokens()
    for _ in range(5):
        session.append({"role": "user", "content": "an old snapshot " * 50}, kind="snapshot")
    assert session.size_tokens() == before
    assert [message.text for message in session.history()] == [long_message(0)["content"]]
