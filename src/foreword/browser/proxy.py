"""A proxy that refuses every connection, for the browsers that we start: what is not allowed ends
here.

The debugging protocol shows requests, but no WebSocket, WebRTC, preconnect or lookup of a name.
Chromium's proxy holds for all of them, in every page and worker, from the first moment. The allowed
origins are told to Chromium as exceptions (`switches`): what may go out goes as ever and at full
speed. Should this process be gone, nothing else goes out at all.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from foreword.browser.rules import (
    LOOPBACK,
    LOOPBACK_HOSTS,
    WEBSOCKET_SCHEMES,
    Origin,
    Rules,
    url_host,
)

Refusal = Callable[[str, int], None]  # told the host and the port of a connection
HERE = "127.0.0.1"
# Chromium asks at once; half of it would do, and whoever else connects is not listened to for
# longer.
REQUEST_SECONDS = 5.0
# Numbers of SOCKS 5, by RFC 1928.
_VERSION = 5
_NO_LOGIN = 0
_NOT_ALLOWED = 2
_IPV4 = 1
_NAME = 3
_IPV6 = 4
_REFUSED = bytes([_VERSION, _NOT_ALLOWED, 0, _IPV4, 0, 0, 0, 0, 0, 0])
# How a script calls the kinds of proxies, and their usual ports.
_PROXIES = {
    "http": ("PROXY", 80),
    "https": ("HTTPS", 443),
    "socks5": ("SOCKS5", 1080),
    "socks4": ("SOCKS", 1080),
}
_SCRIPT = """function FindProxyForURL(url, host) {{ var ways = {ways};
  for (var place in ways) if (url.lastIndexOf(place, 0) === 0) return ways[place];
  return "{refusing}"; }}"""
# Chromium's word for a lookup that fails at once. `~NOTFOUND`, as it once was, is a name like any
# other today.
_NO_ADDRESS = "^NOTFOUND"
# WebRTC's packets pass by every proxy, so it may send none. Chromium and its headless shell read
# different switches.
_NO_PACKETS = ("--webrtc-ip-handling-policy", "--force-webrtc-ip-handling-policy")


class RefusingProxy:
    """SOCKS 5 as far as a browser says where it wants to go, and is told that it may not."""

    def __init__(self, on_refusal: Refusal) -> None:
        self._on_refusal = on_refusal
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Listen on this machine; returns the port."""
        self._server = await asyncio.start_server(self._answer, HERE, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, TimeoutError, ValueError):
            async with asyncio.timeout(REQUEST_SECONDS):
                host, port = await _read_destination(reader, writer)
                self._on_refusal(host, port)
                writer.write(_REFUSED)
                await writer.drain()
        writer.close()


