"""`foreword lint`: check recipes, and the instruction files of a project.

What is wrong with a recipe is `recipe.load`'s to say, what is wrong with documents
`runtime.authoring`'s; here paths become the one or the other, and problems become lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.engine.table import printable
from foreword.errors import BadSource, RecipeError, UnknownName, at
from foreword.faces.cli import screen
from foreword.tokens import COUNTERS

if TYPE_CHECKING:
    from foreword.lint import LintResult, Problem

OWN = Path("foreword/recipes")
YAML = (".yaml", ".yml")
_RECIPE = re.compile(rb"^(?:sections|extends)[ \t]*:", re.MULTILINE)
_BEGINNING = 65_536

_Show = Callable[[str], str]  # a path from the root as the user would write it


@dataclass(kw_only=True)
class _FileProblems:
    """What all the paths came to."""

    recipes: list[str] = field(default_factory=list)
    documents: int = 0
    problems: list[Problem] = field(default_factory=list)
    excused: list[Problem] = field(default_factory=list)
    fixed: list[Problem] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)

    def count(self, severity: str) -> int:
        return sum(problem.severity == severity for problem in self.problems)


@dataclass(frozen=True)
class _LintOptions:
    """The options."""

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
    "--counter", metavar="|".join(COUNTERS), help="How tokens are counted.  [default: estimate]"
)
@click.option(
    "--fix",
    is_flag=True,
    help="Repair what is safe to repair: closing marks, white space in marks.",
)
@click.option("--show-excused", is_flag=True, help="Also show what the recipe's exceptions excuse.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def lint(
    paths: tuple[str, ...],
    recipe: str | None,
    counter: str | None,
    fix: bool,
    show_excused: bool,
    form: str,
) -> None:
    """Check recipes and instruction files.

    Takes projects, Markdown files, recipes (files, folders or names); without any, the project in
    this folder.

    Of a recipe it prints file:line:column: message. Of instruction files it prints file:line: code
    message, and whether it is an error or a warning. Exits with 1 if there is an error.

    \b
    errors    broken, unclosed, unopened, nested, repeated or unnamed marks; a file that a line such as
              `> **Adopt persona:** ...` or `Invoke prompt` or `Invoke panel` names and that is not there;
              names in project.yaml that mean nothing; files and folders that can't be read; workflows without phases;
              a size past the recipe's limit for errors
    warnings  other sizes past a limit, tiers over their budget, a file that a link or a path in prose names
              and that is not there, the same paragraph in two files, a persona without Role or Evaluate For,
              a project.yaml without instructions.md, a gap between phases, exceptions that nothing needs,
              links that lead nowhere or out of the project

    Exceptions are in the recipe: lint: {exceptions: [{file: GLOB, code: CODE, reason: WHY}]}.

    \b
    Examples:
      foreword lint
      foreword lint ../factory --counter o200k
      foreword lint governance/personas/reviewer.md --format json
      foreword lint --fix
      foreword lint foreword/recipes/mine.yaml director
    """  # noqa: E501 - a table, shown as it is written
    found, asked = _FileProblems(), _LintOptions(recipe, counter, fix)
    for path in paths or (".",):
        _check(path, asked, found, is_given=bool(paths))
    found.problems = _in_order(found.problems)
    if form == "json":
        _show_json(found, show_excused, fix)
    else:
        _show(found, show_excused)
    _sum_up(found)
    if found.count("error"):
        raise click.exceptions.Exit(1)


def _check(path: str, asked: _LintOptions, found: _FileProblems, is_given: bool) -> None:
    """One path: a project, a folder of recipes, a Markdown file, a project's YAML file or a
    recipe."""
    place = Path(path)
    if _is(place, "dir"):
        _check_folder(place, asked, found, is_given)
    elif path.endswith(".md") or (
        path.endswith(YAML) and _is(place, "file") and not _is_recipe(place)
    ):
        _check_file(place, asked, found)
    elif path.endswith(YAML) and not _is(place, "file"):
        raise BadSource(
            path, "there is no such file", hint="give a project, a Markdown file or a recipe"
        )
    else:
        _check_recipes([path], found)


def _is(path: Path, what: str) -> bool:
    try:
        return path.is_dir() if what == "dir" else path.is_file()
    except (OSError, ValueError):
        return False


def _is_recipe(path: Path) -> bool:
    """Whether a YAML file is a recipe: it lies among recipes, or has sections, or extends
    another."""
    from foreword.regular_file import Unusable, read_beginning

    if path.resolve().parent.name == OWN.name:
        return True
    try:
        return _RECIPE.search(read_beginning(path, _BEGINNING)) is not None
    except Unusable:
        return True  # why it can't be read is for the recipe's own check to say


# --- recipes --------------------------------------------------------------------------------------


def _check_recipes(names: Iterable[str], found: _FileProblems, root: Path = Path()) -> None:
    from foreword.lint import Problem
    from foreword.recipe import load as loading

    for name in names:
        found.recipes.append(name)
        try:
            problems: Iterable[RecipeError] = list(loading.problems(loading.layers(name, root)))
        except RecipeError as problem:
            problems = [problem]
        except UnknownName as unknown:
            raise _nowhere(name, unknown) from None
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


def _nowhere(name: str, unknown: UnknownName) -> BadSource | UnknownName:
    return BadSource(name, "there is no such file or folder") if "/" in name else unknown


def _recipe_files(folder: Path, inside: str, found: _FileProblems) -> list[str]:
    """The YAML files in a folder of a project; links out of it and shut folders are told."""
    from foreword.lint.problem import shut_folder, warning
    from foreword.recipe import load as loading
    from foreword.sources import files

    unread, paths = list[files.Skip](), list[str]()
    for suffix in YAML:
        paths += [
            str(folder / path) for path in files.find(folder, f"{inside}**/*{suffix}", unread)
        ]
    if inside:  # what is no regular file can be named all the same, and is an error then
        own = [
            str(path) for path in loading.names(folder).values() if path.parent != loading.BUILTIN
        ]
        paths = list(dict.fromkeys([*paths, *own]))
    for skip in dict.fromkeys(unread):
        place = str(folder / skip.path)
        if skip.is_shut:
            found.problems.append(shut_folder(place, skip.reason))
        elif (
            inside and place not in paths
        ):  # elsewhere, links are no business of whoever looks for recipes
            found.problems.append(warning(place, 1, "unused-link", f"{skip.reason}: left out"))
    return paths


# --- documents ------------------------------------------------------------------------------------


def _check_folder(folder: Path, asked: _LintOptions, found: _FileProblems, is_given: bool) -> None:
    checked = _check_project(folder, asked, found)
    recipes = _recipe_files(folder, f"{OWN}/", found)
    if is_given and not recipes and not checked:
        recipes = [path for path in _recipe_files(folder, "", found) if _is_recipe(Path(path))]
    _check_recipes(recipes, found, folder)
    if not recipes and not checked:
        found.looked.append(str(folder.resolve()))


def _check_project(folder: Path, asked: _LintOptions, found: _FileProblems) -> bool:
    """The documents of a project, if it has any."""
    try:
        return _check_documents(folder, folder.resolve(), asked, found)
    except RecipeError as wrong:
        if asked.recipe:
            raise
        screen.warn(f"{folder}: documents are not checked, for their recipe is wrong: {wrong.path}")
        return False


def _check_file(path: Path, asked: _LintOptions, found: _FileProblems) -> None:
    if not _is(path, "file"):
        raise BadSource(
            str(path), "there is no such file", hint="give a project, a Markdown file or a recipe"
        )
    _check_documents(path, path.parent.resolve() / path.name, asked, found)


def _check_documents(given: Path, real: Path, asked: _LintOptions, found: _FileProblems) -> bool:
    """A file or a folder, held against the project it belongs to; whether there was anything to
    check."""
    from foreword import lint

    root = lint.root_of(real, asked.recipe or lint.DEFAULT, Path().resolve())
    recipe = asked.recipe or lint.own_recipe(root)
    only = "" if real == root else real.relative_to(root).as_posix()

    def show(file: str) -> str:
        return str(given / (Path(file).relative_to(only) if only else file))

    checked = lint.lint_project(root, recipe, counter=asked.counter, only=only)
    if asked.fix and _fix(root, checked, show, found):
        checked = lint.lint_project(root, recipe, counter=asked.counter, only=only)
    _take(checked, show, found)
    return bool(checked.documents)


def _take(checked: LintResult, show: _Show, found: _FileProblems) -> None:
    found.documents += len(checked.documents)
    found.problems += [replace(problem, file=show(problem.file)) for problem in checked.problems]
    found.excused += [replace(problem, file=show(problem.file)) for problem in checked.excused]


def _fix(root: Path, checked: LintResult, show: _Show, found: _FileProblems) -> bool:
    """Repair what can be, and say so; whether anything was changed."""
    from foreword import lint

    problems, before = (
        [problem for problem in checked.problems if problem.fixable],
        len(found.fixed),
    )
    for file in dict.fromkeys(problem.file for problem in problems):
        fixed = lint.fix(root, file)
        if fixed.refused:
            screen.warn(f"{show(file)}: not fixed: {fixed.refused}")
        for repair in fixed.repairs:
            mine = [
                one
                for one in problems
                if (one.file, one.line, one.code) == (file, repair.line, repair.code)
            ]
            found.fixed += [replace(one, file=show(file)) for one in mine]
            screen.say(f"fixed {show(file)}:{repair.line}: {repair.code} {repair.right.strip()}")
    return len(found.fixed) > before


# --- output ---------------------------------------------------------------------------------------


def _in_order(problems: Iterable[Problem]) -> list[Problem]:
    from foreword.sources.files import natural

    return sorted(
        dict.fromkeys(problems), key=lambda one: (natural(one.file), one.line, one.column)
    )


def _show(found: _FileProblems, show_excused: bool) -> None:
    for problem in found.problems:
        click.echo(printable(_line(problem)))
    for problem in found.excused if show_excused else ():
        click.echo(
            printable(
                f"{problem.file}:{problem.line}: {problem.code} {problem.message} [excused:"
                f" {problem.excused}]"
            )
        )


def _line(problem: Problem) -> str:
    if problem.code == "bad-recipe":
        return f"{at(problem.file, problem.line, problem.column)}: {problem.message}"
    marked = f"{problem.severity}, fixable" if problem.fixable else problem.severity
    return f"{problem.file}:{problem.line}: {problem.code} {problem.message} [{marked}]"


def _show_json(found: _FileProblems, show_excused: bool, fix: bool) -> None:
    excused = (
        {"excused": [_as_json(one) | {"reason": one.excused} for one in found.excused]}
        if show_excused
        else {}
    )
    fixed = {"fixed": [_as_json(problem) for problem in found.fixed]} if fix else {}
    screen.show_json(
        {
            "problems": [_as_json(problem) for problem in found.problems],
            "checked": found.documents + len(found.recipes),
            "errors": found.count("error"),
            "warnings": found.count("warning"),
            **excused,
            **fixed,
        }
    )


def _as_json(problem: Problem) -> dict[str, object]:
    return {
        "file": problem.file,
        "line": problem.line,
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "fixable": problem.fixable,
    }


def _sum_up(found: _FileProblems) -> None:
    for place in found.looked:
        screen.say(
            f"nothing to check: no recipes in {place}/{OWN}, no instructions.md, personas/ or"
            f" prompts/ in {place}"
        )
    recipes, errors, warnings = len(found.recipes), found.count("error"), found.count("warning")
    if found.looked and not recipes and not found.documents:
        return None
    if not found.documents:
        return screen.say(
            f"{_many(recipes, 'recipe')} checked, {_many(len(found.problems), 'problem')}"
        )
    what = (
        _many(found.documents, "document")
        if not recipes
        else f"{_many(recipes, 'recipe')} and {_many(found.documents, 'document')}"
    )
    fixable = sum(problem.fixable for problem in found.problems)
    hint = f" ({fixable} can be fixed with --fix)" if fixable else ""
    return screen.say(
        f"{what} checked, {_many(errors, 'error')}, {_many(warnings, 'warning')}{hint}"
    )


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
