"""Nodes run in a real browser: single ones, and whole workflows that stop at what fails and go
on from there."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from foreword.browser import Browser, Rules
from foreword.demos.site import PASSWORD, Site, site
from foreword.director import node_tools, runner
from foreword.errors import (
    BadNode,
    BrowserFailed,
    ForewordError,
    StoreError,
    UnknownName,
    UsageError,
)
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results, node_runs, workers
from tests.browser.post_office import PostOffice
from tests.director.letters import KEYS, SUBJECTS, build, check
from tests.faulty_site import elsewhere
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def desk() -> Iterator[Site]:
    with site() as served:
        yield served


@pytest.fixture(scope="module")
def browser(
    desk: Site, served_post_office: PostOffice, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    rules = Rules(origins=(desk.url, served_post_office.url), action_seconds=1.0)
    with Browser.start(rules, folder=tmp_path_factory.mktemp("profiles")) as started:
        yield started


@pytest.fixture
def state(tmp_path: Path) -> Iterator[WorkflowState]:
    with WorkflowState.open(None, "letters", root=tmp_path) as opened:
        yield opened


def keys(result: dict[str, Any]) -> list[str]:
    return [step["key"] for step in result["steps"]]


def statuses(state: WorkflowState) -> dict[str, str]:
    return {node["id"]: node.get("status", "") for node in state.snapshot()["nodes"]}


def values(
    state: WorkflowState, *configs: tuple[str, dict[str, Any], dict[str, Any]]
) -> dict[str, Any]:
    """NodeRun nodes that need no browser."""
    for kind, config, place in configs:
        node_tools.create_node(state, kind, config, **place)
    return runner.run_workflow(state, None)


def _set_if_success(step: dict[str, Any], then: Event) -> None:
    if step["status"] == "success":
        then.set()


def put(name: str, value: object, **place: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    return ("set_variable", {"variable": name, "value": value}, place)


# ---- whole workflows ----


def test_a_failing_selector_stops_the_run_and_once_repaired_it_goes_on_there(
    state: WorkflowState, browser: Browser, desk: Site
) -> None:
    build(state, desk.url)
    desk.sent.clear()
    node_tools.update_node(state, "node11", config={"selector": "#svae"})
    heard: list[dict[str, Any]] = []
    first = runner.run_workflow(state, browser, on_step=heard.append)
    assert (first["status"], first["failed_at"], first["key"]) == (
        "failed",
        "node11",
        "node7[0]/node11",
    )
    assert "nothing on the page matches '#svae'" in first["error"]
    assert first["page"]["url"] == f"{desk.url}/form"
    assert keys(first) == KEYS[:11]
    assert (statuses(state)["node11"], statuses(state)["node7"], statuses(state)["node12"]) == (
        "failed",
        "failed",
        "",
    )
    assert runner.unfinished_run(state) == first["run"]
    assert [one["status"] for one in heard[:4]] == ["running", "success", "running", "success"]

    node_tools.update_node(state, "node11", config={"selector": "#save"})
    second = runner.run_workflow(state, browser, resume=first["run"])
    assert (second["run"], second["status"], second["done_before"]) == (first["run"], "success", 9)
    assert keys(second) == ["node7", *KEYS[10:]]
    assert [row["subject"] for row in desk.sent] == SUBJECTS
    assert state.get_workflow_variables()["node12.told"] == "3 registered"
    check(state, first["run"])
    assert runner.unfinished_run(state) is None
    for told in (first, second, heard, state.snapshot(), state.variable_changes()):
        assert PASSWORD not in str(told)
    with pytest.raises(UsageError, match="has come to its end"):
        runner.run_workflow(state, browser, resume=first["run"])
    saved = runner.saved_browser(state)
    assert saved is not None
    assert saved.stat().st_mode & 0o077 == 0


def test_conditions_loops_and_what_is_inside_them_take_their_turns(state: WorkflowState) -> None:
    rows = [{"n": 1, "tags": ["a", "b"]}, {"n": 2, "tags": []}, {"n": 3, "tags": ["c"]}]
    state.set_variable("rows", rows, "test")
    state.set_variable("row", "outside", "shadowed inside the loop")
    result = values(
        state,
        ("loop", {"over": "{{rows}}", "as": "row"}, {}),
        (
            "condition",
            {"left": "{{row.n}}", "operator": "greater", "right": 1},
            {"parent": "node1"},
        ),
        put("large", "{{row.n}}", parent="node2"),
        put("small", "{{row.n}}", parent="node2", branch="else"),
        ("loop", {"over": "{{row.tags}}", "as": "tag"}, {"parent": "node1"}),
        put("last", "{{row.n}}{{tag}}", parent="node5"),
        put("after", "{{row}}"),
    )
    assert result["status"] == "success"
    assert keys(result) == [
        "node1",
        "node1[0]/node2",
        "node1[0]/node4",
        "node1[0]/node5",
        "node1[0]/node5[0]/node6",
        "node1[0]/node5[1]/node6",
        "node1[1]/node2",
        "node1[1]/node3",
        "node1[1]/node5",
        "node1[2]/node2",
        "node1[2]/node3",
        "node1[2]/node5",
        "node1[2]/node5[0]/node6",
        "node7",
    ]
    found = {
        name: state.get_workflow_variables()[name] for name in ("large", "small", "last", "after")
    }
    assert found == {"large": 3, "small": 1, "last": "3c", "after": "outside"}


def test_an_inner_loop_may_shadow_the_name_of_the_outer_one(state: WorkflowState) -> None:
    result = values(
        state,
        ("loop", {"over": [["a", "b"], ["c"]], "as": "it"}, {}),
        ("loop", {"over": "{{it}}", "as": "it"}, {"parent": "node1"}),
        put("inner", "{{it}}", parent="node2"),
        put("outer", "{{it}}", parent="node1"),
    )
    assert result["status"] == "success"
    assert (state.get_workflow_variables()["inner"], state.get_workflow_variables()["outer"]) == (
        "c",
        ["c"],
    )


@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        ({"over": [], "as": "n"}, {"turns": 0}),
        ({"over": "{{many}}", "as": "n", "most": 2}, {"turns": 2, "of": 1200}),
        (
            {"over": "{{many}}", "as": "n"},
            "config.over: has 1,200 elements, a loop has at most 1,000 turns unless told",
        ),
        (
            {"over": "{{text}}", "as": "n"},
            "config.over: must be a list or a template that is one, not 'abc'",
        ),
    ],
)
def test_a_loop_has_as_many_turns_as_its_list_and_no_more_than_it_may(
    state: WorkflowState, config: dict[str, Any], outcome: Any
) -> None:
    state.set_variable("many", list(range(1200)), "test")
    state.set_variable("text", "abc", "test")
    result = values(state, ("loop", config, {}), put("n", "{{n}}", parent="node1"))
    if isinstance(outcome, str):
        assert (result["status"], result["failed_at"], len(result["steps"])) == (
            "failed",
            "node1",
            1,
        )
        assert outcome in result["error"]
    else:
        assert result["steps"][0]["result"] == outcome
        assert len(result["steps"]) == 1 + outcome["turns"]


def test_a_run_that_was_stopped_goes_on_and_does_nothing_twice(state: WorkflowState) -> None:
    cancel = Event()
    for name in ("a", "b", "c"):
        node_tools.create_node(state, *put(name, "{{trail}}" + name)[:2])
    state.set_variable("trail", "t", "test")
    first = runner.run_workflow(
        state, None, cancel=cancel, on_step=lambda step: _set_if_success(step, cancel)
    )
    assert (first["status"], keys(first), first["stopped_at"]) == ("stopped", ["node1"], "node2")
    assert "running" not in statuses(state).values()
    second = runner.run_workflow(state, None, resume=first["run"])
    assert (second["status"], keys(second)) == ("success", ["node2", "node3"])
    assert [change.name for change in state.variable_changes()] == ["c", "b", "a", "trail"]


def test_a_condition_stays_decided_and_a_list_that_changed_is_told(state: WorkflowState) -> None:
    state.set_variable("way", "left", "test")
    state.set_variable("rows", [1, 2], "test")
    first = values(
        state,
        ("condition", {"left": "{{way}}", "operator": "equals", "right": "left"}, {}),
        put("way", "right", parent="node1"),
        ("loop", {"over": "{{rows}}", "as": "row"}, {"parent": "node1"}),
        put("seen", "{{row}} {{missing}}", parent="node3"),
        put("other", "way", parent="node1", branch="else"),
    )
    assert (first["status"], first["key"]) == ("failed", "node3[0]/node4")
    state.set_variable("missing", "found", "repair")
    state.set_variable("rows", [1, 2, 3], "somebody adds one")
    second = runner.run_workflow(state, None, resume=first["run"])
    assert second["status"] == "success"
    assert second["notes"] == [
        "node3: the list is not the one that the loop began with; turns that are done stay done"
    ]
    assert (state.get_workflow_variables()["seen"], "other" in state.get_workflow_variables()) == (
        "3 found",
        False,
    )


def test_what_can_not_run_is_refused_before_anything_happens(state: WorkflowState) -> None:
    with pytest.raises(UsageError, match="has no nodes"):
        runner.run_workflow(state, None)
    node_tools.create_node(state, "set_variable", {"variable": "a", "value": 1})
    with pytest.raises(UnknownName, match="unknown run 'run-1'"):
        runner.run_workflow(state, None, resume="run-1")
    state.put_node(
        {"id": "node_7", "position": 9, "type": "browser_action", "config": {"action": "go"}}
    )
    with pytest.raises(BadNode, match="node_7: type: 'browser_action' is not one of"):
        runner.run_workflow(state, None)
    assert "a" not in state.get_workflow_variables()
    assert node_runs.runs_of(state.db, state.workflow.id) == []


def test_a_workflow_runs_once_at_a_time_and_two_of_them_side_by_side(
    state: WorkflowState, tmp_path: Path
) -> None:
    node_tools.create_node(state, "set_variable", {"variable": "a", "value": 1})
    held, go_on = Event(), Event()

    def hold(step: dict[str, Any]) -> None:
        held.set()
        assert go_on.wait(PATIENCE_SECONDS)

    def elsewhere(name: str, **options: Any) -> dict[str, Any]:
        with WorkflowState.open(None, name, root=tmp_path) as own:
            if name == "other":
                node_tools.create_node(own, "set_variable", {"variable": "a", "value": 2})
            return runner.run_workflow(own, None, **options)

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(elsewhere, "letters", on_step=hold)
        assert held.wait(PATIENCE_SECONDS)
        try:
            with pytest.raises(UsageError, match=r"run-\w+ of 'letters' is under way"):
                elsewhere("letters")
            assert elsewhere("other")["status"] == "success"
        finally:
            go_on.set()
        assert slow.result()["status"] == "success"


def test_a_run_that_was_taken_over_writes_nothing_any_more(
    state: WorkflowState, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        node_tools.create_node(state, *put(name, name)[:2])
    results: list[dict[str, Any]] = []

    def take_over(step: dict[str, Any]) -> None:
        """The process is silent for long, and another one goes on with its run."""
        if results or step["status"] == "running":
            return
        with WorkflowState.open(None, "letters", root=tmp_path) as other:
            (run,) = node_runs.runs_of(other.db, other.workflow.id)
            while not results:
                workers.leave(other.db, run.executor)
                with suppress(UsageError):  # its heart has beaten since
                    results.append(runner.run_workflow(other, None, resume=run.run))

    with pytest.raises(StoreError, match="was taken over by another process"):
        runner.run_workflow(state, None, on_step=take_over)
    (result,) = results
    assert (result["status"], keys(result)) == ("success", ["node2"])
    (run,) = node_runs.runs_of(state.db, state.workflow.id)
    assert (run.status, run.attempt) == ("success", 2)
    assert [change.name for change in state.variable_changes()] == ["b", "a"]


class Dying:
    """A browser in a process that dies at the end of a click, or is stopped or fails there."""

    def __init__(self, browser: Browser, error: BaseException) -> None:
        self._browser, self._error = browser, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._browser, name)

    def perform(self, kind: str, *args: Any, **named: Any) -> dict[str, Any]:
        done = self._browser.perform(kind, *args, **named)
        if kind == "click":
            raise self._error
        return done


def unclear() -> BrowserFailed:
    error = BrowserFailed("the browser has ended or crashed")
    error.may_have_happened = True
    return error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), unclear()])
@pytest.mark.parametrize(("decision", "posts"), [("skip", 1), ("again", 2)])
def test_a_click_that_may_have_happened_is_not_repeated_unless_somebody_says_so(
    state: WorkflowState,
    browser: Browser,
    office: PostOffice,
    error: BaseException,
    decision: str,
    posts: int,
) -> None:
    node_tools.create_node(state, "navigate", {"url": office.url})
    node_tools.create_node(state, "click", {"selector": "#send"})
    node_tools.create_node(state, "navigate", {"url": office.url})
    with suppress(KeyboardInterrupt):
        runner.run_workflow(state, Dying(browser, error))  # type: ignore[arg-type]
    run = runner.unfinished_run(state)
    assert run is not None
    for asking in (browser, None):  # a question needs no browser
        asked = runner.run_workflow(state, asking, resume=run)
        assert (asked["status"], asked["stopped_at"], keys(asked)) == ("stopped", "node2", [])
        assert (
            "node2 was under way when the run ended, so it may have happened" in asked["question"]
        )
        assert f"resume {run} and skip node2 where it has, or again node2" in asked["next"]
    with pytest.raises(UsageError, match="node3 can't be decided on: node2 is in question"):
        runner.run_workflow(state, browser, resume=run, skip="node3")
    assert office.posts == 1
    browser.navigate(office.url)
    chosen: dict[str, Any] = {decision: "node2"}
    last = runner.run_workflow(state, browser, resume=run, **chosen)
    assert (last["status"], office.posts) == ("success", posts)
    assert any(note.startswith("node2: it ") for note in last["notes"])
    with pytest.raises(UsageError, match="no step of this run is in question"):
        runner.run_workflow(state, browser, resume=run, again="node2")


def test_a_click_behind_which_a_run_went_on_is_no_question_later(
    state: WorkflowState, browser: Browser, office: PostOffice
) -> None:
    node_tools.create_node(state, "navigate", {"url": office.url})
    node_tools.create_node(state, "click", {"selector": "#send", "on_failure": "go_on"})
    node_tools.create_node(state, "set_variable", {"variable": "seen", "value": "{{nothing}}"})
    first = runner.run_workflow(state, Dying(browser, unclear()))  # type: ignore[arg-type]
    assert first["failed_at"] == "node3"
    node_tools.update_node(state, "node3", config={"value": "it"})
    last = runner.run_workflow(state, browser, resume=first["run"])
    assert (last["status"], office.posts) == ("success", 1)


def test_a_click_that_did_not_happen_is_tried_again_without_a_question(
    state: WorkflowState, browser: Browser, office: PostOffice
) -> None:
    node_tools.create_node(state, "navigate", {"url": office.url})
    node_tools.create_node(state, "click", {"selector": "#nothing"})
    first = runner.run_workflow(state, browser)
    assert (first["status"], "question" in first) == ("failed", False)
    node_tools.update_node(state, "node2", config={"selector": "#send"})
    assert runner.run_workflow(state, browser, resume=first["run"])["status"] == "success"
    assert office.posts == 1


# ---- secrets ----


def test_a_secret_can_be_used_and_is_told_nowhere(
    state: WorkflowState, browser: Browser, desk: Site
) -> None:
    state.set_variable("passwords", ["sesame-one", "sesame-two"], "test")
    state.set_variable("creds", {"password": PASSWORD}, "test")
    create = node_tools.create_node
    create(state, "loop", {"over": "{{passwords}}", "as": "word"})
    create(state, "navigate", {"url": f"{desk.url}/help?key={{{{word}}}}"}, parent="node1")
    create(
        state, "set_variable", {"variable": "kept_password", "value": "{{word}}"}, parent="node1"
    )
    create(state, "click", {"selector": "#{{creds.password}}"})
    result = runner.run_workflow(state, browser)
    assert (result["status"], result["failed_at"]) == ("failed", "node4")
    assert "#[hidden]" in result["error"]
    rows = node_results.of_run(state.db, state.workflow.id, result["run"])
    for told in (result, rows, state.snapshot(), state.variable_changes()):
        assert "sesame" not in str(told)
        assert PASSWORD not in str(told)
    assert state.get_workflow_variables()["kept_password"] == "sesame-two"
    assert desk.requests[-1].endswith("key=sesame-two")


def test_a_secret_is_not_kept_under_a_name_that_would_show_it(state: WorkflowState) -> None:
    state.set_variable("creds", {"password": PASSWORD}, "test")
    result = values(state, put("greeting", "hello {{creds.password}}"))
    assert (result["status"], "greeting" in state.get_workflow_variables()) == ("failed", False)
    assert (
        result["error"]
        == "config.value: a secret can't be kept as 'greeting', where it would be shown"
    )


# ---- single nodes ----


def test_a_single_node_really_runs_and_its_result_is_the_newest(
    state: WorkflowState, browser: Browser, desk: Site
) -> None:
    node_tools.create_node(state, "navigate", {"url": f"{desk.url}/help"})
    node_tools.create_node(state, "extract", {"selector": "li", "variable": "tides", "many": True})
    assert (
        runner.test_single_node(state, browser, "node1")["result"]["title"]
        == "Tide table - Harbour Desk"
    )
    told = runner.test_single_node(state, browser, "node2")
    assert (told["status"], told["result"]["found"]) == (
        "success",
        ["04:12 high water", "10:31 low water"],
    )
    assert told["variables"] == {"node2.tides": '["04:12 high water", "10:31 low water"]'}
    assert state.get_workflow_variables()["node2.tides"] == ["04:12 high water", "10:31 low water"]
    node_tools.update_node(state, "node2", config={"selector": "li.none", "many": False})
    failed = runner.test_single_node(state, browser, "node2")
    assert (failed["status"], failed["page"]["url"]) == ("failed", f"{desk.url}/help")
    assert "nothing on the page matches 'li.none'" in failed["error"]
    assert statuses(state) == {"node1": "success", "node2": "failed"}
    newest = node_results.newest(state.db, state.workflow.id)
    assert {name: one.status for name, one in newest.items()} == {
        "node1": "success",
        "node2": "failed",
    }


def test_what_was_extracted_has_to_fit_its_schema(
    state: WorkflowState, browser: Browser, desk: Site
) -> None:
    schema = {"type": "object", "properties": {"time": {"type": "integer"}}}
    node_tools.create_node(state, "navigate", {"url": f"{desk.url}/help"})
    config = {
        "selector": "ul",
        "variable": "tides",
        "many": True,
        "fields": {"time": "li"},
        "schema": schema,
    }
    node_tools.create_node(state, "extract", config)
    result = runner.run_workflow(state, browser)
    assert (result["status"], result["failed_at"], result["page"]["url"]) == (
        "failed",
        "node2",
        f"{desk.url}/help",
    )
    assert (
        result["error"]
        == "what was extracted does not fit the schema: tides[0].time: must be a whole number, not"
        " '04:12 high water'"
    )
    assert "node2.tides" not in state.get_workflow_variables()


def test_a_node_in_a_loop_is_tested_in_the_first_turn_or_in_the_scope_that_is_given(
    state: WorkflowState,
) -> None:
    node_tools.create_node(state, "loop", {"over": [{"n": 1}, {"n": 2}], "as": "row"})
    node_tools.create_node(
        state, "condition", {"left": "{{row.n}}", "operator": "equals", "right": 1}, parent="node1"
    )
    told = runner.test_single_node(state, None, "node2")
    assert (told["result"], told["tested_in"]) == (
        {"holds": True},
        {"node1": "its first turn of 2"},
    )
    assert runner.test_single_node(state, None, "node2", {"row": {"n": 2}})["result"] == {
        "holds": False
    }
    assert runner.test_single_node(state, None, "node1")["result"] == {"turns": 2}


def test_without_a_browser_a_node_that_needs_one_fails_and_says_so(state: WorkflowState) -> None:
    node_tools.create_node(state, "navigate", {"url": "http://127.0.0.1/"})
    told = runner.test_single_node(state, None, "node1")
    assert (told["status"], told["error"]) == ("failed", "there is no browser to do it in")
    with pytest.raises(ForewordError):
        runner.test_single_node(state, None, "node2")


def test_waiting_and_a_refused_address_are_told_like_anything_else(
    state: WorkflowState, browser: Browser, desk: Site
) -> None:
    node_tools.create_node(state, "wait", {"seconds": 0.01})
    node_tools.create_node(state, "navigate", {"url": elsewhere(desk)})
    assert runner.test_single_node(state, browser, "node1")["status"] == "success"
    refused = runner.test_single_node(state, browser, "node2")
    assert refused["status"] == "failed"
    assert elsewhere(desk).removeprefix("http://") in refused["error"]
