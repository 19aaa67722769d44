"""Which addresses may be opened, what pages may load from elsewhere, and how long anything may
take.

Pure. Who enforces it: `proxy` for every connection of a browser that we start, `origin_guard` for
what the debugging protocol shows of any browser.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from foreword.errors import OriginRefused, UsageError
from foreword.pattern import lazy_pattern

LOOPBACK = "loopback"
EVERYWHERE = "*"
BLANK = "about:blank"
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
# What a page is made of, by the debugging protocol's names; all else that it asks for is data.
ASSET_KINDS = frozenset({"image", "script", "stylesheet", "font", "media"})
WEBSOCKET_SCHEMES = {"http": "ws", "https": "wss"}
LONGEST_URL = 80  # characters of an address in an error, which stays on one line then
_PORTS = {"http": 80, "https": 443}
_PAGE_SCHEMES = {"ws": "http", "wss": "https"}
# Schemes that need no `//`; what has one of them is no web address that somebody began to type.
_OTHER_SCHEMES = frozenset(
    {
        "file",
        "data",
        "javascript",
        "about",
        "chrome",
        "blob",
        "ftp",
        "view-source",
        "mailto",
    }
)
_HOST = lazy_pattern(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


class Origin(NamedTuple):
    """Where an address leads."""

    scheme: str
    host: str  # as Chromium writes it, an IPv6 address without brackets
    port: int

    @property
    def netloc(self) -> str:
        """Host and port, both always."""
        return f"{url_host(self.host)}:{self.port}"

    def __str__(self) -> str:
        if self.port == _PORTS[self.scheme]:
            return f"{self.scheme}://{url_host(self.host)}"
        return f"{self.scheme}://{self.netloc}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The origins that may be opened: addresses, `loopback` for any port of this machine, `*` for
    all http(s).

    Unless all are, pages load nothing from anywhere else either, but pictures, scripts, styles,
    fonts and media from the origins in `assets`.
    """

    origins: tuple[str, ...] = (LOOPBACK,)
    # For an element to be there and ready. A selector that matches nothing takes all of it before
    # an error says so; at half, pages that fill themselves by script are given up early.
    action_seconds: float = 5.0
    # For a page to load. A browser does one thing at a time, so a page that hangs holds up all
    # else for so long.
    page_seconds: float = 20.0
    assets: tuple[str, ...] = ()
    own_port: int = 0  # of a server of ours on this machine, which no page may reach

    def __post_init__(self) -> None:
        for name in ("origins", "assets"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for origin in self.origins:
            if origin not in (LOOPBACK, EVERYWHERE) and not origin_of(origin):
                raise UsageError(
                    f"{origin!r} is not an origin",
                    hint="for example https://example.com, loopback, or * for all",
                )
        for origin in self.assets:
            if not origin_of(origin):
                raise UsageError(
                    f"{origin!r} is not an origin of assets",
                    hint="for example https://cdn.example.com",
                )

    @property
    def are_limits(self) -> bool:
        """Whether anything of the web is out of bounds."""
        return EVERYWHERE not in self.origins

    @property
    def named_origins(self) -> list[Origin]:
        """The origins that were named one by one."""
        found = map(origin_of, self.origins)
        return [origin for origin in found if origin is not None]

    @property
    def asset_origins(self) -> list[Origin]:
        """The origins that only parts of pages are loaded from."""
        found = map(origin_of, self.assets)
        return [origin for origin in found if origin is not None]

    def allows(self, url: str) -> bool:
        """Whether an address may be opened."""
        if url == BLANK or url == "":
            return True
        origin = origin_of(url)
        return origin is not None and self._allows(origin)

    def refuses(self, url: str, kind: str) -> bool:
        """Whether a page may not ask for an address; `kind` is what for. What is not of the web
        is not asked for."""
        origin = request_origin(url)
        if origin is None:
            return url.partition(":")[0].lower() in (*_PORTS, *_PAGE_SCHEMES)
        if self._allows(origin):
            return False
        is_asset = kind in ASSET_KINDS and origin in self.asset_origins
        return not is_asset or self._is_own_server(origin)

    def _allows(self, origin: Origin) -> bool:
        if self._is_own_server(origin):
            return False
        is_loopback = LOOPBACK in self.origins and origin.host in LOOPBACK_HOSTS
        return is_loopback or EVERYWHERE in self.origins or origin in self.named_origins

    def _is_own_server(self, origin: Origin) -> bool:
        if not self.own_port or origin.port != self.own_port:
            return False
        return _is_this_machine(origin.host)

    def check(self, url: str) -> str:
        """The address as it is opened; refused with the reason where it may not be."""
        url = url.strip()
        if not url:
            raise OriginRefused("an address is needed, not an empty text")
        if "://" not in url and url != BLANK:
            if _has_other_scheme(url):
                raise OriginRefused(
                    f"{_short(url)} is not opened: only http and https are",
                    hint="give a web address",
                )
            raise OriginRefused(
                f"{_short(url)} is not a whole address", hint=f"for example http://{_short(url)}"
            )
        if not self.allows(url):
            raise origin_error(url, self)
        return url


def origin_error(url: str, rules: Rules) -> OriginRefused:
    """The error for an address that may not be opened."""
    origin = origin_of(url)
    if origin is None:
        return OriginRefused(f"{_short(url)} is not opened: only http and https addresses are")
    allowed = ", ".join(rules.origins) or "none"
    return OriginRefused(
        f"{origin} is not among the allowed origins ({allowed})",
        hint=f"the user can allow it: --origin {origin}",
    )


def origin_of(url: str) -> Origin | None:
    """Scheme, host and port of a web address; None for everything else."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
        host = _host(parts.hostname or "")
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not host or port is None or not _is_plain(parts):
        return None
    return Origin(scheme=parts.scheme, host=host, port=port)


def request_origin(url: str) -> Origin | None:
    """The origin of any address that a page may request; a WebSocket (`ws:`, `wss:`) has that of
    the web server with its host and port."""
    scheme, colon, rest = url.partition(":")
    return origin_of(f"{_PAGE_SCHEMES.get(scheme, scheme)}{colon}{rest}")


def url_host(host: str) -> str:
    """A host as it stands in an address: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _host(written: str) -> str:
    """A host as Chromium has it; empty where it can't be one, or is a pattern for several."""
    if ":" in written:
        try:
            return IPv6Address(written).compressed
        except AddressValueError:
            return ""
    host = written.rstrip(".")
    host = host if host.isascii() else host.encode("idna").decode("ascii")
    return host if _HOST.fullmatch(host) else ""


def _is_this_machine(host: str) -> bool:
    """Whether a host is sure to be this machine: 127.0.0.2 and 0.0.0.0 lead to a server that
    listens everywhere."""
    return (
        host in (*LOOPBACK_HOSTS, "0.0.0.0", "::")
        or host.startswith("127.")
        or host.endswith(".localhost")
    )


def _is_plain(parts: SplitResult) -> bool:
    # Browsers and urlsplit read these differently, so they are never taken for an allowed host.
    return not any(character in parts.netloc for character in "\\ \t\r\n%@")


def _has_other_scheme(url: str) -> bool:
    scheme, colon, _ = url.partition(":")
    return bool(colon) and scheme.lower() in _OTHER_SCHEMES


def _short(url: str) -> str:
    return url if len(url) <= LONGEST_URL else url[: LONGEST_URL - 3] + "..."
