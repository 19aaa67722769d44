"""`python -m benchmarks.prefix_checks`: which calls of long conversations a provider would refuse.

Each conversation has 500 turns of two calls with thinking and a tool. The requests that `Session`
makes go through `foreword.testing.prefix_breaks`. Printed for each: calls with thinking whose
prefix changed (refused), the thinking blocks in a call on average, the mean share of a call with
which the call before began (reuse), the mean share of the budget that is used (fill), calls over
their budget (over), and cuts. Means are of the calls from the first cut on; where there is none, of
all.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

import foreword
from benchmarks.session_ours import change
from foreword.testing.prefix_checks import prefix_breaks, request_parts

CALLS = 1_000
QUICK_CALLS = 120
READ, WRITTEN = 0.1, 1.25  # of the price of input: reading from a cache, and writing to it
PROMPT = "You look after a kiln. " * 350  # 2,100 tokens: those of agents have 2,000 and more


@dataclass(slots=True)
class Conversation:
    """A session under way, and the history as a client holds it."""

    opened: Callable[[], foreword.Session]
    session: foreword.Session
    other: foreword.Session  # of another process
    said: list[dict[str, Any]] = field(default_factory=list)

    def append(self, message: dict[str, Any]) -> None:
        """Say something."""
        self.said.append(message)
        self.session.append(message)


Disturb = Callable[[Conversation, int], None]


def change_state(talk: Conversation, turn: int) -> None:
    """A variable changes every third turn, a new one comes every seventh."""
    if turn % 3 == 0:
        talk.session.set_variable("temperature", 1_000 + turn, reason="measured")
    if turn % 7 == 0:
        talk.session.set_variable(f"note_{turn % 40}", f"shelf {turn} is free", reason="seen")


def compress(talk: Conversation, turn: int) -> None:
    """The history is compressed every fortieth turn."""
    if turn % 40 == 39:
        talk.session.compress(to=4_000)


def undo(talk: Conversation, turn: int) -> None:
    """Each compression is taken back ten turns later."""
    compress(talk, turn)
    if turn % 40 == 9 and any(not made.undone for made in talk.session.compressions()):
        talk.session.undo()


def sync(talk: Conversation, turn: int) -> None:
    """The client gives its whole history at every turn, and has edited it at every fiftieth."""
    if turn % 50 == 49:
        del talk.said[-6:-4]
    talk.session.sync(talk.said)


def restart(talk: Conversation, turn: int) -> None:
    """A process ends, and another goes on."""
    talk.session.close()
    talk.session = talk.opened()


def take_turns(talk: Conversation, turn: int) -> None:
    """Two processes have the session open, and each makes every other turn."""
    talk.session, talk.other = talk.other, talk.session


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A conversation: its recipe, its budget, and what happens in it besides."""

    recipe: str
    budget: int
    also: tuple[Disturb, ...] = ()
    on: str = "sqlite"

    def __str__(self) -> str:
        return ", ".join(
            [f"{self.recipe} {self.budget:,}", *(each.__name__ for each in self.also), self.on]
        )


STATE = (change_state,)
SHAPES = (
    Shape(recipe="chat", budget=4_000),
    Shape(recipe="chat", budget=50_000),
    *(
        Shape(recipe=recipe, budget=budget, also=STATE)
        for recipe in ("workflow", "workflow-cached")
        for budget in (8_000, 200_000)
    ),
    Shape(recipe="workflow-cached", budget=8_000, also=(change_state, compress)),
    Shape(recipe="workflow-cached", budget=50_000, also=(change_state, undo)),
    Shape(recipe="workflow-cached", budget=8_000, also=(change_state, sync)),
    Shape(recipe="workflow-cached", budget=8_000, also=(change_state, restart)),
    Shape(recipe="workflow-cached", budget=8_000, also=(change_state, restart), on="postgresql"),
    Shape(recipe="workflow-cached", budget=8_000, also=(change_state, take_turns)),
    Shape(recipe="workflow-cached", budget=8_000, also=(change_state, take_turns), on="postgresql"),
)


@dataclass(slots=True)
class Figures:
    """What a conversation comes to."""

    calls: int = 0
    over: int = 0
    fills: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)  # that are reused
    blocks: int = 0  # of thinking that were sent
    cuts: int = 0
    before: list[str] = field(default_factory=list)

    def add(self, package: foreword.Package, request: Mapping[str, Any]) -> None:
        """Count a call."""
        report = package.report
        self.calls += 1
        self.over += report.total_tokens > report.budget_tokens
        if self.calls > 1 and not package.cached and not self.cuts:
            self.fills, self.shares = [], []
            self.cuts = 1
        self.fills.append(report.total_tokens / report.budget_tokens)
        parts = list(request_parts(request))
        self.blocks += sum(part.signature is not None for part in parts)
        written = [json.dumps([part.place, part.value]) for part in parts]
        same = 0
        for old, new in zip(self.before, written, strict=False):
            if old != new:
                break
            same += len(new)
        if self.before:
            self.shares.append(same / sum(map(len, written)))
        self.before = written


