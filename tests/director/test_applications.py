"""A director on a single-page application: rows are noted with their nodes, and a run begins in a
fresh browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foreword.browser import Browser
from foreword.director import Director
from tests.browser.shop import Shop
from tests.browser.working import in_the_page
from tests.director.scenes import called, open_director


@pytest.fixture
def director(shared: Browser, tmp_path: Path) -> Iterator[Director]:
    with open_director(tmp_path, browser=shared) as opened:
        yield opened


def _create(director: Director, kind: str, **config: Any) -> dict[str, Any]:
    given = {"type": kind, "config": config, "description": kind}
    return called(director, "create_node", **given)


def test_a_node_that_clicks_in_a_row_notes_the_row_and_clicks_no_other(
    director: Director, store: Shop
) -> None:
    called(director, "debug_navigate", url=f"{store.url}/orders/table", reason="look")
    third = "role=button[name=Delete] >> nth=2"
    node = _create(director, "click", selector=third)
    assert node["config"] == {"selector": third, "row": "Order 3 open Delete"}
    store.orders.remove("Order 1")
    called(director, "debug_navigate", url=f"{store.url}/orders/table", reason="look")
    failed = called(director, "test_single_node", node=node["id"])

    assert failed["status"] == "failed"
    assert "said 'Order 3 open Delete' when the node was created" in failed["error"]
    assert store.deleted == []
    changed = called(
        director, "update_node", node=node["id"], config={"selector": third.replace("2", "1")}
    )
    assert changed["config"]["row"] == "Order 3 open Delete"
    assert called(director, "test_single_node", node=node["id"])["status"] == "success"
    assert store.deleted == ["Order 3"]


def test_a_selector_that_a_template_completes_names_its_row_itself(
    director: Director, store: Shop
) -> None:
    called(director, "debug_navigate", url=f"{store.url}/orders/table", reason="look")
    director.session.set_variable("order", "Order 3", "test")
    selector = 'tr:has(:text-is("{{order}}")) >> role=button[name=Delete]'
    node = _create(director, "click", selector=selector)

    assert node["config"] == {"selector": selector}


def test_a_run_begins_signed_out_in_a_fresh_tab_whatever_was_tested_before(
    director: Director, store: Shop
) -> None:
    _create(director, "navigate", url=f"{store.url}/login#/start")
    _create(director, "click", selector="#enter")
    for node in ("node1", "node2"):
        assert called(director, "test_single_node", node=node)["status"] == "success"
    first = called(director, "run_workflow")
    again = called(director, "run_workflow")

    assert (first["status"], again["status"]) == ("success", "success")


def test_the_last_run_goes_on_at_the_node_that_failed(director: Director, store: Shop) -> None:
    _create(director, "navigate", url=f"{store.url}/forms")
    _create(director, "click", selector="#script")
    failed = called(director, "run_workflow")
    assert failed["failed_at"] == "node2"
    assert "rejected with status 422" in failed["error"]
    called(director, "update_node", node="node2", config={"selector": "#moved"})
    done = called(director, "run_workflow", resume="last")

    assert (done["status"], done["run"]) == ("success", failed["run"])
    assert store.requests.count("/forms") == 1


def test_a_node_of_another_type_keeps_what_fits_of_its_config(
    director: Director, store: Shop
) -> None:
    _create(director, "click", selector="#part", timeout=5, double=True)
    typed = called(director, "update_node", node="node1", type="type", config={"text": "nut"})
    assert typed["config"] == {"selector": "#part", "timeout": 5, "text": "nut"}
    waiting = called(director, "update_node", node="node1", type="wait", config={"text": "nut"})
    assert waiting["config"] == {"timeout": 5, "text": "nut"}


def test_a_page_that_changes_while_a_node_is_built_notes_no_row(
    director: Director, shared: Browser, store: Shop
) -> None:
    called(director, "debug_navigate", url=f"{store.url}/orders/list", reason="look")
    in_the_page(shared, "document.querySelector('ul').remove()")

    assert "row" not in _create(director, "click", selector="li >> role=button")["config"]
