"""The tools: those operations that agents are given, under their own names.

Their definitions are in every conversation of an agent that has them, so they are short: a test
holds them under 2,000 tokens. What a tool takes, gives and does is the operation's; errors become
results in `mcp_server`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from foreword import aliases
from foreword.errors import BadRequest, UnknownName
from foreword.faces.mcp.server_state import ServerState
from foreword.operations import (
    checkpoint_operations,
    context_operations,
    conversation_operations,
    plan_operations,
    variable_operations,
    workflow_list,
)
from foreword.operations.fitted_values import ANSWER_TOKENS
from foreword.operations.operation import (
    Access,
    AnyOperation,
    Name,
    OperationInput,
    Project,
    read_input,
)
from foreword.operations.tool_schema import input_schema, output_schema

MOST_WORKFLOWS = 100  # that are named; the resource has them all
CONTEXT_TOKENS = 20_000  # of a session without a budget: hosts refuse much larger results
PAGE_END_TOKENS = 40  # of the lines after a page: where it goes on, and that bytes were replaced

Arguments = dict[str, Any]
Answer = dict[str, Any]
Run = Callable[[ServerState, Arguments], Answer]
WORKFLOW = "workflow"
HINTS: dict[Access, dict[str, bool]] = {
    "reads": {"readOnlyHint": True},
    "adds": {"destructiveHint": False},
    "replaces": {"destructiveHint": True, "idempotentHint": True},
}


class WorkflowName(OperationInput):
    """Which workflow; else the server's own."""

    workflow: Name | None = None


