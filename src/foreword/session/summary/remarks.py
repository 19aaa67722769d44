"""A conversation as remarks in order of time: who said it, and what.

Messages fall into the user's words, the assistant's, short arguments of calls, long ones (what was
written into files) and results. A remark is never longer than its cap, so one giant message costs
no more than a large one. What the remarks are worth is the business of `name_weights` and `facts`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from foreword.message import NOT_HISTORY, Message, Text, ToolCall, ToolResult, texts_in
from foreword.pattern import lazy_pattern

Voice = Literal["user", "said", "call", "edit", "result", "before"]

# Characters: of what is longer, the opening and the end are read. Bounds the work on one giant
# result; both ends are where a tool says what it did and how it ended.
LONGEST_REMARK = 40_000
LONGEST_SUMMARY = 400_000  # of earlier summaries, which are worth more than any one message
LONGEST_ARGUMENT = 300  # a longer argument of a call is taken for text that was written to a file
MOST_ARGUMENTS = 200  # of one call: a bound on work, no call of an agent has so many
LONGEST_JSON = 25 * LONGEST_REMARK  # arguments beyond this are not parsed, but read as one text
TASK = "task "  # opens the key of a task in a list of tasks; its status follows

_OPENING_SHARE = 0.6  # of a text that is cut; the rest is its end
_MACHINE = lazy_pattern(r"\s*<[a-z][\w-]*>|\s*\[Request interrupted")
_SUBJECT = lazy_pattern(r"path|file|url|selector|command|cmd", re.IGNORECASE)
_SUMMARY = "summary"
_CONTINUED = lazy_pattern(r"\s*This session is being continued from a previous conversation")
_WRITTEN_CALL = lazy_pattern(r"\s*\[(?:tool[_ ](?:call|use)|calls?)[: ]\s*[\w.:/-]{1,80}\]")
_WRITTEN_KEY = lazy_pattern(r"(-?[A-Za-z][A-Za-z_]{0,30}): ?")
# arguments that begin behind one of many lines
_LONG_KEYS = ("old_string", "new_string", "content", "prompt", "description", "replace_all")
_PROGRAM_KINDS = ("execution_result", "debug_action")  # said by a program, whatever the role
_TASK_KEYS = ("content", "description", "task", "title", "step")  # hold the words of a task


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
    """Everything said in the conversation, oldest first; the system prompt, images and thinking
    are not remarks."""
    found: list[Remark] = []
    subjects: dict[str, str] = {}
    waiting = list[str]()  # subjects of calls written out as text that have no result yet
    for at, message in enumerate(messages):
        if is_summary(message) or message.kind in NOT_HISTORY:
            continue
        role = "tool" if message.kind in _PROGRAM_KINDS else message.role
        written = _written_call(message) if role == "assistant" else None
        if written is not None:
            arguments = list(_written_arguments(written))
            waiting.append(_subject(arguments))
            found += _call_remarks(arguments, at)
            continue
        subject = ""
        if waiting and role in ("user", "tool"):
            subject = waiting.pop(0)
            role = "tool"
        elif role == "assistant":
            waiting = []
        for part in message.parts:
            found += _part_remarks(part, at=at, role=role, subjects=subjects, subject=subject)
    return found


def summaries(messages: Iterable[Message]) -> list[str]:
    """The texts of messages that are themselves marked as summaries of what went before."""
    texts = list[str]()
    for message in messages:
        if is_summary(message):
            texts += texts_in(message)
    return texts


def is_summary(message: Message) -> bool:
    """Whether a message is a summary of what went before: by its kind, or by the words with which
    Claude Code hands one over in a conversation that was kept as plain text."""
    if message.kind == _SUMMARY:
        return True
    if message.role != "user" or message.kind != "conversation":
        return False
    return any(isinstance(part, Text) and _CONTINUED.match(part.text) for part in message.parts)


def cap_text(text: str, longest: int = LONGEST_REMARK) -> str:
    """The text, or its opening and its end where it is too long to read whole."""
    if len(text) <= longest:
        return text
    opening = int(longest * _OPENING_SHARE)
    return text[:opening] + "\n" + text[opening - longest :]


def _part_remarks(
    part: object, *, at: int, role: str, subjects: dict[str, str], subject: str
) -> Iterator[Remark]:
    """What one part of a message says; the subject of a call is added to `subjects`, by its id.
    `subject` is that of a call which the message answers."""
    if isinstance(part, Text):
        voice = _voice(role, part.text)
        yield Remark(at=at, voice=voice, text=cap_text(part.text), subject=subject)
    elif isinstance(part, ToolResult):
        yield Remark(
            at=at,
            voice="result",
            text=cap_text(part.text),
            subject=subjects.get(part.id, ""),
            failed=part.failed,
        )
    elif isinstance(part, ToolCall):
        arguments = list(_arguments(part.arguments))
        subjects[part.id] = _subject(arguments)
        yield from _call_remarks(arguments, at)


def _call_remarks(arguments: Sequence[tuple[str, str]], at: int) -> Iterator[Remark]:
    """What a call says: its short arguments, and the long ones as what was written with it."""
    subject = _subject(arguments)
    for key, value in arguments:
        is_long = len(value) > LONGEST_ARGUMENT or "\n" in value
        yield Remark(
            at=at,
            voice="edit" if is_long else "call",
            text=cap_text(value),
            subject=subject,
            key=key,
        )


def _written_call(message: Message) -> str | None:
    """What follows the name of the tool in a message that is a call written out as text, as in
    conversations that were kept without the calls' own form."""
    match message.parts:
        case (Text(text=text),):
            opening = _WRITTEN_CALL.match(text)
            return text[opening.end() :] if opening else None
    return None


