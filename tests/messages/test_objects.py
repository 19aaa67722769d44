"""The objects that SDKs answer with are read as the dicts they stand for, and appended as they
are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import openai.types.chat
import openai.types.responses
import pydantic_ai.messages as theirs
import pytest

from foreword.errors import BadSource
from foreword.messages.fields import FieldPath
from foreword.messages.message import Message
from foreword.messages.parts import Text, Thinking, ToolCall, ToolResult, part_text
from foreword.messages.shapes import read_any, read_message, read_messages
from tests.corpus import check_each, rows
from tests.sessions import Open

# answers with calls, as JSON
CALLED: dict[str, Any] = {case["name"]: case["answer"] for case in rows("messages/called.jsonl")}
ANTHROPIC, CHAT, RESPONSE = CALLED["anthropic"], CALLED["chat"], CALLED["response"]


def read(value: object) -> list[Any]:
    parts: list[Any] = []
    for message in read_any(value, FieldPath("message", "message")):
        parts += message.parts
    return parts


def test_anthropics_message_is_read_like_its_json_and_its_nulls_never_go_back(
    open_session: Open,
) -> None:
    import anthropic.types  # slow to import: only where this module is run

    answer = anthropic.types.Message.model_validate(ANTHROPIC)
    thought, words, call = read(answer)
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature) == ("hm", "sig")
    assert words == Text("I look.")
    assert (call.id, call.name, call.arguments) == ("t1", "read", '{"path": "a.py"}')
    session = open_session()
    session.append({"role": "user", "content": "Read it."})
    session.context()
    session.append(answer)
    session.append(
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "4 lines"}],
        }
    )
    assert "None" not in str(session.context().to_anthropic())
    assert session.context().to_anthropic()["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}},
    ]


def test_openais_completion_and_its_message_are_the_same() -> None:
    completion = openai.types.chat.ChatCompletion.model_validate(CHAT)
    assert read(completion) == [ToolCall("t1", "read", '{"path": "a.py"}')]
    assert read(completion.choices[0].message) == read(completion)


def test_an_answer_of_the_responses_api_is_kept_item_by_item_and_goes_back_as_it_came(
    open_session: Open,
) -> None:
    response = openai.types.responses.Response.model_validate(RESPONSE)
    session = open_session()
    history: list[Any] = [{"role": "user", "content": "Read it."}]
    session.sync(history)
    session.append(response)
    history += response.output
    history.append({"type": "function_call_output", "call_id": "t1", "output": "4 lines"})
    assert (session.sync(history).added, session.sync(history).taken_back) == (1, 0)
    written = session.context().to_responses()["input"]
    assert written[1:4] == RESPONSE["output"]
    assert written[4]["output"] == "4 lines"


def test_pydantic_ais_messages_are_read_with_their_instructions_once(open_session: Open) -> None:
    request = theirs.ModelRequest(
        parts=[theirs.UserPromptPart("Read it.")], instructions="Be brief."
    )
    reply = theirs.ModelResponse(
        parts=[theirs.ThinkingPart("hm"), theirs.ToolCallPart("read", {"a": 1}, "t1")]
    )
    back = theirs.ModelRequest(
        parts=[theirs.ToolReturnPart("read", "4 lines", "t1")], instructions="Be brief."
    )
    session = open_session()
    made = session.sync([request, reply, back])
    assert made.added == 3
    assert session.system_prompt == "Be brief."
    assert [message.role for message in session.history()] == ["user", "assistant", "tool"]
    assert session.sync([request, reply, back]).added == 0
    session.append(theirs.ModelResponse(parts=[theirs.TextPart("Four.")]))
    assert session.history()[-1].text == "Four."


class TextBlock:
    """As of the Claude Agent SDK, whose classes are told by their package and name."""

    __module__ = "claude_agent_sdk.types"


def test_what_is_no_message_is_refused_with_what_could_be_one(open_session: Open) -> None:
    with pytest.raises(BadSource, match="SimpleNamespace is no message"):
        read_message(SimpleNamespace(role="user", content="x"))
    with pytest.raises(BadSource, match=r"messages\[1\]: object is no message"):
        read_messages([{"role": "user", "content": "x"}, object()], "messages")
    with pytest.raises(BadSource, match="TextBlock is no message of a conversation"):
        open_session().append(TextBlock())
    with pytest.raises(BadSource, match=r"choices: there are 2 replies"):
        read(
            openai.types.chat.ChatCompletion.model_validate(
                {**CHAT, "choices": [*CHAT["choices"], *CHAT["choices"]]}
            )
        )


def view(message: Message) -> list[Any]:
    """Who says a message, and what it says, calls and results by their fields."""
    said: list[Any] = [message.role]
    for part in message.parts:
        match part:
            case ToolCall(call, name, arguments):
                said.append(["call", call, name, arguments])
            case ToolResult(call, _, failed):
                said.append(["result", call, part_text(part), failed])
            case Thinking(text):
                said.append(["thinking", text])
            case _:
                said.append(part_text(part))
    return said


def test_messages_of_frameworks_that_are_only_read_say_what_they_said() -> None:
    def is_read(case: dict[str, Any]) -> None:
        assert [view(each) for each in read_messages(case["messages"], "m")] == case["read"]

    check_each(rows("messages/frameworks.jsonl"), is_read)


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ({"type": "FunctionExecutionResultMessage", "content": [{}]}, ".content[0].call_id"),
        ({"role": "tool", "tool_responses": [{"role": "tool", "content": "x"}]}, ".tool_call_id"),
        (
            {"role": "tool", "meta": {}, "content": [{"tool_call_result": {"result": "x"}}]},
            ".content[0].origin",
        ),
    ],
)
def test_a_result_that_names_no_call_is_rejected_by_its_path(
    message: dict[str, Any], path: str
) -> None:
    with pytest.raises(BadSource) as caught:
        read_messages([message], "messages")
    assert f"{path}: " in caught.value.problem


FRAMEWORKS = frozenset(
    (
        *("anthropic", "openai", "google.genai", "ollama", "boto3", "mcp", "pydantic_ai"),
        *("langchain", "langchain_core", "langgraph", "llama_index", "litellm", "agents"),
        *("claude_agent_sdk", "deepagents"),
    )
)
DICTS_IN_AND_OUT = """
import sys
import foreword
print(sorted(FRAMEWORKS & set(sys.modules)))
shapes = [
    {"role": "user", "content": "x"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
    {"role": "tool", "tool_call_id": "t", "content": "4 lines"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
    {"role": "user", "parts": [{"text": "x"}]},
    {"role": "user", "parts": [{"type": "text", "text": "x"}]},
    {"role": "user", "content": [{"text": "x"}, {"cachePoint": {"type": "default"}}]},
    {"type": "human", "data": {"content": "x"}},
    {"role": "assistant", "content": "x", "thinking": "hm"},
    {"role": "user", "blocks": [{"block_type": "text", "text": "x"}], "additional_kwargs": {}},
]
with foreword.Session.open(STORE, recipe="chat", budget=4_000) as session:
    session.sync(shapes)
    print(sorted(FRAMEWORKS & set(sys.modules)))
    package = session.context()
    for name in ("anthropic", "openai", "responses", "gemini", "bedrock", "ollama", "vercel"):
        getattr(package, f"to_{name}")()
        print(name, sorted(FRAMEWORKS & set(sys.modules)))
import foreword.integrations.providers, foreword.integrations.conversation_sessions
print(sorted(FRAMEWORKS & set(sys.modules)))
"""


def test_no_framework_is_imported_for_dicts_in_and_dicts_out(tmp_path: Path) -> None:
    given = f"FRAMEWORKS = {set(FRAMEWORKS)!r}; STORE = 'sqlite:///{tmp_path}/a.db'"
    ran = subprocess.run(
        [sys.executable, "-c", given + DICTS_IN_AND_OUT],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    lines = ran.stdout.splitlines()
    assert len(lines) == 10, ran.stderr
    assert all(line.endswith("[]") for line in lines), lines
