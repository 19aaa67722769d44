"""Harbour Desk served on loopback: who is signed in, what was registered, and which page belongs to
which address.

Waiting is done on an event, so that closing ends every page that is slow or hangs. The pages are in
`pages` and `trouble`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from foreword.demos.site import pages, trouble

LONGEST_WAIT_SECONDS = 60.0


@dataclass(slots=True, kw_only=True)
class Site:
    """A site that is being served: its address, the same site as another origin, and what was
    done on it."""

    url: str
    elsewhere: str
    # what was registered by the form, in order
    sent: list[dict[str, str]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)  # `GET host/path` of every request, in order
    sessions: set[str] = field(default_factory=set)
    closing: Event = field(default_factory=Event)


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


@contextmanager
def site(port: int = 0) -> Iterator[Site]:
    """Serve the site for the length of a `with` block."""
    server = _SiteServer(("127.0.0.1", port), _SiteHandler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.site
    finally:
        server.site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def answer(desk: Site, asked: SiteRequest) -> SiteResponse:
    """The page for what was asked; whoever is not signed in is sent to the door and comes back."""
    if asked.path in _OPEN:
        return _OPEN[asked.path](desk, asked)
    if asked.session not in desk.sessions:
        return _to(f"/login?next={asked.path}")
    if asked.path.startswith("/letter/"):
        found = pages.letter(asked.path.removeprefix("/letter/"))
        return SiteResponse(found) if found else _missing()
    inside = _INSIDE.get(asked.path)
    return inside(desk, asked) if inside else _missing()


def _to(address: str, *headers: tuple[str, str]) -> SiteResponse:
    return SiteResponse("", 302, (("Location", address), *headers))


def _missing() -> SiteResponse:
    return SiteResponse(pages.page("Not found", "<p>There is no such page.</p>"), 404)


def _login(desk: Site, asked: SiteRequest) -> SiteResponse:
    onward = asked.values.get("next", "")
    onward = onward if onward.startswith("/") and not onward.startswith("//") else "/dashboard"
    if not asked.posted:
        return SiteResponse(pages.login(onward))
    if (asked.values.get("name"), asked.values.get("password")) != (pages.NAME, pages.PASSWORD):
        return SiteResponse(pages.login(onward, "Wrong name or password."), 401)
    desk.sessions.add(session := secrets.token_hex(8))
    return _to(onward, ("Set-Cookie", f"desk={session}; Path=/; HttpOnly; SameSite=Lax"))


def _logout(desk: Site, asked: SiteRequest) -> SiteResponse:
    desk.sessions.discard(asked.session)
    return _to("/login", ("Set-Cookie", "desk=; Path=/; Max-Age=0"))


def _form(desk: Site, asked: SiteRequest) -> SiteResponse:
    if not asked.posted:
        return SiteResponse(pages.form())
    if not asked.values.get("subject", "").strip():
        return SiteResponse(pages.form("A letter needs a subject."), 400)
    desk.sent.append(
        {
            name: asked.values.get(name, "")
            for name in ("subject", "sender", "kind", "note", "urgent")
        }
    )
    return _to("/sent?new=1")


def _letters(desk: Site, asked: SiteRequest) -> SiteResponse:
    number = asked.values.get("page", "1")
    return SiteResponse(pages.letters(int(number) if number.isdecimal() and len(number) < 6 else 1))


def _slow(desk: Site, asked: SiteRequest) -> SiteResponse:
    with suppress(ValueError):
        desk.closing.wait(min(float(asked.values.get("seconds", "2")), LONGEST_WAIT_SECONDS))
    return SiteResponse(pages.page("Slow page", "<p>This took a while.</p>"))


def _hang(desk: Site, asked: SiteRequest) -> SiteResponse:
    desk.closing.wait(LONGEST_WAIT_SECONDS)
    return SiteResponse("")


def _download(desk: Site, asked: SiteRequest) -> SiteResponse:
    kind = (
        ("Content-Type", "text/csv"),
        ("Content-Disposition", 'attachment; filename="letters.csv"'),
    )
    return SiteResponse("number,subject\n", 200, kind)


_Page = Callable[[Site, SiteRequest], SiteResponse]
_OPEN: dict[str, _Page] = {
    "/": lambda desk, asked: _to("/dashboard"),
    "/login": _login,
    "/logout": _logout,
    "/help": lambda desk, asked: SiteResponse(pages.tides()),
    "/slow": _slow,
    "/hang": _hang,
    "/broken": lambda desk, asked: SiteResponse(trouble.broken(), 500),
    "/script-error": lambda desk, asked: SiteResponse(trouble.script_error()),
    "/busy": lambda desk, asked: SiteResponse(trouble.busy()),
    "/dialogs": lambda desk, asked: SiteResponse(trouble.dialogs()),
    "/download": _download,
    "/large": lambda desk, asked: SiteResponse(trouble.large()),
    "/settings": lambda desk, asked: SiteResponse(trouble.settings()),
    "/hidden": lambda desk, asked: SiteResponse(trouble.hidden()),
    "/frames": lambda desk, asked: SiteResponse(trouble.frames()),
    "/moving": lambda desk, asked: SiteResponse(trouble.address_change_page()),
    "/ways-out": lambda desk, asked: SiteResponse(trouble.ways_out(desk.elsewhere)),
    "/away": lambda desk, asked: _to(f"{desk.elsewhere}/help"),
    "/away/twice": lambda desk, asked: _to("/away"),
}
_INSIDE: dict[str, _Page] = {
    "/dashboard": lambda desk, asked: SiteResponse(pages.dashboard(len(desk.sent))),
    "/list": _letters,
    "/form": _form,
    "/sent": lambda desk, asked: SiteResponse(pages.sent(desk.sent, "new" in asked.values)),
}


class _SiteServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        port = self.server_address[1]
        self.site = Site(url=f"http://127.0.0.1:{port}", elsewhere=f"http://localhost:{port}")

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up in the middle is nothing to speak of."""


class _SiteHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _SiteServer

    def do_GET(self) -> None:
        self._answer({}, posted=False)

    def do_POST(self) -> None:
        size = min(int(self.headers.get("Content-Length") or 0), 1 << 20)
        self._answer(_values(self.rfile.read(size).decode(errors="replace")), posted=True)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        """Nothing: tests and demonstrations have a screen of their own."""

    def _answer(self, form: dict[str, str], *, posted: bool) -> None:
        address = urlsplit(self.path)
        self.server.site.asked.append(f"{self.command} {self.headers.get('Host', '')}{self.path}")
        values = {**_values(address.query), **form}
        session = _session(self.headers.get("Cookie", ""))
        given = answer(self.server.site, SiteRequest(address.path, values, posted, session))
        body = given.body.encode()
        self.send_response(given.status)
        for name, value in {
            "Content-Type": "text/html; charset=utf-8",
            **dict(given.headers),
        }.items():
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
