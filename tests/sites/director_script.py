"""The replies of a scripted model that builds and runs a job on SQLite Web; its selectors come from
what `inspect_tab` answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from foreword.testing import Reply
from tests.director.scenes import calls, results_in

LOOK = {"inspection": "lightweight_exploration"}


def _selector(answer: str, role: str, name: str) -> str:
    """The selector that an inspection gives for an element of that role and name."""
    elements = json.loads(answer)["elements"]
    found = [one for one in elements if (one["role"], one["name"]) == (role, name)]
    return str(found[0]["selector"])


def _nodes(site: str, login: str, insert: str) -> list[dict[str, Any]]:
    """The calls that build the workflow from the two pages that were looked at."""
    password = {"selector": _selector(login, "textbox", "Password"), "text": "{{creds.password}}"}
    nodes: list[dict[str, Any]] = [
        {"type": "navigate", "config": {"url": f"{site}/login/"}},
        {"type": "type", "config": password},
        {"type": "click", "config": {"selector": _selector(login, "button", "Login")}},
        {"type": "loop", "config": {"over": "{{rows}}", "as": "row"}},
        {"type": "navigate", "config": {"url": f"{site}/plants/insert/"}, "parent": "node4"},
    ]
    for name in ("name", "height", "note"):
        field = {
            "selector": _selector(insert, "textbox", name),
            "text": f"{{{{row.{name}}}}}",
        }
        nodes.append({"type": "type", "config": field, "parent": "node4"})
    send = {"selector": _selector(insert, "button", "Insert")}
    nodes.append({"type": "click", "config": send, "parent": "node4"})
    return nodes


def replies(site: str) -> Callable[[Mapping[str, Any]], Reply]:
    """What the model answers to each request, where SQLite Web is at that address."""

    def reply(body: Mapping[str, Any]) -> Reply:
        done = results_in(body)
        if not done:
            return calls(
                debug_navigate={"url": f"{site}/login/", "reason": "look"},
                inspect_tab={**LOOK, "instruction": "log in"},
            )
        if len(done) == 2:
            field = _selector(done[1], "textbox", "Password")
            typed = {"action": "type", "selector": field, "variable": "creds.password"}
            return calls(debug_action={**typed, "reason": "sign in"})
        if len(done) == 3:
            button = _selector(done[1], "button", "Login")
            return calls(debug_action={"action": "click", "selector": button, "reason": "sign in"})
        if len(done) == 4:
            return calls(
                debug_navigate={"url": f"{site}/plants/insert/", "reason": "look"},
                inspect_tab={**LOOK, "instruction": "save or add the plant"},
            )
        nodes = _nodes(site, done[1], done[5])
        if len(done) < 6 + len(nodes):
            node = nodes[len(done) - 6]
            return calls(create_node={**node, "description": f"{node['type']} it"})
        if len(done) == 6 + len(nodes):
            return calls(run_workflow={})
        return Reply("Every plant is entered.")

    return reply
