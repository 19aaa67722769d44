"""Answer one question about a context: is this in it, in which form, and why.

Assembles the context without keeping anything. Where the essentials do not fit there is no context, and the answer
says so with the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from foreword.engine.package import Package
from foreword.errors import EssentialsTooLarge, UnknownName
from foreword.model import STANDS_BY, Absent, Choice
from foreword.recipe.load import load
from foreword.recipe.schema import PROFILES, RecipeSpec
from foreword.runtime.assembly import assemble, project_root

DIGEST = {
    "full": "in, whole",
    "summary": "in, as a summary",
    "relevant": "in, as the passages most relevant to the task",
    "newest": "in, as its newest entries",
    "excerpt": "in, as an excerpt",
    "reference": "in, as a one-line reference",
    "gone": "not in",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer in words; `met` is false where there is no context at all."""

    text: str
    met: bool = True


def explain(recipe: str, about: str, **request: Any) -> Answer:
    """Why `about` (a tag, a path or a title) is or is not in the context."""
    try:
        package = assemble(recipe, **request, save=False)
    except EssentialsTooLarge as too_large:
        return Answer(_no_context(about, too_large), met=False)
    root = project_root(request.get("root", "."))
    lines = [_choice(package, choice) for choice in package.report.choices if _is_about(choice, about, root)]
    lines += [_absent(absent) for absent in package.report.absent if about in (absent.tag, absent.source)]
    return Answer("\n".join(lines or [_elsewhere(package, about, load(recipe, root))]))


def _is_about(choice: Choice, about: str, root: Path) -> bool:
    section = choice.section
    if about in (section.tag, section.title, section.source):
        return True
    return bool(section.source) and (root / section.source) == Path(about).resolve()


def _choice(package: Package, choice: Choice) -> str:
    report, section = package.report, choice.section
    if choice.reason == STANDS_BY:
        return f"{section.name}: not in: it stands in for {section.rule.stands_in_for}, which is in by itself"
    row = next(r for r in report.sections if (r.tag, r.title, r.source) == (section.tag, section.title, section.source))
    size = (
        f"{row.tokens:,} of {row.original_tokens:,} tokens" if choice.body.form != "full" else f"{row.tokens:,} tokens"
    )
    lines = [f"{section.name}: {DIGEST[choice.body.form]} ({size}, from {section.source or 'the recipe'})"]
    lines.append(f"  why: {_why(package, choice)}")
    if choice.body.form != "full":
        lines.append(f"  whole: foreword recall {section.handle} (after `foreword assemble`)")
    return "\n".join(lines)


def _why(package: Package, choice: Choice) -> str:
    report, rule = package.report, choice.section.rule
    if rule.essential:
        return "it is essential: never cut"
    if rule.excluded:
        return rule.excluded
    if report.status == "within":
        return f"everything fits the budget of {report.budget_tokens:,} tokens"
    came = f"{report.original_tokens:,} tokens came in, the budget is {report.budget_tokens:,}"
    if choice.body.form == "full":
        after = [c.section.tag for c in report.choices if c.is_cut and _gives_way_before(c, choice)]
        given = f"; {', '.join(dict.fromkeys(after))} gave way first" if after else ""
        return f"{came}{given}"
    if choice.reason.startswith("stands in"):
        return f"it {choice.reason}; {came}"
    outlived = report.outlived_by(choice)
    return f"{came}, and it {outlived}" if outlived else came


def _gives_way_before(first: Choice, second: Choice) -> bool:
    one, other = first.section, second.section
    return (one.rule.tier, -one.rank) > (other.rule.tier, -other.rank) and one.tag != other.tag


def _absent(absent: Absent) -> str:
    return f"{absent.tag}: not in\n  why: {absent.source + ': ' if absent.source else ''}{absent.reason}"


def _elsewhere(package: Package, about: str, recipe: RecipeSpec) -> str:
    """Nothing in this request goes by that name: say whether the recipe knows it at all."""
    for tag, spec in recipe.sections.items():
        if spec.files and any(fnmatch(about, f"{spec.folder}/{pattern}".lstrip("/")) for pattern in spec.files):
            return f"{about}: not in\n  why: of the files that {tag} may read, others have more to do with the task"
    for tag, spec in recipe.sections.items():
        if spec.folder and about.startswith(f"{spec.folder}/"):
            return f"{about}: not in\n  why: {tag} reads other files of {spec.folder} for this request"
    if about in recipe.sections:
        asked = ", ".join(f"{kind} {name}" for kind, name in package.report.profile.items() if kind in PROFILES)
        return f"{about}: not in\n  why: it is not part of what {asked or 'this request'} reads"
    known = [choice.section.name for choice in package.report.choices] + list(recipe.sections)
    raise UnknownName("section", about, dict.fromkeys(known))


def _no_context(about: str, error: EssentialsTooLarge) -> str:
    inside = "it is essential" if about in error.sections else "nothing is in: there is no context at this budget"
    return f"{about}: not in\n  why: {inside}; {error.message}\n  hint: {error.hint}"
