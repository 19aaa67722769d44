"""A session that threads share: each waits for its turn, as where a framework records usage in a
thread of its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import foreword
from foreword.integrations.conversation_sessions import Conversations
from tests.sessions import Open

ROUNDS = 40


def answer(number: int) -> dict[str, Any]:
    """What a provider answers, with what it cost."""
    said = {"role": "assistant", "content": [{"type": "output_text", "text": f"Kiln {number}."}]}
    return {
        "object": "response",
        "id": f"resp_{number}",
        "output": [{"type": "message", **said}],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("quick_switches")
def test_threads_record_usage_read_it_append_and_make_calls_at_the_same_time(
    open_session: Open,
) -> None:
    session = open_session()
    conversations = Conversations(session)

    def append(number: int) -> None:
        session.append({"role": "user", "content": f"Message {number}."})

    def make_call(number: int) -> foreword.Package:
        return session.context()

    jobs: list[Callable[[int], object]] = [
        lambda number: conversations.record_usage([answer(number)]),
        session.usage,
        append,
        make_call,
        lambda number: session.set_variable("rate", number, "new"),
    ]
    with ThreadPoolExecutor(len(jobs)) as threads:
        for number in range(1, ROUNDS + 1):
            for done in [threads.submit(job, number) for job in jobs]:
                done.result()
    used = session.usage()
    assert (used["answers"]["count"], used["messages"], used["calls"]) == (ROUNDS, ROUNDS, ROUNDS)
    package = session.context()
    assert package.text.count('<turn role="user">') == ROUNDS


def test_sessions_close_while_one_of_them_opens_another(tmp_path: Path) -> None:
    conversations = Conversations(root=tmp_path)
    has_turn = Event()
    opened = Event()

    def open_another(session: foreword.Session) -> None:
        has_turn.set()
        time.sleep(0.2)  # until `close` waits for this turn
        conversations.session("other")
        opened.set()

    Thread(target=conversations.with_session, args=(open_another, "main"), daemon=True).start()
    has_turn.wait()
    closing = Thread(target=conversations.close, daemon=True)
    closing.start()
    assert opened.wait(timeout=10)
    closing.join(timeout=10)
    assert not closing.is_alive()
    conversations.close()
