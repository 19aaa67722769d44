"""Messages of every provider and framework: read whole, with calls and results paired."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword.errors import BadSource
from foreword.messages.anthropic import to_anthropic
from foreword.messages.blocks import losses
from foreword.messages.gemini import to_gemini
from foreword.messages.message import Message
from foreword.messages.openai_chat import to_openai
from foreword.messages.openai_responses import to_responses
from foreword.messages.parts import Text, Thinking, ToolResult
from foreword.messages.shapes import read_message, read_messages
from foreword.transcripts.import_file import read_transcript
from tests.corpus import check_each, rows
from tests.messages.conversation import from_anthropic
from tests.session.validity import anthropic_problems, openai_problems

PNG = "iVBORw0KGgo="
ARGUMENTS = {"path": "tide.csv"}
Talk = list[dict[str, Any]]
TALKS: dict[str, Talk] = {case["name"]: case["messages"] for case in rows("messages/whole.jsonl")}


def test_a_call_and_its_result_are_paired_for_every_provider() -> None:
    def is_paired(name: str) -> None:
        messages = read_messages(TALKS[name], "talk.json")
        (called,) = [message.calls for message in messages if message.calls]
        (answered,) = [message.results for message in messages if message.results]
        assert called == answered
        asked = next(message for message in messages if message.calls)
        assert asked.role == "assistant"
        assert '"tide.csv"' in asked.text
        written = to_anthropic([message for message in messages if message.kind != "system_prompt"])
        for message in written:
            if isinstance(message["content"], str):
                message["content"] = [{"type": "text", "text": message["content"]}]
        assert list(anthropic_problems({"system": [], "messages": written})) == []
        assert list(openai_problems(to_openai(messages))) == []

    check_each(TALKS, is_paired)


def test_every_word_of_a_message_reaches_the_text_or_is_a_thought() -> None:
    def is_read_whole(name: str) -> None:
        messages = read_messages(TALKS[name], "talk.json")
        text = "\n".join(message.text + thoughts_of(message) for message in messages)
        for words in sentences(TALKS[name]):
            assert words in text, words
        images = sum(message.images for message in messages)
        dump = json.dumps(TALKS[name])
        assert images == dump.count(PNG) + dump.count("a.png")

    check_each(TALKS, is_read_whole)


def thoughts_of(message: Message) -> str:
    thoughts = [part for part in message.parts if isinstance(part, Thinking)]
    return "\n".join(json.dumps(thought.block and thought.block.raw) for thought in thoughts)


def sentences(value: object) -> Iterator[str]:
    """The texts in a dump that have a space in them."""
    if isinstance(value, str) and " " in value and not value.startswith("{"):
        yield value
    for inner in value.values() if isinstance(value, dict) else ():
        yield from sentences(inner)
    for inner in value if isinstance(value, list) else ():
        yield from sentences(inner)


def test_a_field_that_nobody_knows_goes_back_to_its_provider_and_is_never_refused() -> None:
    surprise = {"later_field": {"said": "the kestrel", "odd": [1, None]}}

    def goes_back(name: str) -> None:
        for at, message in enumerate(TALKS[name]):
            for place in range(len(list(mappings(message)))):
                read_messages(with_fields(TALKS[name], at, place, surprise), "talk.json")

    check_each(TALKS, goes_back)
    block = {"type": "text", "text": "At 06:12.", **surprise}
    for write, talk in (
        (to_openai, [{"role": "user", "name": "ada", "content": [block], **surprise}]),
        (to_anthropic, [{"role": "user", "content": [block, {"type": "later", **surprise}]}]),
        (to_responses, [{"type": "message", "role": "user", "content": [block], **surprise}]),
        (to_gemini, [{"role": "user", "parts": [{"text": "At 06:12.", "laterField": 1}]}]),
    ):
        assert write(read_messages(talk, "talk.json", usual="anthropic")) == talk


def test_what_another_provider_does_not_get_is_named() -> None:
    citation = {"type": "char_location", "cited_text": "low water at dawn"}
    talk = [
        {"role": "user", "content": "When?", "name": "ada", "song": "la la la"},
        {"role": "assistant", "content": "I look.", "reasoning_content": "A table."},
    ]
    read = [
        *read_messages(talk, "talk.json"),
        *from_anthropic(
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "x", "citations": [citation]},
                        {"type": "document", "source": {"type": "file", "file_id": "f"}},
                    ],
                }
            ]
        ),
    ]
    assert losses(read, "gemini") == [
        "song of openai is not sent to gemini",
        "a thought of openai is not sent to gemini",
        "citations of anthropic is not sent to gemini",
        "document of anthropic is sent to gemini as text",
    ]
    assert losses(read[:2], "openai") == []


def with_fields(talk: Talk, at: int, place: int, fields: dict[str, Any]) -> Talk:
    """Return a conversation with more fields in an object of one message."""
    changed = copy.deepcopy(talk)
    list(mappings(changed[at]))[place].update(fields)
    return changed


def mappings(value: object) -> Iterator[dict[str, Any]]:
    """All objects in a message that are told by a type or a role."""
    if isinstance(value, dict):
        if "type" in value or "role" in value:
            yield value
        for inner in value.values():
            yield from mappings(inner)
    for inner in value if isinstance(value, list) else ():
        yield from mappings(inner)


def test_what_is_no_message_of_anybody_is_refused_by_its_path() -> None:
    def is_refused(case: dict[str, Any]) -> None:
        with pytest.raises(BadSource) as caught:
            read_message(case["message"])
        assert caught.value.problem.startswith(f"{case['path']}:")

    check_each(rows("messages/refused.jsonl"), is_refused)


def test_the_words_in_odd_fields_of_a_block_for_one_provider_reach_the_text() -> None:
    sound = {"data": "QUJD" * 200, "format": "wav", "status": "the bell rang", "odd": "kestrel"}
    message = {"role": "user", "content": [{"type": "input_audio", "input_audio": sound}]}
    text = read_message(message).text
    assert "the bell rang" in text
    assert "kestrel" in text
    assert "QUJD" not in text
    chinese = "潮" * 500
    document = {"type": "document", "source": {"type": "text", "data": chinese}}
    assert chinese in read_message({"role": "user", "content": [document]}).text


def test_a_picture_and_a_file_alone_tell_a_message_of_vercels_sdk() -> None:
    for part in (
        {"type": "image", "image": PNG, "mediaType": "image/png"},
        {"type": "image", "image": "https://example.org/a.png"},
        {"type": "file", "data": "aGk=", "mediaType": "application/pdf", "filename": "a.pdf"},
    ):
        talk = {"role": "user", "content": [{"type": "text", "text": "Look."}, part]}
        message = read_message(talk)
        assert len(message.parts) == 2
        assert message.text.startswith("Look.")


def test_a_turn_with_a_call_and_its_result_is_one_of_a_list() -> None:
    with pytest.raises(BadSource, match="holds 3 messages") as caught:
        read_message(TALKS["vercel interface"][1])
    assert "append_all" in caught.value.hint
    _, asked, answered, said = read_messages(TALKS["vercel interface"], "talk.json")
    assert [message.role for message in (asked, answered, said)] == [
        "assistant",
        "tool",
        "assistant",
    ]
    assert isinstance(said.parts[0], Text)


def test_a_failed_call_is_known_as_such_wherever_it_comes_from() -> None:
    for name in ("gemini in python", "langchain dumps", "vercel model", "bedrock"):
        results = list[bool]()
        for message in read_messages(TALKS[name], "talk.json"):
            results += [part.failed for part in message.parts if isinstance(part, ToolResult)]
        assert results == [True], name


# --- what the system says -------------------------------------------------------------------------


def kinds(messages: tuple[Message, ...]) -> list[str]:
    return [message.kind for message in messages if message.role == "system"]


def test_what_the_system_says_in_the_middle_keeps_its_authority_and_place(tmp_path: Path) -> None:
    request = {
        "system": [{"type": "text", "text": "You are a pilot."}],
        "messages": TALKS["anthropic"],
    }
    data = json.dumps(request).encode()
    messages = tuple(read_transcript(data, "request.json"))
    assert kinds(messages) == ["system_prompt", "instruction"]
    with foreword.Session.open(f"sqlite:///{tmp_path}/s.db", root=tmp_path) as session:
        session.extend(messages)
        package = session.context()
        sent = package.to_anthropic()
        assert session.system_prompt == "You are a pilot."
    roles = [message["role"] for message in sent["messages"]]
    assert roles == ["user", "assistant", "user", "system", "assistant"]
    assert sent["messages"][3]["content"][0]["text"] == "Answer in metres."
    assert list(anthropic_problems(sent)) == []


@pytest.mark.parametrize("add", ["append_all", "extend"])
def test_a_request_with_system_and_developer_keeps_both(tmp_path: Path, add: str) -> None:
    talk = [
        {"role": "system", "content": "You are a pilot."},
        {"role": "developer", "content": "Answer in metres."},
        {"role": "user", "content": "When is low water?"},
        {"role": "developer", "content": "Feet are fine from here on."},
    ]
    with foreword.Session.open(f"sqlite:///{tmp_path}/s.db", root=tmp_path) as session:
        getattr(session, add)(talk)
        text = session.context().text
    for message in talk:
        assert message["content"] in text
    beside = {"system": "You are a pilot.", "developer": "Answer in metres.", "messages": talk[2:]}
    read = tuple(read_transcript(json.dumps(beside).encode(), "request.json"))
    assert kinds(read) == ["system_prompt", "system_prompt", "instruction"]


@pytest.mark.parametrize(
    "roles",
    [["system", "user"], ["user", "assistant", "system"], ["user", "system", "user"]],
)
def test_an_instruction_where_the_api_takes_none_is_said_by_the_user(roles: list[str]) -> None:
    talk = [{"role": role, "content": f"words {at}"} for at, role in enumerate(roles)]
    written = to_anthropic(from_anthropic(talk))
    assert "system" not in [message["role"] for message in written]
    assert json.dumps(written).count("words") == len(roles)


def test_a_null_that_an_sdk_has_written_never_goes_back_to_anthropic() -> None:
    blocks = [{"type": "text", "text": "At 06:12.", "citations": None, "later_flag": None}]
    answer = {"role": "assistant", "content": blocks, "stop_sequence": None, "container": None}
    assert to_anthropic([read_message(answer)]) == [
        {"role": "assistant", "content": [{"type": "text", "text": "At 06:12."}]}
    ]


def test_a_result_that_names_its_function_answers_a_call_without_an_id() -> None:
    """As chat templates and older servers have it."""
    call = {"type": "function", "function": {"name": "read", "arguments": ARGUMENTS}}
    talk = [
        {"role": "user", "content": "When is low water?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "name": "read", "content": "06:12"},
    ]
    written = to_openai(read_messages(talk, "talk.json"))
    assert written[2] == {
        "role": "tool",
        "tool_call_id": "read",
        "name": "read",
        "content": "06:12",
    }
