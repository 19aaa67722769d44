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
from foreword.engine.table import printable
from foreword.errors import EssentialsTooLarge, UnknownName
from foreword.recipe.load import load
from foreword.recipe.schema import PROFILES, RecipeSpec
from foreword.section import STANDS_BY, Absent, Choice
from foreword.sources.documents import is_there
from foreword.sources.library import Library
from foreword.sources.project_root import project_root

DIGEST = {
    "full": "in, whole",
    "summary": "in, as a summary",
    "relevant": "in, as the passages most relevant to the task",
    "newest": "in, as its newest entries",
    "excerpt": "in, as an excerpt",
    "core": "in, as the part that its author marked",
    "header": "in, as its header: who it is and what it looks at",
    "reference": "in, as a one-line reference",
    "gone": "not in",
}
MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer in words; `met` is false where there is no context at all."""

    text: str
    met: bool = True


def why(recipe: str, about: str, **request: Any) -> Explanation:
    """Why `about` (a tag, a title, a path, the name of a file or a handle) is or is not in the
    context."""
    try:
        package = assemble(recipe, **request, save=False)
    except EssentialsTooLarge as too_large:
        return Explanation(_no_context(about, too_large), met=False)
    root = project_root(request.get("root", "."))
    path, case = _inside(about, root), _Case(package.report)
    answers = [
        case.answer(choice, row) for choice, row in case.pairs if _is_about(choice, about, path)
    ]
    lines = _grouped(answers)
    lines += [
        _absent(absent)
        for absent in package.report.absent
        if {about, path} & {absent.tag, absent.source}
    ]
    return Explanation("\n".join(lines or [_elsewhere(package, path, root, load(recipe, root))]))


def _inside(about: str, root: Path) -> str:
    """A path as sections name it, from the root; anything else as it is."""
    try:
        return Path(about).resolve().relative_to(root).as_posix() if Path(about).exists() else about
    except (OSError, ValueError):
        return about


def _is_about(choice: Choice, about: str, path: str) -> bool:
    section = choice.section
    if about in (section.tag, section.title, section.source) or path == section.source:
        return True
    if about.startswith("fw_"):
        return section.handle == about
    return PurePosixPath(section.source).name == about


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReportQuery:
    """The answer for one section, in parts that tell whether others have the same."""

    tag: str
    name: str
    digest: str
    why: str
    size: str = ""
    whole: str = ""


class _Case:
    """One report with what every answer needs, worked out once."""

    def __init__(self, report: Report) -> None:
        rows = iter(report.sections)
        self.report = report
        self.pairs = [(c, None if c.reason == STANDS_BY else next(rows)) for c in report.choices]
        self.within = report.status == "within"
        self.came = (
            f"{report.original_tokens:,} tokens came in, the budget is {report.budget_tokens:,}"
        )
        self.not_whole = {
            choice.section.tag for choice in report.choices if choice.body.form != "full"
        }
        # the tags that gave way, each with its first place in the order
        self.cut = dict[str, tuple[int, float]]()
        for choice in report.choices:
            if choice.is_cut:
                key = _place(choice)
                self.cut[choice.section.tag] = max(self.cut.get(choice.section.tag, key), key)

    def answer(self, choice: Choice, row: Row | None) -> _ReportQuery:
        section, form = choice.section, choice.body.form
        name = printable(section.name)
        if row is None:
            return _ReportQuery(
                tag=section.tag, name=name, digest="not in", why=self._stands_by(choice)
            )
        size = (
            f"{row.tokens:,} of {row.original_tokens:,} tokens"
            if form != "full"
            else f"{row.tokens:,} tokens"
        )
        whole = "" if form == "full" else f"foreword recall {section.handle}"
        source = printable(section.source or "the recipe")
        return _ReportQuery(
            tag=section.tag,
            name=name,
            digest=DIGEST[form],
            why=self._why(choice),
            size=f"{size}, from {source}",
            whole=whole,
        )

    def _stands_by(self, choice: Choice) -> str:
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
            own, tag = _place(choice), choice.section.tag
            before = [other for other, key in self.cut.items() if key > own and other != tag]
            return f"{self.came}; {', '.join(before)} gave way first" if before else self.came
        if choice.reason.startswith("stands in"):
            return f"it {choice.reason}; {self.came}"
        outlived = self.report.outlived_by(choice)
        return f"{self.came}, and it {outlived}" if outlived else self.came


def _place(choice: Choice) -> tuple[int, float]:
    """The place in the order of giving way: what is larger goes first."""
    return choice.section.rule.tier, -choice.section.rank


def _grouped(answers: list[_ReportQuery]) -> list[str]:
    """Each answer once, with the sections of one tag that it is the same for."""
    same = dict[tuple[str, str, str], list[_ReportQuery]]()
    for said in answers:
        same.setdefault((said.tag, said.digest, said.why), []).append(said)
    return [_one(group[0]) if len(group) == 1 else _many(group) for group in same.values()]


def _one(said: _ReportQuery) -> str:
    lines = [
        f"{said.name}: {said.digest}" + (f" ({said.size})" if said.size else ""),
        f"  why: {said.why}",
    ]
    return "\n".join(
        lines + ([f"  whole: {said.whole} (after `foreword assemble`)"] if said.whole else [])
    )


def _many(group: list[_ReportQuery]) -> str:
    first = group[0]
    lines = [f"{first.tag}: {first.digest} ({len(group):,} sections)", f"  why: {first.why}"]
    for said in group[:MOST_SHOWN]:
        parts = ", ".join(part for part in (said.size, said.whole) if part)
        lines.append(f"  {said.name}" + (f" ({parts})" if parts else ""))
    return "\n".join(
        lines + ([f"  and {len(group) - MOST_SHOWN:,} more"] if len(group) > MOST_SHOWN else [])
    )


def _absent(absent: Absent) -> str:
    why = f"{absent.source}: {absent.reason}" if absent.source else absent.reason
    return f"{absent.tag}: not in\n  why: {printable(why)}"


def _elsewhere(package: Package, about: str, root: Path, recipe: RecipeSpec) -> str:
    """Nothing in this request goes by that name: say whether the recipe knows it at all."""
    if (why := _not_read(package, about, root, recipe)) is not None:
        return f"{printable(about)}: not in\n  why: {why}"
    known = [choice.section.name for choice in package.report.choices] + list(recipe.sections)
    raise UnknownName("section", about, dict.fromkeys(known))


def _not_read(package: Package, about: str, root: Path, recipe: RecipeSpec) -> str | None:
    if about not in recipe.sections and (name := _on_demand(about, root, recipe)):
        return (
            "nothing in this request names it, so it is not loaded: look it up with `foreword"
            f" lookup {name}`"
        )
    for tag, spec in recipe.sections.items():
        if spec.files and any(
            fnmatch(about, f"{spec.folder}/{pattern}".lstrip("/")) for pattern in spec.files
        ):
            return f"of the files that {tag} may read, others have more to do with the task"
    for tag, spec in recipe.sections.items():
        if spec.folder and about.startswith(f"{spec.folder}/"):
            return f"{tag} reads other files of {spec.folder} for this request"
    if about in recipe.sections:
        asked = ", ".join(
            f"{kind} {name}" for kind, name in package.report.profile.items() if kind in PROFILES
        )
        return f"it is not part of what {asked or 'this request'} reads"
    return (
        f"no section of recipe {recipe.name!r} reads this file" if is_there(root, about) else None
    )


def _on_demand(about: str, root: Path, recipe: RecipeSpec) -> str:
    """The name by which a document can be looked up, or its path where others are called so,
    too."""
    library = Library(root, recipe)
    mine = (one for one in library.documents if one.kind in recipe.on_demand)
    found = next(
        (one for one in mine if about in (one.path, one.name, PurePosixPath(one.path).name)), None
    )
    if found is None:
        return ""
    return (
        found.name if sum(one.name == found.name for one in library.documents) == 1 else found.path
    )


def _no_context(about: str, error: EssentialsTooLarge) -> str:
    inside = (
        "it is essential"
        if about in error.sections
        else "nothing is in: there is no context at this budget"
    )
    return f"{printable(about)}: not in\n  why: {inside}; {error.message}\n  hint: {error.hint}"
