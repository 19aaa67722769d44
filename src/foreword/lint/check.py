"""Check what the authors of a project wrote: every document by itself, all of them together, and
what is excused.

`check` gives the problems alone, `lint_project` all there is to tell. Limits, kinds and exceptions are the
recipe's. Nothing is written here (`repair` does) and nothing is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from foreword.errors import RecipeError, UsageError
from foreword.lint import document_checks
from foreword.lint.document_index import AUTHORED, DocumentIndex, glob
from foreword.lint.problem import Problem, shut_folder, warning
from foreword.lint.project_files import project
from foreword.lint.repeats import repeats
from foreword.lint.tier_limits import tiers
from foreword.recipe import load as loading
from foreword.recipe.budget import choose_counter
from foreword.recipe.document import problem_at
from foreword.recipe.schema import RecipeSpec
from foreword.sources import documents, files
from foreword.sources.documents import Document
from foreword.sources.library import Library
from foreword.sources.project_root import project_root
from foreword.tokens import Counter

DEFAULT = "factory"
OF_A_PROJECT = (".git", "foreword", "instructions.md", "project.yaml")
TOGETHER: tuple[Callable[[DocumentIndex], Iterator[Problem]], ...] = (repeats, tiers, project)


@dataclass(frozen=True, slots=True)
class LintResult:
    """What was found in a project, in the order of files and lines."""

    problems: tuple[Problem, ...]
    excused: tuple[Problem, ...]
    documents: tuple[str, ...]  # the paths that were checked


def check(
    root: str | Path, recipe: str = DEFAULT, *, counter: str | Counter | None = None
) -> list[Problem]:
    """The problems of a project's instruction files, without those that the recipe excuses."""
    return list(lint_project(root, recipe, counter=counter).problems)


def lint_project(
    root: str | Path, recipe: str = DEFAULT, *, counter: str | Counter | None = None, only: str = ""
) -> LintResult:
    """Check a project, or `only` one file or folder of it, held against the whole; of a file
    that is no document the marks and links are checked."""
    base = project_root(root)
    reading = DocumentIndex(
        library=Library(base, _rules(recipe, base)), counter=choose_counter(counter, None)
    )
    stranger = _stranger(reading, only)
    if not reading.authored and not reading.library.unread and not only:
        return LintResult((), (), ())
    found = chain(
        _unread(reading),
        chain.from_iterable(
            document_checks.document(reading, one) for one in [*reading.authored, *stranger]
        ),
        chain.from_iterable(together(reading) for together in TOGETHER),
    )
    problems, excused = _without_excused(reading.recipe, found)
    if not only:
        problems += _stale(recipe, base, reading.recipe, excused)
    checked = [one.path for one in [*reading.authored, *stranger]] + _beside(reading)
    return LintResult(
        _in_order(problems, only),
        _in_order(excused, only),
        tuple(path for path in checked if _is_in(path, only)),
    )


def _unread(reading: DocumentIndex) -> Iterator[Problem]:
    """Folders that can't be looked into, and links that are not followed."""
    for skip in reading.library.unread:
        if skip.is_shut:
            yield shut_folder(skip.path, skip.reason)
        else:
            yield warning(skip.path, 1, "unused-link", f"{skip.reason}: left out")


def _stranger(reading: DocumentIndex, path: str) -> list[Document]:
    """A Markdown file that was asked for and is no document."""
    is_one = path.endswith(".md") and path not in {document.path for document in reading.authored}
    return [Document("", path, path)] if is_one and (reading.root / path).is_file() else []


def _is_in(path: str, only: str) -> bool:
    return not only or path == only or path.startswith(f"{only}/")


def _rules(recipe: str, root: Path) -> RecipeSpec:
    rules = loading.load(recipe, root)
    if not any(kind in AUTHORED for kind in rules.documents):
        raise UsageError(
            f"recipe {recipe!r} says nothing about documents, so there is nothing to hold them to",
            hint=f"take --recipe {DEFAULT}, or a recipe of yours that extends it",
        )
    return rules


