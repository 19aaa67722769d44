"""Fit the same material with Foreword and its peers, side by side: what it cost, what was sent,
what was lost.

    python -m benchmarks.fit [--quick]

Every fitter runs in a process of its own, so that a slow one can be stopped, and takes turns there
with the greedy pass, so that both see the same machine. Times are medians of CPU time without
garbage collection, as a ratio to the greedy pass. Messages are counted without the framing a
provider adds.
"""

import argparse
import gc
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import splintr

from benchmarks import material
from benchmarks.material import Section
from benchmarks.peers import PEERS, Count, Sent, greedy

BUDGET_TOKENS = 20_000
TIME_CAP_SECONDS = 60.0
FEWEST_ROUNDS = 7
SHORTEST_SECONDS = 0.3
LONGEST_SECONDS = 5.0
WINDOW_CHARS = 32

FEW = "100 sections of about 200 tokens"
ONE_LARGE = "one section of 50,000 tokens above 200 of about 100"

CASES: dict[str, Callable[[], list[Section]]] = {
    FEW: lambda: material.prose(100),
    "1,000 sections of about 200 tokens": lambda: material.prose(1_000),
    "10,000 sections of about 200 tokens": lambda: material.prose(10_000),
    ONE_LARGE: material.one_large,
    "1,000 sections of the same priority": lambda: material.ties(1_000),
    "300 sections of JSON": lambda: material.dense_json(300),
    "300 sections of hex": lambda: material.dense_hex(300),
    "300 sections of CJK": lambda: material.dense_cjk(300),
}
QUICK_CASES = [
    "1,000 sections of about 200 tokens",
    ONE_LARGE,
    "1,000 sections of the same priority",
]
FITTERS = ["greedy", "foreword", "foreword (warm)", *PEERS]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one fitter did with one case, or in `failed` why it did nothing."""

    seconds: float = 0.0
    greedy_seconds: float = 0.0
    tokens: int = 0
    whole: int = 0
    part: int = 0
    gone: int = 0
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Growth:
    """Foreword against itself and the greedy pass, all in one process; seconds."""

    greedy_large: float = 0.0
    cold_small: float = 0.0
    cold_large: float = 0.0
    warm_large: float = 0.0
    failed: str = ""


def exact_counter() -> Count:
    """o200k, exact, the one counter for everybody."""
    encode = splintr.Tokenizer.from_pretrained("o200k_base").encode_ordinary
    return lambda text: len(encode(text))


def start(fitter: str, sections: list[Section], count: Count) -> Callable[[], Sent]:
    """A call to time: everything a fitter may keep between two calls is set up here."""
    if fitter == "greedy":
        return lambda: greedy(sections, BUDGET_TOKENS, count)
    if fitter == "foreword":
        from benchmarks.ours import cold

        return lambda: cold(sections, BUDGET_TOKENS)
    if fitter == "foreword (warm)":
        from benchmarks.ours import prepare

        return prepare(sections, BUDGET_TOKENS)
    return lambda: PEERS[fitter](sections, BUDGET_TOKENS, count)


def timed(call: Callable[[], Sent]) -> tuple[float, Sent]:
    """CPU seconds of one call, and what it sent."""
    gc.collect()
    gc.disable()
    try:
        begin = time.process_time()
        sent = call()
        return time.process_time() - begin, sent
    finally:
        gc.enable()


def in_turns(*calls: Callable[[], Sent]) -> list[float]:
    """The median seconds of each call, run in turns: quick ones more often, slow ones perhaps
    only once."""
    rounds: list[list[float]] = []
    spent = 0.0
    while (len(rounds) < FEWEST_ROUNDS or spent < SHORTEST_SECONDS) and spent < LONGEST_SECONDS:
        rounds.append([timed(call)[0] for call in calls])
        spent += sum(rounds[-1])
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def measure(fitter: str, case: str) -> Outcome:
    """Run one fitter on one case, taking turns with the greedy pass."""
    count = exact_counter()
    start(fitter, material.prose(200, seed=99), count)()  # imports, caches of the tokenizer
    sections = CASES[case]()
    call = start(fitter, sections, count)
    greedy_seconds, seconds = in_turns(start("greedy", sections, count), call)
    sent = call()
    texts = [sent] if isinstance(sent, str) else sent
    whole, part, gone = losses(sections, "\n".join(texts))
    return Outcome(seconds, greedy_seconds, sum(map(count, texts)), whole, part, gone)


def measure_growth() -> Growth:
    """Foreword cold and warm, at 1,000 and 10,000 sections, next to the greedy pass."""
    count = exact_counter()
    start("foreword", material.prose(200, seed=99), count)()
    small, large = material.prose(1_000), material.prose(10_000)
    calls = [
        ("greedy", large),
        ("foreword", small),
        ("foreword", large),
        ("foreword (warm)", large),
    ]
    medians = in_turns(*(start(fitter, sections, count) for fitter, sections in calls))
    greedy_large, cold_small, cold_large, warm_large = medians
    return Growth(greedy_large, cold_small, cold_large, warm_large)


def losses(sections: list[Section], sent: str) -> tuple[int, int, int]:
    """How many sections were sent whole, in part, and not at all."""
    windows = {sent[i : i + WINDOW_CHARS] for i in range(len(sent) - WINDOW_CHARS + 1)}
    whole = part = 0
    for _, text, _ in sections:
        if any(piece in windows for piece in pieces(text.strip())):
            if text.strip() in sent:
                whole += 1
            else:
                part += 1
    return whole, part, len(sections) - whole - part


def pieces(text: str) -> Iterator[str]:
    """The end, and the start of every sentence or line: what may be left of a text that was cut."""
    yield text[-WINDOW_CHARS:]
    for match in re.finditer(r"(?:^|(?<=[.。,])\s*|\n)(?=\S)", text):
        # one shorter than the window matches nothing
        yield text[match.end() : match.end() + WINDOW_CHARS]


def in_own_process(*arguments: str) -> dict[str, Any]:
    """Run this module with `arguments`, for at most the time cap; the answer is its last line."""
    command = [sys.executable, "-m", "benchmarks.fit", "--measure", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_CAP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"over {TIME_CAP_SECONDS:.0f} s"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"failed": f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"}
    return answer


def answer_parent(arguments: list[str]) -> None:
    """Measure in this process and print the outcome as one line of JSON."""
    try:
        answer = asdict(measure(*arguments) if arguments else measure_growth())
    except ImportError as error:
        answer = {"failed": f"unavailable: {error}"}
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is its result
        answer = {"failed": f"failed: {type(error).__name__}: {error}"}
    print(f"\n{json.dumps(answer)}")


def print_case(case: str) -> dict[str, Outcome]:
    """Measure every fitter on a case and print the table as it comes in."""
    print(f"\n{case}, into {BUDGET_TOKENS:,}")
    print(
        f"  {'':24}{'time':>10}{'ratio':>9}{'fill':>9}"
        f"{'over':>7}{'whole':>8}{'part':>7}{'gone':>8}",
        flush=True,
    )
    outcomes = {}
    for fitter in FITTERS:
        outcome = Outcome(**in_own_process(fitter, case))
        outcomes[fitter] = outcome
        print(f"  {fitter:24}{describe(outcome)}", flush=True)
    return outcomes


def describe(outcome: Outcome) -> str:
    """The row of a table, after the fitter's name."""
    if outcome.failed:
        return f"  {outcome.failed}"
    milliseconds = f"{outcome.seconds * 1000:,.1f} ms"
    over = max(0, outcome.tokens - BUDGET_TOKENS)
    ratio = outcome.seconds / outcome.greedy_seconds
    fill = outcome.tokens / BUDGET_TOKENS
    return (
        f"{milliseconds:>10}{ratio:>9.2f}{fill:>9.1%}"
        f"{over:>7,}{outcome.whole:>8,}{outcome.part:>7,}{outcome.gone:>8,}"
    )


