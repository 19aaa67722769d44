"""What of the evidence a context keeps, at equal tokens: ours beside what else runs offline.

    python -m benchmarks.evals ../shared/evals [--budgets 1000,2000] [--every N] [--only NAME]

The folder has development cases with their own `score.py`; data sets that a user has are looked for
in folders below it by name (`locomo`, `realtalk`, `longmemeval`, `qmsum`, `beam`). Each figure is
the mean over cases in per cent, with the interval of 95% from 1,000 draws of the cases.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.compaction import load_score, said
from benchmarks.evals.cases import Case, Maker, Score, Turn, evidence_kept, tokens
from benchmarks.evals.datasets import DATASETS
from benchmarks.evals.makers import makers

BUDGETS = "1000,2000,4000,8000"
DRAWS = 1_000
LITERAL_FILES = (
    "tau_bench_airline_gpt4o",
    "claude_code_sessions",
    "specstory_sessions",
    "claude_code_compactions",
)
SHARES = {"tau_bench_airline_gpt4o": 40}  # per cent of a case's own tokens, besides the budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Cases of one kind and how they are scored."""

    name: str
    cases: Sequence[Case]
    score: Score
    measure: str
    share: int = 0  # per cent of a case's tokens that is one more size


def jobs(folder: Path, every: int) -> Iterator[Job]:
    """Everything that can be asked with what the folder holds. The jobs of a code base, which need
    the sources of packages, are asked in `benchmarks.repository_tasks`."""
    score = load_score(folder)
    if (folder / "qmsum.jsonl.gz").exists():
        found = [_qmsum_case(case) for case in score.cases("qmsum")][::every]
        yield Job(name="qmsum", cases=found, score=evidence_kept, measure="evidence")
    for name in LITERAL_FILES:
        if (folder / f"{name}.jsonl.gz").exists():
            found = [_literal_case(case) for case in score.cases(name)][::every]
            yield Job(
                name=name,
                cases=found,
                score=_literal_score(score),
                measure="literals",
                share=SHARES.get(name, 0),
            )
    for name, read in DATASETS.items():
        if (folder / name).is_dir():
            found = list(read(folder / name))[::every]
            yield Job(name=f"{name} (yours)", cases=found, score=evidence_kept, measure="evidence")


def _qmsum_case(case: dict[str, Any]) -> Case:
    turns = [Turn(text=turn["text"], speaker=turn["speaker"]) for turn in case["messages"]]
    places = {turn["id"]: at for at, turn in enumerate(case["messages"])}
    evidence = frozenset(places[wanted] for wanted in case["must_keep"])
    return Case(turns=turns, question=case["query"], evidence=evidence)


def _literal_case(case: dict[str, Any]) -> Case:
    turns = [Turn(text=message["text"], role=message["role"]) for message in said(case)]
    return Case(turns=turns, question=case["query"], raw=case)


def _literal_score(score: ModuleType) -> Score:
    def literal(case: Case, text: str) -> float | None:
        found = score.score(case.raw, text)["literal"]
        return None if found is None else float(found)

    return literal


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean in per cent, and between which values it lies in 95 of 100 draws of the cases."""
    draw = random.Random(0)
    means: list[float] = []
    for _ in range(DRAWS):
        sample = draw.choices(values, k=len(values))
        means.append(sum(sample) / len(sample))
    means.sort()
    low, high = means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1]
    return 100 * sum(values) / len(values), 100 * low, 100 * high


def measure(job: Job, maker: Maker, sizes: Iterable[int], share: int) -> str:
    """One row: a cell for each size, and the seconds of CPU that a case takes."""
    cells: list[str] = []
    began = time.process_time()
    runs = 0
    for size in [*sizes, *([0] if share else [])]:
        values: list[float] = []
        for case in job.cases:
            room = size or share * sum(tokens(turn.text) for turn in case.turns) // 100
            text = maker(case, room)
            runs += 1
            if tokens(text) > room + 1:
                raise SystemExit(f"{job.name}: {tokens(text)} tokens in a room of {room}")
            value = job.score(case, text)
            if value is not None:
                values.append(value)
        mean, low, high = interval(values)
        cells.append(f"{mean:6.1f} ({low:4.1f}-{high:5.1f})")
    seconds = (time.process_time() - began) / max(1, runs)
    return "".join([f"{cell:>20}" for cell in cells]) + f"{seconds:9.3f}"


def main() -> None:
    """Print a table for each job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--budgets", default=BUDGETS, help="tokens, with commas between")
    parser.add_argument("--every", type=int, default=1, help="one case of so many")
    parser.add_argument("--only", default="", help="the jobs whose name begins so")
    options = parser.parse_args()
    sizes = [int(size) for size in options.budgets.split(",")]
    for job in jobs(options.folder, options.every):
        if not job.name.startswith(options.only) or not job.cases:
            continue
        heads = [f"{size:,} tokens" for size in sizes] + [f"{job.share}%"] * bool(job.share)
        print(f"\n{job.name}: {job.measure} kept, in per cent, of {len(job.cases)} cases")
        print(f"{'':24}" + "".join([f"{head:>20}" for head in heads]) + f"{'CPU s':>9}")
        for name, maker in makers().items():
            print(f"{name:24}{measure(job, maker, sizes, job.share)}", flush=True)


if __name__ == "__main__":
    main()
