"""Items of OpenAI's Responses API in a history that does not fit: it refuses an answer without its
call, and an item with an id without the reasoning that it came with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foreword
from tests.conformance.test_phases import state
from tests.sessions import words

Item = dict[str, Any]
TOOLS: dict[str, Item] = {
    "function_call": {"name": "read", "arguments": "{}"},
    "computer_call": {"action": {"type": "wait"}, "status": "completed"},
    "local_shell_call": {
        "action": {"type": "exec", "command": ["ls"], "env": {}},
        "status": "completed",
    },
}


def turn(number: int, size: int) -> list[Item]:
    """The assistant thinks and uses two tools at once: one that everybody knows, a computer, or a
    shell, whose output has the id of its call as its own."""
    thought = {"type": "summary_text", "text": words("thought", size)}
    items: list[Item] = [
        {
            "type": "reasoning",
            "id": f"rs_{number}",
            "summary": [thought],
            "encrypted_content": f"e{number}",
        }
    ]
    kind = ("function_call", "computer_call", "local_shell_call")[number % 3]
    for place in (0, 1):
        call: Item = {
            "type": kind,
            "call_id": f"call_{number}_{place}",
            "id": f"it_{number}_{place}",
        }
        items.append(call | TOOLS[kind])
    picture = {"type": "computer_screenshot", "image_url": "https://example.org/a.png"}
    for place in (0, 1):
        name = "id" if kind == "local_shell_call" else "call_id"
        output = picture if kind == "computer_call" else words("result", size)
        items.append({"type": f"{kind}_output", name: f"call_{number}_{place}", "output": output})
    return items


def problems(items: list[Any]) -> Iterator[str]:
    calls = set[str]()
    thought = ""
    for item in items:
        kind = item.get("type", "message")
        if kind == "reasoning":
            thought = item["id"].removeprefix("rs_")
        elif kind.endswith("_call"):
            calls.add(item["call_id"])
            if "id" in item and item["id"].split("_")[1] != thought:
                yield f"{item['id']} without its reasoning"
        elif kind.endswith("_output") and item.get("call_id", item.get("id")) not in calls:
            yield f"{kind} without its call"


@pytest.mark.parametrize("size", [5, 200])
def test_an_item_never_goes_without_what_it_came_with(tmp_path: Path, size: int) -> None:
    history: list[Item] = [{"role": "user", "content": "Go on until you are done."}]
    for number in range(12):
        history += turn(number, size)
    for length in (len(history), len(history) - 2):  # with the newest calls open, too
        url = f"sqlite:///{tmp_path}/{length}.db"
        with foreword.Session.open(url, root=tmp_path) as session:
            session.append_all(history[:length])
        for budget in range(400, 3_000, 200):
            with foreword.Session.open(url, root=tmp_path) as session:
                items = session.context(budget=budget).to_responses()["input"]
            assert list(problems(items)) == [], f"{length} at {budget}"


def test_the_users_approval_is_the_users_and_stays_with_what_it_approves(tmp_path: Path) -> None:
    request = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "name": "pay",
        "arguments": "{}",
        "server_label": "bank",
    }
    response = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    with foreword.Session.open(f"sqlite:///{tmp_path}/s.db", root=tmp_path) as session:
        session.append_all([{"role": "user", "content": words("old", 900)}, request, response])
        package = session.context(budget=500)
    assert [message.role for message in package.messages][-2:] == ["assistant", "user"]
    assert package.to_responses()["input"][-2:] == [request, response]


def test_calls_of_one_turn_stand_together_in_front_of_their_results(tmp_path: Path) -> None:
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output"}
    items: list[Item] = [
        {"role": "user", "content": "Go on."},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {**call, "id": "fc_1", "call_id": "a"},
        {**call, "id": "fc_2", "call_id": "b"},
        {**output, "call_id": "b", "output": "the second"},
        {**output, "call_id": "a", "output": "the first"},
    ]
    with foreword.Session.open(f"sqlite:///{tmp_path}/s.db", root=tmp_path) as session:
        for item in items:
            session.append(item)
        package = session.context()
    assert package.to_responses()["input"] == items
    calls = [len(message.get("tool_calls", ())) for message in package.to_openai()]
    assert calls == [0, 2, 0, 0], "the user, the assistant, two results"


def test_a_developer_of_one_api_is_one_of_the_other(tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a", "output": "done"}
    rule = {"role": "developer", "content": "Answer in one line."}
    with foreword.Session.open(f"sqlite:///{tmp_path}/s.db", root=tmp_path) as session:
        session.append_all([{"role": "user", "content": "Go on."}, call, output, rule])
        package = session.context()
    assert package.to_responses()["input"][-1] == rule
    assert package.to_openai()[-1] == rule


@pytest.mark.parametrize("phase", ["planning", "implementation"])
def test_nor_does_it_in_a_phase(tmp_path: Path, phase: str) -> None:
    messages: list[Item] = [{"role": "user", "content": "Go on until you are done."}]
    for number in range(12):
        messages += turn(number, 20)
    source = state(messages=messages)
    for budget in range(800, 2_400, 200):
        package = foreword.assemble(
            "phases", root=tmp_path, phase=phase, source=source, budget=budget
        )
        assert list(problems(package.to_responses()["input"])) == [], f"at {budget}"
