"""Attacks, one after another: from another site, by another name, without the token, with too
much, with odd bytes."""

from __future__ import annotations

import json
import logging
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.errors import UsageError
from foreword.faces.http import http_server, token
from foreword.faces.http.app import create_app
from foreword.faces.http.request_guard import HEADERS
from tests.corpus import rows
from tests.examples import examples
from tests.faces.http.running import Address, running, session_path, settings_for
from tests.patience import PATIENCE_SECONDS
from tests.sessions import plan

pytestmark = pytest.mark.attack

TOKEN = "a-token-that-is-long-enough"
SECRET = "sk-ant-" + "d4" * 20


@pytest.fixture(scope="module")
def token_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A server that others can reach."""
    folder = tmp_path_factory.mktemp("guarded")
    with running(settings_for(folder, host="0.0.0.0", token_digest=token.digest_of(TOKEN))) as (
        where,
        _,
    ):
        yield where


# --- the token ------------------------------------------------------------------------------------


def test_on_loopback_no_token_is_needed(address: Address) -> None:
    assert address.ask("GET", "/v1/sessions").status == 200


def test_a_server_that_others_can_reach_is_not_made_without_a_token(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.7", "agents.example"):
        with pytest.raises(UsageError, match="a token is needed"):
            create_app(settings_for(tmp_path, host=host))


def test_elsewhere_nothing_is_shown_without_the_token(token_server: Address) -> None:
    for path in ("/", "/v1/sessions", "/v1/events", "/openapi.json", "/static/x", "/no"):
        for sent in (
            {},
            {"authorization": "Bearer wrong"},
            {"cookie": "foreword_0=x"},
        ):
            refused = token_server.ask("GET", path, headers=sent)
            assert (refused.status, refused.json["code"]) == (401, "token_needed"), (path, sent)
            assert TOKEN.encode() not in refused.body


def test_with_the_token_it_is(token_server: Address) -> None:
    assert (
        token_server.ask("GET", "/v1/sessions", headers={"authorization": f"bearer {TOKEN}"}).status
        == 200
    )
    # for those who look after it; it says nothing
    assert token_server.ask("GET", "/healthz").status == 200


BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/", "/sessions/kiln", "/no", "/login"])
def test_who_comes_with_a_browser_is_asked_for_the_token(token_server: Address, path: str) -> None:
    asked = token_server.ask("GET", path, headers=BROWSER)
    assert (asked.status, asked.headers["www-authenticate"]) == (401, "Bearer")
    assert b'method="post" action="/login"' in asked.body
    assert b"<script" not in asked.body
    for used in re.findall(r'(?:href|src)="([^"]+)"', asked.body.decode()):
        assert token_server.ask("GET", used).status == 200


def test_the_form_takes_the_token_and_gives_the_cookie(token_server: Address) -> None:
    sent = {
        **BROWSER,
        "content-type": "application/x-www-form-urlencoded",
        "origin": f"http://127.0.0.1:{token_server.port}",
    }
    reply = token_server.ask("POST", "/login", f"token=+{TOKEN}%0A".encode(), headers=sent)
    assert (reply.status, reply.headers["location"]) == (303, "/")
    cookie = reply.headers["set-cookie"].split("; ")[0]
    assert token_server.ask("GET", "/v1/sessions", headers={"cookie": cookie}).status == 200
    wrong = token_server.ask("POST", "/login", b"token=wrong", headers=sent)
    assert (wrong.status, b"that is not the token" in wrong.body) == (401, True)
    assert token_server.ask("POST", "/login", b"token=" + b"x" * 20_000, headers=sent).status == 413
    assert token_server.ask("POST", "/login", b"&" * 8_000, headers=sent).status == 401
    foreign = token_server.ask(
        "POST",
        "/login",
        f"token={TOKEN}".encode(),
        headers={**sent, "origin": "http://evil.example"},
    )
    assert (foreign.status, foreign.headers["set-cookie"]) == (403, None)


def test_a_token_is_kept_as_a_digest_for_its_user_alone(tmp_path: Path) -> None:
    made, digest = token.store_token(tmp_path)
    file = token.digest_file(tmp_path)
    assert token.fits(made, digest)
    assert file.stat().st_mode & 0o777 == 0o600
    assert made not in file.read_text()
    assert token.store_token(tmp_path) == ("", digest)
    again, other = token.store_token(tmp_path, new=True)
    assert again != made
    assert not token.fits(made, other)


def test_a_digest_that_is_a_link_or_no_digest_is_not_trusted(tmp_path: Path) -> None:
    file = token.digest_file(tmp_path)
    file.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "theirs").write_text(token.digest_of("known to them"))
    file.symlink_to(tmp_path / "theirs")
    made, digest = token.store_token(tmp_path)
    assert token.fits(made, digest)
    assert (tmp_path / "theirs").read_text() == token.digest_of("known to them")
    file.write_text("teapot")
    assert token.store_token(tmp_path)[0]


@pytest.mark.parametrize(
    "content", [b"", b"short", b"has a space in it, at least", b"\xff" * 40, "ключ".encode() * 9]
)
def test_a_token_file_has_a_token_in_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(UsageError, match="token"):
        token.from_file(str(tmp_path / "token"))


# --- by another name, from another site -----------------------------------------------------------


def test_two_names_at_once_are_not_answered(address: Address) -> None:
    answer = address.send_bytes(
        b"GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    )
    assert answer.split()[1] in (b"400", b"421")


def test_a_page_of_another_site_changes_nothing_and_does_not_listen(address: Address) -> None:
    for sent in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        refused = address.ask("POST", "/v1/sessions", {"name": "forged"}, headers=sent)
        assert (refused.status, refused.json["code"]) == (403, "wrong_origin")
        form = address.ask("POST", "/sessions/forged/compress", b"", headers=sent)
        assert form.status == 403
        with address.open("GET", "/v1/events", headers=sent) as answer:
            assert answer.status == 403
    assert address.ask("GET", "/v1/sessions", search="forged").json["items"] == []


def test_our_own_page_may_ask(address: Address, name: str) -> None:
    own = {"origin": f"http://127.0.0.1:{address.port}", "sec-fetch-site": "same-origin"}
    assert address.ask("POST", "/v1/sessions", {"name": name}, headers=own).status == 201
    # what browsers send where there are no referrers
    form = {"origin": "null", "sec-fetch-site": "same-origin"}
    assert address.ask("POST", "/v1/sessions", {"name": f"{name} too"}, headers=form).status == 201


def test_nobody_else_is_let_in_by_cors(address: Address) -> None:
    asks = {"origin": "http://evil.example", "access-control-request-method": "PUT"}
    reply = address.ask("OPTIONS", "/v1/sessions", headers=asks)
    assert not [name for name in reply.headers if name.lower().startswith("access-control")]


def test_every_answer_carries_the_headers_that_bind_a_browser(address: Address) -> None:
    for path in ("/", "/v1/sessions", "/v1/no", "/no", "/static/no", "/healthz", "/openapi.json"):
        for host in ("localhost", "evil.example"):
            reply = address.ask("GET", path, headers={"host": host})
            assert (reply.status == 421) == (host == "evil.example")
            for name, value in HEADERS.items():
                assert reply.headers[name] == value, (path, host)
            assert "unsafe" not in reply.headers["content-security-policy"]
            assert reply.headers["referrer-policy"] == "same-origin"


# --- too much -------------------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with running(settings_for(tmp_path, largest_body_bytes=1_000)) as (address, _):
        announced = address.send_bytes(
            b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"
        )
        assert announced.split()[1] == b"413"
        head = (
            b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        )
        chunk = b"1f4\r\n" + b" " * 500 + b"\r\n"
        chunked = address.send_bytes(
            head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 5 + b"0\r\n\r\n"
        )
        assert chunked.split()[1] == b"413"
        assert address.ask("POST", "/v1/sessions", {"name": "x" * 100}).status == 201


def test_a_body_that_never_ends_is_given_up(tmp_path: Path) -> None:
    head = b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with (
        running(settings_for(tmp_path, timeout_seconds=0.2)) as (address, _),
        socket.create_connection((address.host, address.port), PATIENCE_SECONDS) as slow,
    ):
        slow.sendall(head + b"Content-Length: 100\r\n\r\n{")
        assert slow.recv(1_000).split()[1] == b"504"


def test_a_head_that_never_ends_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server.HttpConnection, "head_seconds", 0.2)
    monkeypatch.setattr(http_server, "KEEP_ALIVE_SECONDS", 0.2)
    with running(settings_for(tmp_path)) as (address, _):
        for beginning in (b"", b"GET / HTTP/1.1\r\nX: "):
            with socket.create_connection((address.host, address.port), PATIENCE_SECONDS) as slow:
                slow.sendall(beginning)
                assert slow.recv(1_000) == b""
        with socket.create_connection((address.host, address.port), PATIENCE_SECONDS) as second:
            second.sendall(
                b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\n"
            )
            assert second.recv(100).split()[1] == b"200"
            while second.recv(1_000):
                pass


def test_a_head_that_is_too_large_is_refused(address: Address) -> None:
    with suppress(OSError):  # it may be dropped while it is still sent
        answer = address.send_bytes(
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000 + b"\r\n\r\n"
        )
        assert answer.split()[1] == b"400"
    assert address.ask("GET", "/healthz").status == 200


# --- secrets --------------------------------------------------------------------------------------


def test_a_secret_is_in_one_answer_alone_and_that_is_not_kept(address: Address, name: str) -> None:
    address.ask(
        "PUT",
        session_path(name, "variables", "api_key"),
        {"value": SECRET, "reason": f"it is {SECRET}"},
    )
    shown = address.ask("GET", session_path(name, "variables", "api_key"))
    assert shown.json["value"] == SECRET
    assert shown.headers["cache-control"] == "no-store"
    for path in ("variables", "variable-changes", "context", "usage", "snapshot", "messages"):
        assert SECRET.encode() not in address.ask("GET", session_path(name, path)).body
    for path in (
        "/",
        f"/sessions/{name}",
        f"/sessions/{name}/variables",
        "/v1/reports",
    ):
        assert SECRET.encode() not in address.ask("GET", path).body


def test_no_log_has_a_query_a_token_or_a_secret_in_it(
    address: Address, token_server: Address, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token_server.ask("GET", "/login", token=TOKEN)
    token_server.ask(
        "GET", "/v1/sessions", headers={"authorization": f"Bearer {TOKEN}"}, search=SECRET
    )
    address.ask(
        "PUT", session_path("logged", "variables", "api_key"), {"value": SECRET, "reason": "try"}
    )
    address.ask("DELETE", session_path("logged", "variables", "api_key"), reason=f"it was {SECRET}")
    address.ask("GET", session_path(SECRET))
    address.ask("POST", "/v1/sessions", {"name": "logged\n" + SECRET})
    assert "/v1/sessions/logged/variables/api_key 200" in caplog.text
    for secret in (TOKEN, SECRET, "reason=", "token="):
        assert secret not in caplog.text


# --- odd bytes ------------------------------------------------------------------------------------

ODD_BODIES = [
    b"[" * 100_000,
    b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    b'{"plan": ' + b"[" * 200 + b"]" * 200 + b', "reason": ""}',
    b'{"plan": {}, "plan": {}, "reason": ""}',
    b'{"plan": {"overall_goal": "a", "overall_goal": "b", "phases": []}, "reason": ""}',
    b'{"plan": NaN, "reason": ""}',
    b'{"plan": {"overall_goal": 1e999, "phases": []}, "reason": ""}',
    b'{"plan": ' + b"9" * 10_000 + b', "reason": ""}',
    b'{"plan": {"overall_goal": "\xff", "phases": []}, "reason": ""}',
    b'\xef\xbb\xbf{"plan": {}, "reason": ""}',
    b"\x00",
    '{"plan": {}}'.encode("utf-16"),
]


@pytest.mark.parametrize("body", ODD_BODIES, ids=lambda body: repr(body[:40]))
def test_json_that_is_not_what_it_seems_is_refused(address: Address, body: bytes) -> None:
    reply = address.ask(
        "PUT", session_path("odd", "plan"), body, headers={"content-type": "application/json"}
    )
    assert reply.status in (400, 422)
    assert reply.headers["content-type"] == "application/problem+json"
    assert address.ask("GET", session_path("odd")).json.get("plan_version", 0) == 0


ODD = [
    "\0",
    "\ud800",
    "\udfff\ud800",
    "\u202e",
    "a\u0300" * 500,
    "\U0010ffff",
    "\r\nSet-Cookie: x=1",
    "..",
    "/",
    "%00",
    "{{7*7}}",
    "<img src=x onerror=alert(1)>",
    "'; DROP TABLE plans; --",
    "\x7f",
    "\u2028",
    "${jndi:x}",
]


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_odd_text_is_kept_as_it_is_or_refused(address: Address, name: str, odd: str) -> None:
    path = session_path("odd text", "variables", "v")
    whole = odd.encode("utf-8", "replace").decode()  # half a character reads `?`
    body = json.dumps({"value": odd, "reason": whole}).encode()
    made = address.ask("PUT", path, body, headers={"content-type": "application/json"})
    assert made.status == 200, made.body
    kept = address.ask("GET", path).json["value"]
    assert kept == whole
    goal = {"plan": {**plan(), "overall_goal": f"x{odd}"}, "reason": whole}
    assert address.ask("PUT", session_path("odd text", "plan"), goal).status == 200
    assert address.ask("GET", session_path("odd text", "plan")).status == 200
    message = {"message": {"role": "user", "content": odd}}
    assert address.ask("POST", session_path("odd text", "messages"), message).status == 201
    assert address.ask("GET", session_path("odd text", "messages")).status == 200
    for form in ("text", "anthropic", "openai"):
        assert address.ask("GET", session_path("odd text", "context"), form=form).status == 200


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_odd_names_lead_nowhere_else(address: Address, odd: str) -> None:
    made = address.ask("POST", "/v1/sessions", {"name": odd})
    assert made.status in (201, 400, 409), made.body
    assert "x" not in made.headers.get("set-cookie", "")
    if made.status == 201:
        assert address.ask("GET", made.headers["location"]).json["name"] == odd
    piece = odd.encode("utf-8", "surrogatepass").decode("latin-1")
    for path in (
        "/v1/sessions/{}",
        "/v1/recipes/{}",
        "/v1/recall/{}",
        "/v1/checkpoints/{}",
        "/v1/reports/{}",
        "/{}",
    ):
        assert (
            address.ask("GET", path.format(quote(piece, safe="", encoding="latin-1"))).status < 500
        )


@pytest.mark.parametrize("root", ["/etc", "..", ".", "../other", "/", "other/..", "\0", "~"])
def test_a_root_is_never_taken_from_a_request(address: Address, root: str) -> None:
    refused = address.ask(
        "POST", "/v1/assemble", {"recipe": "package", "purpose": "handoff", "root": root}
    )
    assert (refused.status, refused.json["code"]) == (404, "unknown_name")
    for path in ("/v1/recipes", "/v1/checkpoints"):
        assert address.ask("GET", path, root=root).status in (400, 404)


@pytest.mark.parametrize("path", rows("http/paths.jsonl"))
def test_no_path_leads_to_another_file(address: Address, path: str) -> None:
    reply = address.ask("GET", path)
    assert reply.status in (400, 404)
    assert b"root:" not in reply.body
    assert b"def routes" not in reply.body


def test_commands_can_not_be_allowed_from_far_away(address: Address) -> None:
    for field in ("allow_commands", "allow_shell", "save", "carry"):
        assert address.ask("POST", "/v1/assemble", {"recipe": "package", field: True}).status == 400
    assert (
        address.ask("POST", session_path("x", "compress"), {"model": "openai:gpt-4o"}).status == 400
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(data=st.data())
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_body_brings_it_down(address: Address, data: st.DataObject) -> None:
    method, path = data.draw(
        st.sampled_from(
            [
                ("POST", "/v1/sessions"),
                ("PUT", "/v1/sessions/f/plan"),
                ("POST", "/v1/sessions/f/messages"),
                ("PUT", "/v1/sessions/f/variables/v"),
                ("POST", "/v1/assemble"),
                ("POST", "/v1/why"),
                ("POST", "/v1/lookup"),
                ("POST", "/v1/fit"),
                ("POST", "/v1/sessions/f/nodes"),
                ("PUT", "/v1/checkpoints/f/phases/1"),
                ("POST", "/v1/sessions/f/context"),
            ]
        )
    )
    names = [
        "name",
        "plan",
        "reason",
        "message",
        "messages",
        "kind",
        "value",
        "recipe",
        "about",
        "wanted",
        "node",
        "data",
        "source",
        "budget",
        "purpose",
        "role",
        "content",
        "id",
        "position",
        "type",
        "config",
    ]
    inner = st.dictionaries(st.sampled_from(names), json_values, max_size=6)
    body = data.draw(
        st.dictionaries(st.sampled_from(names), json_values | inner, max_size=6) | json_values
    )
    reply = address.ask(
        method, path, json.dumps(body).encode(), headers={"content-type": "application/json"}
    )
    assert reply.status < 500, (body, reply.body)


@given(st.binary(max_size=300))
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_bytes_bring_it_down(address: Address, noise: bytes) -> None:
    answer = address.send_bytes(
        b"GET /v1/sessions?" + noise + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    assert not answer or answer.split()[1] < b"500", answer
    address.send_bytes(noise)
    address.send_bytes(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nCookie: "
        + noise
        + b"\r\nLast-Event-ID: "
        + noise
        + b"\r\n\r\n"
    )
