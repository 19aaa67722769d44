"""The objects of SDKs and frameworks as the dicts that they stand for, for the readers of those.

Nobody's package is imported: an object is known by the package its class comes from, and gives its
own fields. Null fields are left out, so that no provider gets back what it never takes; nulls that
a model or a tool gave are theirs, and stay. The dicts of frameworks that are only read (AutoGen,
Haystack, smolagents, AG2) become those of OpenAI's and Anthropic's APIs (`framework_messages`).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
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
    if converter(value) is not None:
        return True
    if "role" in value:
        return False
    if isinstance(value.get("choices"), list) or isinstance(value.get("candidates"), list):
        return True
    output = value.get("output")
    if isinstance(output, Mapping) and isinstance(output.get("message"), Mapping):
        return True  # Bedrock's
    if isinstance(value.get("message"), Mapping) and "done" in value:
        return True  # Ollama's
    return value.get("object") == "response" and isinstance(output, list)


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


def _copy(value: Any, at: FieldPath, *, is_given: bool = False) -> Any:
    """A value of JSON that nobody else changes. An object that is nobody's message, block or value
    is an error that names its place; bytes are a picture's or a file's, and no argument of a
    call."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if isinstance(value, Mapping):
        copy = Fields()
        for name, member in value.items():
            if type(member) in _SCALARS:  # nearly always: without a path for each
                copy[str(name)] = member
            else:
                given = is_given or name in _GIVEN
                copy[str(name)] = _copy(member, at / f".{name}", is_given=given)
        return copy
    if isinstance(value, list | tuple):
        return [
            _copy(each, at / f"[{index}]", is_given=is_given) for index, each in enumerate(value)
        ]
    if (is_given and isinstance(value, bytes)) or not (is_plain(value) or _has_fields(value)):
        raise at.wrong(f"{kind.__name__} is nothing that is known", hint=_KNOWN)
    return _plain(value, nulls=is_given)


def _has_fields(value: object) -> bool:
    return (
        isinstance(value, Enum)
        or is_dataclass(value)
        or hasattr(value, "model_dump")
        or hasattr(value, "isoformat")
    )


def plain_values(value: object, at: FieldPath) -> list[Any]:
    """What an object holds: most often one message as a dict; an error for what is unknown."""
    if isinstance(value, Mapping):
        convert = converter(value)
        if convert is not None:
            return convert(plain_message(value, at), at)
        return _messages_in(_plain(value), at)
    packages = _packages(value)
    if "smolagents" in packages or "haystack" in packages:
        return [fields_of(value)]
    if "pydantic_ai" in packages:
        return _of_pydantic_ai(value)
    if "claude_agent_sdk" in packages:
        return [_of_agent_sdk(value, at)]
    if "agents" in packages and hasattr(value, "to_input_item"):
        return [_plain(value.to_input_item())]
    if "agents" in packages and isinstance(getattr(value, "output", None), list):
        return [_plain(item) for item in value.output]  # type: ignore[attr-defined]
    dump: Callable[..., Any] | None = getattr(value, "model_dump", None)
    if dump is None or not packages & _DUMPED:
        raise at.wrong(f"{type(value).__name__} is no message", hint=_KNOWN)
    # LlamaIndex keeps base64 as bytes, which only its JSON writes as the text that it is
    mode = "json" if "llama_index" in packages else "python"
    return _messages_in(_plain(_object_fields(dump, mode)), at)


def _packages(value: object) -> set[str]:
    """The packages that the classes of an object come from."""
    return {cls.__module__.partition(".")[0] for cls in type(value).__mro__}


def _object_fields(dump: Callable[..., Any], mode: str) -> Any:
    """An object's fields without those that are null; in Python, bytes stay bytes."""
    try:
        return dump(mode=mode, exclude_none=True, warnings=False)
    except TypeError:  # a model that has its own idea of dumping
        return dump()


def _messages_in(dumped: Any, at: FieldPath) -> list[Any]:
    """The messages of an answer, or the one message that it is."""
    if not isinstance(dumped, Mapping):
        raise at.wrong("holds no message", hint=_KNOWN)
    if isinstance(dumped.get("choices"), list):  # a chat completion
        return [_only(dumped["choices"], at / ".choices").get("message")]
    if isinstance(dumped.get("candidates"), list):  # Gemini's answer
        return [_only(dumped["candidates"], at / ".candidates").get("content")]
    if dumped.get("object") == "response" and isinstance(dumped.get("output"), list):
        return list(dumped["output"])
    output = dumped.get("output")
    if isinstance(output, Mapping) and isinstance(output.get("message"), Mapping):
        return [output["message"]]  # Bedrock's answer
    if isinstance(dumped.get("message"), Mapping) and "role" not in dumped:
        return [dumped["message"]]  # LlamaIndex's and Ollama's answers
    return [dumped]


def _only(listed: list[Any], at: FieldPath) -> Mapping[str, Any]:
    if len(listed) != 1:
        raise at.wrong(f"there are {len(listed)} replies, and one can be read")
    return at.mapping(listed[0], "a mapping")


def _of_pydantic_ai(value: object) -> list[Any]:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    dumped: list[Any] = ModelMessagesTypeAdapter.dump_python([value], mode="json")  # type: ignore[list-item]
    return dumped


def _of_agent_sdk(value: object, at: FieldPath) -> Fields:
    """A message of the Claude Agent SDK in the shape of Anthropic's API."""
    role = _AGENT_ROLES.get(type(value).__name__)
    if role is None:
        raise at.wrong(f"{type(value).__name__} is no message of a conversation", hint=_KNOWN)
    content = getattr(value, "content", None)
    if isinstance(content, str):
        return {"role": role, "content": content}
    blocks = (at / ".content").sequence(content)
    written = list[Any]()
    for index, block in enumerate(blocks):
        kind = _AGENT_BLOCKS.get(type(block).__name__)
        if kind is None:
            raise (at / f".content[{index}]").wrong(f"{type(block).__name__} is no known block")
        written.append({"type": kind, **_plain(block)})
    return {"role": role, "content": written}


def _plain(value: Any, *, nulls: bool = False) -> Any:
    """A value as JSON has it: bytes in base64, no nulls in objects unless they are asked for."""
    if isinstance(value, Mapping):
        return _members(value.items()) if nulls else _without_nulls(value.items())
    if isinstance(value, list | tuple):
        return [_plain(each, nulls=nulls) for each in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if hasattr(value, "isoformat"):  # a time
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return _without_nulls((field.name, getattr(value, field.name)) for field in fields(value))
    if hasattr(value, "model_dump"):
        return _plain(_object_fields(value.model_dump, "python"))
    return value


def _without_nulls(items: Iterable[tuple[Any, Any]]) -> Fields:
    found = Fields()
    for name, value in items:
        if value is not None:
            found[str(name)] = _plain(value, nulls=name in _GIVEN)
    return found


def _members(items: Iterable[tuple[Any, Any]]) -> Fields:
    return {str(name): _plain(value, nulls=True) for name, value in items}
