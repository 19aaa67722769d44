"""Google's Gemini API, as it writes its answers; the model is named in the path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from foreword.testing.replies import ReplyContent

STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
}
END = ""


def whole(content: ReplyContent) -> dict[str, Any]:
    """The reply in one piece."""
    parts = [{"text": content.text}] if content.text or not content.calls else []
    return _response(content, [*parts, *_calls(content)], ends=True)


def events(content: ReplyContent) -> Iterator[dict[str, Any]]:
    """The reply as a stream."""
    for piece in content.pieces():
        yield _response(content, [{"text": piece}], ends=False)
    yield _response(content, _calls(content), ends=True)


def failure(status: int, message: str) -> dict[str, Any]:
    """An error's body."""
    usual = "INTERNAL" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "INVALID_ARGUMENT"
    return {"error": {"code": status, "message": message, "status": STATUSES.get(status, usual)}}


def _calls(content: ReplyContent) -> list[dict[str, Any]]:
    calls = list[dict[str, Any]]()
    for call_id, name, arguments in content.calls:
        call = {"id": call_id, "name": name, "args": json.loads(arguments)}
        calls.append({"functionCall": call})
    return calls


def _response(content: ReplyContent, parts: list[dict[str, Any]], *, ends: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if ends:
        candidate["finishReason"] = "MAX_TOKENS" if content.cut else "STOP"
    total = content.input_tokens + content.output_tokens
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": content.input_tokens,
            "cachedContentTokenCount": content.cached_tokens,
            "candidatesTokenCount": content.output_tokens,
            "totalTokenCount": total,
        },
        "modelVersion": content.model,
        "responseId": f"gemini_fake{content.number}",
    }
