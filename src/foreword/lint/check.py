"""Check what the authors of a project wrote: every document by itself, all of them together, and
what is excused.

`check` gives the problems alone, `lint_project` all there is to tell. Limits, kinds and exceptions
are the recipe's. Nothing is written here (`repair` does) and nothing is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from foreword.errors import RecipeError, UsageError
from foreword.lint import document_checks
from foreword.lint.agent_files import agent_files
from foreword.lint.document_index import AUTHORED, LARGEST_CHARS, DocumentIndex, glob
from foreword.lint.panel_checks import panel_problems
from foreword.lint.problem import Problem, shut_folder, warning
from foreword.lint.project_files import project, project_files
from foreword.lint.tier_limits import tiers
from foreword.plan.flow import Flow
from foreword.plan.flow_parsing import parse_flow
from foreword.recipe import load as loading
from foreword.recipe.budget import choose_counter
from foreword.recipe.schema import RecipeSpec
from foreword.sources import documents, files
from foreword.sources.documents import Document
from foreword.sources.library import Library
from foreword.sources.project_root import project_root
from foreword.text import lines
from foreword.tokens import Counter

DEFAULT = "factory"
PROJECT_FILES = (".git", "foreword", "instructions.md", "project.yaml")
PROJECT_CHECKS: tuple[Callable[[DocumentIndex], Iterator[Problem]], ...] = (
    tiers,
    project,
    panel_problems,
)


@dataclass(frozen=True, slots=True)
class LintResult:
    """What was found in a project, in the order of files and lines."""

    problems: tuple[Problem, ...]
    excused: tuple[Problem, ...]
    documents: tuple[str, ...]  # the paths that were checked
    flows: tuple[Flow, ...] = ()  # of the workflows among them: what each phase takes and gives


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
    index = DocumentIndex(
        library=Library(base, _document_rules(recipe, base)), counter=choose_counter(counter, None)
    )
    checked = [*index.authored_documents, *_other_file(index, only)]
    if not index.authored_documents and not only:
        checked = agent_files(index)
    if not checked and not index.library.unread and not only:
        return LintResult((), (), ())
    problems, excused = _without_excused(index.recipe, _problems(index, checked))
    paths = [document.path for document in checked] + _yaml_files(index)
    return LintResult(
        problems=_in_order(problems, only),
        excused=_in_order(excused, only),
        documents=tuple(path for path in paths if _is_in(path, only)),
        flows=tuple(_flows(index, only)),
    )


def _flows(index: DocumentIndex, only: str) -> Iterator[Flow]:
    """The workflows that have phases."""
    for document in index.of_kind("workflow"):
        if not _is_in(document.path, only) or len(index.text(document.path)) > LARGEST_CHARS:
            continue
        text = lines.with_newlines(index.text(document.path))
        flow = parse_flow(text, name=document.name, source=document.path)
        if 0 < len(flow.phases) <= document_checks.MOST_PHASES:
            yield flow


def _problems(index: DocumentIndex, checked: Sequence[Document]) -> Iterator[Problem]:
    """What is wrong with each document, and with all of them together."""
    yield from _unread(index)
    for document in checked:
        yield from document_checks.document_problems(index, document)
    for project_check in PROJECT_CHECKS:
        yield from project_check(index)


def _unread(index: DocumentIndex) -> Iterator[Problem]:
    """Folders that can't be looked into, and links that are not followed."""
    for skip in index.library.unread:
        if skip.is_shut:
            yield shut_folder(skip.path, skip.reason)
        else:
            yield warning(skip.path, 1, code="unused-link", message=f"{skip.reason}: left out")


def _other_file(index: DocumentIndex, path: str) -> list[Document]:
    """A Markdown file that was asked for and is no document."""
    is_document = any(document.path == path for document in index.authored_documents)
    if is_document or not path.endswith(".md") or not (index.root / path).is_file():
        return []
    return [Document("", path, path)]


def _is_in(path: str, only: str) -> bool:
    return not only or path == only or path.startswith(f"{only}/")


def _document_rules(recipe: str, root: Path) -> RecipeSpec:
    rules = loading.load(recipe, root)
    if not any(kind in AUTHORED for kind in rules.documents):
        raise UsageError(
            f"recipe {recipe!r} says nothing about documents, so there is nothing to hold them to",
            hint=f"take the recipe {DEFAULT}, or a recipe of yours that extends it",
        )
    return rules


