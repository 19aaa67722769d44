"""A project's panels and workflows, and what each agent of them reads.

Contexts are made here, where the project's files are; who asks a model with them is `flows`' and
`panels`' business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from foreword.context.assemble import assemble
from foreword.context.blanks import task_reference
from foreword.engine.package import Package
from foreword.engine.render import pieces_of
from foreword.errors import BadSource, UnknownName
from foreword.plan.flow import Flow, Phase
from foreword.review.panel import Member, Panel
from foreword.review.verdict import Thresholds, read_thresholds
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.front_matter import mapping
from foreword.sources.library import NEWEST, RECIPE, Library, library_of, read_values
from foreword.sources.panel_file import read_panel as read_panel_file
from foreword.text import lines, marks, parts
from foreword.text.parts import Part

PROFILE = "profile"
REVIEW_TOKENS = 24_000  # for one member of a panel, the diff included
_ARTIFACT = re.compile(r"\[(?P<name>[A-Z][A-Z0-9_]{0,19}-\d{1,4}[a-z]?)\](?!\()")
_HANDED_ON = re.compile(r"(?i:artifact|output|produces?|emits?)[^\[\n]{0,80}" + _ARTIFACT.pattern)
_GATE = re.compile(
    r"^(?:#{2,6}[ \t]+|[>*_ \t-]{0,8}\*\*)(?:approval )?GATE\b", re.IGNORECASE | re.MULTILINE
)
_NUMBER = re.compile(r"\d+")


# --- flows ----------------------------------------------------------------------------------------


def read_flow(root: str | Path, name: str, recipe: str = RECIPE) -> Flow:
    """The workflow of that name as a flow; `feature` is feature-implementation where there is no
    other."""
    library = library_of(root, recipe)
    document = _named(library, "workflow", name)
    file = files.read(library.root, document.path, must=True)
    found = parts.phases(lines.with_newlines(file.text))
    return Flow(
        document.name,
        document.path,
        tuple(_phase(part, found, document, library) for part in found),
    )


def active_task(root: str | Path, recipe: str = RECIPE) -> str:
    """What the project's active plan is for, in a line; nothing where there is no plan."""
    library = library_of(root, recipe)
    named = read_values(library.root, library.recipe)[0].get("plan", NEWEST)
    plan = library.newest("plan") if named == NEWEST else library.find(named, "plan")
    file = library.read(plan) if plan is not None else None
    return task_reference(file.path, file.text) if isinstance(file, files.File) else ""


def flow_names(root: str | Path, recipe: str = RECIPE) -> list[str]:
    """The workflows that can be run."""
    return [document.name for document in library_of(root, recipe).of_kind("workflow")]


def _phase(part: Part, others: Iterable[Part], document: Document, library: Library) -> Phase:
    invoked: dict[str, list[str]] = {}
    for meant in library.named_in(part.text, document.path):
        invoked.setdefault(meant.kind, []).append(meant.path)
    return Phase(
        name=part.name,
        title=part.title,
        after=_before(part, others) if part.after is None else part.after,
        artifact=_handed_on(part.text),
        gate=_GATE.search(part.text) is not None,
        personas=tuple(invoked.get("persona", ())),
        prompts=tuple(invoked.get("prompt", ())),
        panel=next(iter(invoked.get("panel", ())), ""),
        text=marks.plain(part.text),
    )


def _before(part: Part, others: Iterable[Part]) -> tuple[str, ...]:
    """Where the author says nothing: every phase of the number before; 3a and 3b wait for 2 and
    not for each other."""
    numbers = {other.name: _number(other.name) for other in others}
    earlier = [number for number in numbers.values() if number < numbers[part.name]]
    return tuple(name for name, number in numbers.items() if earlier and number == max(earlier))


def _number(name: str) -> int:
    found = _NUMBER.match(name)
    return int(found[0]) if found else 0


def _handed_on(text: str) -> str:
    """The artifact that a phase hands on, as in `Artifact [FEAT-1]`."""
    found = _HANDED_ON.search(text)
    return found["name"] if found else ""


