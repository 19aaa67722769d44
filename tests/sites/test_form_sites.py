"""Django's admin and Gradio, worked on by the director's tools: rows that differ by a number, forms
that are rejected, and a function that takes its time. `make sites` runs this (FOREWORD_SITES=1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foreword.browser import Browser
from foreword.director import Director
from tests.browser.working import counts
from tests.director.scenes import called, open_director
from tests.sites.application import Application
from tests.sites.conftest import Applications
from tests.sites.form_applications import KIND, ORDERS, WEIGH, enter_orders, names_in
from tests.sites.scenario import sign_in
from tests.sites.small_applications import PASSWORD

LIST = "/admin/shop/order/"
SAVE = 'role=button[name="Save"]'


@pytest.fixture
def director(site_browser: Browser, tmp_path: Path) -> Iterator[Director]:
    with open_director(tmp_path, browser=site_browser) as opened:
        yield opened


@pytest.fixture
def orders(applications: Applications) -> Application:
    application = applications.get("django")
    enter_orders(application.folder)
    return application


def _build(director: Director, application: Application, *nodes: Any) -> None:
    director.session.set_variable("site", application.address, "where it is")
    for kind, config, *_ in nodes:
        called(director, "create_node", type=kind, config=config, description=kind)


def _look(director: Director, address: str = "") -> dict[str, Any]:
    if address:
        called(director, "debug_navigate", url=address, reason="look")
    instruction = "delete Order 1"
    return called(
        director, "inspect_tab", inspection="lightweight_exploration", instruction=instruction
    )


def _do(director: Director, action: str, selector: str, **given: Any) -> str:
    """What a tool answers to an action, failed or not."""
    given = {"action": action, "selector": selector, "reason": "try", **given}
    return director.call("debug_action", given).text


def test_every_run_signs_in_to_django_and_a_login_that_is_rejected_fails(
    director: Director, orders: Application
) -> None:
    _build(director, orders, *orders.login, *orders.listing)
    director.session.set_variable("creds", {"password": PASSWORD}, "to sign in")
    for _ in range(2):
        assert called(director, "run_workflow")["status"] == "success"
        assert director.session.get_workflow_variables()["node6.names"] == ORDERS
    director.session.set_variable("creds", {"password": "wrong-7"}, "to sign in")
    failed = called(director, "run_workflow")

    assert (failed["status"], failed["failed_at"]) == ("failed", "node4")
    assert "the page says: Please enter the correct username and password" in failed["error"]
    seen = _look(director)
    assert seen["errors"][0].startswith("Please enter the correct username and password")
    [language] = [one for one in seen["elements"] if "options" in one]
    assert language["near"] == "Forgotten your password?"
    assert (language["value"], language["options"]) == ("English", ["English", "Deutsch"])


def test_a_form_that_django_rejects_fails_with_the_words_of_its_page(
    director: Director, orders: Application, site_browser: Browser
) -> None:
    sign_in(site_browser, orders)
    _look(director, f"{orders.address}{LIST}3/change/")
    _do(director, "type", "#id_name", text="")
    assert "rejected; the page says: Name: This field is required." in _do(director, "click", SAVE)
    assert "Name: This field is required." in _look(director)["errors"]
    _do(director, "type", "#id_name", text="Order 3")
    _do(director, "type", "#id_amount", text=str(10**20))
    assert "Ensure this value is less than or equal to" in _do(director, "click", SAVE)
    _do(director, "type", "#id_amount", text="8")
    assert "rejected" not in _do(director, "click", SAVE)


def test_order_1_of_django_is_deleted_and_its_selectors_lead_to_no_other_order(
    director: Director, orders: Application, site_browser: Browser
) -> None:
    sign_in(site_browser, orders)
    elements = _look(director, f"{orders.address}{LIST}")["elements"]
    of_order = [one for one in elements if one.get("row", "").startswith("Order 1 ")]
    selectors = [one["selector"] for one in of_order] + ['tr:has(:text-is("Order 1"))']
    assert [one["role"] for one in of_order] == ["link", "checkbox"]
    assert counts(site_browser, selectors) == [1, 1, 1]
    _do(director, "click", selectors[1])
    _do(director, "select", 'role=combobox[name="Action:"]', choices=["Delete selected orders"])
    _do(director, "click", 'role=button[name="Go"]')
    [sure] = [one["selector"] for one in _look(director)["elements"] if "sure" in one["name"]]
    _do(director, "click", sure)

    assert names_in(orders.folder, "shop_order") == ORDERS[1:]
    _look(director, f"{orders.address}{LIST}")
    assert counts(site_browser, selectors) == [0, 0, 0]


def test_what_gradio_answers_after_two_seconds_is_read_by_the_node_after_the_click(
    director: Director, applications: Applications
) -> None:
    read = ("extract", {"selector": 'role=textbox[name="Result"]', "variable": "result"})
    _build(
        director,
        applications.get("gradio"),
        ("navigate", {"url": "{{site}}/"}),
        ("select", {"selector": KIND, "choices": ["washer"]}),
        ("type", {"selector": 'role=textbox[name="Name"]', "text": "M8"}),
        ("click", {"selector": WEIGH}),
        read,
        ("type", {"selector": KIND, "text": "nut"}),
        ("click", {"selector": WEIGH}),
        read,
    )
    run = called(director, "run_workflow")
    assert run["status"] == "success", run
    variables = director.session.get_workflow_variables()

    assert variables["node5.result"] == "M8 is a washer"
    assert variables["node8.result"] == "M8 is a nut"


def test_a_choice_that_gradio_does_not_offer_leaves_the_one_it_had(
    director: Director, applications: Applications
) -> None:
    _look(director, applications.get("gradio").address)
    assert "has no such choice" in _do(director, "select", KIND, choices=["rivet"])
    _do(director, "select", KIND, choices=["nutmeg"])
    [kind] = [one for one in _look(director)["elements"] if one["name"] == "Kind"]

    assert kind["value"] == "nutmeg"