async def _read_destination(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> tuple[str, int]:
    """Where a browser wants to go, by RFC 1928."""
    version, ways = await reader.readexactly(2)
    if version != _VERSION:
        raise ValueError("this is no SOCKS 5")
    await reader.readexactly(ways)
    writer.write(bytes([_VERSION, _NO_LOGIN]))
    *_, kind = await reader.readexactly(4)
    if kind == _NAME:
        (length,) = await reader.readexactly(1)
        host = (await reader.readexactly(length)).decode("ascii")
    elif kind == _IPV4:
        host = ip_address(await reader.readexactly(4)).compressed
    elif kind == _IPV6:
        host = ip_address(await reader.readexactly(16)).compressed
    else:
        raise ValueError("this is no address")
    return host, int.from_bytes(await reader.readexactly(2), "big")


def switches(rules: Rules, port: int) -> list[str]:
    """What Chromium is started with, so that the rules hold for every connection; the proxy
    listens at the port."""
    upstream: dict[Origin, tuple[str, str]] = {}
    for origin in (*rules.named_origins, *rules.asset_origins):
        found = _upstream(origin)
        if found:
            upstream[origin] = found
    places = sorted({place for _, place in upstream.values()})
    # No name is looked up but those of allowed origins: a lookup tells a name's server that it was
    # asked for.
    lookups = [*_own_server_lookups(rules), _same_lookup(f"{HERE}:{port}")]
    lookups += [_same_lookup(place) for place in places]
    lookups += _lookups(rules)
    lookups.append(f"MAP * {_NO_ADDRESS}")
    way = _by_script(rules, port, upstream) if upstream else _by_exceptions(rules, port)
    return [
        *way,
        f"--host-resolver-rules={', '.join(lookups)}",
        *(f"{switch}=disable_non_proxied_udp" for switch in _NO_PACKETS),
        # A server may name another one for its pages by QUIC, and WebTransport is nothing but QUIC.
        "--disable-quic",
    ]


def own_switches(rules: Rules) -> list[str]:
    """What Chromium is started with where the whole web is allowed: a server of ours is out of
    reach even so."""
    if not rules.own_port:
        return []
    return [f"--host-resolver-rules={', '.join(_own_server_lookups(rules))}"]


def _by_exceptions(rules: Rules, port: int) -> list[str]:
    exceptions = ["<-loopback>", *_exceptions(rules)]
    return [f"--proxy-server=socks5://{HERE}:{port}", f"--proxy-bypass-list={';'.join(exceptions)}"]


def _by_script(rules: Rules, port: int, upstream: Mapping[Origin, tuple[str, str]]) -> list[str]:
    """The switches for a proxy by a PAC script: for allowed origins that are reached through the
    user's own proxy, which a list of exceptions can't say.

    A script is not asked about this machine's own addresses; those that are not allowed have no
    lookup.
    """
    ways = {}
    for origin in (*rules.named_origins, *rules.asset_origins):
        way = " ".join(upstream[origin]) if origin in upstream else "DIRECT"
        ways[f"{origin}/"] = way
        if origin in rules.named_origins:
            ways[f"{origin}/".replace("http", "ws", 1)] = way
    script = _SCRIPT.format(ways=json.dumps(ways), refusing=f"SOCKS5 {HERE}:{port}")
    encoded = b64encode(script.encode()).decode()
    return [f"--proxy-pac-url=data:application/x-ns-proxy-autoconfig;base64,{encoded}"]


def _upstream(origin: Origin) -> tuple[str, str] | None:
    """The proxy that the user has for an origin (`https_proxy`, `no_proxy`), as a script writes
    it, if any."""
    if origin.host in LOOPBACK_HOSTS or proxy_bypass(origin.netloc):
        return None
    proxies = getproxies()
    named = proxies.get(origin.scheme) or proxies.get("all") or ""
    parts = urlsplit(named if "://" in named else f"http://{named}")
    if not parts.hostname or parts.scheme not in _PROXIES:
        return None
    kind, usual = _PROXIES[parts.scheme]
    return kind, f"{url_host(parts.hostname)}:{parts.port or usual}"


def _exceptions(rules: Rules) -> list[str]:
    """The origins that are reached without the proxy, as Chromium writes them; assets by no
    WebSocket."""
    found = [url_host(host) for host in _this_machine(rules)]
    for origin in rules.named_origins:
        for scheme in (origin.scheme, WEBSOCKET_SCHEMES[origin.scheme]):
            found += _with_scheme(scheme, origin)
    for origin in rules.asset_origins:
        found += _with_scheme(origin.scheme, origin)
    return found


def _lookups(rules: Rules) -> list[str]:
    """Hosts and ports that are what they are; for those that are not listed there is no answer."""
    # Without `:*` an IPv6 address would not be known by its brackets.
    found = [f"MAP {url_host(host)}:* {url_host(host)}" for host in _this_machine(rules)]
    for origin in (*rules.named_origins, *rules.asset_origins):
        found += [_same_lookup(place) for place in _places(origin)]
    return found


def _own_server_lookups(rules: Rules) -> list[str]:
    """A server of ours has no address."""
    if not rules.own_port:
        return []
    return [f"MAP {url_host(host)}:{rules.own_port} {_NO_ADDRESS}" for host in LOOPBACK_HOSTS]


def _this_machine(rules: Rules) -> tuple[str, ...]:
    return (*LOOPBACK_HOSTS, "localhost.") if LOOPBACK in rules.origins else ()


def _places(origin: Origin) -> list[str]:
    """An origin's host and port in both of its spellings: a name may end with a dot."""
    places = [origin.netloc]
    if not origin.host.replace(".", "").isdecimal() and ":" not in origin.host:
        places.append(f"{origin.host}.:{origin.port}")
    return places


def _with_scheme(scheme: str, origin: Origin) -> list[str]:
    return [f"{scheme}://{place}" for place in _places(origin)]


def _same_lookup(place: str) -> str:
    return f"MAP {place} {place}"
