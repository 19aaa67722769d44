"""A project's panels and workflows, and what each agent of them reads.

Contexts are made here, where the project's files are. Asking a model with them is the business of
`flow_runs` and `panel_runs`; which document is which, that of `sources.library`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from foreword.context.assemble import assemble
from foreword.context.blanks import task_reference
from foreword.context.settled_tier import SettledTier
from foreword.engine.package import Package
from foreword.engine.render import pieces_of
from foreword.errors import BadSource, UnknownName
from foreword.plan.flow import Flow, Phase
from foreword.plan.flow_parsing import parse_flow
from foreword.review.panel import Member, Panel
from foreword.review.policy import Policy, Profile, read_policy
from foreword.section import Choice
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.front_matter import mapping, repeated_key, without_front_matter
from foreword.sources.library import NEWEST, RECIPE, Library, library_of
from foreword.sources.panel_file import read_panel as read_panel_file
from foreword.text import lines, marks, parts

PROFILE = "profile"
_PROFILE_HINT = (
    "a profile is one mapping in YAML, for example auto_merge: {enabled: true, conditions:"
    " [aggregate_confidence >= 0.8]}"
)
# For one member of a panel, the diff included: a persona, the base rules and a change of some 1,500
# lines, at a price that is paid once for every member. Of a larger change an excerpt is shown.
REVIEW_TOKENS = 24_000


# --- flows ----------------------------------------------------------------------------------------


def read_flow(root: str | Path, name: str, recipe: str = RECIPE) -> Flow:
    """The workflow of that name as a flow; `feature` is feature-implementation where there is no
    other."""
    library = library_of(root, recipe)
    document = _find_document(library, kind="workflow", name=name)
    file = files.read(library.root, document.path, must=True)
    text = lines.with_newlines(file.text)
    flow = parse_flow(text, name=document.name, source=document.path)
    texts = {part.name: part.text for part in parts.phases(text)}

    def with_documents(phase: Phase) -> Phase:
        return _with_documents(phase, texts[phase.name], document, library)

    return replace(flow, phases=tuple(map(with_documents, flow.phases)))


def active_task(root: str | Path, recipe: str) -> str:
    """What the project's active plan is for, in a line; nothing where there is no plan."""
    library = library_of(root, recipe)
    name = library.values()[0].get("plan", NEWEST)
    plan = library.newest("plan") if name == NEWEST else library.choose(name, "plan")
    file = library.read(plan) if plan is not None else None
    return task_reference(file.path, file.text) if isinstance(file, files.File) else ""


def _with_documents(phase: Phase, text: str, document: Document, library: Library) -> Phase:
    """The phase with the documents that its text names."""
    paths: dict[str, list[str]] = {}  # by kind
    for named in library.documents_named_in(text, document.path):
        paths.setdefault(named.kind, []).append(named.path)
    panels = paths.get("panel", [])
    return replace(
        phase,
        personas=tuple(paths.get("persona", ())),
        prompts=tuple(paths.get("prompt", ())),
        panel=panels[0] if panels else "",
    )


def phase_context(
    root: str | Path,
    flow: Flow,
    phase: Phase,
    *,
    task: str,
    artifacts: Mapping[str, str],
    recipe: str,
    settled: SettledTier | None,
) -> Package:
    """What the agent of a phase reads: tiers 0 to 2, and earlier artifacts as references; for the
    caller to keep.

    `artifacts` are the lines that stand for them, by name:
    `[FEAT-1] Requirements, 412 tokens, assistant phase 1`.
    `settled` is tier 1 as the other phases have it.
    """
    values = {"task_reference": task}
    if artifacts:
        references = [*artifacts.values(), "The whole of one: lookup with its name."]
        values["artifacts"] = "\n".join(references)
    return assemble(
        recipe,
        root=root,
        phase=phase.name,
        workflow=flow.source,
        values=values,
        save=False,
        settled=settled,
    )


# --- panels ---------------------------------------------------------------------------------------


def read_panel(root: str | Path, name: str, recipe: str = RECIPE) -> Panel:
    """The panel of that name, with the whole text of everyone who sits on it."""
    library = library_of(root, recipe)
    document = _find_document(library, kind="panel", name=name)
    file = files.read(library.root, document.path, must=True)

    def find_persona(persona: str) -> tuple[str, str] | None:
        found = library.choose(persona, "persona", near=document.path)
        text = library.read(found) if found is not None else None
        if not isinstance(text, files.File):
            return None
        return text.path, without_front_matter(text.text)

    return read_panel_file(file.text, document.name, document.path, find_persona)


def panel_names(root: str | Path, recipe: str = RECIPE) -> list[str]:
    """The panels that can be run."""
    return [document.name for document in library_of(root, recipe).of_kind("panel")]


def member_context(
    root: str | Path, member: Member, diff: str, *, task: str = "", recipe: str = RECIPE
) -> Package:
    """What one member of a panel reads: tier 0, which says the task, its own persona and the diff,
    nothing else."""
    values = {
        "persona": lines.with_newlines(marks.plain(member.text)).strip(),
        "diff": diff.strip("\n"),
        "diff_source": "the diff",
        "persona_source": member.source or member.name,
    }
    if task:
        values["task_reference"] = task
    return assemble(recipe, root=root, purpose="review", values=values, budget=REVIEW_TOKENS)


def active_profile(root: str | Path, recipe: str = RECIPE) -> Profile:
    """The project's active profile; one without rules where the project names none.

    A profile that is named and not there, or can't be read, is an error, and so is a project file
    that may name one and can't be read: a change is not judged by other rules.
    """
    library = library_of(root, recipe)
    rule = library.recipe.read.get(PROFILE)
    default = rule.default if rule else ""
    name, unread = library.value(PROFILE) if rule else ("", [])
    if unread:
        why = f"{unread[0].reason}, so the profile that it names is not known"
        raise BadSource(unread[0].path, why, hint="put it right, then run the panel again")
    document = library.choose(name, "policy") if name else None
    if document is None and name in ("", default):
        return Profile(name=name or "default", policy=Policy())
    if document is None and ", " in name:
        problem = f"names several profiles ({name}), and a change is judged by one"
        raise BadSource("project.yaml", problem, hint=f"profile: {name.partition(',')[0]}")
    document = document or _find_document(library, kind="policy", name=name)
    file = files.read(library.root, document.path, must=True)
    data, problem = mapping(file.text)
    problem = problem or repeated_key(file.text)
    if problem:
        raise BadSource(file.path, problem, hint=_PROFILE_HINT)
    return Profile(name=name, source=file.path, policy=read_policy(data, file.path))


def _find_document(library: Library, *, kind: str, name: str) -> Document:
    document = library.choose(name, kind)
    if document is None:
        raise UnknownName(kind, name, [known.name for known in library.of_kind(kind)])
    return document


# --- what goes to a model -------------------------------------------------------------------------


def split(package: Package, *tags: str) -> tuple[str, str]:
    """A context as instructions and a request: the sections of these tags are the request, the
    others the rest."""
    instructions: list[Choice] = []
    request: list[Choice] = []
    for choice in package.report.choices:
        if choice.body.form != "gone":
            is_request = choice.section.tag in tags
            (request if is_request else instructions).append(choice)
    return (
        "".join(pieces_of(instructions)),
        "".join(pieces_of(request)) + package.report.note,
    )
