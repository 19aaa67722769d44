"""Sections of a code base: the files and regions that a task is about, and paths of the next ones.

Which files those are is decided in `repository`, in how much detail each is shown by the budget;
here they become sections, each with the smaller forms it may take. That they fit is the engine's
business.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from foreword.context.inputs import Inputs, ReadingResult
from foreword.recipe.selection import Selection
from foreword.repository.definitions import Definition
from foreword.repository.detail import DetailPlan, FilePlan, header_of, plan_detail
from foreword.repository.file_ranking import RankedFile, rank
from foreword.repository.index import RepositoryIndex, SourceText, open_index
from foreword.repository.task_words import words_of
from foreword.repository.views import outline_text, paths_by_folder, regions_text, test_line
from foreword.section import FIRST_IN_GROUP, FORMS, Form, Section, handle_of
from foreword.text.division import rows_of
from foreword.tokens import counter

# Of the budget, at most, for a task: a plan for the rest is made before the engine cuts it.
TASK_SHARE = 0.25
# Kept free of the budget while planning: tags, the note on what is gone, and what a tokenizer
# counts otherwise where pieces are joined.
SPARE_SHARE = 0.02
SPARE_TOKENS = 120
DEFAULT_TOKENS = 8_000
_NO_WORD = (
    "no file has anything of the task in it: what is shown is what stands nearest to the top; name"
    " files, functions or words of the code in the task"
)


@dataclass(frozen=True, slots=True)
class _ReadFile:
    """A file that is shown: its text, its lines and its definitions."""

    source: SourceText
    lines: Sequence[str]
    definitions: Sequence[Definition]


class RepositoryReader:
    """Reads the code base of one request; its sections share one plan."""

    def __init__(
        self,
        *,
        selection: Selection,
        inputs: Inputs,
        task: str,
        task_path: str,
        out: ReadingResult,
    ) -> None:
        self.selection = selection
        self.inputs = inputs
        self.task = task
        self.task_path = task_path  # its own words say most about it, and are in already
        self.out = out
        self.counter = inputs.counter or counter()
        self._read: dict[int, _ReadFile] = {}
        self._plan: DetailPlan | None = None

    def sections(self, tag: str) -> list[Section]:
        """The sections of a tag."""
        spec = self.selection.sections[tag]
        plan = self._detail_plan()
        if spec.repository == "paths":
            found = self._path_section(tag, plan)
        else:
            found = []
            for place, file in enumerate(plan.files):
                found += self._file_section(tag, file, place)
        if not found:
            which = "no other file" if spec.repository == "paths" and plan.files else "no file"
            reason = f"{which} that has to do with the task"
            self.out.add_absent(tag, source="the code base", reason=reason)
        return found

    # --- the plan ---------------------------------------------------------------------------------

    def _detail_plan(self) -> DetailPlan:
        if self._plan is None:
            with closing(open_index(self.inputs.root, self.inputs.progress)) as index:
                self._plan = self._plan_with(index)
                self._tell(index)
        return self._plan

    def _plan_with(self, index: RepositoryIndex) -> DetailPlan:
        def read(ranked: RankedFile) -> _ReadFile:
            return self._file(index, ranked)

        ranked = rank(index, words_of(self.task))
        if ranked and ranked[0].score == 0:
            self.out.notes.append(_NO_WORD)
        return plan_detail(
            [one for one in ranked if one.file.path != self.task_path],
            room=self._room(),
            count=self.counter.count,
            lines_of=lambda ranked: read(ranked).lines,
            definitions_of=lambda ranked: read(ranked).definitions,
        )

    def _file(self, index: RepositoryIndex, ranked: RankedFile) -> _ReadFile:
        number = ranked.file.number
        if number not in self._read:
            source = index.read(ranked.file.path)
            self._read[number] = _ReadFile(
                source, rows_of(source.text), index.definitions_of(number)
            )
        return self._read[number]

    def _room(self) -> int:
        budget = self.inputs.budget_tokens or DEFAULT_TOKENS
        task = self.counter.count(self.task)
        spare = int(SPARE_SHARE * budget) + SPARE_TOKENS
        return max(0, budget - min(task, int(TASK_SHARE * budget)) - spare)

    def _tell(self, index: RepositoryIndex) -> None:
        """Say what was passed over, and whether the code base was too large to be read whole."""
        passed = sorted(index.passed_over().items(), key=lambda one: (-one[1], one[0]))
        if passed:
            reasons = ", ".join([f"{count:,} {reason}" for reason, count in passed])
            self.out.notes.append(f"files and folders passed over: {reasons}")
        if not index.tree.is_whole:
            count = len(index.tree.files)
            self.out.limit_notes.append(
                f"the code base has more files than are read: only {count:,} were looked at; name a"
                " folder of it with --root"
            )
            self.out.shortcomings.append("not all files of the code base were read")

    # --- sections ---------------------------------------------------------------------------------

    def _file_section(self, tag: str, plan: FilePlan, place: int) -> list[Section]:
        read = self._read[plan.ranked.file.number]
        original = read.source.raw
        handle = handle_of(original)
        views: list[tuple[Form, str]] = []
        if plan.regions:
            views.append(("regions", regions_text(read.lines, plan.regions, handle)))
        if plan.outline:
            views.append(("outline", outline_text(read.lines, plan.outline, handle)))
        rule = self.selection.rule(tag)
        planned: list[Form] = ["full"] if plan.is_whole else []
        planned += [form for form, _ in views]
        spec = self.selection.sections[tag]
        forms = [form for form in (*planned, "gone") if form in (spec.forms or FORMS)]
        if set(forms) <= {"gone"}:
            return []
        header = header_of(plan.path, len(read.lines))
        section = Section(
            tag=tag,
            text=read.source.text,
            rule=replace(rule, in_order=True, forms=tuple(forms)),
            rank=self.selection.rank(tag, order=FIRST_IN_GROUP - place),
            title=plan.path,
            source=plan.path,
            before="\n".join(part for part in (spec.before, header) if part),
            after=spec.after.rstrip("\n"),
            raw=original,
            views=tuple(views),
        )
        return [section]

    def _path_section(self, tag: str, plan: DetailPlan) -> list[Section]:
        """Tests of what is shown, then other files."""
        lines = paths_by_folder(plan.paths)
        if plan.tests:
            lines.insert(0, test_line(plan.tests))
        if not lines:
            return []
        return [self.selection.line_section(tag, lines, source="the code base")]
