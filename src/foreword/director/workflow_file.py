"""A workflow as a file: its nodes and the variables they need, as JSON with a schema; and back.

No secret is written: a file names the secrets that a workflow needs. A file that comes back
unchanged into the store it was written from is known by its digest, and takes their values from the
workflow it is a copy of; for any other they are set by hand.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from foreword.director import node_tools
from foreword.errors import BadNode, ForewordError, StoreError, UsageError
from foreword.plan import node as kinds
from foreword.plan import templates, validation
from foreword.plan.node_shape import CONFIGS
from foreword.plan.node_tree import Node, Tree, number_of
from foreword.plan.validation import DataShape, FilledText, Text
from foreword.secrets.masking import hide
from foreword.secrets.placeholders import HIDDEN
from foreword.session.workflow_state import WorkflowState
from foreword.store import workflows
from foreword.store.carried_items import read_items, write_items

FORMAT = "foreword workflow"
VERSION = 1  # of the file, for those who read it later
MOST_NODES = 10_000  # of a file: far more than a person reads, and some seconds to import
_WRITTEN = ("id", "type", "description", "config", "parent", "branch")  # of a node, in this order
_KIND = "workflow export"
_REASON = "from a workflow file"


class FileNode(DataShape):
    """A node in a file; those that stand inside others name them."""

    id: FilledText
    type: FilledText
    config: dict[str, Any]
    description: Text = ""
    parent: FilledText | None = None
    branch: Literal["then", "else"] | None = None


class WorkflowFile(DataShape):
    """A workflow in a file, its nodes from top to bottom."""

    format: Literal["foreword workflow"]
    version: Literal[1]
    name: Text = ""
    nodes: list[FileNode] = Field(max_length=MOST_NODES)
    variables: dict[str, Any] = Field(default_factory=dict)
    secrets: list[Text] = Field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """What came of a file."""

    nodes: int
    variables: list[str]  # that were set
    missing: list[str]  # secrets that are to be set
    taken_from: str  # the workflow that the values of secrets are from, or blank


def export(state: WorkflowState) -> dict[str, Any]:
    """The workflow as a file holds it; an error where a node has a secret in it."""
    tree = node_tools.read_tree(state)
    if not tree.nodes:
        raise UsageError(f"{state.workflow.name!r} has no nodes", hint="build it first")
    nodes = [_written_node(node) for node in tree.in_order()]
    values = dict[str, Any]()
    secrets = list[str]()
    for name, value in _needed_variables(state, tree).items():
        shown = hide({name: value})
        assert isinstance(shown, dict)
        secrets += _hidden_paths(shown[name], name)
        visible = _without_hidden(shown[name])
        if visible is not None:
            values[name] = visible
    made = {
        "format": FORMAT,
        "version": VERSION,
        "name": state.workflow.name,
        "nodes": nodes,
        "variables": values,
        "secrets": secrets,
    }
    _remember(state, made)
    return made


def load(state: WorkflowState, content: object) -> ImportResult:
    """Build the workflow that a file holds, in one that has no nodes yet; all or nothing."""
    problems = validation.problems(WorkflowFile, content)
    if problems or not isinstance(content, Mapping):
        raise BadNode(problems, "file")
    _refuse_bad_nodes(content["nodes"])
    source = _source_of(state, content)
    given = dict(content.get("variables") or {})
    needed = list(content.get("secrets") or ())
    with state.db.transaction(f"foreword: nodes {state.workflow.id}"):
        if node_tools.read_tree(state).nodes:
            raise UsageError(
                f"{state.workflow.name!r} has nodes already", hint="import it under another name"
            )
        node_tools.put_tree(state, _tree(content["nodes"]))
        known = state.get_workflow_variables()
        if source:
            given |= _values_of(state, source, [*given, *needed])
        new = {name: value for name, value in given.items() if name not in known}
        for name, value in new.items():
            state.set_variable(name, value, _REASON)
    now = state.get_workflow_variables()
    return ImportResult(
        nodes=len(content["nodes"]),
        variables=sorted(new),
        missing=[path for path in needed if not _is_set(path, now)],
        taken_from=source if source and needed else "",
    )


def schema() -> dict[str, Any]:
    """The JSON Schema of a file, with what each type of node takes."""
    made = WorkflowFile.model_json_schema()
    choices = list[dict[str, Any]]()
    for kind, config in CONFIGS.items():
        shape = config.model_json_schema(ref_template=f"#/$defs/{kind}.{{model}}")
        for name, inner in shape.pop("$defs", {}).items():
            made["$defs"][f"{kind}.{name}"] = inner
        choices.append({"properties": {"type": {"const": kind}, "config": shape}})
    made["$defs"]["FileNode"]["oneOf"] = choices
    return made


# --- writing --------------------------------------------------------------------------------------


def _written_node(node: Node) -> dict[str, Any]:
    if HIDDEN in json.dumps(hide(node.get("config") or {}), ensure_ascii=False):
        raise UsageError(
            f"{node['id']} has a secret in it, which no file may hold",
            hint="keep it in a variable and use it as {{creds.password}}",
        )
    return {name: node[name] for name in _WRITTEN if node.get(name) not in (None, "")}


def _needed_variables(state: WorkflowState, tree: Tree) -> dict[str, Any]:
    """The variables that nodes name and that no node of the workflow gives."""
    known = state.get_workflow_variables()
    set_here = set[str]()
    for node in tree.nodes.values():
        if node["type"] == "set_variable":
            set_here.add(str(node["config"].get("variable")))
    needed = dict[str, Any]()
    for node in tree.read():
        for expression in templates.expressions(node.get("config")):
            for name, value in known.items():
                is_named = expression == name or expression.startswith((f"{name}.", f"{name}["))
                if is_named and name not in set_here and not number_of(name):
                    needed[name] = value
    return needed


def _hidden_paths(value: object, path: str) -> Iterator[str]:
    """Where a value without its secrets had one."""
    if value == HIDDEN:
        yield path
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from _hidden_paths(member, f"{path}.{name}")
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _hidden_paths(member, f"{path}[{number}]")


def _without_hidden(value: Any) -> Any:
    """The rest of a value; None where nothing of it may be shown."""
    if value == HIDDEN:
        return None
    if isinstance(value, Mapping):
        rest = {name: _without_hidden(member) for name, member in value.items()}
        return {name: member for name, member in rest.items() if member is not None} or None
    return value


# --- reading --------------------------------------------------------------------------------------


def _refuse_bad_nodes(nodes: list[Mapping[str, Any]]) -> None:
    problems = list[str]()
    known = dict[str, str]()
    for node in nodes:
        name = str(node["id"])
        kind, config = kinds.named_type(node["type"], node["config"])
        found = kinds.problems(kind, config, node.get("description") or "")
        problems += [f"{name}: {problem}" for problem in found]
        if name in known:
            problems.append(f"{name}: is there twice")
        parent = node.get("parent")
        if parent is not None and not kinds.holds_nodes(known.get(parent, "")):
            problems.append(f"{name}: parent: {parent} is no loop or condition in front of it")
        known[name] = str(kind)
    if problems:
        raise BadNode(problems, "file")


def _tree(nodes: list[Mapping[str, Any]]) -> Tree:
    written = list[Node]()
    for position, node in enumerate(nodes, 1):
        shown = {name: node[name] for name in _WRITTEN if node.get(name) is not None}
        written.append({**shown, "position": position})
    return Tree(written)


def _values_of(state: WorkflowState, source: str, paths: list[str]) -> dict[str, Any]:
    """The variables of another workflow of the store that these are, or are parts of."""
    found = workflows.find_workflow(state.db, source)
    values = dict[str, Any]()
    for name, value in WorkflowState(state.db, found).get_workflow_variables().items():
        if any(_is_part_of(path, name) for path in paths):
            values[name] = value
    return values


def _is_part_of(path: str, variable: str) -> bool:
    """Whether a path names a variable, or something in it."""
    return path == variable or path.startswith((f"{variable}.", f"{variable}["))


def _is_set(path: str, variables: Mapping[str, Any]) -> bool:
    try:
        value = templates.fill(f"{{{{{path}}}}}", templates.Scope(variables))
    except ForewordError:
        return False
    return value not in (None, "")


# --- which files are our own ----------------------------------------------------------------------


def _digest(content: Mapping[str, Any]) -> str:
    written = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(written.encode()).hexdigest()


def _remember(state: WorkflowState, made: Mapping[str, Any]) -> None:
    if state.db.read_only:
        return
    digest = _digest(made)
    item = {"kind": _KIND, "title": digest, "text": state.workflow.name}
    try:
        write_items(state.db, _KIND, {(_KIND, digest): item})
    except StoreError:
        return  # the file is good without it: secrets are set by hand then


def _source_of(state: WorkflowState, content: Mapping[str, Any]) -> str:
    """The workflow of this store that a file was written from, if nobody has changed it since."""
    digest = _digest(content)
    for item in read_items(state.db, _KIND):
        if item["title"] == digest:
            return str(item["text"])
    return ""
