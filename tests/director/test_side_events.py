"""What pages ask, refuse and open while nodes run: it is told, and a node can answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foreword.browser import Browser
from foreword.director import node_tools, runner
from foreword.errors import BadNode
from foreword.session.workflow_state import WorkflowState
from tests.browser.post_office import PostOffice


@pytest.fixture
def state(tmp_path: Path) -> Iterator[WorkflowState]:
    with WorkflowState.open(None, "letters", root=tmp_path) as opened:
        yield opened


def build(state: WorkflowState, *nodes: tuple[str, dict[str, object]]) -> None:
    for kind, config in nodes:
        node_tools.create_node(state, kind, config)


def test_what_was_dismissed_left_out_or_refused_is_in_the_notes_of_the_run(
    state: WorkflowState, shared: Browser, office: PostOffice
) -> None:
    build(
        state,
        ("navigate", {"url": office.url}),
        ("click", {"selector": "#delete"}),
        ("type", {"selector": "#name", "text": "Ada\n"}),
        ("type", {"selector": "#note", "text": "two\nlines"}),
        ("type", {"selector": "#short", "text": "Ada Lovelace"}),
        ("click", {"selector": "#file"}),
    )
    result = runner.run_workflow(state, shared)

    assert result["status"] == "success"
    assert result["notes"] == [
        "node2: confirm 'Delete all?' was answered: dismissed",
        "node3: the field has one line, so line ends were left out; press Enter to send it",
        "node5: the field keeps something else than what was typed",
        "node6: the download '_letters.csv' was refused",
    ]
    assert office.posts == 0


def test_a_node_says_yes_to_what_the_page_asks(
    state: WorkflowState, shared: Browser, office: PostOffice
) -> None:
    build(
        state,
        ("navigate", {"url": office.url}),
        ("click", {"selector": "#delete", "dialog": "accept"}),
        ("wait", {"selector": "text=deleted"}),
    )
    result = runner.run_workflow(state, shared)

    assert (result["status"], office.posts) == ("success", 1)
    assert result["notes"] == ["node2: confirm 'Delete all?' was answered: accepted"]
    with pytest.raises(BadNode, match=r"config\.dialog"):
        node_tools.update_node(state, "node2", config={"dialog": "perhaps"})


def test_a_prompt_gets_the_text_of_its_node(
    state: WorkflowState, shared: Browser, office: PostOffice
) -> None:
    state.set_variable("name", "Ada", "test")
    build(
        state,
        ("navigate", {"url": f"{office.url}/prompt"}),
        (
            "press",
            {"keys": "Enter", "selector": "#ask", "dialog": "accept", "dialog_text": "{{name}}"},
        ),
        ("extract", {"selector": "#told", "variable": "told"}),
    )
    assert runner.run_workflow(state, shared)["status"] == "success"
    assert state.get_workflow_variables()["node3.told"] == "Ada"


def test_a_key_sends_a_form_once_and_an_unknown_key_sends_nothing(
    state: WorkflowState, shared: Browser, office: PostOffice
) -> None:
    build(
        state,
        ("navigate", {"url": office.url}),
        ("type", {"selector": "#name", "text": "Ada"}),
        ("press", {"keys": "Entr", "selector": "#name"}),
    )
    first = runner.run_workflow(state, shared)
    assert (first["error"], "question" in first) == ("there is no key 'Entr'", False)
    node_tools.update_node(state, "node3", config={"keys": "Enter"})
    second = runner.run_workflow(state, shared, resume=first["run"])

    assert (second["status"], office.posts) == ("success", 1)
    assert second["steps"][-1]["result"]["title"] == "Posted"


def test_nodes_run_in_the_tab_of_the_workflow_and_not_in_a_debug_tab(
    state: WorkflowState, shared: Browser, office: PostOffice
) -> None:
    build(
        state,
        ("navigate", {"url": office.url}),
        ("click", {"selector": "#new"}),
        ("extract", {"selector": "h1", "variable": "other"}),
        ("navigate", {"url": office.url, "tab": "Main Tab"}),
        ("extract", {"selector": "#send", "variable": "send"}),
    )
    try:
        result = runner.run_workflow(state, shared)
        assert result["status"] == "success"
        tabs = [step["result"]["tab"] for step in result["steps"]]
        assert tabs == ["Main Tab", "Main Tab", "Other", "Main Tab", "Main Tab"]
        shared.open_tab(f"{office.url}/post", name="Debug")
        assert runner.test_single_node(state, shared, "node5")["result"]["tab"] == "Main Tab"
        assert shared.state("Debug")["url"] == f"{office.url}/post"
    finally:
        for name in ("Debug", "Other"):
            shared.close_tab(name)
