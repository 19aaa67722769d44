"""A client that is killed in the middle of `session.sync`: its next one finds each history whole or
not at all, and adds what is missing, once."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

import foreword
from tests.store.databases import KINDS, new_url
from tests.warm_process import ForkedCommand

# in `make test` two, in `make soak` sixteen
KILLS = 16 if "FOREWORD_SOAK" in os.environ else 2
OPENING = {"recipe": "chat", "budget": 3_000, "window": 12_000, "counter": "estimate"}
# The same words in every turn: nothing but their places tells messages apart. Every seventh answer
# is written anew, so that a branch may be what is interrupted.
CLIENT = f"""
import sys
import foreword

def turn(number, again=False):
    called = {{"type": "tool_use", "id": f"t{{number}}", "name": "look", "input": {{}}}}
    result = {{"type": "tool_result", "tool_use_id": f"t{{number}}", "content": "a shelf " * 30}}
    return [
        {{"role": "user", "content": "ok"}},
        {{"role": "assistant", "content": [called]}},
        {{"role": "user", "content": [result]}},
        {{"role": "assistant", "content": "ok again" if again else "ok"}},
    ]

if __name__ == "__main__":
    talk = []
    for number in range(int(sys.argv[3])):
        talk += turn(number)
    with foreword.Session.open(sys.argv[1], root=sys.argv[2], **{OPENING!r}) as session:
        print("open", flush=True)
        for number in range(int(sys.argv[3]), 10_000):
            if number % 7 == 6:
                session.sync(talk + turn(number, again=True))
            talk += turn(number)
            session.sync(talk)
            session.context()
            print(number, flush=True)
"""


def turns(count: int) -> list[Any]:
    names: dict[str, Any] = {"__name__": "client"}
    exec(CLIENT, names)
    talk: list[Any] = []
    for number in range(count):
        talk += names["turn"](number)
    return talk


@pytest.mark.parametrize("kind", KINDS)
def test_a_history_is_whole_and_there_once_after_every_kill(kind: str, tmp_path: Path) -> None:
    url = new_url(kind, tmp_path)
    chance = random.Random(1907)
    done = 0  # turns that are kept for certain
    for _ in range(KILLS):
        with ForkedCommand([url, str(tmp_path), str(done)], program=CLIENT) as client:
            lines = [client.stdout.readline() for _ in range(1 + chance.randrange(10))]
            time.sleep(chance.random() / 50)  # the kill comes some way into the next
            client.kill()
            lines += client.stdout.read().splitlines(keepends=True)
            assert client.stderr.read() == b""
        numbers = [int(line) for line in lines if line.strip().isdigit()]
        done = max([done, *(number + 1 for number in numbers)])
        with foreword.Session.open(url, root=tmp_path, **OPENING) as session:  # type: ignore[arg-type]
            kept = session.history()
            assert len(kept) >= 4 * done
            assert len(kept) % 4 == 0
            whole = turns(done + 2)
            made = session.sync(whole)
            assert made.known + made.added == len(whole)
            # at most the answer that was written anew, and had not been yet
            assert made.taken_back <= 1
            texts = [message.text for message in session.history()]
            assert len(texts) == len(whole)
            assert texts[0::4] == texts[3::4] == ["ok"] * (done + 2)
            assert session.sync(whole).added == 0
        done += 2
