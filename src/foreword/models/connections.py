"""An HTTP client for each call, which belongs to the event loop of its call.

The certificates that are trusted are loaded once for a setting of the environment: that takes some
20 ms, two thirds of a short call.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

# A server that is there accepts nearly at once; a call to one that is not should fail while
# somebody still looks at the screen, not at the end of its own limit.
CONNECT_SECONDS = 5.0
READ_SECONDS = 600.0  # each call has its own limit, which is shorter
_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def http_client() -> httpx2.AsyncClient:
    """Return the client of one call, which the call closes."""
    import httpx2
    from pydantic_ai.models import get_user_agent

    trusted = tuple(os.environ.get(name, "") for name in _VARIABLES)
    return httpx2.AsyncClient(
        verify=_tls_context(trusted),
        timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        headers={"User-Agent": get_user_agent()},
        event_hooks={"request": [_connect_soon]},
    )


@lru_cache(maxsize=4)
def _tls_context(trusted: tuple[str, ...]) -> ssl.SSLContext:
    """Return a TLS context; `trusted` are the settings that it is made for."""
    import httpx2

    return httpx2.create_ssl_context()


async def _connect_soon(request: httpx2.Request) -> None:
    """The time limit of a call is for its answer: a server that can't be reached is known
    sooner."""
    limits = request.extensions.get("timeout", {})
    limits["connect"] = min(limits.get("connect") or CONNECT_SECONDS, CONNECT_SECONDS)
