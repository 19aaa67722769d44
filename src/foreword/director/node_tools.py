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
from foreword.plan.node_tree import Tree, highest_number, number_of
from foreword.plan.snapshot import read_node
from foreword.plan.variable_text import of_node
from foreword.secrets.masking import hide
from foreword.session.workflow_state import WorkflowState
from foreword.store import workflows

CHANGEABLE = ("type", "config", "description")
LONGEST_NAME = 80  # characters of a node's name in an error; a model may make up any


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
    valid_type, valid_config = kinds.validate_node(type, config, description)
    with _edit_tree(state) as tree:
        least = highest_number([*tree.nodes, *state.get_workflow_variables()])
        number = workflows.next_node(state.db, state.workflow.id, least)
        node = {
            "id": f"node{number}",
            "position": 0,
            "type": valid_type,
            "config": valid_config,
            "description": description,
        }
        tree.put(node, after, parent, branch)
    return _node_answer(state, tree, str(node["id"]))


def update_node(state: WorkflowState, node: str, **changes: Any) -> dict[str, Any]:
    """Change a node's type, description or config: of a config only the fields given; null takes a
    field away. With another type, the fields stay that this type has as well.

    A status that was of another type or config is gone.
    """
    known = ", ".join(CHANGEABLE)
    problems = list[str]()
    for field in changes:
        if field not in CHANGEABLE:
            problems.append(f"{field}: can't be changed so, only {known}")
    if not changes:
        problems = [f"nothing to change: give {known}"]
    if problems:
        raise BadNode(problems, str(node)[:LONGEST_NAME])
    with _edit_tree(state) as tree:
        found = tree.get(node)
        name = str(found["id"])
        merged = {**found, "config": {}, **changes}
        kind, config = kinds.named_type(merged["type"], merged["config"])
        if isinstance(config, Mapping):
            config = kinds.own_names(str(kind), config)
            config = {**kinds.fitting_fields(kind, found["config"], config), **config}
        merged["type"], merged["config"] = kinds.validate_node(
            kind, config, merged.get("description") or "", name
        )
        _refuse_lost_children(tree, name, str(merged["type"]))
        if merged["type"] != found["type"] or merged["config"] != found["config"]:
            merged.pop("status", None)
        tree.nodes[name] = merged
    return _node_answer(state, tree, name)


def delete_node(state: WorkflowState, node: str) -> dict[str, Any]:
    """Remove a node with all that is inside it; tells which, and who misses it."""
    with _edit_tree(state) as tree:
        name = str(tree.get(node)["id"])
        deleted = [str(one["id"]) for one in tree.drop(name)]
    warnings = []
    for user, expression in _uses(tree.nodes.values()):
        if _names_one_of(expression, deleted):
            warnings.append(f"{user} uses {{{{{expression}}}}}")
    still_set = list[str]()
    for one in deleted:
        still_set += of_node(state.get_workflow_variables(), one)
    if still_set:
        warnings.append(f"still set: {', '.join(still_set)}; clear_variable removes them")
    answer: dict[str, Any] = {"deleted": deleted}
    if warnings:
        answer["warnings"] = warnings
    return answer


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
    with _edit_tree(state) as tree:
        found = tree.get(node)
        tree.put(found, after, parent, branch)
    return _node_answer(state, tree, str(found["id"]))


def set_status(state: WorkflowState, node: str, status: str | None) -> None:
    """Note the latest status of a node, if it is still there; without one, that there is none."""
    with state.db.transaction(_lock(state)):
        found = read_tree(state).nodes.get(node)
        if found is not None and found.get("status") != status:
            changed = {name: value for name, value in found.items() if name != "status"}
            if status:
                changed["status"] = status
            workflows.put_node(state.db, state.workflow.id, read_node(changed))


def read_tree(state: WorkflowState) -> Tree:
    """The nodes as they are now."""
    return Tree(workflows.nodes(state.db, state.workflow.id))


def put_tree(state: WorkflowState, tree: Tree) -> None:
    """Write the nodes of a workflow that has none, in their order."""
    for node in tree.in_order():
        workflows.put_node(state.db, state.workflow.id, read_node(node))


@contextmanager
def _edit_tree(state: WorkflowState) -> Iterator[Tree]:
    """The nodes, to be changed; what is different afterwards is written, all or nothing."""
    with state.db.transaction(_lock(state)):
        before = {str(node["id"]): node for node in workflows.nodes(state.db, state.workflow.id)}
        tree = Tree(before.values())
        yield tree
        for node in tree.in_order():
            if node != before.get(str(node["id"])):
                workflows.put_node(state.db, state.workflow.id, read_node(node))
        for name in before.keys() - tree.nodes.keys():
            workflows.drop_node(state.db, state.workflow.id, name)


def _lock(state: WorkflowState) -> str:
    return f"foreword: nodes {state.workflow.id}"


def _refuse_lost_children(tree: Tree, name: str, kind: str) -> None:
    """An error where nodes inside this one would stand nowhere, once it is of that kind."""
    inside = [str(one["id"]) for one in tree.read(name)]
    can_hold = kinds.TYPES[kind].holds
    if kind != "condition" and tree.children(name, kinds.BRANCHES[1]):
        can_hold = False  # only a condition has another side
    if inside and not can_hold:
        raise UsageError(
            f"{name} holds {', '.join(inside)}, which would stand nowhere",
            hint="move or delete those nodes first",
        )


def _doubts(tree: Tree, name: str) -> list[str]:
    """What can be said about a node before it has run: templates that name nodes which come
    later, or none."""
    order = [str(node["id"]) for node in tree.read()]
    loop_names = set[str]()
    for node in tree.ancestors(name):
        if node["type"] == "loop":
            loop_names.add(str(node["config"].get("as")))
    found = []
    for _, expression in _uses([tree.nodes[name]]):
        number = number_of(expression)
        first_word = expression.partition(".")[0].partition("[")[0].strip()
        if not number or first_word in loop_names:
            continue
        makers = [one for one in order if number_of(one) == number]
        if not makers:
            found.append(f"{{{{{expression}}}}}: there is no node{number}")
        elif order.index(makers[0]) >= order.index(name):
            found.append(f"{{{{{expression}}}}}: {makers[0]} comes later")
    return found


def _names_one_of(expression: str, nodes: Sequence[str]) -> bool:
    """Whether a template's expression is about a variable of one of these nodes."""
    if not number_of(expression):
        return False
    return any(of_node({f"{expression}.": 0}, name) for name in nodes)


def _uses(nodes: Any) -> Iterator[tuple[str, str]]:
    for node in nodes:
        for expression in templates.expressions(node.get("config")):
            yield str(node["id"]), expression


def _node_answer(state: WorkflowState, tree: Tree, name: str) -> dict[str, Any]:
    """A node as it was written, without secrets, and what is doubtful about it."""
    answer = hide(read_tree(state).get(name))
    assert isinstance(answer, dict)
    warnings = _doubts(tree, name)
    return {**answer, "warnings": warnings} if warnings else answer
