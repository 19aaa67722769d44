"""What the benchmarks of sessions measure, each in one process: the pace of a turn, a run of many,
growth.

A turn takes in what was said since the last call of the model and makes the next. How the outcomes
are shown, and what is to be reached, is the business of `sessions`.
"""

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any

from benchmarks import chatter
from benchmarks.chatter import Said
from benchmarks.fit import exact_counter
from benchmarks.session_ours import Conversation
from benchmarks.session_peers import PEERS, WITH_OUR_COUNTER, Keeper
from benchmarks.session_shapes import Count
from benchmarks.session_store import compare_appends
from foreword.testing import prefix_breaks

BUDGET_TOKENS = 20_000
FRESH = ("current_plan", "workflow_snapshot", "workflow_variables", "browser_state")
SMALL, LARGE = 1_000, 100_000
MOST_TURNS, FEWEST_TURNS, LEAD_TURNS = 40, 3, 15
LONGEST_SECONDS = 8.0
TURNS, REUSE_SECONDS = 200, 30.0

OURS, OLD_ORDER, WITH_STATE = "foreword", "foreword (workflow)", "foreword, with a state"
NO_CHANGE, COMPRESSING, BUSY = (
    "foreword (workflow), no change",
    "foreword, compressing",
    "foreword, many calls",
)
FOREWORD: dict[str, dict[str, Any]] = {
    OURS: {"state": False},
    WITH_STATE: {},
    OLD_ORDER: {"recipe": "workflow"},
    NO_CHANGE: {"recipe": "workflow", "state": False},
    BUSY: {},
    COMPRESSING: {
        "auto_compress": True,
        "window": 25_000,
        "compress_at": 20_000,
        "compress_to": 10_000,
    },
}


@dataclass(frozen=True, slots=True)
class Pace:
    """What a turn costs at one size, or in `failed` why nobody knows; seconds."""

    first: float = 0.0  # the turn that finds the whole conversation
    later: float = 0.0  # the median of those that follow
    clock: float = 0.0  # the same by the clock
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """What many turns in a row came to."""

    turns: int = 0
    refused: int = 0  # calls with thinking whose prefix has changed, where it is sent back
    reuse: float = 0.0  # share of a call that begins as the call before began
    fill: float = 0.0
    over: int = 0
    broken: int = 0
    invalid: int = 0
    failed: str = ""

    @property
    def sound(self) -> bool:
        """Within the budget, no pair parted, and a user to begin with, at every turn."""
        return not (self.failed or self.over or self.broken or self.invalid)


@dataclass(frozen=True, slots=True)
class Lead:
    """How many times quicker a turn of Foreword is than one of trim_messages, both in one
    process and in turns."""

    times: float = 0.0
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Growth:
    """Foreword at 100,000 messages against itself at 1,000, and its store against plain SQLite."""

    turn: float = 0.0
    cold: float = 0.0
    appends: float = 0.0
    failed: str = ""


def start(name: str, said: list[Said], count: Count) -> Keeper:
    """A program that has taken in a conversation."""
    if name in FOREWORD:
        return Conversation(said, BUDGET_TOKENS, **FOREWORD[name])
    return (PEERS | WITH_OUR_COUNTER)[name](said, BUDGET_TOKENS - state_tokens(), count)


