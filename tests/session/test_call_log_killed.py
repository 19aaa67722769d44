"""A process that is killed between an append and its call, or after it: the next one goes on from
what was sent, and sends nothing that a provider would refuse."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pytest

import foreword
from foreword.testing import prefix_breaks
from foreword.testing.state_reader import state_in
from tests.store.databases import KINDS, new_url
from tests.warm_process import ForkedCommand

# in `make test` three, in `make soak` thirty
KILLS = 30 if "FOREWORD_SOAK" in os.environ else 3
OPENING = {"recipe": "workflow-cached", "budget": 4_000}
AGENT = f"""
import json
import sys
import foreword

with foreword.Session.open(sys.argv[1], root=sys.argv[2], **{OPENING!r}) as session:
    requests = open(sys.argv[3], "a")
    print("open", flush=True)
    for number in range(int(sys.argv[4]), 10_000):
        session.append({{"role": "user", "content": f"Question {{number}} about cones. " * 9}})
        session.set_variable("turn", number, "a new turn")
        body = session.context().to_anthropic()
        requests.write(json.dumps(body) + "\\n")
        requests.flush()
        thought = {{"type": "thinking", "thinking": "", "signature": f"s{{number}}"}}
        answer = {{"type": "text", "text": f"Answer {{number}}. " * 9}}
        session.append({{"role": "assistant", "content": [thought, answer]}})
        print(number, flush=True)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_after_every_kill_calls_go_on_from_what_was_sent(kind: str, tmp_path: Path) -> None:
    url = new_url(kind, tmp_path)
    sent = tmp_path / "sent.jsonl"
    chance = random.Random(1907)
    for start in range(0, 1_000 * KILLS, 1_000):
        arguments = [url, str(tmp_path), str(sent), str(start)]
        with ForkedCommand(arguments, program=AGENT) as agent:
            for _ in range(1 + chance.randrange(14)):
                agent.stdout.readline()
            time.sleep(chance.random() / 50)  # the kill comes some way into the next turn
            agent.kill()
            assert agent.stderr.read() == b""
    requests = [json.loads(line) for line in sent.read_text().splitlines()]
    assert not any(found.thinking for found in prefix_breaks(requests))
    (line,) = state_in(requests[-1])["workflow_variables"]
    assert line.startswith("- turn = ")
    with foreword.Session.open(url, root=tmp_path, **OPENING) as session:  # type: ignore[arg-type]
        assert session.usage(10_000)["calls"] >= len(requests)
        reasons = {cut["reason"] for cut in session.cuts()}
        assert reasons <= {"first call", "compressed", "no room"}
        breaks = [found for found in prefix_breaks(requests) if found.path]
        assert len(breaks) <= len(session.cuts())
