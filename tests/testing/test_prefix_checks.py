"""The check of prefixes: what a client may do to a conversation with thinking, and how a change is
named."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider, prefix_breaks

Body = dict[str, Any]
Answer = tuple[int, Body]
BETA = "thinking-binding-controls-2026-08-01"
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
REFUSED = (
    ": Invalid `signature` in `thinking` block. The block is bound to a different conversation."
    ' Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
NEEDS_BETA = f" That setting requires the `{BETA}` value in the `anthropic-beta` header."
WORDS = st.text("abc ", min_size=1, max_size=8)
TOOLS = [
    {"name": "look", "input_schema": {"type": "object"}},
    {"name": "list", "input_schema": {"type": "object"}},
]
# A turn asks a question, and its answer calls a tool or does not.
TURNS = st.lists(st.tuples(WORDS, st.booleans()), min_size=2, max_size=4)


def post(provider: FakeProvider, body: Body, beta: str = "") -> Answer:
    """Send a request; gives the status and the body of the answer."""
    request = urllib.request.Request(
        f"{provider.url}/v1/messages",
        data=json.dumps(body).encode(),
        headers={"anthropic-beta": beta} if beta else {},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def think(body: Mapping[str, Any]) -> Reply:
    """Answer with thinking, and call a tool where the newest message asks for it."""
    newest = json.dumps(body["messages"][-1])
    calls = [ToolCall("look", {"for": "cones"})] if "Look." in newest else []
    return Reply("An answer.", calls, thinking=f"I think about {len(newest)}.")


@contextmanager
def checking_provider() -> Iterator[FakeProvider]:
    with fake_provider(think, check_prefixes=True) as provider:
        yield provider


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with checking_provider() as running:
        yield running


def first_request(text: str = "What is a cone?") -> Body:
    return {
        "model": "claude-opus-5-5",
        "max_tokens": 100,
        "system": "You look after a kiln.",
        "tools": TOOLS,
        "messages": [{"role": "user", "content": text}],
    }


def dotted(path: str) -> str:
    return path.replace("[", ".").replace("]", "")


def go_on(body: Body, answer: Body, text: str) -> Body:
    """The next request: the answer as it came, results of its calls, and a question."""
    results: list[Body] = []
    for block in answer["content"]:
        if block["type"] == "tool_use":
            results.append({"type": "tool_result", "tool_use_id": block["id"], "content": "04"})
    question = {"role": "user", "content": [*results, {"type": "text", "text": text}]}
    said = {"role": "assistant", "content": answer["content"]}
    return {**body, "messages": [*body["messages"], said, question]}


def talk(provider: FakeProvider, turns: Sequence[tuple[str, bool]]) -> list[Body]:
    """Hold a conversation that only appends; gives its requests and the one that would be next."""
    texts = [text + " Look." * calls for text, calls in turns]
    requests = [first_request(texts[0])]
    for text in [*texts[1:], "And then?"]:
        status, answer = post(provider, requests[-1])
        assert status == 200, answer
        requests.append(go_on(requests[-1], answer, text))
    return requests


def thinking_paths(body: Body) -> dict[str, str]:
    """The path of each thinking block by its signature."""
    paths: dict[str, str] = {}
    for index, message in enumerate(body["messages"]):
        for place, block in enumerate(message["content"]):
            if isinstance(block, dict) and block["type"] == "thinking":
                paths[block["signature"]] = f"messages[{index}].content[{place}]"
    return paths


def without_thinking(body: Body, numbers: Sequence[int]) -> Body:
    """The same request without some of its thinking, by number."""
    changed = deepcopy(body)
    for number in numbers:
        del changed["messages"][2 * number + 1]["content"][0]
    return changed


@given(turns=TURNS, marked=st.integers(0, 7), as_list=st.booleans())
def test_a_client_that_only_appends_is_never_refused(
    provider: FakeProvider, turns: list[tuple[str, bool]], marked: int, as_list: bool
) -> None:
    requests = talk(provider, turns)
    newest = requests[-1]
    # neither where a cache is marked nor how one text is spelled is content
    message = newest["messages"][marked % len(newest["messages"])]
    if isinstance(message["content"], str):
        message["content"] = [{"type": "text", "text": message["content"]}]
    message["content"][-1]["cache_control"] = {"type": "ephemeral"}
    if as_list:
        newest["system"] = [{"type": "text", "text": newest["system"]}]
    newest |= {"max_tokens": 7, "thinking": {"type": "adaptive"}}
    assert post(provider, newest)[0] == 200
    assert prefix_breaks(requests) == []


def edit_system(body: Body, at: int) -> str:
    body["system"] += "Today is Thursday."
    return "system"


def remove_system(body: Body, at: int) -> str:
    del body["system"]
    return "system"


def edit_tool(body: Body, at: int) -> str:
    body["tools"][at % 2]["input_schema"]["type"] = "array"
    return f"tools[{at % 2}].input_schema.type"


def remove_tool(body: Body, at: int) -> str:
    del body["tools"][at % 2]
    return f"tools[{at % 2}]"


def insert_tool(body: Body, at: int) -> str:
    body["tools"].insert(at % 3, {"name": "new", "input_schema": {}})
    return f"tools[{at}]" if at < 2 else "system"


def reorder_tools(body: Body, at: int) -> str:
    body["tools"].reverse()
    return "tools[0].name"


def edit_message(body: Body, at: int) -> str:
    """Change the last text, result or input of a message."""
    message = body["messages"][at]
    if isinstance(message["content"], str):
        message["content"] += "!"
        return f"messages[{at}].content"
    place = f"messages[{at}].content[{len(message['content']) - 1}]"
    block = message["content"][-1]
    if block["type"] == "tool_use":
        block["input"]["for"] = "glazes"
        return f"{place}.input.for"
    block["text"] += "!"
    return f"{place}.text"


def change_role(body: Body, at: int) -> str:
    message = body["messages"][at]
    message["role"] = "user" if message["role"] == "assistant" else "assistant"
    return f"messages[{at}]"


def remove_message(body: Body, at: int) -> str:
    del body["messages"][at]
    return f"messages[{at}]"


def insert_message(body: Body, at: int) -> str:
    body["messages"].insert(at, {"role": "user", "content": "Inserted."})
    return f"messages[{at}]"


def reorder_messages(body: Body, at: int) -> str:
    messages = body["messages"]
    messages[at], messages[at + 1] = messages[at + 1], messages[at]
    return f"messages[{at}]"


CHANGES: list[Callable[[Body, int], str]] = [
    edit_system,
    remove_system,
    edit_tool,
    remove_tool,
    insert_tool,
    reorder_tools,
    edit_message,
    change_role,
    remove_message,
    insert_message,
    reorder_messages,
]


@given(turns=TURNS, change=st.sampled_from(CHANGES), data=st.data())
def test_any_change_before_the_last_thinking_is_refused_and_named_by_its_path(
    provider: FakeProvider,
    turns: list[tuple[str, bool]],
    change: Callable[[Body, int], str],
    data: st.DataObject,
) -> None:
    requests = talk(provider, turns)
    newest = deepcopy(requests[-1])
    last = list(thinking_paths(newest))[-1]
    sent_before = len(requests[-2]["messages"])
    at = data.draw(st.integers(0, 2 if "tool" in change.__name__ else sent_before - 1))
    path = change(newest, at)
    status, answer = post(provider, newest)
    (found,) = prefix_breaks([*requests[:-1], newest])
    assert found.request == len(requests) - 1
    assert found.path.startswith(path)
    assert thinking_paths(newest)[last] in found.thinking
    assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
    assert answer["error"]["message"] == dotted(found.thinking[0]) + REFUSED + NEEDS_BETA


@given(turns=TURNS, data=st.data())
def test_thinking_may_be_removed_from_the_beginning_and_not_from_the_middle(
    provider: FakeProvider, turns: list[tuple[str, bool]], data: st.DataObject
) -> None:
    requests = talk(provider, turns)
    count = len(turns)
    first = data.draw(st.integers(0, count - 1))
    last = data.draw(st.integers(first, count - 1))
    newest = without_thinking(requests[-1], range(first, last + 1))
    status, answer = post(provider, newest)
    breaks = prefix_breaks([*requests[:-1], newest])
    if first == 0 or last == count - 1:
        assert (status, breaks) == (200, [])
        return
    (found,) = breaks
    later = [f"messages[{2 * number + 1}].content[0]" for number in range(last + 1, count)]
    assert found.path == f"messages[{2 * last + 1}].content[0]"
    assert found.thinking == tuple(later)
    assert status == 400
    assert answer["error"]["message"] == dotted(later[0]) + REFUSED + NEEDS_BETA


def test_thinking_that_is_put_back_makes_what_was_thought_without_it_unusable(
    provider: FakeProvider,
) -> None:
    requests = talk(provider, [("One.", False), ("Two.", False)])
    without = without_thinking(requests[-1], [0])
    status, answer = post(provider, without)
    assert status == 200
    put_back = go_on({**without, "messages": requests[-1]["messages"]}, answer, "Three?")
    assert post(provider, put_back)[0] == 400
    (found,) = prefix_breaks([*requests[:-1], without, put_back])
    assert (found.path, found.thinking) == ("messages[5].content[0]", ("messages[5].content[0]",))


def test_a_gap_is_named_beside_what_was_removed_from_the_beginning(provider: FakeProvider) -> None:
    requests = talk(provider, [(text, False) for text in ("One.", "Two.", "Three.", "Four.")])
    newest = without_thinking(requests[-1], [0, 2])
    assert post(provider, newest)[0] == 400
    (found,) = prefix_breaks([*requests[:-1], newest])
    assert (found.path, found.thinking) == ("messages[5].content[0]", ("messages[7].content[0]",))


def test_an_end_that_is_gone_is_named_and_makes_no_thinking_unusable(
    provider: FakeProvider,
) -> None:
    requests = talk(provider, [("One.", False), ("Two.", False)])
    shorter = {**requests[-1], "messages": requests[-1]["messages"][:3]}
    assert post(provider, shorter)[0] == 200
    (found,) = prefix_breaks([*requests, shorter])
    assert (found.path, found.thinking) == ("messages[3].content[1].text", ())


@pytest.mark.parametrize("field", ["thinking", "signature"])
def test_edited_thinking_is_refused_whatever_the_request_asks_for(
    provider: FakeProvider, field: str
) -> None:
    requests = talk(provider, [("One.", False), ("Two.", False)])
    newest = deepcopy(requests[-1])
    newest["messages"][1]["content"][0][field] += "!"
    status, answer = post(provider, {**newest, "thinking": DROP}, BETA)
    assert status == 400
    assert answer["error"]["message"] == (
        "messages.1.content.0: Invalid `signature` in `thinking` block"
    )
    (found,) = prefix_breaks([*requests[:-1], newest])
    assert found.path.startswith("messages[1].content[0]")
    assert found.thinking[0] == "messages[1].content[0]"


def test_content_inserted_before_the_newest_answer_is_named(provider: FakeProvider) -> None:
    requests = talk(provider, [("One.", False), ("Two.", False)])
    newest = deepcopy(requests[-1])
    newest["messages"].insert(3, {"role": "user", "content": "Keep it short."})
    assert post(provider, newest)[0] == 400
    (found,) = prefix_breaks([*requests[:-1], newest])
    assert (found.path, found.thinking) == ("messages[3].content", ("messages[4].content[0]",))


def test_drop_block_answers_without_the_invalid_thinking_and_says_which_it_was(
    provider: FakeProvider,
) -> None:
    requests = talk(provider, [("One.", False), ("Two.", False)])
    asking = {**requests[-1], "thinking": DROP}
    assert post(provider, asking, BETA)[1]["input_transformations"] == []
    changed = deepcopy(asking)
    changed["messages"][2]["content"][0]["text"] = "Another question."
    status, answer = post(provider, changed, BETA)
    assert status == 200
    dropped = {
        "type": "thinking_dropped",
        "path": "messages.3.content.0",
        "reason": "prefix_binding_mismatch",
    }
    assert answer["input_transformations"] == [dropped]
    # what is thought after the change is bound to the conversation as it is now
    following = go_on(changed, answer, "And now?")
    assert post(provider, following, BETA)[1]["input_transformations"] == [dropped]
    first, second = prefix_breaks([*requests[:-1], changed, following])
    assert (first.path, first.thinking) == (
        "messages[2].content[0].text",
        ("messages[3].content[0]",),
    )
    assert (second.path, second.thinking) == ("", first.thinking)


def test_drop_block_needs_the_beta_header(provider: FakeProvider) -> None:
    status, answer = post(provider, {**first_request(), "thinking": DROP})
    assert status == 400
    assert answer["error"]["message"] == (
        "thinking.adaptive.block_binding: Extra inputs are not permitted"
    )


def test_a_refused_request_takes_no_reply_from_the_script() -> None:
    script = [Reply("One.", thinking=""), Reply("Two.", thinking="")]
    with fake_provider(script, check_prefixes=True) as provider:
        body = first_request()
        following = go_on(body, post(provider, body)[1], "And?")
        assert post(provider, {**following, "system": "You look after two kilns."})[0] == 400
        answer = post(provider, following)[1]
        assert [block["type"] for block in answer["content"]] == ["thinking", "text"]
        assert answer["content"][1]["text"] == "Two."
        (refusal,) = provider.refusals
    assert refusal == "messages.1.content.0" + REFUSED + NEEDS_BETA


def test_without_the_check_a_changed_prefix_is_answered() -> None:
    with fake_provider(think) as provider:
        body = first_request()
        following = go_on(body, post(provider, body)[1], "And?")
        assert post(provider, {**following, "system": "You look after two kilns."})[0] == 200
        assert provider.refusals == []


def test_the_client_of_the_provider_reads_thinking_whole_and_streamed() -> None:
    import anthropic  # slow to import: only where this test is run

    with (
        fake_provider(Reply("Six.", thinking="Five, or six?")) as provider,
        anthropic.Anthropic(api_key="none", base_url=provider.url, max_retries=0) as client,
    ):
        question: Any = {"role": "user", "content": "Which cone?"}
        options: Any = {"model": "claude", "max_tokens": 100, "messages": [question]}
        whole = client.messages.create(**options)
        with client.messages.stream(**options) as stream:
            streamed = stream.get_final_message()
    messages: list[Any] = [whole, streamed]
    for message in messages:
        thinking, text = message.content
        assert (thinking.type, text.type) == ("thinking", "text")
        assert (thinking.thinking, text.text) == ("Five, or six?", "Six.")
        assert thinking.signature


def test_an_answer_may_think_more_than_once_and_redacted() -> None:
    question: Body = {"role": "user", "content": "Which cone?"}
    answer: Body = {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "", "signature": "a"},
            {"type": "text", "text": "Let me see."},
            {"type": "redacted_thinking", "data": "b"},
            {"type": "text", "text": "Six."},
        ],
    }
    first: Body = {"messages": [question]}
    second = {"messages": [question, answer, {"role": "user", "content": "And for celadon?"}]}
    assert prefix_breaks([first, second]) == []
    # a conversation that was recorded from its middle on
    assert prefix_breaks([second, second]) == []
    third = deepcopy(second)
    third["messages"][1]["content"][1]["text"] = "Let us see."
    (found,) = prefix_breaks([first, second, third])
    assert found.path == "messages[1].content[1].text"
    assert found.thinking == ("messages[1].content[2]",)


CHAT = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "04"},
    ]
}
RESPONSES = {
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Hello."}]},
        {"type": "reasoning", "id": "r1", "encrypted_content": "abc"},
        {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"},
    ],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Hello."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"for": "cones"}}}]},
    ],
}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (CHAT, "messages[0].content"),
        (CHAT, "messages[2].tool_calls[0].function.arguments"),
        (CHAT, "messages[3].tool_call_id"),
        (RESPONSES, "instructions"),
        (RESPONSES, "input[0].content[0].text"),
        (RESPONSES, "input[1].encrypted_content"),
        (GEMINI, "systemInstruction.parts[0].text"),
        (GEMINI, "contents[1].parts[0].functionCall.args.for"),
    ],
)
def test_a_change_of_other_providers_requests_is_named(body: Body, path: str) -> None:
    changed = deepcopy(body)
    *parents, last = re.findall(r"\w+", path)
    target: Any = changed
    for name in parents:
        target = target[int(name) if name.isdigit() else name]
    target[last] += " Changed."
    (history,) = {"messages", "input", "contents"} & body.keys()
    longer = {**body, history: [*body[history], {"role": "user", "content": "And?"}]}
    assert prefix_breaks([body, longer]) == []
    (found,) = prefix_breaks([body, longer, changed])
    assert (found.request, found.path, found.thinking) == (2, path, ())
