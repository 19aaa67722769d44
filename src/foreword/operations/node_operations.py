"""The nodes of a workflow in words, what each gave last, and the runs of them.

For reading, with every secret that the workflow holds hidden. Nodes are built by
`director.node_tools` and run by `director.runner`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from foreword.errors import UnknownName
from foreword.operations.operation import Name, NoInput, Operation, OperationInput
from foreword.operations.paging import Listing, Page, PageInput
from foreword.plan.node import BRANCHES
from foreword.plan.node_sentences import sentence
from foreword.plan.node_tree import Tree
from foreword.secrets.known_values import KnownValues
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results, node_runs, workflows
from foreword.store.node_results import Result as Result
from foreword.store.node_runs import NodeRun as NodeRun


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEntry:
    """One node in the list, secrets hidden."""

    id: str
    type: str
    does: str  # in words
    description: str
    status: str
    config: Any
    around: tuple[str, ...]  # the loops and conditions that it stands in, the outermost first
    branch: str
    begins_else: bool  # the first node of a condition's other way
    last: Result | None


class RunChoice(OperationInput):
    """Which run."""

    run: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeResult:
    """What a node gave."""

    run: Annotated[str, Field(description="The run it was in; `test` for a single test.")]
    key: Annotated[str, Field(description="Which turn of the node, as in `node5[2]/node6`.")]
    status: str
    created: str
    told: Annotated[
        dict[str, Any],
        Field(description="`result`, `variables`, `error`, `page`, `seconds`: whatever there is."),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLine:
    """One node."""

    id: str
    type: str
    does: Annotated[str, Field(description="What it does, in words.")]
    description: str
    status: Annotated[str, Field(description="Blank, `running`, `success` or `failed`.")]
    inside: Annotated[
        tuple[str, ...],
        Field(description="The loops and conditions around it, the outermost first."),
    ]
    branch: str
    last: NodeResult | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One run."""

    run: str
    attempt: int
    status: Annotated[str, Field(description="`running`, `success`, `failed` or `stopped`.")]
    stopped_at: Annotated[
        str, Field(description="The turn of the node at which it stopped, or blank.")
    ]
    started: str
    updated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResults(RunLine):
    """One run with everything its nodes gave."""

    results: list[NodeResult]


def list_nodes(state: WorkflowState, given: NoInput) -> Listing[NodeLine]:
    """List the nodes of a workflow from top to bottom: what each does, how it stands, what it
    gave last."""
    return Listing(items=[_node_line(entry) for entry in node_entries(state)])


def _node_line(entry: NodeEntry) -> NodeLine:
    return NodeLine(
        id=entry.id,
        type=entry.type,
        does=entry.does,
        description=entry.description,
        status=entry.status,
        inside=entry.around,
        branch=entry.branch,
        last=_node_result(entry.last) if entry.last else None,
    )


def _node_result(result: Result) -> NodeResult:
    return NodeResult(
        run=result.run,
        key=result.key,
        status=result.status,
        created=result.created,
        told=result.output,
    )


def list_runs(state: WorkflowState, given: PageInput) -> Page[RunLine]:
    """List the runs of a workflow's nodes, the newest first."""
    begin = given.cursor or 0
    every = runs(state)
    page = every[begin : begin + given.limit]
    end = begin + len(page)
    lines = [RunLine(**_run_fields(run)) for run in page]
    return Page(items=lines, next=end if end < len(every) else None)


def get_run(state: WorkflowState, given: RunChoice) -> RunResults:
    """Show one run, with everything its nodes gave, in order."""
    run = existing_run(state, given.run)
    results = [_node_result(result) for result in results_of(state, run)]
    return RunResults(**_run_fields(run), results=results)


def _run_fields(run: NodeRun) -> dict[str, Any]:
    return {
        "run": run.run,
        "attempt": run.attempt,
        "status": run.status,
        "stopped_at": run.failed_at,
        "started": run.started,
        "updated": run.updated,
    }


LIST_NODES = Operation(run=list_nodes, scope="workflow")
LIST_RUNS = Operation(run=list_runs, scope="workflow")
GET_RUN = Operation(run=get_run, scope="workflow")


def stored_nodes(state: WorkflowState) -> Sequence[dict[str, Any]]:
    """The nodes as they are kept, in their order; secrets are not hidden."""
    return workflows.nodes(state.db, state.workflow.id)


def newest_results(state: WorkflowState) -> dict[str, Result]:
    """What each node gave last, by its id; secrets are not hidden."""
    return node_results.newest(state.db, state.workflow.id)


def node_entries(state: WorkflowState) -> list[NodeEntry]:
    """Every node from top to bottom: what it does, how it stands, what it gave last."""
    tree = Tree(stored_nodes(state))
    newest = newest_results(state)
    secrets = state.secrets()
    return [_entry(tree, node, newest.get(str(node["id"])), secrets) for node in tree.read()]


def _entry(
    tree: Tree, node: dict[str, Any], last: Result | None, secrets: KnownValues
) -> NodeEntry:
    name = str(node["id"])
    around = tuple(str(parent["id"]) for parent in tree.ancestors(name))
    return NodeEntry(
        id=name,
        type=str(node["type"]),
        does=secrets.text(sentence(node)),
        description=secrets.text(str(node.get("description") or "")),
        status=str(node.get("status") or ""),
        config=secrets.value(node.get("config") or {}),
        around=around,
        branch=str(node.get("branch") or ""),
        begins_else=bool(around) and _begins_else(tree, name, around[-1]),
        last=_without_secrets(last, secrets) if last else None,
    )


def _begins_else(tree: Tree, name: str, parent: str) -> bool:
    _, other_way = BRANCHES
    if other_way not in tree.branches(parent):
        return False
    children = tree.children(parent, other_way)
    return bool(children) and str(children[0]["id"]) == name


def _without_secrets(result: Result, secrets: KnownValues) -> Result:
    output = secrets.value(result.output)
    assert isinstance(output, dict)
    return replace(result, output=output)


def runs(state: WorkflowState) -> list[NodeRun]:
    """Every run of the nodes, the newest first."""
    return node_runs.runs_of(state.db, state.workflow.id)


def existing_run(state: WorkflowState, name: str) -> NodeRun:
    """The run of that name; an error where there is none."""
    found = node_runs.find(state.db, state.workflow.id, name)
    if found is None:
        raise UnknownName("run", name[:80], [run.run for run in runs(state)])
    return found


def results_of(state: WorkflowState, run: NodeRun) -> list[Result]:
    """Everything that the nodes of a run gave, in order; secrets are hidden."""
    results = node_results.of_run(state.db, state.workflow.id, run.run)
    secrets = state.secrets()
    return [_without_secrets(result, secrets) for result in results.values()]
