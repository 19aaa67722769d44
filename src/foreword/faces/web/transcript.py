"""A conversation as people read it: who said what, and each call of a tool with its result.

Secrets are hidden. An update of the plan is shown as what it has changed: the calls themselves hold
whole plans, so each is compared with the one before it and nothing is asked of the store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foreword.director.manual_calls import is_call_by_hand
from foreword.director.system_prompt import DIRECTOR
from foreword.messages.message import Message
from foreword.messages.parts import Image, Opaque, Text, ToolCall, ToolResult
from foreword.operations.conversation_operations import StoredMessage, messages_before
from foreword.origin import speaker_of
from foreword.plan import plan as planning
from foreword.secrets.known_values import KnownValues
from foreword.session.session import Session
from foreword.store.database import LARGEST_NUMBER

SHOWN = 40  # messages on a page, and those results that belong to its first one
MOST_RESULTS = 60  # that a page is longer for the sake of a call
LONGEST_TEXT = 6_000  # characters of a message here; all of it has a page of its own
LONGEST_BRIEF = 110  # characters of a call's arguments on one line
MOST_MEMBERS = 20  # of a list in the arguments that are looked at for that line
LONGEST_WORDS = 200  # characters of one value there
WHO = {"user": "You", "assistant": "Assistant", "tool": "Result", "system": "System"}
UPDATE = "update_plan"
MOST_LINES = 12  # of one change, in a conversation; the plan's own page has all of them


@dataclass(slots=True, kw_only=True)
class ToolUse:
    """A tool that was called, and what it answered."""

    key: str
    name: str
    brief: str
    arguments: str
    state: str  # ok, failed, open
    result: str = ""
    plan: PlanChange | None = None  # what an update of the plan has changed


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

    messages: list[TranscriptMessage]
    older: int  # the page before ends in front of this message; 0 where there is none
    read: list[Message]  # for it, the newest last: those on it, and some in front of them


def read(
    session: Session, before: int = LARGEST_NUMBER, secrets: KnownValues | None = None
) -> TranscriptPage:
    """The newest messages in front of one, the oldest of them first; secrets are those of now,
    where they are known already."""
    found = messages_before(session, before, SHOWN + MOST_RESULTS + 1)
    begin = max(0, len(found) - SHOWN)
    while begin > 0 and found[begin].message.results and len(found) - begin < SHOWN + MOST_RESULTS:
        begin -= 1  # a result is shown with its call
    page = found[begin:]
    older = page[0].seq if begin and page else 0
    if secrets is None:
        secrets = session.secrets()
    messages = _with_results(page, secrets, PlanChangeTexts(found[:begin], secrets))
    if session.system_prompt == DIRECTOR:
        for message in messages:
            if message.role == "assistant":
                message.who = "Director"
    return TranscriptPage(messages=messages, older=older, read=[stored.message for stored in found])


def _with_results(
    page: Sequence[StoredMessage], secrets: KnownValues, plans: PlanChangeTexts
) -> list[TranscriptMessage]:
    """The messages of a page; one that only brings the result of a call on it is shown there."""
    shown = list[TranscriptMessage]()
    open_calls = dict[str, ToolUse]()
    for stored in page:
        message = _message(stored, secrets)
        has_found_call = False
        for part in stored.message.parts:
            if isinstance(part, ToolCall):
                call = _tool_use(f"{stored.seq}-{len(message.calls)}", part, secrets)
                open_calls[part.id] = call
                plans.note(part)
                if is_call_by_hand(part.id):
                    _show_as_users(message, call)
                else:
                    message.calls.append(call)
            elif isinstance(part, ToolResult) and part.id in open_calls:
                call = open_calls.pop(part.id)
                call.result = _cut(secrets.text(part.text))
                call.state = "failed" if part.failed else "ok"
                call.plan = plans.take(part)
                has_found_call = True
        if not has_found_call:
            shown.append(message)
    return shown


def _show_as_users(message: TranscriptMessage, call: ToolUse) -> None:
    """A call by hand is the user's, whoever has to make it in the conversation."""
    message.role = "user"
    message.who = WHO["user"]
    message.text = ""
    message.is_cut = False
    message.hand = call


def _message(stored: StoredMessage, secrets: KnownValues) -> TranscriptMessage:
    text = secrets.text(words_of(stored.message)).strip()
    role = "tool" if speaker_of(stored.message).is_low_trust else str(stored.message.role)
    message = TranscriptMessage(
        seq=stored.seq,
        role=role,
        who=WHO[role],
        text=_cut(text),
        created=stored.created,
        is_cut=len(text) > LONGEST_TEXT,
    )
    if stored.kind == "summary":
        message.role = "summary"
        message.who = "Summary"
    return message


