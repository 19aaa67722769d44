"""The objects of SDKs and frameworks as the dicts that they stand for, for the readers of those.

Nobody's package is imported: an object is known by the package its class comes from, and gives its
own fields. Null fields are left out, so that no provider gets back what it never takes; nulls that
a model or a tool gave are theirs, and stay. The dicts of frameworks that are only read (AutoGen,
Haystack, smolagents, AG2) become those of OpenAI's and Anthropic's APIs (`framework_messages`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from foreword.messages.fields import FieldPath, Fields
from foreword.messages.framework_messages import converter, fields_of

# packages whose objects are pydantic models that dump into a shape that is read
_DUMPED = frozenset(
    (
        "anthropic openai google langchain_core llama_index ollama litellm groq mistralai mcp"
        " autogen_core"
    ).split()
)
# fields whose members are a call's arguments or a tool's answer
_GIVEN = frozenset(("input", "args", "arguments", "tool_kwargs", "response"))
_SCALARS = frozenset((str, int, float, bool, type(None)))
_AGENT_BLOCKS = {
    "TextBlock": "text",
    "ThinkingBlock": "thinking",
    "ToolUseBlock": "tool_use",
    "ToolResultBlock": "tool_result",
}
_AGENT_ROLES = {"UserMessage": "user", "AssistantMessage": "assistant"}
_KNOWN = (
    "a message is a dict, a foreword.Message, or an object of anthropic, openai, google-genai,"
    " langchain, llama-index, pydantic-ai, litellm, ollama, claude-agent-sdk, autogen-core,"
    " haystack or smolagents"
)


def is_plain(value: object) -> bool:
    """Whether a value is none of those objects: data, or nothing that is known."""
    return isinstance(value, Mapping | str | bytes | list | tuple | int | float | None)


def is_answer(value: object) -> bool:
    """Whether this is the dict of a whole answer, with its message inside, or of a framework that
    is only read."""
    if not isinstance(value, Mapping):
        return False
    return converter(value) is not None or ("role" not in value and _answer_field(value) != "")


def _answer_field(answer: Mapping[str, Any]) -> str:
    """The field of an answer that has its messages; nothing where this is no answer."""
    for name in ("choices", "candidates"):
        if isinstance(answer.get(name), list):
            return name
    output = answer.get("output")
    is_bedrocks = isinstance(output, Mapping) and isinstance(output.get("message"), Mapping)
    if is_bedrocks or (answer.get("object") == "response" and isinstance(output, list)):
        return "output"
    is_ollamas = isinstance(answer.get("message"), Mapping) and "done" in answer
    return "message" if is_ollamas else ""


def holds_messages(value: object) -> bool:
    """Whether a value may hold several messages: an object of an SDK, or the dict of an answer."""
    return not is_plain(value) or is_answer(value)


def plain_message(value: Mapping[str, Any], at: FieldPath) -> Mapping[str, Any]:
    """A dict with the objects in it as dicts, and bytes in base64: Anthropic's documentation has
    `{"role": "assistant", "content": answer.content}`, and boto3 has pictures as bytes."""
    try:
        return _copy(value, at)  # type: ignore[no-any-return]
    except RecursionError:
        raise at.wrong("is nested too deeply to be read") from None


def _copy(value: Any, at: FieldPath, *, is_given: bool = False, is_dumped: bool = False) -> Any:
    """A value of JSON that nobody else changes. An object that is nobody's message, block or value
    is an error that names its place; bytes are a picture's or a file's, and no argument of a
    call. What an object has no value for is left out, unless a model or a tool gave it."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Mapping):
        copy = Fields()
        for name, member in value.items():
            if member is None and is_dumped and not is_given:
                continue
            if type(member) in _SCALARS:  # nearly always: without a path for each
                copy[str(name)] = member
            else:
                given = is_given or name in _GIVEN
                place = at / f".{name}"
                copy[str(name)] = _copy(member, place, is_given=given, is_dumped=is_dumped)
        return copy
    if isinstance(value, list | tuple):
        copies = list[Any]()
        for index, each in enumerate(value):
            place = at / f"[{index}]"
            copies.append(_copy(each, place, is_given=is_given, is_dumped=is_dumped))
        return copies
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes) and not (is_given and not is_dumped):
        return b64encode(value).decode()
    if hasattr(value, "isoformat"):  # a time
        return value.isoformat()
    if isinstance(value, str | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "model_dump"):
        value = _object_fields(value.model_dump, "python")
    else:
        raise at.wrong(f"{type(value).__name__} is nothing that is known", hint=_KNOWN)
    return _copy(value, at, is_dumped=True)