def print_goals(tables: dict[str, dict[str, Outcome]], *, quick: bool) -> None:
    """What Foreword sets out to reach, and what it reached in this run."""
    ours: list[Outcome] = []
    for table in tables.values():
        outcomes = (table["foreword"], table["foreword (warm)"])
        ours += [outcome for outcome in outcomes if not outcome.failed]
    print("\nForeword's goals")
    if ours:
        print_goal(
            "overrun, tokens", max(max(0, o.tokens - BUDGET_TOKENS) for o in ours), "at most", 0
        )
        print_goal(
            "lowest fill, %", min(100 * o.tokens / BUDGET_TOKENS for o in ours), "at least", 97
        )
    for case, goal in ((FEW, 1.5), (ONE_LARGE, 5)):
        cold = tables[case]["foreword"] if case in tables else None
        if cold is not None and not cold.failed:
            name = f"{case.partition(' of ')[0]} / greedy pass"
            print_goal(name, cold.seconds / cold.greedy_seconds, "at most", goal)
    if quick:
        return
    growth = Growth(**in_own_process())
    if growth.failed:
        print(f"  {growth.failed}")
        return
    print_goal(
        "cold / greedy pass at 10,000", growth.cold_large / growth.greedy_large, "at most", 0.3
    )
    print_goal(
        "warm, one section changed: times faster",
        growth.cold_large / growth.warm_large,
        "at least",
        4,
    )
    print_goal(
        "time from 1,000 to 10,000: times", growth.cold_large / growth.cold_small, "at most", 12
    )


def print_goal(name: str, value: float, relation: str, goal: float) -> None:
    """One line: what was measured, what was to be reached, and whether it was."""
    reached = value <= goal if relation == "at most" else value >= goal
    print(f"  {name:44}{value:>9.2f}   {relation} {goal:g}: {'reached' if reached else 'missed'}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Compare Foreword with other programs that fit prompts into budgets."
    )
    parser.add_argument(
        "--quick", action="store_true", help="three cases instead of all, in half a minute"
    )
    parser.add_argument("--measure", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        answer_parent(options.measure)
        return
    print(
        "Time is CPU time, ratio is to one greedy pass that tokenises everything once, all counted"
        " exactly in o200k."
    )
    tables = {case: print_case(case) for case in (QUICK_CASES if options.quick else CASES)}
    print_goals(tables, quick=options.quick)


if __name__ == "__main__":
    main()
