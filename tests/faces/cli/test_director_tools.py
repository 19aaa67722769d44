"""The director's tools by hand, and its nodes: no model, and no browser where none is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foreword.director import browser_files
from foreword.director.tool_table import TOOLS
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_runs, node_steps
from foreword.store.locations import state_path
from tests.command import CommandResult, run_in_process

OPEN = {
    "type": "navigate",
    "config": {"url": "http://127.0.0.1:1/"},
    "description": "open the list",
}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FOREWORD_DB", raising=False)


def call(tool: str, arguments: object = None, *options: str, stdin: bytes = b"") -> CommandResult:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return run_in_process("director", "call", "letters", tool, text, *options, stdin=stdin)


def test_every_tool_is_listed_with_what_it_takes() -> None:
    listed = run_in_process("director", "tools").out
    assert [name for name in TOOLS if name not in listed] == []
    assert "type, config, description, after?, parent?, branch?" in listed
    described = json.loads(run_in_process("director", "tools", "--format", "json").out)
    assert [tool["name"] for tool in described] == list(TOOLS)
    assert described[0]["parameters"]["required"] == ["type", "config", "description"]


def test_a_result_is_json_and_what_was_done_is_told_to_the_director() -> None:
    ran = call("create_node", OPEN)
    assert json.loads(ran.out)["id"] == "node1"
    assert "made workflow 'letters'" in ran.err
    context = run_in_process("session", "context", "letters").out
    assert "The user did this by hand:\n[calls create_node(" in context


def test_arguments_may_come_from_standard_input() -> None:
    ran = call("set_variable", "-", stdin=b'{"name": "berth", "value": 4, "reason": "mine"}')
    assert ran.code == 0
    assert json.loads(call("get_workflow_variable", {"name": "berth"}).out)["value"] == 4


def test_a_tool_that_fails_says_why_in_json_and_by_the_exit_code() -> None:
    ran = call("update_node", {"node": "node7", "description": "gone"})
    assert ran.code == 1
    assert "unknown node 'node7'" in json.loads(ran.out)["error"]


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("creat_node", "{}", "did you mean 'create_node'?"),
        ("create_node", "{", "the arguments are not JSON"),
        ("create_node", "[" * 100_000, "the arguments are not JSON"),
        ("create_node", "[1]", "the arguments are no JSON object"),
    ],
)
def test_what_can_not_be_called_changes_nothing(tool: str, arguments: str, message: str) -> None:
    ran = call(tool, arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not state_path(Path()).exists()


def test_a_workflow_without_nodes_is_not_run_and_says_how_it_gets_some() -> None:
    call("get_current_plan")
    ran = run_in_process("director", "run", "letters")
    assert (ran.code, ran.out) == (2, "")
    assert "'letters' has no nodes yet" in ran.err
    assert "`foreword director chat letters`" in ran.err


def test_arguments_that_a_tool_does_not_take_are_its_failure() -> None:
    ran = call("create_node", {**OPEN, "positon": 3})
    assert ran.code == 1
    assert "positon" in json.loads(ran.out)["error"]


def test_a_group_suggests_the_command_that_was_meant() -> None:
    assert "did you mean 'nodes'?" in run_in_process("director", "node", "letters").err
    assert "did you mean 'tabs'?" in run_in_process("browser", "tab").err


def test_nodes_are_listed_from_top_to_bottom_with_what_is_inside_them() -> None:
    call("create_node", OPEN)
    call(
        "create_node",
        {"type": "loop", "config": {"over": [1, 2], "as": "page"}, "description": "for each page"},
    )
    call(
        "create_node",
        {"type": "click", "config": {"selector": "#go"}, "description": "go", "parent": "node2"},
    )
    lines = run_in_process("director", "nodes", "letters").out.splitlines()
    assert [line.split()[1:3] for line in lines] == [
        ["node1", "navigate"],
        ["node2", "loop"],
        ["node3", "click"],
    ]
    assert lines[2].index("node3") == lines[1].index("node2") + 2
    nodes = json.loads(run_in_process("director", "nodes", "letters", "--format", "json").out)
    assert [(node["id"], node["last"]) for node in nodes] == [
        ("node1", None),
        ("node2", None),
        ("node3", None),
    ]


def test_a_workflow_that_is_not_there_is_not_made_by_looking_at_it() -> None:
    call("create_node", OPEN)
    for command in (("nodes", "lettrs"), ("run", "lettrs"), ("test", "lettrs", "node1")):
        ran = run_in_process("director", *command)
        assert ran.code == 2
        assert "did you mean 'letters'?" in ran.err


def test_there_must_be_a_run_to_go_on_with() -> None:
    call("create_node", OPEN)
    ran = run_in_process("director", "run", "letters", "--resume")
    assert ran.code == 2
    assert "there is no run to go on with" in ran.err


def test_a_click_that_may_have_happened_is_asked_about_and_skipped_by_name() -> None:
    call("create_node", {"type": "click", "config": {"selector": "#send"}, "description": "send"})
    with WorkflowState.open(None, "letters", root=".") as state:
        workflow = state.workflow.id
        run = node_runs.begin(state.db, workflow, run="run-killed", executor="dead")
        node_steps.begin(state.db, workflow, run, key="node1", node="node1")
    asked = run_in_process("director", "run", "letters", "--resume")
    assert (asked.code, "so it may have happened" in asked.err) == (1, True)
    assert "`foreword director run letters --skip node1` if it has happened" in asked.err
    wrong = run_in_process("director", "run", "letters", "--again", "node2")
    assert (wrong.code, "node1 is in question" in wrong.err) == (2, True)
    skipped = run_in_process("director", "run", "letters", "--skip", "node1")
    assert (skipped.code, "run-killed  success  0 steps" in skipped.out) == (0, True)
    assert "node1: it was taken for done, and not done again" in skipped.err


def test_a_run_that_begins_anew_does_not_begin_in_the_browser_of_the_one_before() -> None:
    call("create_node", OPEN)
    with WorkflowState.open(None, "letters", root=".") as state:
        node_runs.begin(state.db, state.workflow.id, run="run-killed", executor="dead")
        left = browser_files.place(state)
        browser_files.prepare(left)
        left.write_text("{}")
    for more, is_kept in (("--resume",), True), ((), False):
        ran = run_in_process("director", "run", "letters", "--attach", "127.0.0.1:9", *more)
        assert "no browser answers" in ran.err
        assert left.exists() == is_kept


def test_a_browser_that_is_not_there_is_said_by_name() -> None:
    ran = call("inspect_tab", {"inspection": "dom_snapshot"}, "--browser", "/no/such/browser")
    assert ran.code == 2
    assert "there is no browser at /no/such/browser" in ran.err


def test_an_address_where_no_browser_answers_is_said_at_once() -> None:
    ran = call("inspect_tab", {"inspection": "dom_snapshot"}, "--attach", "http://127.0.0.1:9")
    assert ran.code == 1
    assert "no browser answers at http://127.0.0.1:9" in ran.err
    assert "--remote-debugging-port" in ran.err
