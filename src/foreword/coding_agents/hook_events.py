"""An event of a coding agent, as its hook gets it on standard input: Claude Code's format, which
Codex, Gemini CLI and our plugin for opencode share.

Outside data: every field may be missing, of another kind, or hostile. What is read here is only its
shape; which files may be opened for it is decided by `trusted_files`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foreword.errors import BadSource

WHERE = "the input of the hook"
# Of an event: the result of a tool is in it, and those may have megabytes; what is larger is not
# read further, and its hook does nothing.
LARGEST_BYTES = 32 * 1024 * 1024
SESSION_START = "SessionStart"
PRE_COMPACT = "PreCompact"
POST_TOOL_USE = "PostToolUse"
BEFORE_AGENT = "BeforeAgent"  # Gemini CLI: the user has said something
PRE_COMPRESS = "PreCompress"  # Gemini CLI's name for PreCompact
SAME_EVENTS = {PRE_COMPRESS: PRE_COMPACT}
_TEXT_KEYS = {  # by the fields of HookEvent
    "name": "hook_event_name",
    "session": "session_id",
    "cwd": "cwd",
    "transcript": "transcript_path",
    "source": "source",
    "trigger": "trigger",
    "instructions": "custom_instructions",
    "tool": "tool_name",
    "agent": "agent",
    "summary": "summary",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """What happened, as far as we use it; a text that is not there is empty."""

    name: str
    session: str = ""
    cwd: str = ""
    transcript: str = ""
    source: str = ""  # why a session starts: startup, resume, clear, compact
    trigger: str = ""  # who wants a compaction: manual, auto
    instructions: str = ""  # what the user said should be kept
    tool: str = ""
    agent: str = ""  # which it is, where it says so
    summary: str = ""  # what the agent wrote of its conversation, where it gives that and no file
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    tool_response: Any = None
    # the conversation itself, where the agent gives that and no file
    document: Mapping[str, Any] = field(default_factory=dict)


def read_event(raw: bytes) -> HookEvent:
    """The event in the input of a hook, or `BadSource`."""
    return event_of(read_object(raw))


def event_of(data: Mapping[str, Any]) -> HookEvent:
    """The event that an object tells of."""
    texts = {"name": ""}
    for field_name, key in _TEXT_KEYS.items():
        value = data.get(key)
        if isinstance(value, str):
            texts[field_name] = value
    tool_input = data.get("tool_input")
    document = data.get("transcript")
    texts["name"] = SAME_EVENTS.get(texts["name"], texts["name"])
    return HookEvent(
        **texts,
        tool_input=tool_input if isinstance(tool_input, dict) else {},
        document=document if isinstance(document, dict) else {},
        tool_response=data.get("tool_response"),
    )


def read_object(raw: bytes) -> dict[str, Any]:
    """The JSON object in an input, or `BadSource`."""
    if len(raw) > LARGEST_BYTES:
        raise BadSource(WHERE, f"larger than {LARGEST_BYTES // 1024**2} MiB")
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise BadSource(WHERE, f"not JSON: {type(error).__name__}") from None
    if not isinstance(data, dict):
        raise BadSource(WHERE, "not a JSON object")
    return data
