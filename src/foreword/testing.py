"""Fakes for tests, yours and ours. A fake stands in for a paid model, and speaks its provider's wire format.

`fake_provider` is a server on loopback that answers OpenAI's `/chat/completions` and `/responses` and Anthropic's
`/v1/messages` with what a function of yours says; real clients talk to it over real HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Answer = Callable[[Mapping[str, Any]], str]
"""From a request's body to the text of the reply; what it raises becomes a 500."""


@dataclass(slots=True)
class FakeProvider:
    """A provider on loopback, and the requests it was sent."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def fake_provider(answer: Answer) -> Iterator[FakeProvider]:
    """Run a provider for the length of a `with` block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    provider = FakeProvider(f"http://127.0.0.1:{server.server_address[1]}")
    server.answer, server.provider = answer, provider  # type: ignore[attr-defined]
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.server.provider.requests.append(body)  # type: ignore[attr-defined]
        try:
            written, kind = _reply(self.path, body, self.server.answer(body))  # type: ignore[attr-defined]
            status = 200
        except Exception as error:  # noqa: BLE001 - a provider that fails answers, too
            written = json.dumps({"error": {"type": "api_error", "message": str(error)}})
            status, kind = 500, "application/json"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(written.encode())))
        self.end_headers()
        with suppress(OSError):  # the client may have stopped waiting
            self.wfile.write(written.encode())

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def _reply(path: str, body: Mapping[str, Any], text: str) -> tuple[str, str]:
    """What goes over the wire, and its type."""
    if path.endswith("/chat/completions"):
        return json.dumps(_chat(body, text)), "application/json"
    if path.endswith("/responses"):
        return json.dumps(_response(body, text)), "application/json"
    if not body.get("stream"):
        return json.dumps(_message(body, text)), "application/json"
    events = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _events(body, text))
    return events, "text/event-stream"


def _chat(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-fake", "object": "chat.completion", "created": 0, "model": body.get("model", "fake"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }  # fmt: skip


def _response(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    said = {"id": "msg_fake", "type": "message", "role": "assistant", "status": "completed", "content": content}
    return {
        "id": "resp_fake", "object": "response", "created_at": 0, "status": "completed", "output": [said],
        "model": body.get("model", "fake"), "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def _message(body: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {
        "id": "msg_fake", "type": "message", "role": "assistant", "model": body.get("model", "fake"),
        "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }  # fmt: skip


def _events(body: Mapping[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """Anthropic's reply as a stream."""
    yield {"type": "message_start", "message": {**_message(body, ""), "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 0},
    }  # fmt: skip
    yield {"type": "message_stop"}
