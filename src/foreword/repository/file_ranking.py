"""How much each file, and each region of the best ones, has to do with a task.

Lexical and structural, no model: words by BM25, names that a file defines, paths and modules that
the task names, frames of stack traces, what is imported and what was changed together. The weights
were chosen on 86 issues of eleven projects, each project held out in turn
(`benchmarks/repository_tasks.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from foreword.pattern import lazy_pattern
from foreword.repository.code_terms import IN_FILE_NAME, IN_FOLDER
from foreword.repository.index import IndexedFile, RepositoryIndex
from foreword.repository.module_names import ModuleNames
from foreword.repository.regions import Region
from foreword.repository.task_words import Frame, TaskWords

# Files whose regions are ranked: what is known of one is read in half a millisecond.
REGION_FILES = 60
COMMON = 0.5  # of the files: a term in more of them tells none apart
_FEW = 3  # files that a term may be in whatever share of them that is: a project may have no more
MOST_TESTS = 3  # named beside one file
_K = 1.2  # of BM25: how soon more of the same counts little
_B = 0.75  # of BM25: how much a long file has to say more
_REGION_WORDS = 150  # of a region of average length, over all projects
_PHRASES_IN_REGIONS = 1.5  # of a word: an identifier of the task says more about a region
_NAMED_REGION = 8.0  # of a word's score: the region is what the task names
_FRAME_REGION = 15.0  # the same: the region is in the stack trace
_TESTED = 5  # files whose tests are named
# The nearest files that others are found by: what is far from the task imports what is far from it.
_WITH_IMPORTS = 10
_WITH_HISTORY = 5

# A package called `test` or `testing` inside another is a part of it, as Django's is.
_TEST = lazy_pattern(
    r"(?:^|/)(?:tests|specs?|__tests__|testdata|fixtures|src/test)/|^(?:test|testing)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_tests?|[^/]*[._]spec|[^/]*\.test|conftest)\.\w+$"
)
_SIDE = lazy_pattern(
    r"(?:^|/)(?:docs?|documentation|examples?|samples?|demos?|tutorials?|gallery|galleries"
    r"|benchmarks?|tools?|scripts?|bin|locale|release|build_tools|ci|\.github)/"
)
_TEST_AFFIXES = lazy_pattern(r"^test_|_tests?$|[._]spec$|\.test$")
_CODE = frozenset(
    "python c cpp csharp go java javascript php ruby rust tsx typescript code bash".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each sign counts, beside the words of the task (1).

    Of 86 issues, 71% have their file first with these, 91% among ten, 96% among forty; chosen
    without a project and tried on that one, 64%, 90% and 96%. At half or double of any of them at
    most two points fewer are first (five at half of `regions`) and one fewer among ten. Without
    `regions` 62% are first, without `defined` or `named_path` 67%.
    """

    words: float = 1.0
    path_words: float = 0.2  # words of the task in the path
    defined: float = 0.4  # its identifiers, defined in the file
    regions: float = 0.8  # the best region
    named_path: float = 1.0
    named_module: float = 0.3
    frame: float = 1.6
    imported: float = 0.3  # by one of the nearest files
    # A source distribution has no history, so this one is not tuned: enough to break ties.
    changed: float = 0.1
    tests: float = 0.15  # of its score that a test keeps
    wanted_tests: float = 0.5  # the same where the task asks for tests
    side: float = 0.4  # the same of a document, an example or a script
    other: float = 0.4  # the same of what is no code


WEIGHTS = Weights()


@dataclass(slots=True, kw_only=True)
class RankedFile:
    """A file, its score (the best has 1, one that the task says nothing about 0), its regions with
    theirs, and the files that test it."""

    file: IndexedFile
    score: float
    regions: list[tuple[Region, float]] = field(default_factory=list)
    tests: tuple[str, ...] = ()


Scores = dict[int, float]


def rank(index: RepositoryIndex, task: TaskWords, weights: Weights = WEIGHTS) -> list[RankedFile]:
    """Every file, the nearest to a task first."""
    return Ranking(index, task, weights).run()