def _yaml_files(index: DocumentIndex) -> list[str]:
    """The YAML files that were read besides."""
    paths = [path for path in dict.fromkeys(project_files(index)) if not _is_missing(index, path)]
    return paths + [document.path for document in index.of_kind("policy")]


def _is_missing(index: DocumentIndex, path: str) -> bool:
    file = index.file(path)
    return isinstance(file, files.Skip) and file.reason == "missing"


def _in_order(problems: Sequence[Problem], only: str) -> tuple[Problem, ...]:
    inside = [problem for problem in problems if _is_in(problem.file, only)]
    return tuple(sorted(inside, key=_order_key))


def _order_key(problem: Problem) -> tuple[object, ...]:
    return files.natural(problem.file), problem.line, problem.code, problem.message


# --- exceptions -----------------------------------------------------------------------------------


def _without_excused(
    recipe: RecipeSpec, found: Iterable[Problem]
) -> tuple[list[Problem], list[Problem]]:
    """The problems, and those that an exception of the recipe excuses, with its reason."""
    exceptions = _exceptions(recipe)
    problems = list[Problem]()
    excused = list[Problem]()
    for problem in found:
        reason = _excuse(problem, exceptions)
        if reason:
            excused.append(replace(problem, excused=reason))
        else:
            problems.append(problem)
    return problems, excused


@dataclass(frozen=True, slots=True)
class _ExceptionRule:
    """An exception of the recipe's, with its glob ready to match."""

    files: re.Pattern[str]
    code: str
    reason: str

    def excuses(self, problem: Problem) -> bool:
        if self.code not in ("*", problem.code):
            return False
        return self.files.fullmatch(problem.file) is not None


def _exceptions(recipe: RecipeSpec) -> list[_ExceptionRule]:
    return [
        _ExceptionRule(glob(rule.file), rule.code, rule.reason) for rule in recipe.lint.exceptions
    ]


def _excuse(problem: Problem, exceptions: Sequence[_ExceptionRule]) -> str:
    for exception in exceptions:
        if exception.excuses(problem):
            return exception.reason
    return ""


# --- whose files they are -------------------------------------------------------------------------


def own_recipe(root: Path) -> str:
    """The project's own recipe for its documents: the only one that extends the default, else
    the default."""
    extending = list[str]()
    for path in loading.recipes_to_list(root)[0].values():
        if path.parent != loading.BUILTIN and _extends(path, root) == DEFAULT:
            extending.append(path.stem)
    return extending[0] if len(extending) == 1 else DEFAULT


def _extends(path: Path, root: Path) -> object:
    try:
        return loading.read_layer(path, root).data.get("extends")
    except RecipeError:
        return None  # what is wrong with it is told where recipes are checked


def root_of(path: Path, recipe: str = DEFAULT, within: Path | None = None) -> Path:
    """The project that a file or a folder belongs to: a folder that looks like one is its own;
    else `within`, or the farthest folder above, from where it has documents of the recipe's;
    else what it is in. A `.git` is never left."""
    if any((path / name).exists() for name in PROJECT_FILES):
        return path
    rules = loading.load(recipe, path.parent)
    candidates = list(reversed(_folders_above(path)))
    is_within = within is not None and within in path.parents
    if within is not None and is_within:
        candidates.insert(0, within)
    for folder in candidates:
        if _has_documents(folder, path, rules):
            return folder
    if path.is_dir():
        return path
    if within is not None and is_within and path.suffix == ".md":
        return within
    return path.parent


def _folders_above(path: Path) -> list[Path]:
    """The folders that a path is in, the nearest first, up to the first that has a `.git`."""
    folders = list[Path]()
    for folder in path.parents:
        folders.append(folder)
        if (folder / ".git").exists():
            break
    return folders


def _has_documents(folder: Path, path: Path, rules: RecipeSpec) -> bool:
    """Whether the path is, or holds, a document of a project in this folder."""
    relative = path.relative_to(folder).as_posix()
    for document in documents.find_documents(folder, rules.documents, rules.within):
        if document.path == relative:
            return True
        if document.kind in AUTHORED and _is_in(document.path, relative):
            return True
    return False
