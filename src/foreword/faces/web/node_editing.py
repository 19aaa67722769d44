"""Nodes made, changed, moved and deleted on the page: each is a call of the director's tool by
hand, so that a director knows of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from starlette.responses import Response

from foreword.errors import UnknownName, UsageError
from foreword.faces.http.director_job import DirectorJob
from foreword.faces.web import addresses, node_form
from foreword.faces.web.chat import stored_workflow, test
from foreword.faces.web.node_form import NodeField
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.operations import node_operations
from foreword.operations.node_operations import NodeEntry
from foreword.plan.node import TYPES
from foreword.plan.node_tree import START, TOP, Tree
from foreword.session.workflow_state import WorkflowState

# For a change to be made before the page is shown again; it is a matter of milliseconds, unless
# a store of somebody else's is slow.
CHANGE_SECONDS = 10.0
DIGEST_BYTES = 16  # two states of one node are told apart: 2**64 of them would meet
CHANGED_MEANWHILE = (
    "The node was changed meanwhile. Save again to put what stands here in its place, or cancel to"
    " see what it is now."
)
FAILED = "failed: "  # how the outcome of a tool begins that failed


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEdit:
    """A node as it stands in the form, and what stood in its way."""

    node: str  # blank for a new one
    kind: str
    about: str
    description: str
    fields: list[NodeField]
    after: str = ""  # of a new one
    parent: str = ""
    branch: str = ""
    seen: str = ""  # a digest of the node as it was when the form was made
    problem: str = ""


def edit_of(request: ViewRequest, entries: list[NodeEntry]) -> NodeEdit | None:
    """The form that the page was asked for: to `edit` a node, or to `add` one of a type."""
    wanted = request.text("edit")
    if wanted:
        entry = find_entry(entries, wanted)
        return _edit(
            entry.type,
            entry.config,
            node=entry.id,
            description=entry.description,
            seen=_digest(entry),
        )
    kind = request.text("add")
    if not kind:
        return None
    if kind not in TYPES:
        raise UnknownName("type", kind[:80], TYPES)
    place = {name: request.text(name) for name in ("after", "parent", "branch")}
    return _edit(kind, {}, **place)


def _edit(kind: str, config: Mapping[str, Any], **more: Any) -> NodeEdit:
    if kind not in TYPES:
        raise UsageError(f"nodes of type {kind!r} are not made here", hint="they are only shown")
    return NodeEdit(
        kind=kind,
        about=node_form.about(kind),
        fields=node_form.fields(kind, config),
        **{"node": "", "description": "", **more},
    )


def save(request: ViewRequest) -> Response | NodeEdit:
    """Make or change a node, and test it if that was the button; the form again where it is
    refused."""
    kind = request.text("type")
    if kind not in TYPES:
        raise UnknownName("type", kind[:80], TYPES)
    node = request.text("node")
    description = request.text("description").strip()
    try:
        with request.state() as state:
            entries = node_operations.node_entries(state)
        now = _digest(find_entry(entries, node)) if node else ""
        if request.text("seen") not in ("", now):
            return _again(request, kind, CHANGED_MEANWHILE, seen=now)
        tool, arguments = _change(request, kind, node, description, entries)
        outcome = _call(request, tool, arguments)
    except UsageError as error:
        return _again(request, kind, error.message)
    if outcome.problem or outcome.outcome is None or outcome.outcome.failed:
        text = outcome.outcome.text if outcome.outcome else outcome.problem
        return _again(request, kind, text.removeprefix(FAILED))
    if request.text("then") == "test" and node:
        return test(request)
    return go_to(addresses.session(request.workflow, "workflow", saved=node or "new"))


def _change(
    request: ViewRequest, kind: str, node: str, description: str, entries: list[NodeEntry]
) -> tuple[str, dict[str, Any]]:
    """The tool that does what the form says, and what it is given."""
    if not node:
        arguments = {
            "type": kind,
            "config": node_form.config_of(kind, request.form),
            "description": description,
        }
        for name in ("after", "parent", "branch"):
            if request.text(name):
                arguments[name] = request.text(name)
        return "create_node", arguments
    entry = find_entry(entries, node)
    changed: dict[str, Any] = {}
    config = node_form.changes(kind, request.form, entry.config)
    if config:
        changed["config"] = config
    if description != entry.description:
        changed["description"] = description
    if not changed:
        raise UsageError("nothing is different")
    return "update_node", {"node": node, **changed}


def _digest(entry: NodeEntry) -> str:
    """What tells a node from the same one after a change."""
    shown = json.dumps([entry.type, entry.config, entry.description], sort_keys=True, default=str)
    return blake2b(shown.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).hexdigest()


def _again(request: ViewRequest, kind: str, problem: str, *, seen: str = "") -> NodeEdit:
    """The form as it was filled in, and what stopped it."""
    try:
        config = node_form.config_of(kind, request.form)
    except UsageError:
        config = {}
    place = {name: request.text(name) for name in ("after", "parent", "branch")}
    return _edit(
        kind,
        config,
        node=request.text("node"),
        description=request.text("description"),
        seen=seen or request.text("seen"),
        problem=problem,
        **place,
    )


def move(request: ViewRequest) -> Response:
    """Move a node up or down among those it stands with, or delete it."""
    node = request.text("node")
    way = request.text("way")
    if way == "delete":
        return change(request, "delete_node", {"node": node})
    with request.state() as state:
        place = _place_beside(state, node, up=way == "up")
    if place is None:
        return go_to(addresses.session(request.workflow, "workflow"))
    return change(request, "move_node", {"node": node, **place})


def change(request: ViewRequest, tool: str, arguments: dict[str, Any]) -> Response:
    """Call a tool that changes nodes, and show them; an error where it can't."""
    _finish(_call(request, tool, arguments))
    return go_to(addresses.session(request.workflow, "workflow"))


def _place_beside(state: WorkflowState, node: str, *, up: bool) -> dict[str, str] | None:
    """Where a node goes that changes places with its neighbour; nothing where it has none."""
    tree = Tree(node_operations.stored_nodes(state))
    name = str(tree.get(node)["id"])
    around = tree.ancestors(name)
    parent = str(around[-1]["id"]) if around else ""
    for branch in tree.branches(parent):
        siblings = [str(one["id"]) for one in tree.children(parent, branch)]
        if name not in siblings:
            continue
        at = siblings.index(name)
        if up and at >= 2:
            return {"after": siblings[at - 2]}
        if up and at == 1:
            first = {"after": START, "parent": parent or TOP}
            return {**first, "branch": branch} if branch else first
        if not up and at + 1 < len(siblings):
            return {"after": siblings[at + 1]}
    return None


def find_entry(entries: list[NodeEntry], name: str) -> NodeEntry:
    """The node of that name; an error that names those there are."""
    for entry in entries:
        if entry.id == name:
            return entry
    raise UnknownName("node", name[:80], [entry.id for entry in entries])


def _call(request: ViewRequest, tool: str, arguments: dict[str, Any]) -> DirectorJob:
    directors = request.app_state.directors
    job = directors.call(stored_workflow(request), tool=tool, arguments=arguments)
    job.ended.wait(CHANGE_SECONDS)
    return job


def _finish(job: DirectorJob) -> None:
    if job.problem:
        raise UsageError(job.problem, hint=job.hint)
    if job.outcome is not None and job.outcome.failed:
        raise UsageError(job.outcome.text.removeprefix(FAILED))
