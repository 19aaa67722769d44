"""`foreword lint`: check recipes, and the instruction files of a project.

What is wrong with a recipe is `recipe.load`'s to say, what is wrong with documents is
`foreword.lint`'s; here paths become the one or the other, and problems become lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import printable
from foreword.errors import BadSource, RecipeError, UnknownName, at
from foreword.faces.cli import screen
from foreword.faces.cli.options import ROOT, form_option
from foreword.pattern import lazy_pattern
from foreword.regular_file import Unusable, read_beginning
from foreword.text.quantity import quantity
from foreword.tokens import COUNTERS

if TYPE_CHECKING:
    from foreword.lint import LintResult, Problem
    from foreword.plan.flow import Flow

RECIPE_FOLDER = Path("foreword/recipes")
YAML = (".yaml", ".yml")
_RECIPE_KEY = lazy_pattern(rb"^(?:sections|extends)[ \t]*:", re.MULTILINE)
# A recipe has one of these keys on its first pages; data may be gigabytes, and is not read.
_BEGINNING_BYTES = 65_536

_DisplayPath = Callable[[str], str]  # a path from the root as the user would write it


@dataclass(kw_only=True)
class _Findings:
    """What was found on all paths, filled path by path."""

    recipes: list[str] = field(default_factory=list)
    documents: int = 0
    problems: list[Problem] = field(default_factory=list)
    excused: list[Problem] = field(default_factory=list)
    fixed: list[Problem] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    empty_folders: list[str] = field(default_factory=list)  # nothing to check in them

    def count(self, severity: str) -> int:
        return sum(problem.severity == severity for problem in self.problems)


@dataclass(frozen=True)
class _LintOptions:
    """How documents are checked."""

    recipe: str | None
    counter: str | None
    fix: bool


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATHS]...")
@click.option(
    "--recipe",
    metavar="NAME",
    help="Whose limits and exceptions hold.  [default: factory, or yours that extends it]",
)
@click.option(
    "--counter", metavar="|".join(COUNTERS), help="How tokens are counted.  [default: o200k]"
)
@click.option(
    "--fix",
    is_flag=True,
    help="Repair what is safe to repair: marks, and panels that name their members elsewhere.",
)
@click.option("--show-excused", is_flag=True, help="Also show what the recipe's exceptions excuse.")
@form_option("text", "json")
@ROOT
def lint(
    paths: tuple[str, ...],
    recipe: str | None,
    counter: str | None,
    fix: bool,
    show_excused: bool,
    form: str,
    root: str,
) -> None:
    """Check recipes and instruction files.

    Takes projects, Markdown files, recipes (files, folders or names); without any, the project in
    the folder of --root.

    Of a recipe it prints file:line:column: message. Of instruction files it prints file:line: code
    message, and whether it is an error or a warning. Exits with 1 if there is an error.

    \b
    errors    broken, unclosed, unopened, nested, repeated or unnamed marks; a file that a line such as
              `> **Adopt persona:** ...` or `Invoke prompt` or `Invoke panel` names and that is not there;
              names in project.yaml that mean nothing; files and folders that can't be read; workflows without phases;
              members of a panel that do not exist or are not named in its front matter or list; an artifact that
              two phases hand on; a profile with an unknown field or a wrong value, at any depth;
              a size past the recipe's limit for errors
    warnings  other sizes past a limit, tiers over their budget, a file that a link or a path in prose names
              and that is not there, a persona without Role or Evaluate For,
              a project.yaml without instructions.md, a gap between phases,
              links that lead nowhere or out of the project, an artifact that is taken and never handed on,
              a condition or a section of a profile that no panel can check; front matter that is no YAML,
              which is an error in a SKILL.md; a skill without the name or the description that loaders ask for

    A project without such documents is checked for what it has for agents: skills, agents, commands,
    AGENTS.md, .director and the like, and any Markdown with front matter.

    Then it says what each phase of each workflow takes and hands on.

    Exceptions are in the recipe: lint: {exceptions: [{file: GLOB, code: CODE, reason: WHY}]}.

    \b
    Examples:
      foreword lint
      foreword lint ../factory --counter cl100k
      foreword lint governance/personas/reviewer.md --format json
      foreword lint --fix
      foreword lint foreword/recipes/mine.yaml director
    """  # noqa: E501 - a table, shown as it is written
    found = _Findings()
    options = _LintOptions(recipe=recipe, counter=counter, fix=fix)
    for path in paths or (root,):
        _check(path, options, found, is_given=bool(paths) or root != ".")
    found.problems = _in_order(found.problems)
    if form == "json":
        _show_json(found, show_excused=show_excused, fix=fix)
    else:
        _show_lines(found, show_excused)
        _say_handovers(found)
    _say_totals(found)
    if found.count("error"):
        raise click.exceptions.Exit(1)


def _check(path: str, options: _LintOptions, found: _Findings, is_given: bool) -> None:
    """One path: a project, a folder of recipes, a Markdown file, a project's YAML file or a
    recipe."""
    place = Path(path)
    if _is_folder(place):
        _check_folder(place, options, found, is_given)
    elif path.endswith(".md"):
        _check_file(place, options, found)
    elif not path.endswith(YAML):
        _check_recipes([path], found)
    elif not _is_file(place):
        raise _no_such_file(path)
    elif _is_recipe(place):
        _check_recipes([path], found)
    else:
        _check_file(place, options, found)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _no_such_file(path: str) -> BadSource:
    return BadSource(
        path, "there is no such file", hint="give a project, a Markdown file or a recipe"
    )


def _is_recipe(path: Path) -> bool:
    """Whether a YAML file is a recipe: it lies among recipes, or has sections, or extends
    another."""
    if path.resolve().parent.name == RECIPE_FOLDER.name:
        return True
    try:
        return _RECIPE_KEY.search(read_beginning(path, _BEGINNING_BYTES)) is not None
    except Unusable:
        return True  # why it can't be read is for the recipe's own check to say


# --- recipes --------------------------------------------------------------------------------------


def _check_recipes(names: Iterable[str], found: _Findings, root: Path = Path()) -> None:
    from foreword.lint import Problem
    from foreword.recipe import load as loading

    for name in names:
        found.recipes.append(name)
        try:
            problems: Iterable[RecipeError] = list(loading.problems(loading.layers(name, root)))
        except RecipeError as problem:
            problems = [problem]
        except UnknownName as unknown:
            if "/" in name:
                raise BadSource(name, "there is no such file or folder") from None
            raise unknown from None
        for one in problems:
            found.problems.append(
                Problem(
                    file=one.path,
                    line=one.line,
                    code="bad-recipe",
                    severity="error",
                    message=one.problem,
                    column=one.column,
                )
            )


def _recipe_files(folder: Path, inside: str, found: _Findings) -> list[str]:
    """The YAML files in a folder of a project; links out of it and folders that can't be read are
    problems."""
    from foreword.lint.problem import shut_folder, warning
    from foreword.recipe import load as loading
    from foreword.sources import files

    unread: list[files.Skip] = []
    paths: list[str] = []
    for suffix in YAML:
        matches = files.find(folder, f"{inside}**/*{suffix}", unread)
        paths += [str(folder / path) for path in matches]
    if inside:  # what is no regular file can be named all the same, and is an error then
        for path in loading.names(folder).values():
            if path.parent != loading.BUILTIN and str(path) not in paths:
                paths.append(str(path))
    for skip in dict.fromkeys(unread):
        place = str(folder / skip.path)
        if skip.is_shut:
            found.problems.append(shut_folder(place, skip.reason))
        elif inside and place not in paths:
            # elsewhere, links are no business of whoever looks for recipes
            found.problems.append(
                warning(place, 1, code="unused-link", message=f"{skip.reason}: left out")
            )
    return paths


# --- documents ------------------------------------------------------------------------------------


def _check_folder(folder: Path, options: _LintOptions, found: _Findings, is_given: bool) -> None:
    checked = _check_project(folder, options, found)
    recipes = _recipe_files(folder, f"{RECIPE_FOLDER}/", found)
    if is_given and not recipes and not checked:
        recipes = [path for path in _recipe_files(folder, "", found) if _is_recipe(Path(path))]
    _check_recipes(recipes, found, folder)
    if not recipes and not checked:
        found.empty_folders.append(str(folder.resolve()))


def _check_project(folder: Path, options: _LintOptions, found: _Findings) -> bool:
    """The documents of a project, if it has any."""
    try:
        return _check_documents(folder, folder.resolve(), options, found)
    except RecipeError as wrong:
        if options.recipe:
            raise
        screen.warn(f"{folder}: documents are not checked, for their recipe is wrong: {wrong.path}")
        return False


def _check_file(path: Path, options: _LintOptions, found: _Findings) -> None:
    if not _is_file(path):
        raise _no_such_file(str(path))
    _check_documents(path, path.parent.resolve() / path.name, options, found)


def _check_documents(path: Path, real: Path, options: _LintOptions, found: _Findings) -> bool:
    """A file or a folder, held against the project it belongs to; whether there was anything to
    check."""
    from foreword import lint

    root = lint.root_of(real, options.recipe or lint.DEFAULT, Path().resolve())
    recipe = options.recipe or lint.own_recipe(root)
    only = "" if real == root else real.relative_to(root).as_posix()

    def display_path(file: str) -> str:
        return str(path / (Path(file).relative_to(only) if only else file))

    checked = lint.lint_project(root, recipe, counter=options.counter, only=only)
    if options.fix and _fix(root, checked, display_path, found):
        checked = lint.lint_project(root, recipe, counter=options.counter, only=only)
    _add_result(checked, display_path, found)
    return bool(checked.documents)


def _add_result(checked: LintResult, display_path: _DisplayPath, found: _Findings) -> None:
    found.documents += len(checked.documents)
    found.flows += [replace(flow, source=display_path(flow.source)) for flow in checked.flows]
    for problem in checked.problems:
        found.problems.append(replace(problem, file=display_path(problem.file)))
    for problem in checked.excused:
        found.excused.append(replace(problem, file=display_path(problem.file)))


def _fix(root: Path, checked: LintResult, display_path: _DisplayPath, found: _Findings) -> bool:
    """Repair what can be, and say so; whether anything was changed."""
    from foreword import lint

    before = len(found.fixed)
    problems = [problem for problem in checked.problems if problem.fixable]
    for file in dict.fromkeys(problem.file for problem in problems):
        name = display_path(file)
        codes = {problem.code for problem in problems if problem.file == file}
        fixed = lint.fix(root, file, is_panel="panel-form" in codes)
        if fixed.refused:
            screen.warn(f"{name}: not fixed: {fixed.refused}")
        for repair in fixed.repairs:
            for problem in problems:
                if (problem.file, problem.line, problem.code) == (file, repair.line, repair.code):
                    found.fixed.append(replace(problem, file=name))
            screen.say(
                f"fixed {name}:{repair.line}: {repair.code} {' '.join(repair.right.split())}"
            )
    return len(found.fixed) > before


# --- output ---------------------------------------------------------------------------------------


def _in_order(problems: Iterable[Problem]) -> list[Problem]:
    from foreword.sources.files import natural

    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda problem: (natural(problem.file), problem.line, problem.column))


def _show_lines(found: _Findings, show_excused: bool) -> None:
    for problem in found.problems:
        label = f"{problem.severity}, fixable" if problem.fixable else problem.severity
        click.echo(printable(_problem_line(problem, label)))
    if show_excused:
        for problem in found.excused:
            click.echo(printable(_problem_line(problem, f"excused: {problem.excused}")))


def _problem_line(problem: Problem, label: str) -> str:
    if problem.code == "bad-recipe":
        return f"{at(problem.file, problem.line, problem.column)}: {problem.message}"
    return f"{problem.file}:{problem.line}: {problem.code} {problem.message} [{label}]"


def _show_json(found: _Findings, *, show_excused: bool, fix: bool) -> None:
    value: dict[str, object] = {
        "problems": [_as_json(problem) for problem in found.problems],
        "checked": found.documents + len(found.recipes),
        "errors": found.count("error"),
        "warnings": found.count("warning"),
        "flows": [_flow_as_json(flow) for flow in found.flows],
    }
    if show_excused:
        value["excused"] = [_as_json(one) | {"reason": one.excused} for one in found.excused]
    if fix:
        value["fixed"] = [_as_json(problem) for problem in found.fixed]
    screen.show_json(value)


def _as_json(problem: Problem) -> dict[str, object]:
    return {
        "file": problem.file,
        "line": problem.line,
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "fixable": problem.fixable,
    }


def _say_handovers(found: _Findings) -> None:
    """What each phase of each workflow takes and gives."""
    from foreword.plan.flow import handover_lines

    for flow in found.flows:
        screen.say(flow.source)
        for line in handover_lines(flow):
            screen.say(f"  {line}")


def _flow_as_json(flow: Flow) -> dict[str, object]:
    phases = list[dict[str, object]]()
    for phase in flow.phases:
        row: dict[str, object] = {
            "phase": phase.name,
            "title": phase.title,
            "after": list(phase.after),
            "takes": list(phase.takes),
            "hands_on": [phase.key, *phase.also],
        }
        phases.append(row)
    return {"file": flow.source, "phases": phases}


def _say_totals(found: _Findings) -> None:
    from foreword.lint.agent_files import WHERE

    for place in found.empty_folders:
        screen.say(
            f"nothing to check: no recipes in {place}/{RECIPE_FOLDER}; in {place} no"
            " instructions.md, personas/ or prompts/, nothing for agents"
            f" ({WHERE}), no front matter; --recipe names a recipe that says where else documents"
            " are"
        )
    if found.documents:
        _say_checked_documents(found)
    elif found.recipes or not found.empty_folders:
        recipes = quantity(len(found.recipes), "recipe")
        screen.say(f"{recipes} checked, {quantity(len(found.problems), 'problem')}")


def _say_checked_documents(found: _Findings) -> None:
    checked = quantity(found.documents, "document")
    if found.recipes:
        checked = f"{quantity(len(found.recipes), 'recipe')} and {checked}"
    errors = quantity(found.count("error"), "error")
    warnings = quantity(found.count("warning"), "warning")
    fixable = sum(problem.fixable for problem in found.problems)
    hint = f" ({fixable} can be fixed with --fix)" if fixable else ""
    screen.say(f"{checked} checked, {errors}, {warnings}{hint}")