def _beside(reading: DocumentIndex) -> list[str]:
    """The YAML files that were read besides."""
    named = [reading.placed(path) for how in reading.recipe.read.values() for path in how.file]
    policies = [document.path for document in reading.of_kind("policy")]
    there = [path for path in dict.fromkeys(named) if not _is_missing(reading, path)]
    return [*there, *policies]


def _is_missing(reading: DocumentIndex, path: str) -> bool:
    file = reading.file(path)
    return isinstance(file, files.Skip) and file.reason == "missing"


def _in_order(problems: Sequence[Problem], only: str) -> tuple[Problem, ...]:
    mine = [problem for problem in problems if _is_in(problem.file, only)]
    return tuple(
        sorted(mine, key=lambda one: (files.natural(one.file), one.line, one.code, one.message))
    )


# --- exceptions -----------------------------------------------------------------------------------


def _without_excused(
    recipe: RecipeSpec, found: Iterator[Problem]
) -> tuple[list[Problem], list[Problem]]:
    rules = [
        (glob(excused.file), excused.code, excused.reason) for excused in recipe.lint.exceptions
    ]
    problems, excused = list[Problem](), list[Problem]()
    for problem in found:
        reason = next(
            (
                why
                for file, code, why in rules
                if code in ("*", problem.code) and file.fullmatch(problem.file)
            ),
            "",
        )
        (excused if reason else problems).append(replace(problem, excused=reason))
    return problems, excused


def _stale(name: str, root: Path, recipe: RecipeSpec, excused: Sequence[Problem]) -> list[Problem]:
    """Exceptions that nothing needs any more, at their line in the recipe."""
    found = list[Problem]()
    for index, rule in enumerate(recipe.lint.exceptions):
        pattern = glob(rule.file)
        if not any(rule.code in ("*", one.code) and pattern.fullmatch(one.file) for one in excused):
            at = problem_at(loading.layers(name, root), ("lint", "exceptions", index), "")
            path = Path(at.path).resolve()
            shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
            message = (
                f"nothing needs the exception for {rule.code} in {rule.file} any more: take it out"
            )
            found.append(warning(shown, at.line, "stale-exception", message))
    return found


# --- whose files they are -------------------------------------------------------------------------


def own_recipe(root: Path) -> str:
    """The project's own recipe for its documents: the only one that extends the default, else
    the default."""
    own = [
        path for path in loading.recipes_to_list(root)[0].values() if path.parent != loading.BUILTIN
    ]
    mine = [path.stem for path in own if _extends(path, root) == DEFAULT]
    return mine[0] if len(mine) == 1 else DEFAULT


def _extends(path: Path, root: Path) -> object:
    try:
        return loading.read_layer(path, root).data.get("extends")
    except RecipeError:
        return None  # what is wrong with it is told where recipes are checked


def root_of(path: Path, recipe: str = DEFAULT, within: Path | None = None) -> Path:
    """The project that a file or a folder belongs to: a folder that looks like one is its own;
    else `within`, or the farthest folder above, from where it has documents of the recipe's;
    else what it is in. A `.git` is never left."""
    if any((path / name).exists() for name in OF_A_PROJECT):
        return path
    rules = loading.load(recipe, path.parent)
    above = list(path.parents)
    mine = [within] if within is not None and within in above else []
    stop = next(
        (index for index, folder in enumerate(above) if (folder / ".git").exists()), len(above)
    )
    for folder in [*mine, *reversed(above[: stop + 1])]:
        relative = path.relative_to(folder).as_posix()
        found = documents.find_documents(folder, rules.documents, rules.within)
        if any(
            _is_in(one.path, relative)
            for one in found
            if one.kind in AUTHORED or one.path == relative
        ):
            return folder
    if path.is_dir():
        return path
    return mine[0] if mine and path.suffix == ".md" else path.parent
