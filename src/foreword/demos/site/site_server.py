"""Harbour Desk served on loopback: who is signed in, what was registered, and which page belongs to
which address. The pages are in `site_pages`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from foreword.demos.site import site_pages

LARGEST_FORM_BYTES = 1 << 20  # a form of ours has some hundred
POLL_SECONDS = 0.05  # how long closing the site may take


@dataclass(slots=True, kw_only=True)
class Site:
    """A site that is being served: its address, and what was done on it."""

    url: str
    # what was registered by the form, in order
    sent: list[dict[str, str]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)  # `GET host/path` of every request, in order
    sessions: set[str] = field(default_factory=set)


class SiteResponse(NamedTuple):
    """What is sent back."""

    body: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


class SiteRequest(NamedTuple):
    """What was asked: the path, the values of address or form, whether by POST, and the cookie
    of a session."""

    path: str
    values: dict[str, str]
    posted: bool
    session: str


Page = Callable[[Site, SiteRequest], SiteResponse]


def answer(state: Site, request: SiteRequest) -> SiteResponse:
    """The page for a request; whoever is not signed in is sent to the door and comes back."""
    if request.path in _PUBLIC:
        return _PUBLIC[request.path](state, request)
    if request.session not in state.sessions:
        return _redirect(f"/login?next={request.path}")
    if request.path.startswith("/letter/"):
        letter = site_pages.letter(request.path.removeprefix("/letter/"))
        return SiteResponse(letter) if letter else _missing()
    page = _SIGNED_IN.get(request.path)
    return page(state, request) if page else _missing()


@contextmanager
def site(port: int = 0, answer: Page = answer) -> Iterator[Site]:
    """Serve the site for the length of a `with` block; `answer` gives the page for a request."""
    server = _SiteServer(("127.0.0.1", port), answer)
    thread = Thread(
        target=server.serve_forever, kwargs={"poll_interval": POLL_SECONDS}, daemon=True
    )
    thread.start()
    try:
        yield server.site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _redirect(address: str, *headers: tuple[str, str]) -> SiteResponse:
    return SiteResponse("", status=302, headers=(("Location", address), *headers))


def _missing() -> SiteResponse:
    return SiteResponse(site_pages.page("Not found", "<p>There is no such page.</p>"), 404)


def _login(state: Site, request: SiteRequest) -> SiteResponse:
    onward = request.values.get("next", "")
    if not onward.startswith("/") or onward.startswith("//"):
        onward = "/dashboard"
    if not request.posted:
        return SiteResponse(site_pages.login(onward))
    if (request.values.get("name"), request.values.get("password")) != (
        site_pages.NAME,
        site_pages.PASSWORD,
    ):
        return SiteResponse(site_pages.login(onward, "Wrong name or password."), 401)
    session = secrets.token_hex(8)
    state.sessions.add(session)
    return _redirect(onward, ("Set-Cookie", f"desk={session}; Path=/; HttpOnly; SameSite=Lax"))


def _logout(state: Site, request: SiteRequest) -> SiteResponse:
    state.sessions.discard(request.session)
    return _redirect("/login", ("Set-Cookie", "desk=; Path=/; Max-Age=0"))


def _form(state: Site, request: SiteRequest) -> SiteResponse:
    if not request.posted:
        return SiteResponse(site_pages.form())
    if not request.values.get("subject", "").strip():
        return SiteResponse(site_pages.form("A letter needs a subject."), 400)
    names = ("subject", "sender", "kind", "note", "urgent")
    state.sent.append({name: request.values.get(name, "") for name in names})
    return _redirect("/sent?new=1")


def _letters(state: Site, request: SiteRequest) -> SiteResponse:
    text = request.values.get("page", "1")
    number = int(text) if text.isdecimal() and len(text) < 6 else 1
    return SiteResponse(site_pages.letters(number))


_PUBLIC: dict[str, Page] = {
    "/": lambda state, request: _redirect("/dashboard"),
    "/login": _login,
    "/logout": _logout,
    "/help": lambda state, request: SiteResponse(site_pages.tides()),
}
_SIGNED_IN: dict[str, Page] = {
    "/dashboard": lambda state, request: SiteResponse(site_pages.dashboard(len(state.sent))),
    "/list": _letters,
    "/form": _form,
    "/sent": lambda state, request: SiteResponse(
        site_pages.registered_letters(state.sent, new="new" in request.values)
    ),
}


class _SiteServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], answer: Page) -> None:
        super().__init__(address, _SiteHandler)
        self.site = Site(url=f"http://127.0.0.1:{self.server_address[1]}")
        self.answer = answer

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up in the middle is nothing to speak of."""


class _SiteHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _SiteServer

    def do_GET(self) -> None:
        self._answer({}, posted=False)

    def do_POST(self) -> None:
        size = min(int(self.headers.get("Content-Length") or 0), LARGEST_FORM_BYTES)
        self._answer(_values(self.rfile.read(size).decode(errors="replace")), posted=True)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        """Nothing: tests and demonstrations have a screen of their own."""

    def _answer(self, form: dict[str, str], *, posted: bool) -> None:
        address = urlsplit(self.path)
        self.server.site.requests.append(
            f"{self.command} {self.headers.get('Host', '')}{self.path}"
        )
        values = {**_values(address.query), **form}
        session = _session(self.headers.get("Cookie", ""))
        request = SiteRequest(path=address.path, values=values, posted=posted, session=session)
        response = self.server.answer(self.server.site, request)
        body = response.body.encode()
        headers = {"Content-Type": "text/html; charset=utf-8", **dict(response.headers)}
        self.send_response(response.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _values(text: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(text, keep_blank_values=True).items()}


def _session(header: str) -> str:
    cookie = SimpleCookie(header).get("desk")
    return cookie.value if cookie else ""
