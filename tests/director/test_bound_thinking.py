"""On the wire of a provider that binds thinking to its prefix: no request of a director is refused,
and no thinking is lost while its state changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider, prefix_breaks
from foreword.testing.prefix_checks import request_parts
from tests.director.scenes import open_director

ANSWERS = 6


def script() -> Any:
    """A thought and a change of the state in each answer but the last."""
    made = 0

    def reply(body: Mapping[str, Any]) -> Reply:
        nonlocal made
        made += 1
        if made == ANSWERS:
            return Reply("It is done.", thinking="That was all.")
        given = {"name": "page", "value": made, "reason": "seen"}
        words = f"I think about page {made}."
        return Reply(tool_calls=[ToolCall("set_variable", given)], thinking=words)

    return reply


def claude(provider: FakeProvider) -> str:
    return provider.anthropic.replace("fake", "claude-opus-5-5")


def thoughts(body: Mapping[str, Any]) -> int:
    return sum(part.signature is not None for part in request_parts(body))


@pytest.mark.parametrize("recipe", [None, "workflow"])
def test_no_request_is_refused_while_the_state_changes(tmp_path: Path, recipe: str | None) -> None:
    with (
        fake_provider(script()) as provider,
        open_director(tmp_path, claude(provider), recipe=recipe) as director,
    ):
        turn = director.say("Count the pages.")
        assert (turn.text, turn.requests) == ("It is done.", ANSWERS)
        assert len(provider.requests) == ANSWERS
        assert not any(found.thinking for found in prefix_breaks(provider.requests))
        rebuilt = "block_binding" in str(provider.requests[-1].get("thinking"))
        assert rebuilt == (recipe == "workflow")
        kept = 0 if recipe else ANSWERS - 1
        assert thoughts(provider.requests[-1]) == kept
