"""In how much detail each file is shown: whole, by regions, as an outline, or only by its path.

Pure: sizes come from the caller's measure. Most of the room goes to the regions that say most
about the task, some to outlines of more files, the rest to a list of paths, so that what was
ranked a little too low can still be found. That the whole fits is for the engine to see to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from foreword.repository.definitions import Definition
from foreword.repository.file_ranking import MOST_TESTS, RankedFile, is_test
from foreword.repository.regions import Region
from foreword.repository.views import outline_line, regions_text
from foreword.section import HANDLE_CHARS
from foreword.text.omission_mark import lines_mark, outline_mark

ReadLines = Callable[[RankedFile], Sequence[str]]
ReadDefinitions = Callable[[RankedFile], Sequence[Definition]]


# How the room is divided; the rest, up to a limit, is for paths.
REGIONS_SHARE = 0.62
OUTLINES_SHARE = 0.26
ONE_FILE_SHARE = 0.45  # of the room for regions, while others wait
MOST_PATHS_TOKENS = 1_500  # two hundred paths; beyond, nobody reads on
PATHS_SHARE = 0.12  # what the shares above leave: paths never take the room of a region
# Lines of definitions in an outline, the best first: a class of fifty methods says more by ten.
OUTLINE_LINES = 10
# Of a file: where so much of it is shown anyway, the rest costs less than its marks and questions.
NEARLY_WHOLE = 0.8
# Times that what is planned is written, counted and filled up: neighbours need no mark between
# them, which is known only when both are in.
_ROUNDS = 2
_NOTHING = 0.001  # the share of a region that says nothing: any below those that do
# How much more the file counts than the region: at 1 two issues fewer of 86 have all functions
# shown, at 3 as many.
_FILE_POWER = 2
_HANDLE = "x" * HANDLE_CHARS


@dataclass(slots=True, kw_only=True)
class FilePlan:
    """What is shown of one file, and what that takes."""

    ranked: RankedFile
    regions: list[Region] = field(default_factory=list)  # in the order of the lines
    outline: list[Definition] = field(default_factory=list)
    is_whole: bool = False
    tokens: int = 0

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.ranked.file.path


@dataclass(frozen=True, slots=True)
class DetailPlan:
    """What is shown: files in the order of their scores, the paths of tests to look at, and of
    others."""

    files: tuple[FilePlan, ...]
    tests: tuple[str, ...]
    paths: tuple[str, ...]


def header_of(path: str, lines: int) -> str:
    """The line above a file."""
    return f"=== {path} ({lines:,} lines)"


def plan_detail(
    ranked: Sequence[RankedFile],
    *,
    room: int,
    count: Callable[[str], int],
    lines_of: ReadLines,
    definitions_of: ReadDefinitions,
) -> DetailPlan:
    """What to show of the ranked files in so many tokens; `count` counts those of a text."""
    planner = _Planner(count, lines_of, definitions_of)
    best = _best_regions(ranked)
    paths_room = min(MOST_PATHS_TOKENS, int(PATHS_SHARE * room))
    regions_room = int(REGIONS_SHARE * room)
    planner.add_regions(best, end=regions_room, most=int(ONE_FILE_SHARE * regions_room))
    planner.add_outlines(ranked, end=planner.used + int(OUTLINES_SHARE * room))
    # what is left goes to the best that is not in yet, whatever file it is of
    for _ in range(_ROUNDS):
        planner.settle()
        planner.add_regions(best, end=room - paths_room, most=room)
    planner.settle()
    planner.complete(end=room - paths_room)
    plans = sorted(planner.plans.values(), key=lambda plan: -plan.ranked.score)
    # those that say most about the task, then those that are called like what is shown
    near = [one.file.path for one in ranked if is_test(one.file.path)]
    tests = dict.fromkeys(near[:MOST_TESTS])
    for plan in plans:
        tests |= dict.fromkeys(plan.ranked.tests)
    shown = {plan.path for plan in plans}
    beside = tuple([path for path in tests if path not in shown])
    others = [one for one in ranked if one.file.path not in shown | tests.keys()]
    left = room - planner.used - count("\n".join(beside))
    return DetailPlan(tuple(plans), beside, planner.paths(others, left))


class _Planner:
    """One plan under way."""

    def __init__(
        self, count: Callable[[str], int], lines_of: ReadLines, definitions_of: ReadDefinitions
    ) -> None:
        self.count = count
        self.lines_of = lines_of
        self.definitions_of = definitions_of
        self.plans: dict[int, FilePlan] = {}
        self.used = 0
        self._sizes: dict[tuple[int, int], int] = {}  # of regions that were counted
        self._gap = count(lines_mark(1_000, 2_000, inside="SomeClass") + "\n")

    def add_regions(
        self, best: Sequence[tuple[RankedFile, Region]], *, end: int, most: int
    ) -> None:
        """Take regions, the best first, as long as there is room; no file takes a second one beyond
        `most`."""
        least = 2 * self._gap
        for one, region in best:
            if end - self.used < least:
                return
            plan = self.plans.get(one.file.number)
            if plan is not None and (plan.outline or region in plan.regions):
                continue
            cost = self._size(one, region) + self._gap
            if plan is None:
                cost += self._framing(one)
            had = plan.tokens if plan is not None else 0
            if self.used + cost > end or (had and had + cost > most):
                continue
            plan = self.plans.setdefault(one.file.number, FilePlan(ranked=one))
            plan.regions.append(region)
            plan.regions.sort(key=lambda region: region.first)
            plan.tokens += cost
            self.used += cost

    def _size(self, one: RankedFile, region: Region) -> int:
        key = (one.file.number, region.first)
        if key not in self._sizes:
            lines = self.lines_of(one)[region.first - 1 : region.last]
            self._sizes[key] = self.count("".join(lines))
        return self._sizes[key]

    def _framing(self, one: RankedFile) -> int:
        """What a file takes besides its lines: a header, a blank line, a handle, a mark at the
        end."""
        header = header_of(one.file.path, one.file.lines)
        return self.count(f"{header}\n\n; whole: foreword recall {_HANDLE}") + self._gap

    def settle(self) -> None:
        """Count what is planned as it will be written."""
        for plan in self.plans.values():
            if plan.regions:
                lines = self.lines_of(plan.ranked)
                text = regions_text(lines, plan.regions, _HANDLE)
                plan.tokens = self.count(f"{header_of(plan.path, len(lines))}\n{text}\n\n")
        self.used = sum([plan.tokens for plan in self.plans.values()])

    def complete(self, *, end: int) -> None:
        """Show a file whole that is shown nearly whole, where there is room, and one whose outline
        is no shorter."""
        for plan in self.plans.values():
            shown = sum([region.last - region.first + 1 for region in plan.regions])
            if plan.regions and shown < NEARLY_WHOLE * plan.ranked.file.lines:
                continue
            more = self.count("".join(self.lines_of(plan.ranked))) + self._gap - plan.tokens
            if more <= 0 or (plan.regions and self.used + more <= end):
                plan.is_whole = True
                self.used += more

    def add_outlines(self, ranked: Sequence[RankedFile], *, end: int) -> None:
        """Outline the next files in their order."""
        for one in ranked:
            if one.file.number in self.plans or not one.regions:
                continue
            outline = self._outline(one)
            if not outline:
                continue
            lines = self.lines_of(one)
            text = "\n".join([outline_line(lines, each) for each in outline])
            cost = self.count(f"{text}\n{outline_mark('')}\n") + self._framing(one)
            if self.used + cost > end:
                return
            self.plans[one.file.number] = FilePlan(ranked=one, outline=outline, tokens=cost)
            self.used += cost

    def _outline(self, one: RankedFile) -> list[Definition]:
        """The definitions of a file that say most about the task, in the order of the lines."""
        scores: dict[str, float] = {}
        for region, score in one.regions:
            scores[region.name] = max(score, scores.get(region.name, 0.0))
        named = [each for each in self.definitions_of(one) if each.kind != "value"]
        best = sorted(named, key=lambda each: -scores.get(each.qualified_name, 0.0))
        return sorted(best[:OUTLINE_LINES], key=lambda each: each.first)

    def paths(self, others: Sequence[RankedFile], room: int) -> tuple[str, ...]:
        """As many paths as fit, the nearest first."""
        found: list[str] = []
        folders: set[str] = set()
        for one in others:
            folder, _, name = one.file.path.rpartition("/")
            room -= self.count(f" {name}" if folder in folders else f"\n{folder}/: {name}")
            if room < 0:
                break
            folders.add(folder)
            found.append(one.file.path)
        return tuple(found)


def _best_regions(ranked: Sequence[RankedFile]) -> list[tuple[RankedFile, Region]]:
    """The regions of all files, the best first."""
    highest = 0.0
    for one in ranked:
        highest = max([highest, *[score for _, score in one.regions]])
    found: list[tuple[float, int, int, RankedFile, Region]] = []
    for place, one in enumerate(ranked):
        for region, score in one.regions:
            # one that says nothing comes behind all that do, and in front of an empty room
            share = max(_NOTHING, (score / highest) ** 0.5 if highest else 0.0)
            value = one.score**_FILE_POWER * share
            found.append((-value, place, region.first, one, region))
    found.sort(key=lambda each: each[:3])
    return [(one, region) for *_, one, region in found]
