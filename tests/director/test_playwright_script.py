"""A workflow as a plain Playwright script: it runs by itself, in a Python that knows nothing of
us."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

from foreword.director import node_tools, playwright_script, script_runtime
from foreword.session.workflow_state import WorkflowState
from tests.director.workbench import workbench
from tests.patience import PATIENCE_SECONDS


def build(state: WorkflowState, url: str) -> None:
    """A workflow that logs in, reads page by page, decides, loops and acts."""
    state.set_variable("creds", {"name": "ada", "password": "harbour-7-lock"}, "the user's")
    login = {"url": url, "username": "{{creds.name}}", "password": "{{creds.password}}"}
    node_tools.create_node(state, "http_login", login)
    node_tools.create_node(state, "navigate", {"url": f"{url}/locked"}, "behind the lock")
    node_tools.create_node(state, "extract", {"selector": "body", "variable": "inside"})
    node_tools.create_node(state, "navigate", {"url": f"{url}/rows"})
    loop = node_tools.create_node(state, "loop", {"next": 'role=link[name="Next"]', "as": "page"})
    read = {"selector": "td", "variable": "rows", "many": True, "append": True}
    node_tools.create_node(state, "extract", read, parent=loop["id"])
    asked = {"left": "{{page}}", "operator": "equals", "right": 4}
    fourth = node_tools.create_node(state, "condition", asked, parent=loop["id"])
    node_tools.create_node(state, "break", {}, parent=fourth["id"])
    seen = {"variable": "seen", "value": "{{page}}", "append": True}
    node_tools.create_node(state, "set_variable", seen, parent=fourth["id"], branch="else")
    node_tools.create_node(state, "navigate", {"url": url})
    colours = {"over": ["Red", "Blue"], "as": "colour"}
    each = node_tools.create_node(state, "loop", colours)
    chosen = {"selector": "#many", "choices": ["{{colour}}", "Green"]}
    node_tools.create_node(state, "select", chosen, parent=each["id"])
    node_tools.create_node(state, "extract", {"selector": "#told", "variable": "told"})
    node_tools.create_node(
        state, "click", {"selector": "#none", "timeout": 0.2, "on_failure": "go_on"}
    )
    node_tools.create_node(state, "download", {"selector": "#report", "variable": "file"})
    node_tools.create_node(state, "click", {"selector": "#apart"})
    node_tools.create_node(state, "extract", {"selector": "body", "variable": "apart"})
    on_main = {"selector": "#choose", "files": ["letters.py"], "tab": "Main Tab"}
    node_tools.create_node(state, "upload", on_main)
    node_tools.create_node(state, "extract", {"selector": "#told", "variable": "given"})
    node_tools.create_node(state, "click", {"selector": "#ask", "dialog": "accept"})
    node_tools.create_node(state, "extract", {"selector": "#told", "variable": "yes"})
    node_tools.create_node(state, "click", {"selector": "#ask"})
    node_tools.create_node(state, "extract", {"selector": "#told", "variable": "no"})
    tries = {"timeout": 1, "retries": 3, "on_failure": "go_on"}
    node_tools.create_node(state, "click", {"selector": "#stuck", **tries})
    node_tools.create_node(state, "reload", {})
    node_tools.create_node(state, "click", {"selector": "#late", **tries})
    node_tools.create_node(state, "extract", {"selector": "body", "variable": "late"})
    node_tools.create_node(state, "navigate", {"url": f"{url}/feed"})
    node_tools.create_node(state, "scroll", {"to": "end"})
    entries = {"selector": "li", "variable": "entries", "many": True}
    node_tools.create_node(state, "extract", entries)
    node_tools.create_node(state, "reload", {"tab": "second"})
    node_tools.create_node(state, "extract", {"selector": "body", "variable": "again"})


def test_a_workflow_runs_as_a_script_without_us(tmp_path: Path) -> None:
    with workbench() as bench, WorkflowState.open(None, "letters", root=tmp_path) as state:
        build(state, bench.url)
        text = playwright_script.script(state)
        assert "harbour-7-lock" not in text
        assert "foreword" not in text.replace("foreword director export", "")
        (tmp_path / "letters.py").write_text(text)
        environment = {**os.environ, "CREDS_PASSWORD": "harbour-7-lock"}
        done = subprocess.run(
            [sys.executable, "-I", "letters.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["node3.inside"] == "inside /locked"
    assert results["node6.rows"] == [f"row {number}" for number in range(1, 201)]
    assert results["seen"] == [1, 2, 3]
    assert results["node13.told"] == "g,Blue"
    assert (tmp_path / results["node15.file"]).read_text() == "name,sum\nada,7\n"
    assert "node14: failed, going on" in done.stderr
    assert (results["node17.apart"], results["node32.again"]) == ("second", "second")
    # A click that may have happened is not tried again; one whose page is late has happened.
    assert "node24: failed, going on: it may have happened" in done.stderr
    assert "node26" not in done.stderr
    assert results["node27.late"] == "inside /slow"
    assert [path for path in bench.requests if path.startswith("/slow")] == ["/slow?stuck", "/slow"]
    assert len(results["node30.entries"]) == 90
    assert results["node19.given"] == f"letters.py {len(text.encode())}"
    assert (results["node21.yes"], results["node23.no"]) == ("true", "false")


def test_a_script_says_which_secret_it_lacks(tmp_path: Path) -> None:
    with WorkflowState.open(None, "letters", root=tmp_path) as state:
        state.set_variable("api.token", "tok-2718281828-ab", "the user's")
        node_tools.create_node(state, "type", {"selector": "#t", "text": "{{api.token}}"})
        (tmp_path / "letters.py").write_text(playwright_script.script(state))
    done = subprocess.run(
        [sys.executable, "letters.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "set API_TOKEN to the value of api.token" in done.stderr
    assert done.returncode == 1


def test_no_name_and_no_description_becomes_code(tmp_path: Path) -> None:
    hostile = '""" + str(1/0) + """ \\'
    with WorkflowState.open(None, hostile, root=tmp_path) as state:
        node_tools.create_node(state, "wait", {"seconds": 1}, 'a\n"""\n1/0\r1/0')
        tree = ast.parse(playwright_script.script(state))
    divisions = [node for node in ast.walk(tree) if isinstance(node, ast.Div)]
    own = ast.parse(Path(script_runtime.__file__).read_text(encoding="utf-8"))
    assert len(divisions) == len([node for node in ast.walk(own) if isinstance(node, ast.Div)])
