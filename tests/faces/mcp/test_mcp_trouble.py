"""Frames that are no messages, arguments that are no arguments, signals: proper errors, and a
server that lives on."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.faces.mcp.tools import TOOLS
from tests.examples import examples
from tests.faces.behaviour import SECRET, project
from tests.faces.mcp.clients import Frames, frames
from tests.patience import PATIENCE_SECONDS

MANY = 10_000_000


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("trouble"))


@pytest.fixture(scope="module")
def connection(root: Path) -> Iterator[Frames]:
    with frames(root) as client:
        client.call("set_variable", name="cone", value=4, reason="so that there is a workflow")
        yield client


def test_a_bad_frame_is_answered_and_the_next_one_served(connection: Frames) -> None:
    bad = {
        b"not json": -32700,
        b"{": -32700,
        b"\xff\xfe\x00": -32700,
        b"[" * 100_000: -32700,
        b"null": -32600,
        b"[]": -32600,
        b"5": -32600,
        b'{"jsonrpc":"1.0","id":"a","method":"ping"}': -32600,
        b'{"jsonrpc":"2.0","id":"b"}': -32600,
        b'{"jsonrpc":"2.0","id":"c","method":"ping","params":"\\ud800"}': -32600,
    }
    for frame, code in bad.items():
        connection.unasked.clear()
        connection.send(frame)
        assert "result" in connection.answer("ping", {})
        assert [one["error"]["code"] for one in connection.unasked] == [code], frame[:40]
        assert connection.unasked[0]["id"] == (
            json.loads(frame)["id"] if b'"id"' in frame else None
        )


def test_what_needs_no_answer_gets_none(connection: Frames) -> None:
    connection.unasked.clear()
    for frame in (
        b"",
        b"   ",
        b'{"jsonrpc":"2.0","id":9999,"result":{}}',
        b'{"jsonrpc":"2.0","method":"tea/pot"}',
    ):
        connection.send(frame)
    assert "result" in connection.answer("ping", {})
    assert connection.unasked == []


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tea/pot", {}, -32601),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": "tea_pot"}, -32602),
        ("tools/call", {"name": "x" * MANY}, -32602),
        ("tools/call", {"name": "recall", "arguments": []}, -32602),
        ("resources/read", {"uri": 5}, -32602),
        ("resources/read", {"uri": "foreword://plan/" + "x" * 1_000_000}, -32602),
        ("prompts/get", {"name": "handoff", "arguments": {"source": 5}}, -32602),
    ],
)
def test_a_request_that_is_none_is_an_error_of_the_protocol(
    connection: Frames, method: str, params: dict[str, Any], code: int
) -> None:
    error = connection.answer(method, params)["error"]
    assert error["code"] == code
    assert len(error["message"]) < 5_000


def test_ten_megabytes_are_kept_and_one_comes_back_fitted(connection: Frames) -> None:
    text = "clay and water " * (MANY // 15)
    for value in (text, text[: MANY // 10]):
        assert not connection.call("set_variable", name="much", value=value, reason="try")[
            "result"
        ]["isError"]
    answer = connection.call("get_workflow_variable", name="much", budget=1000)["result"]["_meta"][
        "foreword/answer"
    ]
    assert answer["whole_tokens"] > 100_000
    page = connection.call("recall", handle=answer["handle"], budget=2000)["result"]["_meta"][
        "foreword/answer"
    ]
    assert text.startswith(page["text"].removeprefix('"')[:1000])
    connection.call("clear_variable", name="much", reason="done")


def test_values_that_are_nested_too_deeply_do_no_harm(connection: Frames) -> None:
    for depth in (90, 190, 250, 1_000):
        nested = "[" * depth + "]" * depth
        frame = (
            f'"name":"set_variable","arguments":{{"name":"deep","value":{nested},"reason":"try"}}'
        )
        connection.send(
            f'{{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{{{frame}}}}}'.encode()
        )
        answer = connection.call("get_workflow_variable", name="deep")
        assert "result" in answer or "error" in answer
    assert "result" in connection.answer("ping", {})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(sorted(TOOLS)), st.data())
def test_no_arguments_at_all_break_the_server(
    connection: Frames, tool: str, data: st.DataObject
) -> None:
    names = st.sampled_from([*TOOLS[tool].input_schema["properties"]]) | st.text(max_size=5)
    arguments = data.draw(st.dictionaries(names, VALUES, max_size=5))
    answer = connection.answer("tools/call", {"name": tool, "arguments": arguments})
    assert "result" in answer or answer["error"]["code"] in (-32600, -32602)
    assert "something went wrong" not in json.dumps(answer)


def test_calls_go_on_side_by_side(connection: Frames) -> None:
    asked = [
        connection.ask(
            "tools/call",
            {
                "name": "set_variable",
                "arguments": {"name": f"v{n}", "value": n, "reason": "many", "workflow": "many"},
            },
        )
        for n in range(40)
    ]
    connection.unasked.clear()
    connection.answer("ping", {})
    while {one.get("id") for one in connection.unasked} < set(asked):
        connection.answer("ping", {})
    found = connection.call("get_workflow_variable", name="all", workflow="many")["result"][
        "_meta"
    ]["foreword/answer"]
    assert found["value"] == {f"v{n}": n for n in range(40)}


def test_the_log_says_what_failed_and_never_with_what(root: Path, connection: Frames) -> None:
    connection.call("set_variable", name="api_key", value=SECRET, reason="try")
    assert SECRET in json.dumps(connection.call("get_workflow_variable", name="api_key"))
    connection.call("recall", handle=SECRET)
    connection.call("update_plan", plan={SECRET: SECRET}, reason=SECRET)
    connection.send(
        f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{SECRET}\\ud800"}}}}'.encode()
    )
    connection.answer("ping", {})
    log = (root.parent / "log").read_text()
    assert "foreword mcp: recall: unknown_handle\n" in log
    assert SECRET not in log


def test_a_secret_in_an_error_is_hidden(connection: Frames) -> None:
    text = connection.call("recall", handle=SECRET)["result"]["content"][0]["text"]
    assert "[hidden]" in text
    assert SECRET not in text


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, None])
def test_the_server_ends_cleanly(tmp_path: Path, end: signal.Signals | None) -> None:
    root = project(tmp_path)
    with frames(root) as client:
        client.call("set_variable", name="x", value=1, reason="try")
        if end is None:
            assert client.process.stdin is not None
            client.process.stdin.close()
        else:
            client.process.send_signal(end)
        assert client.process.wait(PATIENCE_SECONDS) == 0
    assert (tmp_path / "log").read_text() == ""


def test_a_bad_root_or_store_is_told_before_anything_is_served(tmp_path: Path) -> None:
    from tests.command import foreword

    assert "there is no such folder" in foreword("mcp", "--root", tmp_path / "nowhere").err
    assert foreword("mcp", "--workflow", "", "--root", tmp_path).code == 2
