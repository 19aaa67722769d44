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


def _back(config: Config, name: str) -> str:
    return "Go back to the page before"


def _reload(config: Config, name: str) -> str:
    return "Load the page again"


def _http_login(config: Config, name: str) -> str:
    return f"Log in at {_value(config, 'url')} as {_quote(config.get('username'))}"


def _click(config: Config, name: str) -> str:
    twice = "Double-click" if config.get("double") else "Click"
    button = config.get("button")
    how = f" with the {button} button" if button and button != "left" else ""
    return f"{twice} {_value(config, 'selector')}{how}"


def _hover(config: Config, name: str) -> str:
    return f"Move the mouse over {_value(config, 'selector')}"


def _drag(config: Config, name: str) -> str:
    return f"Drag {_value(config, 'selector')} onto {_value(config, 'to')}"


def _select(config: Config, name: str) -> str:
    choices = config.get("choices")
    if isinstance(choices, list):
        return f"Choose {', '.join(map(_quote, choices))} in {_value(config, 'selector')}"
    return f"Choose {_value(config, 'choices')} in {_value(config, 'selector')}"


def _scroll(config: Config, name: str) -> str:
    where = f" of {_value(config, 'selector')}" if config.get("selector") else ""
    if config.get("to") == "end":
        return f"Scroll down{where} until nothing more comes"
    if config.get("to"):
        return f"Scroll to the {_value(config, 'to')}{where}"
    return f"Scroll to {_value(config, 'selector')}"


def _upload(config: Config, name: str) -> str:
    files = config.get("files")
    what = ", ".join(map(str, files)) if isinstance(files, list) else _value(config, "files")
    return f"Give {_shorten(what)} to {_value(config, 'selector')}"


def _download(config: Config, name: str) -> str:
    return f"Download by {_value(config, 'selector')} into {name}.{_value(config, 'variable')}"


def _screenshot(config: Config, name: str) -> str:
    whole = "all of the page" if config.get("whole") else "the page"
    return f"Keep a picture of {_value(config, 'selector') if config.get('selector') else whole}"


def _press(config: Config, name: str) -> str:
    where = f" on {_value(config, 'selector')}" if config.get("selector") else ""
    return f"Press {_value(config, 'keys')}{where}"


def _type(config: Config, name: str) -> str:
    slowly = "Type key by key" if config.get("slowly") else "Type"
    return f"{slowly} {_quote(config.get('text'))} into {_value(config, 'selector')}"


def _wait(config: Config, name: str) -> str:
    if config.get("seconds") is not None:
        unit = "second" if config["seconds"] == 1 else "seconds"
        return f"Wait {_value(config, 'seconds')} {unit}"
    if config.get("url") is not None:
        return f"Wait until the address is {_value(config, 'url')}"
    if config.get("gone") is not None:
        return f"Wait until {_value(config, 'gone')} is gone"
    if config.get("text") is not None:
        return f"Wait until the page says {_quote(config['text'])}"
    if config.get("quiet"):
        return "Wait until the page loads nothing more"
    return f"Wait for {_value(config, 'selector')}"


def _extract(config: Config, name: str) -> str:
    fields = config.get("fields")
    what = ", ".join(map(str, fields)) if isinstance(fields, Mapping) else ""
    what = f"{_shorten(what)} of " if what else ""
    many = "every " if config.get("many") else ""
    source = f"{what}{many}{_value(config, 'selector')}"
    return f"Read {source} into {name}.{_value(config, 'variable')}"


def _condition(config: Config, name: str) -> str:
    return f"If {_comparison(config)}"


def _comparison(config: Config) -> str:
    if config.get("present") is not None:
        return f"{_value(config, 'present')} is there"
    if config.get("absent") is not None:
        return f"{_value(config, 'absent')} is not there"
    operator = str(config.get("operator"))
    right = f" {_quote(config['right'])}" if "right" in config else ""
    return f"{_quote(config.get('left'))} {OPERATORS.get(operator, operator)}{right}"


def _loop(config: Config, name: str) -> str:
    most = f", {_value(config, 'most')} at most" if config.get("most") is not None else ""
    if config.get("next") is not None:
        return f"On each page, as long as {_value(config, 'next')} leads on{most}"
    for word in ("while", "until"):
        if isinstance(config.get(word), Mapping):
            return f"Again and again, {word} {_comparison(config[word])}{most}"
    return f"For each {_value(config, 'as')} of {_value(config, 'over')}{most}"


def _break(config: Config, name: str) -> str:
    return "Leave the loop"


def _set_variable(config: Config, name: str) -> str:
    if config.get("append"):
        return f"Add {_quote(config.get('value'))} to {_value(config, 'variable')}"
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
    "select": _select,
    "hover": _hover,
    "drag": _drag,
    "scroll": _scroll,
    "upload": _upload,
    "download": _download,
    "screenshot": _screenshot,
    "back": _back,
    "reload": _reload,
    "http_login": _http_login,
    "break": _break,
    "condition": _condition,
    "loop": _loop,
    "set_variable": _set_variable,
}
