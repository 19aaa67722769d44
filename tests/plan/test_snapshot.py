"""A workflow as it stands: nodes in order, no results, no secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foreword.errors import BadNode
from foreword.plan.snapshot import as_json, node_json, read_node, snapshot
from tests.corpus import rows


def node(**fields: Any) -> dict[str, Any]:
    return {"id": "node_1", "position": 1, "type": "browser_action", **fields}


def test_a_node_keeps_its_own_fields_in_one_order_and_its_id_is_text() -> None:
    read = read_node(
        {
            "type": "t",
            "retries": 2,
            "status": "success",
            "id": 7,
            "position": 1,
            "config": {"b": 1, "a": 2},
        }
    )
    assert json.dumps(read) == json.dumps(
        {
            "id": "7",
            "position": 1,
            "type": "t",
            "config": {"b": 1, "a": 2},
            "status": "success",
            "retries": 2,
        }
    )


@pytest.mark.parametrize("name", rows("nodes/results.jsonl"))
def test_execution_results_are_no_part_of_a_node(name: str) -> None:
    assert read_node(node(**{name: {"big": "data"}})) == node(config={})
    assert read_node(node(config={name: "inbox"}))["config"] == {name: "inbox"}


def test_all_problems_of_a_node_come_at_once() -> None:
    with pytest.raises(BadNode) as caught:
        read_node({"id": "", "position": "1", "config": [], "relationships": 3, "status": 200})
    assert caught.value.problems == (
        "id: must not be empty",
        "position: must be a whole number, not '1'",
        "type: missing",
        "config: must be a mapping, not a list",
        "relationships: must be a list or a mapping, not 3",
        "status: must be text, not 200",
    )


def test_a_snapshot_tells_which_nodes_are_wrong() -> None:
    with pytest.raises(BadNode) as caught:
        snapshot({"id": "w"}, [node(), node(position=None), 3])  # type: ignore[list-item]
    assert caught.value.problems == (
        "nodes[1].position: must be a whole number, not null",
        "nodes[2]: must be a mapping, not 3",
    )


def test_nodes_stand_by_position_then_id_below_the_workflow() -> None:
    taken = snapshot(
        {
            "team": "x",
            "updated_at": "2",
            "name": "Sync",
            "id": "w",
            "created_at": "1",
            "nodes": [],
            "last_run": {},
        },
        [node(id="c", position=2), node(id="b", position=1), node(id="a", position=2)],
    )
    assert list(taken["workflow"]) == ["id", "name", "created_at", "updated_at", "team"]
    assert [one["id"] for one in taken["nodes"]] == ["b", "a", "c"]
    written = as_json(taken["workflow"], list(map(node_json, taken["nodes"])))
    assert written == json.dumps(taken, indent=1, ensure_ascii=False)
    empty = json.dumps({**taken, "nodes": []}, indent=1, ensure_ascii=False)
    assert as_json(taken["workflow"], []) == empty


def test_secrets_in_a_configuration_are_hidden_and_stay_in_the_node() -> None:
    typed = {"action": "type", "selector": "input[type=password]", "text": "hunter2hunter2"}
    configured = node(
        config={"headers": {"Authorization": "Bearer abcdef"}, "steps": [typed], "timeout": 5}
    )
    shown = snapshot({}, [configured])["nodes"][0]["config"]
    assert shown == {
        "headers": {"Authorization": "[hidden]"},
        "steps": [{**typed, "text": "[hidden]"}],
        "timeout": 5,
    }
    assert read_node(configured)["config"]["steps"] == [typed]


def test_a_reference_to_a_variable_is_shown() -> None:
    config = {"selector": "#password", "text": "{{gmail_creds.password}}"}
    assert snapshot({}, [node(config=config)])["nodes"][0]["config"] == config
