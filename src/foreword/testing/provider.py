"""A provider on loopback that replies as it is told, in the format of the path that was asked.

A server of real HTTP for real clients; the formats are `openai_chat`, `openai_responses` and
`anthropic`. It waits on an event and never sleeps, so that closing it ends whatever it was in the
middle of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, islice
from threading import Event, Lock, Thread
from typing import Any

from foreword.testing import anthropic, openai_chat, openai_responses
from foreword.testing.replies import Reply, Script, reply_content

FORMATS = {
    "/chat/completions": openai_chat,
    "/responses": openai_responses,
    "/v1/messages": anthropic,
}
PIECES_BEFORE_TROUBLE = 3  # of a stream that breaks, or fails midway
OVERLOADED = 529


@dataclass(slots=True)
class FakeProvider:
    """A provider on loopback, and what it was sent; its models have names that
    `foreword.models.ask` understands."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    # of each request, their names in small letters
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def openai(self) -> str:
        """The name of a model that is asked by chat completions."""
        return f"openai:fake@{self.url}/v1"

    @property
    def openai_responses(self) -> str:
        """The name of a model that is asked by responses."""
        return f"openai-responses:fake@{self.url}/v1"

    @property
    def anthropic(self) -> str:
        """The name of a model that is asked by messages."""
        return f"anthropic:fake@{self.url}"


@contextmanager
def fake_provider(script: Script) -> Iterator[FakeProvider]:
    """Run a provider for the length of a `with` block."""
    server = _Server(script)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.provider
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.provider = FakeProvider(f"http://127.0.0.1:{self.server_address[1]}")
        self.closing = Event()
        self._script, self._lock = script, Lock()

    def reply_to(self, body: dict[str, Any], headers: dict[str, str]) -> tuple[Reply, int]:
        """The reply, and the number of the request; what a script raises is an error like any
        other."""
        with self._lock:
            self.provider.requests.append(body)
            self.provider.headers.append(headers)
            number = len(self.provider.requests)
        try:
            found = _next(self._script, body, number)
        except Exception as error:  # noqa: BLE001 - a provider that fails answers, too
            found = Reply(str(error), status=HTTPStatus.INTERNAL_SERVER_ERROR)
        return found if isinstance(found, Reply) else Reply(found), number

    def handle_error(self, *args: Any) -> None:
        """Say nothing: a client may leave at any moment."""


def _next(script: Script, body: Mapping[str, Any], number: int) -> str | Reply:
    if callable(script):
        return script(body)
    if isinstance(script, str | Reply):
        return script
    if number <= len(script):
        return script[number - 1]
    told = f"the script has {len(script)} replies, and this is request {number}"
    return Reply(told, status=HTTPStatus.INTERNAL_SERVER_ERROR, headers={"x-should-retry": "false"})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        self.close_connection = True
        speaks = next(
            (each for path, each in FORMATS.items() if self.path.split("?")[0].endswith(path)), None
        )
        read = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(read)
        except ValueError:
            body = None
        if speaks is None or not isinstance(body, dict):
            status = HTTPStatus.NOT_FOUND if speaks is None else HTTPStatus.BAD_REQUEST
            return self._send(
                json.dumps((speaks or openai_chat).failure(status, status.description)), status, {}
            )
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply, number = self.server.reply_to(body, headers)
        with suppress(OSError):  # the client may have stopped waiting
            self._reply(speaks, body, reply, number)
        return None

    def do_GET(self) -> None:
        """Nothing is to be had by asking: a provider like this has no pages."""
        self._send(
            json.dumps(openai_chat.failure(HTTPStatus.NOT_FOUND, "not found")),
            HTTPStatus.NOT_FOUND,
            {},
        )

    def _reply(self, speaks: Any, body: dict[str, Any], reply: Reply, number: int) -> None:
        self.server.closing.wait(None if reply.hangs else reply.delay_seconds)
        if reply.hangs:
            return
        if reply.body is not None:
            self._send(reply.body, reply.status, reply.headers)
        elif reply.status != HTTPStatus.OK and not (reply.midway and body.get("stream")):
            failure = speaks.failure(reply.status, reply.text or _phrase(reply.status))
            self._send(json.dumps(failure), reply.status, reply.headers)
        elif body.get("stream"):
            self._stream(self._events(speaks, body, reply, number), reply)
        elif reply.endless:
            self._stream(
                chain(['{"text": "'], reply_content(body, reply, number).pieces()),
                reply,
                "application/json",
            )
        else:
            written = json.dumps(speaks.whole(reply_content(body, reply, number)))
            self._send(written, HTTPStatus.OK, reply.headers, breaks=reply.breaks)

    def _events(
        self, speaks: Any, body: dict[str, Any], reply: Reply, number: int
    ) -> Iterator[str]:
        events = speaks.events(reply_content(body, reply, number))
        if reply.breaks or reply.midway:
            events = islice(events, PIECES_BEFORE_TROUBLE)
        if reply.midway:
            failure = speaks.failure(reply.status, reply.text or _phrase(reply.status))
            events = chain(
                events, [failure if speaks is openai_chat else {"type": "error", **failure}]
            )
        for event in events:
            named = f"event: {event['type']}\n" if "type" in event else ""
            yield f"{named}data: {json.dumps(event)}\n\n"
        if not (reply.breaks or reply.midway):
            yield speaks.END

    def _stream(self, pieces: Iterator[str], reply: Reply, kind: str = "text/event-stream") -> None:
        self._head(
            HTTPStatus.OK, {"Content-Type": kind, "Transfer-Encoding": "chunked", **reply.headers}
        )
        for piece in filter(None, pieces):
            if self.server.closing.wait(reply.drip_seconds):
                return
            data = piece.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if not reply.breaks:
            self.wfile.write(b"0\r\n\r\n")

    def _send(
        self, written: str, status: int, headers: Mapping[str, str], *, breaks: bool = False
    ) -> None:
        data = written.encode()
        self._head(
            status,
            {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers},
        )
        self.wfile.write(data[: len(data) // 2] if breaks else data)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.close_connection = True
        self.send_response(status, _phrase(status))
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def _phrase(status: int) -> str:
    if status == OVERLOADED:
        return "Overloaded"
    return HTTPStatus(status).phrase if status in {known.value for known in HTTPStatus} else "Error"
