"""What a fake provider is told to reply, and what that comes to for one request: cut to its
limit, and counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import cycle
from typing import Any

from foreword.pattern import lazy_pattern
from foreword.tokens import counter

PER_MESSAGE_TOKENS = 4  # for the role and the marks around a message, about what providers count
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
# of a request: what the model reads, and what of that it does not
SPOKEN = (
    "system",
    "instructions",
    "messages",
    "input",
    "tools",
    "contents",
    "systemInstruction",
)
UNSPOKEN = frozenset(
    ("role", "type", "id", "call_id", "tool_call_id", "tool_use_id", "cache_control", "signature")
)
PIECES = lazy_pattern(r"\s*\S+|\s+")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called."""

    name: str  # of one in a namespace of OpenAI's responses: `namespace.name`
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply: what it says, and how it goes wrong."""

    text: str = ""  # of an error: its message
    tool_calls: Sequence[ToolCall] = ()
    _: KW_ONLY
    thinking: str | None = None  # before the text, in Anthropic's format only; may be empty
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0  # before the first byte
    drip_seconds: float = 0.0  # before every piece of a stream
    usage: tuple[int, int] | None = None  # tokens in and out; counted if not given
    body: str | None = None  # sent as it is, whatever the format says
    hangs: bool = False  # says nothing for as long as the provider runs
    breaks: bool = False  # closes the connection half-way
    midway: bool = False  # an error that comes when a stream has already begun
    endless: bool = False  # says its text again and again, whatever the limit


Script = str | Reply | Sequence[str | Reply] | Callable[[Mapping[str, Any]], str | Reply]
"""What to reply: always the same, one after another, or what a function makes of the request's
body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyContent:
    """A reply to one request, as every format needs it."""

    model: str
    text: str
    calls: Sequence[tuple[str, str, str]]  # id, name, arguments as JSON
    cut: bool
    input_tokens: int
    output_tokens: int
    number: int  # of the request
    cached_tokens: int = 0  # of those in, read from a cache
    endless: bool = False
    thinking: tuple[str, str] | None = None  # text, signature
    dropped: Sequence[str] | None = None  # paths of thinking; None if the request did not ask

    def pieces(self) -> Iterator[str]:
        """The text as a stream brings it."""
        words = PIECES.findall(self.text)
        return cycle(words or ["word "]) if self.endless else iter(words)


def reply_content(
    body: Mapping[str, Any],
    reply: Reply,
    number: int,
    cached_tokens: int,
    *,
    signature: str = "",
    dropped: Sequence[str] | None = None,
) -> ReplyContent:
    """What a reply comes to for this request."""
    limit = None if reply.endless else _token_limit(body)
    text, cut = _cut_to_limit(reply.text, limit)
    calls = list[tuple[str, str, str]]()
    for at, call in enumerate(reply.tool_calls):
        calls.append((f"call_{number}_{at}", call.name, json.dumps(call.arguments)))
    whole = (
        (reply.thinking or "") + text + "".join(name + arguments for _, name, arguments in calls)
    )
    tokens_in, tokens_out = reply.usage or (count_request(body), _count(whole))
    return ReplyContent(
        model=str(body.get("model", "fake")),
        text=text,
        calls=calls,
        cut=cut,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        number=number,
        cached_tokens=min(cached_tokens, tokens_in),
        endless=reply.endless,
        thinking=None if reply.thinking is None else (reply.thinking, signature),
        dropped=dropped,
    )


def count_request(body: Mapping[str, Any]) -> int:
    """The tokens of everything that a request says to the model."""
    messages = body.get("messages") or body.get("input") or body.get("contents") or []
    marks = PER_MESSAGE_TOKENS * (len(messages) if isinstance(messages, list) else 1)
    return marks + sum(map(_count, _texts([body.get(name) for name in SPOKEN])))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            if name not in UNSPOKEN:
                yield from _texts(member)
    elif isinstance(value, Sequence):
        for member in value:
            yield from _texts(member)


def _token_limit(body: Mapping[str, Any]) -> int | None:
    for name in LIMITS:
        limit: int | None = body.get(name)
        if limit:
            return limit
    return None


def _cut_to_limit(text: str, limit: int | None) -> tuple[str, bool]:
    """As much of the text as a limit of tokens allows, and whether that is less than all."""
    if limit is None or _count(text) <= limit:
        return text, False
    beginning = ""
    tokens = 0
    for piece in PIECES.findall(text):
        tokens += _count(piece)
        if tokens > limit:
            break
        beginning += piece
    return beginning, True


def _count(text: str) -> int:
    return counter("o200k").count(text)
