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


def whole(content: ReplyContent) -> dict[str, Any]:
    """The reply in one piece."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": content.text or None,
        "refusal": None,
    }
    if content.calls:
        message["tool_calls"] = [_call(*call) for call in content.calls]
    else:
        message["content"] = content.text
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _finish_reason(content),
    }
    return {**_head(content, "chat.completion"), "choices": [choice], "usage": _usage(content)}


def events(content: ReplyContent) -> Iterator[dict[str, Any]]:
    """The reply as a stream."""
    yield _chunk(content, {"role": "assistant", "content": ""})
    for piece in content.pieces():
        yield _chunk(content, {"content": piece})
    for index, (call_id, name, arguments) in enumerate(content.calls):
        yield _chunk(content, {"tool_calls": [{"index": index, **_call(call_id, name, "")}]})
        yield _chunk(
            content, {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}
        )
    yield _chunk(content, {}, _finish_reason(content))
    yield {**_head(content, "chat.completion.chunk"), "choices": [], "usage": _usage(content)}


def failure(status: int, message: str) -> dict[str, Any]:
    """An error's body."""
    is_server_error = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    kind = TYPES.get(status, "server_error" if is_server_error else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": CODES.get(status)}}


def _head(content: ReplyContent, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-fake{content.number}",
        "object": kind,
        "created": 0,
        "model": content.model,
    }


def _chunk(
    content: ReplyContent, delta: dict[str, Any], finish: str | None = None
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**_head(content, "chat.completion.chunk"), "choices": [choice], "usage": None}


def _call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _finish_reason(content: ReplyContent) -> str:
    if content.calls:
        return "tool_calls"
    return "length" if content.cut else "stop"


def _usage(content: ReplyContent) -> dict[str, Any]:
    total = content.input_tokens + content.output_tokens
    return {
        "prompt_tokens": content.input_tokens,
        "prompt_tokens_details": {"cached_tokens": content.cached_tokens},
        "completion_tokens": content.output_tokens,
        "total_tokens": total,
    }
