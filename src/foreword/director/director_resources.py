"""What a director has for as long as it is open: its conversation, its browser, its secrets, its
models.

The browser is started when it is first needed, as the last one of this workflow was left by a
process that died. What the tools of one turn work on, and who hears of it, is a `ToolContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.director import assets, browser_files, runner
from foreword.errors import BrowserFailed, StoreError, UsageError
from foreword.secrets.known_values import KnownValues
from foreword.session.session import Session
from foreword.store import workflows

if TYPE_CHECKING:
    from foreword.browser import Browser
    from foreword.browser.block_log import BlockedOrigin

NO_BROWSER = "there is no browser here"
# For one answer of the model, attempts and waits included: a long answer of a slow model takes a
# minute, and a connection that is dead is noticed before its user gives up.
MODEL_SECONDS = 120.0

Start = Callable[[Path | None], "Browser"]  # from where another one was saved, if it was
Tell = Callable[[dict[str, Any]], None]


def nobody(event: Mapping[str, Any]) -> None:
    """Listen to nothing."""


class DirectorResources:
    """One director's session, browser, secrets and models."""

    def __init__(
        self,
        session: Session,
        browser: Browser | Start | None,
        *,
        model: Any = None,
        inspect_with: Any = None,
        keep_login: bool = False,
        model_seconds: float = MODEL_SECONDS,
    ) -> None:
        self.session = session
        self.model = model  # that is talked with; none where tools are called by hand alone
        self.model_seconds = model_seconds
        self.inspect_with = inspect_with  # the model that puts a page into words, if any
        self.keep_login = keep_login
        self.secrets = KnownValues()
        self._start = browser if callable(browser) else None
        # one that is open: somebody else's, or ours once it was started
        self._browser: Browser | None = None if callable(browser) else browser
        self._remembered_origins: list[BlockedOrigin] = []
        # how new the workflow was when its secrets were last looked for
        self._known_stamps: tuple[int, int] | None = None

    @property
    def has_browser(self) -> bool:
        """Whether there is a browser, or will be one when it is needed."""
        return self._browser is not None or self._start is not None

    @property
    def is_browser_started(self) -> bool:
        """Whether the browser is there already."""
        return self._browser is not None

    def browser(self, tell: Tell = nobody) -> Browser:
        """The browser, started now if it was not yet; `tell` hears where it is not as it was
        left."""
        if self._browser is None:
            if self._start is None:
                raise UsageError(
                    NO_BROWSER, hint="open the director with one, or use the tools that need none"
                )
            self._browser = self._start_browser(self._start, tell)
        return self._browser

    def _start_browser(self, start: Start, tell: Tell) -> Browser:
        saved = runner.saved_browser(self.session)
        if saved is None and self.keep_login:
            kept = browser_files.login_place(self.session)
            saved = kept if kept.is_file() else None
        try:
            return start(saved)
        except BrowserFailed as failure:
            if saved is None:
                raise
            text = f"the browser is not as it was left: {failure.message}"
            tell({"type": "warning", "text": text})
            return start(None)

    def tabs(self) -> list[dict[str, Any]] | None:
        """The open tabs, for the fifth part of a context; none while nothing is started.

        A page may put into its address or its title what was typed into it, so secrets are hidden
        in those too.
        """
        if self._browser is None:
            return None
        return [self._tab_without_secrets(tab) for tab in self._browser.tabs()]

    def live_picture(self) -> bytes | None:
        """What the tab in front shows, secrets covered; none before there is a browser."""
        if self._browser is None:
            return None
        with suppress(BrowserFailed):  # it is closed, or does not answer
            return self._browser.live_picture(
                lambda text: self.secrets.hide_known_values(text) != text
            )
        return None

    def _tab_without_secrets(self, tab: Mapping[str, Any]) -> dict[str, Any]:
        shown = dict(tab)
        for key, value in tab.items():
            if isinstance(value, str):
                shown[key] = self.secrets.text(value)
        return shown

    def blocked_origins(self) -> list[BlockedOrigin]:
        """The origins that pages asked for things and may not reach; none while nothing is
        started."""
        if self._browser is None:
            return []
        found = self._browser.blocked_origins()
        return [replace(one, origin=self.secrets.hide_known_values(one.origin)) for one in found]

    def remember_blocked_origins(self) -> None:
        """Keep with the workflow what its pages could not load, to be offered the next time."""
        found = self.blocked_origins()
        if found != self._remembered_origins:
            with suppress(StoreError):  # a store that can't be written offers nothing
                assets.remember(self.session, found)
            self._remembered_origins = found

    def save(self) -> None:
        """Keep how a browser of ours stands, so that another process can go on if this one dies."""
        if self._browser is not None and self._start is not None:
            path = browser_files.place(self.session)
            # one that has crashed is kept as it was before
            with suppress(BrowserFailed, StoreError):
                browser_files.prepare(path)
                self._browser.save(path)

    def close(self) -> None:
        """Close the browser if it was started here; what was kept of it goes, unless a run may
        still need it."""
        self.remember_blocked_origins()
        if self._browser is not None and self._start is not None:
            if self.keep_login:
                path = browser_files.login_place(self.session)
                with suppress(BrowserFailed, StoreError):
                    browser_files.prepare(path)
                    self._browser.save(path, with_tabs=False)
            self._browser.close()
            self._browser = None
            if runner.unfinished_run(self.session) is None:
                browser_files.forget(self.session)

    def learn(self) -> None:
        """Know every secret that the workflow holds now."""
        stamps = workflows.stamps(self.session.db, self.session.workflow.id)
        now = (stamps.snapshot, stamps.variables)
        if now != self._known_stamps:
            nodes = workflows.nodes(self.session.db, self.session.workflow.id)
            values: list[object] = [self.session.get_workflow_variables()]
            values += [node.get("config") for node in nodes]
            self.secrets.learn(values)
            self._known_stamps = now
