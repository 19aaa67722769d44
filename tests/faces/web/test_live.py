"""What a person has chosen, typed, unfolded or focused stays as they left it when the page changes
by itself: every view with something to touch, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import foreword
from foreword.director import node_tools
from foreword.faces.web import addresses
from tests.faces.http.running import Address, running, settings_for
from tests.faces.web.browsing import tab
from tests.faces.web.scene import plan
from tests.sessions import call, numbered_message, results

NAME = "live"
LONG = "\n".join(f"line {number}" for number in range(200))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Address]:
    """A server over an empty store."""
    with running(settings_for(tmp_path)) as (address, _):
        yield address


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[foreword.Session]:
    """Somebody else who works on the session that a person looks at."""
    with foreword.Session.open(settings_for(tmp_path).db, NAME, root=tmp_path) as session:
        yield session


def _address(*view: str) -> str:
    return addresses.session(NAME, *view)


def _caret(page: Page, selector: str) -> list[int]:
    caret: list[int] = page.locator(selector).evaluate(
        "field => [field.selectionStart, field.selectionEnd]"
    )
    return caret


# --- sessions -------------------------------------------------------------------------------------


def test_a_search_and_the_session_in_focus_stay_when_the_list_changes_its_order(
    browser: Browser, server: Address, agent: foreword.Session
) -> None:
    with (
        foreword.Session.open(agent.url, "live too", root=agent.root) as other,
        tab(browser, server) as opened,
    ):
        agent.append(numbered_message(1))
        other.append(numbered_message(2))
        page = opened.live("/")
        page.fill("#q", "li")
        page.locator("#open-live").focus()
        first = page.locator("#sessions tbody tr").first
        for one, name in ((agent, "live"), (other, "live too"), (agent, "live")):
            one.append(numbered_message(3))
            expect(first.locator("bdi")).to_have_text(name)
            expect(page.locator("#open-live")).to_be_focused()
            expect(page.locator("#q")).to_have_value("li")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("live")


# --- tabs -----------------------------------------------------------------------------------------


def test_a_tab_appears_with_the_first_thing_to_show_and_the_focus_stays(
    browser: Browser, server: Address, agent: foreword.Session
) -> None:
    agent.append(numbered_message(1))
    with tab(browser, server) as opened:
        for view in ((), ("chat",), ("context",)):
            page = opened.live(_address(*view))
            page.locator("#tab-context").focus()
            if not view:
                expect(page.locator(".tabs a")).to_have_text(["Monitor", "Chat", "Context"])
                agent.update_plan(plan(), "the first plan")
                expect(page.locator("#tab-plan")).to_be_visible()
            elif view == ("chat",):
                agent.set_variable("page", "inbox", "seen")
                expect(page.locator("#tab-variables")).to_be_visible()
            else:
                node_tools.create_node(agent, "navigate", {"url": "https://example.com"})
                expect(page.locator("#tab-workflow")).to_be_visible()
            expect(page.locator("#tab-context")).to_be_focused()


# --- plan -----------------------------------------------------------------------------------------


def test_a_change_in_hand_a_folded_node_and_a_selection_stay_when_the_plan_changes(
    browser: Browser, server: Address, agent: foreword.Session
) -> None:
    with tab(browser, server) as opened:
        page = opened.live(_address("plan"))
        expect(page.locator("#plan-view")).to_contain_text("No plan yet")
        agent.update_plan(plan(), "the first plan")
        page.click("#about-node_1 summary")
        page.click("#status-4")
        page.select_option("#status", "cancelled")
        page.fill("#reason", "nobody reads them")
        page.locator(".task-text", has_text="Read the inbox").select_text()
        agent.update_plan({**plan(t1="completed"), "notes": "look twice"}, "scouted")
        expect(page.locator(".plan-side")).to_contain_text("look twice")
        expect(page.locator("#about-node_1 p")).to_be_visible()
        expect(page.locator("#status")).to_have_value("cancelled")
        assert page.evaluate("getSelection().toString()") == "Read the inbox"
        page.click("#save")
        expect(page.locator("#change")).to_contain_text("somebody has updated it")
        page.click("#save")
        expect(page.locator("#change")).to_contain_text("Saved as version 3")
        assert agent.plan_version(3).reason == "nobody reads them"
        assert agent.plan_version(3).data["phases"][1]["tasks"][1]["status"] == "cancelled"


def test_a_task_that_was_removed_meanwhile_says_so_and_the_reason_is_kept(
    browser: Browser, server: Address, agent: foreword.Session
) -> None:
    agent.update_plan(plan(), "the first plan")
    with tab(browser, server) as opened:
        page = opened.live(_address("plan"))
        page.click("#tick-4")
        page.fill("#reason", "wrote them by hand")
        shorter = plan()
        del shorter["phases"][1]["tasks"][1]
        agent.update_plan(shorter, "no rows")
        expect(page.locator("#tick-4")).to_have_count(0)
        expect(page.locator("#reason")).to_have_value("wrote them by hand")
        page.click("#save")
        expect(page.locator("#change [role=alert]")).to_contain_text("not in version 2 any more")
        expect(page.locator("#reason")).to_have_value("wrote them by hand")


# --- chat -----------------------------------------------------------------------------------------


def test_what_is_unfolded_and_where_one_reads_stay_when_the_chat_goes_on(
    browser: Browser, server: Address, agent: foreword.Session
) -> None:
    agent.append({"role": "user", "content": "read the page"})
    agent.append(call("c1"))
    agent.append(results(c1=LONG))
    with tab(browser, server) as opened:
        page = opened.live(_address("chat"))
        page.click(".call summary")
        answer = page.locator(".call pre").last
        answer.evaluate("text => { text.scrollTop = 300 }")
        agent.update_plan(plan(), "the first plan")
        agent.append({"role": "assistant", "content": "It has two hundred lines."})
        expect(page.locator("#beside-plan")).to_contain_text("Gmail to Airtable")
        expect(page.locator("#log > li").last).to_contain_text("two hundred lines")
        expect(answer).to_be_visible()
        assert answer.evaluate("text => text.scrollTop") == 300


# --- workflow -------------------------------------------------------------------------------------


def test_a_choice_that_is_gone_with_its_node_is_told_until_the_person_does_something(
    browser: Browser, server: Address, agent: foreword.Session
) -> None:
    for _ in range(3):
        node_tools.create_node(agent, "click", {"selector": "#a"})
    with tab(browser, server) as opened:
        page = opened.live(_address("workflow"))
        page.click("#more-node2 summary")
        page.select_option("#add-node2", "extract")
        node_tools.delete_node(agent, "node2")
        expect(page.locator("#toast")).to_contain_text(
            "“Type of the new node” is gone: what it belonged to was deleted meanwhile."
            " You had “Extract” there."
        )
        node_tools.delete_node(agent, "node3")
        expect(page.locator(".flow-node")).to_have_count(1)
        expect(page.locator("#toast")).to_be_visible()
        page.click("#edit-node1")
        expect(page.locator("#toast")).to_be_hidden()


# --- the mechanism --------------------------------------------------------------------------------

FORM = """
<div id="part"><p>{words}</p>
  <input id="text" value="{words}"><input id="still" value="{words}"><input id="blank">
  <textarea id="area">{words}</textarea><textarea id="idle">{words}</textarea>
  <input type="checkbox" id="on"><input type="checkbox" id="off" checked>
  <input type="radio" name="way" id="left" checked><input type="radio" name="way" id="right">
  <input type="range" id="share" min="0" max="{most}" value="{most}">
  <select id="kind">{first}<option>a</option><option>b</option></select>
  <select id="free">{first}<option>a</option><option selected>b</option></select>
  <details id="closed" open><summary>{words}</summary></details>
  <details id="open"><summary>{words}</summary></details><dialog id="asks">{words}</dialog>
  <div data-keep><b>{words}</b></div><div>{keyed}</div></div>
