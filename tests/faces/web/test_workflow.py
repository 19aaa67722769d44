"""A workflow's nodes in a real browser: read, tested, run, and run on from the node that failed."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

import foreword
from foreword.demos.site import PASSWORD, Site, site
from foreword.director import node_tools
from foreword.director.run_files import files_of
from foreword.faces.web import addresses
from foreword.store import node_results, node_runs, node_steps
from tests.faces.http.running import Address, running, settings_for, wait_until
from tests.faces.web.browsing import PHONE, tab

FLOW = addresses.session("letters", "workflow")
PIXEL = b64decode(  # a picture of one pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def broken_workflow(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Address, foreword.Session, Site]]:
    """A server over a workflow whose third node finds nothing."""
    folder = tmp_path_factory.mktemp("built")
    settings = settings_for(folder)
    with site() as desk, foreword.Session.open(settings.db, "letters", root=folder) as session:
        session.set_variable("creds.password", PASSWORD, "the user's")
        node_tools.create_node(session, "navigate", {"url": f"{desk.url}/login"}, "open the door")
        node_tools.create_node(
            session, "type", {"selector": "#password", "text": "{{creds.password}}"}, "who it is"
        )
        wrong = {"selector": "#nothing", "variable": "title", "timeout": 0.5}
        node_tools.create_node(session, "extract", wrong, "read the title")
        loop = node_tools.create_node(session, "loop", {"over": ["a", "b"], "as": "letter"})
        inside = node_tools.create_node(
            session,
            "condition",
            {"left": "{{letter}}", "operator": "equals", "right": "a"},
            parent=loop["id"],
        )
        kept = {"variable": "seen", "value": "{{letter}}"}
        node_tools.create_node(session, "set_variable", kept, parent=inside["id"])
        node_tools.create_node(
            session, "set_variable", {**kept, "value": "no"}, parent=inside["id"], branch="else"
        )
        with running(settings) as (address, _):
            yield address, session, desk


def test_a_run_that_fails_is_repaired_and_run_on_and_both_pages_follow(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, desk = broken_workflow
    with tab(browser, address) as mine, tab(browser, address, PHONE, dark=True) as other:
        page, theirs = mine.live(FLOW), other.live(FLOW)
        expect(page.locator(".flow-node")).to_have_count(7)
        page.click("#run")
        expect(page.locator("#stop")).to_be_visible()
        expect(page.locator("#work")).to_contain_text(
            re.compile("Starting the browser|Running node")
        )
        for shown in (page, theirs):
            expect(shown.locator("#node3.is-failed")).to_be_visible()
            expect(shown.locator("#node3")).to_contain_text(
                "nothing on the page matches '#nothing'", ignore_case=True
            )
            expect(shown.locator("#on-node3")).to_be_enabled()
            expect(shown.locator("#node1")).to_contain_text("Worked")
            expect(shown.locator("#beside-tabs")).to_contain_text(f"{desk.url}/login")
        node_tools.update_node(session, "node3", config={"selector": "h1"})
        expect(page.locator("#node3")).to_contain_text("Read h1 into node3.title")
        expect(page.locator("#node3")).to_contain_text("The last run stopped here")
        page.click("#on-node3")
        for shown in (page, theirs):
            expect(shown.locator(".is-success")).to_have_count(7)
            expect(shown.locator("#node3 .gave")).to_contain_text('node3.title = "Sign in"')
            expect(shown.locator("#run-on")).to_have_count(0)
            expect(shown.locator(".run-list li")).to_contain_text("2 attempts")
        assert other.overflow() <= 0
        assert PASSWORD not in page.content()
    assert desk.requests.count(f"GET {desk.url.removeprefix('http://')}/login") == 1
    assert session.get_workflow_variables()["seen"] == "no"


def test_a_click_that_may_have_happened_is_decided_on_the_page(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, _ = broken_workflow
    with foreword.Session.open(session.url, "asks", root=session.root) as asks:
        node_tools.create_node(asks, "click", {"selector": "#send"})
        node_tools.create_node(asks, "set_variable", {"variable": "after", "value": "done"})
        run = node_runs.begin(asks.db, asks.workflow.id, run="run-killed", executor="dead")
        node_steps.begin(asks.db, asks.workflow.id, run, key="node1", node="node1")
        with tab(browser, address) as opened:
            page = opened.live(addresses.session("asks", "workflow"))
            expect(page.locator("#node1")).to_contain_text("so it may have happened")
            expect(page.locator("#again-node1")).to_be_enabled()
            page.click("#skip-node1")
            expect(page.locator(".is-success")).to_have_count(2)
            expect(page.locator("#skip-node1")).to_have_count(0)
        assert asks.get_workflow_variables()["after"] == "done"


def test_nodes_are_read_as_sentences_inside_each_other_and_one_is_tested_alone(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, _ = broken_workflow
    with tab(browser, address) as opened:
        page = opened.live(FLOW)
        said = page.locator(".flow-does").all_inner_texts()
        assert said[1] == "Type {{creds.password}} into #password"
        assert said[3:] == [
            'For each letter of ["a", "b"]',
            "If {{letter}} is “a”",
            "Set seen to {{letter}}",
            "Set seen to “no”",
        ]
        expect(page.locator(".flow-else")).to_have_text("Otherwise")
        assert page.locator("#node6.depth-2, #node5.depth-1, #node7.depth-2").count() == 3
        expect(page.locator("#more-node6 pre").first).to_be_hidden()
        page.click("#more-node6 summary")
        expect(page.locator("#more-node6 pre").first).to_contain_text('"variable": "seen"')
        session.set_variable("seen", "nothing", "before the test")
        page.get_by_role("button", name="Test node6").press("Enter")
        expect(page.locator("#node6 .gave")).to_contain_text('seen = "a"')
        expect(page.locator("#more-node6")).to_contain_text("in a test")
        expect(page.locator("#more-node6 pre").first).to_be_visible()


def test_without_scripts_a_node_is_tested(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    with tab(browser, broken_workflow[0], script=False) as opened:
        page = opened.go(FLOW)
        page.click("#test-node4")
        expect(page.locator("#workflow")).to_be_visible()
        wait_until(lambda: opened.go(FLOW).locator("#stop").count() == 0)
        expect(page.locator("#node4")).to_contain_text("Worked")


def test_a_node_is_added_changed_moved_and_deleted_by_forms_and_keys(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, _ = broken_workflow
    with (
        foreword.Session.open(session.url, "built", root=session.root) as built,
        tab(browser, address, PHONE) as opened,
    ):
        page = opened.live(addresses.session("built", "workflow"))
        page.select_option("#add-last", "extract")
        page.get_by_role("button", name="Add a node").press("Enter")
        expect(page.locator("#config-selector")).to_be_focused()
        page.keyboard.type("table tr")
        page.fill("#config-variable", "rows")
        page.check("#config-many")
        page.get_by_label("Name of row 1").fill("name")
        page.get_by_label("Selector of row 1").fill("td.name")
        page.get_by_label("Name of row 2").fill("link")
        page.get_by_label("Attribute of row 2").fill("href")
        page.click("#save-node")
        expect(page.locator(".flow-does")).to_have_text(
            "Read name, link of every table tr into node1.rows"
        )
        page.select_option("#add-last", "loop")
        page.get_by_role("button", name="Add a node").click()
        page.fill("#config-over", "[1, 2]")
        page.fill("#config-as", "not a word")
        page.click("#save-node")
        expect(page.locator("#change [role=alert]")).to_contain_text("config.as: must be one word")
        expect(page.locator("#config-over")).to_have_value("[1, 2]")
        page.fill("#config-as", "page")
        page.click("#save-node")
        expect(page.locator("#node2")).to_contain_text("For each page of [1, 2]")
        page.click("#edit-node1")
        page.get_by_label("Selector of row 1").fill("th.name")
        page.uncheck("#config-many")
        page.fill("#node-description", "the rows")
        page.click("#save-node")
        expect(page.locator("#node1")).to_contain_text("the rows")
        page.click("#more-node2 summary")
        page.locator("#up-node2").press("Enter")
        expect(page.locator(".flow-node").first).to_have_attribute("id", "node2")
        page.once("dialog", lambda dialog: dialog.accept())
        page.click("#delete-node2")
        expect(page.locator(".flow-node")).to_have_count(1)
        assert opened.overflow() <= 0
        (node,) = node_tools.read_tree(built).nodes.values()
    assert node["config"] == {
        "selector": "table tr",
        "variable": "rows",
        "fields": {"name": "th.name", "link": {"attribute": "href"}},
    }


def test_a_secret_in_a_node_survives_a_change_of_another_field(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, _ = broken_workflow
    with foreword.Session.open(session.url, "typed", root=session.root) as typed:
        typed.set_variable("api.token", "tok-2718281828-ab", "the user's")
        typed.put_node(
            {
                "id": "node1",
                "position": 1,
                "type": "type",
                "config": {"selector": "#key", "text": "tok-2718281828-ab"},
            }
        )
        with tab(browser, address, script=False) as opened:
            page = opened.go(addresses.session("typed", "workflow", edit="node1"))
            expect(page.locator("#config-text")).to_have_value("[hidden]")
            page.fill("#config-selector", "#token")
            page.click("#save-node")
            expect(page.locator(".said")).to_contain_text("node1 is saved")
        (node,) = node_tools.read_tree(typed).nodes.values()
    assert node["config"] == {"selector": "#token", "text": "tok-2718281828-ab"}


def test_a_node_that_changed_while_its_form_was_open_is_not_overwritten_unasked(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, _ = broken_workflow
    with foreword.Session.open(session.url, "shared", root=session.root) as shared:
        shared.put_node(_click_node("#old"))
        with tab(browser, address, script=False) as opened:
            page = opened.go(addresses.session("shared", "workflow", edit="node1"))
            page.fill("#config-selector", "#mine")
            shared.put_node(_click_node("#theirs"))
            page.click("#save-node")
            expect(page.locator("#change [role=alert]")).to_contain_text("was changed meanwhile")
            expect(page.locator("#config-selector")).to_have_value("#mine")
            assert _selector_of(shared) == "#theirs"
            page.click("#save-node")
            expect(page.locator(".said")).to_contain_text("node1 is saved")
        assert _selector_of(shared) == "#mine"


def _click_node(selector: str) -> dict[str, Any]:
    return {"id": "node1", "position": 1, "type": "click", "config": {"selector": selector}}


def _selector_of(session: foreword.Session) -> str:
    (node,) = node_tools.read_tree(session).nodes.values()
    return str(node["config"]["selector"])


def test_the_browser_is_seen_beside_the_nodes_while_they_run(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, desk = broken_workflow
    with foreword.Session.open(session.url, "seen", root=session.root) as seen:
        node_tools.create_node(seen, "navigate", {"url": f"{desk.url}/login"})
        with tab(browser, address) as opened:
            page = opened.live(addresses.session("seen", "workflow"))
            expect(page.locator("#picture")).to_be_hidden()
            page.click("#run")
            expect(page.locator("#picture img")).to_be_visible()
            expect(page.locator(".is-success")).to_have_count(1)
            assert page.locator("#picture img").evaluate("image => image.naturalWidth") > 300
            expect(page.locator("#picture img")).to_be_visible()


def test_kept_files_are_shown_or_saved_and_no_others_are_served(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, _ = broken_workflow
    with foreword.Session.open(session.url, "kept", root=session.root) as built:
        node_tools.create_node(built, "screenshot", {"variable": "picture"})
        folder = files_of(built).folder()
        (folder / "seen.png").write_bytes(PIXEL)
        (folder / "data.html").write_text("<script>alert(1)</script>")
        name = files_of(built).name_of(str(folder / "seen.png"))
        output = {"result": {"path": name}}
        node_results.keep_test(
            built.db, built.workflow.id, node="node1", status="success", output=output
        )
        with tab(browser, address) as opened:
            page = opened.live(addresses.session("kept", "workflow"))
            page.locator("#node1 .kept-picture").scroll_into_view_if_needed()
            expect(page.locator("#node1 .kept-picture")).to_have_js_property("naturalWidth", 1)
        other = name.replace("seen.png", "data.html")
        reply = address.ask("GET", addresses.session("kept", "workflow/file", path=other))
        assert reply.headers["content-disposition"].startswith("attachment")
        assert reply.headers["content-type"] == "application/octet-stream"
        for path in ("../../state.db", ".foreword/state.db", "/etc/hostname", "\0"):
            reply = address.ask("GET", addresses.session("kept", "workflow/file", path=path))
            assert reply.status == 400, path


def test_what_a_loop_asks_is_filled_in_field_by_field(
    browser: Browser, broken_workflow: tuple[Address, foreword.Session, Site]
) -> None:
    address, session, _ = broken_workflow
    with (
        foreword.Session.open(session.url, "asking", root=session.root) as asking,
        tab(browser, address, PHONE) as opened,
    ):
        page = opened.live(addresses.session("asking", "workflow", add="loop"))
        page.click("#seldom summary")
        page.fill("[name='config.while.left']", "{{n}}")
        page.select_option("[name='config.while.operator']", "less")
        page.fill("[name='config.while.right']", "3")
        page.fill("#config-most", "9")
        assert opened.overflow() <= 0
        page.click("#save-node")
        expect(page.locator("#node1")).to_contain_text("while {{n}} is less than 3, 9 at most")
        page.click("#edit-node1")
        page.fill("[name='config.while.right']", "4")
        page.click("#save-node")
        expect(page.locator("#node1")).to_contain_text("is less than 4")
        (node,) = node_tools.read_tree(asking).nodes.values()
    assert node["config"] == {
        "while": {"left": "{{n}}", "operator": "less", "right": 4},
        "most": 9,
    }
