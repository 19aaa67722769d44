"""What pages asked for and did not get because their browser may not go there: counted by origin
and kind.

A page decides how much of it there is and what it is called, so both have a limit, and an origin is
all that is told of an address. Nothing here allows anything: that is for the user to say (`rules`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from foreword.browser.rules import ASSET_KINDS, Origin, Rules, origin_of, request_origin, url_host
from foreword.secrets.masking import mask
from foreword.text.quantity import quantity

# Pages of the large news sites ask some fifty others; ten times as many are no page that is meant
# to work.
MOST_ORIGINS = 500
MOST_LISTED = 10  # origins in the result of one action; the rest is a number
# In which Chromium's own requests end, which it makes for itself and not for a page.
_CHROMIUMS_OWN = (".google.com", ".googleapis.com", ".gstatic.com", ".gvt1.com")
CONNECTION = "connection"
DOCUMENT = "document"  # not counted here: a tab or a frame that stayed where it was

Counts = dict[Origin, dict[str, int]]  # how often each origin was asked for, by kind


@dataclass(frozen=True, slots=True)
class BlockedOrigin:
    """One origin that was asked for and refused."""

    origin: str
    requests: int
    kinds: tuple[str, ...]

    @property
    def option(self) -> str:
        """What the user would say to let these through."""
        has_assets = not ASSET_KINDS.isdisjoint(self.kinds)
        option = "--assets" if has_assets else "--origin"
        return f"{option} {self.origin}"

    def __str__(self) -> str:
        kinds = ", ".join(self.kinds)
        return (
            f"{quantity(self.requests, 'request')} to {self.origin} ({kinds});"
            f" the user can allow them: {self.option}"
        )


@dataclass(slots=True)
class BlockLog:
    """What was refused since the browser was started, and what of it no result has named yet."""

    rules: Rules
    _all: Counts = field(default_factory=dict)
    _new: Counts = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def request(self, url: str, kind: str) -> None:
        """Count a request that failed, if the rules are the reason."""
        if kind == DOCUMENT or not self.rules.refuses(url, kind):
            return
        origin = request_origin(url)
        if origin is not None:
            self._count(origin, kind)

    def connection(self, host: str, port: int) -> None:
        """Count a connection that was refused, where no request of a page explains it."""
        origin = _connection_origin(host, port)
        if origin is not None and not f".{origin.host}".endswith(_CHROMIUMS_OWN):
            self._count(origin, CONNECTION)

    def listing(self) -> list[BlockedOrigin]:
        """Every origin, the most wanted first."""
        with self._lock:
            return _by_requests(self._all)

    def new_as_result(self) -> dict[str, list[str]]:
        """The refused origins that no result has named yet; from now on they count as named."""
        with self._lock:
            found = _by_requests(self._new)
            self._new = {}
        lines = [str(one) for one in found[:MOST_LISTED]]
        if len(found) > MOST_LISTED:
            lines.append(f"and {len(found) - MOST_LISTED:,} origins more")
        return {"blocked": lines} if lines else {}

    def _count(self, origin: Origin, kind: str) -> None:
        with self._lock:
            for counts in (self._all, self._new):
                if origin in counts or len(counts) < MOST_ORIGINS:
                    kinds = counts.setdefault(origin, {})
                    kinds[kind] = kinds.get(kind, 0) + 1


def _by_requests(counts: Counts) -> list[BlockedOrigin]:
    """The origins, the most wanted first. A request is a connection, too, which then counts no
    more."""
    with_requests = set()
    for origin, kinds in counts.items():
        if kinds.keys() != {CONNECTION}:
            with_requests.add(origin.netloc)
    found = []
    for origin, kinds in counts.items():
        requests = {kind: count for kind, count in kinds.items() if kind != CONNECTION}
        if not requests and origin.netloc in with_requests:
            continue
        requests = requests or kinds
        found.append(
            BlockedOrigin(
                origin=mask(str(origin)),
                requests=sum(requests.values()),
                kinds=tuple(sorted(requests)),
            )
        )
    return sorted(found, key=lambda one: -one.requests)


def _connection_origin(host: str, port: int) -> Origin | None:
    """The origin of a connection, whose scheme nobody says."""
    scheme = "https" if port == 443 else "http"
    return origin_of(f"{scheme}://{url_host(host)}:{port}")
