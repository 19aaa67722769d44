"""Fit the shares and weights of the built-in compressor to real sessions.

    python -m benchmarks.compaction_fit ../shared/evals [--every N] [--only NAME ...]

Goes through the constants below one after another and tries a few values of each, the others as
they are by then; kept is what scores best. The same is done four more times with a quarter of the
sessions left out, which are scored with what the rest chose: a value that only helps where it was
chosen shows there. Nothing is written: the values are copied by hand, with what was measured.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from zlib import crc32

from benchmarks.compaction import FILES, Case, compressed, load_score

ROOM = "foreword.session"
# What is tried of each constant, about a third below and above what it was, and further where that
# helped.
TRIED: Mapping[str, Sequence[float]] = {
    "summary.draft.LINES": (0.36, 0.5, 0.6),
    "summary.line_choice.NAMED": (8.0, 20.0, 30.0),
    "summary.ledger.FAINT": (0.006, 0.012, 0.025),
    "compaction.NEWEST_SHARE": (0.08, 0.12, 0.2),
    "summary.ledger.THRIFT": (30, 60, 120),
    "summary.name_weights.HALF_LIFE": (7, 10, 15),
    "summary.name_weights.FLOOR": (0.01, 0.02, 0.04),
    "summary.name_weights.PART_SHARE": (0.15, 0.3, 0.5),
    "summary.compress.ASKED_LINE": (6.0, 12.0, 20.0),
    "summary.line_choice.OVERHEAD_TOKENS": (2, 5, 10),
    "history_plan.FRONT_SHARE": (0.15, 0.25),
}
FOLDS = 4
MORE = 0.001  # a value is taken that is better by a tenth of a point at least; else what is stays

Setting = tuple[tuple[str, float], ...]
Scores = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A case, the file it is from, and the fold in which it is left out."""

    file: str
    case: Case
    fold: int


@dataclass(slots=True, kw_only=True)
class Trial:
    """Scores of settings, each worked out once."""

    score: ModuleType
    samples: Sequence[Sample]
    known: dict[Setting, list[Scores]] = field(default_factory=dict)

    def scores(self, setting: Setting) -> list[Scores]:
        """What each sample scores under a setting: literal, whole line and loose, as far as the
        case has them."""
        if setting not in self.known:
            with constants(setting):
                self.known[setting] = [self._score(sample.case) for sample in self.samples]
        return self.known[setting]

    def _score(self, case: Case) -> Scores:
        size = self.score.size_for(case)
        found = self.score.score(case, compressed(case, size))
        return tuple(value for value in found.values() if value is not None)

    def mean(self, setting: Setting, fold: int | None, *, left_out: bool = False) -> float:
        """The mean of the files' means, of the samples in a fold or of all others; each file
        counts alike."""
        by_file: dict[str, list[float]] = {}
        for sample, values in zip(self.samples, self.scores(setting), strict=True):
            if fold is None or (sample.fold == fold) == left_out:
                by_file.setdefault(sample.file, []).append(sum(values) / len(values))
        means = [sum(values) / len(values) for values in by_file.values()]
        return sum(means) / len(means)


@contextmanager
def constants(setting: Setting) -> Iterator[None]:
    """Have the constants these values for a while."""
    before = [(name, value_of(name)) for name, _ in setting]
    _assign(setting)
    try:
        yield
    finally:
        _assign(before)


def _assign(values: Sequence[tuple[str, float]]) -> None:
    for name, value in values:
        module, attribute = _place(name)
        setattr(module, attribute, value)


def value_of(name: str) -> float:
    """What a constant is now."""
    module, attribute = _place(name)
    return float(getattr(module, attribute))


def _place(name: str) -> tuple[ModuleType, str]:
    module, _, attribute = name.rpartition(".")
    return importlib.import_module(f"{ROOM}.{module}"), attribute


def fit(trial: Trial, names: Sequence[str], fold: int | None) -> Setting:
    """The values that score best without that fold, found one constant after another."""
    best = {name: value_of(name) for name in names}
    best_mean = trial.mean(tuple(best.items()), fold)
    for name in names:
        for value in TRIED[name]:
            tried = {**best, name: value}
            mean = trial.mean(tuple(tried.items()), fold)
            if mean > best_mean + MORE:
                best, best_mean = tried, mean
    return tuple(best.items())


def read_samples(score: ModuleType, every: int) -> list[Sample]:
    """All compactions and one of so many sessions; the cases of one session are in one fold."""
    samples = list[Sample]()
    for file in FILES:
        step = 1 if file == FILES[0] else every
        for case in list(score.cases(file))[::step]:
            session = str(case["id"])[:8]
            samples.append(Sample(file, case, crc32(session.encode()) % FOLDS))
    return samples


def main() -> None:
    """Print what was chosen, on all and without each fold, and what it scores there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="one session of so many")
    parser.add_argument("--only", nargs="+", default=list(TRIED), choices=list(TRIED))
    options = parser.parse_args()
    score = load_score(options.folder)
    trial = Trial(score=score, samples=read_samples(score, options.every))
    now = tuple((name, value_of(name)) for name in options.only)
    chosen = fit(trial, options.only, None)
    folds = [fit(trial, options.only, fold) for fold in range(FOLDS)]
    print(f"{'':38}{'now':>8}{'all':>8}" + "".join(f"{f'-{fold}':>8}" for fold in range(FOLDS)))
    for place, (name, value) in enumerate(now):
        values = [value, chosen[place][1], *(each[place][1] for each in folds)]
        print(f"{name:38}" + "".join(f"{each:8g}" for each in values))
    print(f"\n{len(trial.samples)} cases, mean of the three measures:")
    print(f"  now {100 * trial.mean(now, None):.1f}, chosen {100 * trial.mean(chosen, None):.1f}")
    held_out = list[float]()
    held_out_now = list[float]()
    for fold, setting in enumerate(folds):
        held_out.append(trial.mean(setting, fold, left_out=True))
        held_out_now.append(trial.mean(now, fold, left_out=True))
    print(
        f"  on sessions that were left out: now {100 * sum(held_out_now) / FOLDS:.1f},"
        f" chosen without them {100 * sum(held_out) / FOLDS:.1f}"
    )


if __name__ == "__main__":
    main()