class CheckpointAction(OperationInput):
    """What to do about checkpoints."""

    action: Literal["list", "show", "resume", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """One tool: an operation, or several under one name."""

    name: str
    about: str
    run: Run
    operations: tuple[AnyOperation, ...]
    access: Access
    takes: type[OperationInput] | None = None  # besides what the operations take
    gives: Mapping[str, Any] = field(default_factory=dict)  # besides what they give
    needs: tuple[str, ...] | None = None  # else what its operation needs
    hides: frozenset[str] = frozenset()  # fields of the operation that agents have no use for

    @property
    def hints(self) -> dict[str, bool]:
        """What it does to what is there, for hosts that ask before."""
        return HINTS[self.access]

    @property
    def is_slow(self) -> bool:
        """Whether it computes long and writes little."""
        return any(operation.is_slow for operation in self.operations)

    def call(self, server_state: ServerState, arguments: Mapping[str, Any]) -> Answer:
        """What the tool answers; it takes what it says that it takes."""
        known = self.input_schema["properties"]
        try:
            arguments = aliases.rename(arguments, [*known, *self.hides])
        except ValueError as two_names:
            raise BadRequest([str(two_names)], hint=f"known: {', '.join(known)}") from None
        hidden = [f"{name}: unknown name" for name in arguments if name in self.hides]
        if hidden:
            raise BadRequest(hidden, hint=f"known: {', '.join(known)}")
        return self.run(server_state, arguments)

    @property
    def input_schema(self) -> dict[str, Any]:
        """What it takes, as JSON Schema."""
        properties = dict[str, Any]()
        for operation in self.operations:
            properties |= self._offered_properties(input_schema(operation.takes))
        if self.takes is not None:
            properties |= input_schema(self.takes)["properties"]
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        needed = self.needs
        if needed is None:
            needed = input_schema(self.operations[-1].takes).get("required", ())
        if needed:
            schema["required"] = list(needed)
        return schema

    @property
    def output_schema(self) -> dict[str, Any]:
        """What it gives, as JSON Schema."""
        properties = dict(self.gives)
        for operation in self.operations:
            properties |= self._offered_properties(output_schema(operation.gives))
        return {"type": "object", "properties": properties}

    @property
    def gives_text(self) -> bool:
        """Whether what it gives may be a text, for a model to read as it is."""
        return "text" in self.output_schema["properties"]

    def _offered_properties(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        properties = schema["properties"]
        return {name: value for name, value in properties.items() if name not in self.hides}


def perform(server_state: ServerState, operation: AnyOperation, arguments: Arguments) -> Answer:
    """An operation, on what the server has and the workflow that was named."""
    workflow = None
    if _is_on_workflow(operation) and WORKFLOW in arguments:
        named = read_input(WorkflowName, {WORKFLOW: arguments.pop(WORKFLOW)})
        workflow = named.workflow
    return operation.perform(_target(server_state, operation, workflow), arguments)


@contextmanager
def _target(
    server_state: ServerState, operation: AnyOperation, workflow: str | None
) -> Iterator[Any]:
    """What an operation works on, open; who only reads makes no store."""
    if operation.scope == "store":
        with server_state.store() as db:
            yield db
    elif operation.scope == "project" and operation.access == "reads":
        reading = server_state.store if operation.keeps_report else server_state.store_if_any
        with reading() as found:
            yield Project(server_state.root, found)
    elif operation.scope == "project":
        with server_state.store() as db:
            yield Project(server_state.root, db)
    elif operation.scope == "workflow" and operation.access == "reads":
        with server_state.state(workflow) as state:
            yield state
    else:
        with server_state.session(workflow, making=operation.makes_workflow) as session:
            yield session


def _is_on_workflow(operation: AnyOperation) -> bool:
    return operation.scope in ("workflow", "conversation")


def _tool(
    operation: AnyOperation,
    *,
    budget: int | None = None,
    needs: tuple[str, ...] | None = None,
    hides: tuple[str, ...] = (),
) -> McpTool:
    """The tool that is one operation; a budget stands for none that was given."""

    def run(server_state: ServerState, arguments: Arguments) -> Answer:
        if budget is not None and arguments.get("budget") is None:
            arguments["budget"] = budget
        return perform(server_state, operation, arguments)

    return McpTool(
        name=operation.name,
        about=operation.about,
        run=run,
        operations=(operation,),
        access=operation.access,
        takes=WorkflowName if _is_on_workflow(operation) else None,
        needs=needs,
        hides=frozenset(hides),
    )


def _get_current_plan(server_state: ServerState, arguments: Arguments) -> Answer:
    """The plan that was asked for; who names no workflow is told which there are, and may find
    none yet."""
    plan = _tool(plan_operations.GET_CURRENT_PLAN, budget=ANSWER_TOKENS)
    if arguments.get(WORKFLOW):
        return plan.run(server_state, arguments)
    known: Sequence[str]
    try:
        answer = plan.run(server_state, arguments)
        with server_state.store() as db:
            known = workflow_list.names(db)
    except UnknownName as unknown:
        if unknown.kind != WORKFLOW:
            raise
        answer = {"version": 0, "plan": None}
        known = unknown.known
    return {**answer, "workflows": list(known[:MOST_WORKFLOWS])}


def _session_context(server_state: ServerState, arguments: Arguments) -> Answer:
    """Return the context of the next call; a session without a budget keeps `CONTEXT_TOKENS`."""
    operation = conversation_operations.SESSION_CONTEXT
    if arguments.get("budget") is None:
        named = read_input(WorkflowName, {WORKFLOW: arguments.get(WORKFLOW)})
        with server_state.session(named.workflow, making=False) as session:
            if session.budget is None and session.limits.compress_at > CONTEXT_TOKENS:
                arguments |= {"budget": CONTEXT_TOKENS, "keep": True}
    return perform(server_state, operation, arguments)


def _assemble_context(server_state: ServerState, arguments: Arguments) -> Answer:
    is_question = arguments.get("about") is not None
    if not is_question:
        arguments.pop("about", None)
    operation = context_operations.WHY if is_question else context_operations.ASSEMBLE_CONTEXT
    return perform(server_state, operation, arguments)


def _recall(server_state: ServerState, arguments: Arguments) -> Answer:
    """The original behind a handle, or what was said about a question."""
    is_question = arguments.get("question") is not None and arguments.get("handle") is None
    operation = (
        conversation_operations.RECALL_MESSAGES if is_question else context_operations.RECALL
    )
    given = {name: value for name, value in arguments.items() if value is not None}
    budget = given.get("budget")
    if not is_question and type(budget) is int and budget > PAGE_END_TOKENS:
        given["budget"] = budget - PAGE_END_TOKENS
    return perform(server_state, operation, given)


CHECKPOINT_ACTIONS: dict[str, AnyOperation] = {
    "list": checkpoint_operations.LIST_CHECKPOINTS,
    "show": checkpoint_operations.SHOW_CHECKPOINT,
    "resume": checkpoint_operations.RESUME_CHECKPOINT,
    "write": checkpoint_operations.WRITE_CHECKPOINT,
}


def _checkpoint(server_state: ServerState, arguments: Arguments) -> Answer:
    chosen = {name: value for name, value in arguments.items() if name == "action"}
    action = read_input(CheckpointAction, chosen).action
    given = {name: value for name, value in arguments.items() if value is not None}
    del given["action"]
    return perform(server_state, CHECKPOINT_ACTIONS[action], given)


_TOOLS = (
    _tool(plan_operations.UPDATE_PLAN),
    McpTool(
        name=plan_operations.GET_CURRENT_PLAN.name,
        about=f"{plan_operations.GET_CURRENT_PLAN.about}"
        " Without workflow, also the names of all workflows.",
        run=_get_current_plan,
        operations=(plan_operations.GET_CURRENT_PLAN,),
        access="reads",
        takes=WorkflowName,
        gives={"workflows": {"type": "array"}},
    ),
    _tool(variable_operations.GET_WORKFLOW_VARIABLE, budget=ANSWER_TOKENS),
    _tool(variable_operations.SET_VARIABLE),
    _tool(variable_operations.CLEAR_VARIABLE),
    _tool(variable_operations.CLEAR_ALL_VARIABLES),
    _tool(
        conversation_operations.APPEND_MESSAGE,
        needs=("message",),
        hides=("messages", "kind", "count"),
    ),
    McpTool(
        name=conversation_operations.SESSION_CONTEXT.name,
        about=conversation_operations.SESSION_CONTEXT.about,
        run=_session_context,
        operations=(conversation_operations.SESSION_CONTEXT,),
        access=conversation_operations.SESSION_CONTEXT.access,
        takes=WorkflowName,
        hides=frozenset(("form", "messages", "report", "save", "browser")),
    ),
    McpTool(
        name=context_operations.ASSEMBLE_CONTEXT.name,
        about=f"{context_operations.ASSEMBLE_CONTEXT.about}"
        " With about (tag, path or handle): whether it is in, and why.",
        run=_assemble_context,
        operations=(context_operations.WHY, context_operations.ASSEMBLE_CONTEXT),
        access="reads",
        hides=frozenset(
            (
                "window",
                "system_prompt_tokens",
                "reserve",
                "tool_overhead",
                "model",
                "counter",
                "strict",
            )
        ),
    ),
    McpTool(
        name=context_operations.RECALL.name,
        about=f"{context_operations.RECALL.about} Or, with a question in place of handle,"
        " what was said about it in the workflow's conversation.",
        run=_recall,
        operations=(conversation_operations.RECALL_MESSAGES, context_operations.RECALL),
        access="reads",
        takes=WorkflowName,
        needs=(),
    ),
    _tool(context_operations.LOOKUP, hides=("recipe", "counter")),
    McpTool(
        name="checkpoint",
        about="Where tasks stand: list, show, resume (what is needed to go on), write; a decision"
        " is {what, why}.",
        run=_checkpoint,
        operations=tuple(CHECKPOINT_ACTIONS.values()),
        access="adds",
        takes=CheckpointAction,
        needs=("action",),
    ),
)
TOOLS = {tool.name: tool for tool in _TOOLS}
