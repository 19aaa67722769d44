"""The tools of the director in a real browser: what they answer, and what trouble in the browser
looks like to it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foreword import tokens
from foreword.browser import Browser, Rules
from foreword.demos.site import NAME, PASSWORD, Site
from foreword.director import Director
from foreword.director.tool_calls import Outcome
from foreword.testing import Reply, ToolCall, fake_provider
from tests.browser.certificate import untrusted
from tests.director.scenes import open_director, results_in

LOOK = {"inspection": "lightweight_exploration"}


@pytest.fixture
def director(shared: Browser, tmp_path: Path) -> Iterator[Director]:
    """One with a browser and the user's credentials."""
    with open_director(tmp_path, browser=shared) as made:
        made.session.set_variable("creds", {"name": NAME, "password": PASSWORD}, "the user's")
        yield made


def answer_of(outcome: Outcome) -> dict[str, Any]:
    """What a tool answered that did what it should."""
    assert not outcome.failed, outcome.text
    answer: dict[str, Any] = json.loads(outcome.text.partition("\n")[0])
    return answer


def navigate(director: Director, url: str) -> Outcome:
    """Open an address."""
    return director.call("debug_navigate", {"url": url, "reason": "test"})


def act(director: Director, action: str, **more: Any) -> Outcome:
    """Click, type or wait."""
    return director.call("debug_action", {"action": action, "reason": "test", **more})


def test_looking_tells_elements_with_selectors_and_typing_takes_a_secret_from_a_variable(
    director: Director, desk: Site
) -> None:
    answer_of(navigate(director, f"{desk.url}/login"))
    seen = answer_of(director.call("inspect_tab", {**LOOK, "instruction": "which fields sign in?"}))
    fields = {'role=textbox[name="Name"]', 'role=textbox[name="Password"]'}
    assert fields <= {one["selector"] for one in seen["elements"]}
    answer_of(act(director, "type", selector="#name", text="{{creds.name}}"))
    answer_of(act(director, "type", selector="#password", variable="creds.password"))
    assert answer_of(act(director, "click", selector='role=button[name="Sign in"]'))[
        "url"
    ].endswith("/dashboard")
    history = director.session.history()
    assert {message.kind for message in history} == {"debug_action"}
    assert PASSWORD not in "".join(message.text for message in history)
    assert not director.session.snapshot()["nodes"], "debugging never becomes a node"


def test_a_typed_secret_is_hidden_everywhere(director: Director, desk: Site) -> None:
    answer_of(navigate(director, f"{desk.url}/login"))
    answer_of(act(director, "type", selector="#name", text="tulip-4444", secret=True))
    seen = director.call("inspect_tab", {**LOOK, "instruction": "what is in the name field?"})
    page = director.call("inspect_tab", {"inspection": "dom_snapshot"})
    everything = (
        seen.text + page.text + "".join(message.text for message in director.session.history())
    )
    assert "tulip-4444" not in everything
    assert "[hidden]" in everything


def test_a_model_puts_what_was_seen_into_words_where_one_is_configured(
    shared: Browser, desk: Site, tmp_path: Path
) -> None:
    with (
        fake_provider("There is a name and a password.") as provider,
        open_director(tmp_path, browser=shared, inspect_with=provider.openai) as director,
    ):
        answer_of(navigate(director, f"{desk.url}/login"))
        seen = answer_of(
            director.call("inspect_tab", {**LOOK, "instruction": "which fields sign in?"})
        )
        assert "role=textbox" in json.dumps(provider.requests)
    assert seen["answer"] == "There is a name and a password."
    assert seen["elements"]


def test_a_page_comes_shortened_with_a_handle_to_the_rest(director: Director, desk: Site) -> None:
    answer_of(navigate(director, f"{desk.url}/large"))
    page = director.call("inspect_tab", {"inspection": "dom_snapshot", "budget": 500})
    about = answer_of(page)
    assert tokens.counter("o200k").count(page.text) < 700
    assert about["whole_tokens"] > 4_000
    whole = director.call("recall", {"handle": about["handle"]})
    assert "<main" in whole.text
    assert '"next_offset"' in whole.text


def test_actions_that_make_no_sense_are_refused_before_anything_is_touched(
    director: Director,
) -> None:
    assert "click: selector: missing" in act(director, "click").text
    assert "click: text: unknown name" in act(director, "click", selector="#a", text="b").text
    assert "either a text or a variable" in act(director, "type", selector="#a").text
    assert "wait: must have exactly one of selector, gone" in act(director, "wait").text
    assert "did you mean 'creds'?" in act(director, "type", selector="#a", variable="cred").text
    assert "did you mean 'click'?" in act(director, "clack").text
    assert "what is to be found out?" in director.call("inspect_tab", LOOK).text
    assert "reason: missing" in director.call("debug_navigate", {"url": "http://127.0.0.1"}).text


def test_tabs_are_opened_named_and_closed(director: Director, desk: Site) -> None:
    answer_of(
        director.call(
            "debug_open_tab", {"url": f"{desk.url}/help", "name": "Tides", "reason": "test"}
        )
    )
    assert [tab["name"] for tab in director.resources.tabs() or ()] == ["Main Tab", "Tides"]
    answer_of(director.call("debug_close_tab", {"name": "Tides", "reason": "test"}))
    assert [tab["name"] for tab in director.resources.tabs() or ()] == ["Main Tab"]


