"""Refuse what is outside the rules by the debugging protocol, in all tabs, popups, frames and
workers at once.

Playwright's own routes see the first address of a redirect only. The debugging protocol can hold
back requests of the whole browser, redirects included, so that is what is used. In a browser of
ours it judges documents, and what is asked of origins for assets; everything else that may not go
out ends at its `proxy`. In the user's own there is no proxy, so that every request is judged here;
what the protocol does not show is taken from each page of ours: WebSockets by a
Content-Security-Policy, which only ever takes away, WebRTC by `tabs`.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from foreword.browser.rules import LOOPBACK_HOSTS, Rules, origin_of, url_host
from foreword.browser.tabs import Tabs

if TYPE_CHECKING:
    from playwright.async_api import CDPSession
from collections.abc import Iterable

from foreword.browser.rules import LOOPBACK, WEBSOCKET_SCHEMES, Origin

_WORKERS = ("shared_worker", "service_worker")
_NAME = "Content-Security-Policy"
# What has no origin, or that of the page; how scripts and styles are written is none of our
# business.
_ALWAYS = (
    "'self' data: blob: filesystem: mediastream: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"
)
_ASSET_DIRECTIVES = ("img-src", "script-src", "style-src", "font-src", "media-src")
_WEB_PAGE_TYPES = ("text/html", "application/xhtml+xml")
_PAGE_TYPES = (*_WEB_PAGE_TYPES, "image/svg+xml")
_ATTACHMENT = {"name": "Content-Disposition", "value": "attachment"}


class OriginGuard:
    """Judges every address that is asked for in a browser."""

    def __init__(self, rules: Rules, tabs: Tabs, session: CDPSession) -> None:
        self._rules = rules
        self._tabs = tabs
        self._session = session
        # popups that have not come yet, and whether they asked for a document
        self._opening: dict[str, bool] = {}
        self._none_opening = asyncio.Event()
        self._none_opening.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_on = False
        self._credentials: dict[str, tuple[str, str]] = {}  # name and password, by origin
        self._tried: set[str] = set()  # requests that were answered by them
        self._saves_documents = False  # what a tab would show is handed over as a file

    async def begin(self) -> None:
        """From now on nothing gets past."""
        if self._is_on:
            return
        self._is_on = True
        self._session.on("Fetch.requestPaused", lambda event: self._decide_soon(event))
        self._session.on(
            "Target.targetCreated", lambda event: self._on_created(event["targetInfo"])
        )
        self._session.on(
            "Target.targetInfoChanged", lambda event: self._on_changed(event["targetInfo"])
        )
        self._session.on(
            "Target.targetDestroyed", lambda event: self._on_arrival(event["targetId"])
        )
        await self._session.send("Fetch.enable", {"patterns": self._patterns()})
        await self._session.send("Target.setDiscoverTargets", {"discover": True})

    async def set_credentials(self, url: str, username: str, password: str) -> None:
        """Answer the origin of an address with these when it asks for a name and password."""
        if not self._credentials:
            self._session.on(
                "Fetch.authRequired", lambda event: self._run_soon(self._log_in(event))
            )
        self._credentials[str(origin_of(url))] = (username, password)
        patterns = {"patterns": self._patterns(), "handleAuthRequests": True}
        await self._session.send("Fetch.enable", patterns)

    async def save_documents(self, saves: bool) -> None:
        """Hand over as a file what a tab would show otherwise, such as a PDF or a picture; a web
        page is shown all the same."""
        self._saves_documents = saves
        patterns: dict[str, Any] = {"patterns": self._patterns()}
        if self._credentials:
            patterns["handleAuthRequests"] = True
        await self._session.send("Fetch.enable", patterns)

    async def _log_in(self, event: dict[str, Any]) -> None:
        """Answer a site that asks who it is, once; a proxy, or any other origin, gets nothing."""
        from playwright.async_api import Error

        challenge = event["authChallenge"]
        known = self._credentials.get(str(origin_of(challenge.get("origin", ""))))
        answer: dict[str, str] = {"response": "Default"}
        if known and challenge.get("source") == "Server":
            answer = {"response": "CancelAuth"}  # they were not taken
            if event["requestId"] not in self._tried:
                self._tried.add(event["requestId"])
                answer = {
                    "response": "ProvideCredentials",
                    "username": known[0],
                    "password": known[1],
                }
        with suppress(Error):
            await self._session.send(
                "Fetch.continueWithAuth",
                {"requestId": event["requestId"], "authChallengeResponse": answer},
            )

    async def wait_for_popups(self, rules: Rules) -> bool:
        """Wait until the popups that are being opened have come, for as long as pages may take;
        False where one has not."""
        from playwright.async_api import Error

        with suppress(TimeoutError):
            await asyncio.wait_for(self._none_opening.wait(), rules.action_seconds)
        for target, has_asked in list(self._opening.items()):
            # One that asked for nothing was to show no web page, which Chromium does not open; it
            # stays empty.
            if not has_asked:
                self._on_arrival(target)
                with suppress(Error):
                    await self._session.send("Target.closeTarget", {"targetId": target})
        with suppress(TimeoutError):
            await asyncio.wait_for(self._none_opening.wait(), rules.page_seconds)
        late = list(self._opening)
        for target in late:
            self._on_arrival(target)
        return not late

    def _patterns(self) -> list[dict[str, str]]:
        """What is held back until it was judged: as little as will do, since each costs a
        millisecond or two."""
        if self._tabs.attached and self._rules.are_limits:
            # The answers are those that scripts run in: pages, and workers, which count as
            # something else.
            return [
                {"urlPattern": "*"},
                {"resourceType": "Document", "requestStage": "Response"},
                {"resourceType": "Other", "requestStage": "Response"},
            ]
        patterns = [{"resourceType": "Document"}]
        if self._saves_documents:
            patterns.append({"resourceType": "Document", "requestStage": "Response"})
        # All of them and not only data: which kinds a pattern can name depends on the release of
        # Chromium.
        patterns += [{"urlPattern": f"{origin}/*"} for origin in self._rules.asset_origins]
        if self._rules.own_port:
            for host in LOOPBACK_HOSTS:
                place = f"{url_host(host)}:{self._rules.own_port}"
                patterns.append({"urlPattern": f"http*://{place}/*"})
        return patterns

    def _decide_soon(self, event: dict[str, Any]) -> None:
        is_answer = "responseStatusCode" in event or "responseErrorReason" in event
        self._run_soon(self._pass_on(event) if is_answer else self._judge(event))

    def _run_soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _judge(self, event: dict[str, Any]) -> None:
        from playwright.async_api import Error

        url = event["request"]["url"]
        kind = event["resourceType"].lower()
        frame = event["frameId"]
        request = {"requestId": event["requestId"]}
        if frame in self._opening:
            self._opening[frame] = True
        with suppress(Error):
            is_document = kind == "document"
            if is_document:
                is_allowed = self._rules.allows(url)
            else:
                is_allowed = not self._rules.refuses(url, kind)
            target = None if is_allowed else await self._target(frame)
            if is_allowed or not await self._is_ours(frame, target):
                await self._session.send("Fetch.continueRequest", request)
            elif is_document:
                await self._refuse_document(url, request, target)
            else:
                # That the request failed is told by its page, or by nobody: a worker that several
                # share has none.
                refusal = {**request, "errorReason": "BlockedByClient"}
                await self._session.send("Fetch.failRequest", refusal)

    async def _refuse_document(
        self, url: str, request: dict[str, str], target: dict[str, Any] | None
    ) -> None:
        """Note what was refused; the tab stays where it was, a popup that is still empty is
        closed."""
        self._tabs.notes.refused.append((url, target is not None))
        # As if it had been stopped: the tab stays where it was.
        await self._session.send("Fetch.failRequest", {**request, "errorReason": "Aborted"})
        if target is not None and not target.get("url"):
            await self._session.send("Target.closeTarget", {"targetId": target["targetId"]})

    async def _pass_on(self, event: dict[str, Any]) -> None:
        """Pass an answer on; in the user's own browser a page or worker of ours gets a policy with
        it, and while documents are saved one that is no web page becomes a file."""
        from playwright.async_api import Error

        request = {"requestId": event["requestId"]}
        with suppress(Error):
            frame = event["frameId"]
            is_response = "responseStatusCode" in event
            target = await self._target(frame)
            if not is_response or not await self._is_ours(frame, target):
                await self._session.send("Fetch.continueRequest", request)
                return
            answer: dict[str, Any] = {**request, "responseCode": event["responseStatusCode"]}
            headers = list(event.get("responseHeaders", ()))
            is_document = event["resourceType"] == "Document"
            if self._saves_documents and target is not None and is_file(event):
                await self._answer_anew({**answer, "responseHeaders": [*headers, _ATTACHMENT]})
                self._on_arrival(target["targetId"])  # a popup for a file shows nothing
            elif not self._tabs.attached or not self._rules.are_limits:
                await self._session.send("Fetch.continueRequest", request)
            elif not is_document:
                answer["responseHeaders"] = with_policy(headers, self._rules)
                await self._session.send("Fetch.continueResponse", answer)
            elif is_page(event):
                await self._answer_anew(
                    {**answer, "responseHeaders": with_policy(headers, self._rules)}
                )
            else:
                await self._session.send("Fetch.continueRequest", request)

    async def _answer_anew(self, answer: dict[str, Any]) -> None:
        """Give Chromium a document with other headers: it has read those that came with it."""
        request = {"requestId": answer["requestId"]}
        body = await self._session.send("Fetch.getResponseBody", request)
        text = body["body"]
        if not body["base64Encoded"]:
            text = b64encode(text.encode()).decode()
        await self._session.send("Fetch.fulfillRequest", {**answer, "body": text})

    async def _target(self, frame: str) -> dict[str, Any] | None:
        """The tab whose whole content this is, or the worker; None for a frame inside a tab."""
        targets: list[dict[str, Any]] = (await self._session.send("Target.getTargets"))[
            "targetInfos"
        ]
        for target in targets:
            if target["targetId"] == frame and target["type"] in ("page", *_WORKERS):
                return target
        return None

    async def _is_ours(self, frame: str, target: dict[str, Any] | None) -> bool:
        """Whether the rules apply: to all of a browser that we started, but not to a user's own
        tabs."""
        if not self._tabs.attached:
            return True
        if target is not None and target["type"] in _WORKERS:
            # Nobody says which pages share it, only whose it is.
            origin = origin_of(target.get("url", ""))
            return origin is not None and self._rules.allows(str(origin))
        if target is not None:
            opener = target.get("openerId", "")
            tabs = [self._tabs.of_target(frame), self._tabs.of_target(opener)]
            return any(tab.guarded for tab in tabs if tab)
        for tab in self._tabs.all():
            if tab.guarded and tab.session and await _has_frame(tab.session, frame):
                return True
        return False

    def _on_created(self, info: dict[str, Any]) -> None:
        opener = self._tabs.of_target(info.get("openerId", ""))
        is_known = self._tabs.of_target(info["targetId"]) is not None
        if info["type"] == "page" and opener is not None and not is_known:
            self._opening[info["targetId"]] = False
            self._none_opening.clear()

    def _on_changed(self, info: dict[str, Any]) -> None:
        if info.get("url"):
            self._on_arrival(info["targetId"])

    def _on_arrival(self, target: str) -> None:
        self._opening.pop(target, None)
        if not self._opening:
            self._none_opening.set()


async def _has_frame(session: CDPSession, frame: str) -> bool:
    from playwright.async_api import Error

    try:
        tree = (await session.send("Page.getFrameTree"))["frameTree"]
    except Error:
        return False
    return frame in _frame_ids(tree)


def _frame_ids(tree: dict[str, Any]) -> set[str]:
    ids = {tree["frame"]["id"]}
    for child in tree.get("childFrames", ()):
        ids |= _frame_ids(child)
    return ids


def policy(rules: Rules) -> str:
    """The policy for a page of an allowed origin. Frames are documents, which the guard judges
    and tells of."""
    allowed = " ".join([_ALWAYS, *_sources(rules)])
    directives = [f"default-src {allowed}", "frame-src * data: blob:"]
    if rules.asset_origins:
        assets = " ".join(map(_source, rules.asset_origins))
        directives += [f"{name} {allowed} {assets}" for name in _ASSET_DIRECTIVES]
    return "; ".join(directives)


def with_policy(headers: Iterable[dict[str, str]], rules: Rules) -> list[dict[str, str]]:
    """The headers of an answer and one more."""
    return [*headers, {"name": _NAME, "value": policy(rules)}]


def is_page(answer: dict[str, Any]) -> bool:
    """Whether an answer that was held back is a page with scripts, which can wait until all of
    it has come."""
    return _document_type(answer) in _PAGE_TYPES


def is_file(answer: dict[str, Any]) -> bool:
    """Whether an answer that was held back is a document that a tab would show, and no web page."""
    return _document_type(answer) not in ("", *_WEB_PAGE_TYPES)


def _document_type(answer: dict[str, Any]) -> str:
    """The media type of a document that is to be shown; '' for a redirect or a download."""
    status = answer["responseStatusCode"]
    is_redirect = 300 <= status < 400
    if is_redirect or not 200 <= status < 600:
        return ""
    headers = dict[str, str]()
    for header in answer.get("responseHeaders", ()):
        headers[header["name"].lower()] = header["value"].lower()
    if headers.get("content-disposition", "").startswith("attachment"):
        return ""
    return headers.get("content-type", "").partition(";")[0].strip()


def _sources(rules: Rules) -> list[str]:
    """The allowed origins as a policy writes them, which knows no IPv6 addresses."""
    found = []
    if LOOPBACK in rules.origins:
        for scheme in ("http", "https", "ws", "wss"):
            found += [f"{scheme}://{host}:*" for host in LOOPBACK_HOSTS if ":" not in host]
    for origin in rules.named_origins:
        if ":" not in origin.host:
            found += [_source(origin), f"{WEBSOCKET_SCHEMES[origin.scheme]}://{origin.netloc}"]
    return found


def _source(origin: Origin) -> str:
    return f"{origin.scheme}://{origin.netloc}"
