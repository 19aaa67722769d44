"""OpenAI's responses, as its API writes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foreword.testing.openai_chat import failure as failure
from foreword.testing.replies import ReplyContent

END = ""


def whole(said: ReplyContent) -> dict[str, Any]:
    """The reply in one piece."""
    return _response(said, "incomplete" if said.cut else "completed", _items(said))


def events(said: ReplyContent) -> Iterator[dict[str, Any]]:
    """The reply as a stream, every event with its number."""
    for number, event in enumerate(_events(said)):
        yield {**event, "sequence_number": number}


def _events(said: ReplyContent) -> Iterator[dict[str, Any]]:
    empty = _response(said, "in_progress", [])
    yield {"type": "response.created", "response": empty}
    yield {"type": "response.in_progress", "response": empty}
    if said.text or said.endless:
        yield from _spoken(said)
    for index, call in enumerate(said.calls, 1 if said.text else 0):
        yield from _called(index, call)
    done = whole(said)
    yield {"type": f"response.{done['status']}", "response": done}


def _spoken(said: ReplyContent) -> Iterator[dict[str, Any]]:
    item = _message(said)
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    yield {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {**item, "status": "in_progress", "content": []},
    }
    yield {"type": "response.content_part.added", **place, "part": _text("")}
    for piece in said.pieces():
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": said.text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": _text(said.text)}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}


def _called(index: int, call: tuple[str, str, str]) -> Iterator[dict[str, Any]]:
    item, arguments = _function_call(*call), call[2]
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
        "name": call[1],
        "arguments": arguments,
    }
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _response(said: ReplyContent, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"resp_fake{said.number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "model": said.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "top_p": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if status == "in_progress" else _usage(said),
    }


def _items(said: ReplyContent) -> list[dict[str, Any]]:
    spoken = [_message(said)] if said.text or not said.calls else []
    return [*spoken, *(_function_call(*call) for call in said.calls)]


def _message(said: ReplyContent) -> dict[str, Any]:
    return {
        "id": f"msg_fake{said.number}",
        "type": "message",
        "role": "assistant",
        "status": "incomplete" if said.cut else "completed",
        "content": [_text(said.text)],
    }


def _text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _function_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {
        "id": f"fc_{call_id}",
        "type": "function_call",
        "status": "completed",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def _usage(said: ReplyContent) -> dict[str, Any]:
    return {
        "input_tokens": said.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": said.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": said.input_tokens + said.output_tokens,
    }
