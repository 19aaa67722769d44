"""A conversation as remarks in order of time: who said it, and what.

Messages fall into the user's words, the assistant's, short arguments of calls, long ones (what was
written into files) and results. A remark is never longer than its cap, so one giant message costs
no more than a large one. What the remarks are worth is the business of `names` and `facts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from foreword.message import NOT_HISTORY, Message, Text, ToolCall, ToolResult

Voice = Literal["user", "said", "call", "edit", "result", "before"]

LONGEST_REMARK = 40_000
LONGEST_SUMMARY = 400_000
LONGEST_ARGUMENT = 300
MOST_ARGUMENTS = 200
TASK = "task "  # opens the key of a task in a list of tasks; its status follows

_OPENING_SHARE = 0.6
_MACHINE = re.compile(r"\s*<[a-z][\w-]*>|\s*\[Request interrupted")
_SUBJECT = re.compile(r"path|file|url|selector|command|cmd", re.IGNORECASE)
_SUMMARY = "summary"
_PRINTED = ("execution_result", "debug_action")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing said: the place of its message, whose voice it is, and what it is about where a
    call names it."""

    at: int
    voice: Voice
    text: str
    subject: str = ""  # the path, address or command of the call it belongs to
    key: str = ""  # the argument's name
    failed: bool = False


def remarks(messages: Sequence[Message]) -> list[Remark]:
    """Everything said in the conversation, oldest first; standing instructions, images and
    thinking are not remarks."""
    found: list[Remark] = []
    subjects: dict[str, str] = {}
    for at, message in enumerate(messages):
        if message.role == "system" or message.kind == _SUMMARY or message.kind in NOT_HISTORY:
            continue
        role = "tool" if message.kind in _PRINTED else message.role
        for part in message.parts:
            found += _of_part(at, role, part, subjects)
    return found


def summaries(messages: Iterable[Message]) -> list[str]:
    """The texts of messages that are themselves marked as summaries of what went before."""
    marked = [message for message in messages if message.kind == _SUMMARY]
    return [part.text for message in marked for part in message.parts if isinstance(part, Text)]


def cap_text(text: str, longest: int = LONGEST_REMARK) -> str:
    """The text, or its opening and its end where it is too long to read whole."""
    if len(text) <= longest:
        return text
    opening = int(longest * _OPENING_SHARE)
    return text[:opening] + "\n" + text[opening - longest :]


def _of_part(at: int, role: str, part: object, subjects: dict[str, str]) -> Iterator[Remark]:
    if isinstance(part, Text):
        yield Remark(at=at, voice=_voice(role, part.text), text=cap_text(part.text))
    elif isinstance(part, ToolResult):
        yield Remark(
            at=at,
            voice="result",
            text=cap_text(part.text),
            subject=subjects.get(part.id, ""),
            failed=part.failed,
        )
    elif isinstance(part, ToolCall):
        given = list(_arguments(part.arguments))
        subject = subjects[part.id] = _subject(given)
        for key, value in given:
            long = len(value) > LONGEST_ARGUMENT or "\n" in value
            yield Remark(
                at=at,
                voice="edit" if long else "call",
                text=cap_text(value),
                subject=subject,
                key=key,
            )


def _voice(role: str, text: str) -> Voice:
    """Whose words a text is; what a program put into the user's mouth is a result."""
    if role == "assistant":
        return "said"
    return "result" if role == "tool" or _MACHINE.match(text) else "user"


def _arguments(arguments: str) -> Iterator[tuple[str, str]]:
    """The values in a call's arguments with their keys; what is no JSON, or too much of it, is
    one value."""
    try:
        value = json.loads(arguments) if len(arguments) < 25 * LONGEST_REMARK else arguments
    except (ValueError, RecursionError):
        value = arguments
    waiting: list[tuple[str, object]] = [("", value)]
    given = 0
    while waiting and given < MOST_ARGUMENTS:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed([(_task(value, str(name)), inner) for name, inner in value.items()])
        elif isinstance(value, list):
            waiting += [(key, inner) for inner in reversed(value[:MOST_ARGUMENTS])]
        elif value is not None and not isinstance(value, bool) and str(value).strip():
            given += 1
            yield key, str(value)


def _task(value: dict[object, object], name: str) -> str:
    """The key of a value, with the status of the task where it is one of a list of tasks."""
    status = value.get("status")
    telling = name in ("content", "description", "task", "title", "step")
    return f"{TASK}{status}" if telling and isinstance(status, str) else name


def _subject(given: Sequence[tuple[str, str]]) -> str:
    named = [
        value for key, value in given if _SUBJECT.search(key) and len(value) <= LONGEST_ARGUMENT
    ]
    return named[0].strip().partition("\n")[0] if named else ""
