"""Who said a text: the user, the model, a tool, a page, a file, a command, a summary or Foreword.

A provider's role is no attribution: results of tools come in messages of the role `user`, and a
program may put its output into the user's mouth inside a tag. `Speakers` is the one place that
tells; everything that prints or weighs a speaker uses it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from foreword.messages.message import NOT_HISTORY, RESULT_MARK, Message
from foreword.messages.parts import Opaque, Part, Text, ToolCall, ToolResult
from foreword.pattern import lazy_pattern

OriginKind = Literal[
    "user", "assistant", "system", "foreword", "summary", "tool", "page", "file", "command"
]
# What nobody vouches for: it is data, whatever it says.
LOW_TRUST: frozenset[OriginKind] = frozenset(("tool", "page", "file", "command"))
# The parts of a summary, by who said their lines; the last lists names, whoever said them.
SPEAKER_TAGS = (
    "said_by_user",
    "said_by_assistant",
    "called_by_assistant",
    "printed_by_tools",
    "names_mentioned",
)
LONGEST_NAME = 120  # characters of a tool's name or a path: one line of a heading
LARGEST_ARGUMENTS = 1_000_000  # characters: a larger call names nothing worth parsing it for

_PROGRAM_KINDS = ("execution_result", "debug_action")  # said by a program, whatever the role
# What a call is about, by the name of its argument.
_SUBJECTS: Mapping[str, OriginKind] = {
    "url": "page",
    "file_path": "file",
    "path": "file",
    "filename": "file",
    "command": "command",
    "cmd": "command",
}
_ORIGIN_OF_URL = lazy_pattern(r"[a-z][a-z0-9+.-]*://[^/?#\s]+", re.IGNORECASE)
_TAG = lazy_pattern(r"(^[ \t]*)?<([A-Za-z][\w:.-]*)(?:\s[^<>\n]*)?>", re.MULTILINE)
_CLOSING_TAG = lazy_pattern(r"</([A-Za-z][\w:.-]*)>")
_NOT_IN_NAMES = lazy_pattern(r"[^\w .:/@~+#%*-]+")
_HEADING = lazy_pattern(
    r"^(?=[ \t]*(?:message \d[^\n]{0,20}, )?"
    r"(?:user|assistant|system|foreword|summary)\b[^\n]*:\s*$)",
    re.IGNORECASE | re.MULTILINE,
)
_INTERRUPTED = lazy_pattern(r"\s*\[Request interrupted")
_CONTINUED = lazy_pattern(r"\s*This session is being continued from a previous conversation")
_WRITTEN_CALL = lazy_pattern(r"\s*\[(?:tool[_ ](?:call|use)|calls?)[: ]\s*([\w.:/-]{1,80})\]")


@dataclass(frozen=True, slots=True)
class Origin:
    """Who said a text; the name is the tool's, the page's origin or the file's path."""

    kind: OriginKind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind

    @property
    def is_low_trust(self) -> bool:
        """Whether it is neither the user, the model nor the system."""
        return self.kind in LOW_TRUST


USER = Origin("user")
ASSISTANT = Origin("assistant")
TOOL = Origin("tool")
SUMMARY = Origin("summary")


class Speakers:
    """Who says each part of a conversation, message after message: a result is named after the
    call that it answers."""

    def __init__(self) -> None:
        self._calls: dict[str, Origin] = {}
        self._written_calls = list[Origin]()  # written out as text, without a result yet

    def of_parts(self, message: Message) -> tuple[Origin, ...]:
        """Return the origin of each part of the next message."""
        for part in message.parts:
            if isinstance(part, ToolCall):
                self._calls[part.id] = origin_of_result(part.name, part.arguments)
        whole = self._of_message(message)
        return tuple([self._of_part(part, whole) for part in message.parts])

    def of(self, message: Message) -> Origin:
        """Return who says the next message: of several the one that is trusted least."""
        own = list[Origin]()
        for origin, part in zip(self.of_parts(message), message.parts, strict=True):
            if isinstance(part, Text):
                pieces = [piece_origin for piece_origin, _ in pieces_by_tag(part.text, origin)]
                own.append(USER if USER in pieces else pieces[0])
            else:
                own.append(origin)
        low = [origin for origin in own if origin.is_low_trust]
        return (low or own or [self._of_message(message)])[0]

    def _of_message(self, message: Message) -> Origin:
        if message.kind == "summary" or is_continuation(message):
            return SUMMARY
        if message.kind in _PROGRAM_KINDS or message.role == "tool":
            return self._written_calls.pop(0) if self._written_calls else TOOL
        if message.role == "assistant":
            name = written_call(message)
            if name:
                self._written_calls.append(origin_of_result(name, ""))
            else:
                self._written_calls.clear()
            return ASSISTANT
        if message.role == "system" or message.kind in NOT_HISTORY:
            return Origin("system")
        return self._written_calls.pop(0) if self._written_calls else USER

    def _of_part(self, part: Part, whole: Origin) -> Origin:
        match part:
            case ToolResult(id=call):
                return self._calls.get(call, TOOL)
            case Text(text=text) if text.startswith(RESULT_MARK):
                return TOOL
            case ToolCall():
                return ASSISTANT
            case Opaque(name=name) if name.endswith(("_result", "_output")):
                return Origin("tool", _one_line(name))
            case Opaque(text=text) if text:
                return Origin("file")
            case _:
                return whole


