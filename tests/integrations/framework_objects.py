"""Run in the environment of a framework: its own objects are read, and what is written for it is
what it makes its objects of.

`python framework_objects.py langchain`. It ends with an error where something was lost.
"""

from __future__ import annotations

import sys
from tempfile import TemporaryDirectory
from typing import Any

import foreword
from foreword.integrations.providers import gemini_request
from foreword.messages.fields import FieldPath
from foreword.messages.langchain import to_langchain
from foreword.messages.llama_index import to_llama_index
from foreword.messages.message import Message
from foreword.messages.parts import Image, Text, Thinking, ToolCall, ToolResult
from foreword.messages.shapes import read_any

PICTURE = "iVBORw0KGgo="
SCENE = [
    Message("system", (Text("Be brief."),)),
    Message("user", (Text("What is this?"), Image("image/png", PICTURE))),
    Message("assistant", (Text("I look."), ToolCall("t1", "look", '{"at": 1}'))),
    Message("tool", (ToolResult("t1", "nothing there", failed=True),)),
    Message("assistant", (Text("Nothing."),)),
]


def read(value: object) -> list[Any]:
    """The parts of an object."""
    parts: list[Any] = []
    for message in read_any(value, FieldPath("message", "message")):
        parts += message.parts
    return parts


def check_scene(objects: list[Any]) -> None:
    """The objects of a framework hold the scene, whole and in order."""
    parts: list[Any] = []
    for each in objects:
        parts += read(each)
    wanted: list[Any] = []
    for message in SCENE:
        wanted += message.parts
    for part, expected in zip(parts, wanted, strict=True):
        assert type(part) is type(expected), (part, expected)
        for name in ("text", "id", "name", "arguments", "failed", "data"):
            assert getattr(part, name, None) == getattr(expected, name, None), (part, expected)


def check_langchain() -> None:
    from langchain_core.messages import AIMessage, messages_from_dict

    check_scene(messages_from_dict(to_langchain(SCENE)))
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    said = AIMessage(content=[thinking, {"type": "text", "text": "Done."}], id="m1")
    thought, words = read(said)
    assert isinstance(thought, Thinking)
    assert (thought.signature, words.text) == ("s", "Done.")
    (back,) = messages_from_dict(to_langchain([*read_any(said, FieldPath("m", "m"))]))
    assert back == said, (back, said)


def check_llama_index() -> None:
    from llama_index.core.llms import ChatMessage

    check_scene([ChatMessage.model_validate(message) for message in to_llama_index(SCENE)])


def check_google_genai() -> None:
    from google.genai import types

    call = types.FunctionCall(id="t1", name="look", args={"at": 1})
    content = types.Content(
        role="model",
        parts=[
            types.Part(text="hm", thought=True, thought_signature=b"\xff\xfe"),
            types.Part(text="I look."),
            types.Part(function_call=call),
            types.Part(inline_data=types.Blob(mime_type="image/png", data=b"\xfb\xff")),
        ],
    )
    thought, words, asked, picture = read(content)
    assert (thought.text, thought.signature) == ("hm", "//4=")
    assert (words.text, asked.id, asked.arguments) == ("I look.", "t1", '{"at": 1}')
    assert picture.data == "+/8="
    answer = types.GenerateContentResponse(candidates=[types.Candidate(content=content)])
    assert read(answer) == read(content)
    check_gemini_contents()


def check_gemini_contents() -> None:
    """Texts, parts, dicts with parts and files, as `generate_content` takes them."""
    from google.genai import types

    picture = types.Part.from_bytes(data=b"\xfb\xff", mime_type="image/png")
    file = types.File(uri="https://files/1", mime_type="application/pdf")
    given: list[Any] = [
        "look at this",
        picture,
        {"role": "model", "parts": [types.Part(text="I see.")]},
        types.UserContent("and this?"),
        file,
    ]
    with (
        TemporaryDirectory() as folder,
        foreword.Session.open(f"sqlite:///{folder}/a.db", recipe="chat", root=folder) as chat,
    ):
        written = gemini_request(chat, model="m", contents=given)["contents"]
        one = gemini_request(chat, model="m", contents="hello")["contents"]
    first, second, third, *_ = written
    assert [*first["parts"][0], *first["parts"][1]] == ["text", "inlineData"], first
    assert (second["role"], third["parts"][0]["text"]) == ("model", "and this?"), written
    assert "https://files/1" in str(written), written
    assert one == [{"role": "user", "parts": [{"text": "hello"}]}], one


def check_litellm() -> None:
    from litellm import ModelResponse

    answer = ModelResponse(choices=[{"message": {"role": "assistant", "content": "Nothing."}}])
    assert read(answer) == [Text("Nothing.")]


def check_claude_agent_sdk() -> None:
    from claude_agent_sdk import AssistantMessage, TextBlock, ToolResultBlock, UserMessage

    said = AssistantMessage(content=[TextBlock(text="Nothing.")], model="m")
    assert read(said) == [Text("Nothing.")]
    result = ToolResultBlock(tool_use_id="t1", content="4 lines")
    (answered,) = read(UserMessage(content=[result]))
    assert (answered.id, answered.text) == ("t1", "4 lines")


def check_openai_agents() -> None:
    from openai.types.responses import ResponseFunctionToolCall

    call = ResponseFunctionToolCall(
        type="function_call", call_id="t1", name="look", arguments='{"at": 1}'
    )
    assert read(call) == [ToolCall("t1", "look", '{"at": 1}')]


def check_message_objects() -> None:
    from autogen_core import FunctionCall
    from autogen_core.models import (
        AssistantMessage,
        FunctionExecutionResult,
        FunctionExecutionResultMessage,
        UserMessage,
    )
    from haystack.dataclasses import ChatMessage as HaystackMessage
    from haystack.dataclasses import ToolCall as HaystackCall
    from smolagents.models import ChatMessage as SmolagentsMessage
    from smolagents.models import MessageRole

    call = ToolCall("t1", "look", '{"at": 1}')
    result = ToolResult("t1", "nothing there", failed=True)
    asked = FunctionCall(id="t1", name="look", arguments='{"at": 1}')
    answer = FunctionExecutionResult(
        content="nothing there", call_id="t1", name="look", is_error=True
    )
    assert read(UserMessage(content="Look.", source="user")) == [Text("Look.")]
    assert read(AssistantMessage(content=[asked], source="a")) == [call]
    assert read(FunctionExecutionResultMessage(content=[answer])) == [result]
    origin = HaystackCall("look", {"at": 1}, id="t1")
    assert read(HaystackMessage.from_assistant("I look.", tool_calls=[origin])) == [
        Text("I look."),
        call,
    ]
    assert read(HaystackMessage.from_tool("nothing there", origin=origin, error=True)) == [result]
    said: list[dict[str, Any]] = [{"type": "text", "text": "Observation:\nnothing there"}]
    observed = SmolagentsMessage(role=MessageRole.TOOL_RESPONSE, content=said)
    (message,) = read_any(observed, FieldPath("m", "m"))
    assert (message.role, message.text) == ("user", "Observation:\nnothing there")


if __name__ == "__main__":
    globals()[f"check_{sys.argv[1].replace('-', '_')}"]()
