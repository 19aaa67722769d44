"""Nodes in words."""

from __future__ import annotations

from typing import Any

import pytest

from foreword.plan.condition_operators import OPERATORS as KNOWN
from foreword.plan.node import TYPES
from foreword.plan.node_sentences import LONGEST, OPERATORS, sentence


@pytest.mark.parametrize(
    ("kind", "config", "words"),
    [
        (
            "navigate",
            {"url": "https://a.example/", "tab": "Mail"},
            "Open https://a.example/ in the tab “Mail”",
        ),
        ("click", {"selector": "#go"}, "Click #go"),
        ("type", {"selector": "#name", "text": "Ada"}, "Type “Ada” into #name"),
        (
            "type",
            {"selector": "#password", "text": "open-sesame-9"},
            "Type “[hidden]” into #password",
        ),
        ("wait", {"seconds": 1}, "Wait 1 second"),
        ("wait", {"url": "**/done"}, "Wait until the address is **/done"),
        (
            "extract",
            {"selector": "tr", "variable": "rows", "many": True, "fields": {"a": "td", "b": "th"}},
            "Read a, b of every tr into node7.rows",
        ),
        ("condition", {"left": "{{item}}", "operator": "not_empty"}, "If {{item}} is not empty"),
        ("condition", {"left": 3, "operator": "at_least", "right": "x"}, "If 3 is at least “x”"),
        (
            "loop",
            {"over": "{{node2.rows}}", "as": "row", "most": 5},
            "For each row of {{node2.rows}}, 5 at most",
        ),
        ("set_variable", {"variable": "city", "value": ["Bergen"]}, 'Set city to ["Bergen"]'),
        ("browser_action", {"action": "click"}, "Browser action"),
        ("click", "not a mapping", "Click"),
        ("", {}, "Something"),
    ],
)
def test_every_node_is_a_sentence_without_secrets(kind: str, config: Any, words: str) -> None:
    assert sentence({"id": "node7", "type": kind, "config": config}) == words


def test_every_type_and_operator_has_words_and_long_ones_are_cut() -> None:
    assert set(OPERATORS) == set(KNOWN)
    for kind in TYPES:
        assert (
            sentence({"id": "node1", "type": kind, "config": {}})
            != kind.replace("_", " ").capitalize()
        )
    assert len(sentence({"type": "click", "config": {"selector": "x" * 9_000}})) <= LONGEST + len(
        "Click "
    )
