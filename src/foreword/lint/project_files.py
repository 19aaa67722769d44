"""The project's YAML files: can they be read, and is everything they name there.

Which file, which keys and which kind of document a value names is the recipe's: `read` says where a
value is, and a section with `named: "{value}"` says what it is the name of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foreword.errors import did_you_mean
from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem, error, shared_name, warning
from foreword.pattern import lazy_pattern
from foreword.recipe.schema import FileValue, RecipeSpec
from foreword.sources import files
from foreword.sources.front_matter import LARGEST_YAML_CHARS, mapping
from foreword.sources.library import DESCRIBED, NEWEST, NONE

if TYPE_CHECKING:
    from yaml.nodes import Node

_LINE = lazy_pattern(r" \(line ([0-9]+)\)$")
_BLANK = lazy_pattern(r"\{(\w+)\}")
_NAMING = ("name", "file", "path", "id")
_NO_NAMES = ("tag:yaml.org,2002:null", "tag:yaml.org,2002:bool")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentName:
    """A name out of a project file, the kind of document it should be, and where it stands."""

    name: str
    value: str  # of the recipe: personas, language ...
    kind: str
    file: str
    line: int


def project(index: DocumentIndex) -> Iterator[Problem]:
    """YAML that can't be read, and names of documents that are not there."""
    yield from _without_instructions(index)
    policies = [document.path for document in index.of_kind("policy")]
    for path in dict.fromkeys([*project_files(index), *policies]):
        yield from _unreadable(index, path)
    for named in names(index):
        if named.name in ("", NEWEST, NONE):
            continue
        shared = index.namesake_paths(named.name, named.kind)
        if shared:
            yield shared_name(named.file, named.line, named.name, shared)
        elif index.find(named.name, named.kind) is None:
            yield from _unknown_name(index, named)


def _unknown_name(index: DocumentIndex, named: DocumentName) -> Iterator[Problem]:
    known = [document.name for document in index.of_kind(named.kind)]
    if named.kind in DESCRIBED and not known:
        return
    message = f"{named.value}: no {named.kind} is called {named.name!r}"
    guess = did_you_mean(named.name, known)
    if guess:
        message += f", did you mean {guess!r}?"
    elif not known:
        message += f": there is no {named.kind} at all"
    tell = warning if named.kind in DESCRIBED else error
    yield tell(named.file, named.line, f"unknown-{named.kind}", message)


def _without_instructions(index: DocumentIndex) -> Iterator[Problem]:
    """No base instructions at all, in a project that says what it is: nothing would hold always."""
    if "instructions" not in index.recipe.documents or index.of_kind("instructions"):
        return
    if not any(isinstance(index.file(path), files.File) for path in project_files(index)):
        return
    path = index.recipe.documents["instructions"][0]
    within = ", ".join(f"{folder}/{path}" for folder in index.recipe.within if folder)
    message = f"there is none, so nothing holds in every call; it may also be {within}"
    yield warning(path, 1, code="no-instructions", message=message)


def names(index: DocumentIndex) -> list[DocumentName]:
    """The documents that the project's files name, by the first key that has one."""
    kinds = _kinds(index.recipe)
    found = list[DocumentName]()
    for value, how in index.recipe.read.items():
        if value in kinds:
            found += _first_names(index, value, kinds[value], how)
    return found


def _kinds(recipe: RecipeSpec) -> dict[str, str]:
    """Which kind of document each value of `read` names."""
    kinds = dict[str, str]()
    for section in recipe.sections.values():
        if section.document:
            for value in _BLANK.findall(section.named):
                if value in recipe.read:
                    kinds[value] = section.document
    return kinds


def project_files(index: DocumentIndex) -> list[str]:
    """The paths of the YAML files that the recipe reads values from."""
    paths = list[str]()
    for how in index.recipe.read.values():
        paths += [index.path_of(path) for path in how.file]
    return paths


def _unreadable(index: DocumentIndex, path: str) -> Iterator[Problem]:
    file = index.file(path)
    if isinstance(file, files.Skip):
        if file.reason not in ("missing", "empty"):
            yield error(path, 1, code="unreadable-file", message=file.reason)
        return
    if len(file.text) > LARGEST_YAML_CHARS:
        message = f"more than {LARGEST_YAML_CHARS:,} characters: not looked into"
        yield error(path, 1, code="too-large", message=message)
        return
    _, problem = mapping(file.text)
    if problem:
        line = _LINE.search(problem)
        yield error(
            path, int(line[1]) if line else 1, code="bad-yaml", message=_LINE.sub("", problem)
        )


def _first_names(index: DocumentIndex, value: str, kind: str, how: FileValue) -> list[DocumentName]:
    for path in map(index.path_of, how.file):
        root = _node(index, path)
        for key in how.at:
            found = list[DocumentName]()
            for name, line in _leaves(_at(root, key)):
                found.append(DocumentName(name=name, value=value, kind=kind, file=path, line=line))
            if found:
                return found
    return []


def _node(index: DocumentIndex, path: str) -> Node | None:
    import yaml

    file = index.file(path)
    if isinstance(file, files.Skip) or mapping(file.text)[1]:
        return None
    node: Node | None = yaml.compose(file.text, yaml.SafeLoader)
    return node


def _at(node: Node | None, key: str) -> Node | None:
    """The node at `a.b.c`, or None."""
    for step in key.split("."):
        node = _member(node, step)
    return node


def _member(node: Node | None, name: str) -> Node | None:
    from yaml.nodes import MappingNode

    if isinstance(node, MappingNode):
        for key, value in node.value:
            if key.value == name:
                member: Node = value
                return member
    return None


def _leaves(node: Node | None) -> Iterator[tuple[str, int]]:
    """The names in a value with their lines: itself, or those of its members; of a mapping its
    name or path."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if isinstance(node, ScalarNode):
        if node.tag not in _NO_NAMES:
            yield node.value.strip(), node.start_mark.line + 1
    elif isinstance(node, SequenceNode):
        for member in node.value:
            yield from _leaves(member)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            if key.value in _NAMING and isinstance(value, ScalarNode):
                yield from _leaves(value)
                return
        for _, value in node.value:
            yield from _leaves(value)
