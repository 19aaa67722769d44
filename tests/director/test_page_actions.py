"""What people do on pages, as nodes and as debug actions, on a page that says what it saw."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foreword.browser import Browser, Rules
from foreword.director import Director, node_tools, runner
from foreword.errors import BrowserFailed
from foreword.session.workflow_state import WorkflowState
from foreword.store.locations import project_directory
from foreword.testing import Reply, fake_provider
from tests.director.scenes import calls, open_director
from tests.director.workbench import Workbench, workbench


@pytest.fixture(scope="module")
def bench() -> Iterator[Workbench]:
    with workbench() as served:
        yield served


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    rules = Rules(action_seconds=3, page_seconds=8)
    with Browser.start(rules, folder=tmp_path_factory.mktemp("profiles")) as started:
        yield started


@pytest.fixture
def state(tmp_path: Path) -> Iterator[WorkflowState]:
    with WorkflowState.open(None, "letters", root=tmp_path) as opened:
        yield opened


def run(
    state: WorkflowState, browser: Browser, *nodes: tuple[str, dict[str, Any]]
) -> dict[str, Any]:
    """Build a workflow of these nodes and run it."""
    for kind, config in nodes:
        node_tools.create_node(state, kind, config)
    return runner.run_workflow(state, browser)


def told(state: WorkflowState, node: int) -> object:
    return state.get_workflow_variables()[f"node{node}.told"]


TOLD = ("extract", {"selector": "#told", "variable": "told"})


@pytest.mark.parametrize(
    ("kind", "config", "expected"),
    [
        ("click", {"selector": "#twice", "double": True}, "double"),
        ("click", {"selector": "#right", "button": "right"}, "right"),
        ("drag", {"selector": "#box", "to": "#shelf"}, "dropped"),
        ("select", {"selector": "#many", "choices": ["Red", "Blue"]}, "r,Blue"),
        ("type", {"selector": "#keys", "text": "abc", "slowly": True}, "keys 3"),
        (
            "upload",
            {"selector": "#files", "files": ["one.txt", "b/two.txt"]},
            "one.txt 3,two.txt 5",
        ),
        ("upload", {"selector": "#choose", "files": ["one.txt"]}, "one.txt 3"),
    ],
)
def test_a_page_sees_what_a_node_does(
    state: WorkflowState,
    browser: Browser,
    bench: Workbench,
    tmp_path: Path,
    kind: str,
    config: dict[str, Any],
    expected: str,
) -> None:
    (tmp_path / "one.txt").write_text("one")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/two.txt").write_text("two 2")
    result = run(state, browser, ("navigate", {"url": bench.url}), (kind, config), TOLD)
    assert result["status"] == "success", result
    assert told(state, 3) == expected


def test_what_is_only_seen_under_the_mouse_is_seen_and_waits_end_when_it_is_so(
    state: WorkflowState, browser: Browser, bench: Workbench
) -> None:
    result = run(
        state,
        browser,
        ("navigate", {"url": bench.url}),
        ("wait", {"gone": "#soon"}),
        ("wait", {"text": "It has come."}),
        ("wait", {"quiet": True}),
        ("hover", {"selector": "#menu"}),
        ("wait", {"selector": "text=Hidden entry"}),
        ("click", {"selector": "#second"}),
        ("back", {}),
        ("reload", {}),
        ("wait", {"selector": "#menu", "timeout": 6}),
    )
    assert result["status"] == "success", result
    assert bench.requests[-1] == "/"


def test_a_download_is_kept_under_a_safe_name_and_can_be_given_to_a_page(
    state: WorkflowState, browser: Browser, bench: Workbench, tmp_path: Path
) -> None:
    result = run(
        state,
        browser,
        ("navigate", {"url": bench.url}),
        ("download", {"selector": "#report", "variable": "file"}),
        ("upload", {"selector": "#files", "files": ["{{node2.file}}"]}),
        ("extract", {"selector": "#told", "variable": "told"}),
    )
    assert result["status"] == "success", result
    name = str(state.get_workflow_variables()["node2.file"])
    path = project_directory(tmp_path) / name
    assert path.read_text() == "name,sum\nada,7\n"
    assert path.name == "_.._.rep ort_.csv"
    assert (path.stat().st_mode & 0o777) == 0o600
    assert result["run"] in path.parts
    assert told(state, 4) == "_.._.rep ort_.csv 15"
    assert "downloads_refused" not in json.dumps(result)


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/hostname", ".env", "missing", "link"])
def test_a_file_that_is_not_of_the_project_is_not_given_to_a_page(
    state: WorkflowState, browser: Browser, bench: Workbench, tmp_path: Path, name: str
) -> None:
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "link").symlink_to("/etc/hostname")
    result = run(
        state,
        browser,
        ("navigate", {"url": bench.url}),
        ("upload", {"selector": "#files", "files": [name]}),
    )
    assert result["failed_at"] == "node2"
    assert name in result["error"]


def test_a_list_that_grows_is_scrolled_to_its_end_and_a_picture_is_kept(
    state: WorkflowState, browser: Browser, bench: Workbench, tmp_path: Path
) -> None:
    result = run(
        state,
        browser,
        ("navigate", {"url": f"{bench.url}/feed"}),
        ("scroll", {"to": "end"}),
        ("extract", {"selector": "li", "variable": "rows", "many": True}),
        ("scroll", {"to": "top"}),
        ("scroll", {"selector": "text=entry 90"}),
        ("screenshot", {"variable": "picture"}),
    )
    assert result["status"] == "success", result
    variables = state.get_workflow_variables()
    assert len(variables["node3.rows"]) == 90
    assert (
        (project_directory(tmp_path) / str(variables["node6.picture"]))
        .read_bytes()
        .startswith(b"\x89PNG")
    )


def test_a_site_that_asks_for_a_password_gets_it_from_a_variable_and_no_other_does(
    state: WorkflowState, browser: Browser, bench: Workbench
) -> None:
    state.set_variable("creds", {"name": "ada", "password": "harbour-7-lock"}, "the user's")
    login = {"url": bench.url, "username": "{{creds.name}}", "password": "{{creds.password}}"}
    result = run(
        state,
        browser,
        ("http_login", login),
        ("navigate", {"url": f"{bench.url}/locked"}),
        ("extract", {"selector": "body", "variable": "told"}),
    )
    assert result["status"] == "success", result
    assert told(state, 3) == "inside /locked"
    assert "harbour-7-lock" not in json.dumps(result)


def test_a_debug_action_does_what_a_node_does_and_says_what_it_lacks(
    browser: Browser, bench: Workbench, tmp_path: Path
) -> None:
    with Director.open(workflow="letters", root=tmp_path, browser=browser) as director:

        def act(**given: Any) -> str:
            return director.call("debug_action", {**given, "reason": "look"}).text

        director.call("debug_navigate", {"url": bench.url, "reason": "look"})
        assert "Workbench" in act(action="select", selector="#many", choices=["Green"])
        assert "Workbench" in act(action="drag", selector="#box", to="#shelf")
        assert "Workbench" in act(action="scroll", to="bottom")
        assert "screenshot.png" in act(action="screenshot")
        assert "rep ort_.csv" in act(action="download", selector="#report")
        assert "Workbench" in act(action="reload")
        assert act(action="drag", selector="#box").startswith("failed: drag: to: missing")
        assert "only type takes it" in act(action="hover", selector="#box", variable="creds")
        assert "unknown name" in act(action="hover", selector="#box", keys="Enter")


def test_250_rows_on_5_pages_are_250_rows_and_the_last_page_costs_no_timeout(
    state: WorkflowState, browser: Browser, bench: Workbench
) -> None:
    node_tools.create_node(state, "navigate", {"url": f"{bench.url}/rows"})
    loop = node_tools.create_node(state, "loop", {"next": 'role=link[name="Next"]', "as": "page"})
    read = {"selector": "td", "variable": "rows", "many": True, "append": True}
    node_tools.create_node(state, "extract", read, parent=loop["id"])
    pages = {"variable": "pages", "value": "{{page}}", "append": True}
    node_tools.create_node(state, "set_variable", pages, parent=loop["id"])
    for expected in ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5] * 2):  # a second run begins anew
        result = runner.run_workflow(state, browser)
        assert result["status"] == "success", result
        rows = state.get_workflow_variables()["node3.rows"]
        assert rows == [f"row {number}" for number in range(1, 251)]
        assert state.get_workflow_variables()["pages"] == expected
    last = [step for step in result["steps"] if step["key"] == "node2[4]/next"]
    assert last[0]["seconds"] < 3  # the limit for an element


def test_a_loop_ends_by_what_it_asks_by_a_break_or_by_its_limit(
    state: WorkflowState, browser: Browser, bench: Workbench
) -> None:
    count = {"variable": "turns", "value": "{{turn}}", "append": True}
    less = {"left": "{{turn}}", "operator": "at_most", "right": 2}
    more = {"left": "{{turn}}", "operator": "at_least", "right": 2}
    node_tools.create_node(state, "navigate", {"url": bench.url})
    for config in (
        {"while": less, "as": "turn"},
        {"until": more, "as": "turn"},
        {"while": {"present": "#menu"}, "as": "turn", "most": 2},
        {"while": {"absent": "#nothing"}, "as": "turn"},
    ):
        loop = node_tools.create_node(state, "loop", config)["id"]
        node_tools.create_node(state, "set_variable", count, parent=loop)
    inside = node_tools.create_node(state, "condition", more, parent=loop)["id"]
    node_tools.create_node(state, "break", {}, parent=inside)
    node_tools.create_node(state, "set_variable", {**count, "value": "end"}, parent=loop)
    node_tools.create_node(state, "reload", {}, after="node3")
    result = runner.run_workflow(state, browser)
    assert result["status"] == "success", result
    assert state.get_workflow_variables()["turns"] == [1, 2, 1, 2, 1, 2, 1, "end", 2]
    assert result["notes"] == ["node6: ended after 2 turns, which are the most it may have"]


def test_a_node_is_tried_again_or_passed_over_as_it_says(
    state: WorkflowState, browser: Browser, bench: Workbench
) -> None:
    result = run(
        state,
        browser,
        ("navigate", {"url": bench.url}),
        ("click", {"selector": "#nothing", "timeout": 0.3, "on_failure": "go_on"}),
        ("wait", {"text": "It has come.", "timeout": 0.25, "retries": 8}),
        ("click", {"selector": "#second"}),
    )
    assert result["status"] == "success", result
    assert any("node2: failed, and the run went on" in note for note in result["notes"])
    assert bench.requests[-1] == "/second"


def test_a_run_has_a_limit_after_which_it_can_be_resumed(
    state: WorkflowState, browser: Browser, bench: Workbench
) -> None:
    node_tools.create_node(state, "navigate", {"url": bench.url})
    node_tools.create_node(state, "click", {"selector": "#second"})
    result = runner.run_workflow(state, browser, seconds=0.000001)
    assert result["status"] == "stopped"
    assert "its limit" in result["error"]
    again = runner.run_workflow(state, browser, resume=result["run"])
    assert again["status"] == "success"


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("click", {}),
        ("press", {"keys": "Enter"}),
        ("type", {"text": "ada"}),
        ("select", {"choices": ["Red"]}),
        ("hover", {}),
        ("drag", {"to": "#shelf"}),
        ("upload", {"files": ["notes.txt"]}),
        ("download", {"variable": "file"}),
    ],
)
def test_a_selector_that_leads_nowhere_fails_and_the_nearest_are_named(
    state: WorkflowState, browser: Browser, bench: Workbench, kind: str, more: dict[str, Any]
) -> None:
    (state.root / "notes.txt").write_text("x")
    config = {"selector": 'role=button[name="Choose it"]', "timeout": 0.1, **more}
    result = run(state, browser, ("navigate", {"url": bench.url}), (kind, config))
    assert (result["status"], result["failed_at"]) == ("failed", "node2"), result
    assert result["error"].startswith("nothing on the page matches 'role=button")
    assert """similar: 'role=button[name="Choose"]'""" in result["error"]
    assert "question" not in result  # nothing has happened, so that nobody has to decide


def test_a_workflow_stays_signed_in_between_runs_only_if_the_user_says_so(
    bench: Workbench, tmp_path: Path
) -> None:
    rules = Rules(action_seconds=3, page_seconds=8)

    def start(restore: Path | None) -> Browser:
        return Browser.start(rules, folder=tmp_path / "profiles", restore=restore)

    seen = list[bool]()
    for keep_login in (True, True, False):
        bench.requests.clear()
        with Director.open(
            workflow="letters", root=tmp_path, browser=start, keep_login=keep_login
        ) as director:
            director.call("debug_navigate", {"url": f"{bench.url}/door", "reason": "look"})
            assert [tab["name"] for tab in director.resources.tabs() or ()] == ["Main Tab"]
        seen.append("signed in" in bench.requests)
    assert seen == [False, True, False]


def test_a_model_that_sees_is_shown_the_picture_that_it_asks_for(
    browser: Browser, bench: Workbench, tmp_path: Path
) -> None:
    look = {"action": "screenshot", "look": True, "reason": "see it"}
    script: list[str | Reply] = [
        calls(debug_navigate={"url": bench.url, "reason": "look"}, debug_action=look),
        "I see it.",
    ]
    with (
        fake_provider(script) as provider,
        open_director(tmp_path, provider.openai, browser=browser) as director,
    ):
        assert director.say("What is there?").text == "I see it."
    assert "data:image/png;base64,iVBOR" in json.dumps(provider.requests[-1])
    assert "base64" not in json.dumps(provider.requests[0])


class Failing:
    """A browser that is lost right behind the second click on "Next"."""

    def __init__(self, browser: Browser) -> None:
        self._browser, self._clicks = browser, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._browser, name)

    def perform(self, kind: str, *args: Any, **named: Any) -> dict[str, Any]:
        done = self._browser.perform(kind, *args, **named)
        self._clicks += kind == "next_page"
        if kind == "next_page" and self._clicks == 2:
            error = BrowserFailed("the browser has ended or crashed")
            error.may_have_happened = True
            raise error
        return done


def test_a_loop_over_pages_asks_before_it_would_pass_over_one(
    state: WorkflowState, browser: Browser, bench: Workbench
) -> None:
    node_tools.create_node(state, "navigate", {"url": f"{bench.url}/rows"})
    loop = node_tools.create_node(state, "loop", {"next": 'role=link[name="Next"]'})
    read = {"selector": "td", "variable": "rows", "many": True, "append": True}
    node_tools.create_node(state, "extract", read, parent=loop["id"])
    lost = runner.run_workflow(state, Failing(browser))  # type: ignore[arg-type]
    assert (lost["status"], lost["key"]) == ("failed", "node2[1]/next")
    asked = runner.run_workflow(state, browser, resume=lost["run"])
    assert "it may have happened" in asked["question"]
    done = runner.run_workflow(state, browser, resume=lost["run"], skip="node2[1]/next")
    assert done["status"] == "success", done
    rows = state.get_workflow_variables()["node3.rows"]
    assert rows == [f"row {number}" for number in range(1, 251)]