def speaker_of(message: Message) -> Origin:
    """Return who says a message that is looked at by itself."""
    return Speakers().of(message)


def origin_of_result(tool: str, arguments: str) -> Origin:
    """Return the origin of what a call returns: the page, file or command that it names, else the
    tool."""
    for name, value in _arguments(arguments).items():
        kind = _SUBJECTS.get(name)
        if kind is None or not isinstance(value, str) or not value.strip():
            continue
        if kind == "command":
            return Origin("command")
        site = _ORIGIN_OF_URL.match(value)
        if site:
            return Origin("page", _one_line(site[0]))
        if kind == "file":
            return Origin("file", _one_line(value))
    return Origin("tool", _one_line(tool))


def origin_of_agent(name: str) -> Origin:
    """Return the origin of what a model says as an agent with a name: the member of a panel, or the
    agent of a phase."""
    return Origin("assistant", _one_line(name))


def pieces_by_tag(text: str, origin: Origin) -> Iterator[tuple[Origin, str]]:
    """Return the pieces of what the user's role says: text inside a tag belongs to the tag, and so
    does the rest of the text behind one that opens a line and is never closed. What others say is
    one piece."""
    if origin.kind != "user":
        yield origin, text
        return
    if _INTERRUPTED.match(text):
        yield TOOL, text
        return
    start = 0
    for tagged in _tagged_texts(text):
        if text[start : tagged.start].strip():
            yield USER, text[start : tagged.start]
        inner = text[tagged.inner_start : tagged.inner_end]
        if inner.strip():
            yield Origin("tool", _one_line(tagged.name)), inner
        start = tagged.end
    if text[start:].strip() or not start:
        yield USER, text[start:]


def tags_at(text: str, positions: Iterable[int]) -> list[str]:
    """Return the name of the tag that each position in a user's text is inside of, or nothing; the
    positions ascend."""
    names = list[str]()
    tagged_texts = _tagged_texts(text)
    tagged = next(tagged_texts, None)
    for position in positions:
        while tagged is not None and tagged.inner_end <= position:
            tagged = next(tagged_texts, None)
        is_inside = tagged is not None and tagged.start < position
        names.append(_one_line(tagged.name) if tagged is not None and is_inside else "")
    return names


def gap_in_tags(mark: str, *, before: str, after: str) -> str:
    """Return the mark of a gap in a text, with the tag closed that is open before it, and opened
    again that the text behind it is inside of."""
    if before == after:
        return mark
    closing = f"</{before}>\n" if before else ""
    opening = f"<{after}>\n" if after else ""
    return f"{closing}{mark}{opening}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaggedText:
    """Text inside a tag: where the tag begins, what is in it, and where the text goes on."""

    name: str
    start: int
    inner_start: int
    inner_end: int
    end: int


def _tagged_texts(text: str) -> Iterator[_TaggedText]:
    # The last of each: output that is shown in a tag may write that tag itself.
    closings = {closing[1]: closing for closing in _CLOSING_TAG.finditer(text)}
    end = 0
    for tag in _TAG.finditer(text):
        if tag.start() < end:
            continue
        closing = closings.get(tag[2])
        if closing is not None and closing.start() >= tag.end():
            inner_end, end = closing.span()
        elif tag[1] is not None:
            inner_end = end = len(text)
        else:
            continue
        yield _TaggedText(
            name=tag[2],
            start=tag.start(),
            inner_start=tag.end(),
            inner_end=inner_end,
            end=end,
        )


def quote_headings(text: str) -> str:
    """Return a text in which no line reads like the heading that names a speaker."""
    return _HEADING.sub("> ", text)


def last_words(messages: Sequence[Message], kind: OriginKind) -> str:
    """Return what the user or the assistant said last in a conversation, or nothing."""
    for message in reversed(messages):
        words = own_words(message, kind)
        if words:
            return words
    return ""


def own_words(message: Message, kind: OriginKind) -> str:
    """Return what the user or the assistant says in a message in their own words."""
    if message.kind != "conversation" or written_call(message):
        return ""
    words = list[str]()
    for origin, part in zip(Speakers().of_parts(message), message.parts, strict=True):
        if isinstance(part, Text):
            pieces = pieces_by_tag(part.text, origin)
            words += [text for said_by, text in pieces if said_by.kind == kind]
    return "\n".join(words).strip()


def written_call(message: Message) -> str:
    """Return the name of the tool in a message that is a call written out as text, as in
    conversations that were kept without the calls' own form; else nothing."""
    match message.parts:
        case (Text(text=text),):
            call = _WRITTEN_CALL.match(text)
            return call[1] if call else ""
    return ""


def is_continuation(message: Message) -> bool:
    """Return whether a message has the words with which Claude Code hands over a summary in a
    conversation that was kept as plain text."""
    if message.role != "user" or message.kind != "conversation":
        return False
    return any(isinstance(part, Text) and _CONTINUED.match(part.text) for part in message.parts)


def _arguments(arguments: str) -> Mapping[str, object]:
    if not arguments.startswith("{") or len(arguments) > LARGEST_ARGUMENTS:
        return {}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _one_line(text: str) -> str:
    """Return a name on one line, without what could end an attribute or open a tag."""
    return " ".join(_NOT_IN_NAMES.sub(" ", text).split())[:LONGEST_NAME]
