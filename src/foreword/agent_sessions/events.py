"""What a session of a coding agent consists of, whichever agent wrote it: plain values, in order
of time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from foreword.message import Message, Part, Text
from foreword.pattern import lazy_pattern

Values = Mapping[str, Any]  # a line or a document of a session
UNREADABLE = "lines that could not be read"
# What an agent puts in front of the user's words: blocks in tags of its own, its notes on
# interruptions, the files that Codex loads by itself.
_BLOCK = lazy_pattern(
    r"\s*(?:# AGENTS\.md instructions for [^\n]*\n\s*)?<(?P<tag>[A-Za-z][\w-]*)(?: [^>\n]*)?>"
    r".*?</(?P=tag)>",
    re.DOTALL,
)
_NOTE = lazy_pattern(
    r"\s*(?:\[Request interrupted|Caveat: The messages below|<(?:session|environment)_context>)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHead:
    """Which session it is, as far as the file says."""

    agent: str
    session: str = ""
    folder: str = ""  # where the agent worked


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEvent:
    """A message of the conversation; `by_user` where a person typed it."""

    message: Message
    by_user: bool = False
    time: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentEvent:
    """What the agent itself put beside the conversation: instructions, files, the text of a
    hook."""

    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent:
    """The conversation up to here was replaced by a summary."""

    summary: str
    trigger: str = ""
    tokens_before: int = 0
    time: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallEvent:
    """One call of the model: what it read anew, from the cache and into it, and what it wrote."""

    model: str = ""
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    time: str = ""

    @property
    def prompt_tokens(self) -> int:
        """All that it read."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUsage:
    """What an agent's provider counted over a session: thinking, tools and prompts of the agent's
    own among it, which are not all in its file."""

    calls: int = 0
    prompt_tokens: int = 0  # all that was read
    cached_tokens: int = 0  # of those, from a cache
    output_tokens: int = 0  # with what was thought

    def plus(self, call: ModelCallEvent) -> AgentUsage:
        """The sums with one call added."""
        return AgentUsage(
            calls=self.calls + 1,
            prompt_tokens=self.prompt_tokens + call.prompt_tokens,
            cached_tokens=self.cached_tokens + call.cache_read_tokens,
            output_tokens=self.output_tokens + call.output_tokens,
        )


AgentEvent = SessionHead | MessageEvent | AttachmentEvent | CompactionEvent | ModelCallEvent


def typed_message(message: Message) -> Message | None:
    """A message of the user's role with the words that a person typed, without what the agent put
    around them; nothing where there are none."""
    if message.role != "user" or message.kind != "conversation":
        return None
    parts = list[Part]()
    has_words = False
    for part in message.parts:
        if isinstance(part, Text):
            part = replace(part, text=_typed_words(part.text))
            has_words = has_words or bool(part.text)
        parts.append(part)
    return replace(message, parts=tuple(parts)) if has_words else None


def message_event(message: Message, time: str) -> MessageEvent:
    """A message as it was said: of a person's, what was typed."""
    typed = typed_message(message)
    return MessageEvent(message=typed or message, by_user=typed is not None, time=time)


def _typed_words(text: str) -> str:
    while block := _BLOCK.match(text):
        text = text[block.end() :]
    return "" if _NOTE.match(text) else text.strip()


def mapping_or_empty(value: object) -> Values:
    """A mapping in outside data; an empty one for what is none."""
    return value if isinstance(value, Mapping) else {}


def number(value: object) -> int:
    """A count of tokens in outside data; 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value < 10**12 else 0
