"""Answer one question about a context: is this in it, in which form, and why.

Assembles the context without keeping anything. Where the essentials do not fit there is no context,
and the answer says so with the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from foreword.context.assemble import assemble
from foreword.engine.package import Package
from foreword.engine.report import Report, Row
from foreword.engine.report_table import printable
from foreword.errors import EssentialsTooLarge, UnknownName
from foreword.recipe.load import load
from foreword.recipe.schema import PROFILES, RecipeSpec
from foreword.section import STANDS_BY, Absent, Choice
from foreword.sources.documents import is_there
from foreword.sources.library import Library
from foreword.sources.project_root import project_root

FORM_PHRASES = {
    "full": "in, whole",
    "summary": "in, as a summary",
    "relevant": "in, as the passages most relevant to the task",
    "newest": "in, as its newest entries",
    "excerpt": "in, as an excerpt",
    "lead": "in, as what it leads with",
    "core": "in, as the part that its author marked",
    "header": "in, as its header: who it is and what it looks at",
    "regions": "in, as the regions most relevant to the task",
    "outline": "in, as an outline",
    "reference": "in, as a one-line reference",
    "gone": "not in",
}
MOST_SHOWN = 8  # of the sections that one answer is the same for; they fit a terminal


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer in words; `met` is false where there is no context at all."""

    text: str
    met: bool = True


def why(recipe: str, about: str | None = None, **request: Any) -> Explanation:
    """Why `about` (a tag, a title, a path, the name of a file or a handle) is or is not in the
    context; without it, everything."""
    try:
        package = assemble(recipe, **request, save=False)
    except EssentialsTooLarge as too_large:
        return no_context(about, too_large)
    if about is None:
        return explain_package(package)
    root = project_root(request.get("root", "."))
    path = _path_from_root(about, root)
    blocks = _section_blocks(package.report, about, path)
    for absent in package.report.absent:
        if {about, path} & {absent.tag, absent.source}:
            blocks.append(_absent_block(absent))
    if not blocks:
        blocks = [_not_in_request(package, path, root, load(recipe, root))]
    return Explanation("\n".join(blocks))


def explain_package(package: Package, about: str | None = None) -> Explanation:
    """Why `about` (a tag, a title, a source or a handle) is or is not in a package; without it,
    everything."""
    blocks = _section_blocks(package.report, about)
    for omission in package.report.omissions:
        if about in (None, omission.tag, omission.handle):
            blocks.append(
                f"{printable(omission.what)}: not in ({omission.tokens:,} tokens)\n"
                f"  why: {printable(omission.reason)}\n  whole: foreword recall {omission.handle}"
            )
    for absent in package.report.absent:
        if about in (None, absent.tag, absent.source):
            blocks.append(_absent_block(absent))
    if not blocks and about is not None:
        known = [choice.section.name for choice in package.report.choices]
        raise UnknownName("section", about, dict.fromkeys(known))
    return Explanation("\n".join(blocks))


def _path_from_root(about: str, root: Path) -> str:
    """A path as sections name it, from the root; anything else as it is."""
    try:
        return Path(about).resolve().relative_to(root).as_posix() if Path(about).exists() else about
    except (OSError, ValueError):
        return about


def _is_about(choice: Choice, about: str, path: str | None) -> bool:
    section = choice.section
    if about in (section.tag, section.title, section.source) or path == section.source:
        return True
    if about.startswith("fw_"):
        return section.handle == about
    return PurePosixPath(section.source).name == about


@dataclass(frozen=True, slots=True, kw_only=True)
class _SectionAnswer:
    """The answer for one section, in parts that tell whether others have the same."""

    tag: str
    name: str
    digest: str
    why: str
    size: str = ""
    whole: str = ""


