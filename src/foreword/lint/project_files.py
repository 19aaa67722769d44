"""The project's YAML files: can they be read, and is everything they name there.

Which file, which keys and which kind of document a value names is the recipe's: `read` says where a
value is, and a section with `named: "{value}"` says what it is the name of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foreword.errors import did_you_mean
from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem, error, warning
from foreword.recipe.schema import RecipeSpec
from foreword.sources import files
from foreword.sources.front_matter import LARGEST_YAML_CHARS, mapping
from foreword.sources.library import NEWEST, NONE

if TYPE_CHECKING:
    from yaml.nodes import Node

_LINE = re.compile(r" \(line ([0-9]+)\)$")
_BLANK = re.compile(r"\{(\w+)\}")
_NAMING = ("name", "file", "path", "id")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentName:
    """A name out of a project file, the kind of document it should be, and where it stands."""

    name: str
    value: str  # of the recipe: personas, language ...
    kind: str
    file: str
    line: int


def project(reading: DocumentIndex) -> Iterator[Problem]:
    """YAML that can't be read, and names of documents that are not there."""
    yield from _without_instructions(reading)
    for path in dict.fromkeys(
        [*_project_files(reading), *(one.path for one in reading.of_kind("policy"))]
    ):
        yield from _unreadable(reading, path)
    for named in names(reading):
        if named.name in ("", NEWEST, NONE) or reading.meant(named.name, named.kind) is not None:
            continue
        known = [document.name for document in reading.of_kind(named.kind)]
        guess = did_you_mean(named.name, known)
        hint = (
            f", did you mean {guess!r}?"
            if guess
            else ""
            if known
            else f": there is no {named.kind} at all"
        )
        message = f"{named.value}: no {named.kind} is called {named.name!r}{hint}"
        yield error(named.file, named.line, f"unknown-{named.kind}", message)


def _without_instructions(reading: DocumentIndex) -> Iterator[Problem]:
    """No base instructions at all, in a project that says what it is: nothing would hold always."""
    is_one = any(isinstance(reading.file(path), files.File) for path in _project_files(reading))
    if (
        is_one
        and "instructions" in reading.recipe.documents
        and not reading.of_kind("instructions")
    ):
        path = reading.recipe.documents["instructions"][0]
        within = ", ".join(f"{folder}/{path}" for folder in reading.recipe.within if folder)
        message = f"there is none, so nothing holds in every call; it may also be {within}"
        yield warning(path, 1, "no-instructions", message)


def names(reading: DocumentIndex) -> list[DocumentName]:
    """The documents that the project's files name, by the first key that has one."""
    kinds = _kinds(reading.recipe)
    return [
        named
        for value, how in reading.recipe.read.items()
        if value in kinds
        for named in _first(reading, value, kinds[value], how.file, how.at)
    ]


def _kinds(recipe: RecipeSpec) -> dict[str, str]:
    """Which kind of document each value of `read` names."""
    return {
        value: section.document
        for section in recipe.sections.values()
        if section.document
        for value in _BLANK.findall(section.named)
        if value in recipe.read
    }


def _project_files(reading: DocumentIndex) -> list[str]:
    return [reading.placed(path) for how in reading.recipe.read.values() for path in how.file]


def _unreadable(reading: DocumentIndex, path: str) -> Iterator[Problem]:
    file = reading.file(path)
    if isinstance(file, files.Skip):
        if file.reason not in ("missing", "empty"):
            yield error(path, 1, "unreadable-file", file.reason)
        return
    if len(file.text) > LARGEST_YAML_CHARS:
        yield error(
            path, 1, "too-large", f"more than {LARGEST_YAML_CHARS:,} characters: not looked into"
        )
        return
    problem = mapping(file.text)[1]
    if problem:
        line = _LINE.search(problem)
        yield error(path, int(line[1]) if line else 1, "bad-yaml", _LINE.sub("", problem))


def _first(
    reading: DocumentIndex, value: str, kind: str, paths: tuple[str, ...], at: tuple[str, ...]
) -> list[DocumentName]:
    for path in map(reading.placed, paths):
        root = _node(reading, path)
        for key in at:
            found = [
                DocumentName(name=name, value=value, kind=kind, file=path, line=line)
                for name, line in _leaves(_at(root, key))
            ]
            if found:
                return found
    return []


def _node(reading: DocumentIndex, path: str) -> Node | None:
    import yaml

    file = reading.file(path)
    if isinstance(file, files.Skip) or mapping(file.text)[1]:
        return None
    node: Node | None = yaml.compose(file.text, yaml.SafeLoader)
    return node


def _at(node: Node | None, key: str) -> Node | None:
    """The node at `a.b.c`, or None."""
    from yaml.nodes import MappingNode

    for step in key.split("."):
        members = node.value if isinstance(node, MappingNode) else []
        node = next((value for name, value in members if name.value == step), None)
    return node


def _leaves(node: Node | None) -> Iterator[tuple[str, int]]:
    """The names in a value with their lines: itself, or those of its members; of a mapping its
    name or path."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    if isinstance(node, ScalarNode) and node.tag not in (
        "tag:yaml.org,2002:null",
        "tag:yaml.org,2002:bool",
    ):
        yield node.value.strip(), node.start_mark.line + 1
    elif isinstance(node, SequenceNode):
        for member in node.value:
            yield from _leaves(member)
    elif isinstance(node, MappingNode):
        naming = [
            value
            for name, value in node.value
            if name.value in _NAMING and isinstance(value, ScalarNode)
        ]
        for member in naming[:1] or [value for _, value in node.value]:
            yield from _leaves(member)
