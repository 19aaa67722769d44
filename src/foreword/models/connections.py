"""An HTTP client for each call, with what is costly to make in it used again: the certificates that
are trusted.

Loading them takes some 20 ms, two thirds of a short call. A client belongs to the event loop of its
call, and a TLS context is set up anew by every connection, so neither is shared while it is in use:
a call borrows a context that nobody else has, and gives it back when its client is closed. One that
is never closed takes its context with it.
"""

from __future__ import annotations

import os
import ssl
from collections import deque
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import httpx2

# A server that is there accepts nearly at once; a call to one that is not should fail while
# somebody still looks at the screen, not at the end of its own limit.
CONNECT_SECONDS = 5.0
READ_SECONDS = 600.0  # each call has its own limit, which is shorter
# Contexts kept for later: as many as calls end at about the same time. Each takes some memory; one
# that is missing costs 20 ms.
MOST_IDLE = 64
_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")

_idle: deque[tuple[tuple[str, ...], ssl.SSLContext]] = deque(maxlen=MOST_IDLE)


class Connection:
    """The client of one call; the call opens it and closes it with `async with`."""

    def __init__(self) -> None:
        import httpx2
        from pydantic_ai.models import get_user_agent

        self._trusted, self._context = _borrow_context()
        self.client: httpx2.AsyncClient = httpx2.AsyncClient(
            verify=self._context,
            timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
            headers={"User-Agent": get_user_agent()},
            event_hooks={"request": [_connect_soon]},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.client.aclose()
        _idle.append((self._trusted, self._context))


def _borrow_context() -> tuple[tuple[str, ...], ssl.SSLContext]:
    """The trust settings of the environment, and an idle TLS context made for them."""
    import httpx2

    trusted = tuple(os.environ.get(name, "") for name in _VARIABLES)
    while _idle:
        try:
            found = _idle.pop()
        except IndexError:  # another thread was quicker
            break
        if found[0] == trusted:
            return found
    return trusted, httpx2.create_ssl_context()


async def _connect_soon(request: httpx2.Request) -> None:
    """The time limit of a call is for its answer: a server that can't be reached is known
    sooner."""
    limits = request.extensions.get("timeout", {})
    limits["connect"] = min(limits.get("connect") or CONNECT_SECONDS, CONNECT_SECONDS)