class Ranking:
    """One task in one checkout: what each sign says about each file, by its number."""

    def __init__(self, index: RepositoryIndex, task: TaskWords, weights: Weights) -> None:
        self.index = index
        self.task = task
        self.weights = weights
        self.files = {file.number: file for file in index.files()}
        self.modules = ModuleNames(self.files)
        self.signs: dict[str, Scores] = {}
        self.rarity: dict[str, float] = {}  # of the terms that were looked for
        self.priors = {number: self._prior(file) for number, file in self.files.items()}
        words = sum([file.words for file in self.files.values()])
        average = max(1.0, words / max(1, len(self.files)))
        self.norms: Scores = {}
        for number, file in self.files.items():
            self.norms[number] = _K * (1 - _B + _B * file.words / average)

    def run(self) -> list[RankedFile]:
        self.signs = {
            "words": _scale(self._bm25(self.task.words)),
            "path_words": self._path_words(),
            "defined": self._definition_scores(),
            "named_path": self._named_paths(),
            "named_module": self._named_modules(),
            "frame": self._frames(),
        }
        for phrase in self.task.phrases:
            self.rarity[phrase] = self._rarity(len(self.index.counts(phrase)))
        nearest = self._nearest(self._totals())[:REGION_FILES]
        regions = {number: self._regions(number) for number in nearest}
        best: Scores = {}
        for number, found in regions.items():
            best[number] = max([score for _, score in found], default=0.0)
        self.signs["regions"] = _scale(best)
        totals = self._totals()
        self.signs["imported"] = self._import_scores(totals)
        self.signs["changed"] = self._changed_together(totals)
        totals = self._totals()
        highest = max(totals.values(), default=1.0)
        ranked = list[RankedFile]()
        for number in self._nearest(totals):
            score = totals[number] / highest
            found = regions.get(number, [])
            ranked.append(RankedFile(file=self.files[number], score=score, regions=found))
        ranked += self._unrelated_files(totals)
        self._add_tests(ranked[:_TESTED])
        return ranked

    def _unrelated_files(self, totals: Scores) -> list[RankedFile]:
        """The files that the task says nothing about, sources near the top first: what a small
        project has left is better shown than an empty room."""
        rest = [number for number in self.files if number not in totals]
        rest.sort(
            key=lambda number: (-self.priors[number], self.files[number].path.count("/"), number)
        )
        ranked = list[RankedFile]()
        for place, number in enumerate(rest, start=len(totals)):
            regions = self._regions(number) if place < REGION_FILES else []
            ranked.append(RankedFile(file=self.files[number], score=0.0, regions=regions))
        return ranked

    def _totals(self) -> Scores:
        totals: Scores = defaultdict(float)
        for sign, scores in self.signs.items():
            weight: float = getattr(self.weights, sign)
            for number, score in scores.items():
                totals[number] += weight * score
        for number in totals:
            totals[number] *= self.priors[number]
        return {number: score for number, score in totals.items() if score > 0}

    def _nearest(self, totals: Scores) -> list[int]:
        return sorted(totals, key=lambda number: (-totals[number], self.files[number].path))

    def _prior(self, file: IndexedFile) -> float:
        """What kind of file it is: a task is mostly about sources."""
        prior = 1.0
        if is_test(file.path):
            wanted = self.task.asks_for_tests
            prior = self.weights.wanted_tests if wanted else self.weights.tests
        elif _SIDE.search(file.path):
            prior = self.weights.side
        if file.language not in _CODE:
            prior *= self.weights.other
        return prior

    # --- words ------------------------------------------------------------------------------------

    def _bm25(self, wanted: Mapping[str, float]) -> Scores:
        totals: Scores = defaultdict(float)
        norms = self.norms
        for term, weight in wanted.items():
            rows = self.index.counts(term)
            rarity = self._rarity(len(rows))
            self.rarity[term] = rarity
            if len(rows) > max(_FEW, COMMON * len(norms)):
                continue
            value = weight * rarity * (_K + 1)
            for number, count in rows:
                totals[number] += value * count / (count + norms[number])
        return totals

    def _rarity(self, files: int) -> float:
        """How much a term says that so many files have."""
        return log(1 + (len(self.files) - files + 0.5) / (files + 0.5))

    def _path_words(self) -> Scores:
        """Words of the task in paths; those of the file's own name count double."""
        totals: Scores = defaultdict(float)
        for term, weight in self.task.words.items():
            found = [(number, 1.0) for number, _ in self.index.counts(IN_FILE_NAME + term)]
            found += [(number, 0.5) for number, _ in self.index.counts(IN_FOLDER + term)]
            for number, share in found:
                totals[number] += weight * share * log(1 + len(self.files) / len(found))
        return _scale(totals)

    # --- what the task names ----------------------------------------------------------------------

    def _definition_scores(self) -> Scores:
        """Files that define what the task names; a name that many define says little."""
        totals: Scores = defaultdict(float)
        for name, weight in self.task.names.items():
            spelled: dict[int, bool] = {}  # by file: whether it is spelled as in the task
            for found in self.index.definitions_by_name(name):
                if not is_test(self.files[found.file].path):
                    is_exact = found.definition.name == name
                    spelled[found.file] = is_exact or spelled.get(found.file, False)
            share = weight / (1 + log(max(1, len(spelled))) ** 2)
            for number, is_exact in spelled.items():
                totals[number] += share if is_exact else 0.5 * share
        return _scale(totals)

    def _named_paths(self) -> Scores:
        totals: Scores = defaultdict(float)
        for wanted in self.task.paths:
            for number, share in self.modules.files_at(wanted):
                totals[number] = max(totals[number], share)
        return totals

    def _named_modules(self) -> Scores:
        totals: Scores = defaultdict(float)
        for module in self.task.modules:
            found = self.modules.nearest(module)
            for number in found:
                totals[number] += 1.0 / len(found)
        return _scale(totals)

    def _frames(self) -> Scores:
        """Files in stack traces: the last frame is where it went wrong."""
        totals: Scores = defaultdict(float)
        for place, frame in enumerate(self.task.frames):
            depth = (place + 1) / len(self.task.frames)
            for number, share in self.modules.files_at(frame.path):
                totals[number] = max(totals[number], share * (0.4 + 0.6 * depth))
        return totals

    # --- neighbours -------------------------------------------------------------------------------

    def _import_scores(self, totals: Scores) -> Scores:
        """What the nearest files import."""
        highest = max(totals.values(), default=1.0)
        found: Scores = defaultdict(float)
        for number in self._nearest(totals)[:_WITH_IMPORTS]:
            share = totals[number] / highest
            path = self.files[number].path
            for module in self.index.imports_of(number):
                for other in self.modules.files_of_import(module, path):
                    if other != number:
                        found[other] = max(found[other], share)
        return found

    def _changed_together(self, totals: Scores) -> Scores:
        """What was changed in the same commits as the nearest files, at least twice."""
        by_path = {file.path: number for number, file in self.files.items()}
        found: Scores = defaultdict(float)
        for number in self._nearest(totals)[:_WITH_HISTORY]:
            commits, others = self.index.changed_with(self.files[number].path)
            for path, together in others.items():
                if path in by_path and together > 1:
                    other = by_path[path]
                    found[other] = max(found[other], together / commits)
        return found

    def _add_tests(self, ranked: Sequence[RankedFile]) -> None:
        """Name the tests beside the first files, by what they are called."""
        by_stem: dict[str, list[str]] = defaultdict(list)
        for file in self.files.values():
            stem = _stem(file.path)
            tested = _TEST_AFFIXES.sub("", stem)
            if tested != stem:
                by_stem[tested].append(file.path)
        for one in ranked:
            path = one.file.path
            names = set(path.split("/"))
            found = by_stem.get(_stem(path), []) if not is_test(path) else []
            # of several, those in the folders most like the file's own
            found.sort(key=lambda test: (-len(names & set(test.split("/"))), test))
            one.tests = tuple(found[:MOST_TESTS])

    # --- regions ----------------------------------------------------------------------------------

    def _regions(self, number: int) -> list[tuple[Region, float]]:
        """The regions of a file with their scores."""
        regions = self.index.regions(number)
        wanted_terms = self.task.words.keys() | self.task.phrases.keys()
        counts = self.index.region_counts(number, wanted_terms)
        norms = [_K * (1 - _B + _B * sized.words / _REGION_WORDS) for sized in regions]
        scores = [0.0] * len(regions)
        for wanted, boost in ((self.task.words, 1.0), (self.task.phrases, _PHRASES_IN_REGIONS)):
            for term, weight in wanted.items():
                places = counts.get(term)
                if not places:
                    continue
                value = boost * weight * self.rarity[term] * (_K + 1)
                for place, count in zip(places[::2], places[1::2], strict=True):
                    scores[place] += value * count / (count + norms[place])
        frames = self._frames_in(self.files[number].path)
        found: list[tuple[Region, float]] = []
        for sized, score in zip(regions, scores, strict=True):
            score += _NAMED_REGION * _named_weight(sized.region, self.task.names)
            score += _FRAME_REGION * _is_in_frames(sized.region, frames)
            found.append((sized.region, score))
        return found

    def _frames_in(self, path: str) -> list[Frame]:
        name = path.rpartition("/")[2]
        return [frame for frame in self.task.frames if frame.path.rpartition("/")[2] == name]


def is_test(path: str) -> bool:
    """Whether a file tests others."""
    return _TEST.search(path) is not None


def _named_weight(region: Region, names: Mapping[str, float]) -> float:
    """How surely the task names a region, or the class it is in."""
    owner, _, last = region.name.rpartition(".")
    return names.get(last, 0.0) + 0.3 * names.get(owner.rpartition(".")[2], 0.0)


def _is_in_frames(region: Region, frames: Iterable[Frame]) -> bool:
    for frame in frames:
        if frame.function and frame.function == region.name.rpartition(".")[2]:
            return True
        if not frame.function and region.first <= frame.line <= region.last:
            return True
    return False


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0]


def _scale(scores: Mapping[int, float]) -> Scores:
    """Scores of which the best is 1."""
    highest = max(scores.values(), default=0.0)
    if highest <= 0:
        return {}
    return {number: score / highest for number, score in scores.items()}
