"""The two databases every promise of the store is tested on, and programs that use one from
another process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foreword.messages.message import Message
from foreword.messages.parts import Text
from foreword.store import cuts, messages, workflows
from foreword.store.cuts import CallRecord, Cut, LogEntry, NewestCall
from foreword.store.database import Database
from foreword.store.messages import Conversation
from foreword.store.urls import open_database
from tests.postgres import new_database
from tests.warm_process import ForkedCommand

KINDS = ("sqlite", "postgresql")
# How a program in another process begins: its first argument is the address.
OPEN = """
import sys
from pathlib import Path
from foreword.messages.message import (Message)
from foreword.messages.parts import Text
from foreword.store import messages, plans, variables, workflows
from foreword.store.urls import open_database

db = open_database(sys.argv[1], Path())
workflow = workflows.ensure(db, "main").id
conversation = messages.ensure(db, workflow, "main", "words").id
"""
_WAIT = "import sys\nprint(flush=True)\nsys.stdin.readline()\n"
USAGE = {"recipe": "r", "parts": {"plan": 3}, "reuse": 1.0, "prefix_break": "\0"}


def new_url(kind: str, folder: Path) -> str:
    """The address of a database that is new."""
    return f"sqlite:///{folder / 'store.db'}" if kind == "sqlite" else new_database()


@contextmanager
def open_db(url: str) -> Iterator[Database]:
    """The database of that address, closed at the end."""
    db = open_database(url, Path())
    try:
        yield db
    finally:
        db.close()


def workflow_in(db: Database, name: str = "main") -> int:
    """The number of a workflow of that name."""
    return workflows.ensure(db, name).id


def conversation_in(db: Database, name: str = "main") -> Conversation:
    """A conversation of that name."""
    return messages.ensure(db, workflow_in(db), name, "words")


def cut_of(number: int, **facts: Any) -> Cut:
    """A cut that says little."""
    usual: dict[str, Any] = {
        "created": "2026-01-01T00:00:00.000+00:00",
        "call": number,
        "reason": "no room",
        "detail": "",
        "recipe": "chat",
        "tools": "",
        "start": 1,
        "last": 0,
        "head": {"parts": []},
        "total_tokens": 10,
        "omitted_messages": 0,
        "omitted_tokens": 0,
        "reread_tokens": 0,
        "thinking": 0,
    }
    return Cut(number=number, **{**usual, **facts})


def record_call(
    db: Database,
    conversation: int,
    number: int,
    *,
    last: int = 0,
    cut: Cut | None = None,
    entries: Sequence[LogEntry] = (),
    sent: str = "",
) -> None:
    """Keep a call of that number."""
    call = NewestCall(
        call=number,
        call_last=last,
        call_tokens=10,
        call_running=0,
        call_entry=entries[-1].number if entries else 0,
        call_open=(),
        call_again=False,
        cut_due=(),
        state={},
        sent=sent or str(number),
    )
    cuts.record(db, conversation, CallRecord(call=call, cut=cut, entries=entries))


def text_message(text: str, role: str = "user") -> Message:
    """A message of these words."""
    assert role in ("user", "assistant")
    return Message("user" if role == "user" else "assistant", (Text(text),))


def batch(*texts: str, size: int = 1) -> list[tuple[Message, int, bool]]:
    """Messages of these words to append, each of that size."""
    return [(text_message(text), size, False) for text in texts]


def run_at_once(program: str, arguments: Sequence[Sequence[object]]) -> list[str]:
    """What the program printed for each of the arguments, all processes let loose together; fails
    where one did."""
    running = [ForkedCommand(each, program=_WAIT + program) for each in arguments]
    for process in running:
        process.stdout.readline()
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    done = [(*process.communicate(), process.returncode) for process in running]
    failures = [errors for _, errors, code in done if code]
    assert not failures, failures[0]
    return [output for output, _, _ in done]