@pytest.mark.attack
def test_what_lets_somebody_in_by_the_address_of_a_tab_is_shown_to_nobody(
    director: Director, desk: Site
) -> None:
    for secret in (
        "?code=SplxlOBeZQQYbYS6WxSbIA&state=1",
        "?sv=2022&sig=Hx4kd9Lw1q%2Bz%3D",
        "#access_token=abc-9",
    ):
        director.resources.browser().navigate(f"{desk.url}/help{secret}")
        value = secret.partition("&state")[0].rpartition("=")[2]
        assert value in director.resources.browser().tabs()[0]["url"]
        assert value not in director.call("inspect_tab", {**LOOK, "instruction": "links"}).text
        (tab,) = director.resources.tabs() or [{}]
        assert value not in json.dumps(tab)
        assert "[hidden]" in tab["url"]
        assert value not in director.session.context(save=False).text


def test_a_batch_stops_at_the_first_failure_with_the_state_of_the_page(
    shared: Browser, desk: Site, tmp_path: Path
) -> None:
    batch = [
        ToolCall("debug_navigate", {"url": f"{desk.url}/login", "reason": "look"}),
        ToolCall("debug_action", {"action": "click", "selector": "#sing-in", "reason": "sign in"}),
        ToolCall("debug_action", {"action": "wait", "seconds": 1, "reason": "see"}),
        ToolCall("get_current_plan", {}),
    ]
    with (
        fake_provider([Reply(tool_calls=batch), "It failed."]) as provider,
        open_director(tmp_path, provider.openai, browser=shared) as director,
    ):
        director.say("Sign in")
        opened_page, failed, *rest = results_in(provider.requests[1])
    assert json.loads(opened_page)["title"] == "Sign in - Harbour Desk"
    assert "nothing on the page matches '#sing-in'" in failed
    assert f'page: {{"tab": "Main Tab", "url": "{desk.url}/login"' in failed
    assert rest == ["not done: debug_action before it failed"] * 2


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/hang", "within 0.5 s"),
        ("/download", "download"),
        ("/away", "is not among the allowed origins"),
    ],
)
def test_trouble_with_a_page_is_a_failed_result_and_the_session_lives(
    director: Director, desk: Site, path: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = director.resources.browser()
    if path == "/hang":
        monkeypatch.setattr(browser, "rules", replace(browser.rules, page_seconds=0.5))
    outcome = navigate(director, f"{desk.url}{path}")
    assert outcome.failed
    assert told in outcome.text
    monkeypatch.undo()
    assert answer_of(navigate(director, f"{desk.url}/login"))["title"] == "Sign in - Harbour Desk"


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "https://example.com/"]
)
def test_addresses_that_are_not_allowed_are_refused(director: Director, url: str) -> None:
    outcome = navigate(director, url)
    assert outcome.failed
    assert "not opened" in outcome.text or "not among the allowed origins" in outcome.text


def test_a_dialog_is_told_in_the_result(director: Director, desk: Site) -> None:
    answer_of(navigate(director, f"{desk.url}/dialogs"))
    seen = answer_of(director.call("inspect_tab", {**LOOK, "instruction": "buttons"}))
    button = next(one["selector"] for one in seen["elements"] if one["role"] == "button")
    assert "dialog" in act(director, "click", selector=button).text


def test_a_browser_that_crashed_is_told_and_comes_back(desk: Site, tmp_path: Path) -> None:
    rules = Rules(origins=(desk.url,), action_seconds=1, page_seconds=5)

    def start(left: Path | None) -> Browser:
        return Browser.start(rules, folder=tmp_path / "profiles", restore=left)

    with open_director(tmp_path, browser=start) as director:
        assert director.resources.tabs() is None, "it is started when it is first needed"
        answer_of(navigate(director, f"{desk.url}/login"))
        for process in chromium_of(tmp_path / "profiles"):
            os.kill(process, signal.SIGKILL)
        again = [act(director, "wait", selector="#name") for _ in range(2)]
        assert "had ended" in again[0].text or "has ended or crashed" in again[0].text
        assert not again[1].failed, again[1].text
        assert [tab["url"] for tab in director.resources.tabs() or ()] == [f"{desk.url}/login"]


def chromium_of(folder: Path) -> list[int]:
    """The process whose profile is in that folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            except OSError:
                continue
            if any(word.startswith(f"--user-data-dir={folder}") for word in words) and not any(
                word.startswith("--type=") for word in words
            ):
                found.append(int(entry.name))
    return found


def test_a_certificate_that_nobody_trusts_is_a_failed_result_and_the_session_lives(
    desk: Site, tmp_path: Path
) -> None:
    with (
        Browser.start(Rules(origins=("loopback",)), folder=tmp_path) as browser,
        open_director(tmp_path, browser=browser) as director,
        untrusted(tmp_path) as url,
    ):
        refused = navigate(director, url)
        assert refused.failed
        assert "is not trusted" in refused.text
        answer_of(navigate(director, f"{desk.url}/login"))
