"""Which addresses may be opened, and how long anything may take.

Pure. Who enforces it is `guard`, for every document that a browser asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from foreword.errors import OriginRefused, UsageError

LOOPBACK = "loopback"
EVERYWHERE = "*"
BLANK = "about:blank"
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Rules:
    """The origins that may be opened: addresses, `loopback` for any port of this machine, `*` for all http(s)."""

    origins: tuple[str, ...] = (LOOPBACK,)
    action_seconds: float = 5.0  # for an element to be there
    page_seconds: float = 20.0  # for a page to load

    def __post_init__(self) -> None:
        object.__setattr__(self, "origins", tuple(self.origins))
        for origin in self.origins:
            if origin not in (LOOPBACK, EVERYWHERE) and not _origin(origin):
                raise UsageError(
                    f"{origin!r} is not an origin", hint="for example https://example.com, loopback, or * for all"
                )

    def allows(self, url: str) -> bool:
        """Whether an address may be opened."""
        if url == BLANK or url == "":
            return True
        origin = _origin(url)
        if origin is None:
            return False
        loopback = LOOPBACK in self.origins and origin[1] in _LOOPBACK_HOSTS
        return loopback or EVERYWHERE in self.origins or origin in map(_origin, self.origins)

    def check(self, url: str) -> str:
        """The address as it is opened; refused with the reason where it may not be."""
        url = url.strip()
        if not url:
            raise OriginRefused("an address is needed, not an empty text")
        if "://" not in url and url != BLANK:
            if _scheme(url):
                raise OriginRefused(f"{_shown(url)} is not opened: only http and https are", hint="give a web address")
            raise OriginRefused(f"{_shown(url)} is not a whole address", hint=f"for example http://{_shown(url)}")
        if not self.allows(url):
            raise refused(url, self)
        return url


def refused(url: str, rules: Rules) -> OriginRefused:
    """The error for an address that may not be opened."""
    origin = _origin(url)
    if origin is None:
        return OriginRefused(f"{_shown(url)} is not opened: only http and https addresses are")
    allowed = ", ".join(rules.origins) or "none"
    host = f"[{origin[1]}]" if ":" in origin[1] else origin[1]
    port = "" if _PORTS.get(origin[0]) == origin[2] else f":{origin[2]}"
    where = f"{origin[0]}://{host}{port}"
    return OriginRefused(
        f"{where} is not among the allowed origins ({allowed})", hint=f"the user can allow it: --origin {where}"
    )


def _origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of a web address; None for everything else."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or port is None or not _is_plain(parts):
        return None
    return parts.scheme, parts.hostname.rstrip(".") or parts.hostname, port


def _is_plain(parts: SplitResult) -> bool:
    # Browsers and urlsplit read these differently, so they are never taken for an allowed host.
    return not any(character in parts.netloc for character in "\\ \t\r\n%") and "@" not in parts.netloc


def _scheme(url: str) -> bool:
    head = url.partition(":")[0].lower()
    return ":" in url and head in {
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


def _shown(url: str) -> str:
    return url if len(url) <= 80 else url[:77] + "..."
