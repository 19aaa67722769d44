"""Updates of the plan in a conversation: each is told as what it changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import foreword
from foreword.faces.web import transcript
from tests.faces.web.scene import plan


def update(session: foreword.Session, number: int, given: Any, *, failed: bool = False) -> None:
    """Say that a model has updated the plan."""
    arguments = json.dumps({"plan": given, "reason": f"reason {number}"})
    call = {"id": f"c{number}", "name": "update_plan", "input": json.loads(arguments)}
    session.append({"role": "assistant", "content": [{"type": "tool_use", **call}]})
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "{}"}
    session.append({"role": "user", "content": [{**result, "is_error": failed}]})


def test_an_update_of_the_plan_is_told_as_what_it_changed(tmp_path: Path) -> None:
    with foreword.Session.open(root=tmp_path) as session:
        update(session, 1, plan())
        update(session, 2, {"phases": "none"})
        update(session, 3, plan(t1="failed"), failed=True)
        update(session, 4, plan(t1="completed", t2="in_progress"))
        update(session, 5, plan(t1="completed", t2="in_progress"))
        calls = [message.calls[0] for message in transcript.read(session).messages]
    first, no_plan, refused, second, third = [call.plan for call in calls]
    assert first
    assert first.is_first
    assert first.changes == (
        "Login: Scout the login flow, Build a node",
        "Inbox: Read the inbox, Write the rows",
    )
    assert no_plan is None
    assert refused is None  # it never was the plan
    assert second
    assert second.changes == (
        'task 1 "Scout the login flow": pending -> completed',
        'task 2 "Build a node": pending -> in_progress',
    )
    assert (second.completed, second.total, second.reason) == (1, 4, "reason 4")
    assert third
    assert third.changes == ()
