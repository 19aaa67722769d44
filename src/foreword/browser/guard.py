"""Refuse every document outside the rules, in all tabs, popups and frames at once, before it is asked for.

Playwright's own routes see the first address of a redirect only. The debugging protocol can hold back requests of
the whole browser, redirects included, so that is what is used. Pictures, scripts and the like are none of its business.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from foreword.browser.rules import Rules
from foreword.browser.tabs import Tabs

if TYPE_CHECKING:
    from playwright.async_api import CDPSession


class Guard:
    """The one who looks at every document's address."""

    def __init__(self, rules: Rules, tabs: Tabs, session: CDPSession) -> None:
        self._rules, self._tabs, self._session = rules, tabs, session
        self._opening: dict[str, bool] = {}  # popups that have not come yet, and whether they asked for a document
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
        self._session.on("Target.targetInfoChanged", lambda event: self._changed(event["targetInfo"]))
        self._session.on("Target.targetDestroyed", lambda event: self._came(event["targetId"]))
        await self._session.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})
        await self._session.send("Target.setDiscoverTargets", {"discover": True})

    async def opened(self, seconds: float) -> None:
        """Wait until the popups that are being opened have come, but not for ever."""
        from playwright.async_api import Error

        with suppress(TimeoutError):
            await asyncio.wait_for(self._none_opening.wait(), seconds)
        for target, has_asked in list(self._opening.items()):
            self._came(target)
            # One that asked for nothing was to show no web page, which Chromium does not open; it stays empty.
            if not has_asked:
                with suppress(Error):
                    await self._session.send("Target.closeTarget", {"targetId": target})

    def _soon(self, event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._judge(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _judge(self, event: dict[str, Any]) -> None:
        from playwright.async_api import Error

        url, request = event["request"]["url"], {"requestId": event["requestId"]}
        if event["frameId"] in self._opening:
            self._opening[event["frameId"]] = True
        with suppress(Error):
            if self._rules.allows(url):
                await self._session.send("Fetch.continueRequest", request)
                return
            target = await self._target(event["frameId"])
            if not await self._is_ours(event["frameId"], target):
                await self._session.send("Fetch.continueRequest", request)
                return
            self._tabs.notes.refused.append((url, target is not None))
            # As if it had been stopped: the tab stays where it was.
            await self._session.send("Fetch.failRequest", {**request, "errorReason": "Aborted"})
            if target is not None and not target.get("url"):
                await self._session.send("Target.closeTarget", {"targetId": target["targetId"]})

    async def _target(self, frame: str) -> dict[str, Any] | None:
        """The tab whose whole content this is; None for a frame inside one."""
        targets = (await self._session.send("Target.getTargets"))["targetInfos"]
        found: list[dict[str, Any]] = [one for one in targets if one["targetId"] == frame and one["type"] == "page"]
        return found[0] if found else None

    async def _is_ours(self, frame: str, target: dict[str, Any] | None) -> bool:
        """Whether the rules apply: to all of a browser that we started, but not to a user's own tabs."""
        if not self._tabs.attached:
            return True
        if target is not None:
            known = [self._tabs.of_target(frame), self._tabs.of_target(target.get("openerId", ""))]
            return any(tab.guarded for tab in known if tab)
        return any([await _holds(tab.session, frame) for tab in self._tabs.all() if tab.guarded and tab.session])

    def _created(self, info: dict[str, Any]) -> None:
        opener = self._tabs.of_target(info.get("openerId", ""))
        if info["type"] == "page" and opener is not None and not self._tabs.of_target(info["targetId"]):
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
