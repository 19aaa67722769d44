"""Calls and their results: which result answers which call, what is never parted, and how a
conversation becomes one that providers accept.

Pure. `OpenCalls` pairs results with calls; `group_by_calls` and `mend` follow it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import is_

from foreword.messages.fields import id_for
from foreword.messages.message import RESULT_MARK, Message, Role, edit
from foreword.messages.parts import Opaque, Part, Text, Thinking, ToolCall, ToolResult, part_text

NO_RESULT = "(no result was recorded)"
# How the names of a provider's parts end that answer a call of the assistant's.
OPAQUE_ANSWERS = ("_call_output", "_search_output", "program_output", "approval_response")

Place = tuple[int, int]  # of a part: its message, and where it stands in there


@dataclass(slots=True)
class OpenCalls:
    """The calls that have no result yet: each waits until the assistant speaks again after somebody
    else.

    Providers want results right behind the turn that makes the calls, so a later or a second one
    answers nothing.
    """

    _calls: dict[str, deque[Place]] = field(default_factory=dict)
    _speaking: bool = False  # whether the last message was the assistant's

    def add_message(self, at: int, message: Message) -> list[tuple[Place, Place]]:
        """The calls that this message answers, each with its result; its own calls wait from now
        on."""
        if message.role == "assistant" and not self._speaking:
            self._calls = {}
        self._speaking = message.role == "assistant"
        answered: list[tuple[Place, Place]] = []
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and self._speaking:
                self._calls.setdefault(part.id, deque()).append((at, place))
            elif isinstance(part, ToolResult) and self._calls.get(part.id):
                call = self._calls[part.id].popleft()
                answered.append((call, (at, place)))
        return answered


def is_opaque_answer(message: Message) -> bool:
    """Whether a message answers a call that only its provider reads, as a `computer_call_output`
    does: what the assistant said right before it has the call."""
    if message.role == "assistant":
        return False
    for part in message.parts:
        if isinstance(part, Opaque) and part.name.endswith(OPAQUE_ANSWERS):
            return True
    return False


def ends_with_thought(messages: Sequence[Message]) -> bool:
    """Whether messages end with a thought that is a message of its own, and nothing behind it but
    what the assistant said and called: OpenAI takes neither without the other."""
    for message in reversed(messages):
        if message.role != "assistant":
            return False
        if all(isinstance(part, Thinking) for part in message.parts):
            return True
    return False


def group_by_calls(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Group messages so that a tool call and its results are never parted, nor a thought and what
    came with it."""
    starts: list[int] = []  # where each group begins
    open_calls = OpenCalls()
    for at, message in enumerate(messages):
        first = at
        if is_opaque_answer(message) and starts:
            first = starts[-1]
            while first and messages[first].role == messages[first - 1].role == "assistant":
                first -= 1
        elif (
            message.role == "assistant" and starts and ends_with_thought(messages[starts[-1] : at])
        ):
            first = starts[-1]
        starts.append(at)
        for (caller, _), _ in open_calls.add_message(at, message):
            first = min(first, caller)
        while starts[-1] > first:
            starts.pop()
    return [tuple(messages[start:end]) for start, end in pairwise([*starts, len(messages)])]


_PAIRED = (ToolCall, ToolResult)


def mend(messages: Iterable[Message]) -> tuple[list[Message], list[str]]:
    """The messages as providers accept them, and what had to be done: every call has its result
    right behind it.

    A result that nobody asked for becomes text that says so, and so does a call of anybody but the
    assistant. A call that was never answered gets a result that says so, unless it is the last
    word: then its result is still to come. A call waits until the assistant speaks again after
    somebody else; later results are words. So new messages change nothing that stands before the
    last turn of the assistant. An id may be used again in a later turn. Calls that were made in
    one turn, each in a message of its own, are one message once they are answered.
    """
    messages = _join_calls(list(messages))
    answers, used = _answers(messages)
    repair = _Repair(used)
    mended: list[Message] = []
    for at, message in enumerate(messages):
        if not any(isinstance(part, _PAIRED) for part in message.parts):
            mended.append(message)
            continue
        parts, ids = repair.parts_without_results(message, at)
        if parts:
            mended.append(_with_parts(message, tuple(parts)))
        answered = answers.get(at, {})
        mended += _result_messages(messages, ids, answered)
        open_ids = [call_id for place, call_id in ids.items() if place not in answered]
        if open_ids and (answered or at < len(messages) - 1):
            repair.notes += [f"call {call_id!r} was never answered" for call_id in open_ids]
            missing = tuple([ToolResult(call_id, NO_RESULT) for call_id in open_ids])
            mended.append(Message("tool", missing))
    return mended, repair.notes


