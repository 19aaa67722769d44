"""The one path from a request to a package: recipe, selection, budget, sources, engine, store.

This is `foreword.assemble`. Every face calls it and adds nothing of its own; the pieces it calls
each do one thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from foreword.aliases import by_any_name
from foreword.context.inputs import Inputs, ReadingResult, SourceArgument
from foreword.context.item_lifetimes import carried_items, save_carried_items
from foreword.context.item_sections import CHANGE
from foreword.context.readers import gather
from foreword.context.self_check import self_check
from foreword.context.settled_tier import SettledTier
from foreword.engine.package import Package
from foreword.engine.pipeline import Request
from foreword.engine.pipeline import assemble as fit_and_write
from foreword.errors import BadBudget, EssentialsTooLarge
from foreword.prices import cost_of_call
from foreword.recipe.budget import choose_counter, work_out_budget
from foreword.recipe.load import load
from foreword.recipe.schema import RecipeSpec
from foreword.recipe.selection import Selection, select
from foreword.section import Budget, Choice, Tiers
from foreword.sources import files, source_argument
from foreword.sources.commands import Policy
from foreword.sources.library import Library
from foreword.sources.project_root import project_root
from foreword.store.database import Database
from foreword.store.reports import save_report
from foreword.store.sqlite import MEMORY
from foreword.store.urls import open_store
from foreword.tokens import Counter

_EMPTY = "the context is empty: the recipe leaves out all that came in"


@by_any_name
def assemble(
    recipe: str,
    *,
    root: str | Path = ".",
    agent: str | None = None,
    skill: str | None = None,
    purpose: str | None = None,
    phase: str | int | None = None,
    task: str | Path | None = None,
    step: str | Path | None = None,
    instructions: str | None = None,
    source: str | Path | Mapping[str, object] | Sequence[object] | None = None,
    budget: int | str | None = None,
    window: int | str | None = None,
    system_prompt_tokens: int | str | None = None,
    reserve: int | str | None = None,
    tool_overhead: int | str | None = None,
    model: str | None = None,
    counter: str | Counter | None = None,
    allow_commands: Sequence[str] = (),
    allow_shell: bool = False,
    carry: str | None = None,
    workflow: str | None = None,
    values: Mapping[str, str] | None = None,
    strict: bool = False,
    save: bool = True,
    db: str | None = None,
    settled: SettledTier | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Package:
    """Assemble a context by a recipe: the text, and the bill for every token.

    `recipe` is a name or a path, `root` the project's folder. `agent`, `skill`, `purpose` and
    `phase` say for whom or what; `task` is the task, as a file or in words, `step` the folder of
    the step it is for, `instructions` what this agent should mind beside its own, `source` your
    own material (a path, `-`, texts, or the data itself). `budget` is the most tokens of the text;
    without it, it follows from `window` or `model` as the recipe says, less what is kept free for
    the system prompt (`system_prompt_tokens`), the answer (`reserve`) and tools (`tool_overhead`).
    `counter` is `o200k`, `cl100k`, `estimate` or a `Counter`; without it, it is that of `model`,
    else `o200k`. `carry` names what persists from session to session.

    Commands in a skill file run only if `allow_commands` has the beginning of them, and through a
    shell only with `allow_shell`. `workflow` names the workflow that a phase is of, `values` fill
    other blanks of the recipe; with `strict`, a tier 0 over its limit is an error. The report and
    what `recall` brings back are kept in the store `db` (an address), else in the root's;
    `save=False` keeps nothing. `settled` keeps tier 1 as the first
    context that was made with it had it. `progress` is told how many of how many files of a code
    base are read.
    """
    root = project_root(root)
    spec = load(recipe, root)
    less = {
        "system_prompt": system_prompt_tokens,
        "response_reserve": reserve,
        "tool_overhead": tool_overhead,
    }
    budget_steps = work_out_budget(
        spec.budget, budget=budget, window=window, model=model, less=less
    )
    chosen_counter = choose_counter(counter, model)
    names = _names(agent=agent, skill=skill, purpose=purpose, phase=phase)
    selection = select(spec, names, extra_skills=_has_skill_file(spec, root, skill))
    blanks = dict(values or {})
    if workflow:
        blanks["workflow"] = workflow
    inputs = Inputs(
        root=root,
        task=task,
        step=None if step is None else str(step),
        instructions=instructions or "",
        source=_source_argument(source, root),
        policy=_command_policy(spec, allow_commands, allow_shell),
        carried=carried_items(root, carry, db),
        values=blanks,
        budget_tokens=budget_steps.tokens,
        counter=chosen_counter,
        progress=progress,
    )
    library = Library(root, spec)
    gathered = gather(selection, inputs, library)
    if settled is not None:
        settled.settle(gathered, list(selection.sections))
    package = fit_sections(
        gathered,
        selection=selection,
        library=library,
        budget=budget_steps,
        counter=chosen_counter,
        strict=strict,
    )
    if gathered.sections and not package.text.strip():
        if not all(section.rule.excluded for section in gathered.sections):
            problem = f"nothing of the material fits {budget_steps.tokens:,} tokens"
            raise BadBudget(budget, problem=problem, hint="give a larger budget")
        package = _with_notes(package, [_EMPTY])
    package = _with_notes(package, _hidden_changes(package.report.choices))
    if spec.self_check:
        package = replace(
            package, report=replace(package.report, checks=self_check(package, gathered.items))
        )
    cost = cost_of_call(model, package.report.total_tokens)
    if cost is not None:
        package = replace(package, report=replace(package.report, cost=cost))
    if carry is not None and save:
        save_carried_items(root, carry, spec, gathered.items, db)
    return keep(package, root, url=db) if save else package


def fit_sections(
    gathered: ReadingResult,
    *,
    selection: Selection,
    library: Library,
    budget: Budget,
    counter: Counter,
    strict: bool,
) -> Package:
    """What was gathered, fitted and written, with a warning for each tier that is nearly full."""
    gathered.notes += library.notes
    request_for = partial(_request, gathered, selection=selection, budget=budget, counter=counter)
    if not selection.recipe.tiers:
        try:
            return fit_and_write(gathered.sections, request_for(limits=selection.tiers))
        except EssentialsTooLarge as too_large:
            _let_yield(gathered, too_large)
            package = fit_and_write(gathered.sections, request_for(limits=selection.tiers))
            if not package.text:
                raise
            return package
    from foreword.context import tiers  # with anchors and personas, which other recipes have not

    limits = tiers.apply_tiers(
        gathered,
        selection=selection,
        library=library,
        budget=budget.tokens,
        counter=counter,
        strict=strict,
    )
    package = fit_and_write(gathered.sections, request_for(limits=limits))
    warnings = tiers.warnings(tiers.usage(package.report, selection.recipe.tiers))
    return _with_notes(package, warnings)


def _hidden_changes(choices: Sequence[Choice]) -> list[str]:
    """A note for each diff that was cut, on the files that nothing is shown of."""
    notes = list[str]()
    for choice in choices:
        section = choice.section
        if section.kind == CHANGE and choice.is_cut and not section.rule.excluded:
            from foreword.text.diffs import changed_files  # only where a diff was cut

            shown = set(changed_files(choice.body.text))
            missing = [path for path in changed_files(section.text) if path not in shown]
            if missing:
                notes.append(f"{section.name}: nothing is shown of {', '.join(missing)}")
    return notes


def _let_yield(gathered: ReadingResult, too_large: EssentialsTooLarge) -> None:
    """Let sections be shortened that are essential and may yield; the error, where there are
    none."""
    if not any(section.rule.essential and section.rule.may_yield for section in gathered.sections):
        raise too_large
    for place, section in enumerate(gathered.sections):
        if section.rule.may_yield:
            rule = replace(section.rule, essential=False)
            gathered.sections[place] = replace(section, rule=rule)
    gathered.notes.append(
        f"what is essential needs {too_large.needed:,} tokens: of that, what has its kind by its"
        " name or type is shortened"
    )


def _with_notes(package: Package, notes: Sequence[str]) -> Package:
    if not notes:
        return package
    report = replace(package.report, notes=(*package.report.notes, *notes))
    return replace(package, report=report)


def _names(
    *, agent: str | None, skill: str | None, purpose: str | None, phase: str | int | None
) -> dict[str, str]:
    """For whom or what the context is: only what the request names."""
    names = {"agent": agent, "skill": skill, "purpose": purpose}
    if phase is not None:
        names["phase"] = str(phase)
    return {kind: name for kind, name in names.items() if name is not None}


def _source_argument(
    source: str | Path | SourceArgument | None, root: Path
) -> SourceArgument | None:
    """The source as readers take it: a text that is no path is the only item of a list."""
    if isinstance(source, Path):
        return str(source)
    if isinstance(source, str) and source_argument.is_text(source, root):
        return [source]
    return source


def _command_policy(spec: RecipeSpec, allow_commands: Sequence[str], allow_shell: bool) -> Policy:
    return Policy(
        tuple(allow_commands),
        allow_shell,
        timeout_seconds=spec.commands.timeout_seconds,
        output_bytes=spec.commands.output_bytes,
    )


def keep(
    package: Package, root: Path, db: Database | None = None, *, url: str | None = None
) -> Package:
    """Put the report and the originals into the store of that address, else the root's, which may
    be open already as `db`; a note says where they are not kept."""
    with open_store(root, url) if db is None else nullcontext(db) as store:
        if store.name == MEMORY and package.originals:
            package = _with_notes(package, ["no store can be written: originals are not kept"])
        save_report(store, package.originals, package.report.to_dict())
    return package


def _request(
    gathered: ReadingResult,
    *,
    selection: Selection,
    budget: Budget,
    counter: Counter,
    limits: Tiers,
) -> Request:
    notes = [*gathered.notes]
    if budget.has_window and budget.tokens > budget.window_tokens:
        notes.append(
            f"the budget of {budget.tokens:,} is larger than the window of {budget.window_tokens:,}"
        )
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
    if skill is None:
        return False
    for pattern in spec.skill_file:
        if isinstance(files.read(root, pattern.replace("{skill}", skill)), files.File):
            return True
    return False