def phase_context(
    root: str | Path,
    flow: Flow,
    phase: Phase,
    *,
    task: str,
    objective: str = "",
    artifacts: Mapping[str, str] | None = None,
    checkpoint: str = "",
    recipe: str = RECIPE,
    model: str | None = None,
) -> Package:
    """What the agent of a phase reads: tiers 0 to 2, earlier artifacts as references, and a
    checkpoint after a reset.

    `artifacts` are the lines that stand for them, by name: `[FEAT-1] Requirements, 412 tokens`.
    """
    values = {"task_reference": f"{task}: {objective}" if objective else task}
    if artifacts:
        values["artifacts"] = "\n".join(
            [*artifacts.values(), "The whole of one: lookup with its name."]
        )
    if checkpoint:
        values["checkpoint"] = checkpoint
    return assemble(
        recipe, root=root, phase=phase.name, workflow=flow.source, values=values, model=model
    )


# --- panels ---------------------------------------------------------------------------------------


def read_panel(root: str | Path, name: str, recipe: str = RECIPE) -> Panel:
    """The panel of that name, with the whole text of everyone who sits on it."""
    library = library_of(root, recipe)
    document = _named(library, "panel", name)
    file = files.read(library.root, document.path, must=True)

    def find(wanted: str) -> tuple[str, str] | None:
        persona = library.find(wanted, "persona", near=document.path)
        found = library.read(persona) if persona is not None else None
        return (found.path, found.text) if isinstance(found, files.File) else None

    return read_panel_file(file.text, document.name, document.path, find)


def panel_names(root: str | Path, recipe: str = RECIPE) -> list[str]:
    """The panels that can be run."""
    return [document.name for document in library_of(root, recipe).of_kind("panel")]


def member_context(
    root: str | Path,
    member: Member,
    diff: str,
    *,
    task: str = "",
    budget: int = REVIEW_TOKENS,
    recipe: str = RECIPE,
    model: str | None = None,
) -> Package:
    """What one member of a panel reads: tier 0, its own persona and the diff, nothing else."""
    values = {
        "persona": lines.with_newlines(marks.plain(member.text)).strip(),
        "diff": diff.strip("\n"),
        "diff_source": "the diff",
    }
    values |= {"persona_source": member.source or member.name} | (
        {"task_reference": task} if task else {}
    )
    return assemble(recipe, root=root, purpose="review", values=values, budget=budget, model=model)


def thresholds(root: str | Path, recipe: str = RECIPE) -> Thresholds:
    """The thresholds of the project's active profile; the defaults where it names none.

    A profile that is named and not there, or can't be read, is an error: a change is not judged by
    other rules.
    """
    library = library_of(root, recipe)
    how = library.recipe.read.get(PROFILE)
    profile = read_values(library.root, library.recipe)[0].get(PROFILE, "")
    document = library.find(profile, "policy") if profile else None
    if document is None and profile in ("", how.default if how else ""):
        return Thresholds(profile=profile or "default")
    document = document or _named(library, "policy", profile)
    file = files.read(library.root, document.path, must=True)
    data, problem = mapping(file.text)
    if problem:
        raise BadSource(file.path, problem)
    found = next(
        (data[key] for key in ("thresholds", "decision_thresholds", "findings") if key in data), {}
    )
    return read_thresholds(found, file.path, profile)


def _named(library: Library, kind: str, name: str) -> Document:
    document = library.find(name, kind)
    if document is None:
        raise UnknownName(kind, name, [known.name for known in library.of_kind(kind)])
    return document


# --- what goes to a model -------------------------------------------------------------------------


def split(package: Package, *tags: str) -> tuple[str, str]:
    """A context as instructions and a request: the sections of these tags are the request, the
    others the rest."""
    inside = [choice for choice in package.report.choices if choice.body.form != "gone"]
    instructions = "".join(pieces_of(choice for choice in inside if choice.section.tag not in tags))
    request = "".join(pieces_of(choice for choice in inside if choice.section.tag in tags))
    return instructions, request + package.report.note
