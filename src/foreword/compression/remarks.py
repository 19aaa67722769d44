"""A conversation as remarks in order of time: who said each, and what.

Messages fall into the user's words, the assistant's, short arguments of calls, long ones (what was
written into files) and what tools printed. A remark is never longer than its cap, so one giant
message costs no more than a large one. What a remark is worth is decided in `worth`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from foreword.compression.summary_text import Part
from foreword.messages.message import NOT_HISTORY, Message, texts_in
from foreword.messages.parts import Opaque, Text, ToolCall, ToolResult, part_text
from foreword.origin import (
    ASSISTANT,
    Origin,
    Speakers,
    is_continuation,
    pieces_by_tag,
    written_call,
)

Voice = Literal["user", "assistant", "call", "edit", "printed"]

# Characters: of what is longer, the opening and the end are read. Bounds the work on one giant
# result; both ends are where a tool says what it did and how it ended.
LONGEST_REMARK = 40_000
LONGEST_SUMMARY = 400_000  # of earlier summaries, which are worth more than any one message
LONGEST_ARGUMENT = 300  # a longer argument of a call is taken for text that was written to a file
MOST_PIECES = 100  # of one message, text and tags in turn; no real one has twenty
MOST_ARGUMENTS = 200  # of one call: a bound on work, no call of an agent has so many
LONGEST_JSON = 25 * LONGEST_REMARK  # arguments beyond this are not parsed, but read as one text
OPENING_SHARE = 0.6  # of a text that is cut; the rest is its end
TASK_KEYS = ("content", "description", "task", "title", "step")  # hold the words of a task


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One thing said: the place of its message, and whose voice it is."""

    at: int
    voice: Voice
    text: str
    task: str = ""  # the status of a task in a list of tasks

    @property
    def part(self) -> Part:
        """The part of a summary that it stands in."""
        return "call" if self.voice == "edit" else self.voice


def remarks(messages: Sequence[Message]) -> list[Remark]:
    """Return everything said in the conversation, oldest first; the system prompt, images, thinking
    and summaries are not remarks."""
    found = list[Remark]()
    speakers = Speakers()
    for at, message in enumerate(messages):
        origins = speakers.of_parts(message)
        if message.kind in NOT_HISTORY or is_summary(message):
            continue
        for origin, part in zip(origins, message.parts, strict=True):
            found += _part_remarks(part, at=at, origin=origin, written=bool(written_call(message)))
    return _newest_tasks(found)


def is_summary(message: Message) -> bool:
    """Return whether a message is a summary of what went before."""
    return message.kind == "summary" or is_continuation(message)


def summaries(messages: Iterable[Message]) -> list[str]:
    """Return the texts of messages that are themselves summaries of what went before."""
    texts = list[str]()
    for message in messages:
        if is_summary(message):
            texts += texts_in(message)
    return texts


def cap_text(text: str, longest: int = LONGEST_REMARK) -> str:
    """Return the text, or its opening and its end where it is too long to read whole."""
    if len(text) <= longest:
        return text
    opening = int(longest * OPENING_SHARE)
    return text[:opening] + "\n" + text[opening - longest :]


def _part_remarks(part: object, *, at: int, origin: Origin, written: bool) -> Iterator[Remark]:
    if isinstance(part, Text) and written and origin == ASSISTANT:
        yield from _call_remarks([(part.text.partition("]")[2], "")], at)
    elif isinstance(part, ToolCall):
        yield from _call_remarks(_arguments(part.arguments), at)
    elif isinstance(part, Text | ToolResult | Opaque):
        text = part_text(part) if isinstance(part, ToolResult) else part.text
        pieces = list(islice(pieces_by_tag(text, origin), MOST_PIECES)) if text else []
        for piece_origin, piece in pieces:
            piece = cap_text(piece, LONGEST_REMARK // len(pieces))
            yield Remark(at=at, voice=_voice(piece_origin), text=piece)


def _voice(origin: Origin) -> Voice:
    if origin.kind == "user":
        return "user"
    return "assistant" if origin.kind == "assistant" else "printed"


def _call_remarks(arguments: Iterable[tuple[str, str]], at: int) -> Iterator[Remark]:
    """Return what a call says: its short arguments, and the long ones as what it wrote."""
    for value, task in arguments:
        is_long = len(value) > LONGEST_ARGUMENT or "\n" in value
        voice: Voice = "edit" if is_long else "call"
        yield Remark(at=at, voice=voice, text=cap_text(value), task=task)


def _newest_tasks(found: Sequence[Remark]) -> list[Remark]:
    """Return the remarks without the tasks of lists that a later list has replaced."""
    newest = max((remark.at for remark in found if remark.task), default=0)
    return [remark for remark in found if not remark.task or remark.at == newest]


def _arguments(arguments: str) -> Iterator[tuple[str, str]]:
    """Return the values in a call's arguments with, in a list of tasks, the status; what is no
    JSON, or too much of it, is one value."""
    try:
        value = json.loads(arguments) if len(arguments) < LONGEST_JSON else arguments
    except (ValueError, RecursionError):
        value = arguments
    waiting: list[tuple[object, str]] = [(value, "")]
    count = 0
    while waiting and count < MOST_ARGUMENTS:
        value, task = waiting.pop()
        if isinstance(value, dict):
            status = value.get("status")
            status = status if isinstance(status, str) else ""
            for name, member in reversed(value.items()):
                waiting.append((member, status if name in TASK_KEYS else ""))
        elif isinstance(value, list):
            waiting += [(member, task) for member in reversed(value[:MOST_ARGUMENTS])]
        elif value is not None and not isinstance(value, bool) and str(value).strip():
            count += 1
            yield str(value), task
