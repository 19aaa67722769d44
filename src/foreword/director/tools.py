"""The tools of a director in one table: name, description, what each takes, and what it does.

A model is given them, and so is a person without one, at the command line and on the page. What a
tool does is somebody else's business: `node_tools`, `runner`, `debug_tools`, `scout`, and
`operations.operations` for plan and variables. How a call is checked, run and answered is said by
`tool_calls`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from foreword.director import debug_tools, node_tools, runner, scout
from foreword.director.tool import (
    ANY,
    INTEGER,
    OBJECT,
    REASON,
    TEXT,
    Answer,
    Arguments,
    DirectorTool,
    Run,
)
from foreword.director.tool_context import ToolContext
from foreword.operations import operations


def _on_session(operation: Callable[..., Answer]) -> Run:
    """A tool that is an operation on the director's session."""

    def run(context: ToolContext, given: Arguments) -> Answer:
        return operation(context.session, **given)

    return run


def _within_budget(operation: Callable[..., Answer]) -> Run:
    """The same, its answer no larger than a result may be, unless a budget was given."""

    def run(context: ToolContext, given: Arguments) -> Answer:
        return operation(context.session, **{"budget": context.result_tokens, **given})

    return run


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
        on_step=on_step,
        cancel=context.cancel,
    )
    turns = Counter(str(step["node"]) for step in result["steps"])
    return {**result, "steps": dict(turns)}


def _recall(context: ToolContext, given: Arguments) -> Answer:
    return operations.recall(context.session.db, **{"budget": context.result_tokens, **given})


_ALL = (
    DirectorTool(
        name="create_node",
        about=(
            "Add a node. Its type decides its config: navigate {url, tab?}; click {selector,"
            " tab?}; type {selector, text, tab?}; wait {selector | url | seconds, tab?}; extract"
            " {selector, variable, many?, fields?: {name: selector or {selector, attribute}},"
            " schema?, tab?}, read later as {{nodeN.variable}}; condition {left, operator,"
            " right?}; loop {over, as, most?}; set_variable {variable, value}. parent puts it"
            " into a loop or condition (branch: else for its other side); after names the node it"
            " follows, else it is the last."
        ),
        run=_on_session(node_tools.create_node),
        takes={
            "type": TEXT,
            "config": OBJECT,
            "description": TEXT,
            "after": TEXT,
            "parent": TEXT,
            "branch": TEXT,
        },
        needs=("type", "config", "description"),
    ),
    DirectorTool(
        name="update_node",
        about=(
            "Change a node: of config only the fields given, null removes one. Test it again"
            " afterwards."
        ),
        run=_on_session(node_tools.update_node),
        takes={"node": TEXT, "type": TEXT, "config": OBJECT, "description": TEXT},
        needs=("node",),
    ),
    DirectorTool(
        name="delete_node",
        about="Remove a node and what is inside it.",
        run=_on_session(node_tools.delete_node),
        takes={"node": TEXT},
        needs=("node",),
    ),
    DirectorTool(
        name="move_node",
        about=(
            'Move a node behind another one (after), to the beginning (after: "start"), or into a'
            " loop or condition (parent)."
        ),
        run=_on_session(node_tools.move_node),
        takes={"node": TEXT, "after": TEXT, "parent": TEXT, "branch": TEXT},
        needs=("node",),
    ),
    DirectorTool(
        name="test_single_node",
        about=(
            "Run one node in the browser as it stands now. Its result, or what failed and how the"
            " page stands."
        ),
        run=_test,
        takes={"node": TEXT},
        needs=("node",),
        kind="execution_result",
    ),
    DirectorTool(
        name="run_workflow",
        about=(
            "Run the whole workflow in the browser. resume: the number of a run that failed; it"
            " goes on at the node where it stopped."
        ),
        run=_run,
        takes={"resume": TEXT},
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
        takes={"instruction": TEXT, "url": TEXT},
        needs=("instruction",),
    ),
    DirectorTool(
        name="update_plan",
        about=(
            "Replace the plan: {overall_goal, phases: [{phase_name, status, tasks: [{task_id,"
            " description, status}]}]}. status: pending, in_progress, completed, failed or"
            " cancelled. Other fields, such as constraints, are kept."
        ),
        run=_on_session(operations.update_plan),
        takes={"plan": OBJECT, **REASON},
        needs=("plan", "reason"),
    ),
    DirectorTool(
        name="get_current_plan",
        about="The newest plan, or null.",
        run=_within_budget(operations.get_current_plan),
        takes={},
        reads=True,
    ),
    DirectorTool(
        name="get_workflow_variable",
        about=(
            'The whole value of a variable; all of a node\'s (node: "7"); or every one (name:'
            ' "all"). Secrets stay hidden.'
        ),
        run=_within_budget(operations.get_workflow_variable),
        takes={"name": TEXT, "node": TEXT},
        reads=True,
    ),
    DirectorTool(
        name="set_variable",
        about="Set a variable.",
        run=_on_session(operations.set_variable),
        takes={"name": TEXT, "value": ANY, **REASON},
        needs=("name", "value", "reason"),
    ),
    DirectorTool(
        name="clear_variable",
        about="Remove a variable.",
        run=_on_session(operations.clear_variable),
        takes={"name": TEXT, **REASON},
        needs=("name", "reason"),
    ),
    DirectorTool(
        name="clear_all_variables",
        about="Remove every variable, the user's too.",
        run=_on_session(operations.clear_all_variables),
        takes=REASON,
        needs=("reason",),
    ),
    DirectorTool(
        name="recall",
        about=(
            "The original behind a handle (fw_...), a page from offset on; next_offset continues."
        ),
        run=_recall,
        takes={"handle": TEXT, "offset": INTEGER},
        needs=("handle",),
        reads=True,
    ),
)

TOOLS: dict[str, DirectorTool] = {tool.name: tool for tool in _ALL}
