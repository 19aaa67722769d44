"""The state of a workflow in its contexts, row by row (SPEC W3-W6): plan, snapshot, variables,
and no secret."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

import foreword
from foreword.errors import BadPlan, UnknownName
from foreword.store.reports import newest_reports
from tests.sessions import Open, fill_session, plan

TABS = [{"name": "Main Tab", "url": "https://mail.google.com/mail/u/0/#inbox", "active": True}]
PASSWORD, KEY = "correct-horse-battery", "sk-ant-api03-Zm9yZXdvcmQtdGVzdC1rZXk"


@pytest.fixture
def opened(open_session: Open) -> Open:
    """Opens sessions on one store."""

    def opening(workflow: str = "gmail-to-airtable", **more: Any) -> foreword.Session:
        return open_session(workflow=workflow, **more)

    return opening


def part(package: foreword.Package, tag: str) -> str:
    found = re.search(rf"^<{tag}>\n(.*?)\n?</{tag}>$", package.text, re.MULTILINE | re.DOTALL)
    assert found, f"no {tag}"
    return found[1]


def all_text(session: foreword.Session, tabs: object = None) -> str:
    """All that leaves a session besides what a tool returns to its caller."""
    package = session.context(browser=tabs)
    pieces: list[object] = [
        package.text,
        str(package.report),
        package.report.to_dict(),
        package.to_anthropic(),
        package.to_openai(),
    ]
    pieces += [
        session.usage(),
        [str(change) for change in session.variable_changes()],
        session.snapshot(),
    ]
    pieces += [newest_reports(session.db), [version.reason for version in session.plan_history()]]
    return "\n".join(
        piece if isinstance(piece, str) else json.dumps(piece, default=str) for piece in pieces
    )


def test_w3_a_new_plan_is_a_new_version_and_the_next_call_shows_it(opened: Open) -> None:
    session = fill_session(opened())
    made = session.update_plan(plan("completed"), "navigation works", expected_version=1)
    text = json.loads(part(session.context(), "current_plan"))
    assert (made.version, text["plan_version"], text["phases"][0]["tasks"][1]["status"]) == (
        2,
        2,
        "completed",
    )
    assert [version.reason for version in opened().plan_history()] == [
        "first plan",
        "navigation works",
    ]
    assert any("in_progress -> completed" in line for line in session.plan_diff(1, 2))
    assert opened().get_current_plan() == session.get_current_plan()


def test_w3_a_stale_writer_is_told_and_changes_nothing(opened: Open) -> None:
    session, other = fill_session(opened()), opened()
    other.update_plan(plan("failed"), "it broke")
    with pytest.raises(foreword.PlanConflict):
        session.update_plan(plan("completed"), "done", expected_version=1)
    assert [version.version for version in session.plan_history()] == [1, 2]
    assert '"failed"' in part(session.context(), "current_plan")


def test_w3_a_plan_that_is_none_is_refused_and_the_old_one_stays(opened: Open) -> None:
    session = fill_session(opened())
    with pytest.raises(BadPlan):
        session.update_plan({"phases": "soon"}, "nonsense")
    assert len(session.plan_history()) == 1


def test_w4_the_snapshot_has_nodes_in_order_and_no_execution_results(opened: Open) -> None:
    session = fill_session(opened())
    session.put_node(
        {
            "id": "node_9",
            "position": 0,
            "type": "extract",
            "description": "Emails",
            "relationships": ["node_123"],
            "status": "success",
            "execution_results": ["zebra"],
            "last_result": {"rows": "zebra"},
            "config": {"to": "x"},
        }
    )
    text = json.loads(part(session.context(), "workflow_snapshot"))
    assert [node["id"] for node in text["nodes"]] == ["node_9", "node_123"]
    assert text["workflow"]["name"] == "gmail-to-airtable"
    assert {"position", "type", "config", "description", "relationships", "status"} <= {
        *text["nodes"][0]
    }
    assert "zebra" not in session.context().text


def test_w5_variables_are_shown_by_the_first_rule_that_fits(opened: Open) -> None:
    session = opened()
    values: dict[str, object] = {
        "gmail_creds": {"email": "user@gmail.com", "password": PASSWORD},
        "api_key": PASSWORD,
        "nothing": None,
        "none": [],
        "short": "x" * 100,
        "long": "y" * 101,
        "results": [{"title": f"Gmail API {n}"} for n in range(20)],
    }
    for name, value in values.items():
        session.set_variable(name, value, "test")
    lines = dict(
        line[2:].split(" = ", 1)
        for line in part(session.context(), "workflow_variables").splitlines()
    )
    assert lines == {
        "gmail_creds": '{email: "user@gmail.com", password: "[hidden]"}',
        "api_key": "[hidden]",
        "nothing": "null",
        "none": "[] (empty)",
        "short": f'"{"x" * 100}"',
        "long": f'"{"y" * 100}...',
        "results": lines["results"],
    }
    assert lines["results"].startswith('[Array of 20 - first: {"title": "Gmail API 0"')


def test_w6_variables_are_read_set_and_cleared_each_with_its_reason(opened: Open) -> None:
    session = opened()
    session.set_variable("node7.emails", [1, 2], "extracted")
    session.set_variable("node10.email", "a@b.c", "picked")
    assert session.get_workflow_variable("node7.emails") == [1, 2]
    assert session.get_workflow_variable(node=7) == {"node7.emails": [1, 2]}
    assert session.get_workflow_variable("all") == session.get_workflow_variables()
    session.clear_variable("node7.emails", "again from the start")
    assert session.clear_all_variables("clean test") == ["node10.email"]
    assert [change.reason for change in opened().variable_changes()] == [
        "clean test",
        "again from the start",
        "picked",
        "extracted",
    ]
    with pytest.raises(UnknownName):
        session.get_workflow_variable("node7.emails")
    assert part(session.context(), "workflow_variables") == "no variables are set"


def test_w5_a_secret_at_any_depth_leaves_in_no_form(opened: Open) -> None:
    session = fill_session(opened())
    deep: object = {"password": PASSWORD, "note": f"the key is {KEY}"}
    for _ in range(12):
        deep = {"inner": [deep]}
    session.set_variable("deep", deep, f"key {KEY}")
    session.set_variable("creds", json.dumps({"password": PASSWORD}), "as text")
    session.set_variable("creds", "gone", f"password: {PASSWORD}")
    session.clear_variable("deep", f"token={KEY}")
    session.put_node(
        {
            "id": 7,
            "position": 2,
            "type": "type",
            "config": {"selector": "#password", "text": PASSWORD},
        }
    )
    session.describe({"name": "Gmail", "settings": {"api_key": KEY}})
    session.update_plan(
        plan(notes=f"password: {PASSWORD}", extra={"deep": [{"token": KEY}]}), f"api_key={KEY}"
    )
    address = f"https://user:{PASSWORD}@example.com/?access_token={KEY}"
    text = all_text(session, [{"name": "Tab", "url": address}])
    assert PASSWORD not in text
    assert KEY not in text


def test_w5_errors_give_no_secret_away(opened: Open) -> None:
    session = fill_session(opened())
    session.set_variable("creds", {"password": PASSWORD}, "login")
    attempts: list[Callable[[], object]] = [
        lambda: session.set_variable("creds", {"password": PASSWORD, "made": {1, 2}}, "no JSON"),
        lambda: session.update_plan(plan(notes={"password": PASSWORD}), "no text"),
        lambda: session.update_plan({"password": PASSWORD}, "no plan"),
        lambda: session.update_plan(plan(notes=KEY), "stale", expected_version=7),
        lambda: session.put_node({"id": {"password": PASSWORD}, "position": KEY}),
        lambda: session.clear_variable("cred", f"password: {PASSWORD}"),
        lambda: session.get_workflow_variable("cred"),
    ]
    for attempt in attempts:
        with pytest.raises(foreword.ForewordError) as caught:
            attempt()
        message = f"{caught.value} {caught.value.hint}"
        assert PASSWORD not in message
        assert KEY not in message
