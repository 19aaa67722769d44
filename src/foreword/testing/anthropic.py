"""Anthropic's messages, as its API writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from foreword.testing.replies import ReplyContent

TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
END = ""


def whole(said: ReplyContent) -> dict[str, Any]:
    """The reply in one piece."""
    spoken = [{"type": "text", "text": said.text}] if said.text else []
    used = [
        _tool_use(call_id, name, json.loads(arguments)) for call_id, name, arguments in said.calls
    ]
    return _message(said, [*spoken, *used], _stop(said), said.output_tokens)


def events(said: ReplyContent) -> Iterator[dict[str, Any]]:
    """The reply as a stream."""
    yield {"type": "message_start", "message": _message(said, [], None, 1)}
    yield {"type": "ping"}
    spoken = bool(said.text or said.endless)
    if spoken:
        yield {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        }
        for piece in said.pieces():
            yield {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
        yield {"type": "content_block_stop", "index": 0}
    for index, (call_id, name, arguments) in enumerate(said.calls, int(spoken)):
        delta = {"type": "input_json_delta", "partial_json": arguments}
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": _tool_use(call_id, name, {}),
        }
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop(said), "stop_sequence": None},
        "usage": {"output_tokens": said.output_tokens},
    }
    yield {"type": "message_stop"}


def failure(status: int, message: str) -> dict[str, Any]:
    """An error's body."""
    usual = "api_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    return {
        "type": "error",
        "error": {"type": TYPES.get(status, usual), "message": message},
        "request_id": "req_fake",
    }


def _message(
    said: ReplyContent, content: list[dict[str, Any]], stop: str | None, output_tokens: int
) -> dict[str, Any]:
    return {
        "id": f"msg_fake{said.number}",
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": said.input_tokens, "output_tokens": output_tokens},
    }


def _tool_use(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{call_id}", "name": name, "input": arguments}


def _stop(said: ReplyContent) -> str:
    return "tool_use" if said.calls else "max_tokens" if said.cut else "end_turn"
