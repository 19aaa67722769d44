"""A provider on loopback that replies as it is told, in the format of the path that was asked.

A server of real HTTP for real clients; the formats are in the modules that end in `_wire`. It
waits on an event and never sleeps, so that closing it ends whatever it was in the middle of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, islice
from threading import Event, Lock, Thread
from typing import Any

from foreword.testing import anthropic_wire, gemini_wire, openai_chat_wire, openai_responses_wire
from foreword.testing.prefix_checks import Binding, CheckedRequest, bind, check_parts, request_parts
from foreword.testing.prompt_cache import PromptCache
from foreword.testing.replies import Reply, ReplyContent, Script, count_request, reply_content

FORMATS = {
    "/chat/completions": openai_chat_wire,
    "/responses": openai_responses_wire,
    "/v1/messages": anthropic_wire,
    ":generateContent": gemini_wire,
    ":streamGenerateContent": gemini_wire,
}
# Where clients only ask how many tokens a request has, and what the number is called.
COUNTING = {"/v1/messages/count_tokens": "input_tokens", ":countTokens": "totalTokens"}
STREAMED_BY_PATH = ":streamGenerateContent"
PIECES_BEFORE_TROUBLE = 3  # of a stream that breaks, or fails midway: enough for some of its text
OVERLOADED = 529  # Anthropic's own status, which `http` does not know
# The default of `fake_provider`. Off: the calls of a `Session` change their prefix when its window
# moves and when its state changes.
CHECK_PREFIXES = False
POLL_SECONDS = 0.01  # how soon a server that is closed ends; the default is half a second


@dataclass(slots=True, kw_only=True)
class FakeProvider:
    """A provider on loopback, and what it was sent; its models have names that
    `foreword.models.ask` understands."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    # of each request, their names in small letters
    headers: list[dict[str, str]] = field(default_factory=list)
    # of each request, the tokens that a cache of the requests before it would have had
    cached: list[int] = field(default_factory=list)
    # the messages with which the check of prefixes refused requests
    refusals: list[str] = field(default_factory=list)

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
def fake_provider(
    script: Script, *, check_prefixes: bool = CHECK_PREFIXES
) -> Iterator[FakeProvider]:
    """Run a provider for the length of a `with` block.

    With `check_prefixes`, requests in Anthropic's format are checked as its newer models check them
    (off by default). A thinking block is bound to the `system`, `tools` and message content before
    it and to the thinking before that. A request in which one of these changed gets a 400, or an
    answer without the invalid thinking where it says `drop_block` with the beta header. A refused
    request takes no reply from the script.
    """
    server = _Server(script, check_prefixes=check_prefixes)
    thread = Thread(
        target=server.serve_forever, kwargs={"poll_interval": POLL_SECONDS}, daemon=True
    )
    thread.start()
    try:
        yield server.provider
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    reply: Reply
    number: int  # of the request
    signature: str = ""  # of the reply's thinking
    dropped: Sequence[str] | None = None  # paths of thinking; None if the request did not ask


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script, *, check_prefixes: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.provider = FakeProvider(url=f"http://127.0.0.1:{self.server_address[1]}")
        self.closing = Event()
        self._script = script
        self._check_prefixes = check_prefixes
        self._bindings = dict[str, Binding]()
        self._cache = PromptCache()
        self._lock = Lock()

    def answer(self, wire: Any, body: dict[str, Any], headers: dict[str, str]) -> _Answer:
        """Return the reply to a request; what a script raises is an error like any other."""
        is_checked = self._check_prefixes and wire is anthropic_wire
        with self._lock:
            parts = list(request_parts(body)) if is_checked else []
            checked = check_parts(parts, self._bindings)
            error = ""
            if is_checked:
                error = anthropic_wire.thinking_error(body, headers, checked, self._bindings)
            self.provider.cached.append(self._cache.take(body, marked_only=wire is anthropic_wire))
            self.provider.requests.append(body)
            self.provider.headers.append(headers)
            if error:
                self.provider.refusals.append(error)
            number = len(self.provider.requests)
            place = number - len(self.provider.refusals)
        if error:
            return _Answer(reply=Reply(error, status=HTTPStatus.BAD_REQUEST), number=number)
        try:
            scripted = _next_reply(self._script, body, place)
        except Exception as failure:  # noqa: BLE001 - a provider that fails answers, too
            scripted = Reply(str(failure), status=HTTPStatus.INTERNAL_SERVER_ERROR)
        reply = scripted if isinstance(scripted, Reply) else Reply(scripted)
        dropped = [part.path for part in checked.unusable]
        return _Answer(
            reply=reply,
            number=number,
            signature=self._signature(reply, number, checked),
            dropped=dropped if anthropic_wire.has_binding_beta(headers) else None,
        )

    def _signature(self, reply: Reply, number: int, checked: CheckedRequest) -> str:
        """Return a new signature that is bound to the request, for the thinking of its reply."""
        if reply.thinking is None:
            return ""
        signature = f"signature-of-answer-{number}"
        block = anthropic_wire.thinking_block(reply.thinking, signature)
        with self._lock:
            self._bindings[signature] = bind(block, content=checked.content, usable=checked.usable)
        return signature

    def handle_error(self, *args: Any) -> None:
        """Say nothing: a client may leave at any moment."""