class _ReportAnswers:
    """One report with what every answer needs, worked out once."""

    def __init__(self, report: Report) -> None:
        rows = iter(report.sections)
        self.report = report
        self.within = report.status == "within"
        self.sizes = (
            f"{report.original_tokens:,} tokens came in, the budget is {report.budget_tokens:,}"
        )
        # what stands by has no row on the bill
        self.pairs = list[tuple[Choice, Row | None]]()
        self.not_whole = set[str]()
        # the tags that gave way, each with its first place in the order
        self.cut = dict[str, tuple[int, int, int]]()
        for choice in report.choices:
            self.pairs.append((choice, None if choice.reason == STANDS_BY else next(rows)))
            tag = choice.section.tag
            if choice.body.form != "full":
                self.not_whole.add(tag)
            if choice.is_cut:
                place = choice.section.gives_way_at
                self.cut[tag] = max(self.cut.get(tag, place), place)

    def answer(self, choice: Choice, row: Row | None) -> _SectionAnswer:
        section = choice.section
        form = choice.body.form
        name = printable(section.name)
        if row is None:
            return _SectionAnswer(
                tag=section.tag, name=name, digest="not in", why=self._why_standing_by(choice)
            )
        size = f"{row.tokens:,} tokens"
        whole = ""
        if form != "full":
            size = f"{row.tokens:,} of {row.original_tokens:,} tokens"
            if not section.known_as:  # else its parts have handles
                whole = f"foreword recall {section.handle}"
        source = printable(section.source or "the recipe")
        return _SectionAnswer(
            tag=section.tag,
            name=name,
            digest=FORM_PHRASES[form],
            why=self._why(choice),
            size=f"{size}, from {source}",
            whole=whole,
        )

    def _why_standing_by(self, choice: Choice) -> str:
        principal = choice.section.rule.stands_in_for
        if principal in self.not_whole:
            return f"it stands in for {principal}, and it did not fit"
        return f"it stands in for {principal}, which is in by itself"

    def _why(self, choice: Choice) -> str:
        rule = choice.section.rule
        if rule.essential:
            return "it is essential: never cut"
        if rule.excluded:
            return printable(rule.excluded)
        if self.within:
            return f"everything fits the budget of {self.report.budget_tokens:,} tokens"
        if choice.body.form == "full":
            before = self._cut_before(choice)
            return f"{self.sizes}; {', '.join(before)} gave way first" if before else self.sizes
        if choice.reason.startswith("stands in"):
            return f"it {choice.reason}; {self.sizes}"
        outlived = self.report.outlived_by(choice)
        return f"{self.sizes}, and it {outlived}" if outlived else self.sizes

    def _cut_before(self, choice: Choice) -> list[str]:
        """The other tags that gave way before this one would have."""
        own = choice.section
        tags = list[str]()
        for tag, place in self.cut.items():
            if place > own.gives_way_at and tag != own.tag:
                tags.append(tag)
        return tags


def _section_blocks(report: Report, about: str | None, path: str | None = None) -> list[str]:
    """The answers for the sections that are meant, or for all; one block for the sections of a tag
    that have the same answer."""
    report_answers = _ReportAnswers(report)
    same = dict[tuple[str, str, str], list[_SectionAnswer]]()
    for choice, row in report_answers.pairs:
        if about is None or _is_about(choice, about, path):
            answer = report_answers.answer(choice, row)
            same.setdefault((answer.tag, answer.digest, answer.why), []).append(answer)
    return [_group_block(group) for group in same.values()]


def _block(answer: _SectionAnswer) -> str:
    size = f" ({answer.size})" if answer.size else ""
    lines = [f"{answer.name}: {answer.digest}{size}", f"  why: {answer.why}"]
    if answer.whole:
        lines.append(f"  whole: {answer.whole} (after `foreword assemble`)")
    return "\n".join(lines)


