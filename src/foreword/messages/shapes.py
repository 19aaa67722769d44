"""All shapes of messages in one table, and the reading of a message whose shape nobody named.

What only one provider or framework writes decides; the table says who is asked, in order. A message
that could be Anthropic's or OpenAI's is taken for the provider of its neighbours, which matters
only to the fields that the view does not show. Read is all of a message or nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from foreword.messages import (
    anthropic,
    bedrock,
    gemini,
    langchain,
    llama_index,
    objects,
    ollama,
    openai_chat,
    openai_responses,
    pydantic_ai,
    vercel,
)
from foreword.messages.fields import FieldPath, has_field
from foreword.messages.message import Message, relabel
from foreword.messages.parts import Part, Text
from foreword.messages.pydantic_ai import EarlierMessages

_PLAIN = ("system", "user", "assistant")


class MessageShape(Protocol):
    """A module that tells, reads and writes the messages of one origin."""

    SHAPE: str

    def is_message(self, value: Mapping[str, Any]) -> bool:
        """Return whether a mapping is a message in this shape."""

    def read_message(self, value: Any, at: FieldPath) -> Message | Sequence[Message]:
        """Return the message in a mapping, or the messages where it holds several."""

    def build(self, part: Part) -> Any:
        """Return what a part says, as this shape has it."""

    def write(self, messages: Iterable[Message]) -> list[Any]:
        """Return messages in this shape; not as a framework's own objects."""


# What is asked first is told by more than what is asked later; Anthropic's is what is left.
TABLE: tuple[MessageShape, ...] = (
    pydantic_ai,
    langchain,
    llama_index,
    vercel,
    gemini,
    bedrock,
    openai_responses,
    ollama,
    openai_chat,
    anthropic,
)
_BY_NAME = {shape.SHAPE: shape for shape in TABLE}
# Both are told by little, and the neighbours of a message may tell more.
_PROVIDERS = (openai_chat.SHAPE, anthropic.SHAPE)


def shape_named(name: str) -> MessageShape | None:
    """Return the shape of a name; None for one that is only read."""
    return _BY_NAME.get(name)


def read_again(raw: Any, *, shape: str, role: str) -> Message:
    """Return the message in the JSON that it came as; of several that were read from one, that of
    the role. Raises ValueError where there is none."""
    at = FieldPath("record", shape)
    is_items = shape == openai_responses.SHAPE
    messages = openai_responses.from_responses(raw) if is_items else _read(shape, raw, at)
    for message in messages:
        if message.role == role:
            return message
    if len(messages) != 1:
        raise ValueError(f"no message of role {role!r}")
    return relabel(messages[0], role=role)  # it stood beside the messages: a system prompt


def read_messages(values: object, where: str, usual: str = "") -> tuple[Message, ...]:
    """Messages from dicts in any shape that is known; `where` names the source in errors, `usual`
    the shape of those that could be several's.

    What the system says behind other messages is an instruction, and no new system prompt.
    """
    values = FieldPath(where, "messages").sequence(values, "a list of messages")
    usual = usual or usual_shape(values)
    messages = list[Message]()
    earlier = EarlierMessages()
    for value, at in FieldPath(where, "messages").each(values):
        messages += read_any(value, at, usual, earlier)
    return tuple(mark_instructions(messages))


def usual_shape(values: Sequence[Any]) -> str:
    """The shape of the first message that tells; what the system says tells least, since two
    providers have it alike. Where none tells, a part that is marked for the cache is Anthropic's:
    a request of Claude Code may begin with nothing but text of a user and the system."""
    for value in values:
        shape = "" if _is_system(value) else shape_of(value)
        if shape:
            return shape
    contents = [value.get("content") for value in values if isinstance(value, Mapping)]
    is_marked = any(has_field(content, "cache_control") for content in contents)
    return anthropic.SHAPE if is_marked else ""


def _is_system(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("role") == "system"


def shape_of(value: object) -> str:
    """The shape of a message, or nothing where it could be either's."""
    if not isinstance(value, Mapping):
        return ""
    if anthropic.is_message(value):
        return anthropic.SHAPE
    return openai_chat.SHAPE if openai_chat.is_message(value) else ""


def mark_instructions(messages: Iterable[Message], *, begun: bool = False) -> Iterator[Message]:
    """The messages of one conversation: only what the system says in front is its prompt. One that
    has begun goes on with these."""
    for message in messages:
        begun = begun or message.role != "system"
        if begun and message.kind == "system_prompt":
            message = relabel(message, kind="instruction")
        elif not begun and message.kind == "instruction":
            message = relabel(message, kind="system_prompt")
        yield message


def read_message(
    value: object, where: str = "message", path: str = "message", usual: str = ""
) -> Message:
    """One message from a dict in any shape that is known (or a `Message`, as it is).

    An error where it holds several, as an agent's turn with its calls and their results does.
    """
    at = FieldPath(where, path)
    messages = read_any(value, at, usual)
    if len(messages) != 1:
        hint = "give it in a list of messages: `append_all`, `messages`, `session import`"
        problem = f"holds {len(messages)} messages, a call and its result among them"
        raise at.wrong(problem, hint=hint)
    return messages[0]


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether a dict is a message in a shape that is read, or an answer with messages in it."""
    if "role" in value or objects.is_answer(value):
        return True
    return any(shape.is_message(value) for shape in TABLE)


def read_any(
    value: object, at: FieldPath, usual: str = "", earlier: EarlierMessages | None = None
) -> Sequence[Message]:
    """The messages in one dict or object: most often one. Those that say something about the
    messages behind them are remembered in `earlier`."""
    if isinstance(value, Message):
        return (value,)
    if not objects.is_plain(value) or objects.is_answer(value):
        messages = list[Message]()
        for each in objects.plain_values(value, at):
            messages += read_any(each, at, usual, earlier)
        return messages
    value = at.mapping(value, "a mapping with role and content")
    if usual == anthropic.SHAPE and _is_system(value):
        return (anthropic.read_message(objects.plain_message(value, at), at),)
    role = value.get("role")
    if len(value) == 2 and isinstance(value.get("content"), str) and role in _PLAIN:
        # the commonest message by far, the same in every shape
        return (Message(role, (Text(value["content"]),)),)
    value = objects.plain_message(value, at)
    for shape in TABLE:
        if shape.SHAPE not in _PROVIDERS and shape.is_message(value):
            if shape.SHAPE == pydantic_ai.SHAPE:
                return pydantic_ai.read_message(value, at, earlier)
            return _read(shape.SHAPE, value, at)
    return _read(shape_of(value) or usual or anthropic.SHAPE, value, at)


def _read(shape: str, value: Any, at: FieldPath) -> Sequence[Message]:
    read = _BY_NAME[shape].read_message(value, at)
    return (read,) if isinstance(read, Message) else read
