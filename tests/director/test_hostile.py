"""A director against pages that give secrets away and models that call its tools in any way they like."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from foreword.browser import Browser
from foreword.director import Director
from foreword.samples.site import PASSWORD, Site
from foreword.testing import Reply, ToolCall, fake_provider
from tests.browser.conftest import browser
from tests.browser.working import in_the_page
from tests.director.scenes import calls, opened, results_in

pytestmark = pytest.mark.attack

__all__ = ["browser"]
LOG_IN = {"action": "type", "selector": "#password", "reason": "log in"}
GIVES_AWAY = """() => { document.querySelector('#password').type = 'text';
  history.replaceState(0, '', '/login?word=' + password.value); document.title = password.value;
  document.querySelector('h1').textContent = 'You are ' + password.value }"""


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = "leaf"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("kept", [{"creds": {"password": PASSWORD}}, {"login": {"word": PASSWORD}}])
def test_a_page_that_repeats_what_was_typed_tells_the_model_nothing(
    tmp_path: Path, browser: Browser, desk: Site, kept: dict[str, Any]
) -> None:
    ((name, value),) = kept.items()
    typed = {**LOG_IN, "variable": f"{name}.{next(iter(value))}"}
    events: list[dict[str, Any]] = []

    def script(body: Mapping[str, Any]) -> Reply | str:
        done = len(results_in(body))
        if done == 2:
            in_the_page(browser, GIVES_AWAY)
            look = {"inspection": "lightweight_exploration", "instruction": "who am I"}
            wrong = {"action": "click", "selector": "#no", "reason": "look"}
            looks = [ToolCall("inspect_tab", {"inspection": "dom_snapshot"}), ToolCall("inspect_tab", look)]
            return Reply(tool_calls=[*looks, ToolCall("debug_action", wrong)])
        begin = {"url": f"{desk.url}/login", "reason": "begin"}
        return calls(debug_navigate=begin, debug_action=typed) if not done else f"You are {PASSWORD}."

    with fake_provider(script) as provider, opened(tmp_path, provider.openai, browser=browser) as director:
        for variable, given in kept.items():
            director.session.set_variable(variable, given, "to sign in")
        turn = director.say("Log in", on_event=events.append)
        history = [message.text for message in director.session.history()]
    assert len(results_in(provider.requests[-1])) == 5
    assert "/login?word=[hidden]" in json.dumps(provider.requests[-1])
    assert PASSWORD not in json.dumps([provider.requests[2:], events, turn.text, history])


def test_arguments_may_be_nested_as_deeply_as_a_model_likes(tmp_path: Path) -> None:
    wanted = {"name": "deep", "value": nested(900), "reason": "x"}
    with (
        fake_provider([calls(set_variable=wanted), "Done."]) as provider,
        opened(tmp_path, provider.openai) as director,
    ):
        assert director.say("Go").text == "Done."
        assert director.call("set_variable", {**wanted, "value": nested(3_000)}).failed
        assert director.session.context().messages


def test_a_tab_without_a_name_is_asked_for(tmp_path: Path, browser: Browser) -> None:
    with opened(tmp_path, browser=browser) as director:
        made = director.call("debug_close_tab", {"name": "", "reason": "x"})
    assert (made.text, made.failed) == ("failed: which tab? (give its name)", True)


def test_wherever_it_is_stopped_every_call_has_its_result(tmp_path: Path) -> None:
    wanted = [ToolCall("set_variable", {"name": f"v{n}", "value": n, "reason": "x"}) for n in range(3)]
    reply = Reply("I look around.", tool_calls=wanted)
    with fake_provider(reply) as provider, opened(tmp_path, provider.openai) as director:
        for moment in range(1, 12):
            _stopped_at(director, moment)
            history = director.session.history()
            asked = [call for message in history for call in message.calls]
            assert asked == [call for message in history for call in message.results]


def _stopped_at(director: Director, moment: int) -> None:
    """Say stop when something has happened for so many times."""
    cancel, left = Event(), [moment]

    def stop(event: Mapping[str, Any]) -> None:
        left[0] -= 1
        if not left[0]:
            cancel.set()

    assert director.say("Go", on_event=stop, cancel=cancel).stopped
