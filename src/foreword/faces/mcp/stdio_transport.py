"""A server on the standard streams, for a client that starts it.

Nothing but the protocol goes to stdout. Nothing of HTTP is loaded: that is `http_transport`'s, and
a client waits for this one to start.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from foreword.faces.serving.app_state import AppState

LAST_SECONDS = 10.0  # for answers to a client that has closed its end: it may have gone for good
TICK_SECONDS = 0.02  # between two looks whether all of them are there
STOPS = (signal.SIGINT, signal.SIGTERM)


def log_to_stderr() -> None:
    """One line for what failed and where. What libraries log may quote what they were given, so
    only the place is."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_PlaceFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("foreword.mcp").setLevel(logging.INFO)


class _PlaceFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        if record.name.startswith("foreword."):
            return f"foreword mcp: {record.getMessage()}"
        line = f"foreword mcp: {record.name} line {record.lineno}"
        kind = record.exc_info[0] if record.exc_info else None
        return f"{line}: {kind.__name__}" if kind else line


def serve_stdio(server: Server[Any], app_state: AppState) -> None:
    """Serve one client on the standard streams, until it leaves or the process is told to stop."""

    async def serve() -> None:
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception]()
        from_server, answers = anyio.create_memory_object_stream[SessionMessage]()
        unanswered: set[str | int] = set()  # ids of requests
        async with stdio_server() as (stdin, stdout), anyio.create_task_group() as tasks:
            tasks.start_soon(_end_on_signal, app_state)
            tasks.start_soon(_answer_bad_frames, stdin, to_server, stdout.send, unanswered)
            tasks.start_soon(_write_answers, answers, stdout.send, unanswered)
            await server.run(requests, from_server, server.create_initialization_options())
            tasks.cancel_scope.cancel()
            await stdout.aclose()

    anyio.run(serve)


async def _end_on_signal(app_state: AppState) -> None:
    with anyio.open_signal_receiver(*STOPS) as signals:
        async for _ in signals:
            app_state.close()
            os._exit(0)  # a thread waits for the next line of stdin, and nothing else ends that


async def _answer_bad_frames(
    frames: AsyncIterable[SessionMessage | Exception],
    to_server: MemoryObjectSendStream[SessionMessage | Exception],
    send: Callable[[SessionMessage], Awaitable[None]],
    unanswered: set[str | int],
) -> None:
    """Pass on what can be read; the sender of anything else is told, where the SDK would leave them
    waiting.

    A client that has said all it wants may close its end; what it has asked is answered first.
    """
    async with to_server:
        async for frame in frames:
            if isinstance(frame, Exception):
                answer = refusal(frame)
                if answer is not None:
                    await send(SessionMessage(answer))
                continue
            if isinstance(frame.message, types.JSONRPCRequest):
                unanswered.add(frame.message.id)
            await to_server.send(frame)
        with anyio.move_on_after(LAST_SECONDS):
            while unanswered:
                await anyio.sleep(TICK_SECONDS)


async def _write_answers(
    answers: AsyncIterable[SessionMessage],
    send: Callable[[SessionMessage], Awaitable[None]],
    unanswered: set[str | int],
) -> None:
    """Write what the server says, and note which requests it answers."""
    async for answer in answers:
        await send(answer)
        message = answer.message
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            continue
        if message.id is not None:
            unanswered.discard(message.id)


def refusal(problem: Exception) -> types.JSONRPCError | None:
    """The answer to a frame that is no message, with its id as far as it has one; nothing for an
    empty line."""
    frame = _frame_of(problem)
    if isinstance(frame, str):
        if not frame.strip():
            return None
        try:
            frame = json.loads(frame)
        except (ValueError, RecursionError):
            return _error(types.PARSE_ERROR, "this is not JSON", None)
    number = frame.get("id") if isinstance(frame, dict) else None
    if isinstance(number, bool) or not isinstance(number, str | int):
        number = None
    return _error(types.INVALID_REQUEST, "this is no request that can be read", number)


def _frame_of(problem: Exception) -> Any:
    """What could not be read: the message as a mapping, if it came so far, or its text."""
    if not isinstance(problem, ValidationError):
        return None
    inputs = [error["input"] for error in problem.errors()]
    for value in inputs:
        if isinstance(value, dict):
            return value
    return inputs[0]


def _error(code: int, message: str, number: str | int | None) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)