def sendable_messages(
    messages: Iterable[Message], ids: re.Pattern[str] | None = None
) -> list[Message]:
    """The messages as `mend` leaves them; in place of ids of calls that a provider does not take,
    those that are made from them."""
    mended = mend(messages)[0]
    if ids is None:
        return mended
    return [_with_ids(message, ids) for message in mended]


def _with_ids(message: Message, allowed: re.Pattern[str]) -> Message:
    if not any(isinstance(part, _PAIRED) for part in message.parts):
        return message
    parts = list[Part]()
    for part in message.parts:
        if isinstance(part, ToolCall | ToolResult) and not allowed.fullmatch(part.id):
            part = edit(part, id=id_for(part.id, allowed))
        parts.append(part)
    return _with_parts(message, tuple(parts))


def _join_calls(messages: list[Message]) -> list[Message]:
    """The messages with answered calls of one turn in one, so that their results stand behind all
    of them, as they came. Each is an item of its own in OpenAI's Responses API."""
    if not any(_goes_on_calling(last, message) for last, message in pairwise(messages)):
        return messages
    answers, _ = _answers(messages)
    joined: list[Message] = []
    was_answered = False
    for at, message in enumerate(messages):
        is_answered = len(answers.get(at, ())) == len(message.calls)
        if joined and was_answered and is_answered and _goes_on_calling(joined[-1], message):
            parts = (*joined[-1].parts, *message.parts)
            joined[-1] = edit(joined[-1], parts=parts, tokens=None)
        else:
            joined.append(message)
        was_answered = is_answered
    return joined


def _goes_on_calling(last: Message, message: Message) -> bool:
    """Whether the assistant only makes more calls, and the messages have no fields of their own."""
    if not last.role == message.role == "assistant" or not message.parts or not last.calls:
        return False
    if any(one.block and isinstance(one.block.raw, dict) for one in (last, message)):
        return False
    return all(isinstance(part, ToolCall) for part in message.parts)


def _answers(messages: Sequence[Message]) -> tuple[dict[int, dict[int, Place]], set[Place]]:
    """Which result answers which call: by message and place of the call, in the order the
    results came."""
    answers: dict[int, dict[int, Place]] = {}
    used: set[Place] = set()
    open_calls = OpenCalls()
    for at, message in enumerate(messages):
        for (caller, place), result in open_calls.add_message(at, message):
            answers.setdefault(caller, {})[place] = result
            used.add(result)
    return answers, used


class _Repair:
    """One conversation being mended: the results that answer a call, the ids in use, what was
    done."""

    def __init__(self, used: set[Place]) -> None:
        self.notes: list[str] = []
        self._used = used
        self._ids: dict[str, int] = {}  # each with the number of its last namesake

    def parts_without_results(self, message: Message, at: int) -> tuple[list[Part], dict[int, str]]:
        """What is left of a message once results stand behind their calls, and the ids of its
        own calls by place."""
        parts: list[Part] = []
        ids: dict[int, str] = {}
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and message.role != "assistant":
                self.notes.append(f"call {part.id!r} is not the assistant's; it is shown as text")
                parts.append(Text(part_text(part)))
            elif isinstance(part, ToolCall):
                ids[place] = self._new_id(part.id)
                parts.append(part if part.id == ids[place] else edit(part, id=ids[place]))
            elif not isinstance(part, ToolResult):
                parts.append(part)
            elif (at, place) not in self._used:
                self.notes.append(
                    f"result {part.id!r} answers no call that is there; it is shown as text"
                )
                words = [RESULT_MARK, part.text] if part.text else [RESULT_MARK]
                parts += [Text("\n".join(words)), *part.rest]
        return parts, ids

    def _new_id(self, call: str) -> str:
        """An id nobody has used before: providers want each call to have its own."""
        base = call or "call"
        unused = base
        while unused in self._ids:
            self._ids[base] += 1
            unused = f"{base}_{self._ids[base]}"
        self._ids[unused] = 1
        return unused


def _result_messages(
    messages: Sequence[Message], ids: dict[int, str], answers: dict[int, Place]
) -> Iterable[Message]:
    """The results of one message's calls; those that came in one message stay in one."""
    for at, found in groupby(answers.items(), key=lambda answer: answer[1][0]):
        results: list[Part] = []
        for call, (_, place) in found:
            result = messages[at].parts[place]
            assert isinstance(result, ToolResult)
            results.append(result if result.id == ids[call] else edit(result, id=ids[call]))
        yield _with_parts(messages[at], tuple(results), role="tool")


def _with_parts(message: Message, parts: tuple[Part, ...], role: Role | None = None) -> Message:
    """The message with these parts; the same object where nothing is new."""
    role = role or message.role
    same_parts = len(parts) == len(message.parts) and all(map(is_, parts, message.parts))
    if same_parts and role == message.role:
        return message
    return edit(message, role=role, parts=parts, tokens=None)
