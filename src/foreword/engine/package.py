"""A finished context: the text, the same as messages, and the report.

Pure. The forms for providers carry the very same words as the text; their framing is lighter than
the tags they replace, so what fits as text fits as messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from foreword.engine.boundaries import escape_boundaries
from foreword.engine.render import GAP, pieces_of
from foreword.engine.report import Report
from foreword.formats import to_anthropic, to_openai
from foreword.message import Message, Part, Text, ToolResult
from foreword.section import Choice, handle_of
from foreword.text.clean import clean

CACHE_MARK = {"type": "ephemeral"}
EMPTY = "(nothing was said)"  # the API wants words
OPENING = "(the conversation begins with the assistant)"  # the API wants a user to begin
LEAST_CACHED_TOKENS = 1024  # providers do not cache shorter prefixes
CONVERSATION = "conversation"  # the kind of a section that is one


@dataclass(frozen=True)
class Package:
    """What a model reads, and the bill for it."""

    text: str = field(repr=False)
    report: Report
    listing: str = field(default="", repr=False)  # what the note on missing sections refers to
    # originals of parts of messages, by handle
    cut: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    cached: int = 0  # messages of the conversation that the call before this one had

    @cached_property
    def originals(self) -> dict[str, bytes]:
        """All that was cut, by handle; what the store can put together itself is not in it."""
        choices = (
            choice
            for choice in self.report.choices
            if choice.is_cut and not choice.section.known_as
        )
        cut = {choice.section.handle: choice.section.original for choice in choices}
        listed = self.listing.encode("utf-8", "surrogatepass")
        return cut | dict(self.cut) | ({handle_of(listed): listed} if listed else {})

    @cached_property
    def messages(self) -> list[Message]:
        """The same as messages: a conversation where the recipe makes one, else one user message.

        What stands in front of the conversation is the system's, what stands behind it the newest
        message. Without a conversation, tier 0 is the system's.
        """
        talk = _conversation(self.report.choices)
        if talk is None:
            always, rest = self._apart()
            system = [Message("system", (Text("".join(always)),))] if always else []
            return [*system, Message("user", (Text("".join(rest) or (EMPTY if always else "")),))]
        front, behind = self._around(talk)
        context = [Message("system", (Text("".join(front)),))] if front else []
        newest = [Message("user", (Text("".join(behind)),))] if behind else []
        return [*context, *self._turns(talk), *newest]

    def to_anthropic(self) -> dict[str, Any]:
        """`system` and `messages` for Anthropic's Messages API, with at most four cache
        breakpoints where they pay."""
        talk = _conversation(self.report.choices)
        if talk is None:
            always, rest = self._apart()
            blocks = self._cached_blocks(rest) or _words(EMPTY)
            return {
                "system": self._cached_blocks(always),
                "messages": [{"role": "user", "content": blocks}],
            }
        front, behind = self._around(talk)
        turns = self._turns(talk)
        newest = [Message("user", tuple(map(Text, behind)))] if behind else []
        shaped = _shaped([*turns, *newest])
        self._mark_turns(turns, shaped)
        if not shaped or shaped[0]["role"] != "user":
            shaped.insert(0, {"role": "user", "content": _words(OPENING if shaped else EMPTY)})
        return {"system": self._cached_blocks(front), "messages": shaped}

    def to_openai(self) -> list[dict[str, Any]]:
        """Messages for OpenAI's chat API."""
        return to_openai(self.messages)

    def _apart(self) -> tuple[list[str], list[str]]:
        """The texts of tier 0 and those of the others, where there is no conversation; joined
        they are the whole."""
        choices = self.report.choices
        first = next(
            (at for at, choice in enumerate(choices) if choice.section.rule.tier != 0), len(choices)
        )
        if not first:
            return [], self._pieces(choices)
        always, rest = self._pieces(choices[:first], note=False), self._pieces(choices[first:])
        is_followed = bool(rest) and rest[0] != self.report.note  # the note brings its gap along
        return ([*always[:-1], always[-1] + GAP] if always and is_followed else always), rest

    def _around(self, talk: Choice) -> tuple[list[str], list[str]]:
        """The texts in front of the conversation and behind it; the note on what is missing is
        the last."""
        at = self.report.choices.index(talk)
        front, behind = self.report.choices[:at], self.report.choices[at + 1 :]
        if all(choice.body.form == "gone" for choice in behind):
            return self._pieces(front), []
        return self._pieces(front, note=False), self._pieces(behind)

    def _turns(self, talk: Choice) -> list[Message]:
        """The conversation; nothing that was said in it reads as a boundary tag, wherever the
        real ones stand."""
        return [escape_boundaries(message, self.report.scale.pattern) for message in _turns(talk)]

    def _cached_blocks(self, texts: list[str]) -> list[dict[str, Any]]:
        """One block for each pair of tags; a breakpoint once a prefix is worth caching, and at
        the end."""
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

    def _mark_turns(self, turns: Sequence[Message], shaped: list[dict[str, Any]]) -> None:
        """Breakpoints where the last call's conversation ended and where this one's does: the
        next call finds both."""
        if self.report.total_tokens < LEAST_CACHED_TOKENS:
            return
        for known in {min(self.cached, len(turns)), len(turns)}:
            before = _shaped(turns[:known])
            if before and len(before) <= len(shaped):
                _mark_last(shaped[len(before) - 1]["content"][: len(before[-1]["content"])])

    def _pieces(self, choices: Sequence[Choice], *, note: bool = True) -> list[str]:
        """One text for each pair of tags, and the note; joined they are the whole."""
        blocks = groupby(
            (c for c in choices if c.body.form != "gone"), key=lambda choice: choice.section.tag
        )
        texts = ["".join(pieces_of(block)) for _, block in blocks]
        texts = [text + GAP for text in texts[:-1]] + texts[-1:]
        return [*texts, self.report.note] if note and self.report.note else texts