def words_of(message: Message) -> str:
    """The words of a message, without its calls; pictures as a short mark."""
    words = list[str]()
    for part in message.parts:
        if isinstance(part, Text | ToolResult):
            words.append(part.text)
        elif isinstance(part, Image):
            words.append("[image]")
        elif isinstance(part, Opaque):
            words.append("[attachment]")
    return "\n".join(words)


def _tool_use(key: str, part: ToolCall, secrets: KnownValues) -> ToolUse:
    try:
        arguments = secrets.value(json.loads(part.arguments or "{}"))
    except (ValueError, RecursionError):
        arguments = secrets.text(part.arguments)
    return ToolUse(
        key=key,
        name=part.name,
        brief=brief(arguments),
        arguments=_arguments_text(arguments),
        state="open",
    )


def _arguments_text(arguments: object) -> str:
    if isinstance(arguments, str):
        return _cut(arguments)
    return _cut(json.dumps(arguments, indent=2, ensure_ascii=False))


def brief(arguments: object) -> str:
    """The words and numbers in the arguments of a call, on one line."""
    line = " · ".join(_words_in(arguments))
    return line if len(line) <= LONGEST_BRIEF else f"{line[: LONGEST_BRIEF - 1]}…"


def _words_in(value: object) -> Iterator[str]:
    """Every text and number in a value, those of nested members last."""
    if isinstance(value, Mapping):
        plain_first = sorted(value.values(), key=lambda member: isinstance(member, Mapping | list))
        for member in plain_first:
            yield from _words_in(member)
    elif isinstance(value, list):
        for member in value[:MOST_MEMBERS]:
            yield from _words_in(member)
    elif value is not None and not isinstance(value, bool):
        words = " ".join(str(value)[:LONGEST_WORDS].split())
        if words:
            yield words


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


def pretty(value: Any) -> str:
    """A value for reading."""
    return _cut(json.dumps(value, indent=2, ensure_ascii=False, default=str))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChange:
    """One update of the plan, for reading."""

    is_first: bool  # as far as the conversation was read
    goal: str
    reason: str
    changes: tuple[str, ...]
    more: int  # changes that are not shown
    completed: int
    total: int


class PlanChangeTexts:
    """The plans of a conversation, from its oldest message on."""

    def __init__(self, earlier: Sequence[StoredMessage], secrets: KnownValues) -> None:
        self._secrets = secrets
        self._open: dict[str, tuple[dict[str, Any], str]] = {}  # plan and reason, by call
        self._plan: dict[str, Any] | None = None  # that stands
        for stored in earlier:
            for part in stored.message.parts:
                if isinstance(part, ToolCall):
                    self.note(part)
                elif isinstance(part, ToolResult):
                    self.take(part)

    def note(self, call: ToolCall) -> None:
        """Remember a call, if it updates the plan."""
        if call.name != UPDATE:
            return
        try:
            arguments = self._secrets.value(json.loads(call.arguments or "{}"))
        except (ValueError, RecursionError):
            return
        if not isinstance(arguments, Mapping) or planning.problems(arguments.get("plan")):
            return
        self._open[call.id] = (arguments["plan"], str(arguments.get("reason") or ""))

    def take(self, result: ToolResult) -> PlanChange | None:
        """What a call has changed, by its result; nothing where it changed nothing."""
        plan, reason = self._open.pop(result.id, (None, ""))
        if plan is None or result.failed:
            return None
        before = self._plan
        self._plan = plan
        changes = planning.diff(before, plan) if before else _outline(plan)
        tasks = [task for _, task in planning.tasks(plan)]
        return PlanChange(
            is_first=before is None,
            goal=str(plan.get("overall_goal") or ""),
            reason=reason,
            changes=tuple(changes[:MOST_LINES]),
            more=max(0, len(changes) - MOST_LINES),
            completed=sum(task["status"] == "completed" for task in tasks),
            total=len(tasks),
        )


def _outline(plan: Mapping[str, Any]) -> list[str]:
    lines = list[str]()
    for phase in plan["phases"]:
        words = ", ".join(str(task["description"]) for task in phase["tasks"])
        lines.append(f"{phase['phase_name']}: {words}" if words else str(phase["phase_name"]))
    return lines
