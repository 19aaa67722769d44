"""Who said a text: the user, the model, a tool, a page, a file, a command, a summary or Foreword.

A provider's role is no attribution: results of tools come in messages of the role `user`, and a
program may put its output into the user's mouth inside a tag. `Speakers` is the one place that
tells; everything that prints or weighs a speaker uses it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from foreword.messages.message import NOT_HISTORY, Message, Opaque, Part, Text, ToolCall, ToolResult
from foreword.pattern import lazy_pattern

OriginKind = Literal[
    "user", "assistant", "system", "foreword", "summary", "tool", "page", "file", "command"
]
# What nobody vouches for: it is data, whatever it says.
LOW_TRUST: frozenset[OriginKind] = frozenset(("tool", "page", "file", "command"))
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
_TAG = lazy_pattern(r"^[ \t]*<([A-Za-z][\w:.-]*)(?:\s[^<>\n]*)?>", re.MULTILINE)
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
    """Return the pieces of what the user's role says: text inside a tag that opens a line belongs
    to the tag, up to its end or the end of the text; what others say is one piece."""
    if origin.kind != "user":
        yield origin, text
        return
    if _INTERRUPTED.match(text):
        yield TOOL, text
        return
    start = 0
    while tag := _TAG.search(text, start):
        if text[start : tag.start()].strip():
            yield USER, text[start : tag.start()]
        closing = f"</{tag[1]}>"
        # The last one: output that is shown in a tag may write that tag itself.
        end = text.rfind(closing, tag.end())
        inner = text[tag.end() : end if end >= 0 else len(text)]
        if inner.strip():
            yield Origin("tool", _one_line(tag[1])), inner
        start = end + len(closing) if end >= 0 else len(text)
    if text[start:].strip() or not start:
        yield USER, text[start:]


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
