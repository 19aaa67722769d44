"""The fresh parts of a call, each as the model reads it: what is not there yet says so in a few
words.

One place for the wording, whoever brings the value: a session reads it from the store, a recipe
from its source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foreword.errors import BadSource
from foreword.plan import plan, snapshot, variable_text
from foreword.secrets.masking import hide, mask

EMPTY = {
    "plan": "no plan yet",
    "snapshot": "no workflow yet",
    "variables": variable_text.variable_lines({}),
    "browser": "no browser attached",
    "conversation": "no messages yet",
}


def part_text(part: str, value: Any) -> str:
    """One part: a plan, a snapshot, variables or the tabs of a browser; secrets are hidden in
    all of them."""
    if value is None or (part != "variables" and value in ({}, [], "")):
        return EMPTY[part]
    if isinstance(value, str):
        return mask(value)
    return _WRITERS[part](value)


def plan_text(value: Mapping[str, Any]) -> str:
    """A plan that is known to be one."""
    return plan.as_json(hide(value))  # type: ignore[arg-type]


def _plan(value: Any) -> str:
    return plan_text(plan.read_plan(value))


def _snapshot(value: Any) -> str:
    if not isinstance(value, Mapping):
        raise BadSource("snapshot", problem="must be a mapping with workflow and nodes")
    others = {name: field for name, field in value.items() if name != "nodes"}
    about = value.get("workflow", others)
    shown = snapshot.snapshot(about, value.get("nodes") or ())
    return snapshot.as_json(shown["workflow"], list(map(snapshot.node_json, shown["nodes"])))


def _variables(value: Any) -> str:
    if not isinstance(value, Mapping):
        raise BadSource("variables", problem="must be a mapping of names to values")
    return variable_text.variable_lines(value)


def _browser(value: Any) -> str:
    tabs = value.get("tabs") if isinstance(value, Mapping) else value
    if not isinstance(tabs, Sequence) or not all(isinstance(tab, Mapping) for tab in tabs):
        raise BadSource("browser", problem="must be a list of tabs, each with name, url and active")
    lines = [f"{len(tabs)} {'tab' if len(tabs) == 1 else 'tabs'} open:"]
    lines += [_tab_line(tab) for tab in tabs]
    return "\n".join(lines)


def _tab_line(tab: Mapping[str, Any]) -> str:
    name = str(tab.get("name") or tab.get("title") or "Tab")
    active = " (Active)" if tab.get("active") else ""
    return f"- {mask(' '.join(name.split()))}{active} = {mask(str(tab.get('url', '')))}"


_WRITERS = {"plan": _plan, "snapshot": _snapshot, "variables": _variables, "browser": _browser}
