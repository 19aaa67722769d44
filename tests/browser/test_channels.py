"""Nothing of a page goes anywhere but to the allowed origins, whichever way it tries; what was
blocked is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from foreword.browser import Browser, Rules
from foreword.browser.profile_folders import program
from foreword.errors import BrowserFailed, UsageError
from tests.attacks import AT_LENGTH, sample
from tests.browser.channels import (
    CHANNELS,
    FIRST,
    LEAVING,
    SECRET,
    UNGUARDED,
    UNHEARD,
    Elsewhere,
    Home,
    elsewhere,
    home,
)
from tests.browser.working import in_the_page, until, users_own

pytestmark = pytest.mark.attack

ATTEMPTS = CHANNELS if AT_LENGTH else FIRST
HOSTS = ("127.0.0.1", "127.0.0.2", "::1", "localhost")


@pytest.fixture(scope="module")
def allowed() -> Iterator[Home]:
    with home() as served:
        yield served


@pytest.fixture
def away() -> Iterator[Elsewhere]:
    with elsewhere() as place:
        yield place


@pytest.fixture(scope="module")
def strict_browser(allowed: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    rules = Rules(origins=(allowed.url,), action_seconds=2, page_seconds=6)
    with Browser.start(rules, folder=tmp_path_factory.mktemp("profiles")) as browser:
        yield browser


@pytest.fixture(scope="module")
def users_address(allowed: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the user's own browser can be debugged; a page was open in it before."""
    with users_own(tmp_path_factory.mktemp("user"), allowed.url) as address:
        yield address


def attempt(browser: Browser, served: Home, channel: str, tab: str | None = None) -> None:
    """Open the page that tries a channel, and wait until it has."""
    served.done.clear()
    with suppress(BrowserFailed):  # a page that goes elsewhere is refused
        browser.navigate(f"{served.url}/channel/{channel}", tab=tab)
    until(lambda: channel in served.done or channel in LEAVING)


@pytest.mark.parametrize("host", sample(HOSTS, 1))
def test_nothing_of_a_page_goes_anywhere_but_to_the_allowed_origins(
    strict_browser: Browser, allowed: Home, away: Elsewhere, host: str
) -> None:
    allowed.away = away.origin(host)
    for channel in ATTEMPTS:
        attempt(strict_browser, allowed, channel)
    strict_browser.navigate("about:blank")

    assert away.reached == []


@pytest.mark.skipif(
    not AT_LENGTH,
    reason="it shows that the attempts are real, which does not change from run to run",
)
def test_each_of_these_ways_leads_out_where_all_origins_are_allowed(
    allowed: Home, away: Elsewhere, tmp_path: Path
) -> None:
    allowed.away = away.origin("127.0.0.1")
    with Browser.start(Rules(origins=("*",), page_seconds=6), folder=tmp_path) as browser:
        for channel in [channel for channel in CHANNELS if channel not in UNHEARD]:
            away.reached.clear()
            attempt(browser, allowed, channel, tab="Main Tab")
            browser.navigate("about:blank", tab="Main Tab")
            until(lambda: away.reached)


def test_what_was_blocked_is_told_by_origin_and_kind_and_without_a_word_of_its_address(
    strict_browser: Browser, allowed: Home, away: Elsewhere
) -> None:
    origin = away.origin("127.0.0.1")
    strict_browser.navigate(allowed.url)
    in_the_page(
        strict_browser,
        f"""async () => {{
        for (const kind of ['a', 'b']) new Image().src = `{origin}/${{kind}}?{SECRET}`;
        const script = document.createElement('script'); script.src = '{origin}/{SECRET}.js';
        document.head.append(script); await fetch('{origin}/{SECRET}').catch(() => 0) }}""",
    )
    lines: list[str] = []

    def has_script() -> bool:
        lines.extend(strict_browser.extract("h1").get("blocked", []))
        return "script" in str(lines)

    until(has_script)

    assert any(f"to {origin} (" in line and f"--assets {origin}" in line for line in lines)
    (found,) = [one for one in strict_browser.blocked_origins() if one.origin == origin]
    assert (found.requests, found.kinds) == (4, ("fetch", "image", "script"))
    assert SECRET not in str(lines)
    assert "blocked" not in strict_browser.extract("h1")


