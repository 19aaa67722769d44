"""Build a workflow: create, change, delete and move its nodes.

Every change is one transaction that leaves all nodes numbered from top to bottom; a change that
can't be made changes nothing. What is answered is the node as a snapshot shows it, with `warnings`
where something else depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from foreword.errors import BadNode, UsageError
from foreword.plan import node as kinds
from foreword.plan import templates
from foreword.plan.node_tree import Tree, highest, number_of
from foreword.plan.snapshot import read_node
from foreword.plan.variables import of_node
from foreword.secrets.masking import hide
from foreword.session.workflow_state import WorkflowState
from foreword.store import workflows

CHANGEABLE = ("type", "config", "description")


def create_node(
    state: WorkflowState,
    type: str,  # noqa: A002 - the word of the snapshot
    config: Mapping[str, Any],
    description: str = "",
    *,
    after: str | None = None,
    parent: str | None = None,
    branch: str | None = None,
) -> dict[str, Any]:
    """Add a node: behind `after`, or at the end of its place ("start": at the beginning).

    `parent` is the loop or the condition that it stands in ("top": none), `branch` the way of a
    condition, then or else. Its id is `node` and a number that no node of this workflow ever had.
    """
    made = kinds.validate_node(type, config, description)
    with _changing(state) as tree:
        number = workflows.next_node(
            state.db, state.workflow.id, highest([*tree.nodes, *state.variables])
        )
        node = {
            "id": f"node{number}",
            "position": 0,
            "type": type,
            "config": made,
            "description": description,
        }
        tree.put(node, after, parent, branch)
    return _shown(state, str(node["id"]), _doubts(tree, str(node["id"])))


def update_node(state: WorkflowState, node: str, **changes: Any) -> dict[str, Any]:
    """Change a node's type, description or config: of a config only the fields given; null takes a
    field away.

    A status that was of another type or config is gone.
    """
    known = ", ".join(CHANGEABLE)
    unknown = [
        f"{name}: can't be changed so, only {known}" for name in changes if name not in CHANGEABLE
    ]
    if unknown or not changes:
        raise BadNode(unknown or [f"nothing to change: give {known}"], str(node)[:80])
    with _changing(state) as tree:
        found = tree.get(node)
        name, merged = str(found["id"]), {**found, **changes}
        if isinstance(merged["config"], Mapping) and merged["type"] == found["type"]:
            merged["config"] = {**found["config"], **merged["config"]}
        merged["config"] = kinds.validate_node(
            merged["type"], merged["config"], merged.get("description") or "", name
        )
        _refuse_lost_children(tree, name, str(merged["type"]))
        if merged["type"] != found["type"] or merged["config"] != found["config"]:
            merged.pop("status", None)
        tree.nodes[name] = merged
    return _shown(state, name, _doubts(tree, name))


def delete_node(state: WorkflowState, node: str) -> dict[str, Any]:
    """Remove a node with all that is inside it; tells which, and who misses it."""
    with _changing(state) as tree:
        gone = [str(one["id"]) for one in tree.drop(str(tree.get(node)["id"]))]
    warnings = [
        f"{user} uses {{{{{expression}}}}}"
        for user, expression in _uses(tree.nodes.values())
        if any(number_of(expression) and of_node({f"{expression}.": 0}, name) for name in gone)
    ]
    left = [name for one in gone for name in of_node(state.variables, one)]
    if left:
        warnings.append(f"still set: {', '.join(left)}; clear_variable removes them")
    return {"deleted": gone, **({"warnings": warnings} if warnings else {})}


def move_node(
    state: WorkflowState,
    node: str,
    *,
    after: str | None = None,
    parent: str | None = None,
    branch: str | None = None,
) -> dict[str, Any]:
    """Move a node with all that is inside it: places are named as in `create_node`; without a
    parent it stays inside the one it has, or goes to that of `after`."""
    if after is None and parent is None and branch is None:
        raise UsageError(
            "where to?", hint='give after (a node or "start"), or parent (a node or "top")'
        )
    with _changing(state) as tree:
        found = tree.get(node)
        tree.put(found, after, parent, branch)
    return _shown(state, str(found["id"]), _doubts(tree, str(found["id"])))


def set_status(state: WorkflowState, node: str, status: str | None) -> None:
    """Note the latest status of a node, if it is still there; without one, that there is none."""
    with state.db.transaction(_lock(state)):
        found = read(state).nodes.get(node)
        if found is not None and found.get("status") != status:
            rest = {name: value for name, value in found.items() if name != "status"}
            changed = {**rest, **({"status": status} if status else {})}
            workflows.put_node(state.db, state.workflow.id, read_node(changed))


def read(state: WorkflowState) -> Tree:
    """The nodes as they are now."""
    return Tree(workflows.nodes(state.db, state.workflow.id))


@contextmanager
def _changing(state: WorkflowState) -> Iterator[Tree]:
    """The nodes, to be changed; what is different afterwards is written, all or nothing."""
    with state.db.transaction(_lock(state)):
        before = {str(node["id"]): node for node in workflows.nodes(state.db, state.workflow.id)}
        tree = Tree(before.values())
        yield tree
        for node in tree.numbered():
            if node != before.get(str(node["id"])):
                workflows.put_node(state.db, state.workflow.id, read_node(node))
        for name in before.keys() - tree.nodes.keys():
            workflows.drop_node(state.db, state.workflow.id, name)


def _lock(state: WorkflowState) -> str:
    return f"foreword: nodes {state.workflow.id}"


def _refuse_lost_children(tree: Tree, name: str, kind: str) -> None:
    inside = [str(one["id"]) for one in tree.read(name)]
    holds = kinds.TYPES[kind].holds and (
        kind == "condition" or not tree.children(name, kinds.BRANCHES[1])
    )
    if inside and not holds:
        raise UsageError(
            f"{name} holds {', '.join(inside)}, which would stand nowhere",
            hint="move or delete those nodes first",
        )


def _doubts(tree: Tree, name: str) -> list[str]:
    """What can be said about a node before it has run: templates that name nodes which come
    later, or none."""
    order = [str(node["id"]) for node in tree.read()]
    around = {str(node["config"].get("as")) for node in tree.around(name) if node["type"] == "loop"}
    found = []
    for _, expression in _uses([tree.nodes[name]]):
        number, first = (
            number_of(expression),
            expression.partition(".")[0].partition("[")[0].strip(),
        )
        maker = next((one for one in order if number and number_of(one) == number), None)
        if not number or first in around:
            continue
        if maker is None:
            found.append(f"{{{{{expression}}}}}: there is no node{number}")
        elif order.index(maker) >= order.index(name):
            found.append(f"{{{{{expression}}}}}: {maker} comes later")
    return found


def _uses(nodes: Any) -> Iterator[tuple[str, str]]:
    for node in nodes:
        for expression in templates.expressions(node.get("config")):
            yield str(node["id"]), expression


def _shown(state: WorkflowState, name: str, warnings: Sequence[str]) -> dict[str, Any]:
    shown = hide(read(state).get(name))
    assert isinstance(shown, dict)
    return {**shown, **({"warnings": list(warnings)} if warnings else {})}
