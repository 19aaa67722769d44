"""Messages as the documentation of providers has them, server tools, citations and sounds among
them: they go back as they came, and their words reach everybody else.

What is about a message and says nothing of its own (the title of a source that is cited, a
quotation) is carried for its provider alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.types.beta import BetaMessage
from mcp.types import TextContent
from openai.types.responses import Response

import foreword
from foreword.errors import BadSource
from foreword.formats import (
    read_messages,
    to_anthropic_request,
    to_gemini_request,
    to_openai,
    to_responses,
)
from foreword.formats.bedrock import to_bedrock_request
from foreword.message import Message

Fields = dict[str, Any]


def server_call(name: str, **arguments: Any) -> Fields:
    return {"type": "server_tool_use", "id": "srv_1", "name": name, "input": arguments}


def server_result(kind: str, content: Any) -> Fields:
    return {"type": kind, "tool_use_id": "srv_1", "content": content}


PAGE = {"type": "text", "media_type": "text/plain", "data": "the page's words"}
# each is what an assistant says after a question, or what a user says
ANTHROPIC_REPLIES: dict[str, list[Fields]] = {
    "web search": [
        server_call("web_search", query="birth of shannon"),
        server_result(
            "web_search_tool_result",
            [{"type": "web_search_result", "url": "https://x", "title": "Life of Shannon"}],
        ),
        {
            "type": "text",
            "text": "Born in 1916.",
            "citations": [{"type": "web_search_result_location", "encrypted_index": "Eo8"}],
        },
    ],
    "a search that failed": [
        server_call("web_search", query="anything at all"),
        server_result(
            "web_search_tool_result",
            {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        ),
    ],
    "a page": [
        server_call("web_fetch", url="https://x"),
        server_result(
            "web_fetch_tool_result",
            {"type": "web_fetch_result", "content": {"type": "document", "source": PAGE}},
        ),
    ],
    "code": [
        server_call("code_execution", code="print('two words')"),
        server_result(
            "code_execution_tool_result",
            {"type": "code_execution_result", "stdout": "two words", "return_code": 0},
        ),
    ],
    "a tool of a server": [
        {"type": "mcp_tool_use", "id": "m", "name": "say", "server_name": "s", "input": {"n": 1}},
        {
            "type": "mcp_tool_result",
            "tool_use_id": "m",
            "is_error": False,
            "content": [{"type": "text", "text": "hello from afar"}],
        },
    ],
    "a compaction": [{"type": "compaction", "content": "what was said before"}],
}
ANTHROPIC_QUESTIONS: dict[str, list[Fields]] = {
    "a text with citations": [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "grass is green"},
            "title": "On grass",
            "citations": {"enabled": True},
            "cache_control": {"type": "ephemeral"},
        },
    ],
    "files": [
        {"type": "document", "source": {"type": "file", "file_id": "f1"}},
        {"type": "image", "source": {"type": "file", "file_id": "f2"}},
        {"type": "container_upload", "file_id": "f3"},
    ],
    "a search result": [
        {
            "type": "search_result",
            "source": "https://docs",
            "title": "Keys and requests",
            "content": [{"type": "text", "text": "every request needs a key"}],
        },
    ],
}
OPENAI: dict[str, Fields] = {
    "a refusal": {"role": "assistant", "content": None, "refusal": "I can't do that."},
    "a refusal in parts": {
        "role": "assistant",
        "content": [{"type": "refusal", "refusal": "I won't do that."}],
    },
    "a sound": {
        "role": "assistant",
        "content": None,
        "audio": {"id": "a1", "data": "AAAA", "transcript": "said aloud", "expires_at": 1},
    },
    "links": {
        "role": "assistant",
        "content": "as said there",
        "annotations": [{"type": "url_citation", "url_citation": {"url": "https://x"}}],
    },
    "a film of a router": {
        "role": "user",
        "content": [
            {"type": "video_url", "video_url": {"url": "https://x/v.mp4"}},
            {"type": "text", "text": "what happens here?"},
        ],
    },
    "a file": {
        "role": "user",
        "content": [{"type": "file", "file": {"filename": "a b.pdf", "file_data": "JVBE"}}],
    },
}
RESPONSES: dict[str, list[Fields]] = {
    "encrypted reasoning": [
        {
            "type": "reasoning",
            "id": "rs",
            "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "gAAA",
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "so it is", "annotations": []}],
        },
    ],
    "a search": [
        {
            "type": "web_search_call",
            "id": "ws",
            "status": "completed",
            "action": {"type": "search", "query": "how hot is cone 6"},
        }
    ],
    "files that were found": [
        {
            "type": "file_search_call",
            "id": "fs",
            "queries": ["cone 6"],
            "results": [{"file_id": "f", "filename": "a.md", "text": "the found text"}],
        }
    ],
    "code": [
        {
            "type": "code_interpreter_call",
            "id": "ci",
            "code": "print('two words')",
            "outputs": [{"type": "logs", "logs": "two words"}],
        }
    ],
    "a picture that was made": [
        {
            "type": "image_generation_call",
            "id": "ig",
            "result": "iVBO" * 200,
            "revised_prompt": "a cat on a mat",
        }
    ],
    "a tool of a server": [
        {"type": "mcp_list_tools", "id": "l", "server_label": "d", "tools": [{"name": "roll"}]},
        {
            "type": "mcp_call",
            "id": "m",
            "server_label": "d",
            "name": "roll",
            "arguments": "{}",
            "output": "seven of them",
        },
    ],
    "a click": [
        {
            "type": "computer_call",
            "id": "cu",
            "call_id": "c1",
            "action": {"type": "click", "button": "left", "x": 1, "y": 2},
        },
        {
            "type": "computer_call_output",
            "call_id": "c1",
            "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBO"},
        },
    ],
    "a patch": [
        {
            "type": "apply_patch_call",
            "id": "ap",
            "call_id": "c1",
            "operation": {"type": "update_file", "path": "a.py", "diff": "-one line\n+another"},
        },
        {"type": "apply_patch_call_output", "call_id": "c1", "output": "done as asked"},
    ],
    "the local shell": [
        {
            "type": "local_shell_call",
            "id": "sh",
            "call_id": "c1",
            "action": {"type": "exec", "command": ["ls", "my files"]},
        },
        {"type": "local_shell_call_output", "id": "c1", "output": "a file"},
    ],
}
GEMINI: dict[str, list[Fields]] = {
    "a result with a picture": [
        {
            "role": "model",
            "parts": [
                {"functionCall": {"id": "f", "name": "look", "args": {}}, "thoughtSignature": "c2"}
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "f",
                        "name": "look",
                        "response": {"seen": {"$ref": "x.png"}},
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBO"}}],
                    }
                }
            ],
        },
    ],
    "code": [
        {
            "role": "model",
            "parts": [
                {"executableCode": {"language": "PYTHON", "code": "print('two words')"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "two words"}},
            ],
        },
    ],
    "calls without ids": [
        {
            "role": "model",
            "parts": [
                {"functionCall": {"name": "f", "args": {"a": 1}}},
                {"functionCall": {"name": "f", "args": {"a": None}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": {"output": "first answer"}}},
                {"functionResponse": {"name": "f", "response": {"output": "second answer"}}},
            ],
        },
    ],
    "a film": [
        {
            "role": "user",
            "parts": [
                {
                    "fileData": {"mimeType": "video/mp4", "fileUri": "https://x"},
                    "videoMetadata": {"startOffset": "1s", "fps": 5},
                },
                {"text": "what happens here?"},
            ],
        }
    ],
}
BEDROCK: dict[str, list[Fields]] = {
    "cache points": [
        {
            "role": "user",
            "content": [{"text": "what is this?"}, {"cachePoint": {"type": "default"}}],
        },
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "t", "name": "look", "input": {"at": None}}},
                {"cachePoint": {"type": "default"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "t",
                        "content": [{"json": {"seen": "a blue vase"}}, {"text": "on a shelf"}],
                        "status": "success",
                    }
                },
                {"cachePoint": {"type": "default", "ttl": "1h"}},
            ],
        },
    ],
    "a search by the server": [
        {
            "role": "assistant",
            "content": [
                {
                    "toolUse": {
                        "toolUseId": "t",
                        "name": "nova_grounding",
                        "input": {"query": "how hot is cone 6"},
                        "type": "server_tool_use",
                    }
                },
                {
                    "toolResult": {
                        "toolUseId": "t",
                        "content": [{"text": "1,222 degrees it is"}],
                        "type": "nova_grounding_result",
                    }
                },
                {"text": "It is hot."},
            ],
        },
    ],
    "cited words": [
        {
            "role": "assistant",
            "content": [
                {
                    "citationsContent": {
                        "content": [{"text": "words with a source"}],
                        "citations": [{"location": {"documentChar": {"documentIndex": 0}}}],
                    }
                },
                {"reasoningContent": {"redactedContent": "eno="}},
            ],
        },
    ],
}


def cases() -> Iterator[Any]:
    asked = {"role": "user", "content": [{"type": "text", "text": "well?"}]}
    for name, blocks in ANTHROPIC_REPLIES.items():
        talk: list[Fields] = [asked, {"role": "assistant", "content": blocks}]
        yield pytest.param("anthropic", talk, id=f"anthropic: {name}")
    for name, blocks in ANTHROPIC_QUESTIONS.items():
        talk = [{"role": "user", "content": [*blocks, {"type": "text", "text": "well?"}]}]
        yield pytest.param("anthropic", talk, id=f"anthropic: {name}")
    for name, message in OPENAI.items():
        talk = [{"role": "user", "content": "well?"}, message]
        yield pytest.param("openai", talk, id=f"openai: {name}")
    for name, items in RESPONSES.items():
        talk = [{"role": "user", "content": "well?"}, *items]
        yield pytest.param("responses", talk, id=f"responses: {name}")
    for name, contents in GEMINI.items():
        talk = [{"role": "user", "parts": [{"text": "well?"}]}, *contents]
        yield pytest.param("gemini", talk, id=f"gemini: {name}")
    for name, messages in BEDROCK.items():
        yield pytest.param("bedrock", messages, id=f"bedrock: {name}")


WRITERS: dict[str, Callable[[tuple[Message, ...]], Any]] = {
    "anthropic": lambda talk: to_anthropic_request(talk)["messages"],
    "openai": to_openai,
    "responses": to_responses,
    "gemini": lambda talk: to_gemini_request(talk)["contents"],
    "bedrock": lambda talk: to_bedrock_request(talk)["messages"],
}


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


@pytest.mark.parametrize(("shape", "talk"), list(cases()))
def test_what_a_provider_documents_goes_back_as_it_came_and_its_words_reach_the_others(
    shape: str, talk: list[Fields]
) -> None:
    read = read_messages(talk, "messages")
    assert WRITERS[shape](read) == talk
    for other, write in WRITERS.items():
        written = json.dumps(write(read), ensure_ascii=False)
        for text in sentences(talk):
            spelled = json.dumps(text, ensure_ascii=False)[1:-1]
            assert spelled in written or json.dumps(spelled)[1:-1] in written, (other, text)
        assert "cachePoint" not in written or other == "bedrock"


@pytest.mark.parametrize("name", ANTHROPIC_REPLIES)
def test_an_answer_as_the_object_of_anthropics_sdk_goes_back_as_its_json(name: str) -> None:
    blocks = ANTHROPIC_REPLIES[name]
    answer = BetaMessage.construct(**{**ANSWER, "content": blocks})  # as the SDK makes it
    (said,) = to_anthropic_request(read_messages([answer], "messages"))["messages"]
    assert said == {"role": "assistant", "content": blocks}


@pytest.mark.parametrize("name", RESPONSES)
def test_an_answer_as_the_object_of_openais_sdk_goes_back_as_its_json(name: str) -> None:
    items = [item for item in RESPONSES[name] if not item["type"].endswith("_output")]
    answer = Response.construct(object="response", output=items)
    written = to_responses(read_messages([answer], "messages"))
    asked = [item for item in written if not item.get("type", "").endswith("_output")]
    assert asked == items


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
    assert written[2]["content"][0]["content"] == "a vase"


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


def test_a_call_that_the_user_did_not_allow_says_so_and_why() -> None:
    """Vercel's interface: `needsApproval` and a person who said no."""
    part = {
        "type": "tool-delete",
        "toolCallId": "t1",
        "state": "output-denied",
        "input": {"path": "a.py"},
        "approval": {"id": "p", "approved": False, "reason": "not that file"},
    }
    read = read_messages([{"id": "1", "role": "assistant", "parts": [part]}], "messages")
    (result,) = to_anthropic_request(read)["messages"][1]["content"]
    assert result["is_error"]
    assert result["content"].endswith("not that file")
