"""The one path from a request to a package: recipe, selection, budget, sources, engine, store.

This is `foreword.assemble`. Every face calls it and adds nothing of its own; the pieces it calls
each do one thing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from foreword.context import carried_items as carrying
from foreword.context import tiers
from foreword.context.readers import Inputs, SectionsRead, gather
from foreword.context.self_check import self_check
from foreword.engine.assemble import Request
from foreword.engine.assemble import assemble as fit_and_write
from foreword.engine.package import Package
from foreword.recipe.budget import choose_counter, work_out
from foreword.recipe.load import load
from foreword.recipe.schema import BudgetSpec, RecipeSpec
from foreword.recipe.selection import Selection, select
from foreword.section import Budget, Tiers
from foreword.sources import files, source_argument
from foreword.sources.commands import Policy
from foreword.sources.library import Library
from foreword.sources.project_root import project_root
from foreword.store import packages
from foreword.store.urls import store_note
from foreword.tokens import Counter, why_underestimated


def assemble(
    recipe: str,
    *,
    root: str | Path = ".",
    agent: str | None = None,
    skill: str | None = None,
    purpose: str | None = None,
    phase: str | int | None = None,
    task: str | Path | None = None,
    source: str | Path | Mapping[str, object] | Sequence[object] | None = None,
    budget: int | str | None = None,
    window: int | str | None = None,
    model: str | None = None,
    counter: str | Counter | None = None,
    allow_commands: Sequence[str] = (),
    allow_shell: bool = False,
    carry: str | None = None,
    workflow: str | None = None,
    values: Mapping[str, str] | None = None,
    strict: bool = False,
    save: bool = True,
) -> Package:
    """Assemble a context by a recipe: the text, and the bill for every token.

    `recipe` is a name or a path, `root` the project's folder. `agent`, `skill`, `purpose` and
    `phase` say for whom or what; `task` is the task file, `source` your own material (a path, `-`,
    or the data itself). `budget` is the most tokens the text may have; without it, it follows from
    `window` or `model` as the recipe says. `counter` is `estimate`, `o200k`, `cl100k` or a
    `Counter`. `carry` names what persists from session to session.

    Commands in a skill file run only if `allow_commands` has the beginning of them, and through a
    shell only with `allow_shell`. `workflow` names the workflow that a phase is of, `values` fill
    other blanks of the recipe; with `strict`, a tier 0 over its limit is an error. `save=False`
    keeps nothing: no report, and no originals for `recall`.
    """
    root = project_root(root)
    spec = load(recipe, root)
    budgeted = work_out(tiered_budget(spec), budget, window, model)
    counting = choose_counter(counter, model)
    asked = {
        "agent": agent,
        "skill": skill,
        "purpose": purpose,
        "phase": None if phase is None else str(phase),
    }
    names = {kind: name for kind, name in asked.items() if name is not None}
    selection = select(spec, names, extra_skills=_has_skill_file(spec, root, skill))
    where, stdin = _source(source)
    inputs = Inputs(
        root=root,
        task=None if task is None else str(task),
        source=where,
        policy=Policy(
            tuple(allow_commands),
            allow_shell,
            spec.commands.timeout_seconds,
            spec.commands.output_bytes,
        ),
        carried=carrying.carried_items(root, carry),
        values={**(values or {}), **({"workflow": workflow} if workflow else {})},
        stdin=stdin,
    )
    gathered = gather(selection, inputs)
    package = fit_sections(selection, gathered, Library(root, spec), budgeted, counting, strict)
    if spec.self_check:
        package = replace(package, report=replace(package.report, checks=self_check(package)))
    if carry is not None and save:
        carrying.keep(root, carry, spec, gathered.items)
    return keep(package, root) if save else package


def fit_sections(
    selection: Selection,
    gathered: SectionsRead,
    library: Library,
    budget: Budget,
    counter: Counter,
    strict: bool = False,
) -> Package:
    """What was gathered, fitted and written, with a warning for each tier that is nearly full."""
    limits = tiers.apply_tiers(gathered, selection, library, budget.tokens, counter, strict)
    package = fit_and_write(
        gathered.sections, _request(selection, gathered, budget, counter, limits)
    )
    warned = tiers.warnings(tiers.usage(package.report, selection.recipe.tiers))
    return (
        replace(package, report=replace(package.report, notes=(*package.report.notes, *warned)))
        if warned
        else package
    )


def tiered_budget(spec: RecipeSpec) -> BudgetSpec:
    """The recipe's budget; where it has tiers and says no more, all of them together."""
    if spec.tiers and "budget" not in spec.model_fields_set:
        return BudgetSpec(tokens=sum(spec.tiers.values()))
    return spec.budget


def _source(
    source: str | Path | Mapping[str, object] | Sequence[object] | None,
) -> tuple[str | None, Callable[[], bytes]]:
    """Where the source is, and how to read it if it is no file."""
    if source is None or isinstance(source, str | Path):
        return None if source is None else str(source), source_argument.read_stdin
    data = json.dumps(source, default=str).encode()
    return "-", lambda: data


def keep(package: Package, root: Path) -> Package:
    """Put the report and the originals into the root's store; a note says where, if not under
    the root."""
    note = store_note(root)
    if note and package.originals:
        package = replace(
            package, report=replace(package.report, notes=(*package.report.notes, note))
        )
    with packages.open_store(root) as store:
        store.save(package.originals, package.report.to_dict())
    return package


def recall(handle: str, root: str | Path = ".") -> str:
    """The whole original of anything that was cut, in this or any earlier process.

    Bytes that are not UTF-8 come back as surrogate escapes, so that encoding them again gives the
    same bytes.
    """
    return packages.recall(handle, Path(root)).decode("utf-8", "surrogateescape")


def _request(
    selection: Selection, gathered: SectionsRead, budget: Budget, counter: Counter, limits: Tiers
) -> Request:
    notes = [*gathered.notes]
    if budget.tokens > budget.window_tokens:
        notes.append(
            f"the budget of {budget.tokens:,} is larger than the window of {budget.window_tokens:,}"
        )
    if counter.name == "estimate":
        doubtful = {s.name: why for s in gathered.sections if (why := why_underestimated(s.text))}
        notes += [
            f"{name}: {why}: characters / 4 is too low for it; use --counter o200k"
            for name, why in doubtful.items()
        ]
    return Request(
        budget=budget,
        counter=counter,
        recipe=selection.recipe.name,
        task=gathered.query,
        tiers=limits,
        tags=tuple(selection.recipe.sections),
        absent=tuple(gathered.absent),
        notes=tuple(notes),
        profile={**selection.names, **gathered.facts},
        shortcomings=tuple(gathered.shortcomings),
    )


def _has_skill_file(spec: RecipeSpec, root: Path, skill: str | None) -> bool:
    paths = [pattern.replace("{skill}", skill or "") for pattern in spec.skill_file]
    return skill is not None and any(
        isinstance(files.read(root, path), files.File) for path in paths
    )
