"""How much one client may ask for: requests by the minute, bytes in a body, seconds for an
answer."""

from __future__ import annotations

from collections import OrderedDict
from time import monotonic

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from foreword.faces.serving.problem_response import ProblemResponse

# Addresses that are remembered: many clients fit, and who asks from ever new ones fills no memory.
MOST_ADDRESSES = 10_000
LONGEST_NUMBER = 18  # digits of a length: longer ones are too large without being read


class Rate:
    """A bucket of tokens for each address, filled evenly; a full one is a minute's worth."""

    def __init__(self, per_minute: int) -> None:
        self.most = float(per_minute)
        # tokens, and when that was
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, address: str) -> float:
        """Take one; returns after how many seconds there will be one, 0 where there was."""
        now = monotonic()
        tokens, since = self._left.pop(address, (self.most, now))
        tokens = min(self.most, tokens + (now - since) * self.most / 60)
        wait = 0.0 if tokens >= 1 else (1 - tokens) * 60 / self.most
        self._left[address] = (tokens if wait else tokens - 1, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return wait


def limit_body(scope: Scope, receive: Receive, largest: int) -> Receive:
    """The same body, up to so many bytes; more are refused, announced or not."""
    length = Headers(scope=scope).get("content-length", "0")
    if length.isdecimal() and (len(length) > LONGEST_NUMBER or int(length) > largest):
        raise _too_large(largest)
    taken = 0

    async def count_received() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > largest:
            raise _too_large(largest)
        return message

    return count_received


def _too_large(largest: int) -> ProblemResponse:
    # The rest of the body is not read, so nothing else can come through this connection.
    return ProblemResponse(
        413,
        code="too_large",
        title=f"the body has more than {largest:,} bytes",
        headers={"connection": "close"},
    )
