"""The tools of a director in one table: name, description, what each takes, and what it does.

A model is given them, and so is a person without one, at the command line and on the page. What a
tool does is somebody else's business: `node_tools`, `runner`, `debug_tools`, `scout`, and the
operations for plan and variables. How a call is checked, run and answered is said by `tool_calls`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from pydantic import Field

from foreword.director import debug_tools, node_tools, runner, scout
from foreword.director.row_text import with_row
from foreword.director.tool import Answer, Arguments, DirectorTool, Run, ToolText
from foreword.director.tool_context import ToolContext
from foreword.operations import (
    context_operations,
    conversation_operations,
    plan_operations,
    variable_operations,
)
from foreword.operations.operation import AnyOperation, OperationInput
from foreword.operations.session_operations import NodeChoice
from foreword.plan.action_words import outline
from foreword.plan.node import TYPES


class NodeToCreate(OperationInput):
    """A node, and where it goes."""

    type: ToolText
    config: dict[str, Any]
    description: ToolText
    after: ToolText | None = None
    parent: ToolText | None = None
    branch: ToolText | None = None


class NodeToUpdate(OperationInput):
    """What is different about a node."""

    node: ToolText
    type: ToolText | None = None
    config: dict[str, Any] | None = None
    description: ToolText | None = None


class NodeToMove(OperationInput):
    """A node, and where it goes."""

    node: ToolText
    after: ToolText | None = None
    parent: ToolText | None = None
    branch: ToolText | None = None


class RunToStart(OperationInput):
    """A new run, or one to go on with, and what becomes of its step that may have happened."""

    resume: ToolText | None = None
    again: ToolText | None = None
    skip: ToolText | None = None
    seconds: float | None = Field(None, gt=0, description="How long it may take; else 4 hours.")


class ScoutOrder(OperationInput):
    """What a scout is sent for."""

    instruction: ToolText
    url: ToolText | None = None


def _operation_tool(operation: AnyOperation, note: str = "") -> DirectorTool:
    """A tool that is an operation on the director's session; its answer is no larger than a result
    may be, unless a budget was given."""

    def run(context: ToolContext, given: Arguments) -> Answer:
        target = context.session.db if operation.scope == "store" else context.session
        if "budget" in operation.takes.model_fields:
            given = {"budget": context.result_tokens, **given}
        return operation.perform(nullcontext(target), given)

    return DirectorTool(
        name=operation.name,
        about=f"{operation.about} {note}".rstrip(),
        run=run,
        takes=operation.takes,
        reads=operation.access == "reads",
    )


def _on_session(change: Callable[..., Answer]) -> Run:
    """A tool that changes the nodes of the director's session."""

    def run(context: ToolContext, given: Arguments) -> Answer:
        return change(context.session, **given)

    return run


def _create(context: ToolContext, given: Arguments) -> Answer:
    return node_tools.create_node(context.session, **with_row(context, given))


def _update(context: ToolContext, given: Arguments) -> Answer:
    node = node_tools.read_tree(context.session).get(given["node"])
    return node_tools.update_node(context.session, **with_row(context, given, node))


def _test(context: ToolContext, given: Arguments) -> Answer:
    return runner.test_single_node(context.session, context.browser_or_none, given["node"])


def _run(context: ToolContext, given: Arguments) -> Answer:
    """Run it all; each turn of a node is told as it happens, and counted at the end: their
    results are in the store."""

    def on_step(step: Answer) -> None:
        event = {"type": "step", "node": step["node"], "key": step["key"], "status": step["status"]}
        context.tell(event)

    result = runner.run_workflow(
        context.session,
        context.browser_or_none,
        resume=given.get("resume"),
        again=given.get("again"),
        skip=given.get("skip"),
        seconds=given.get("seconds") or runner.RUN_SECONDS,
        keep_login=context.resources.keep_login,
        on_step=on_step,
        cancel=context.cancel,
    )
    turns = Counter(str(step["node"]) for step in result["steps"])
    return {**result, "steps": dict(turns)}


_ALL = (
    DirectorTool(
        name="create_node",
        about=(
            f"Add a node. Its type decides its config: {outline(TYPES)}. Nodes on a page also take"
            " tab, timeout (seconds), retries, on_failure: go_on; those that click or press also"
            " dialog: accept or dismiss, and dialog_text. A click in a row of a list is made only"
            " while that row says what it says now (row). fields of extract is {name: selector or"
            " {selector, attribute}}; what it reads is {{nodeN.variable}} later. A loop"
            " over pages has next, the selector of what leads to the next one, and extract with"
            " append: true inside. while and until take what a condition takes. parent puts a node"
            " into a loop or condition (branch: else for its other side); after names the node it"
            " follows, else it is the last."
        ),
        run=_create,
        takes=NodeToCreate,
    ),
    DirectorTool(
        name="update_node",
        about=(
            "Change a node: of config only the fields given, null removes one. Test it again"
            " afterwards."
        ),
        run=_update,
        takes=NodeToUpdate,
    ),
    DirectorTool(
        name="delete_node",
        about="Remove a node and what is inside it.",
        run=_on_session(node_tools.delete_node),
        takes=NodeChoice,
    ),
    DirectorTool(
        name="move_node",
        about=(
            'Move a node behind another one (after), to the beginning (after: "start"), or into a'
            " loop or condition (parent)."
        ),
        run=_on_session(node_tools.move_node),
        takes=NodeToMove,
    ),
    DirectorTool(
        name="test_single_node",
        about=(
            "Run one node in the browser as it stands now. Its result, or what failed and how the"
            " page stands."
        ),
        run=_test,
        takes=NodeChoice,
        kind="execution_result",
    ),
    DirectorTool(
        name="run_workflow",
        about=(
            "Run the whole workflow, in a browser that is started anew. resume: the name of a run"
            " that failed, or last; it goes on at the node where it stopped. Where that may have"
            " happened, it stops with a question: look at the site, then resume with skip: NODE if"
            " it has happened, again: NODE if not."
        ),
        run=_run,
        takes=RunToStart,
        kind="execution_result",
    ),
    *debug_tools.TOOLS,
    DirectorTool(
        name="deploy_scout",
        about=(
            "Send an explorer with a fresh context and a tab of its own; it reports pages,"
            " elements and selectors. Say exactly what you need to know; it knows nothing of this"
            " conversation."
        ),
        run=scout.deploy_scout,
        takes=ScoutOrder,
    ),
    _operation_tool(plan_operations.UPDATE_PLAN),
    _operation_tool(plan_operations.GET_CURRENT_PLAN),
    _operation_tool(variable_operations.GET_WORKFLOW_VARIABLE, "Secrets stay hidden."),
    _operation_tool(variable_operations.SET_VARIABLE),
    _operation_tool(variable_operations.CLEAR_VARIABLE),
    _operation_tool(variable_operations.CLEAR_ALL_VARIABLES, "The user's, too."),
    _operation_tool(context_operations.RECALL),
    _operation_tool(conversation_operations.RECALL_MESSAGES),
)

TOOLS: dict[str, DirectorTool] = {tool.name: tool for tool in _ALL}
