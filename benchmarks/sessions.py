"""Keep a growing conversation inside a budget with Foreword and its peers, side by side.

    python -m benchmarks.sessions [--quick]

Every program runs in a process of its own, so that a slow one can be stopped. It is given a
conversation, then goes on with it turn by turn: a turn takes in what was said since the last call
of the model and makes the next. Times are medians of CPU time without garbage collection, as in
`benchmarks.fit`; the clock's, with the waiting for the disk, stand next to them. Tokens are counted
exactly in o200k, without the framing a provider adds.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.session_measures import (
    BUDGET_TOKENS,
    BUSY,
    COMPRESSING,
    MEASURES,
    NO_CHANGE,
    OLD_ORDER,
    OURS,
    SMALL,
    TURNS,
    WITH_STATE,
    Growth,
    Lead,
    Pace,
    Run,
)
from benchmarks.session_peers import NOT_DRIVEN, PEERS, WITH_OUR_COUNTER

SIZES = (100, 1_000, 10_000, 100_000)
QUICK_SIZES = (100, 1_000)
TIME_CAP_SECONDS = 60.0

OTHERS = [*PEERS, *WITH_OUR_COUNTER]
TIMED = [OURS, WITH_STATE, OLD_ORDER, *OTHERS]
OURS_FOLLOWED = [OURS, WITH_STATE, BUSY, OLD_ORDER, NO_CHANGE, COMPRESSING]
FOLLOWED = [*OURS_FOLLOWED, *OTHERS]
LARGEST = dict.fromkeys(WITH_OUR_COUNTER, 1_000)


def in_own_process(*arguments: str) -> dict[str, Any]:
    """Run this module with `arguments`, for at most the time cap; the answer is its last line."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.sessions", "--measure", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_CAP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {TIME_CAP_SECONDS:.0f} s, with the time to load the conversation"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"failed": f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"}
    return answer


def answer_parent(what: str, *arguments: str) -> None:
    """Measure in this process and print the outcome as one line of JSON."""
    try:
        answer = asdict(MEASURES[what](*arguments))
    except ImportError as error:
        answer = {"failed": f"unavailable: {error}"}
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is its result
        answer = {"failed": f"failed: {type(error).__name__}: {str(error)[:100]!r}"}
    print(f"\n{json.dumps(answer)}")


# --- tables ---------------------------------------------------------------------------------------


def print_paces(sizes: Sequence[int]) -> None:
    """Time every program at every size; one that was too slow is not asked again."""
    too_slow = dict[str, int]()
    for size in sizes:
        print(f"\nOne turn at {size:,} messages, into {BUDGET_TOKENS:,}")
        print(
            f"  {'':32}{'first turn':>13}{'next turns':>13}{'ratio':>9}{'by the clock':>15}",
            flush=True,
        )
        ours = Pace()
        for name in TIMED:
            pace = pace_of(name, size, too_slow)
            ours = pace if name == OURS else ours
            print(f"  {name:32}{describe_pace(pace, ours)}", flush=True)


def pace_of(name: str, size: int, too_slow: dict[str, int]) -> Pace:
    """Time a program, unless it is known that it would take too long."""
    if size > LARGEST.get(name, size):
        return Pace(failed="not run: it counts everything several times over")
    if name in too_slow:
        return Pace(failed=f"not run: {too_slow[name]:,} took too long")
    pace = Pace(**in_own_process("pace", name, str(size)))
    if pace.failed.startswith("over"):
        too_slow[name] = size
    return pace


def describe_pace(pace: Pace, ours: Pace) -> str:
    """The row of a table, after the name."""
    if pace.failed:
        return f"  {pace.failed}"
    first, later, clock = (
        f"{seconds * 1000:,.3f} ms" for seconds in (pace.first, pace.later, pace.clock)
    )
    ratio = f"{pace.later / ours.later:,.3f}" if ours.later else ""
    return f"{first:>13}{later:>13}{ratio:>9}{clock:>15}"


