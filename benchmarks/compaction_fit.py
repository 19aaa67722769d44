"""Fit the shares and weights of the built-in compressor to real sessions, in a bounded time.

    python -m benchmarks.compaction_fit ../shared/evals [--every N] [--minutes N] [--only NAME ...]

Each constant below is tried at a few values while the others are as they are, so a run is a known
number of measurements. Of each the value is chosen that scores best; then what was chosen is
measured together. The same is done four more times with a quarter of the sessions left out, which
are scored with what the rest chose: a value that only helps where it was chosen shows there.
Nothing is written: the values are copied by hand, with what was measured.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from zlib import crc32

from benchmarks.compaction import FILES, MEASURES, Case, compressed, load_score

ROOM = "foreword.session"
Value = float | tuple[float, ...]
# What is tried of each constant besides what it is: about a third to a half below and above it.
TRIED: Mapping[str, Sequence[Value]] = {
    "summary.draft.LINE_SHARES": ((0.5,), (0.35, 0.65), (0.3, 0.45, 0.6)),
    "summary.draft.BARE_NAME": (0.35, 0.65),
    "summary.line_choice.NAMED": (12.0, 30.0),
    "summary.ledger.FAINT": (0.006, 0.02),
    "summary.ledger.THRIFT": (30, 100),
    "summary.name_weights.HALF_LIFE": (7, 14),
    "summary.name_weights.FLOOR": (0.01, 0.04),
    "summary.name_weights.PART_SHARE": (0.15, 0.5),
    "summary.compress.ASKED_LINE": (15.0, 45.0),
    "summary.line_choice.OVERHEAD_TOKENS": (3, 9),
    "compaction.NEWEST_SHARE": (0.08, 0.18),
}
FOLDS = 4
EVERY = 2  # sessions: half of them give the same order of values in half the time
MINUTES = 13.0
MORE = (
    0.002  # a value is taken that is better by two tenths of a point at least; else what is stays
)

Setting = tuple[tuple[str, Value], ...]
Scores = Mapping[str, float]  # by measure, as far as the case has it
NOW: Setting = ()


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

    def measure(self, setting: Setting) -> None:
        """Work out what each sample scores under a setting."""
        if setting not in self.known:
            with constants(setting):
                self.known[setting] = [self._score(sample.case) for sample in self.samples]

    def _score(self, case: Case) -> Scores:
        size = self.score.size_for(case)
        found = self.score.score(case, compressed(case, size))
        return {name: value for name, value in found.items() if value is not None}

    def mean(self, setting: Setting, fold: int | None, *, left_out: bool = False) -> float:
        """The mean of the files' means, of the samples in a fold or of all others; each file and
        each measure counts alike."""
        by_file: dict[str, list[float]] = {}
        for sample, scores in zip(self.samples, self.known[setting], strict=True):
            if fold is None or (sample.fold == fold) == left_out:
                mean = sum(scores.values()) / len(scores)
                by_file.setdefault(sample.file, []).append(mean)
        means = [sum(values) / len(values) for values in by_file.values()]
        return sum(means) / len(means)

    def table(self, setting: Setting) -> str:
        """The measures of each file."""
        rows = list[str]()
        for file in FILES:
            found = list[Scores]()
            for sample, scores in zip(self.samples, self.known[setting], strict=True):
                if sample.file == file:
                    found.append(scores)
            cells = list[str]()
            for name in MEASURES:
                values = [scores[name] for scores in found if name in scores]
                cells.append(f"{100 * sum(values) / max(1, len(values)):6.1f}")
            rows.append(f"    {file:26}{''.join(cells)}")
        return "\n".join(rows)


@contextmanager
def constants(setting: Setting) -> Iterator[None]:
    """Have the constants these values for a while."""
    before = [(name, value_of(name)) for name, _ in setting]
    _assign(setting)
    try:
        yield
    finally:
        _assign(before)


def _assign(values: Sequence[tuple[str, Value]]) -> None:
    for name, value in values:
        module, attribute = _place(name)
        setattr(module, attribute, value)


def value_of(name: str) -> Value:
    """What a constant is now."""
    module, attribute = _place(name)
    value: Value = getattr(module, attribute)
    return value


def _place(name: str) -> tuple[ModuleType, str]:
    module, _, attribute = name.rpartition(".")
    return importlib.import_module(f"{ROOM}.{module}"), attribute


def choose(trial: Trial, names: Sequence[str], fold: int | None) -> Setting:
    """Of each constant the value that scores best without that fold, where it differs from now;
    the best of them alone where together they score less."""
    now = trial.mean(NOW, fold)
    gains = dict[tuple[str, Value], float]()
    for name in names:
        tried = [(name, value) for value in TRIED[name] if ((name, value),) in trial.known]
        best = max(tried, key=lambda each: trial.mean((each,), fold), default=None)
        if best is not None and trial.mean((best,), fold) > now + MORE:
            gains[best] = trial.mean((best,), fold)
    if not gains:
        return NOW
    together = tuple(gains)
    trial.measure(together)
    alone = (max(gains, key=gains.__getitem__),)
    is_better = trial.mean(together, fold) >= trial.mean(alone, fold)
    return together if is_better else alone


def read_samples(score: ModuleType, every: int) -> list[Sample]:
    """All compactions and one of so many sessions; the cases of one session are in one fold."""
    samples = list[Sample]()
    for file in FILES:
        step = 1 if file == FILES[0] else every
        for case in list(score.cases(file))[::step]:
            session = str(case["id"])[:8]
            samples.append(Sample(file, case, crc32(session.encode()) % FOLDS))
    return samples


def try_values(trial: Trial, names: Sequence[str], *, until: float) -> list[str]:
    """Measure every value of every constant by itself; the names for which there was no time."""
    trial.measure(NOW)
    late = list[str]()
    for name in names:
        if time.process_time() > until:
            late.append(name)
            continue
        for value in TRIED[name]:
            trial.measure(((name, value),))
    return late


def main() -> None:
    """Print what each value scores, what was chosen, on all and without each fold, and what that
    scores there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=EVERY, help="one session of so many")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of CPU, for trying values")
    parser.add_argument("--only", nargs="+", default=list(TRIED), choices=list(TRIED))
    options = parser.parse_args()
    score = load_score(options.folder)
    trial = Trial(score=score, samples=read_samples(score, options.every))
    until = time.process_time() + 60 * options.minutes
    late = try_values(trial, options.only, until=until)
    now = trial.mean(NOW, None)
    print(f"{len(trial.samples)} cases, mean of the three measures: {100 * now:.2f} now")
    for name in options.only:
        if name in late:
            print(f"  {name:36} no time left")
            continue
        cells = list[str]()
        for value in TRIED[name]:
            more = trial.mean(((name, value),), None) - now
            cells.append(f"{value} {100 * more:+.2f}")
        print(f"  {name:36} {value_of(name)}; " + ", ".join(cells))
    chosen = choose(trial, options.only, None)
    print(f"\nnow\n{trial.table(NOW)}")
    print(f"chosen on all: {_words(chosen)}: {100 * trial.mean(chosen, None):.2f}")
    print(trial.table(chosen))
    before = list[float]()
    after = list[float]()
    for fold in range(FOLDS):
        setting = choose(trial, options.only, fold)
        before.append(trial.mean(NOW, fold, left_out=True))
        after.append(trial.mean(setting, fold, left_out=True))
        print(f"without quarter {fold}: {_words(setting)}")
    print(
        f"on sessions that were left out: now {100 * sum(before) / FOLDS:.2f},"
        f" chosen without them {100 * sum(after) / FOLDS:.2f}"
    )


def _words(setting: Setting) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting) or "what is now"


if __name__ == "__main__":
    main()
