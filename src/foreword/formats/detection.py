"""Read a message whose provider nobody named.

What only one provider or framework writes decides; one table says who is asked, in order. A message
that could be Anthropic's or OpenAI's is taken for the provider of its neighbours, which matters
only to the fields that nobody here reads. Read is all of a message or nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from foreword.formats import (
    anthropic,
    bedrock,
    gemini,
    langchain,
    llama_index,
    objects,
    ollama,
    openai_chat,
    openai_responses,
    opencode,
    pydantic_ai,
    vercel,
)
from foreword.formats.fields import FieldPath
from foreword.formats.pydantic_ai import EarlierMessages
from foreword.message import Message, Text

_PLAIN = ("system", "user", "assistant")
_OPENAI_ROLES = ("system", "developer", "tool", "function")
_OPENAI_FIELDS = frozenset(
    (
        *("tool_calls", "function_call", "name", "refusal", "audio", "annotations", "images"),
        *("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"),
        # of DeepSeek, Mistral and Qwen: the model goes on with this; of fine-tuning
        *("prefix", "partial", "weight"),
    )
)
# vLLM and routers take films and sounds by their address, too, and Mistral documents
_OPENAI_PARTS = frozenset(
    (
        *("image_url", "input_audio", "file", "refusal", "video_url", "audio_url"),
        *("document_url", "reference"),
    )
)
_ANTHROPIC_PARTS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document")
)
ONE_ONLY = "holds {} messages, a call and its result among them"


@dataclass(frozen=True, slots=True)
class MessageFormat:
    """How messages of one origin are told and read."""

    is_message: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any], FieldPath], Message | Sequence[Message]]


# What is asked first is told by more than what is asked later.
FORMATS = (
    MessageFormat(opencode.is_message, opencode.read_message),
    MessageFormat(langchain.is_message, langchain.read_message),
    MessageFormat(llama_index.is_message, llama_index.read_message),
    MessageFormat(vercel.is_message, vercel.read_message),
    MessageFormat(gemini.is_content, gemini.read_content),
    MessageFormat(bedrock.is_message, bedrock.read_message),
    MessageFormat(openai_responses.is_item, openai_responses.read_item),
    MessageFormat(ollama.is_message, ollama.read_message),
)


def read_messages(values: object, where: str, usual: str = "") -> tuple[Message, ...]:
    """Messages from dicts in any shape that is known; `where` names the source in errors, `usual`
    the shape of those that could be several's.

    What the system says behind other messages is an instruction, and no new system prompt.
    """
    values = FieldPath(where, "messages").sequence(values, "a list of messages")
    usual = usual or usual_shape(values)
    messages = list[Message]()
    earlier = EarlierMessages()
    for index, value in enumerate(values):
        messages += read_any(value, FieldPath(where, f"messages[{index}]"), usual, earlier)
    return tuple(mark_instructions(messages))


def usual_shape(values: Sequence[Any]) -> str:
    """The shape of the first message that tells; what the system says tells least, since two
    providers have it alike. Where none tells, a part that is marked for the cache is Anthropic's:
    a request of Claude Code may begin with nothing but text of a user and the system."""
    for value in values:
        shape = "" if _is_system(value) else shape_of(value)
        if shape:
            return shape
    is_marked = any(_has_part_with(value, "cache_control") for value in values)
    return anthropic.SHAPE if is_marked else ""


def _has_part_with(value: object, field: str) -> bool:
    content = value.get("content") if isinstance(value, Mapping) else None
    parts = content if isinstance(content, list) else ()
    return any(isinstance(part, Mapping) and field in part for part in parts)


def _is_system(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("role") == "system"


def mark_instructions(messages: Iterable[Message], *, begun: bool = False) -> Iterator[Message]:
    """The messages of one conversation: only what the system says in front is its prompt. One that
    has begun goes on with these."""
    for message in messages:
        begun = begun or message.role != "system"
        if begun and message.kind == "system_prompt":
            message = replace(message, kind="instruction")
        elif not begun and message.kind == "instruction":
            message = replace(message, kind="system_prompt")
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
        raise at.wrong(ONE_ONLY.format(len(messages)), hint=hint)
    return messages[0]


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether a dict is a message in a shape that is read, or an answer with messages in it."""
    if "role" in value or objects.is_answer(value) or pydantic_ai.is_message(value):
        return True
    return any(each.is_message(value) for each in FORMATS)


def read_any(
    value: object, at: FieldPath, usual: str = "", earlier: EarlierMessages | None = None
) -> Sequence[Message]:
    """The messages in one dict or object: most often one. Those that say something about the
    messages behind them are remembered in `earlier`."""
    if isinstance(value, Message):
        return (value,)
    if not objects.is_plain(value):
        return _read_object(value, at, usual, earlier)
    if usual == anthropic.SHAPE and _is_system(value):
        return (anthropic.read_message(value, at),)
    if type(value) is dict and len(value) == 2:
        # the commonest message by far, read without looking further
        role = value.get("role")
        content = value.get("content")
        if type(content) is str and role in _PLAIN:
            return (Message(role, (Text(content),)),)
    if objects.is_answer(value):
        return _read_object(value, at, usual, earlier)
    if isinstance(value, Mapping):
        value = objects.plain_message(value, at)
        if pydantic_ai.is_message(value):
            return pydantic_ai.read_message(value, at, earlier or EarlierMessages())
        for each in FORMATS:
            if each.is_message(value):
                read = each.read(value, at)
                return (read,) if isinstance(read, Message) else read
    if (shape_of(value) or usual) == openai_chat.SHAPE:
        return (openai_chat.read_message(value, at),)
    return (anthropic.read_message(value, at),)


def _read_object(
    value: object, at: FieldPath, usual: str, earlier: EarlierMessages | None
) -> Sequence[Message]:
    """The messages in an object of an SDK, or in the dict of an answer."""
    messages = list[Message]()
    for each in objects.plain_values(value, at):
        messages += read_any(each, at, usual, earlier)
    return messages


def shape_of(value: object) -> str:
    """The shape of a message, or nothing where it could be either's."""
    if not isinstance(value, Mapping):
        return ""
    kinds = _part_types(value.get("content"))
    if kinds & _ANTHROPIC_PARTS:
        return anthropic.SHAPE
    if value.get("role") in _OPENAI_ROLES or value.keys() & _OPENAI_FIELDS:
        return openai_chat.SHAPE
    if kinds & _OPENAI_PARTS or _has_part_with(value, "prompt_cache_breakpoint"):
        return openai_chat.SHAPE
    return ""


def _part_types(content: Any) -> set[str]:
    parts = content if isinstance(content, list) else ()
    return {str(part.get("type")) for part in parts if isinstance(part, Mapping)}
