"""Nodes in words."""

from __future__ import annotations

from typing import Any

import pytest

from foreword.plan.condition_operators import OPERATORS as KNOWN
from foreword.plan.node import TYPES
from foreword.plan.node_sentences import LONGEST, OPERATORS, sentence
from tests.corpus import rows


@pytest.mark.parametrize(("kind", "config", "words"), rows("nodes/sentences.jsonl"))
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
