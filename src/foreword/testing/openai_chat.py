"""OpenAI's chat completions, as its API writes them."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from foreword.testing.replies import ReplyContent

TYPES = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    404: "invalid_request_error",
    429: "requests",
}
CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
END = "data: [DONE]\n\n"


def whole(said: ReplyContent) -> dict[str, Any]:
    """The reply in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None, "refusal": None}
    if said.calls:
        message["tool_calls"] = [_call(*call) for call in said.calls]
    else:
        message["content"] = said.text
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(said)}
    return {**_head(said, "chat.completion"), "choices": [choice], "usage": _usage(said)}


def events(said: ReplyContent) -> Iterator[dict[str, Any]]:
    """The reply as a stream."""
    yield _chunk(said, {"role": "assistant", "content": ""})
    for piece in said.pieces():
        yield _chunk(said, {"content": piece})
    for index, (call_id, name, arguments) in enumerate(said.calls):
        yield _chunk(said, {"tool_calls": [{"index": index, **_call(call_id, name, "")}]})
        yield _chunk(said, {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
    yield _chunk(said, {}, _finish(said))
    yield {**_head(said, "chat.completion.chunk"), "choices": [], "usage": _usage(said)}


def failure(status: int, message: str) -> dict[str, Any]:
    """An error's body."""
    kind = TYPES.get(
        status,
        "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error",
    )
    return {"error": {"message": message, "type": kind, "param": None, "code": CODES.get(status)}}


def _head(said: ReplyContent, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-fake{said.number}", "object": kind, "created": 0, "model": said.model}


def _chunk(said: ReplyContent, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**_head(said, "chat.completion.chunk"), "choices": [choice], "usage": None}


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _finish(said: ReplyContent) -> str:
    return "tool_calls" if said.calls else "length" if said.cut else "stop"


def _usage(said: ReplyContent) -> dict[str, Any]:
    total = said.input_tokens + said.output_tokens
    return {
        "prompt_tokens": said.input_tokens,
        "completion_tokens": said.output_tokens,
        "total_tokens": total,
    }