"""
TOUCH = """
() => {
  const get = (id) => document.getElementById(id);
  const values = {text: "typed", blank: "typed too", area: "words", share: 3, kind: "b"};
  for (const [id, value] of Object.entries(values)) get(id).value = value;
  for (const id of ["on", "off", "right"]) get(id).click();
  get("closed").open = false;
  get("open").open = true;
  get("asks").showModal();
  get("text").focus();
  get("text").setSelectionRange(1, 3);
  document.querySelector("[data-keep] b").textContent = "loaded";
}
"""
STATE = """
() => Object.fromEntries([...document.querySelectorAll("#part [id]")].map((one) => [
  one.id, one.matches("[type=checkbox], [type=radio]") ? one.checked : one.value ?? one.open
]))
"""


def test_every_kind_of_control_that_was_touched_stays_and_every_other_follows(
    browser: Browser, server: Address
) -> None:
    before = FORM.format(words="one", most=5, first="", keyed='<input id="x"><i id="y"></i>')
    after = FORM.format(
        words="two", most=9, first="<option>new</option>", keyed='<i id="y"></i><input id="x">'
    )
    with tab(browser, server) as opened:
        page = opened.go("/recipes")
        page.evaluate("text => { document.getElementById('main').innerHTML = text }", before)
        page.evaluate(TOUCH)
        page.evaluate(
            "text => { morph(document.getElementById('part'),"
            " document.createRange().createContextualFragment(text).firstElementChild); }",
            after,
        )
        expect(page.locator("#part > p")).to_have_text("two")
        expect(page.locator("#part [data-keep]")).to_have_text("loaded")
        assert page.evaluate(STATE) == {
            "text": "typed",
            "still": "two",
            "blank": "typed too",
            "area": "words",
            "idle": "two",
            "on": True,
            "off": False,
            "left": False,
            "right": True,
            "share": "3",
            "kind": "b",
            "free": "b",
            "closed": False,
            "open": True,
            "asks": True,
            "y": None,
            "x": "",
        }
        assert page.get_attribute("#share", "max") == "9"
        assert _caret(page, "#text") == [1, 3]
        gone = after.replace("<option>b</option>", "").replace('<input id="blank">', "")
        page.evaluate(
            "text => { morph(document.getElementById('part'),"
            " document.createRange().createContextualFragment(text).firstElementChild); }",
            gone,
        )
        expect(page.locator("#toast")).to_contain_text("“typed too”")
        expect(page.locator("#toast")).to_contain_text("“b” can no longer be chosen")


def test_every_control_in_a_part_that_changes_by_itself_has_an_id_of_its_own(
    browser: Browser, server: Address, agent: foreword.Session
) -> None:
    agent.update_plan(plan(), "the first plan")
    agent.set_variable("page", "inbox", "seen")
    agent.append(numbered_message(1))
    agent.context()
    node_tools.create_node(agent, "loop", {"over": [1], "as": "letter"})
    with tab(browser, server) as opened:
        views = ("chat", "workflow", "plan", "variables", "checkpoints")
        for path in ("/", _address(), *map(_address, views)):
            page = opened.live(path)
            nameless = page.locator("main").evaluate(
                "main => [...main.querySelectorAll('a.row-link, select, details, textarea,"
                " input:not([type=hidden]), button')]"
                ".filter(one => !one.id && !one.closest('form:not([hx-swap])'))"
                ".map(one => one.outerHTML)"
            )
            assert nameless == []
            ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
            assert len(ids) == len(set(ids))
