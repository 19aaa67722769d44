"""Messages as the documentation of providers has them, server tools, citations and sounds among
them: they go back as they came, and their words reach everybody else.

What is about a message and says nothing of its own (the title of a source that is cited, a
quotation) is carried for its provider alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.types.beta import BetaMessage
from mcp.types import TextContent
from openai.types.responses import Response

import foreword
from foreword.errors import BadSource
from foreword.messages.anthropic import to_anthropic_request
from foreword.messages.openai_responses import to_responses
from foreword.messages.shapes import read_messages
from tests.corpus import check_each, rows
from tests.messages.conversation import WRITERS

Fields = dict[str, Any]
DOCUMENTED = rows("messages/documented.jsonl")


PROVIDERS = ("anthropic", "openai", "responses", "gemini", "bedrock")


def sentences(value: Any) -> set[str]:
    """Every text with a space in it: what was said, and no id, address or type."""
    if isinstance(value, str):
        return {value} if " " in value else set()
    members = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    found = set[str]()
    for member in members:
        found |= sentences(member)
    return found


def test_what_a_provider_documents_goes_back_as_it_came_and_its_words_reach_the_others() -> None:
    def goes_back(case: Fields) -> None:
        talk = case["messages"]
        read = read_messages(talk, "messages")
        assert WRITERS[case["shape"]](read) == talk
        for other in PROVIDERS:
            written = json.dumps(WRITERS[other](read), ensure_ascii=False)
            for text in sentences(talk):
                spelled = json.dumps(text, ensure_ascii=False)[1:-1]
                assert spelled in written or json.dumps(spelled)[1:-1] in written, (other, text)
            assert "cachePoint" not in written or other == "bedrock"

    check_each(DOCUMENTED, goes_back)


def test_what_programs_send_comes_back_as_it_was() -> None:
    def comes_back(case: Fields) -> None:
        read = read_messages(case["messages"], "messages")
        assert WRITERS[case["shape"]](read) == case["messages"]

    check_each(rows("messages/sent.jsonl"), comes_back)


def test_an_answer_as_the_object_of_anthropics_sdk_goes_back_as_its_json() -> None:
    for case in DOCUMENTED:
        answer = case["messages"][-1]
        if case["shape"] == "anthropic" and answer["role"] == "assistant":
            # as the SDK makes it
            made = BetaMessage.construct(**{**ANSWER, "content": answer["content"]})
            written = to_anthropic_request(read_messages([made], "messages"))["messages"]
            assert written == [answer], case["name"]


def test_an_answer_as_the_object_of_openais_sdk_goes_back_as_its_json() -> None:
    for case in DOCUMENTED:
        if case["shape"] != "responses":
            continue
        answered = case["messages"][1:]  # behind the question
        items = [item for item in answered if not item["type"].endswith("_output")]
        made = Response.construct(object="response", output=items)
        written = to_responses(read_messages([made], "messages"))
        asked = [item for item in written if not item.get("type", "").endswith("_output")]
        assert asked == items, case["name"]


DOCUMENT = {
    "document": {"format": "txt", "name": "log", "source": {"s3Location": {"uri": "s3://a"}}}
}


@pytest.mark.parametrize("more", [[], [DOCUMENT]], ids=["behind a text", "behind a document"])
def test_a_cache_point_that_moves_with_the_newest_message_is_no_edit(
    tmp_path: Path, more: list[Fields]
) -> None:
    point = {"cachePoint": {"type": "default"}}
    with foreword.Session.open(f"sqlite:///{tmp_path}/a.db", recipe="chat", root=tmp_path) as chat:
        for turn in range(1, 4):
            contents = [[{"text": f"turn {number}"}, *more] for number in range(turn)]
            contents[-1].append(point)
            talk = [{"role": "user", "content": content} for content in contents]
            synced = chat.sync(talk)
            assert (synced.added, synced.taken_back) == (1, 0)
        package = chat.context()
    assert package.to_bedrock()["messages"][-1]["content"][-1] == point
    assert "cache" not in package.text + json.dumps(package.to_openai())


def test_pictures_as_bytes_are_read_and_go_to_boto3_as_bytes(tmp_path: Path) -> None:
    picture = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
    document = {"document": {"format": "pdf", "name": "a", "source": {"bytes": b"%PDF"}}}
    content = [picture, document, {"text": "what is this?"}]
    with foreword.Session.open(f"sqlite:///{tmp_path}/a.db", recipe="chat", root=tmp_path) as chat:
        chat.append({"role": "user", "content": content})
        (said,) = chat.context().to_bedrock()["messages"]
    assert said["content"] == content


BLOCKS = [
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": None, "in": [{"x": None}]}},
]
ANSWER: Fields = {
    "id": "m",
    "type": "message",
    "model": "m",
    "role": "assistant",
    "content": BLOCKS,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def test_the_blocks_of_an_answer_in_a_dict_are_read_with_the_nulls_that_the_model_gave(
    tmp_path: Path,
) -> None:
    """As Anthropic's documentation and MCP's first example append an answer and a result."""
    answer = anthropic.types.Message.model_validate(ANSWER)
    seen = [TextContent(type="text", text="a vase")]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": seen}
    talk: list[Any] = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": [result]},
    ]
    with foreword.Session.open(f"sqlite:///{tmp_path}/a.db", recipe="chat", root=tmp_path) as chat:
        assert chat.sync(talk).added == 3
        assert chat.sync(talk).added == 0
        written = chat.context().to_anthropic()["messages"]
    assert written[1]["content"] == BLOCKS
    assert written[2]["content"][0]["content"] == [{"type": "text", "text": "a vase"}]


def test_an_object_that_nobody_knows_is_refused_by_its_path(tmp_path: Path) -> None:
    talk = [{"role": "assistant", "content": [{"type": "text", "text": object()}]}]
    with (
        foreword.Session.open(f"sqlite:///{tmp_path}/a.db", recipe="chat", root=tmp_path) as chat,
        pytest.raises(BadSource, match=r"messages\[0\]\.content\[0\]\.text: object is nothing"),
    ):
        chat.sync(talk)


def test_what_is_nested_without_end_is_refused_by_its_path() -> None:
    endless: list[Any] = []
    endless.append(endless)
    call = {"type": "tool_use", "id": "t", "name": "look", "input": endless}
    with pytest.raises(BadSource, match=r"messages\[0\]: is nested too deeply"):
        read_messages([{"role": "assistant", "content": [call]}], "messages")
