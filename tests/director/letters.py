"""A workflow on Harbour Desk: sign in, read the letters, register the first three by the form;
and what it came to."""

from __future__ import annotations

from typing import Any

from foreword.demos.site import NAME, PASSWORD, ROWS
from foreword.director import node_tools
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results

SUBJECTS = [row["subject"] for row in ROWS[:3]]
FIELDS = {
    "subject": "td.subject",
    "sender": "td.sender",
    "link": {"selector": "a", "attribute": "href"},
}
STEPS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("navigate", {"url": "{{desk}}/login"}, {}),
    ("type", {"selector": "#name", "text": "{{creds.name}}"}, {}),
    ("type", {"selector": "#password", "text": "{{creds.password}}"}, {}),
    ("click", {"selector": "button"}, {}),
    ("navigate", {"url": "{{desk}}/list"}, {}),
    ("extract", {"selector": "tr.letter", "variable": "rows", "many": True, "fields": FIELDS}, {}),
    ("loop", {"over": "{{node6.rows}}", "as": "row", "most": 3}, {}),
    ("navigate", {"url": "{{desk}}/form"}, {"parent": "node7"}),
    ("type", {"selector": "#subject", "text": "{{row.subject}}"}, {"parent": "node7"}),
    ("type", {"selector": "#sender", "text": "{{row.sender}}"}, {"parent": "node7"}),
    ("click", {"selector": "#save"}, {"parent": "node7"}),
    ("extract", {"selector": "#sent caption", "variable": "told"}, {}),
]
KEYS = [f"node{number}" for number in range(1, 8)]
for turn in range(3):
    KEYS += [f"node7[{turn}]/node{number}" for number in range(8, 12)]
KEYS.append("node12")


def build(state: WorkflowState, desk: str) -> None:
    """Make the workflow on a desk at that address."""
    state.set_variable("creds", {"name": NAME, "password": PASSWORD}, "to sign in")
    state.set_variable("desk", desk, "where it is")
    for kind, config, place in STEPS:
        node_tools.create_node(state, kind, config, **place)


def check(state: WorkflowState, run: str) -> None:
    """Every turn of every node has one row, which is a success, and the variables are whole."""
    kept = node_results.of_run(state.db, state.workflow.id, run)
    assert sorted(kept) == sorted(KEYS)
    assert {one.status for one in kept.values()} == {"success"}
    assert [row["subject"] for row in state.get_workflow_variables()["node6.rows"]] == [
        row["subject"] for row in ROWS[:5]
    ]
    assert [node["status"] for node in state.snapshot()["nodes"]] == ["success"] * len(STEPS)
    assert PASSWORD not in str(kept)
