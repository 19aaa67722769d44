"""A workflow as a file: what is in it, what is not, and what becomes of it elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import foreword
from foreword.director import node_tools, workflow_file
from foreword.errors import BadNode, UsageError

PASSWORD = "harbour-7-secret"


def build(session: foreword.Session) -> None:
    """A workflow with a loop, a condition, variables and a secret."""
    session.set_variable("creds", {"name": "ada", "password": PASSWORD}, "the user's")
    session.set_variable("base", "http://127.0.0.1:8123", "the user's")
    session.set_variable("unused", 1, "nobody's")
    session.set_variable("node1.rows", ["a"], "of an earlier run")
    node_tools.create_node(session, "navigate", {"url": "{{base}}/login"}, "the door")
    node_tools.create_node(session, "type", {"selector": "#p", "text": "{{creds.password}}"})
    loop = node_tools.create_node(session, "loop", {"over": "{{node1.rows}}", "as": "row"})
    inside = {"left": "{{row}}", "operator": "equals", "right": "{{creds.name}}"}
    node = node_tools.create_node(session, "condition", inside, parent=loop["id"])
    other = {"variable": "seen", "value": "{{row}}"}
    node_tools.create_node(session, "set_variable", other, parent=node["id"], branch="else")


def test_a_workflow_comes_back_from_its_file_as_it_was_with_its_secrets(tmp_path: Path) -> None:
    with (
        foreword.Session.open(workflow="letters", root=tmp_path) as session,
        foreword.Session.open(workflow="copy", root=tmp_path) as copy,
    ):
        build(session)
        node_tools.set_status(session, "node1", "success")
        written = json.loads(json.dumps(workflow_file.export(session)))
        assert PASSWORD not in json.dumps(written)
        assert written["variables"] == {"creds": {"name": "ada"}, "base": "http://127.0.0.1:8123"}
        assert written["secrets"] == ["creds.password"]
        jsonschema.validate(written, workflow_file.schema())
        done = workflow_file.load(copy, written)
        assert (done.nodes, done.taken_from, done.missing) == (5, "letters", [])
        assert copy.get_workflow_variables() == {
            "creds": {"name": "ada", "password": PASSWORD},
            "base": "http://127.0.0.1:8123",
        }
        assert workflow_file.export(copy)["nodes"] == written["nodes"]
        new = node_tools.create_node(copy, "click", {"selector": "#a"})
        assert new["id"] not in {node["id"] for node in written["nodes"]}
        with pytest.raises(UsageError, match="has nodes already"):
            workflow_file.load(copy, written)


def test_a_file_that_was_changed_or_is_from_elsewhere_gets_no_secret(tmp_path: Path) -> None:
    with (
        foreword.Session.open(workflow="letters", root=tmp_path) as session,
        foreword.Session.open(workflow="changed", root=tmp_path) as changed,
    ):
        build(session)
        written = workflow_file.export(session)
        written["nodes"][0]["config"]["url"] = "http://127.0.0.1:6666/thief"
        done = workflow_file.load(changed, written)
        assert (done.taken_from, done.missing) == ("", ["creds.password"])
        assert PASSWORD not in str(changed.get_workflow_variables())


def test_a_node_with_a_secret_in_it_is_not_written(tmp_path: Path) -> None:
    with foreword.Session.open(root=tmp_path) as session:
        token = "ghp_" + "x1Y2" * 9
        session.put_node({"id": "node1", "position": 1, "type": "type", "config": {"text": token}})
        with pytest.raises(UsageError, match="node1 has a secret in it"):
            workflow_file.export(session)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([], "must be a mapping"),
        ({"format": "foreword workflow", "version": 2, "nodes": []}, "version"),
        (
            {"nodes": [{"id": "node1", "type": "click", "config": {}}]},
            "node1: config.selector: missing",
        ),
        ({"nodes": [{"id": "node1", "type": "fly", "config": {}}]}, "node1: type"),
        (
            {"nodes": [{"id": "node1", "type": "reload", "config": {}, "parent": "node9"}]},
            "node9 is no loop",
        ),
    ],
)
def test_a_file_that_is_none_changes_nothing(tmp_path: Path, content: object, problem: str) -> None:
    if isinstance(content, dict):
        content = {"format": "foreword workflow", "version": 1, **content}
    with foreword.Session.open(root=tmp_path) as session:
        with pytest.raises(BadNode, match=problem):
            workflow_file.load(session, content)
        assert not node_tools.read_tree(session).nodes
