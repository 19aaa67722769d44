"""Nodes that can be run: their types, what each is configured with, and every problem at once."""

from __future__ import annotations

from typing import Any

import pytest

from foreword.errors import BadNode, UsageError
from foreword.plan.condition_operators import OPERATORS, holds
from foreword.plan.node import TYPES, problems, validate_filled, validate_node
from foreword.plan.value_schema import fit_value

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("navigate", {"url": "http://127.0.0.1/"}),
    ("click", {"selector": "#go", "tab": "Main Tab"}),
    ("type", {"selector": "#name", "text": ""}),
    ("wait", {"selector": "#there"}),
    ("wait", {"seconds": 0.5}),
    ("wait", {"seconds": "{{pause}}"}),
    ("press", {"keys": "Control+a Enter", "dialog": "accept", "dialog_text": "{{name}}"}),
    ("extract", {"selector": "td", "variable": "rows"}),
    (
        "extract",
        {
            "selector": "tr",
            "variable": "rows",
            "many": True,
            "fields": {
                "subject": "td.subject",
                "link": {"selector": "a", "attribute": "href"},
                "id": {"attribute": "id"},
            },
            "schema": {
                "type": "object",
                "properties": {"subject": {"type": "string"}},
                "required": ["subject"],
            },
        },
    ),
    ("condition", {"left": "{{n}}", "operator": "empty"}),
    ("condition", {"left": None, "operator": "equals", "right": None}),
    ("loop", {"over": "{{node7.rows}}", "as": "row", "most": 3}),
    ("loop", {"over": [1, 2], "as": "número"}),
    ("loop", {"next": "text=Next", "most": 9}),
    ("loop", {"while": {"left": "{{n}}", "operator": "less", "right": 3}, "as": "turn"}),
    ("loop", {"until": {"absent": "#more"}}),
    ("condition", {"present": "#dialog"}),
    ("break", {}),
    ("set_variable", {"variable": "page", "value": None}),
    ("set_variable", {"variable": "pages", "value": "{{page}}", "append": True}),
    ("select", {"selector": "#colours", "choices": ["Red", "{{colour}}"]}),
    ("select", {"selector": "#colours", "choices": "{{colours}}"}),
    ("hover", {"selector": "#menu", "timeout": 3.5}),
    ("drag", {"selector": "#box", "to": "#shelf", "retries": 2}),
    ("scroll", {"to": "end"}),
    ("upload", {"selector": "#file", "files": ["a.txt"]}),
    ("download", {"selector": "#report", "variable": "file", "on_failure": "go_on"}),
    ("screenshot", {"whole": True}),
    ("back", {}),
    ("reload", {"tab": "Main Tab"}),
    ("http_login", {"url": "http://a/", "username": "ada", "password": "{{creds.password}}"}),
]


@pytest.mark.parametrize(("kind", "config"), GOOD)
def test_a_node_of_each_type_is_taken_as_it_is(kind: str, config: dict[str, Any]) -> None:
    assert validate_node(kind, config) == config


def test_every_type_is_among_them() -> None:
    assert {kind for kind, _ in GOOD} == set(TYPES)


@pytest.mark.parametrize(
    ("kind", "config", "expected"),
    [
        ("clik", {}, [f"type: 'clik' is not one of {', '.join(TYPES)}, did you mean 'click'?"]),
        (
            "click",
            {"selectr": "#go"},
            [
                "config.selector: missing, is it 'selectr'?",
                "config.selectr: unknown name, did you mean 'selector'?",
            ],
        ),
        (
            "navigate",
            {"url": "", "tab": 3},
            ["config.tab: must be text, not 3", "config.url: must not be empty"],
        ),
        ("navigate", "x", ["config: must be a mapping, not 'x'"]),
        ("type", {"selector": "#a", "text": None}, ["config.text: must be text, not null"]),
        (
            "wait",
            {},
            ["config: must have exactly one of selector, gone, text, url, quiet, seconds"],
        ),
        (
            "wait",
            {"url": "/x", "seconds": 700},
            [
                "config.seconds: must be at most 600, not 700",
                "config: must have exactly one of selector, gone, text, url, quiet, seconds",
            ],
        ),
        (
            "extract",
            {"selector": "a", "variable": "a[0]"},
            [
                "config.variable: must be a name of up to 180 characters without brackets or"
                " quotes, not 'a[0]'"
            ],
        ),
        (
            "extract",
            {"selector": "a", "variable": "v", "fields": {}},
            ["config.fields: must not be empty"],
        ),
        (
            "extract",
            {"selector": "a", "variable": "v", "fields": {"x": {"selektor": "b"}, "y": 2}},
            [
                "config.fields.x.selektor: unknown name, did you mean 'selector'?",
                (
                    "config.fields.y: must be a selector, or a mapping with selector and attribute,"
                    " not 2"
                ),
            ],
        ),
        (
            "extract",
            {
                "selector": "a",
                "variable": "v",
                "schema": {"typ": "string", "items": {"type": "str"}},
            },
            [
                (
                    "config.schema.items.type: 'str' is not one of string, number, integer,"
                    " boolean, array, object, null"
                ),
                "config.schema.typ: unknown name, did you mean 'type'?",
            ],
        ),
        (
            "condition",
            {"left": 1, "operator": "equals"},
            ["config.right: missing, equals compares with it"],
        ),
        (
            "condition",
            {"left": 1, "operator": "empty", "right": 1},
            ["config.right: empty looks at the left side alone"],
        ),
        (
            "loop",
            {"over": "rows", "as": "a row", "most": 0},
            [
                "config.over: must be a list or a template that is one, not 'rows'",
                "config.as: must be one word of letters, digits and _, not 'a row'",
                "config.most: must be at least 1, not 0",
            ],
        ),
        (
            "click",
            {"selector": "{{a..b}}"},
            ["config.selector: {{a..b}} can't be read, for example {{node7.emails[0].subject}}"],
        ),
        (
            "type",
            {"selector": "#p", "text": "[hidden]"},
            [
                "config.text: [hidden] stands for something that is not shown; leave the field away"
                " to keep what it has"
            ],
        ),
    ],
)
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


@pytest.mark.parametrize(
    ("left", "operator", "right", "outcome"),
    [
        ("a", "equals", "a", True),
        (3, "equals", "3", True),
        ("3.0", "equals", 3, True),
        (True, "equals", "true", True),
        (1, "equals", True, False),
        (None, "equals", "", True),
        ("a", "not_equals", "b", True),
        ("a rope", "contains", "rope", True),
        ([1, 2], "contains", "2", True),
        ({"k": 1}, "contains", "k", True),
        ({"k": 1}, "contains", ["k"], False),
        ([1, 2], "not_contains", 3, True),
        ("15 ", "greater", 3, True),
        ("2", "less", "10", True),
        (3, "at_least", 3, True),
        (3, "at_most", 2, False),
        ("  ", "empty", None, True),
        ([], "empty", None, True),
        (0, "empty", None, False),
        ("x", "not_empty", None, True),
    ],
)
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
