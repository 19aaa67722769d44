"""What the examples beside this file share: a model on loopback that calls a tool at every other
turn, the tool, and the figures at the end.

The examples are for reading and for running: `python docs/integrations/langchain_agent.py 400 8000`
talks for 400 turns within 8,000 tokens.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from foreword.session.session import Session
from foreword.testing import Reply, ToolCall
from foreword.testing.provider import FakeProvider
from foreword.testing.replies import count_request


def budget(usual: int = 2_000) -> int:
    """How many tokens a call may have: as the command line says, or as usual."""
    return int(sys.argv[2]) if len(sys.argv) > 2 else usual


BUDGET = budget()
WINDOW = 4 * BUDGET
SYSTEM = "You keep the log of a kiln. Answer briefly."
RESULTS = ("tool_result", "function_call_output", "functionResponse")


def question(turn: int) -> str:
    """What the user says at a turn."""
    return f"Turn {turn}: what was noted on day {turn}, and is anything out of the ordinary?"


def read_log(day: int) -> str:
    """Read the kiln's log of a day."""
    degrees = [900 + hour * day % 300 for hour in range(12)]
    return "\n".join(
        f"{hour:02}:00 the chamber has {each} degrees" for hour, each in enumerate(degrees)
    )


def reply(body: Mapping[str, Any]) -> Reply:
    """The model: it reads the log at every other turn, and then says something about it."""
    said = body.get("messages") or body.get("input") or body.get("contents") or [{}]
    last = json.dumps(said[-1])
    is_result = '"role": "tool"' in last or any(mark in last for mark in RESULTS)
    asked = re.search(r"Turn (\d+)", last)
    turn = int(asked[1]) if asked else 0
    if not is_result and turn % 2:
        return Reply("I look it up.", [ToolCall("read_log", {"day": turn})])
    return Reply("Nothing out of the ordinary was noted. " * 5)


def turns() -> int:
    """How many turns were asked for on the command line."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else 40


def finish(provider: FakeProvider, session: Session, allowed: int = BUDGET) -> None:
    """Say how it went; a third word on the command line is a file for the requests."""
    sizes = [count_request(dict(body)) for body in provider.requests]
    usage = session.usage(10_000)
    print(f"{len(sizes)} requests, the largest {max(sizes):,} tokens of a budget of {allowed:,}")
    print(f"history: {len(session.history()):,} messages, {usage['compressions']} compressions")
    print(f"prompt cache: {usage['reuse'] or 0:.0%} of each call could be reused")
    if len(sys.argv) > 3:
        report = {"requests": provider.requests, "sizes": sizes, "reuse": usage["reuse"]}
        Path(sys.argv[3]).write_text(json.dumps(report), "utf-8")


TOOLS: dict[str, Callable[..., str]] = {"read_log": read_log}