def _written_arguments(text: str) -> Iterator[tuple[str, str]]:
    """The arguments of a call written out as text: `key: value`, a value may have many lines."""
    key = ""
    lines = list[str]()
    for line in text.split("\n"):
        begins = _WRITTEN_KEY.match(line)
        if begins and (len(lines) <= 1 or begins[1] in _LONG_KEYS):
            if "".join(lines).strip():
                yield key, "\n".join(lines).strip()
            key = begins[1]
            lines = [line[begins.end() :]]
        else:
            lines.append(line)
    if "".join(lines).strip():
        yield key, "\n".join(lines).strip()


def _voice(role: str, text: str) -> Voice:
    """Whose words a text is; what a program put into the user's mouth is a result."""
    if role == "assistant":
        return "said"
    return "result" if role == "tool" or _MACHINE.match(text) else "user"


def _arguments(arguments: str) -> Iterator[tuple[str, str]]:
    """The values in a call's arguments with their keys; what is no JSON, or too much of it, is
    one value."""
    try:
        value = json.loads(arguments) if len(arguments) < LONGEST_JSON else arguments
    except (ValueError, RecursionError):
        value = arguments
    waiting: list[tuple[str, object]] = [("", value)]
    count = 0
    while waiting and count < MOST_ARGUMENTS:
        key, value = waiting.pop()
        if isinstance(value, dict):
            inner = [(_key(value, str(name)), member) for name, member in value.items()]
            waiting += reversed(inner)
        elif isinstance(value, list):
            waiting += [(key, member) for member in reversed(value[:MOST_ARGUMENTS])]
        elif value is not None and not isinstance(value, bool) and str(value).strip():
            count += 1
            yield key, str(value)


def _key(value: dict[object, object], name: str) -> str:
    """The key of a value, with the status of the task where it is one of a list of tasks."""
    status = value.get("status")
    if name in _TASK_KEYS and isinstance(status, str):
        return f"{TASK}{status}"
    return name


def _subject(arguments: Sequence[tuple[str, str]]) -> str:
    """The path, address or command that a call is about."""
    for key, value in arguments:
        if _SUBJECT.search(key) and len(value) <= LONGEST_ARGUMENT:
            return value.strip().partition("\n")[0]
    return ""
