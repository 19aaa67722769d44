"""Scouts: a fresh context, a tab of their own, and nothing but a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import pytest

from foreword import tokens
from foreword.browser import Browser
from foreword.demos.site import Site
from foreword.director import Director
from foreword.director.scout import MOST_REQUESTS
from foreword.director.system_prompt import SCOUT
from foreword.store import messages
from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider
from tests.director.scenes import calls, open_director, results_in, system_of
from tests.patience import PATIENCE_SECONDS

LOOK = {"inspection": "lightweight_exploration", "instruction": "fields"}


@pytest.fixture
def browser(shared: Browser) -> Browser:
    """The one of this module; every scout leaves it as it was."""
    return shared


def is_scout(body: Mapping[str, Any]) -> bool:
    """Whether a scout asks."""
    return SCOUT[:30] in system_of(body)


def deploy(
    provider: FakeProvider, browser: Browser, folder: Path, desk: Site, **options: Any
) -> tuple[Director, str]:
    """A director that has sent one scout, and what that came to."""
    director = open_director(folder, provider.openai, browser=browser, **options)
    outcome = director.call(
        "deploy_scout", {"instruction": "Which fields sign in?", "url": f"{desk.url}/login"}
    )
    return director, outcome.text


def test_a_scout_looks_in_its_own_tab_and_may_not_touch_others(
    browser: Browser, desk: Site, tmp_path: Path
) -> None:
    browser.navigate(f"{desk.url}/help")
    script: list[str | Reply] = [
        Reply(
            tool_calls=[
                ToolCall("inspect_tab", LOOK),
                ToolCall("debug_open_tab", {"url": f"{desk.url}/slow?seconds=0", "reason": "more"}),
                ToolCall(
                    "debug_navigate",
                    {"url": f"{desk.url}/login", "tab": "Main Tab", "reason": "theirs"},
                ),
                ToolCall("create_node", {}),
            ]
        ),
        "The fields are `#name` and `#password`.",
    ]
    with fake_provider(script) as provider:
        director, told = deploy(provider, browser, tmp_path, desk)
        with director:
            looked, more, theirs, _ = results_in(provider.requests[1])
            assert '"tab": "scout-1"' in looked
            assert "slow" in more
            assert "the tab 'Main Tab' belongs to somebody else" in theirs
            _, kept = director.session.history()
            names = messages.names(director.session.db, director.session.workflow.id)
    assert json.loads(told) == {
        "report": "The fields are `#name` and `#password`.",
        "conversation": "scout-1",
    }
    assert "#password" in kept.text
    assert sorted(names) == ["main", "scout-1"]
    assert [(tab["name"], tab["url"]) for tab in browser.tabs()] == [
        ("Main Tab", f"{desk.url}/help")
    ]
    assert "3 tabs open" in system_of(provider.requests[1])


def test_a_scout_that_does_not_come_to_an_end_is_asked_for_its_report(
    browser: Browser, desk: Site, tmp_path: Path
) -> None:
    def script(body: Mapping[str, Any]) -> Reply | str:
        asked = str(body["messages"][-1]["content"])
        return (
            "So far: `#name`." if asked.startswith("Stop exploring") else calls(get_current_plan={})
        )

    with fake_provider(script) as provider:
        director, told = deploy(provider, browser, tmp_path, desk)
        director.close()
        assert len(provider.requests) == MOST_REQUESTS + 1
    assert json.loads(told)["report"] == "So far: `#name`."


def test_a_scout_stays_within_its_own_budget(browser: Browser, desk: Site, tmp_path: Path) -> None:
    count = [0]

    def script(body: Mapping[str, Any]) -> Reply | str:
        count[0] += 1
        return calls(inspect_tab=LOOK) if count[0] < 20 else "Done."

    with fake_provider(script) as provider:
        director, told = deploy(
            provider, browser, tmp_path, desk, compress_at=4_000, warn_at=3_500, compress_to=1_000
        )
        with director:
            count_tokens = tokens.counter(director.session.conversation.counter).count
            sizes = []
            for body in provider.requests:
                contents = [str(message.get("content") or "") for message in body["messages"]]
                sizes.append(sum(count_tokens(content) for content in contents))
    assert json.loads(told)["report"] == "Done."
    assert max(sizes) <= 4_000


def test_a_scout_whose_model_fails_is_a_failed_result_and_leaves_no_tab(
    browser: Browser, desk: Site, tmp_path: Path
) -> None:
    def script(body: Mapping[str, Any]) -> Reply | str:
        if is_scout(body):
            return Reply("no more of this", status=400)
        return "Too bad." if results_in(body) else calls(deploy_scout={"instruction": "look"})

    with (
        fake_provider(script) as provider,
        open_director(tmp_path, provider.openai, browser=browser) as director,
    ):
        assert director.say("Go").text == "Too bad."
        (told,) = results_in(provider.requests[-1])
    assert told.startswith("failed: the model failed: 400 Bad Request: no more of this")
    assert len(browser.tabs()) == 1


def test_a_scout_is_stopped_with_its_director_and_its_tab_is_closed(
    browser: Browser, desk: Site, tmp_path: Path
) -> None:
    cancel = Event()

    def stop_when_asked() -> None:
        while not any("/slow" in request for request in desk.requests):
            cancel.wait(0.01)
        cancel.set()

    def script(body: Mapping[str, Any]) -> Reply | str:
        if is_scout(body):
            return calls(debug_navigate={"url": f"{desk.url}/slow?seconds=2", "reason": "look"})
        return calls(deploy_scout={"instruction": "look"})

    desk.requests.clear()
    with (
        fake_provider(script) as provider,
        open_director(tmp_path, provider.openai, browser=browser) as director,
    ):
        watching = Thread(target=stop_when_asked, daemon=True)
        watching.start()
        assert director.say("Go", cancel=cancel).stopped
        watching.join()
        assert "the scout was stopped" in director.session.history()[-2].text
    ends = monotonic() + PATIENCE_SECONDS
    while len(browser.tabs()) > 1 and monotonic() < ends:
        sleep(0.05)
    assert [tab["name"] for tab in browser.tabs()] == ["Main Tab"]


def test_a_scout_that_can_not_reach_its_page_is_a_failed_result(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        fake_provider("never asked") as provider,
        open_director(tmp_path, provider.openai, browser=browser) as director,
    ):
        outcome = director.call(
            "deploy_scout", {"instruction": "look", "url": "https://example.com/"}
        )
        assert not provider.requests
    assert outcome.failed
    assert "is not among the allowed origins" in outcome.text
