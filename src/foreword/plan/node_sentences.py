"""What a node does, in words for people: one wording for the page, the API and the command line.

Secrets are hidden. A configuration may be half finished, so nothing here relies on a field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from foreword.secrets.masking import hide

LONGEST = 120  # characters of one value: a sentence of two of them still fits a wide line
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
    kind = str(node.get("type", ""))
    config = hide(node.get("config") or {})
    if kind in _SENTENCES and isinstance(config, dict):
        return _SENTENCES[kind](config, str(node.get("id", ""))) + _tab(config)
    return kind.replace("_", " ").capitalize() or "Something"


def _navigate(config: Config, name: str) -> str:
    return f"Open {_value(config, 'url')}"


def _click(config: Config, name: str) -> str:
    return f"Click {_value(config, 'selector')}"


def _press(config: Config, name: str) -> str:
    where = f" on {_value(config, 'selector')}" if config.get("selector") else ""
    return f"Press {_value(config, 'keys')}{where}"


def _type(config: Config, name: str) -> str:
    return f"Type {_quote(config.get('text'))} into {_value(config, 'selector')}"


def _wait(config: Config, name: str) -> str:
    if config.get("seconds") is not None:
        unit = "second" if config["seconds"] == 1 else "seconds"
        return f"Wait {_value(config, 'seconds')} {unit}"
    if config.get("url") is not None:
        return f"Wait until the address is {_value(config, 'url')}"
    return f"Wait for {_value(config, 'selector')}"


def _extract(config: Config, name: str) -> str:
    fields = config.get("fields")
    what = ", ".join(map(str, fields)) if isinstance(fields, Mapping) else ""
    what = f"{_shorten(what)} of " if what else ""
    many = "every " if config.get("many") else ""
    source = f"{what}{many}{_value(config, 'selector')}"
    return f"Read {source} into {name}.{_value(config, 'variable')}"


def _condition(config: Config, name: str) -> str:
    operator = str(config.get("operator"))
    right = f" {_quote(config['right'])}" if "right" in config else ""
    return f"If {_quote(config.get('left'))} {OPERATORS.get(operator, operator)}{right}"


def _loop(config: Config, name: str) -> str:
    most = f", {_value(config, 'most')} at most" if config.get("most") is not None else ""
    return f"For each {_value(config, 'as')} of {_value(config, 'over')}{most}"


def _set_variable(config: Config, name: str) -> str:
    return f"Set {_value(config, 'variable')} to {_quote(config.get('value'))}"


def _tab(config: Config) -> str:
    return f" in the tab {_quote(config['tab'])}" if config.get("tab") else ""


def _value(config: Config, field: str) -> str:
    value = config.get(field)
    if value is None:
        return "…"
    return _shorten(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _quote(value: object) -> str:
    """A value as it is written; a text that is a template stands for itself."""
    if not isinstance(value, str):
        return _shorten(json.dumps(value, ensure_ascii=False, default=str))
    if value.startswith("{{") and value.endswith("}}"):
        return _shorten(value)
    return f"“{_shorten(value)}”"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


_SENTENCES: dict[str, Callable[[Config, str], str]] = {
    "navigate": _navigate,
    "click": _click,
    "press": _press,
    "type": _type,
    "wait": _wait,
    "extract": _extract,
    "condition": _condition,
    "loop": _loop,
    "set_variable": _set_variable,
}
