"""Nodes are created, changed, moved and deleted, all or nothing, and the snapshot shows them as
they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from foreword.director import node_tools
from foreword.errors import BadNode, ForewordError, UnknownName
from foreword.session.workflow_state import WorkflowState
from tests.store.databases import KINDS, new_url

PASSWORD = "correct-horse-battery"


@pytest.fixture(params=KINDS)
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[WorkflowState]:
    with WorkflowState.open(new_url(request.param, tmp_path), "letters", root=tmp_path) as opened:
        yield opened


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[WorkflowState]:
    with WorkflowState.open(None, "letters", root=tmp_path) as opened:
        yield opened


def click(state: WorkflowState, **place: Any) -> str:
    return str(node_tools.create_node(state, "click", {"selector": "#go"}, **place)["id"])


def order(state: WorkflowState) -> list[str]:
    return [node["id"] for node in state.snapshot()["nodes"]]


def test_nodes_have_numbers_that_are_never_used_again_and_positions_that_are(
    state: WorkflowState,
) -> None:
    assert [click(state) for _ in range(3)] == ["node1", "node2", "node3"]
    node_tools.delete_node(state, "node3")
    state.drop_node("node2")
    assert click(state, after="start") == "node4"
    shown = state.snapshot()["nodes"]
    assert [(node["id"], node["position"]) for node in shown] == [("node4", 1), ("node1", 2)]
    state.put_node({"id": "node_9", "position": 9, "type": "code"})
    state.set_variable("node12.rows", [], "left over")
    assert click(state) == "node13"


def test_loops_and_conditions_hold_nodes(state: WorkflowState) -> None:
    create = node_tools.create_node
    create(state, "loop", {"over": "{{rows}}", "as": "row"}, "Each row")
    create(
        state,
        "condition",
        {"left": "{{row.kind}}", "operator": "equals", "right": "money"},
        parent="node1",
    )
    click(state, parent="node2")
    click(state, parent="node2", branch="else")
    assert click(state, after="node3") == "node5"
    shown = {node["id"]: node for node in state.snapshot()["nodes"]}
    assert list(shown) == ["node1", "node2", "node3", "node5", "node4"]
    assert [(n.get("parent"), n.get("branch")) for n in shown.values()] == [
        (None, None),
        ("node1", None),
        ("node2", None),
        ("node2", None),
        ("node2", "else"),
    ]
    assert node_tools.move_node(state, "node2", parent="top")["position"] == 2
    assert node_tools.delete_node(state, "node2")["deleted"] == ["node2", "node3", "node5", "node4"]
    assert order(state) == ["node1"]


def test_a_change_touches_only_the_fields_that_were_given(state: WorkflowState) -> None:
    node_tools.create_node(
        state, "type", {"selector": "#password", "text": PASSWORD, "tab": "Main Tab"}, "Sign in"
    )
    node_tools.set_status(state, "node1", "failed")
    changed = node_tools.update_node(
        state, "node1", config={"selector": "#user-password", "tab": None}
    )
    assert changed["config"] == {"selector": "#user-password", "text": "[hidden]"}
    assert "status" not in changed
    assert node_tools.read_tree(state).get("node1")["config"] == {
        "selector": "#user-password",
        "text": PASSWORD,
    }
    node_tools.set_status(state, "node1", "success")
    assert node_tools.update_node(state, "node1", description="Type it")["status"] == "success"
    other = node_tools.update_node(state, "1", type="click", config={"selector": "#go"})
    assert (other["type"], other["config"], other["description"]) == (
        "click",
        {"selector": "#go"},
        "Type it",
    )


REFUSED: list[Callable[[WorkflowState], object]] = [
    lambda state: node_tools.create_node(state, "click", {"selektor": "#go"}),
    lambda state: node_tools.create_node(state, "click", {"selector": "#go"}, after="node7"),
    lambda state: node_tools.create_node(state, "click", {"selector": "#go"}, parent="node2"),
    lambda state: node_tools.create_node(state, "click", {"selector": "#go"}, branch="else"),
    lambda state: node_tools.create_node(state, "click", {"selector": "#go"}, 5),  # type: ignore[arg-type]
    lambda state: node_tools.update_node(state, "node2", config={"selector": ""}),
    lambda state: node_tools.update_node(state, "node2", config=[]),
    lambda state: node_tools.update_node(state, "node2", position=1),
    lambda state: node_tools.update_node(state, "node2"),
    lambda state: node_tools.update_node(state, "node1", type="click", config={"selector": "#go"}),
    lambda state: node_tools.update_node(state, "node2", config={"selector": "[hidden]"}),
    lambda state: node_tools.delete_node(state, "node7"),
    lambda state: node_tools.move_node(state, "node2"),
    lambda state: node_tools.move_node(state, "node1", parent="node1"),
    lambda state: node_tools.move_node(state, "node1", after="node3"),
]


@pytest.mark.parametrize("change", REFUSED)
def test_what_can_not_be_done_is_one_error_and_changes_nothing(
    change: Callable[[WorkflowState], object], lite: WorkflowState
) -> None:
    node_tools.create_node(lite, "loop", {"over": [1], "as": "n"})
    click(lite)
    click(lite, parent="node1")
    before = lite.snapshot()
    with pytest.raises(ForewordError):
        change(lite)
    assert lite.snapshot() == before
    assert click(lite) == "node4"  # not even a number is lost


def test_nodes_of_other_types_are_shown_moved_and_counted_but_not_changed(
    lite: WorkflowState,
) -> None:
    theirs = {
        "id": "node_123",
        "position": 4,
        "type": "browser_action",
        "config": {"action": "go"},
        "parent": "group",
    }
    lite.put_node(theirs)
    click(lite, after="start")
    assert order(lite) == ["node124", "node_123"]
    node_tools.move_node(lite, "node_123", after="start")
    kept = {node["id"]: node for node in lite.snapshot()["nodes"]}["node_123"]
    assert {**kept, "position": 4} == {**theirs, "parent": "group"}
    with pytest.raises(BadNode, match="node_123: type: 'browser_action' is not one of"):
        node_tools.update_node(lite, "node_123", description="x")


def test_templates_that_will_lead_nowhere_are_warned_of(lite: WorkflowState) -> None:
    create = node_tools.create_node
    create(lite, "extract", {"selector": "td", "variable": "rows", "many": True})
    create(lite, "loop", {"over": "{{node1.rows}}", "as": "node9"})
    inside = create(lite, "click", {"selector": "{{node9.x}} {{node4.y}}"}, parent="node2")
    assert inside["warnings"] == ["{{node4.y}}: there is no node4"]
    early = create(lite, "click", {"selector": "{{node1.rows[0]}}"}, after="start")
    assert early["warnings"] == ["{{node1.rows[0]}}: node1 comes later"]
    lite.set_variable("node1.rows", [1], "test")
    assert node_tools.delete_node(lite, "node1")["warnings"] == [
        "node4 uses {{node1.rows[0]}}",
        "node2 uses {{node1.rows}}",
        "still set: node1.rows; clear_variable removes them",
    ]


def test_many_writers_at_once_lose_no_node_and_share_no_number(state: WorkflowState) -> None:
    def ten(_: int) -> list[str]:
        with WorkflowState.open(state.url, "letters", root=state.root) as own:
            return [click(own) for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        made = list[str]()
        for names in pool.map(ten, range(4)):
            made += names
    assert sorted(made) == sorted(f"node{number}" for number in range(1, 41))
    assert [node["position"] for node in state.snapshot()["nodes"]] == list(range(1, 41))


def test_a_node_nobody_knows_is_an_error_with_those_there_are(lite: WorkflowState) -> None:
    click(lite)
    with pytest.raises(UnknownName) as caught:
        node_tools.delete_node(lite, "nod1")
    assert caught.value.message == "unknown node 'nod1', did you mean 'node1'?"
