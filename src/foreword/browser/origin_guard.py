"""Refuse what is outside the rules by the debugging protocol, in all tabs, popups, frames and
workers at once.

Playwright's own routes see the first address of a redirect only. The debugging protocol can hold
back requests of the whole browser, redirects included, so that is what is used. In a browser of
ours it judges documents, and what is asked of origins for assets; everything else that may not go
out ends at its `proxy`. In the user's own there is no proxy, so that every request is judged here;
what the protocol does not show (WebSockets, WebRTC) is refused by a policy that is put on each page
of ours (`policy`).
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from foreword.browser import policy
from foreword.browser.rules import LOOPBACK_HOSTS, Rules, origin_of
from foreword.browser.tabs import Tabs

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_WORKERS = ("shared_worker", "service_worker")


class OriginGuard:
    """The one who looks at every address that is asked for."""

    def __init__(self, rules: Rules, tabs: Tabs, session: CDPSession) -> None:
        self._rules, self._tabs, self._session = rules, tabs, session
        # popups that have not come yet, and whether they asked for a document
        self._opening: dict[str, bool] = {}
        self._none_opening = asyncio.Event()
        self._none_opening.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_on = False

    async def begin(self) -> None:
        """From now on nothing gets past."""
        if self._is_on:
            return
        self._is_on = True
        self._session.on("Fetch.requestPaused", lambda event: self._soon(event))
        self._session.on("Target.targetCreated", lambda event: self._created(event["targetInfo"]))
        self._session.on(
            "Target.targetInfoChanged", lambda event: self._changed(event["targetInfo"])
        )
        self._session.on("Target.targetDestroyed", lambda event: self._came(event["targetId"]))
        await self._session.send("Fetch.enable", {"patterns": self._patterns()})
        await self._session.send("Target.setDiscoverTargets", {"discover": True})

    async def opened(self, seconds: float) -> None:
        """Wait until the popups that are being opened have come, but not for ever."""
        from playwright.async_api import Error

        with suppress(TimeoutError):
            await asyncio.wait_for(self._none_opening.wait(), seconds)
        for target, has_asked in list(self._opening.items()):
            self._came(target)
            # One that asked for nothing was to show no web page, which Chromium does not open; it
            # stays empty.
            if not has_asked:
                with suppress(Error):
                    await self._session.send("Target.closeTarget", {"targetId": target})

    def _patterns(self) -> list[dict[str, str]]:
        """What is held back until it was judged: as little as will do, since each costs a
        millisecond or two."""
        if self._tabs.attached and self._rules.are_limits:
            # The answers are those that scripts run in: pages, and workers, which count as
            # something else.
            answers = [
                {"resourceType": kind, "requestStage": "Response"} for kind in ("Document", "Other")
            ]
            return [{"urlPattern": "*"}, *answers]
        patterns = [{"resourceType": "Document"}]
        # All of them and not only data: which kinds a pattern can name depends on the release of
        # Chromium.
        patterns += [{"urlPattern": f"{origin}/*"} for origin in self._rules.asset_origins]
        if self._rules.own_port:
            places = (f"[{host}]" if ":" in host else host for host in LOOPBACK_HOSTS)
            patterns += [
                {"urlPattern": f"http*://{place}:{self._rules.own_port}/*"} for place in places
            ]
        return patterns

    def _soon(self, event: dict[str, Any]) -> None:
        is_answer = "responseStatusCode" in event or "responseErrorReason" in event
        task = asyncio.ensure_future(self._pass_on(event) if is_answer else self._judge(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _judge(self, event: dict[str, Any]) -> None:
        from playwright.async_api import Error

        url, request = event["request"]["url"], {"requestId": event["requestId"]}
        kind, frame = event["resourceType"].lower(), event["frameId"]
        if frame in self._opening:
            self._opening[frame] = True
        with suppress(Error):
            is_document = kind == "document"
            if self._rules.allows(url) if is_document else not self._rules.refuses(url, kind):
                await self._session.send("Fetch.continueRequest", request)
                return
            target = await self._target(frame)
            if not await self._is_ours(frame, target):
                await self._session.send("Fetch.continueRequest", request)
                return
            if not is_document:
                # That the request failed is told by its page, or by nobody: a worker that several
                # share has none.
                await self._session.send(
                    "Fetch.failRequest", {**request, "errorReason": "BlockedByClient"}
                )
                return
            self._tabs.notes.refused.append((url, target is not None))
            # As if it had been stopped: the tab stays where it was.
            await self._session.send("Fetch.failRequest", {**request, "errorReason": "Aborted"})
            if target is not None and not target.get("url"):
                await self._session.send("Target.closeTarget", {"targetId": target["targetId"]})

    async def _pass_on(self, event: dict[str, Any]) -> None:
        """Pass an answer on; a page or worker of ours gets a policy with it."""
        from playwright.async_api import Error

        answer: dict[str, Any] = {"requestId": event["requestId"]}
        with suppress(Error):
            frame = event["frameId"]
            if "responseStatusCode" not in event or not await self._is_ours(
                frame, await self._target(frame)
            ):
                await self._session.send("Fetch.continueRequest", answer)
                return
            answer["responseCode"] = event["responseStatusCode"]
            answer["responseHeaders"] = policy.with_policy(
                event.get("responseHeaders", ()), self._rules
            )
            if event["resourceType"] != "Document":
                await self._session.send("Fetch.continueResponse", answer)
            elif policy.is_page(event):
                # Chromium has read the headers of a document before they come here, so that it is
                # given a new one.
                body = await self._session.send(
                    "Fetch.getResponseBody", {"requestId": event["requestId"]}
                )
                text = (
                    body["body"]
                    if body["base64Encoded"]
                    else b64encode(body["body"].encode()).decode()
                )
                await self._session.send("Fetch.fulfillRequest", {**answer, "body": text})
            else:
                await self._session.send("Fetch.continueRequest", {"requestId": event["requestId"]})

    async def _target(self, frame: str) -> dict[str, Any] | None:
        """The tab whose whole content this is, or the worker; None for a frame inside a tab."""
        targets = (await self._session.send("Target.getTargets"))["targetInfos"]
        known = ("page", *_WORKERS)
        found: list[dict[str, Any]] = [
            one for one in targets if one["targetId"] == frame and one["type"] in known
        ]
        return found[0] if found else None

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
            known = [self._tabs.of_target(frame), self._tabs.of_target(target.get("openerId", ""))]
            return any(tab.guarded for tab in known if tab)
        return any(
            [
                await _holds(tab.session, frame)
                for tab in self._tabs.all()
                if tab.guarded and tab.session
            ]
        )

    def _created(self, info: dict[str, Any]) -> None:
        opener = self._tabs.of_target(info.get("openerId", ""))
        if (
            info["type"] == "page"
            and opener is not None
            and not self._tabs.of_target(info["targetId"])
        ):
            self._opening[info["targetId"]] = False
            self._none_opening.clear()

    def _changed(self, info: dict[str, Any]) -> None:
        if info.get("url"):
            self._came(info["targetId"])

    def _came(self, target: str) -> None:
        self._opening.pop(target, None)
        if not self._opening:
            self._none_opening.set()


async def _holds(session: CDPSession, frame: str) -> bool:
    from playwright.async_api import Error

    try:
        tree = (await session.send("Page.getFrameTree"))["frameTree"]
    except Error:
        return False
    return frame in _frames(tree)


def _frames(tree: dict[str, Any]) -> set[str]:
    return {tree["frame"]["id"]}.union(*map(_frames, tree.get("childFrames", ())))
