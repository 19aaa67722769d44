"""A workflow as it is now: its metadata and its nodes with their configuration, never what a run of
them gave.

Secrets are hidden in what a snapshot shows; `read_node` keeps them, since the node has to run.
Which nodes can be run is in `node`, where they stand in `node_tree`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from foreword.errors import BadNode
from foreword.plan.node import TYPES, named_type, own_names
from foreword.secrets.masking import hide
from foreword.secrets.text_search import remember_short

_RESULTS = frozenset(
    """
    result results output outputs log logs run runs execution executions lastresult lastresults
    lastoutput lastrun latestresult latestoutput executionresult executionresults executionoutput
    executionlog executionlogs executionhistory testresult testresults runresult runresults
    resultdata outputdata nodeoutput noderesult
    """.split()
)
_WORKFLOW_FIRST = ("id", "name", "created_at", "updated_at")
_NODE_FIRST = (
    "id",
    "position",
    "parent",
    "branch",
    "type",
    "config",
    "description",
    "relationships",
    "status",
)


def read_node(value: object, where: str = "node") -> dict[str, Any]:
    """A node as a snapshot has it, its id as text and no execution results, or `BadNode` with
    every problem."""
    problems = _problems(value)
    if problems or not isinstance(value, Mapping):
        raise BadNode(problems, where)
    kind, config = named_type(value["type"], value.get("config"))
    if kind in TYPES and isinstance(config, Mapping):
        return _node({**value, "type": kind, "config": own_names(str(kind), config)})
    return _node(value)


def snapshot(workflow: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The workflow and its nodes by position, then id, with their secrets hidden."""
    problems: list[str] = []
    for index, node in enumerate(nodes):
        problems += _problems(node, "nodes", index)
    if problems:
        raise BadNode(problems, "workflow")
    ordered = sorted(map(_node, nodes), key=lambda node: (node["position"], node["id"]))
    about = _without_results(workflow)
    about.pop("nodes", None)
    return {
        "workflow": hide(_in_order(about, _WORKFLOW_FIRST)),
        "nodes": [hide(node) for node in ordered],
    }


def as_json(workflow: Mapping[str, Any], nodes: Sequence[str]) -> str:
    """A snapshot for the model, as JSON with an indent of one: what is about the workflow, and its
    nodes as `node_json` writes them."""
    about = _indented_json(workflow, depth=1)
    listed = "[\n" + ",\n".join(nodes) + "\n ]" if nodes else "[]"
    return f'{{\n "workflow": {about},\n "nodes": {listed}\n}}'


def node_json(node: Mapping[str, Any]) -> str:
    """One node as it stands in the JSON of a snapshot."""
    return f"  {_indented_json(node, depth=2)}"


def _indented_json(value: Mapping[str, Any], depth: int) -> str:
    """Return the value as JSON with an indent of one, as it is written `depth` levels deep."""
    return json.dumps(value, indent=1, ensure_ascii=False).replace("\n", "\n" + " " * depth)


def _problems(value: object, *place: int | str) -> list[str]:
    from foreword.plan import node_shape, validation  # pydantic, for those who check alone

    return validation.problems(node_shape.NodeShape, value, place)


def _node(value: Mapping[str, Any]) -> dict[str, Any]:
    node = _without_results(value)
    node["id"] = str(value["id"])
    node["config"] = dict(value.get("config") or {})
    return _in_order(node, _NODE_FIRST)


def _in_order(fields: Mapping[str, Any], first: Sequence[str]) -> dict[str, Any]:
    """The fields that people look for first, then the others as they came."""
    names = dict.fromkeys([*first, *fields])
    return {name: fields[name] for name in names if name in fields}


def _without_results(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if not _is_result(str(name))}


@remember_short
def _is_result(name: str) -> bool:
    return re.sub(r"[\W_]+", "", name).lower() in _RESULTS
