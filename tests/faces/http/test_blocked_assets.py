"""What pages of a served director could not load is told by the API and on the page, and offered
after a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import foreword
from foreword.browser import Rules
from foreword.director import node_tools
from tests.browser.channels import elsewhere, home
from tests.faces.http.directing import director_state, tool
from tests.faces.http.running import running, settings_for

pytestmark = pytest.mark.attack


def test_what_was_blocked_is_on_the_page_until_the_server_is_started_with_it(
    tmp_path: Path,
) -> None:
    settings = settings_for(tmp_path)
    with home() as served, elsewhere() as away:
        served.away = cdn = away.origin("127.0.0.2")
        with foreword.Session.open(settings.db, "letters", root=tmp_path) as session:
            node_tools.create_node(session, "navigate", {"url": served.url}, "open the door")
        rules = Rules(origins=(served.url,))
        limited = replace(settings, browser_rules=rules)
        with running(limited) as (address, _):
            assert director_state(address, "letters")["blocked"] == []
            tool(
                address,
                "letters",
                "debug_navigate",
                url=f"{served.url}/channel/script",
                reason="look",
            )
            tool(address, "letters", "debug_action", action="wait", selector="h1", reason="look")
            now = director_state(address, "letters")["blocked"]
            assert now == [
                {"origin": cdn, "kinds": ["script"], "requests": 1, "option": f"--assets {cdn}"}
            ]
            assert f"--assets {cdn}".encode() in address.ask("GET", "/sessions/letters/chat").body
            assert (
                f"--assets {cdn}".encode() in address.ask("GET", "/sessions/letters/workflow").body
            )
            assert f"<bdi>{cdn}</bdi>".encode() in address.ask("GET", "/sessions/letters/chat").body
        with running(limited) as (address, _):
            assert director_state(address, "letters")["blocked"] == [{**now[0], "requests": 0}]
            assert f"--assets {cdn}".encode() in address.ask("GET", "/sessions/letters/chat").body
        allowing = replace(settings, browser_rules=replace(rules, assets=(cdn,)))
        with running(allowing) as (address, _):
            tool(
                address,
                "letters",
                "debug_navigate",
                url=f"{served.url}/channel/script",
                reason="look",
            )
            assert director_state(address, "letters")["blocked"] == []
        assert "script" in away.reached
