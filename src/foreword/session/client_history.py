"""The history as a client holds it: read once, told apart by content, and compared with what it
was.

Two messages are the same where the same was said: role, speaker, words, calls, results, pictures.
Marks of a cache, ids of a provider, thinking and other fields that come and go between two requests
do not count. Of what came last a digest is remembered, so that only what is new is read.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from foreword.errors import BadSource
from foreword.messages.answer_usage import answer_usage
from foreword.messages.fields import FieldPath
from foreword.messages.message import Message
from foreword.messages.parts import (
    CACHE_MARKS,
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from foreword.messages.pydantic_ai import EarlierMessages
from foreword.messages.shapes import mark_instructions, read_any, usual_shape
from foreword.prices import AnswerUsage
from foreword.session.append import message_to_store

# Bytes of a digest: a client's own history is compared with itself, and 2**64 messages would be
# needed for two that are taken for one.
DIGEST_BYTES = 16
START = ""  # the chain in front of the first message


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedAnswer:
    """An answer that says what it cost."""

    place: int  # of its message in the client's history
    key: str
    usage: AnswerUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientReading:
    """A history as it was read: the messages that are new to this process, and their digests."""

    read_from: int  # how many messages came before those that were read
    # after each of those messages, and before the first
    chain: Sequence[str]
    messages: Sequence[Message]
    answers: Sequence[CountedAnswer]  # those of the messages that say what they cost
    system_prompt: str | None  # what the system says in front, where it says something

    @property
    def count(self) -> int:
        """How many messages there are, what the system says in front aside."""
        return self.read_from + len(self.messages)

    def chain_at(self, place: int) -> str:
        """The digest of so many messages; nothing where they were read before."""
        return self.chain[place - self.read_from] if place >= self.read_from else ""


@dataclass(slots=True, kw_only=True)
class ClientHistory:
    """Reads a client's history again and again; what it keeps does not grow with it."""

    _count: int = 0  # of the values that were read
    _digest: bytes = b""  # of those values
    _messages: int = 0  # how many they were
    _chain: str = START  # the digest of those messages
    _prompts: list[str] = field(default_factory=list)  # what the system said in front
    _usual: str = ""
    _earlier: EarlierMessages = field(default_factory=EarlierMessages)

    def read(self, values: Sequence[Any]) -> ClientReading:
        """Read a history; what is as it was the last time is not read again.

        A history that was changed is read anew, since what a message is may depend on those in
        front of it.
        """
        known = self._count
        digest = values_digest(values[:known])
        if not self._messages or digest is None or digest.digest() != self._digest:
            known = 0  # what the system says in front is read with what it stands in front of
            digest = values_digest(())
            self.forget()
        self._usual = self._usual or usual_shape(values[known:])
        read_from = self._messages
        chain = [self._chain]
        new = list[Message]()
        answers = list[CountedAnswer]()
        for index in range(known, len(values)):
            said = self._take(values[index], index, begun=self._messages + len(new) > 0)
            for message in said:
                chain.append(next_chain(chain[-1], message))
            new += said
            usage = answer_usage(values[index])
            if usage is not None and said:
                key = answer_key(usage, said[-1])
                place = read_from + len(new)
                answers.append(CountedAnswer(place=place, key=key, usage=usage))
        self._count = len(values)
        self._messages += len(new)
        self._chain = chain[-1]
        whole = values_digest(values[known:], digest)
        self._digest = whole.digest() if whole is not None else b""
        return ClientReading(
            read_from=read_from,
            chain=chain,
            messages=new,
            answers=answers,
            system_prompt="\n\n".join(self._prompts) if self._prompts else None,
        )

    def forget(self) -> None:
        """Read everything anew the next time."""
        self._count = 0
        self._digest = b""
        self._messages = 0
        self._chain = START
        self._prompts = []
        self._usual = ""
        self._earlier = EarlierMessages()

    def _take(self, value: Any, index: int, *, begun: bool) -> list[Message]:
        """Read one value more; what the system says in front is set aside."""
        at = FieldPath(where="messages", path=f"messages[{index}]")
        read = read_any(value, at, self._usual, self._earlier)
        said = list[Message]()
        for message in mark_instructions(map(message_to_store, read), begun=begun):
            if message.kind == "system_prompt":
                self._prompts.append(message.text)
                continue
            if not message.is_history:
                raise at.wrong(
                    f"a message of kind {message.kind} is no part of a history",
                    hint="add it by itself: session.append(message)",
                )
            said.append(message)
        return said


def values_digest(values: Iterable[Any], digest: blake2b | None = None) -> blake2b | None:
    """Return a digest of values as they are now, going on from another one; None where one of them
    is a framework's object, which is read each time."""
    digest = digest.copy() if digest is not None else blake2b(digest_size=DIGEST_BYTES)
    try:
        for value in values:
            written = marshal.dumps(value, 2)  # version 2 does not depend on who else holds a text
            digest.update(len(written).to_bytes(8))
            digest.update(written)
    except (ValueError, RecursionError):
        return None
    return digest


def next_chain(chain: str, message: Message) -> str:
    """The digest of a history and one message more."""
    digest = blake2b(chain.encode(), digest_size=DIGEST_BYTES)
    digest.update(repr(_content(message)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def answer_key(usage: AnswerUsage, message: Message | None) -> str:
    """What an answer is known by: its id, or what it said, and what it cost, since some servers
    give every answer the same id. A history that was taken back and told again has the same
    answers."""
    if usage.answer or message is None:
        return f"{usage.answer} {usage.input_tokens} {usage.output_tokens}"
    digest = blake2b(next_chain(START, message).encode(), digest_size=DIGEST_BYTES)
    digest.update(repr(usage).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def is_same_content(one: Message, other: Message) -> bool:
    """Whether the same was said."""
    return _content(one) == _content(other)


def _content(message: Message) -> list[object]:
    """What was said, in a form that two shapes of it have in common."""
    parts = list[object]()
    words = ""
    for part in message.parts:
        if isinstance(part, Text):
            words += part.text
            continue
        told = _part_content(part)
        if told is not None:
            parts += [words, told] if words else [told]
            words = ""
    if words:
        parts.append(words)
    are_results = all(isinstance(part, ToolResult) for part in message.parts)
    role = "tool" if message.parts and are_results else message.role
    return [role, message.speaker, parts]


def _part_content(part: Part) -> object:
    match part:
        case ToolCall():
            return ["call", part.id, part.name, _plain_arguments(part.arguments)]
        case ToolResult():
            rest = [_part_content(each) for each in part.rest]
            return ["result", part.id, part.text, part.failed, rest]
        case Image():
            return ["image", part.data or part.url or _raw(part)]
        case Opaque() if part.name not in CACHE_MARKS:
            return ["part", part.name, part.text or _raw(part)]
        case Text() | Thinking() | Opaque():
            return None


def _raw(part: Image | Opaque) -> object:
    return part.block.raw if part.block is not None else None


def _plain_arguments(arguments: str) -> str:
    """Arguments in one spelling: providers write the same object with other spaces."""
    if not arguments.strip():
        return "{}"
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def client_values(messages: object) -> list[Any]:
    """A client's history as a list; an error for anything else."""
    if isinstance(messages, str | bytes | dict) or not hasattr(messages, "__iter__"):
        raise BadSource(
            "messages",
            problem=f"messages: must be a list of messages, not {type(messages).__name__}",
            hint="give the whole history: session.sync(messages)",
        )
    return list(messages)
