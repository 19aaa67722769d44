"""Anthropic's messages, as its API writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from foreword.testing.prefix_checks import Binding, CheckedRequest
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
BINDING_BETA = "thinking-binding-controls-2026-08-01"
OTHER_CONVERSATION = (
    ". The block is bound to a different conversation. Remove the block, or set"
    ' `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
NEEDS_BETA = f" That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header."


def whole(content: ReplyContent) -> dict[str, Any]:
    """The reply in one piece."""
    blocks = list[dict[str, Any]]()
    if content.thinking:
        blocks.append(thinking_block(*content.thinking))
    if content.text:
        blocks.append({"type": "text", "text": content.text})
    for call_id, name, arguments in content.calls:
        blocks.append(_tool_use(call_id, name, json.loads(arguments)))
    return _message(content, blocks, _stop_reason(content), content.output_tokens)


def events(content: ReplyContent) -> Iterator[dict[str, Any]]:
    """The reply as a stream."""
    yield {"type": "message_start", "message": _message(content, [], None, 1)}
    yield {"type": "ping"}
    for index, (block, deltas) in enumerate(_blocks(content)):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(content), "stop_sequence": None},
        "usage": {"output_tokens": content.output_tokens},
    }
    yield {"type": "message_stop"}


def thinking_block(text: str, signature: str) -> dict[str, Any]:
    """A block of thinking, as an answer has it."""
    return {"type": "thinking", "thinking": text, "signature": signature}


def has_binding_beta(headers: Mapping[str, str]) -> bool:
    """Whether a request may set what becomes of invalid thinking, and asks what was dropped."""
    return BINDING_BETA in headers.get("anthropic-beta", "").split(",")


def thinking_error(
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    checked: CheckedRequest,
    bindings: Mapping[str, Binding],
) -> str:
    """Return the message of the 400 for a request's thinking, or nothing if it is accepted."""
    thinking = body.get("thinking")
    settings = thinking if isinstance(thinking, Mapping) else {}
    has_beta = has_binding_beta(headers)
    if "block_binding" in settings and not has_beta:
        return f"thinking.{settings.get('type')}.block_binding: Extra inputs are not permitted"
    behavior = (settings.get("block_binding") or {}).get("prefix_mismatch_behavior")
    for part in checked.unusable:
        binding = bindings.get(str(part.signature))
        error = f"{dotted(part.path)}: Invalid `signature` in `{part.value['type']}` block"
        if binding is None or binding.block != part.value:
            return error
        if behavior != "drop_block":
            return error + OTHER_CONVERSATION + ("" if has_beta else NEEDS_BETA)
    return ""


def dotted(path: str) -> str:
    """Return a path as the API writes it: `messages.1.content.0`."""
    return path.replace("[", ".").replace("]", "")


def failure(status: int, message: str) -> dict[str, Any]:
    """An error's body."""
    usual = "api_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    return {
        "type": "error",
        "error": {"type": TYPES.get(status, usual), "message": message},
        "request_id": "req_fake",
    }


def _blocks(
    content: ReplyContent,
) -> Iterator[tuple[dict[str, Any], Iterable[Mapping[str, Any]]]]:
    """Every block as a stream opens it, with its deltas."""
    if content.thinking:
        text, signature = content.thinking
        pieces = [{"type": "thinking_delta", "thinking": text}] if text else []
        yield thinking_block("", ""), [*pieces, {"type": "signature_delta", "signature": signature}]
    if content.text or content.endless:
        deltas = ({"type": "text_delta", "text": piece} for piece in content.pieces())
        yield {"type": "text", "text": ""}, deltas
    for call_id, name, arguments in content.calls:
        delta = {"type": "input_json_delta", "partial_json": arguments}
        yield _tool_use(call_id, name, {}), [delta]


def _message(
    content: ReplyContent, blocks: list[dict[str, Any]], stop: str | None, output_tokens: int
) -> dict[str, Any]:
    message: dict[str, Any] = {
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
    if content.dropped is not None:
        message["input_transformations"] = [
            {"type": "thinking_dropped", "path": dotted(path), "reason": "prefix_binding_mismatch"}
            for path in content.dropped
        ]
    return message


def _tool_use(call_id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{call_id}", "name": name, "input": arguments}


def _stop_reason(content: ReplyContent) -> str:
    if content.calls:
        return "tool_use"
    return "max_tokens" if content.cut else "end_turn"
