"""The tools: what each is called, takes and gives, and the operation behind it.

Their definitions are in every conversation of an agent that has them, so they are short: a test
holds them under 2,000 tokens. What a tool does is `operations.operations`' business; errors become
results in `server`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foreword.errors import UnknownName, UsageError
from foreword.faces.mcp.server_state import ServerState
from foreword.operations import operations, workflows
from foreword.operations.fitted_values import ANSWER_TOKENS, Answer

MOST_WORKFLOWS = 100  # that are named; the resource has them all
CONTEXT_TOKENS = 20_000  # of a session's context: hosts refuse much larger results

Arguments = dict[str, Any]
Run = Callable[[ServerState, Arguments], Answer]
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
FLAG = {"type": "boolean"}
OBJECT = {"type": "object"}
LIST = {"type": "array"}


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """One tool."""

    name: str
    about: str
    run: Run
    takes: Mapping[str, Any]
    gives: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    hints: Mapping[str, bool] = field(default_factory=dict)

    @property
    def input_schema(self) -> dict[str, Any]:
        """What it takes, as JSON Schema."""
        schema: dict[str, Any] = {"type": "object", "properties": dict(self.takes)}
        if self.needs:
            schema["required"] = list(self.needs)
        return schema

    @property
    def output_schema(self) -> dict[str, Any]:
        """What it gives, as JSON Schema."""
        return {"type": "object", "properties": dict(self.gives)}


ANY = {"description": "Any JSON."}
SOURCE = {"anyOf": [TEXT, OBJECT, {**LIST, "items": OBJECT}]}
# what goes into the store besides is a report, and originals to recall
READS = {"readOnlyHint": True}
ADDS = {"destructiveHint": False}
SETS = {"destructiveHint": True, "idempotentHint": True}
WORKFLOW = {"workflow": TEXT}
FITTED = {"text": TEXT, "handle": TEXT}
PACKAGE = {"text": TEXT, "tokens": NUMBER, "left_out": NUMBER, "omissions": LIST, "warnings": LIST}


def _on_session(name: str, budget: int | None = None) -> Run:
    """The operation of that name on a workflow's session."""
    operation: Callable[..., Answer] = getattr(operations, name)
    is_making = name in operations.MAKING

    def run(server_state: ServerState, arguments: Arguments) -> Answer:
        workflow = arguments.pop("workflow", None)
        if budget is not None:
            arguments.setdefault("budget", budget)
        with server_state.session(workflow, making=is_making) as session:
            return operation(session, **arguments)

    return run


def _get_workflow_variable(server_state: ServerState, arguments: Arguments) -> Answer:
    with server_state.state(arguments.pop("workflow", None)) as state:
        return operations.get_workflow_variable(state, **arguments)


def _get_current_plan(server_state: ServerState, arguments: Arguments) -> Answer:
    """The plan that was asked for; who names no workflow is told which there are, and may find
    none yet."""
    name = arguments.get("workflow")
    budget = arguments.get("budget", ANSWER_TOKENS)
    known: Sequence[str]
    try:
        with server_state.state(name) as state:
            answer = operations.get_current_plan(state, budget)
            if name:
                return answer
            known = workflows.names(state.db)
    except UnknownName as unknown:
        if name or unknown.kind != "workflow":
            raise
        answer = {"version": 0, "plan": None}
        known = unknown.known
    return {**answer, "workflows": list(known[:MOST_WORKFLOWS])}


def _assemble_context(server_state: ServerState, arguments: Arguments) -> Answer:
    recipe = arguments.pop("recipe")
    about = arguments.pop("about", None)
    if about is not None:
        return operations.why(server_state.root, recipe=recipe, about=about, **arguments)
    with server_state.store() as db:
        return operations.assemble_context(db, server_state.root, recipe, **arguments)


def _recall(server_state: ServerState, arguments: Arguments) -> Answer:
    with server_state.store() as db:
        return operations.recall(db, **arguments)


def _lookup(server_state: ServerState, arguments: Arguments) -> Answer:
    with server_state.store() as db:
        return operations.lookup(db, server_state.root, **arguments)


def _checkpoint(server_state: ServerState, arguments: Arguments) -> Answer:
    action = arguments["action"]
    task = arguments.get("task")
    phase = arguments.get("phase")
    root = server_state.root
    if action == "list":
        with server_state.store_if_any() as found:
            return operations.list_checkpoints(found, root, task)
    if action == "write":
        if task is None or phase is None:
            raise UsageError("write needs a task and a phase")
        with server_state.store() as db:
            return operations.write_checkpoint(
                db, root, task=str(task), phase=str(phase), data=arguments.get("data")
            )
    if task is None:
        raise UsageError(f"{action} needs a task")
    restore = operations.show_checkpoint if action == "show" else operations.resume_checkpoint
    with server_state.store_if_any() as found:
        return restore(found, root, task=str(task), phase=phase)


