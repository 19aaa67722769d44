"""OpenAI's responses, as its API writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foreword.testing.openai_chat_wire import failure as failure
from foreword.testing.replies import ReplyContent

END = ""


def whole(content: ReplyContent) -> dict[str, Any]:
    """The reply in one piece."""
    return _response(content, "incomplete" if content.cut else "completed", _items(content))


def events(content: ReplyContent) -> Iterator[dict[str, Any]]:
    """The reply as a stream, every event with its number."""
    for number, event in enumerate(_events(content)):
        yield {**event, "sequence_number": number}


def _events(content: ReplyContent) -> Iterator[dict[str, Any]]:
    empty = _response(content, "in_progress", [])
    yield {"type": "response.created", "response": empty}
    yield {"type": "response.in_progress", "response": empty}
    if content.text or content.endless:
        yield from _message_events(content)
    for index, call in enumerate(content.calls, 1 if content.text else 0):
        yield from _call_events(index, call)
    done = whole(content)
    yield {"type": f"response.{done['status']}", "response": done}


def _message_events(content: ReplyContent) -> Iterator[dict[str, Any]]:
    item = _message(content)
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    yield {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {**item, "status": "in_progress", "content": []},
    }
    yield {"type": "response.content_part.added", **place, "part": _text("")}
    for piece in content.pieces():
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": content.text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": _text(content.text)}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}


def _call_events(index: int, call: tuple[str, str, str]) -> Iterator[dict[str, Any]]:
    call_id, name, arguments = call
    item = _function_call(call_id, name, arguments)
    place = {"item_id": item["id"], "output_index": index}
    yield {
        "type": "response.output_item.added",
        "output_index": index,
        "item": {**item, "status": "in_progress", "arguments": ""},
    }
    yield {"type": "response.function_call_arguments.delta", **place, "delta": arguments}
    yield {
        "type": "response.function_call_arguments.done",
        **place,
        "name": item["name"],
        "arguments": arguments,
    }
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _response(content: ReplyContent, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"resp_fake{content.number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "model": content.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "top_p": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if status == "in_progress" else _usage(content),
    }


def _items(content: ReplyContent) -> list[dict[str, Any]]:
    items = [_function_call(*call) for call in content.calls]
    if content.text or not content.calls:
        items.insert(0, _message(content))
    return items


def _message(content: ReplyContent) -> dict[str, Any]:
    return {
        "id": f"msg_fake{content.number}",
        "type": "message",
        "role": "assistant",
        "status": "incomplete" if content.cut else "completed",
        "content": [_text(content.text)],
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _function_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    namespace, _, own_name = name.rpartition(".")
    item = {
        "id": f"fc_{call_id}",
        "type": "function_call",
        "status": "completed",
        "call_id": call_id,
        "name": own_name,
        "arguments": arguments,
    }
    return {**item, "namespace": namespace} if namespace else item


def _usage(content: ReplyContent) -> dict[str, Any]:
    return {
        "input_tokens": content.input_tokens,
        "input_tokens_details": {"cached_tokens": content.cached_tokens},
        "output_tokens": content.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": content.input_tokens + content.output_tokens,
    }