def requests(shape: Shape, talk: Conversation, turns: int, figures: Figures) -> Iterator[Any]:
    """Hold the conversation; gives the request of each call before its answer is appended."""

    def call() -> dict[str, Any]:
        package = talk.session.context()
        request = package.to_anthropic()
        figures.add(package, request)
        return request

    talk.session.append({"role": "system", "content": PROMPT})
    for turn in range(turns):
        for disturb in shape.also:
            disturb(talk, turn)
        question = f"Question {turn} about cones and glazes. " * 24
        talk.append({"role": "user", "content": question})
        yield call()
        use = {"type": "tool_use", "id": f"toolu_{turn}", "name": "look", "input": {"n": turn}}
        talk.append({"role": "assistant", "content": [thinking(turn, call=0), use]})
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{turn}",
            "content": f"result {turn} " * 60,
        }
        talk.append({"role": "user", "content": [result]})
        yield call()
        text = {"type": "text", "text": f"Answer {turn}. " * 8}
        talk.append({"role": "assistant", "content": [thinking(turn, call=1), text]})


def thinking(turn: int, *, call: int) -> dict[str, str]:
    """Return the thinking of an answer."""
    return {
        "type": "thinking",
        "thinking": f"I think about {turn}.",
        "signature": f"signature-{turn}-{call}",
    }


def measure(shape: Shape, calls: int) -> tuple[str, int]:
    """Return a row of the table, and the number of calls that would be refused or are too large."""
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/kiln.db"
        if shape.on == "postgresql":
            from tests.postgres import new_database

            url = new_database()

        def opened() -> foreword.Session:
            return foreword.Session.open(
                url,
                "kiln",
                root=folder,
                recipe=shape.recipe,
                budget=shape.budget,
                auto_compress=False,
            )

        talk = Conversation(opened, opened(), opened())
        sent = requests(shape, talk, calls // 2, figures)
        refused = sum(bool(found.thinking) for found in prefix_breaks(sent))
        figures.cuts = len(talk.session.cuts())
        talk.session.close()
        talk.other.close()
    row = (
        f"{shape!s:<66}{refused:>6} of {figures.calls:<6,}"
        f"{figures.blocks / figures.calls:>9.1f}{mean(figures.shares):>8.1%}"
        f"{mean(figures.fills):>7.1%}{figures.over:>6}{figures.cuts:>7,}"
    )
    return row, refused + figures.over


def change_often(talk: Conversation, turn: int) -> None:
    """A variable changes at every turn."""
    talk.session.set_variable("temperature", 1_000 + turn, reason="measured")


def change_much(talk: Conversation, turn: int) -> None:
    """The plan, two nodes and a variable change at every turn."""
    change(talk.session, turn)


def tokens_sent(recipe: str, disturb: Disturb) -> tuple[int, int]:
    """The tokens of all calls of a conversation without cuts for its size, and how many of them a
    cache could have."""
    shape = Shape(recipe=recipe, budget=200_000, also=(disturb,))
    with tempfile.TemporaryDirectory() as folder:

        def opened() -> foreword.Session:
            url = f"sqlite:///{folder}/kiln.db"
            return foreword.Session.open(
                url, "kiln", root=folder, recipe=recipe, budget=shape.budget, auto_compress=False
            )

        talk = Conversation(opened, opened(), opened())
        change(talk.session, 0)
        for _ in requests(shape, talk, QUICK_CALLS, Figures()):
            pass
        log = talk.session.usage(CALLS)["log"]
        talk.session.close()
        talk.other.close()
    return sum(call["total_tokens"] for call in log), sum(call["reused_tokens"] for call in log)


def print_tokens_sent() -> None:
    """What appending changes sends and costs, beside a state that is rebuilt in every call."""
    print("\nworkflow-cached beside workflow, at 200,000 tokens: tokens sent, and their price")
    for disturb in (change_state, change_often, change_much):
        rebuilt, from_cache = tokens_sent("workflow", disturb)
        sent, reused = tokens_sent("workflow-cached", disturb)
        price = (READ * reused + WRITTEN * (sent - reused)) / (
            READ * from_cache + WRITTEN * (rebuilt - from_cache)
        )
        about = str(disturb.__doc__).partition(".")[0]
        print(f"  {about:<60}{sent / rebuilt - 1:>+7.1%}{price:>7.0%}")


def main() -> int:
    """Print a row for each conversation; gives 1 where a call would be refused or is too large."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_CALLS} calls each")
    calls = QUICK_CALLS if parser.parse_args().quick else CALLS
    print(
        f"{'recipe, budget, what happens, store':<66}{'refused':>16}{'thinking':>9}{'reuse':>8}"
        f"{'fill':>7}{'over':>6}{'cuts':>7}"
    )
    failures = 0
    for shape in SHAPES:
        row, failed = measure(shape, calls)
        print(row, flush=True)
        failures += failed
    print_tokens_sent()
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
