"""A tool that the user has called by hand, in the conversation: a call and its result.

Providers know calls of the assistant alone, so it is written as one, with a line that says whose it
was, under an id of our own by which everybody here tells it from a model's.
"""

from __future__ import annotations

from uuid import uuid4

from foreword.messages.message import Kind, Message
from foreword.messages.parts import Text, ToolCall, ToolResult

_WHOSE = "The user did this by hand:"
_ID = "by-hand-"
_ID_DIGITS = 12  # 48 bits: two calls of one conversation do not meet by chance


def call_messages(
    name: str, arguments: str, *, result: str, failed: bool, kind: Kind
) -> tuple[Message, Message]:
    """The two messages that tell of a call by hand; the arguments are JSON without secrets."""
    call_id = f"{_ID}{uuid4().hex[:_ID_DIGITS]}"
    call = Message("assistant", (Text(_WHOSE), ToolCall(call_id, name, arguments)), kind)
    return call, Message("tool", (ToolResult(call_id, result, failed),), kind)


def is_call_by_hand(call_id: str) -> bool:
    """Whether the call of that id was made by hand."""
    return call_id.startswith(_ID)


def is_by_hand(message: Message) -> bool:
    """Whether a message is part of what tells of a call by hand."""
    return any(is_call_by_hand(call_id) for call_id in (*message.calls, *message.results))