@cache
def state_tokens() -> int:
    """What Foreword's own parts take when there is no state: others have to send theirs, too,
    from the same budget."""
    said, turns = chatter.conversation(10, 1)
    keeper = Conversation(said, BUDGET_TOKENS, state=False)
    package = keeper.turn(keeper.prepare(turns[0]))
    keeper.close()
    return sum(row.tokens for row in package.report.sections if row.tag in FRESH)


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of one call: of the processor, and by the clock."""
    gc.disable()
    try:
        clock, cpu = time.perf_counter(), time.process_time()
        call()
        return time.process_time() - cpu, time.perf_counter() - clock
    finally:
        gc.enable()


def measure_pace(name: str, size: str) -> Pace:
    """The first turn at a size, and the median of the next ones."""
    count = exact_counter()
    warm_up(name, count)
    said, turns = chatter.conversation(int(size), MOST_TURNS)
    keeper = start(name, said, count)
    gc.collect()
    gc.freeze()
    times, began = list[tuple[float, float]](), time.perf_counter()
    for added in turns:
        messages = keeper.prepare(added)
        times.append(timed(partial(keeper.turn, messages)))
        if len(times) > FEWEST_TURNS and time.perf_counter() - began > LONGEST_SECONDS:
            break
    keeper.close()
    first, *later = times
    return Pace(
        first[0],
        statistics.median(cpu for cpu, _ in later),
        statistics.median(clock for _, clock in later),
    )


def warm_up(name: str, count: Count) -> None:
    """Imports, and whatever a program sets up once."""
    said, turns = chatter.conversation(60, 1)
    keeper = start(name, said, count)
    keeper.turn(keeper.prepare(turns[0]))
    keeper.close()


def measure_run(name: str) -> Run:
    """What is sent over many turns at the limit."""
    exact = exact_counter()
    count = lru_cache(maxsize=20_000)(exact)
    fan_outs = chatter.MANY_CALLS if name == BUSY else chatter.FAN_OUTS
    said, turns = chatter.conversation(SMALL, TURNS + 1, fan_outs)
    keeper = start(name, said, exact)
    began, before, broken, invalid = time.perf_counter(), list[Said](), 0, 0
    sizes, same = list[int](), list[tuple[int, int]]()
    calls, requests = list[list[Said]](), list[dict[str, Any]]()
    for added in turns:
        answer = keeper.turn(keeper.prepare(added))
        sent = keeper.sent(answer)
        # Foreword bills the text with its tags, which is a little more than the words of its
        # messages.
        words = sum(count(one.words) for one in sent)
        sizes.append(max(exact(answer.text), words) if name in FOREWORD else words + state_tokens())
        broken += chatter.broken_pairs(sent)
        invalid += not chatter.starts_with_user(sent)
        if before:
            same.append(chatter.reused(sent, before, count, fresh=keeper.fresh))
        before = sent
        calls.append(sent)
        if name in FOREWORD:
            requests.append(answer.to_anthropic())
        if time.perf_counter() - began > REUSE_SECONDS:
            break
    keeper.close()
    fill, over = statistics.mean(sizes) / BUDGET_TOKENS, max(0, max(sizes) - BUDGET_TOKENS)
    refused = chatter.refused_calls(calls)
    if name in FOREWORD:  # which sends thinking back only as long as it is valid
        refused = sum(bool(found.thinking) for found in prefix_breaks(requests))
    return Run(len(sizes), refused, share(same), fill, over, broken, invalid)


def share(pairs: Sequence[tuple[int, int]]) -> float:
    """The part of the whole, over all pairs of (part, whole)."""
    return sum(part for part, _ in pairs) / max(1, sum(whole for _, whole in pairs))


def measure_growth() -> Growth:
    """Foreword at two sizes, in turns; then its store and plain SQLite, in turns."""
    warm_up(OURS, exact_counter())
    talks = [chatter.conversation(size, MOST_TURNS) for size in (SMALL, LARGE)]
    keepers = [Conversation(said, BUDGET_TOKENS, state=False) for said, _ in talks]
    gc.collect()
    gc.freeze()
    cold = [[timed(partial(opened, one))[0] for one in keepers] for _ in range(9)]
    steps = list[list[float]]()
    for added in talks[0][1]:  # the same words for both, whatever the size
        steps.append([timed(partial(one.turn, one.prepare(added)))[0] for one in keepers])
    for keeper in keepers:
        keeper.close()
    ours, plain = compare_appends()
    return Growth(in_turns(steps[1:]), in_turns(cold), ours / plain)


def measure_lead() -> Lead:
    """Foreword and trim_messages at 100,000 messages, in turns."""
    count = exact_counter()
    said, turns = chatter.conversation(LARGE, LEAD_TURNS + 1)
    keepers = [start(OURS, said, count), start("trim_messages", said, count)]
    gc.collect()
    gc.freeze()
    steps = [
        [timed(partial(one.turn, one.prepare(added)))[0] for one in keepers] for added in turns
    ]
    for keeper in keepers:
        keeper.close()
    return Lead(in_turns(steps[1:]))


def opened(keeper: Conversation) -> None:
    """Open the store and make the first context."""
    with keeper.open() as session:
        session.context(save=False)


def in_turns(rows: list[list[float]]) -> float:
    """The larger median over the smaller one, of times taken in turns."""
    small, large = (statistics.median(column) for column in zip(*rows, strict=True))
    return float(large / small)


MEASURES: dict[str, Callable[..., Any]] = {
    "pace": measure_pace,
    "run": measure_run,
    "growth": measure_growth,
    "lead": measure_lead,
}