def _next_reply(script: Script, body: Mapping[str, Any], number: int) -> str | Reply:
    if callable(script):
        return script(body)
    if isinstance(script, str | Reply):
        return script
    if number <= len(script):
        return script[number - 1]
    return Reply(
        f"the script has {len(script)} replies, and this is request {number}",
        status=HTTPStatus.INTERNAL_SERVER_ERROR,
        headers={"x-should-retry": "false"},
    )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        self.close_connection = True
        wire = _format_of(self.path)
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(data)
        except ValueError:
            body = None
        counting = _counting_field(self.path)
        if counting and isinstance(body, dict):
            self._send(json.dumps({counting: count_request(body)}), HTTPStatus.OK, {})
            return
        if wire is None:
            status = HTTPStatus.NOT_FOUND
            self._fail(openai_chat_wire, status, status.description)
            return
        if not isinstance(body, dict):
            status = HTTPStatus.BAD_REQUEST
            self._fail(wire, status, status.description)
            return
        path = self.path.split("?")[0]
        if path.endswith(STREAMED_BY_PATH):
            body["stream"] = True
        if wire is gemini_wire:
            body.setdefault("model", path.rpartition("/")[2].partition(":")[0])
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.answer(wire, body, headers)
        with suppress(OSError):  # the client may have stopped waiting
            self._reply(wire, body, answer)

    def do_GET(self) -> None:
        """Nothing is to be had by asking: a provider like this has no pages."""
        self._fail(openai_chat_wire, HTTPStatus.NOT_FOUND, "not found")

    def _fail(self, wire: Any, status: HTTPStatus, message: str) -> None:
        self._send(json.dumps(wire.failure(status, message)), status, {})

    def _reply(self, wire: Any, body: dict[str, Any], answer: _Answer) -> None:
        reply = answer.reply
        self.server.closing.wait(None if reply.hangs else reply.delay_seconds)
        if reply.hangs:
            return
        if reply.body is not None:
            self._send(reply.body, reply.status, reply.headers)
        elif reply.status != HTTPStatus.OK and not (reply.midway and body.get("stream")):
            failure = wire.failure(reply.status, reply.text or _phrase(reply.status))
            self._send(json.dumps(failure), reply.status, reply.headers)
        elif body.get("stream"):
            self._stream(self._events(wire, body, answer), reply)
        elif reply.endless:
            pieces = chain(['{"text": "'], self._content(body, answer).pieces())
            self._stream(pieces, reply, "application/json")
        else:
            whole = json.dumps(wire.whole(self._content(body, answer)))
            self._send(whole, HTTPStatus.OK, reply.headers, breaks=reply.breaks)

    def _content(self, body: dict[str, Any], answer: _Answer) -> ReplyContent:
        return reply_content(
            body,
            answer.reply,
            answer.number,
            self.server.provider.cached[answer.number - 1],
            signature=answer.signature,
            dropped=answer.dropped,
        )

    def _events(self, wire: Any, body: dict[str, Any], answer: _Answer) -> Iterator[str]:
        reply = answer.reply
        events = wire.events(self._content(body, answer))
        if reply.breaks or reply.midway:
            events = islice(events, PIECES_BEFORE_TROUBLE)
        if reply.midway:
            failure = wire.failure(reply.status, reply.text or _phrase(reply.status))
            if wire is not openai_chat_wire:
                failure = {"type": "error", **failure}
            events = chain(events, [failure])
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            yield f"{name}data: {json.dumps(event)}\n\n"
        if not (reply.breaks or reply.midway):
            yield wire.END

    def _stream(self, pieces: Iterator[str], reply: Reply, kind: str = "text/event-stream") -> None:
        headers = {"Content-Type": kind, "Transfer-Encoding": "chunked", **reply.headers}
        self._head(HTTPStatus.OK, headers)
        for piece in filter(None, pieces):
            if self.server.closing.wait(reply.drip_seconds):
                return
            data = piece.encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if not reply.breaks:
            self.wfile.write(b"0\r\n\r\n")

    def _send(
        self, body: str, status: int, headers: Mapping[str, str], *, breaks: bool = False
    ) -> None:
        data = body.encode()
        usual = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        self._head(status, {**usual, **headers})
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
    try:
        return HTTPStatus(status).phrase
    except ValueError:  # one of the script's own
        return "Error"


def _counting_field(path: str) -> str:
    """What the number of tokens is called where a path asks for nothing else."""
    for end, name in COUNTING.items():
        if path.split("?")[0].endswith(end):
            return name
    return ""


def _format_of(path: str) -> Any:
    """The module of the format that is spoken at a path; None where there is none."""
    for end, wire in FORMATS.items():
        if path.split("?")[0].endswith(end):
            return wire
    return None