_TOOLS = (
    McpTool(
        name="update_plan",
        about="Replace the plan: {overall_goal, phases: [{phase_name, status, tasks: [{task_id,"
        " description, status}]}]}. status: pending, in_progress, completed, failed or"
        " cancelled. Other fields are kept. Every update is a new version; with"
        " expected_version, only if the newest is that one.",
        run=_on_session("update_plan"),
        takes={"plan": OBJECT, "reason": TEXT, "expected_version": NUMBER, **WORKFLOW},
        gives={"version": NUMBER, "warnings": LIST},
        needs=("plan", "reason"),
        hints=ADDS,
    ),
    McpTool(
        name="get_current_plan",
        about="The newest plan, or null. One larger than budget tokens comes shortened, with a"
        " handle for recall. Without workflow, also the names of all workflows.",
        run=_get_current_plan,
        takes={"budget": NUMBER, **WORKFLOW},
        gives={
            "version": NUMBER,
            "plan": {"anyOf": [OBJECT, {"type": "null"}]},
            **FITTED,
            "workflows": LIST,
        },
        hints=READS,
    ),
    McpTool(
        name="get_workflow_variable",
        about='The whole value of a variable; all of a node\'s (node: "7"); or every one (name:'
        ' "all"). One larger than budget tokens comes shortened, with a handle for recall.',
        run=_get_workflow_variable,
        takes={"name": TEXT, "node": TEXT, "budget": NUMBER, **WORKFLOW},
        gives={"value": ANY, **FITTED},
        hints=READS,
    ),
    McpTool(
        name="set_variable",
        about="Set a variable; reason goes into the audit trail. Contexts show long values by their"
        " beginning, secrets never.",
        run=_on_session("set_variable"),
        takes={"name": TEXT, "value": ANY, "reason": TEXT, **WORKFLOW},
        gives={"name": TEXT, "shown": TEXT},
        needs=("name", "value", "reason"),
        hints=SETS,
    ),
    McpTool(
        name="clear_variable",
        about="Remove a variable.",
        run=_on_session("clear_variable"),
        takes={"name": TEXT, "reason": TEXT, **WORKFLOW},
        gives={"cleared": LIST},
        needs=("name", "reason"),
        hints=SETS,
    ),
    McpTool(
        name="clear_all_variables",
        about="Remove every variable of the workflow.",
        run=_on_session("clear_all_variables"),
        takes={"reason": TEXT, **WORKFLOW},
        gives={"cleared": LIST},
        needs=("reason",),
        hints=SETS,
    ),
    McpTool(
        name="append_message",
        about="Add a message (Anthropic's or OpenAI's shape) to the workflow's conversation; near"
        " its limit the history is compressed. A pinned one always stays. Sent again with the same"
        " key (a word of yours), it is added once.",
        run=_on_session("append_message"),
        takes={"message": OBJECT, "pinned": FLAG, "key": TEXT, **WORKFLOW},
        gives={"seq": NUMBER, "size_tokens": NUMBER, "compressed": FLAG, "warnings": LIST},
        needs=("message",),
        hints=ADDS,
    ),
    McpTool(
        name="session_context",
        about="The conversation's next context: system prompt, plan, nodes, variables, browser,"
        " history, within a budget of tokens.",
        run=_on_session("session_context", budget=CONTEXT_TOKENS),
        takes={"budget": NUMBER, **WORKFLOW},
        gives=PACKAGE,
        hints=ADDS,
    ),
    McpTool(
        name="assemble_context",
        about="A context from the project by a recipe (director, package, phases, factory or its"
        " own) within a budget of tokens. source: a path in the project, or the data. With about"
        " (tag, path or handle): whether it is in, and why.",
        run=_assemble_context,
        takes={
            "recipe": TEXT,
            "agent": TEXT,
            "skill": TEXT,
            "purpose": TEXT,
            "phase": TEXT,
            "workflow": TEXT,
            "task": TEXT,
            "source": SOURCE,
            "budget": NUMBER,
            "about": TEXT,
        },
        gives=PACKAGE,
        needs=("recipe",),
        hints=READS,
    ),
    McpTool(
        name="recall",
        about="The original behind a handle (fw_...), a page of budget tokens from offset on;"
        " next_offset continues.",
        run=_recall,
        takes={"handle": TEXT, "offset": NUMBER, "budget": NUMBER},
        gives={"text": TEXT, "next_offset": NUMBER, "total_chars": NUMBER},
        needs=("handle",),
        hints=READS,
    ),
    McpTool(
        name="lookup",
        about="Documents of the project by name, path or question; kind: policy, schema, doc,"
        " persona ...",
        run=_lookup,
        takes={"wanted": TEXT, "kind": TEXT, "budget": NUMBER},
        gives=PACKAGE,
        needs=("wanted",),
        hints=READS,
    ),
    McpTool(
        name="checkpoint",
        about="Where tasks stand: list, show, resume (what is needed to go on), write (data:"
        " {objective, state, decisions: [{what, why}], findings, done, pending}).",
        run=_checkpoint,
        takes={
            "action": {"enum": ["list", "show", "resume", "write"]},
            "task": TEXT,
            "phase": TEXT,
            "data": OBJECT,
        },
        gives={
            "text": TEXT,
            "checkpoint": OBJECT,
            "checkpoints": LIST,
            "written": TEXT,
            "warnings": LIST,
        },
        needs=("action",),
        hints=ADDS,
    ),
)
TOOLS = {tool.name: tool for tool in _TOOLS}