def print_runs() -> dict[str, Run]:
    """Follow every program over many turns."""
    print(f"\n{TURNS} turns from {SMALL:,} messages on, into {BUDGET_TOKENS:,}")
    print(
        f"  {'':32}{'turns':>7}{'refused':>9}{'reuse':>9}{'fill':>9}{'over':>8}{'broken':>8}"
        f"{'invalid':>9}",
        flush=True,
    )
    runs = {}
    for name in FOLLOWED:
        run = runs[name] = Run(**in_own_process("run", name))
        row = (
            f"{run.turns:>7}{run.refused:>9}{run.reuse:>9.1%}{run.fill:>9.1%}{run.over:>8,}{run.broken:>8,}{run.invalid:>9,}"
            if not run.failed
            else f"  {run.failed}"
        )
        print(f"  {name:32}{row}", flush=True)
    for name, why in NOT_DRIVEN.items():
        print(f"  {name:32}  not run: {why}")
    return runs


# --- goals ----------------------------------------------------------------------------------------


def print_goals(runs: dict[str, Run], *, quick: bool) -> None:
    """What Foreword sets out to reach, and what it reached in this run."""
    print("\nForeword's goals")
    ours, state = [runs[name] for name in OURS_FOLLOWED], runs[WITH_STATE]
    failed = [run.failed for run in ours if run.failed]
    print_goal("pairs broken", sum(run.broken for run in ours), "at most", 0)
    print_goal("overrun, tokens", max(run.over for run in ours), "at most", 0)
    print_goal(
        "turns that do not begin with a user", sum(run.invalid for run in ours), "at most", 0
    )
    print_reuse(runs)
    print_goal("calls refused", sum(run.refused for run in ours), "at most", 0)
    print_goal("budget used on average, %", 100 * state.fill, "at least", 80)
    for why in failed:
        print(f"  {why}")
    if not quick:
        print_growth()


def print_reuse(runs: dict[str, Run]) -> None:
    """Foreword's reuse next to the best of the programs that are within the budget at every turn.

    A program that is given an exact counter and told to keep what Foreword keeps at a cut reuses as
    much as Foreword, give or take where the cuts happen to fall: it is named, and is no goal.
    """
    sound = {name: runs[name].reuse for name in OTHERS if runs[name].sound}
    best = max((name for name in PEERS if name in sound), key=sound.__getitem__, default="")
    print_goal(
        f"reuse, % ({best or 'no peer'})",
        100 * runs[OURS].reuse,
        "more than",
        100 * sound.get(best, 0),
    )
    for name in (name for name in WITH_OUR_COUNTER if name in sound):
        print(
            f"  {name:52}{100 * sound[name]:>9.2f}   at {runs[name].fill:.1%} of the budget, for"
            " comparison"
        )


def print_growth() -> None:
    """The goals that need 100,000 messages."""
    lead, growth = Lead(**in_own_process("lead")), Growth(**in_own_process("growth"))
    for problem in (part.failed for part in (lead, growth) if part.failed):
        print(f"  {problem}")
    print_goal("times faster than trim_messages at 100,000", lead.times, "at least", 100)
    print_goal("turn from 1,000 to 100,000: times", growth.turn, "at most", 3)
    print_goal("opened cold, from 1,000 to 100,000: times", growth.cold, "at most", 3)
    print_goal("appends / plain sqlite3, same durability", growth.appends, "at least", 0.67)


def print_goal(name: str, value: float, relation: str, goal: float) -> None:
    """One line: what was measured, what was to be reached, and whether it was."""
    reached = {"at most": value <= goal, "at least": value >= goal, "more than": value > goal}[
        relation
    ]
    print(f"  {name:52}{value:>9.2f}   {relation} {goal:.4g}: {'reached' if reached else 'missed'}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Compare Foreword's sessions with other programs that keep histories."
    )
    parser.add_argument("--quick", action="store_true", help="small sizes only, in two minutes")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        answer_parent(*options.measure)
        return
    print(
        "Time is CPU time; ratio is to Foreword, which alone keeps every message on disk before it"
        " goes on."
    )
    print_paces(QUICK_SIZES if options.quick else SIZES)
    print_goals(print_runs(), quick=options.quick)


if __name__ == "__main__":
    main()
