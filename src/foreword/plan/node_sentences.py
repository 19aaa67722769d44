"""What a node does, in words for people: one wording for the page, the API and the command line.
Secrets are hidden."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from foreword.secrets.masking import hide

LONGEST = 120  # characters of one value
OPERATORS = {
    "equals": "is",
    "not_equals": "is not",
    "contains": "contains",
    "not_contains": "does not contain",
    "greater": "is greater than",
    "less": "is less than",
    "at_least": "is at least",
    "at_most": "is at most",
    "empty": "is empty",
    "not_empty": "is not empty",
}
Config = Mapping[str, Any]


def sentence(node: Mapping[str, Any]) -> str:
    """What a node does; of a type that is not known, the type alone."""
    kind, config = str(node.get("type", "")), hide(node.get("config") or {})
    if kind in _SENTENCES and isinstance(config, dict):
        return _SENTENCES[kind](config, str(node.get("id", ""))) + _tab(config)
    return kind.replace("_", " ").capitalize() or "Something"


def _navigate(config: Config, name: str) -> str:
    return f"Open {_shown(config, 'url')}"


def _click(config: Config, name: str) -> str:
    return f"Click {_shown(config, 'selector')}"


def _type(config: Config, name: str) -> str:
    return f"Type {_quoted(config.get('text'))} into {_shown(config, 'selector')}"


def _wait(config: Config, name: str) -> str:
    if config.get("seconds") is not None:
        return f"Wait {_shown(config, 'seconds')} second{'' if config['seconds'] == 1 else 's'}"
    if config.get("url") is not None:
        return f"Wait until the address is {_shown(config, 'url')}"
    return f"Wait for {_shown(config, 'selector')}"


def _extract(config: Config, name: str) -> str:
    fields = config.get("fields")
    what = ", ".join(map(str, fields)) if isinstance(fields, Mapping) else ""
    many = "every " if config.get("many") else ""
    of = f"{_cut(what)} of {many}" if what else many
    return f"Read {of}{_shown(config, 'selector')} into {name}.{_shown(config, 'variable')}"


def _condition(config: Config, name: str) -> str:
    operator = str(config.get("operator"))
    right = f" {_quoted(config['right'])}" if "right" in config else ""
    return f"If {_quoted(config.get('left'))} {OPERATORS.get(operator, operator)}{right}"


def _loop(config: Config, name: str) -> str:
    most = f", {_shown(config, 'most')} at most" if config.get("most") is not None else ""
    return f"For each {_shown(config, 'as')} of {_shown(config, 'over')}{most}"


def _set_variable(config: Config, name: str) -> str:
    return f"Set {_shown(config, 'variable')} to {_quoted(config.get('value'))}"


def _tab(config: Config) -> str:
    return f" in the tab {_quoted(config['tab'])}" if config.get("tab") else ""


def _shown(config: Config, field: str) -> str:
    value = config.get(field)
    return (
        "…"
        if value is None
        else _cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    )


def _quoted(value: object) -> str:
    """A value as it is written; a text that is a template stands for itself."""
    if isinstance(value, str) and value.startswith("{{") and value.endswith("}}"):
        return _cut(value)
    return (
        f"“{_cut(value)}”"
        if isinstance(value, str)
        else _cut(json.dumps(value, ensure_ascii=False, default=str))
    )


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


_SENTENCES: dict[str, Callable[[Config, str], str]] = {
    "navigate": _navigate,
    "click": _click,
    "type": _type,
    "wait": _wait,
    "extract": _extract,
    "condition": _condition,
    "loop": _loop,
    "set_variable": _set_variable,
}