def test_a_page_that_asks_hundreds_of_others_is_told_of_in_a_few_lines(
    strict_browser: Browser, allowed: Home
) -> None:
    strict_browser.navigate(allowed.url)
    in_the_page(
        strict_browser,
        "() => Promise.all([...Array(600).keys()].map(n =>"
        " fetch(`http://${'x'.repeat(60)}${n}.example/`).catch(() => 0))).then(() => 1)",
    )
    lines = strict_browser.extract("h1")["blocked"]
    assert len(lines) <= 11
    assert lines[-1].endswith("origins more")
    assert len(str(lines)) < 3_000
    assert len(strict_browser.blocked_origins()) <= 500


def test_pictures_scripts_and_styles_of_an_origin_for_assets_are_loaded_and_nothing_else_of_it(
    allowed: Home, away: Elsewhere, tmp_path: Path
) -> None:
    assets = away.origin("127.0.0.2")
    allowed.away = assets
    loaded = [
        "image",
        "img",
        "script",
        "module",
        "style",
        "style-import",
        "style-font",
        "preload",
        "audio",
    ]
    loaded = list(sample(loaded, 4))
    data = [
        "fetch-post",
        "xhr",
        "beacon",
        "websocket",
        "eventsource",
        "ping",
        "worker",
        "service-worker",
        "prefetch",
        "iframe",
        "object",
        "form",
        "manifest",
        "csp-report",
        "webtransport",
        "preload-fetch",
    ]
    with Browser.start(
        Rules(origins=(allowed.url,), assets=(assets,), page_seconds=6), folder=tmp_path
    ) as browser:
        for channel in [*loaded, *sample(data, 6)]:
            attempt(browser, allowed, channel)
        lines = [str(one) for one in browser.blocked_origins()]

    assert {one for one in away.reached if one != "connection"} == set(loaded)
    assert lines
    assert not any("image" in line for line in lines)


def test_loopback_is_every_port_of_this_machine_for_all_that_a_page_asks_for(
    allowed: Home, away: Elsewhere, tmp_path: Path
) -> None:
    with Browser.start(folder=tmp_path) as browser:
        browser.navigate(allowed.url)
        for host in ("127.0.0.1", "localhost", "::1"):
            in_the_page(
                browser,
                f"() => fetch('{away.origin(host)}/{host[-1]}', {{mode: 'no-cors'}}).then(() => 1)",
            )
        assert away.reached.count("1") == 2
        away.reached.clear()
        in_the_page(
            browser,
            f"() => fetch('{away.origin('127.0.0.2')}/', {{mode: 'no-cors'}}).catch(() => 1)",
        )
        assert away.reached == []


@pytest.mark.parametrize("origin", sample(("*", "loopback"), 1))
def test_a_server_of_ours_is_out_of_reach_whatever_else_is_allowed(
    allowed: Home, away: Elsewhere, tmp_path: Path, origin: str
) -> None:
    rules = Rules(origins=(origin,), own_port=away.port, page_seconds=6)
    with Browser.start(rules, folder=tmp_path) as browser:
        for host in sample(("127.0.0.1", "localhost", "::1"), 2):
            allowed.away = away.origin(host)
            for channel in sample(
                ("websocket", "worker-websocket", "service-worker", "fetch-post", "iframe", "open"),
                3,
            ):
                attempt(browser, allowed, channel)
    assert away.reached == []


