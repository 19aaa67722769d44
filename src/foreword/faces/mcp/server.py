"""The MCP server: requests to the tools, resources and prompts of a desk, and errors to what a
client can act on.

A tool's error is a result with `isError`, with the message and the hint that every face has;
anything else is an error of the protocol. Work is done in threads, so calls go on side by side. The
log says what failed, never with what.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from foreword import __version__
from foreword.errors import ForewordError
from foreword.faces.http.app_state import Lane
from foreword.faces.mcp import prompts, resources
from foreword.faces.mcp.plan_watch import listen
from foreword.faces.mcp.server_state import ServerState
from foreword.faces.mcp.tools import TOOLS, McpTool
from foreword.operations.arguments import validate_arguments
from foreword.operations.fitted_values import Answer
from foreword.secrets.masking import mask

INSTRUCTIONS = (
    "Foreword keeps an agent's plan, variables and checkpoints, and assembles contexts within a"
    " token budget. Begin with get_current_plan; after a reset, with checkpoint resume. Where a"
    " text says `foreword recall fw_...`, call recall with that handle."
)
BUG = "something went wrong inside Foreword"
LONGEST_ERROR = 4_000  # characters
CODE = "foreword/code"  # under `_meta` of a result that is an error
# they take long, and write little
COMPUTING = frozenset(("session_context", "assemble_context", "lookup"))

Result = TypeVar("Result")
Context = ServerRequestContext[Any]
log = logging.getLogger("foreword.mcp")


def create_server(server_state: ServerState) -> Server[Any]:
    """The server of a desk, ready for any transport."""

    async def ask(work: Callable[..., Result], *args: Any) -> Result:
        return await _protocol_errors(server_state.app_state.call(work, *args))

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[definition(tool) for tool in TOOLS.values()])

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        result = await server_state.app_state.call(
            _called, server_state, params.name, params.arguments, lane=_lane(params.name)
        )
        server_state.app_state.notice_change()
        return result

    async def list_resources(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found, cursor = await ask(resources.page, server_state, params.cursor if params else None)
        listed = [
            types.Resource(uri=r.uri, name=r.name, description=r.about, mime_type=r.mime)
            for r in found
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=cursor)

    async def list_templates(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        listed = [
            types.ResourceTemplate(
                uri_template=t.uri, name=t.name, description=t.about, mime_type=t.mime
            )
            for t in resources.TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(
        context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        content = await ask(resources.read, server_state, params.uri)
        text = types.TextResourceContents(uri=params.uri, mime_type=content.mime, text=content.text)
        return types.ReadResourceResult(contents=[text])

    async def list_prompts(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        known = await ask(prompts.all_prompts, server_state)
        return types.ListPromptsResult(prompts=[_prompt(prompt) for prompt in known.values()])

    async def get_prompt(
        context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        about, text = await ask(prompts.text_of, server_state, params.name, params.arguments or {})
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=about, messages=[message])

    return Server(
        "foreword",
        version=__version__,
        instructions=INSTRUCTIONS,
        get_tool_input_schema=lambda name: TOOLS[name].input_schema if name in TOOLS else None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscriptions_listen=partial(listen, server_state),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def definition(tool: McpTool) -> types.Tool:
    """A tool as clients are told of it."""
    hints = types.ToolAnnotations.model_validate(
        {**tool.hints, "openWorldHint": False}, by_alias=True
    )
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=hints,
    )


def _prompt(prompt: prompts.Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=name, description=about, required=name == "source")
        for name, about in prompts.ARGUMENTS.items()
    ]
    return types.Prompt(name=prompt.name, description=prompt.about, arguments=arguments)


# --- a call ---------------------------------------------------------------------------------------


def _lane(name: str) -> Lane:
    """Whose threads do it."""
    if name in COMPUTING:
        return "computing"
    return "reading" if name in TOOLS and TOOLS[name].hints.get("readOnlyHint") else "writing"


def _called(server_state: ServerState, name: str, arguments: dict[str, Any] | None) -> types.CallToolResult:
    tool = TOOLS.get(name)
    if tool is None:
        raise MCPError(
            types.INVALID_PARAMS, f"unknown tool {name[:80]!r}; there are {', '.join(TOOLS)}"
        )
    try:
        return _result(tool.run(server_state, validate_arguments(arguments, tool.input_schema)))
    except ForewordError as error:
        log.info("%s: %s", name, error.code)
        return _failed(error.message, error.hint, error.code)
    except Exception as error:  # noqa: BLE001 - whatever it is, the server goes on and the client is told
        log.error("%s: %s", name, type(error).__name__)
        return _failed(
            f"{BUG} ({type(error).__name__})", "the arguments may be too deep or too large", "bug"
        )


def _result(answer: Answer) -> types.CallToolResult:
    """The answer as data, and as a text for models that read no data."""
    return types.CallToolResult(
        content=[types.TextContent(text=_written(answer))], structured_content=answer
    )


def _written(answer: Answer) -> str:
    if "text" not in answer:
        return json.dumps(answer, ensure_ascii=False)
    more = [f"goes on at offset {answer['next_offset']}"] if "next_offset" in answer else []
    notes = [f"[{note}]" for note in (*more, *answer.get("warnings", ()))]
    return "\n".join([answer["text"].removesuffix("\n"), *notes])


def _failed(message: str, hint: str, code: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=_said(message, hint))], is_error=True, _meta={CODE: code}
    )


def _said(message: str, hint: str) -> str:
    """An error as every face says it, without secrets and without half characters."""
    lines = [message[:LONGEST_ERROR], *([f"hint: {hint[:LONGEST_ERROR]}"] if hint else [])]
    return mask("\n".join(lines)).encode("utf-8", "replace").decode()


async def _protocol_errors(answering: Awaitable[Result]) -> Result:
    try:
        return await answering
    except ForewordError as error:
        raise MCPError(
            types.INVALID_PARAMS, _said(error.message, error.hint), {"code": error.code}
        ) from None
    except Exception as error:  # noqa: BLE001
        log.error("%s", type(error).__name__)
        raise MCPError(types.INTERNAL_ERROR, f"{BUG} ({type(error).__name__})") from None