def plain_values(value: object, at: FieldPath) -> Sequence[Any]:
    """What an object holds: most often one message as a dict; an error for what is unknown."""
    if isinstance(value, Mapping):
        convert = converter(value)
        if convert is not None:
            return convert(plain_message(value, at), at)
        return _messages_in(_copy(value, at, is_dumped=True), at)
    packages = {cls.__module__.partition(".")[0] for cls in type(value).__mro__}
    for package, convert_object in _CONVERTERS.items():
        if package in packages:
            return convert_object(value, at)
    dump: Callable[..., Any] | None = getattr(value, "model_dump", None)
    if dump is None or not packages & _DUMPED:
        raise at.wrong(f"{type(value).__name__} is no message", hint=_KNOWN)
    # LlamaIndex keeps base64 as bytes, which only its JSON writes as the text that it is
    mode = "json" if "llama_index" in packages else "python"
    return _messages_in(_copy(_object_fields(dump, mode), at, is_dumped=True), at)


def _object_fields(dump: Callable[..., Any], mode: str) -> Any:
    """An object's fields without those that are null; in Python, bytes stay bytes."""
    try:
        return dump(mode=mode, exclude_none=True, warnings=False)
    except TypeError:  # a model that has its own idea of dumping
        return dump()


def _messages_in(dumped: Any, at: FieldPath) -> list[Any]:
    """The messages of an answer, or the one message that it is."""
    name = _answer_field(at.mapping(dumped, "a mapping with messages"))
    if name in ("choices", "candidates"):
        reply, place = at.only(dumped, name)
        field = "message" if name == "choices" else "content"
        return [place.mapping(reply, "a mapping").get(field)]
    if name == "output" and isinstance(dumped[name], list):
        return list(dumped[name])
    if name == "output":
        return [dumped[name]["message"]]
    is_llama_indexs = isinstance(dumped.get("message"), Mapping) and "role" not in dumped
    return [dumped["message"] if name or is_llama_indexs else dumped]


def _of_pydantic_ai(value: Any, at: FieldPath) -> list[Any]:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    dumped: list[Any] = ModelMessagesTypeAdapter.dump_python([value], mode="json")
    return dumped


def _of_agents(value: Any, at: FieldPath) -> list[Any]:
    """The items of OpenAI's Agents SDK: one, or those of an answer."""
    items = [value.to_input_item()] if hasattr(value, "to_input_item") else value.output
    return [_copy(item, at, is_dumped=True) for item in items]


def _of_agent_sdk(value: Any, at: FieldPath) -> list[Any]:
    """A message of the Claude Agent SDK in the shape of Anthropic's API."""
    role = _AGENT_ROLES.get(type(value).__name__)
    if role is None:
        raise at.wrong(f"{type(value).__name__} is no message of a conversation", hint=_KNOWN)
    if isinstance(value.content, str):
        return [{"role": role, "content": value.content}]
    content = list[Any]()
    for index, block in enumerate((at / ".content").sequence(value.content)):
        place = at / f".content[{index}]"
        kind = _AGENT_BLOCKS.get(type(block).__name__)
        if kind is None:
            raise place.wrong(f"{type(block).__name__} is no known block")
        content.append({"type": kind, **_copy(block, place)})
    return [{"role": role, "content": content}]


# packages whose objects are no pydantic models, or dump into no shape that is read
_CONVERTERS: dict[str, Callable[[Any, FieldPath], list[Any]]] = {
    "smolagents": lambda value, at: [fields_of(value)],
    "haystack": lambda value, at: [fields_of(value)],
    "pydantic_ai": _of_pydantic_ai,
    "claude_agent_sdk": _of_agent_sdk,
    "agents": _of_agents,
}
