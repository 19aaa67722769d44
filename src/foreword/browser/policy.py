"""A Content-Security-Policy that says what the rules say, put on pages in a browser that is not
ours.

The debugging protocol does not show a page's WebSockets, so the browser itself is made to refuse
them. A policy only ever takes away: what a page's own policy forbids stays forbidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foreword.browser.rules import LOOPBACK, LOOPBACK_HOSTS, Origin, Rules

_NAME = "Content-Security-Policy"
_SOCKETS = {"http": "ws", "https": "wss"}
# What has no origin, or that of the page; how scripts and styles are written is none of our
# business.
_ANYWAY = (
    "'self' data: blob: filesystem: mediastream: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"
)
_ASSETS = ("img-src", "script-src", "style-src", "font-src", "media-src")
_PAGES = ("text/html", "application/xhtml+xml", "image/svg+xml")


def policy(rules: Rules) -> str:
    """The policy for a page of an allowed origin. Frames are documents, which the guard judges
    and tells of."""
    allowed = " ".join([_ANYWAY, *_sources(rules)])
    directives = [f"default-src {allowed}", "frame-src * data: blob:"]
    if rules.asset_origins:
        assets = " ".join(map(_source, rules.asset_origins))
        directives += [f"{name} {allowed} {assets}" for name in _ASSETS]
    return "; ".join(directives)


def with_policy(headers: Iterable[dict[str, str]], rules: Rules) -> list[dict[str, str]]:
    """The headers of an answer and one more."""
    return [*headers, {"name": _NAME, "value": policy(rules)}]


def is_page(answer: dict[str, Any]) -> bool:
    """Whether an answer that was held back is a page with scripts, which can wait until all of
    it has come."""
    if not 200 <= answer["responseStatusCode"] < 600 or 300 <= answer["responseStatusCode"] < 400:
        return False
    headers = {
        one["name"].lower(): one["value"].lower() for one in answer.get("responseHeaders", ())
    }
    kind = headers.get("content-type", "").partition(";")[0].strip()
    return kind in _PAGES and not headers.get("content-disposition", "").startswith("attachment")


def _sources(rules: Rules) -> list[str]:
    """The allowed origins as a policy writes them, which knows no IPv6 addresses."""
    found = []
    if LOOPBACK in rules.origins:
        for scheme in ("http", "https", "ws", "wss"):
            found += [f"{scheme}://{host}:*" for host in LOOPBACK_HOSTS if ":" not in host]
    for origin in rules.named:
        if ":" not in origin.host:
            found += [_source(origin), f"{_SOCKETS[origin.scheme]}://{origin.netloc}"]
    return found


def _source(origin: Origin) -> str:
    return f"{origin.scheme}://{origin.netloc}"
