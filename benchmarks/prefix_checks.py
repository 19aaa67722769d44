"""`python -m benchmarks.prefix_checks`: which calls of long conversations a provider would refuse.

Each conversation has 60 turns of two calls with thinking and a tool. The requests that `Session`
makes go through `foreword.testing.prefix_breaks`. Printed for each: calls with thinking whose
prefix changed (refused), thinking blocks that a model could use of those that were sent, the mean
share of a call with which the call before began (reuse), and calls over their budget (over).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import foreword
from foreword.testing import prefix_breaks
from foreword.testing.prefix_checks import request_parts

TURNS = 60
COMPRESS_AT_TURN = 30
COMPRESS_TO_TOKENS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A conversation: its recipe and budget, and whether it has a state and is compressed."""

    recipe: str
    budget: int
    has_state: bool = False
    is_compressed: bool = False

    def __str__(self) -> str:
        extras = ["state"] * self.has_state + ["compressed once"] * self.is_compressed
        return ", ".join([f"{self.recipe} {self.budget:,}", *extras])


SHAPES = (
    Shape(recipe="chat", budget=4_000),
    Shape(recipe="chat", budget=200_000, has_state=True),
    Shape(recipe="chat", budget=200_000, is_compressed=True),
    Shape(recipe="workflow", budget=8_000, has_state=True),
    Shape(recipe="workflow-cached", budget=8_000, has_state=True),
    Shape(recipe="workflow-cached", budget=8_000, has_state=True, is_compressed=True),
    Shape(recipe="workflow-cached", budget=200_000, has_state=True),
    Shape(recipe="workflow-cached", budget=200_000, has_state=True, is_compressed=True),
)


def packages(shape: Shape, session: foreword.Session) -> Iterator[foreword.Package]:
    """Hold the conversation; gives the package of each call before its answer is appended."""
    session.append({"role": "system", "content": "You look after a kiln."})
    for turn in range(TURNS):
        if shape.is_compressed and turn == COMPRESS_AT_TURN:
            session.compress(to=COMPRESS_TO_TOKENS)
        if shape.has_state and turn % 3 == 0:
            session.set_variable("temperature", 1_000 + turn, reason="measured")
        if shape.has_state and turn % 7 == 0:
            session.set_variable(f"note_{turn}", f"shelf {turn} is free", reason="seen")
        question = f"Question {turn} about cones and glazes. " * 10
        session.append({"role": "user", "content": question})
        yield session.context()
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "look", "input": {"n": turn}}
        session.append({"role": "assistant", "content": [thinking(turn, call=0), call]})
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{turn}",
            "content": f"result {turn} " * 40,
        }
        session.append({"role": "user", "content": [result]})
        yield session.context()
        text = {"type": "text", "text": f"Answer {turn}. " * 30}
        session.append({"role": "assistant", "content": [thinking(turn, call=1), text]})


def thinking(turn: int, *, call: int) -> dict[str, str]:
    """Return the thinking of an answer."""
    return {
        "type": "thinking",
        "thinking": f"I think about {turn}.",
        "signature": f"signature-{turn}-{call}",
    }


def reuse(requests: Sequence[Mapping[str, Any]]) -> float:
    """Return the mean share of a request, in characters, that is the same as in the one before."""
    shares = list[float]()
    before = list[str]()
    for request in requests:
        parts = [json.dumps([part.place, part.value]) for part in request_parts(request)]
        same = 0
        for old, new in zip(before, parts, strict=False):
            if old != new:
                break
            same += len(new)
        shares.append(same / sum(map(len, parts)))
        before = parts
    return sum(shares[1:]) / len(shares[1:])


def measure(shape: Shape) -> tuple[str, int]:
    """Return a row of the table, and the number of calls that would be refused or are too large."""
    requests = list[Mapping[str, Any]]()
    over = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        foreword.Session.open(
            f"sqlite:///{folder}/kiln.db", "kiln", recipe=shape.recipe, budget=shape.budget
        ) as session,
    ):
        for package in packages(shape, session):
            over += package.report.total_tokens > package.report.budget_tokens
            requests.append(package.to_anthropic())
    unusable = [each.thinking for each in prefix_breaks(requests) if each.thinking]
    sent = 0
    for request in requests:
        sent += sum(part.signature is not None for part in request_parts(request))
    usable = sent - sum(map(len, unusable))
    refused = f"{len(unusable)} of {len(requests)}"
    row = f"{shape!s:<48}{refused:>12}{usable:>8,} of {sent:<8,}{reuse(requests):>7.1%}{over:>6}"
    return row, len(unusable) + over


def main() -> int:
    """Print a row for each conversation; gives 1 where a call would be refused or is too large."""
    print(f"{'recipe and budget':<48}{'refused':>12}{'thinking usable':>20}{'reuse':>7}{'over':>6}")
    failures = 0
    for shape in SHAPES:
        row, failed = measure(shape)
        print(row)
        failures += failed
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
