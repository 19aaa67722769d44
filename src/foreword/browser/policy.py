"""A Content-Security-Policy that says what the rules say, put on pages in a browser that is not
ours.

The debugging protocol does not show a page's WebSockets, so the browser itself is made to refuse
them. A policy only ever takes away: what a page's own policy forbids stays forbidden. Who puts it
on: `origin_guard`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foreword.browser.rules import LOOPBACK, LOOPBACK_HOSTS, WEBSOCKET_SCHEMES, Origin, Rules

_NAME = "Content-Security-Policy"
# What has no origin, or that of the page; how scripts and styles are written is none of our
# business.
_ALWAYS = (
    "'self' data: blob: filesystem: mediastream: 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'"
)
_ASSET_DIRECTIVES = ("img-src", "script-src", "style-src", "font-src", "media-src")
_PAGE_TYPES = ("text/html", "application/xhtml+xml", "image/svg+xml")


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
    status = answer["responseStatusCode"]
    is_redirect = 300 <= status < 400
    if is_redirect or not 200 <= status < 600:
        return False
    headers = {}
    for header in answer.get("responseHeaders", ()):
        headers[header["name"].lower()] = header["value"].lower()
    kind = headers.get("content-type", "").partition(";")[0].strip()
    return kind in _PAGE_TYPES and not headers.get("content-disposition", "").startswith(
        "attachment"
    )


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
