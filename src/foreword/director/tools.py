"""The tools of a director in one table: name, description, what each takes, and what it does.

A model is given them, and so is a person without one, at the command line and on the page. What a
tool does is somebody else's business: `nodes`, `running`, `debugging`, `scout`, and
`operations.operations` for plan and variables. How a call is checked, run and told is `performing`'s.
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


def _stated(operation: Callable[..., Answer]) -> Run:
    return lambda desk, given: operation(desk.session, **given)


def _fitted(operation: Callable[..., Answer]) -> Run:
    return lambda desk, given: operation(desk.session, **{"budget": desk.result_tokens, **given})


def _test(desk: ToolContext, given: Arguments) -> Answer:
    return runner.test_single_node(desk.session, desk.browser_or_none, given["node"])


def _run(desk: ToolContext, given: Arguments) -> Answer:
    """Run it all; each turn of a node is told as it happens, and counted at the end: their
    results are in the store."""

    def on_step(step: Answer) -> None:
        desk.tell({"type": "step", **{name: step[name] for name in ("node", "key", "status")}})

    told = runner.run_workflow(
        desk.session,
        desk.browser_or_none,
        resume=given.get("resume"),
        on_step=on_step,
        cancel=desk.cancel,
    )
    return {**told, "steps": dict(Counter(str(step["node"]) for step in told["steps"]))}


def _recall(desk: ToolContext, given: Arguments) -> Answer:
    return operations.recall(desk.session.db, **{"budget": desk.result_tokens, **given})


_ALL = (
    DirectorTool(
        "create_node",
        "Add a node. Its type decides its config: navigate {url, tab?}; click {selector, tab?};"
        " type {selector, text, tab?}; wait {selector | url | seconds, tab?}; extract {selector,"
        " variable, many?, fields?: {name: selector or {selector, attribute}}, schema?, tab?}, read"
        " later as {{nodeN.variable}}; condition {left, operator, right?}; loop {over, as, most?};"
        " set_variable {variable, value}. parent puts it into a loop or condition (branch: else for"
        " its other side); after names the node it follows, else it is the last.",
        _stated(node_tools.create_node),
        {
            "type": TEXT,
            "config": OBJECT,
            "description": TEXT,
            "after": TEXT,
            "parent": TEXT,
            "branch": TEXT,
        },
        ("type", "config", "description"),
    ),
    DirectorTool(
        "update_node",
        "Change a node: of config only the fields given, null removes one. Test it again"
        " afterwards.",
        _stated(node_tools.update_node),
        {"node": TEXT, "type": TEXT, "config": OBJECT, "description": TEXT},
        ("node",),
    ),
    DirectorTool(
        "delete_node",
        "Remove a node and what is inside it.",
        _stated(node_tools.delete_node),
        {"node": TEXT},
        ("node",),
    ),
    DirectorTool(
        "move_node",
        'Move a node behind another one (after), to the beginning (after: "start"), or into a loop'
        " or condition (parent).",
        _stated(node_tools.move_node),
        {"node": TEXT, "after": TEXT, "parent": TEXT, "branch": TEXT},
        ("node",),
    ),
    DirectorTool(
        "test_single_node",
        "Run one node in the browser as it stands now. Its result, or what failed and how the page"
        " stands.",
        _test,
        {"node": TEXT},
        ("node",),
        kind="execution_result",
    ),
    DirectorTool(
        "run_workflow",
        "Run the whole workflow in the browser. resume: the number of a run that failed; it goes on"
        " at the node where it stopped.",
        _run,
        {"resume": TEXT},
        kind="execution_result",
    ),
    *debug_tools.TOOLS,
    DirectorTool(
        "deploy_scout",
        "Send an explorer with a fresh context and a tab of its own; it reports pages, elements and"
        " selectors. Say exactly what you need to know; it knows nothing of this conversation.",
        scout.deploy_scout,
        {"instruction": TEXT, "url": TEXT},
        ("instruction",),
    ),
    DirectorTool(
        "update_plan",
        "Replace the plan: {overall_goal, phases: [{phase_name, status, tasks: [{task_id,"
        " description, status}]}]}. status: pending, in_progress, completed, failed or cancelled."
        " Other fields, such as constraints, are kept.",
        _stated(operations.update_plan),
        {"plan": OBJECT, **REASON},
        ("plan", "reason"),
    ),
    DirectorTool(
        "get_current_plan",
        "The newest plan, or null.",
        _fitted(operations.get_current_plan),
        {},
        reads=True,
    ),
    DirectorTool(
        "get_workflow_variable",
        'The whole value of a variable; all of a node\'s (node: "7"); or every one (name: "all").'
        " Secrets stay hidden.",
        _fitted(operations.get_workflow_variable),
        {"name": TEXT, "node": TEXT},
        reads=True,
    ),
    DirectorTool(
        "set_variable",
        "Set a variable.",
        _stated(operations.set_variable),
        {"name": TEXT, "value": ANY, **REASON},
        ("name", "value", "reason"),
    ),
    DirectorTool(
        "clear_variable",
        "Remove a variable.",
        _stated(operations.clear_variable),
        {"name": TEXT, **REASON},
        ("name", "reason"),
    ),
    DirectorTool(
        "clear_all_variables",
        "Remove every variable, the user's too.",
        _stated(operations.clear_all_variables),
        REASON,
        ("reason",),
    ),
    DirectorTool(
        "recall",
        "The original behind a handle (fw_...), a page from offset on; next_offset continues.",
        _recall,
        {"handle": TEXT, "offset": INTEGER},
        ("handle",),
        reads=True,
    ),
)

TOOLS: dict[str, DirectorTool] = {tool.name: tool for tool in _ALL}
