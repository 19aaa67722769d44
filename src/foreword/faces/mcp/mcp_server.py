"""The MCP server: requests to the tools, resources and prompts of one project, and errors to what
a client can act on.

A tool's error is a result with `isError`, with the message and the hint that every face has;
anything else is an error of the protocol. Work is done in threads, so calls go on side by side. The
log says what failed, never with what. Clients that subscribed to a plan hear that it has changed,
whichever process has changed it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from foreword import __version__, tokens
from foreword.errors import ForewordError
from foreword.faces.mcp import prompts, resources
from foreword.faces.mcp.resources import watched_workflow
from foreword.faces.mcp.server_state import ServerState
from foreword.faces.mcp.tools import TOOLS, Answer, McpTool
from foreword.faces.serving.app_state import Lane
from foreword.secrets.masking import mask

INSTRUCTIONS = (
    "Foreword keeps an agent's plan, variables and checkpoints, and assembles contexts within a"
    " token budget. Begin with get_current_plan; after a reset, with checkpoint resume. Where a"
    " text says `foreword recall fw_...`, call recall with that handle."
)
BUG = "something went wrong inside Foreword"
LONGEST_ERROR = 4_000  # characters: an error repeats what it was given, and a model reads all of it
CODE = "foreword/code"  # under `_meta` of a result that is an error
ANSWER = "foreword/answer"  # under `_meta` of a result that is a text: all of the answer, as data

Result = TypeVar("Result")
Context = ServerRequestContext[Any]
log = logging.getLogger("foreword.mcp")


def create_server(server_state: ServerState) -> Server[Any]:
    """The server of these stores, ready for any transport."""
    handlers = _Handlers(server_state)
    return Server(
        "foreword",
        version=__version__,
        instructions=INSTRUCTIONS,
        get_tool_input_schema=_input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_subscriptions_listen=partial(listen, server_state),
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    """What answers each request of the protocol."""

    def __init__(self, server_state: ServerState) -> None:
        self._server_state = server_state
        self._app_state = server_state.app_state

    async def _run(self, work: Callable[..., Result], *args: Any) -> Result:
        """Do it in a thread; an error of it is one of the protocol."""
        return await _protocol_errors(self._app_state.call(work, self._server_state, *args))

    async def list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[definition(tool) for tool in TOOLS.values()])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        lane = _lane(params.name)
        result = await self._app_state.call(
            _call_tool, self._server_state, params.name, params.arguments, lane=lane
        )
        self._app_state.notice_change()
        return result

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found, cursor = await self._run(resources.page, params.cursor if params else None)
        lines = list[types.Resource]()
        for resource in found:
            line = types.Resource(
                uri=resource.uri,
                name=resource.name,
                description=resource.about,
                mime_type=resource.mime,
            )
            lines.append(line)
        return types.ListResourcesResult(resources=lines, next_cursor=cursor)

    async def list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        lines = list[types.ResourceTemplate]()
        for template in resources.TEMPLATES:
            line = types.ResourceTemplate(
                uri_template=template.uri,
                name=template.name,
                description=template.about,
                mime_type=template.mime,
            )
            lines.append(line)
        return types.ListResourceTemplatesResult(resource_templates=lines)

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        content = await self._run(resources.read, params.uri)
        text = types.TextResourceContents(uri=params.uri, mime_type=content.mime, text=content.text)
        return types.ReadResourceResult(contents=[text])

    async def list_prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        known = await self._run(prompts.all_prompts)
        return types.ListPromptsResult(prompts=[_prompt(prompt) for prompt in known.values()])

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        about, text = await self._run(prompts.text_of, params.name, params.arguments or {})
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=about, messages=[message])


def _input_schema(tool: str) -> dict[str, Any] | None:
    return TOOLS[tool].input_schema if tool in TOOLS else None


def definition(tool: McpTool) -> types.Tool:
    """A tool as clients are told of it."""
    hints = types.ToolAnnotations.model_validate(
        {**tool.hints, "openWorldHint": False}, by_alias=True
    )
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=tool.input_schema,
        output_schema=None if tool.gives_text else tool.output_schema,
        annotations=hints,
    )


def _prompt(prompt: prompts.Prompt) -> types.Prompt:
    arguments = list[types.PromptArgument]()
    for name, about in prompts.ARGUMENTS.items():
        is_required = name == "source"
        arguments.append(types.PromptArgument(name=name, description=about, required=is_required))
    return types.Prompt(name=prompt.name, description=prompt.about, arguments=arguments)


# --- a call ---------------------------------------------------------------------------------------


def _lane(name: str) -> Lane:
    """Whose threads do it."""
    tool = TOOLS.get(name)
    if tool is not None and tool.is_slow:
        return "computing"
    return "reading" if tool is not None and tool.access == "reads" else "writing"


def _call_tool(
    server_state: ServerState, name: str, arguments: dict[str, Any] | None
) -> types.CallToolResult:
    tool = TOOLS.get(name)
    if tool is None:
        raise MCPError(
            types.INVALID_PARAMS, f"unknown tool {name[:80]!r}; there are {', '.join(TOOLS)}"
        )
    try:
        return _result(tool, tool.call(server_state, arguments or {}))
    except ForewordError as error:
        log.info("%s: %s", name, error.code)
        return _failure(error.message, hint=error.hint, code=error.code)
    except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on and the client is told
        log.error("%s: %s", name, type(error).__name__)
        message = f"{BUG} ({type(error).__name__})"
        hint = "the arguments may be too deep or too large"
        return _failure(message, hint=hint, code="bug")


def _result(tool: McpTool, answer: Answer) -> types.CallToolResult:
    """The answer as a text for the model, and as data for programs.

    Coding agents show a model the data of a result that has some, as JSON with every line break
    escaped. So a tool whose answers are texts has no data but what programs find under `_meta`.
    """
    content: list[types.ContentBlock] = [types.TextContent(text=_answer_text(answer))]
    if tool.gives_text:
        return types.CallToolResult(content=content, _meta={ANSWER: answer})
    return types.CallToolResult(content=content, structured_content=answer)


def _answer_text(answer: Answer) -> str:
    """Return what the model reads: the text, where it goes on, and the warnings for which the
    budget has room."""
    if "text" not in answer:
        return json.dumps(answer, ensure_ascii=False)
    text: str = answer["text"].removesuffix("\n")
    if "next_offset" in answer:
        text += f"\n[goes on at offset {answer['next_offset']}]"
    budget = answer.get("budget_tokens")
    for warning in answer.get("warnings", ()):
        longer = f"{text}\n[{warning}]"
        if budget is None or tokens.counter().count(longer) <= budget:
            text = longer
    return text


def _failure(message: str, *, hint: str, code: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=_error_text(message, hint))],
        is_error=True,
        _meta={CODE: code},
    )


def _error_text(message: str, hint: str) -> str:
    """An error as every face says it, without secrets and without half characters."""
    text = message[:LONGEST_ERROR]
    if hint:
        text += f"\nhint: {hint[:LONGEST_ERROR]}"
    return mask(text).encode("utf-8", "replace").decode()


async def _protocol_errors(answering: Awaitable[Result]) -> Result:
    try:
        return await answering
    except ForewordError as error:
        raise MCPError(
            types.INVALID_PARAMS, _error_text(error.message, error.hint), {"code": error.code}
        ) from None
    except Exception as error:  # noqa: BLE001
        log.error("%s", type(error).__name__)
        raise MCPError(types.INTERNAL_ERROR, f"{BUG} ({type(error).__name__})") from None


async def listen(
    server_state: ServerState,
    context: ServerRequestContext,
    params: types.SubscriptionsListenRequestParams,
) -> types.SubscriptionsListenResult:
    """Serve one stream of changes, until its client leaves or the server stops."""
    poller = server_state.app_state.poller
    bus = InMemorySubscriptionBus()
    handler = ListenHandler(bus)
    workflows = _workflows_by_uri(params)
    # before the client is told that we watch
    begin = {name: await poller.begin(name) for name in workflows.values()}

    async def watch(uri: str, workflow: str) -> None:
        async for event in poller.events(workflow, begin[workflow]):
            if event is not None and event.kind == "plan":
                await bus.publish(ResourceUpdated(uri))
        handler.close()

    async with anyio.create_task_group() as watching:
        for uri, workflow in workflows.items():
            watching.start_soon(watch, uri, workflow)
        result = await handler(context, params)
        watching.cancel_scope.cancel()
    return result


def _workflows_by_uri(params: types.SubscriptionsListenRequestParams) -> dict[str, str]:
    """The workflows whose plans are watched, by the addresses that were named."""
    workflows = dict[str, str]()
    for uri in params.notifications.resource_subscriptions or ():
        workflow = watched_workflow(uri)
        if workflow:
            workflows[uri] = workflow
    return workflows