def _group_block(group: list[_SectionAnswer]) -> str:
    first = group[0]
    if len(group) == 1:
        return _block(first)
    lines = [f"{first.tag}: {first.digest} ({len(group):,} sections)", f"  why: {first.why}"]
    for answer in group[:MOST_SHOWN]:
        details = ", ".join(part for part in (answer.size, answer.whole) if part)
        lines.append(f"  {answer.name} ({details})" if details else f"  {answer.name}")
    if len(group) > MOST_SHOWN:
        lines.append(f"  and {len(group) - MOST_SHOWN:,} more")
    return "\n".join(lines)


def _absent_block(absent: Absent) -> str:
    why = f"{absent.source}: {absent.reason}" if absent.source else absent.reason
    return f"{absent.tag}: not in\n  why: {printable(why)}"


def _not_in_request(package: Package, about: str, root: Path, recipe: RecipeSpec) -> str:
    """The answer about a name that no section of this request has: why the recipe did not read it,
    or an error where the recipe does not know it either."""
    reason = _why_not_read(package, about, root, recipe)
    if reason is not None:
        return f"{printable(about)}: not in\n  why: {reason}"
    known = [choice.section.name for choice in package.report.choices]
    raise UnknownName("section", about, dict.fromkeys([*known, *recipe.sections]))


def _why_not_in_repository(
    package: Package, about: str, root: Path, recipe: RecipeSpec
) -> str | None:
    """Why a file of a code base is not shown, by the paths that are named and by the tree."""
    from foreword.repository.file_tree import reason_passed_over
    from foreword.repository.views import paths_in

    for choice in package.report.choices:
        spec = recipe.sections.get(choice.section.tag)
        if spec is None or spec.repository != "paths":
            continue
        if about in paths_in(choice.body.text):
            return "it is in only by its path: others have more to do with the task"
    if not is_there(root, about):
        return None
    reason = reason_passed_over(root, about)
    return f"it is not read: {reason}" if reason else "it has less to do with the task than others"


def _why_not_read(package: Package, about: str, root: Path, recipe: RecipeSpec) -> str | None:
    if about not in recipe.sections and any(spec.repository for spec in recipe.sections.values()):
        return _why_not_in_repository(package, about, root, recipe)
    name = "" if about in recipe.sections else _lookup_name(about, root, recipe)
    if name:
        return (
            "nothing in this request names it, so it is not loaded: look it up with `foreword"
            f" lookup {name}`"
        )
    for tag, spec in recipe.sections.items():
        for pattern in spec.files or ():
            if fnmatch(about, f"{spec.folder}/{pattern}".lstrip("/")):
                return f"of the files that {tag} may read, others have more to do with the task"
    for tag, spec in recipe.sections.items():
        if spec.folder and about.startswith(f"{spec.folder}/"):
            return f"{tag} reads other files of {spec.folder} for this request"
    if about in recipe.sections:
        return f"it is not part of what {_reader(package)} reads"
    if is_there(root, about):
        return f"no section of recipe {recipe.name!r} reads this file"
    return None


def _reader(package: Package) -> str:
    """For whom the context is: the agent, the skill, the phase."""
    names = package.report.profile.items()
    profile = ", ".join(f"{kind} {name}" for kind, name in names if kind in PROFILES)
    return profile or "this request"


def _lookup_name(about: str, root: Path, recipe: RecipeSpec) -> str:
    """The name by which a document can be looked up, or its path where others are called so,
    too; nothing where there is no such document."""
    documents = Library(root, recipe).documents
    for document in documents:
        names = (document.path, document.name, PurePosixPath(document.path).name)
        if document.kind in recipe.on_demand and about in names:
            namesakes = [other for other in documents if other.name == document.name]
            return document.name if len(namesakes) == 1 else document.path
    return ""


def no_context(about: str | None, error: EssentialsTooLarge) -> Explanation:
    """The answer where there is no context at all."""
    reason = "nothing is in: there is no context at this budget"
    if about in error.sections:
        reason = "it is essential"
    what = "the context" if about is None else printable(about)
    text = f"{what}: not in\n  why: {reason}; {error.message}\n  hint: {error.hint}"
    return Explanation(text, met=False)
