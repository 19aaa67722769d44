"""A finished context: the text, the same as messages, and the report.

Pure. The forms for providers carry the very same words as the text; their framing is lighter than the tags they
replace, so what fits as text fits as messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from foreword.engine.render import GAP, pieces_of
from foreword.engine.report import Report
from foreword.message import Message, Opaque, Part, Text, ToolCall, ToolResult, to_anthropic, to_openai
from foreword.model import Choice, handle_of
from foreword.text.clean import clean

CACHE_MARK = {"type": "ephemeral"}
EMPTY = "(nothing was said)"  # the API wants words
OPENING = "(the conversation begins with the assistant)"  # the API wants a user to begin
LEAST_CACHED_TOKENS = 1024  # providers do not cache shorter prefixes


@dataclass(frozen=True)
class Package:
    """What a model reads, and the bill for it."""

    text: str = field(repr=False)
    report: Report
    listing: str = field(default="", repr=False)  # what the note on missing sections refers to

    @cached_property
    def originals(self) -> dict[str, bytes]:
        """All that was cut, by handle."""
        cut = {choice.section.handle: choice.section.original for choice in self.report.choices if choice.is_cut}
        listed = self.listing.encode("utf-8", "surrogatepass")
        return cut | ({handle_of(listed): listed} if listed else {})

    @cached_property
    def messages(self) -> list[Message]:
        """The same as messages: a conversation where the recipe makes one, else one user message."""
        talk = _conversation(self.report.choices)
        if talk is None:
            return [Message("user", (Text(self.text),))]
        others = [choice for choice in self.report.choices if choice is not talk]
        context = Message("system", (Text("".join(self._pieces(others))),))
        return [context, *_turns(talk)]

    def to_anthropic(self) -> dict[str, Any]:
        """`system` and `messages` for Anthropic's Messages API, with cache breakpoints where they pay."""
        talk = _conversation(self.report.choices)
        blocks = self._cached_blocks(talk)
        if talk is None:
            return {"system": [], "messages": [{"role": "user", "content": blocks or _words(EMPTY)}]}
        turns = to_anthropic(_turns(talk))
        if not turns or turns[0]["role"] != "user":
            turns.insert(0, {"role": "user", "content": _words(OPENING if turns else EMPTY)})
        return {"system": blocks, "messages": turns}

    def to_openai(self) -> list[dict[str, Any]]:
        """Messages for OpenAI's chat API."""
        return to_openai(self.messages)

    def _cached_blocks(self, talk: Choice | None) -> list[dict[str, Any]]:
        """One block for each pair of tags; a breakpoint once a prefix is worth caching, and at the end."""
        texts = self._pieces([choice for choice in self.report.choices if choice is not talk])
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
        sizes, running = [], 0
        for text in texts:
            running += self.report.scale.counter.count(text)
            sizes.append(running)
        if sizes and sizes[-1] >= LEAST_CACHED_TOKENS:
            first = next(index for index, size in enumerate(sizes) if size >= LEAST_CACHED_TOKENS)
            for index in {first, len(blocks) - 1}:
                blocks[index]["cache_control"] = CACHE_MARK
        return blocks

    def _pieces(self, choices: Sequence[Choice]) -> list[str]:
        """One text for each pair of tags, and the note; joined they are the whole."""
        blocks = groupby((c for c in choices if c.body.form != "gone"), key=lambda choice: choice.section.tag)
        texts = ["".join(pieces_of(block)) for _, block in blocks]
        texts = [text + GAP for text in texts[:-1]] + texts[-1:]
        return [*texts, self.report.note] if self.report.note else texts


def _words(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def _conversation(choices: Sequence[Choice]) -> Choice | None:
    return next((c for c in choices if c.body.kept_entries and c.body.kept_entries[0].messages), None)


def _turns(talk: Choice) -> list[Message]:
    """The kept messages; the mark for those left out stands at the end of the first one, in its words."""
    messages = [_cleaned(message) for entry in talk.body.kept_entries for message in entry.messages]
    if talk.body.mark:
        first = len(talk.body.kept_entries[0].messages) - 1 if talk.body.kept_entries[0].pinned else 0
        messages[first] = messages[first].with_mark(talk.body.mark)
    return messages


def _cleaned(message: Message) -> Message:
    """The message without characters that no provider takes."""
    parts = tuple(_cleaned_part(part) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _cleaned_part(part: Part) -> Part:
    match part:
        case ToolCall(call, name, arguments):
            return ToolCall(clean(call)[0], clean(name)[0], clean(arguments)[0])
        case ToolResult(call, text, failed):
            return ToolResult(clean(call)[0], clean(text)[0], failed)
        case Opaque(data):
            return Opaque(clean(data)[0])
        case Text(text):
            return Text(clean(text)[0])
