"""Whose turn it is in a conversation: whether one was left open, and that one process at a time
takes them.

Two directors in one conversation would take each other's calls for those of a process that died,
and answer them. The lock is a file beside the browsers of the workflow, and gone with its process,
whatever became of that.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from foreword.director import browser_files
from foreword.director.manual_calls import is_by_hand
from foreword.errors import StoreError, UsageError
from foreword.messages.message import Message
from foreword.session.session import Session
from foreword.store import messages, private
from foreword.store.database import LARGEST_NUMBER

# Messages that are looked at. Enough to see past what was done by hand since the last turn; with
# more by hand than that, the turn counts as answered.
LATEST = 200


def is_waiting(session: Session) -> bool:
    """Whether the last turn did not come to its answer: its process died, or its model failed."""
    lines = messages.before(session.db, session.conversation.id, LARGEST_NUMBER, LATEST)
    return is_turn_open([line.message for line in lines])


def is_turn_open(latest: Sequence[Message]) -> bool:
    """Whether these messages, the newest last, end in a turn without an answer."""
    for message in reversed(latest):
        if not is_by_hand(message):
            return message.role != "assistant" or bool(message.calls)
    return False


@contextmanager
def conversation_lock(session: Session) -> Iterator[None]:
    """Hold the lock of a conversation; an error where another process on this machine holds it."""
    path = browser_files.place(session).with_suffix(".lock")
    browser_files.prepare(path)
    try:
        file = open(path, "wb", opener=private.opener)  # noqa: SIM115 - held below, once it is known to open
    except OSError as error:
        raise StoreError(
            f"{path} can't be used: {error.strerror}", hint="check the rights of it"
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"somebody talks with the director of {session.workflow.name!r} already",
                hint="end that chat first",
            ) from None
        yield
