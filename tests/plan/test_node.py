"""Nodes that can be run: their types, what each is configured with, and every problem at once."""

from __future__ import annotations

from typing import Any

import pytest

from foreword.errors import BadNode, UsageError
from foreword.plan.condition_operators import OPERATORS, holds
from foreword.plan.node import TYPES, problems, validate_filled, validate_node
from foreword.plan.value_schema import fit_value
from tests.corpus import rows

GOOD: list[tuple[str, dict[str, Any]]] = rows("nodes/good.jsonl")


@pytest.mark.parametrize(("kind", "config"), GOOD)
def test_a_node_of_each_type_is_taken_as_it_is(kind: str, config: dict[str, Any]) -> None:
    assert validate_node(kind, config) == (kind, config)


def test_every_type_is_among_them() -> None:
    assert {kind for kind, _ in GOOD} == set(TYPES)


@pytest.mark.parametrize(("kind", "config", "expected"), rows("nodes/problems.jsonl"))
def test_problems_are_told_all_at_once_with_their_paths(
    kind: str, config: Any, expected: list[str]
) -> None:
    assert list(problems(kind, config)) == expected
    with pytest.raises(BadNode) as caught:
        validate_node(kind, config)
    assert list(caught.value.problems) == expected


def test_a_configuration_without_end_is_refused() -> None:
    config: dict[str, Any] = {"variable": "x"}
    config["value"] = config
    assert "nested more than 100 deep" in list(problems("set_variable", config))


def test_a_number_from_a_template_is_typed_as_text_and_a_list_is_refused() -> None:
    assert validate_filled("type", {"selector": "#n", "text": 12.5})["text"] == "12.5"
    with pytest.raises(BadNode, match=r"config.text: must be text, not a list"):
        validate_filled("type", {"selector": "#n", "text": [1]})
    with pytest.raises(BadNode, match=r"config.over: must be a list"):
        validate_filled("loop", {"over": {"a": 1}, "as": "x"})


@pytest.mark.parametrize(("left", "operator", "right", "outcome"), rows("nodes/conditions.jsonl"))
def test_a_condition_holds_as_a_person_would_say(
    left: Any, operator: str, right: Any, outcome: bool
) -> None:
    assert operator in OPERATORS
    assert holds(left, operator, right) is outcome


def test_what_can_not_be_compared_is_said() -> None:
    with pytest.raises(UsageError, match=r"'abc' and 3 can't be compared by greater"):
        holds("abc", "greater", 3)
    with pytest.raises(UsageError, match=r"3 can't contain anything"):
        holds(3, "contains", 3)


ROW = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "price": {"type": "number"},
        "left": {"type": "integer"},
        "new": {"type": "boolean"},
        "note": {"type": ["integer", "null"]},
    },
    "required": ["name", "price"],
    "additionalProperties": False,
}


def test_texts_become_the_numbers_that_a_schema_wants() -> None:
    row = {"name": "7", "price": " 12.50 ", "left": "3", "new": "True", "note": ""}
    assert fit_value(row, ROW, "row") == (
        {"name": "7", "price": 12.5, "left": 3, "new": True, "note": None},
        [],
    )


def test_what_does_not_fit_a_schema_is_told_with_its_path() -> None:
    rows = [{"name": "", "price": "1,234"}, {"name": "b", "colour": "red"}, "text"]
    _, expected = fit_value(rows, {"type": "array", "items": ROW, "minItems": 4}, "rows")
    assert expected == [
        "rows: must have at least 4 elements, not 3",
        "rows[0].name: must have at least 1 characters, not 0",
        "rows[0].price: must be a number, not '1,234'",
        "rows[1].price: missing",
        "rows[1].colour: is not in the schema",
        "rows[2]: must be a mapping, not 'text'",
    ]
    assert fit_value("nan", {"type": "number"}, "n")[1] == ["n: must be a number, not 'nan'"]
    assert fit_value("red", {"enum": ["blue", "green"]}, "c")[1] == [
        "c: 'red' is not one of 'blue', 'green'"
    ]
    assert fit_value(7, {"type": "integer", "maximum": 5}, "n")[1] == [
        "n: must be at most 5, not 7"
    ]
