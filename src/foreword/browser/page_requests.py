"""The requests of a page's scripts and forms: which are in progress, which are repeated without
end, and how the server answered.

A tab tells it of every request. Whoever waits for what an action has set off is `actions`; whether
the server rejected it is said by `form_result`.
"""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Request, Response

SCRIPT_REQUESTS = ("fetch", "xhr")  # in Playwright's words
# A request that was begun so often in so many seconds is a poll: nobody waits for a page that asks
# ten times a second. With two, an application that asks twice for its first list would be a poll.
POLL_REQUESTS = 3
POLL_SECONDS = 3.0
_REMEMBERED = 200  # requests: more than a page that is not polling begins in POLL_SECONDS
_READING = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswer:
    """How the server answered a request that sends something."""

    what: str  # POST and the address
    status: int
    is_page: bool  # the answer is the page that is shown then


@dataclass(slots=True, kw_only=True)
class PageRequests:
    """The requests of one tab."""

    _in_progress: dict[Request, float] = field(default_factory=dict)  # and when each was begun
    _begun: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    _given_up: set[str] = field(default_factory=set)  # what was waited for in vain
    _answers: dict[str, ServerAnswer] = field(default_factory=dict)  # since the last action began
    _action_began: float = 0.0
    is_page_replaced: bool = False  # by another page, since the last action began

    def begin_action(self) -> None:
        """Note that an action begins: `of_action` and `answers` are about what comes after it."""
        self._action_began = monotonic()
        self._answers.clear()
        self.is_page_replaced = False

    def on_request(self, request: Request) -> None:
        """Note that a script asks for something."""
        if request.resource_type in SCRIPT_REQUESTS:
            self._in_progress[request] = monotonic()
            self._begun.append((monotonic(), _identity(request)))

    def on_response(self, response: Response) -> None:
        """Note how the server answered what a form or a script of this page has sent, without
        polls; of several answers to the same the last one counts, since scripts try again once
        they have signed in anew."""
        request = response.request
        if request.method in _READING:
            return
        is_page = request.is_navigation_request()
        is_of_script = request in self._in_progress and not self.is_page_replaced
        if is_page or (is_of_script and _identity(request) not in self._polls()):
            what = address(request)
            self._answers[what] = ServerAnswer(what=what, status=response.status, is_page=is_page)

    def on_end(self, request: Request) -> None:
        """Note that a request has its whole answer, or will have none."""
        if self._in_progress.pop(request, None) is not None:
            self._given_up.discard(address(request))

    def clear(self) -> None:
        """Forget what is in progress: the page that asked for it is replaced."""
        self._in_progress.clear()
        self.is_page_replaced = True

    def in_progress(self) -> list[str]:
        """What scripts are waiting for, without polls and without what was given up."""
        return self._awaited(0.0)

    def of_action(self) -> list[str]:
        """The same, but only of what was begun after the action."""
        return self._awaited(self._action_began)

    def give_up(self) -> None:
        """Wait no longer for what is in progress now, as long as it goes on."""
        self._given_up |= {address(request) for request in self._in_progress}

    def answers(self) -> list[ServerAnswer]:
        """How the server answered what was sent since the action began."""
        return list(self._answers.values())

    def _awaited(self, since: float) -> list[str]:
        polls = self._polls()
        awaited = list[str]()
        for request, begun in self._in_progress.items():
            is_awaited = begun >= since and address(request) not in self._given_up
            if is_awaited and _identity(request) not in polls:
                awaited.append(address(request))
        return awaited

    def _polls(self) -> set[str]:
        latest = monotonic() - POLL_SECONDS
        recent = [identity for begun, identity in self._begun if begun >= latest]
        return {identity for identity in recent if recent.count(identity) >= POLL_REQUESTS}


def address(request: Request) -> str:
    """The method and the address of a request, without its query."""
    return f"{request.method} {request.url.partition('?')[0]}"


def _identity(request: Request) -> str:
    """What two requests for the same thing have in common."""
    body = hashlib.sha256(request.post_data_buffer or b"").hexdigest()
    return f"{request.method} {request.url} {body}"
