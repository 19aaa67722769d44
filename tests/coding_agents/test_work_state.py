"""Where the work of a conversation stands, as a checkpoint keeps it."""

from __future__ import annotations

from foreword.coding_agents.work_state import work_state
from foreword.messages.message import Message
from foreword.messages.parts import Text
from foreword.tokens import counter


def test_what_is_open_is_read_sentence_by_sentence() -> None:
    words = "The offset is right. We decided to keep UTC. Next I will run the tests. Commit?"
    messages = [Message("user", (Text("Fix it."),)), Message("assistant", (Text(words),))]
    state = work_state(messages, 1_000, counter())
    assert set(state["open"]) == {"Next I will run the tests.", "Commit?"}
    assert state["decisions"] == ["We decided to keep UTC."]
    assert state["findings"] == ["The offset is right."]
