"""Who is let through, who is refused and with what: the guard in front of an app of a few lines."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from foreword.faces.http import token
from foreword.faces.http.problems import BEGUN
from foreword.faces.http.request_guard import HEADERS, LARGEST_FORM_BYTES, OPEN, RequestGuard
from foreword.faces.serving.app_state import AppState
from tests.corpus import rows
from tests.faces.http.running import settings_for

TOKEN = "a-token-that-is-long-enough"
SECRET = "sk-ant-" + "d4" * 20
OURS = {"host": "localhost:8765"}
LOCAL = ("127.0.0.1", 8765)

App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, and the scope that the app behind the guard saw, if it saw one."""

    status: int = 0
    headers: Headers = field(default_factory=Headers)
    body: bytes = b""
    starts: int = 0
    seen: Scope | None = None

    @property
    def problem(self) -> Any:
        """A refusal, with every field that one has."""
        problem = json.loads(self.body)
        assert problem["status"] == self.status
        assert problem["title"]
        assert self.headers["content-type"] == "application/problem+json"
        return problem


class Poked(AppState):
    """An app's state that counts how often somebody who listens would be told."""

    changes = 0

    def notice_change(self) -> None:
        self.changes += 1


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that reads its body and answers."""
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"text/plain"), (b"x-own", b"1")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"hello"})


class Guarded:
    """A guard around an app, and one request after another."""

    def __init__(self, state: AppState, app: App = hello) -> None:
        self.state = state
        self._app = app
        self._seen: list[Scope] = []
        self._guard = RequestGuard(self._record, state)

    async def _record(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._seen.append(scope)
        await self._app(scope, receive, send)

    def ask(
        self,
        method: str = "GET",
        path: str = "/v1/sessions",
        headers: dict[str, str] | list[tuple[str, str]] | None = None,
        body: bytes = b"",
        **more: Any,
    ) -> Answer:
        """One request, as the server in front hands it on."""
        pairs = headers if isinstance(headers, list) else [*(headers or OURS).items()]
        raw_path, _, query = path.partition("?")
        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": unquote(raw_path),
            "raw_path": raw_path.encode("latin-1"),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in pairs],
            "server": LOCAL,
            "client": ("127.0.0.1", 50_000),
            **more,
        }
        return asyncio.run(self._send(scope, body))

    async def _send(self, scope: Scope, body: bytes) -> Answer:
        parts = [{"type": "http.request", "body": body, "more_body": False}]
        sent = list[Message]()

        async def receive() -> Message:
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        await self._guard(scope, receive, send)
        starts = [message for message in sent if message["type"] == "http.response.start"]
        pieces = [message.get("body", b"") for message in sent]
        seen = self._seen.pop() if self._seen else None
        if not starts:
            return Answer(seen=seen)
        return Answer(
            status=starts[0]["status"],
            headers=Headers(raw=starts[0]["headers"]),
            body=b"".join(pieces),
            starts=len(starts),
            seen=seen,
        )


Make = Callable[..., Guarded]


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Make]:
    """Makes guards with these settings."""
    states = list[AppState]()

    def make(app: App = hello, **options: Any) -> Guarded:
        states.append(Poked(settings_for(tmp_path, **options)))
        return Guarded(states[-1], app)

    yield make
    for state in states:
        state.close()


@pytest.fixture
def with_token(guarded: Make) -> Guarded:
    return guarded(host="0.0.0.0", token_digest=token.digest_of(TOKEN))


# --- what reaches the app -------------------------------------------------------------------------


def test_names_in_the_api_may_have_a_slash_and_other_paths_are_as_they_are_read(
    guarded: Make,
) -> None:
    guard = guarded()
    for sent, path in (
        ("/v1/sessions/a%2Fb", "/v1/sessions/a%2Fb"),
        ("/v1", "/v1"),
        ("/sessions/a%20b", "/sessions/a b"),
        ("/v1x/a%20b", "/v1x/a b"),
    ):
        answer = guard.ask(path=sent)
        assert (answer.status, answer.body) == (200, b"hello")
        assert answer.seen is not None
        assert answer.seen["path"] == path
        assert answer.seen["foreword.limit"].when() is not None


def test_what_is_no_request_is_handed_on(guarded: Make) -> None:
    seen = list[str]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    guard = guarded(app)
    answer = asyncio.run(guard._send({"type": "lifespan"}, b""))
    assert (seen, answer.status) == (["lifespan"], 0)


def test_every_answer_has_our_headers_and_only_what_never_changes_is_kept(guarded: Make) -> None:
    async def own(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"referrer-policy", b"no-referrer")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    answer = guarded().ask(path="/sessions")
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-own"] == "1"
    assert "cache-control" not in guarded().ask(path="/static/app.css").headers
    assert guarded(own).ask().headers["referrer-policy"] == "no-referrer"
    refused = guarded().ask(headers={"host": "evil.example"})
    assert {name: refused.headers[name] for name in HEADERS} == HEADERS


def test_those_who_listen_are_told_of_what_may_have_changed_and_of_nothing_else(
    guarded: Make,
) -> None:
    guard = guarded()
    assert isinstance(guard.state, Poked)
    for method in ("GET", "HEAD", "OPTIONS"):
        guard.ask(method)
    assert guard.state.changes == 0
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        guard.ask(method)
    assert guard.state.changes == 4


# --- by which name --------------------------------------------------------------------------------


@pytest.mark.parametrize("host", rows("http/hosts.jsonl"))
def test_loopback_the_allowed_names_and_the_address_itself_are_answered(
    guarded: Make, host: str
) -> None:
    guard = guarded(hosts=("Agents.Example",), host="fd00::7", token_digest=token.digest_of(TOKEN))
    sent = {"host": host, "authorization": f"Bearer {TOKEN}"}
    assert guard.ask(headers=sent, server=("10.1.2.3", 80)).status == 200


@pytest.mark.parametrize("sent", rows("http/other_hosts.jsonl"))
def test_any_other_name_or_two_of_them_are_not_answered(
    guarded: Make, sent: list[tuple[str, str]]
) -> None:
    for server in (LOCAL, None):
        answer = guarded().ask(headers=sent, server=server)
        assert (answer.status, answer.problem["code"]) == (421, "unknown_host")
        assert "--allow-host" in answer.problem["hint"]
        assert answer.seen is None
    long = guarded().ask(headers={"host": "x" * 500})
    assert "x" * 80 in long.problem["title"]
    assert "x" * 81 not in long.problem["title"]


# --- from where -----------------------------------------------------------------------------------

OTHER_SITE = {"origin": "http://evil.example"}
SITES = [
    # the headers of a request, and whether it is let in
    ({}, True),
    ({"sec-fetch-site": "none"}, True),
    ({"sec-fetch-site": "same-origin"}, True),
    ({"sec-fetch-site": "same-site"}, False),
    ({"sec-fetch-site": "cross-site"}, False),
    ({"origin": "http://localhost:8765"}, True),
    ({"origin": "http://LOCALHOST:8765", "host": "LocalHost:8765"}, True),
    ({"origin": "http://localhost:8765", "sec-fetch-site": "cross-site"}, False),
    ({"origin": "http://localhost:9999"}, False),
    ({"origin": "http://localhost"}, False),
    (OTHER_SITE, False),
    ({"origin": "null"}, False),
    ({"origin": "null", "sec-fetch-site": "same-origin"}, True),
    ({"origin": "null", "sec-fetch-site": "none"}, False),
    ({"origin": "null", "sec-fetch-site": "cross-site"}, False),
    ({"origin": "http://evil.example", "sec-fetch-site": "same-origin"}, False),
    ({"sec-fetch-site": "teapot"}, False),
    ({"origin": ""}, False),
]


def test_a_page_of_another_site_may_neither_ask_the_api_nor_change_anything(guarded: Make) -> None:
    guard = guarded()
    for method, path in (("GET", "/v1"), ("GET", "/v1/sessions"), ("POST", "/sessions/kiln")):
        for sent, is_let_in in SITES:
            answer = guard.ask(method, path, headers={**OURS, **sent})
            assert (answer.seen is not None) == is_let_in, (method, path, sent)
            if not is_let_in:
                assert (answer.status, answer.problem["code"]) == (403, "wrong_origin")


def test_a_page_may_be_looked_at_from_a_link_on_another_site(guarded: Make) -> None:
    assert guarded().ask("GET", "/sessions", headers={**OURS, **OTHER_SITE}).status == 200


# --- how often, and in which frame ----------------------------------------------------------------


def test_who_asks_too_often_waits_and_nobody_else_does(guarded: Make) -> None:
    guard = guarded(requests_per_minute=2)
    assert [guard.ask().status for _ in range(2)] == [200, 200]
    refused = guard.ask()
    assert (refused.status, refused.problem["code"]) == (429, "too_many")
    wait = int(refused.headers["retry-after"])
    assert 1 <= wait <= 31
    assert refused.problem["hint"] == f"wait {wait} s"
    assert guard.ask(client=("10.0.0.9", 1)).status == 200
    assert [guard.ask(client=None).status for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize(
    ("sent", "version", "status"),
    [
        ({"transfer-encoding": "chunked"}, "1.1", 200),
        ({"content-length": "0"}, "1.0", 200),
        ({"transfer-encoding": "chunked"}, "1.0", 400),
        ({"transfer-encoding": "chunked", "content-length": "0"}, "1.1", 400),
    ],
)
def test_a_request_that_two_may_see_end_in_two_places_is_refused(
    guarded: Make, sent: dict[str, str], version: str, status: int
) -> None:
    answer = guarded().ask("POST", headers={**OURS, **sent}, http_version=version)
    assert answer.status == status
    if status == 400:
        assert answer.problem["code"] == "bad_framing"
        assert answer.headers["connection"] == "close"


# --- with which token -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(OPEN - {"/login"}))
def test_what_is_open_needs_no_token(with_token: Guarded, path: str) -> None:
    assert with_token.ask(path=path).status == 200


@pytest.mark.parametrize(
    ("sent", "is_wrong"),
    [
        ({}, False),
        ({"authorization": "Bearer"}, False),
        ({"authorization": f"Basic {TOKEN}"}, False),
        ({"authorization": TOKEN}, False),
        ({"authorization": f"Bearer {TOKEN}x"}, True),
        ({"cookie": f"foreword_8766={TOKEN}"}, False),
        ({"cookie": "foreword_8765=other"}, True),
        ({"cookie": f"a[b]=1; foreword_8765={TOKEN[:-1]}"}, None),
        ({"authorization": "Bearer other", "cookie": f"foreword_8765={TOKEN}"}, True),
    ],
)
def test_without_the_right_token_nothing_is_let_through(
    with_token: Guarded, sent: dict[str, str], is_wrong: bool | None
) -> None:
    answer = with_token.ask(headers={**OURS, **sent})
    assert answer.seen is None
    assert (answer.status, answer.problem["code"]) == (401, "token_needed")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "foreword serve" in answer.problem["hint"]
    if is_wrong is not None:
        assert ("not the token" in answer.problem["title"]) == is_wrong


@pytest.mark.parametrize(
    "sent",
    [
        {"authorization": f"Bearer {TOKEN}"},
        {"authorization": f"bEARER   {TOKEN} "},
        {"cookie": f"other=1; foreword_8765={TOKEN}"},
        {"authorization": "Basic eA==", "cookie": f"foreword_8765={TOKEN}"},
    ],
)
def test_with_it_everything_is(with_token: Guarded, sent: dict[str, str]) -> None:
    assert with_token.ask(headers={**OURS, **sent}).status == 200


def test_without_an_address_of_its_own_a_server_has_a_cookie_all_the_same(
    with_token: Guarded,
) -> None:
    sent = {**OURS, "cookie": f"foreword_0={TOKEN}"}
    assert with_token.ask(headers=sent, server=None).status == 200


@pytest.mark.parametrize(
    ("method", "query", "form"),
    [
        ("GET", f"?token={TOKEN}", b""),
        ("GET", f"?token=other&token=+{TOKEN}+", b"token=other"),
        ("POST", "?token=other", f"token={TOKEN}".encode()),
    ],
)
def test_the_token_is_given_once_and_is_a_cookie_from_then_on(
    with_token: Guarded, method: str, query: str, form: bytes
) -> None:
    answer = with_token.ask(method, f"/login{query}", body=form)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert answer.headers["referrer-policy"] == "no-referrer"
    cookie, *rules = answer.headers["set-cookie"].split("; ")
    assert cookie == f"foreword_8765={TOKEN}"
    assert {rule.lower() for rule in rules} == {"httponly", "samesite=strict", "path=/"}
    assert answer.seen is None


@pytest.mark.parametrize(("method", "query"), [("GET", ""), ("GET", "?token=other"), ("POST", "")])
def test_a_wrong_login_is_refused_without_a_cookie(
    with_token: Guarded, method: str, query: str
) -> None:
    answer = with_token.ask(method, f"/login{query}")
    assert answer.status == 401
    assert ("not the token" in answer.problem["title"]) == bool(query)
    assert "set-cookie" not in answer.headers


def test_a_form_that_anybody_may_send_is_small_and_other_bodies_are_bounded_too(
    with_token: Guarded, guarded: Make
) -> None:
    form = b"token=" + b"x" * LARGEST_FORM_BYTES
    assert with_token.ask("POST", "/login", body=form).status == 413
    assert with_token.ask("POST", "/login", body=form[:LARGEST_FORM_BYTES]).status == 401
    sent = {**OURS, "authorization": f"Bearer {TOKEN}"}
    assert with_token.ask("POST", headers=sent, body=form).status == 200
    small = guarded(largest_body_bytes=10)
    assert small.ask("POST", body=b"x" * 10).status == 200
    assert small.ask("POST", body=b"x" * 11).problem["code"] == "too_large"
    announced = small.ask("POST", headers={**OURS, "content-length": "11"})
    assert (announced.status, announced.seen) == (413, None)


def test_where_no_token_is_asked_for_there_is_no_login(guarded: Make) -> None:
    answer = guarded().ask(path=f"/login?token={TOKEN}")
    assert answer.seen is not None
    assert "set-cookie" not in answer.headers


# --- what becomes of trouble ----------------------------------------------------------------------


async def forever(scope: Scope, receive: Receive, send: Send) -> None:
    scope[BEGUN] = "begun" in scope["path"]
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("method", "path", "sent", "hint"),
    [
        ("GET", "/v1/begun", {}, ""),
        ("POST", "/v1/x", {}, "not begun"),
        ("POST", "/v1/begun", {}, "look before you send it again"),
        ("PUT", "/v1/begun", {"idempotency-key": "k"}, "done once"),
    ],
)
def test_who_waits_too_long_learns_whether_it_may_still_be_done(
    guarded: Make, method: str, path: str, sent: dict[str, str], hint: str
) -> None:
    answer = guarded(forever, timeout_seconds=0.001).ask(method, path, headers={**OURS, **sent})
    assert (answer.status, answer.problem["code"]) == (504, "too_slow")
    assert "0.001 seconds" in answer.problem["title"]
    assert hint in answer.problem["hint"]
    assert bool(answer.problem["hint"]) == bool(hint)


def test_a_server_that_stops_says_so_to_those_who_still_wait(guarded: Make) -> None:
    async def ended(scope: Scope, receive: Receive, send: Send) -> None:
        raise asyncio.CancelledError

    guard = guarded(ended)
    with pytest.raises(asyncio.CancelledError):
        guard.ask("POST")
    guard.state.stop()
    answer = guard.ask("POST")
    assert (answer.status, answer.problem["code"]) == (503, "stopping")
    assert "not begun" in answer.problem["hint"]


def test_what_goes_wrong_is_in_the_log_without_secrets_and_not_in_the_answer(
    guarded: Make, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError(f"with {SECRET} in hand")

    answer = guarded(broken).ask()
    assert (answer.status, answer.problem["code"]) == (500, "internal")
    assert answer.problem["hint"]
    assert b"ZeroDivisionError" not in answer.body
    assert "ZeroDivisionError: with" in caplog.text
    assert "test_request_guard.py" in caplog.text
    assert SECRET not in caplog.text


def test_an_answer_that_has_begun_is_not_followed_by_another(guarded: Make) -> None:
    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 202, "headers": []})
        raise ZeroDivisionError

    answer = guarded(half).ask()
    assert (answer.status, answer.starts, answer.body) == (202, 1, b"")


def test_a_client_that_has_gone_is_sent_nothing(
    guarded: Make, caplog: pytest.LogCaptureFixture
) -> None:
    async def gone(scope: Scope, receive: Receive, send: Send) -> None:
        raise ClientDisconnect

    assert guarded(gone).ask().starts == 0
    assert not [record for record in caplog.records if record.name == "foreword.serve"]


@pytest.mark.parametrize(
    ("path", "accept", "is_page"),
    [
        ("/sessions", "text/html,*/*;q=0.8", True),
        ("/sessions", "application/json", False),
        ("/sessions", None, False),
        ("/v1/sessions", "text/html", False),
    ],
)
def test_a_refusal_is_a_page_for_people_and_json_for_programs(
    with_token: Guarded, path: str, accept: str | None, is_page: bool
) -> None:
    sent = {**OURS, **({"accept": accept} if accept else {})}
    asked = with_token.ask(path=path, headers=sent)
    assert asked.status == 401
    assert asked.headers["content-type"].startswith("text/html") == is_page
    assert asked.headers["www-authenticate"] == "Bearer"
    wanted = "strict-origin" if is_page else HEADERS["referrer-policy"]
    assert asked.headers["referrer-policy"] == wanted
    if is_page:
        assert b"this server wants a token" in asked.body
        assert b"<form" in asked.body
        assert b"Token needed" in asked.body
    elsewhere = with_token.ask(path=path, headers={**sent, "host": "evil.example"})
    assert elsewhere.status == 421
    assert elsewhere.headers["content-type"].startswith("text/html") == is_page


# --- what is written down -------------------------------------------------------------------------


def test_the_access_log_has_the_path_as_it_came_and_neither_query_nor_secret(
    guarded: Make, caplog: pytest.LogCaptureFixture
) -> None:
    guard = guarded()
    guard.ask(path="/quiet")
    assert not [record for record in caplog.records if record.name == "foreword.access"]
    caplog.set_level(logging.INFO, "foreword.access")
    guard.ask("X" * 30, f"/sessions/a%0Ab?token={TOKEN}")
    guard.ask(path=f"/sessions/{SECRET}")
    guard.ask(path="/sessions/" + "x/" * 400)
    guard.ask(path="/sessions/\xff")
    lines = [record.getMessage() for record in caplog.records if record.name == "foreword.access"]
    odd, secret, long, byte = lines
    assert odd.startswith("X" * 20 + " /sessions/a%0Ab 200 ")
    assert odd.endswith(" ms")
    assert 0 <= float(odd.split()[-2]) < 60_000
    assert SECRET not in secret
    assert secret.startswith("GET /sessions/")
    assert len(long.split()[1]) == 300
    assert byte.startswith("GET /sessions/\xff 200")