def test_behind_a_proxy_of_the_users_the_allowed_origins_are_reached_through_it_and_no_others(
    allowed: Home, away: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", away.origin("127.0.0.1"))  # which notes what it was asked for
    monkeypatch.setenv("no_proxy", "")
    allowed.away = "http://elsewhere.example"
    rules = Rules(origins=(allowed.url, "http://harbour.example"), page_seconds=6)
    with Browser.start(rules, folder=tmp_path) as browser:
        assert (
            browser.navigate("http://harbour.example/door")["url"] == "http://harbour.example/door"
        )
        for away_to in (
            "http://elsewhere.example",
            "http://harbour.example:81",
            away.origin("127.0.0.2"),
        ):
            allowed.away = away_to
            for channel in sample(("fetch-post", "websocket", "image", "service-worker"), 2):
                attempt(browser, allowed, channel)
        assert set(away.reached) == {
            "connection",
            "http://harbour.example/door",
            "http://harbour.example/favicon.ico",
        }


@pytest.mark.parametrize("proxy", sample(["http://127.0.0.1:9", ""], 1))
def test_no_name_is_looked_up_but_those_of_the_allowed_origins(
    allowed: Home, away: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    log = tmp_path / "net.json"
    logging_chromium = tmp_path / "chromium"
    logging_chromium.write_text(f'#!/bin/sh\nexec {program()} --log-net-log={log} "$@"\n')
    logging_chromium.chmod(0o700)
    here = replace(allowed, url=allowed.url.replace("127.0.0.1", "localhost"))
    rules = Rules(origins=(here.url, "http://harbour.example"), page_seconds=6)
    with Browser.start(rules, path=logging_chromium, folder=tmp_path / "profiles") as browser:
        # Behind a proxy of the user's, Chromium itself decides about addresses of this machine.
        for allowed.away in ("http://elsewhere.example:81", away.origin("127.0.0.2")):
            for channel in ("img", "dns-prefetch", "preconnect", "websocket", "stun", "turn-tcp"):
                attempt(browser, here, channel)

    assert resolved_hosts(log) == {here.url}


def resolved_hosts(log: Path) -> set[str]:
    """The hosts that Chromium's log of its network says were to be resolved, in the cache or by
    a server."""
    content = json.loads(log.read_text())
    kinds = {number: name for name, number in content["constants"]["logEventTypes"].items()}
    hosts = set()
    for event in content["events"]:
        params = event.get("params", {})
        if kinds[event["type"]].startswith("HOST_RESOLVER") and "host" in params:
            hosts.add(params["host"])
    return hosts


def test_in_the_users_own_browser_every_request_of_our_tabs_is_judged_and_none_of_theirs(
    allowed: Home, away: Elsewhere, users_address: str
) -> None:
    allowed.away = origin = away.origin("127.0.0.1")
    rules = Rules(origins=(allowed.url,), action_seconds=2, page_seconds=6)
    with Browser.attach(users_address, rules) as browser:
        users = browser.tabs()[0]["name"]
        browser.open_tab(allowed.url, name="Ours")
        for channel in sample([channel for channel in ATTEMPTS if channel not in UNGUARDED], 8):
            attempt(browser, allowed, channel, tab="Ours")
        # Chromium connects to where a tab may go next, and says nothing there.
        assert set(away.reached) <= {"connection"}

        in_the_page(
            browser, f"() => fetch('{origin}/theirs', {{mode: 'no-cors'}}).then(() => 1)", tab=users
        )
        assert "theirs" in away.reached


def test_in_the_users_own_browser_frames_and_pages_that_were_open_before_are_judged_and_assets_load(
    allowed: Home, away: Elsewhere, users_address: str
) -> None:
    allowed.away = cdn = away.origin("127.0.0.2")
    rules = Rules(origins=(allowed.url,), assets=(cdn,), action_seconds=2, page_seconds=6)
    with Browser.attach(users_address, rules) as browser:
        users = browser.tabs()[0]["name"]
        # a tab that is used is ours to judge, though its page has no policy
        browser.extract("h1", tab=users)
        script = f"() => fetch('{cdn}/before', {{mode: 'no-cors'}}).catch(() => 'refused')"
        assert in_the_page(browser, script, tab=users) == "refused"

        browser.open_tab(allowed.url, name="Ours")
        assert away.reached == []
        attempt(browser, allowed, "img", tab="Ours")
        # Chromium may connect and then ask the user first, as it does before it asks this machine
        # for anything.
        until(lambda: "connection" in away.reached)
        attempt(browser, allowed, "iframe", tab="Ours")
        in_the_page(
            browser, f"() => {{ document.querySelector('iframe').src = '{cdn}/again' }}", tab="Ours"
        )
        refused: list[str] = []

        def is_refused() -> bool:
            refused.extend(browser.extract("h1", tab="Ours").get("refused", []))
            return f"{cdn}/again" in refused

        until(is_refused)
        assert set(away.reached) <= {"connection", "img"}


@pytest.mark.parametrize(
    "origin", ["https://*.example.com", "https://a;b.example", "https://a,b", "https://a b"]
)
def test_an_origin_that_is_a_pattern_or_two_is_refused(origin: str) -> None:
    with pytest.raises(UsageError, match="is not an origin"):
        Rules(origins=(origin,))
    with pytest.raises(UsageError, match="is not an origin of assets"):
        Rules(assets=(origin,))
