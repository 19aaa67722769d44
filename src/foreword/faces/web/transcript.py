"""A conversation as people read it: who said what, and each call of a tool with its result.
Secrets are hidden."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foreword.director.turn_lock import BY_HAND
from foreword.message import Image, Message, Opaque, Text, ToolCall, ToolResult
from foreword.operations.conversations import StoredMessage, messages_before
from foreword.secrets.known_values import KnownValues
from foreword.session.session import Session
from foreword.store.database import LARGEST_NUMBER

SHOWN = 40  # messages on a page, and those results that belong to its first one
MOST_RESULTS = 60  # that a page is longer for the sake of a call
LONGEST_TEXT, LONGEST_BRIEF = 6_000, 110  # characters
WHO = {"user": "You", "assistant": "Director", "tool": "Result", "system": "System"}


@dataclass(slots=True, kw_only=True)
class ToolUse:
    """A tool that was called, and what it answered."""

    key: str
    name: str
    brief: str
    arguments: str
    state: str  # ok, failed, open
    result: str = ""


@dataclass(slots=True, kw_only=True)
class TranscriptMessage:
    """One message, with the calls that it makes."""

    seq: int
    role: str
    who: str
    text: str
    created: str
    is_cut: bool = False  # there is more of the text
    calls: list[ToolUse] = field(default_factory=list)
    hand: ToolUse | None = None  # a tool that was called by hand


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """A page of a conversation."""

    said: list[TranscriptMessage]
    older: int  # the page before ends in front of this message; 0 where there is none


def read(session: Session, before: int = LARGEST_NUMBER) -> TranscriptPage:
    """The newest messages in front of one, the oldest of them first."""
    found = messages_before(session, before, SHOWN + MOST_RESULTS + 1)
    begin = max(0, len(found) - SHOWN)
    while begin > 0 and found[begin].message.results and len(found) - begin < SHOWN + MOST_RESULTS:
        begin -= 1  # a result is shown with its call
    page = found[begin:]
    said = _told(page, session.secrets())
    return TranscriptPage(said, page[0].seq if begin and page else 0)


def _told(page: Sequence[StoredMessage], secrets: KnownValues) -> list[TranscriptMessage]:
    told, calls = list[TranscriptMessage](), dict[str, ToolUse]()
    for line in page:
        one = _said(line, secrets)
        for part in line.message.parts:
            if isinstance(part, ToolCall):
                call = _call(f"{line.seq}-{len(one.calls)}", part, secrets)
                one.calls.append(call)
                calls[part.id] = call
            elif isinstance(part, ToolResult) and part.id in calls:
                call = calls.pop(part.id)
                call.result, call.state = (
                    _cut(secrets.text(part.text)),
                    "failed" if part.failed else "ok",
                )
                one.role = ""  # it is shown with its call
        if one.role:
            told.append(one)
    return told


def _said(line: StoredMessage, secrets: KnownValues) -> TranscriptMessage:
    message = line.message
    text = secrets.text(words_of(message)).strip()
    role = str(message.role)
    made = TranscriptMessage(
        seq=line.seq,
        role=role,
        who=WHO[role],
        text=_cut(text),
        created=line.created,
        is_cut=len(text) > LONGEST_TEXT,
    )
    if role == "user" and text.startswith(f"{BY_HAND}: "):
        made.hand = _by_hand(line.seq, text)
    elif line.kind == "summary":
        made.role, made.who = "summary", "Summary"
    return made


def words_of(message: Message) -> str:
    """The words of a message, without its calls; pictures as a short mark."""
    return "\n".join(
        _words(part)
        for part in message.parts
        if isinstance(part, Text | Image | Opaque | ToolResult)
    )


def _words(part: Text | Image | Opaque | ToolResult) -> str:
    return (
        part.text
        if isinstance(part, Text | ToolResult)
        else "[image]"
        if isinstance(part, Image)
        else "[attachment]"
    )


def _call(key: str, part: ToolCall, secrets: KnownValues) -> ToolUse:
    try:
        given = secrets.value(json.loads(part.arguments or "{}"))
    except (ValueError, RecursionError):
        given = secrets.text(part.arguments)
    written = given if isinstance(given, str) else json.dumps(given, indent=2, ensure_ascii=False)
    return ToolUse(
        key=key, name=part.name, brief=brief(given), arguments=_cut(written), state="open"
    )


def _by_hand(seq: int, text: str) -> ToolUse:
    """A call by hand as its message tells it: the tool, its arguments on the first line, and the
    answer below."""
    head, _, result = text.partition("\n")
    name, _, written = head.removeprefix(f"{BY_HAND}: ").partition(" ")
    try:
        given = json.loads(written)
    except (ValueError, RecursionError):
        given = written
    pretty = given if isinstance(given, str) else json.dumps(given, indent=2, ensure_ascii=False)
    state = "failed" if _failed(result) else "ok"
    return ToolUse(
        key=f"{seq}-hand",
        name=name,
        brief=brief(given),
        arguments=_cut(pretty),
        state=state,
        result=_cut(result),
    )


def _failed(result: str) -> bool:
    if result.startswith("failed: "):
        return True
    try:
        told = json.loads(result.partition("\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("status") == "failed"


def brief(given: object) -> str:
    """The words and numbers in the arguments of a call, on one line."""
    line = " · ".join(_each(given))
    return line if len(line) <= LONGEST_BRIEF else f"{line[: LONGEST_BRIEF - 1]}…"


def _each(value: object) -> list[str]:
    if isinstance(value, Mapping):
        plain_first = sorted(value.values(), key=lambda member: isinstance(member, Mapping | list))
        return [word for member in plain_first for word in _each(member)]
    if isinstance(value, list):
        return [word for member in value[:20] for word in _each(member)]
    words = "" if value is None or isinstance(value, bool) else " ".join(str(value)[:200].split())
    return [words] if words else []


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def pretty(value: Any) -> str:
    """A value for reading."""
    return _cut(json.dumps(value, indent=2, ensure_ascii=False, default=str))