def _words(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def _shaped(turns: Sequence[Message]) -> list[dict[str, Any]]:
    return _without_last_thoughts(_unmarked(to_anthropic(turns)))


def _unmarked(shaped: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without the breakpoints that messages came in with: a request has room for four, and they
    are ours to set."""
    for message in shaped:
        for block in message["content"]:
            inside = block.get("content") if block.get("type") == "tool_result" else None
            for marked in (block, *(inside if isinstance(inside, list) else ())):
                marked.pop("cache_control", None)
    return shaped


def _without_last_thoughts(shaped: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without thoughts that nothing follows: the API takes no reply that ends with one."""
    kept = list[dict[str, Any]]()
    for message in shaped:
        content = message["content"]
        while (
            content
            and message["role"] == "assistant"
            and "thinking" in str(content[-1].get("type"))
        ):
            content.pop()
        if content and kept and kept[-1]["role"] == message["role"]:
            kept[-1]["content"] += content
        elif content:
            kept.append(message)
    return kept


def _mark_last(blocks: list[dict[str, Any]]) -> None:
    """A breakpoint on the last block that may have one."""
    for block in reversed(blocks):
        if "thinking" not in str(block.get("type")):
            block["cache_control"] = CACHE_MARK
            return


def _conversation(choices: Sequence[Choice]) -> Choice | None:
    return next(
        (
            c
            for c in choices
            if c.section.kind == CONVERSATION or any(e.messages for e in c.body.kept_entries)
        ),
        None,
    )


def _turns(talk: Choice) -> list[Message]:
    """The kept messages; the mark for those left out stands in the words of the last one in
    front of the gap."""
    entries = talk.body.kept_entries
    messages = [_cleaned(message) for entry in entries for message in entry.messages]
    if talk.body.mark and messages:
        pinned = [entry for entry in entries if entry.pinned]
        place = max(0, sum(len(entry.messages) for entry in pinned) - 1)
        messages[place] = messages[place].with_mark(talk.body.mark)
    return messages


def _cleaned(message: Message) -> Message:
    """The message without characters that no provider takes."""
    parts = tuple(_cleaned_part(part) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _cleaned_part(part: Part) -> Part:
    texts = {name: getattr(part, name) for name in part.__slots__}
    changes: dict[str, Any] = {
        name: cleaned
        for name, text in texts.items()
        if isinstance(text, str) and (cleaned := clean(text)[0]) is not text
    }
    if isinstance(part, ToolResult) and part.rest:
        changes["rest"] = tuple([_cleaned_part(each) for each in part.rest])
    return replace(part, **changes) if changes else part
