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


def whole(content: ReplyContent) -> dict[str, Any]:
    """The reply in one piece."""
    blocks = list[dict[str, Any]]()
    if content.text:
        blocks.append({"type": "text", "text": content.text})
    for call_id, name, arguments in content.calls:
        blocks.append(_tool_use(call_id, name, json.loads(arguments)))
    return _message(content, blocks, _stop_reason(content), content.output_tokens)


def events(content: ReplyContent) -> Iterator[dict[str, Any]]:
    """The reply as a stream."""
    yield {"type": "message_start", "message": _message(content, [], None, 1)}
    yield {"type": "ping"}
    has_text = bool(content.text or content.endless)
    if has_text:
        yield {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        }
        for piece in content.pieces():
            yield {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
        yield {"type": "content_block_stop", "index": 0}
    for index, (call_id, name, arguments) in enumerate(content.calls, int(has_text)):
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
        "delta": {"stop_reason": _stop_reason(content), "stop_sequence": None},
        "usage": {"output_tokens": content.output_tokens},
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
    content: ReplyContent, blocks: list[dict[str, Any]], stop: str | None, output_tokens: int
) -> dict[str, Any]:
    return {
        "id": f"msg_fake{content.number}",
        "type": "message",
        "role": "assistant",
        "model": content.model,
        "content": blocks,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {
            "input_tokens": content.input_tokens - content.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": content.cached_tokens,
            "output_tokens": output_tokens,
        },
    }


def _tool_use(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{call_id}", "name": name, "input": arguments}


def _stop_reason(content: ReplyContent) -> str:
    if content.calls:
        return "tool_use"
    return "max_tokens" if content.cut else "end_turn"
