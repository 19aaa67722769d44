"""Who may ask: what stands in front of the API and the page alike.

A server on loopback trusts this machine's programs, not the pages that its browser shows: so the
name it is called by (DNS rebinding) and the site that asks (CSRF) are checked. Elsewhere a token is
demanded as well. Every answer carries the headers that keep a browser from doing more with it than
it should.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from time import perf_counter
from traceback import format_exception
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foreword.faces.http.problems import BEGUN, refusal
from foreword.faces.http.request_limits import Rate, limit_body
from foreword.faces.http.token import fits
from foreword.faces.serving.app_state import AppState
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import refused_page
from foreword.secrets.masking import mask

SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
LOOPBACK = frozenset(("localhost", "127.0.0.1", "[::1]"))
LOGIN = "/login"
LARGEST_FORM_BYTES = 8 * 1024  # of its form, which anybody may send: a token has under a hundred
STATIC = "/static/"
# what anybody may have without a token: the form, its looks, and whether the server is up
OPEN = frozenset((LOGIN, "/healthz", "/static/app.css", "/static/inter.woff2", "/static/icon.svg"))
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src"
    " 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    # without any, a browser would not say that our own forms are ours
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
ASK = (
    "`foreword serve` showed a link when it began: open it once; programs send its token as a"
    " bearer, in Authorization"
)
WANTED = "this server wants a token"
WRONG = "that is not the token of this server"
CHALLENGE = {"www-authenticate": "Bearer"}

access = logging.getLogger("foreword.access")
log = logging.getLogger("foreword.serve")


class RequestGuard:
    """The ASGI app around all others."""

    def __init__(self, app: ASGIApp, app_state: AppState) -> None:
        self.app = app
        self.app_state = app_state
        self.settings = app_state.settings
        self._rate = Rate(self.settings.requests_per_minute)
        names = [*self.settings.hosts, _url_host(self.settings.host)]
        self._names = LOOPBACK | {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        if _is_api(scope):
            # so that a name may have a slash in it
            scope["path"] = scope["raw_path"].decode("latin-1")
        sender = _Sender(send, cached=scope["path"].startswith(STATIC))
        began = perf_counter()
        try:
            await self._respond(scope, receive, sender)
        finally:
            _log_request(scope, sender.status, perf_counter() - began)
        return None

    async def _respond(self, scope: Scope, receive: Receive, send: _Sender) -> None:
        response: Response | None = None
        try:
            self.check(scope)
            is_login = scope["path"] == LOGIN and bool(self.settings.token_digest)
            largest = LARGEST_FORM_BYTES if is_login else self.settings.largest_body_bytes
            receive = limit_body(scope, receive, largest)
            async with asyncio.timeout(self.settings.timeout_seconds) as limit:
                scope["foreword.limit"] = limit
                if is_login:
                    response = await self._login(Request(scope, receive))
                else:
                    await self.app(scope, receive, send)
        except ClientDisconnect:
            pass  # nobody waits for an answer
        except ProblemResponse as refused:
            response = _refusal(scope, refused)
        except TimeoutError:
            title = f"no answer within {self.settings.timeout_seconds:g} seconds"
            response = _refusal(
                scope, ProblemResponse(504, code="too_slow", title=title, hint=_late_hint(scope))
            )
        except asyncio.CancelledError:
            if not self.app_state.poller.stopped:
                raise
            title = "the server is stopping"
            response = _refusal(
                scope, ProblemResponse(503, code="stopping", title=title, hint=_late_hint(scope))
            )
        except Exception as error:  # noqa: BLE001 - nothing may reach the client but a problem
            log.error("%s", mask("".join(format_exception(error))))
            title = "something went wrong in the server"
            response = _refusal(
                scope, ProblemResponse(500, code="internal", title=title, hint="its log has more")
            )
        if response is not None and not send.status:
            await response(scope, receive, send)
        if scope["method"] not in SAFE:
            self.app_state.notice_change()

    def check(self, scope: Scope) -> None:
        """An error where the request is not let through."""
        headers = Headers(scope=scope)
        _check_framing(scope, headers)
        self._check_host(scope, headers)
        self._check_rate(scope)
        if self.settings.token_digest and scope["path"] not in OPEN:
            self._check_token(scope, headers)
        if scope["method"] not in SAFE or _is_api(scope):
            self._check_site(headers)

    def _check_host(self, scope: Scope, headers: Headers) -> None:
        """A name that somebody else's DNS leads here is not ours; an address can't be led
        anywhere."""
        names = headers.getlist("host")
        name = _without_port(names[0].lower()) if len(names) == 1 else ""
        own = {_url_host(scope["server"][0])} if scope.get("server") else set()
        if name not in self._names | own:
            raise ProblemResponse(
                421,
                code="unknown_host",
                title=f"this server does not answer to {name[:80]!r}",
                hint="see --allow-host",
            )

    def _check_rate(self, scope: Scope) -> None:
        address = scope["client"][0] if scope.get("client") else ""
        wait = self._rate.take(address)
        if wait:
            seconds = str(int(wait) + 1)
            raise ProblemResponse(
                429,
                code="too_many",
                title="too many requests",
                hint=f"wait {seconds} s",
                headers={"retry-after": seconds},
            )

    def _check_site(self, headers: Headers) -> None:
        """A browser says which site asks; a page of another one may not. Programs say nothing.

        Without referrers a browser calls the origin of our own forms `null`, but tells that they
        are ours.
        """
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site")
        if origin is None:
            is_ours = True
        elif origin == "null":
            is_ours = site == "same-origin"
        else:
            is_ours = urlsplit(origin).netloc.lower() == headers["host"].lower()
        if not is_ours or site not in (None, "same-origin", "none"):
            raise ProblemResponse(
                403, code="wrong_origin", title="a page of another site may not ask this"
            )

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            token = bearer.strip()
        else:
            token = _cookie(headers, _cookie_name(scope))
        self._check_fits(token)

    def _check_fits(self, token: str) -> None:
        if not fits(token, self.settings.token_digest):
            title = WRONG if token else WANTED
            raise ProblemResponse(
                401, code="token_needed", title=title, hint=ASK, headers=CHALLENGE
            )

    async def _login(self, request: Request) -> Response:
        """The token once, in the address or the form; from then on in a cookie that no script
        and no other site has."""
        form = request.scope["query_string"] if request.method == "GET" else await request.body()
        token = parse_qs(form.decode("latin-1")).get("token", [""])[-1].strip()
        self._check_fits(token)
        response = RedirectResponse("/", 303, headers={"referrer-policy": "no-referrer"})
        response.set_cookie(
            _cookie_name(request.scope), token, path="/", httponly=True, samesite="strict"
        )
        return response


def _log_request(scope: Scope, status: int, seconds: float) -> None:
    if access.isEnabledFor(logging.INFO):
        # as it came: no line breaks, no query
        path = mask(scope["raw_path"].decode("latin-1", "replace"))
        access.info("%s %s %d %.1f ms", scope["method"][:20], path[:300], status, seconds * 1000)


def _late_hint(scope: Scope) -> str:
    """What a client that is told to go needs to know: whether what it asked for may still
    happen."""
    if scope["method"] in SAFE:
        return ""
    if not scope.get(BEGUN):
        return "it was not begun, so nothing was changed: send it again"
    if any(name == b"idempotency-key" for name, _ in scope["headers"]):
        return (
            "it was begun and may still be done; sent again with the same Idempotency-Key it is"
            " done once"
        )
    return (
        "it was begun and may still be done: look before you send it again; messages take an"
        " Idempotency-Key"
    )


def _refusal(scope: Scope, refused: ProblemResponse) -> Response:
    """A refusal as a page where somebody in front of a browser waits for one, else as JSON."""
    if _is_api(scope) or "text/html" not in Headers(scope=scope).get("accept", ""):
        return refusal(refused)
    if refused.status == 401:
        response: Response = page("token.html", 401, title="Token needed", message=refused.title)
        # The address may have a token in it. With no referrer at all, a browser would not say whose
        # the form is.
        response.headers.update({**refused.headers, "referrer-policy": "strict-origin"})
        return response
    return refused_page(refused)


def _check_framing(scope: Scope, headers: Headers) -> None:
    """A request whose end two readers may see in two places is refused: what follows it may be
    meant for one of them.

    What else is wrong with the framing (lengths that differ, codings but `chunked`, lines that are
    folded) is refused by the parser in front of this.
    """
    if "transfer-encoding" not in headers:
        return
    if "content-length" in headers or scope["http_version"] == "1.0":
        title = "Transfer-Encoding with Content-Length, or in HTTP/1.0"
        raise ProblemResponse(400, code="bad_framing", title=title, headers={"connection": "close"})


def _is_api(scope: Scope) -> bool:
    path: str = scope["path"]
    return path == "/v1" or path.startswith("/v1/")


class _Sender:
    """Sends, remembers the status, and puts our headers on every answer; only what never changes
    may be cached."""

    def __init__(self, send: Send, *, cached: bool) -> None:
        self.status = 0  # none was sent yet
        self._send = send
        self._headers = dict(HEADERS)
        if not cached:
            self._headers["cache-control"] = "no-store"

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers.setdefault(name, value)
        await self._send(message)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _cookie_name(scope: Scope) -> str:
    """Cookies know no ports, so each server on a machine has a name of its own."""
    port = scope["server"][1] if scope.get("server") else 0
    return f"foreword_{port}"


def _cookie(headers: Mapping[str, str], name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""
