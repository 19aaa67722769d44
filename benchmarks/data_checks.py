"""Whether the data that a smaller form holds is the author's: every value where it was.

For `form_checks`: a form that can be read is not yet a true one. A key under another parent, or a
row made of two, is read without an error.
"""

import configparser
import csv
import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

import yaml

MARK = re.compile(r"\[\.\.\.(?: [^\[\]\n]*)?\]")
_MARK_LINE = re.compile(r"^\[\.\.\. [^\[\]\n]*\]\r?\n?", re.MULTILINE)


def read(kind: str, text: str) -> Any:
    """The values of a text: JSON, YAML, TOML, settings or a table; an error where it is none."""
    return _READERS[kind](text.lstrip("\ufeff"))


def misplaced(kind: str, original: str, form: str) -> str:
    """The path of the first value that the original does not have in that place, or nothing."""
    if kind not in _READERS:
        return ""
    try:
        whole = read(kind, original)
    except (ValueError, RecursionError, yaml.YAMLError, configparser.Error, csv.Error):
        return ""  # the author's text is not what its name says
    try:
        part = read(kind, form)
    except (ValueError, RecursionError, yaml.YAMLError, configparser.Error, csv.Error) as error:
        return f"can't be read: {type(error).__name__}"
    return _misplaced_value(part, whole, "$")


def _json(text: str) -> Any:
    return json.loads(_MARK_LINE.sub("", text))


def _yaml(text: str) -> Any:
    return list(yaml.load_all(text, Loader=yaml.BaseLoader))


class _Values(dict[str, Any]):
    """The settings of a section; one that is there several times has all its values."""

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list) and key in self:
            value = [*self[key], _NEXT_VALUE, *value]
        super().__setitem__(key, value)


_NEXT_VALUE = "\0"  # as a line of its own


def _settings(text: str) -> Any:
    parser = configparser.RawConfigParser(
        dict_type=_Values, strict=False, allow_no_value=True, delimiters=("=",)
    )
    parser.read_string(text)
    found: dict[str, Any] = {}
    for name in parser.sections():
        settings = parser[name].items()
        found[name] = {
            key: [each.strip("\n") for each in (value or "").split(_NEXT_VALUE)]
            for key, value in settings
        }
    return found


def _table(text: str) -> Any:
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    lines = MARK.sub("", text).splitlines(keepends=True)
    return [row for row in csv.reader(lines, delimiter=separator) if any(row)]


_READERS: dict[str, Callable[[str], Any]] = {
    "json": _json,
    "yaml": _yaml,
    "toml": tomllib.loads,
    "settings": _settings,
    "table": _table,
}


def _misplaced_value(part: Any, whole: Any, path: str) -> str:
    if isinstance(part, dict) and isinstance(whole, dict):
        for key, value in part.items():
            if MARK.fullmatch(str(key)):
                continue
            if key not in whole:
                return f"{path}.{key}"
            found = _misplaced_value(value, whole[key], f"{path}.{key}")
            if found:
                return found
        return ""
    if isinstance(part, list) and isinstance(whole, list):
        return _misplaced_item(part, whole, path)
    if part == whole or (part in (None, "") and isinstance(whole, dict | list)):
        return ""
    if isinstance(part, str) and isinstance(whole, str) and MARK.search(part):
        return "" if _holds_in_order(whole, MARK.split(part)) else path
    return path


def _misplaced_item(part: list[Any], whole: list[Any], path: str) -> str:
    """The first item that none of the original's behind the one before it holds."""
    at = 0
    for place, item in enumerate(part):
        if isinstance(item, str) and MARK.fullmatch(item):
            continue
        while at < len(whole) and _misplaced_value(item, whole[at], path):
            at += 1
        if at == len(whole):
            return f"{path}[{place}]"
        at += 1
    return ""


def _holds_in_order(whole: str, parts: list[str]) -> bool:
    at = 0
    for part in parts:
        bare = part.strip("# \r\n")
        found = whole.find(bare, at)
        if found < 0:
            return False
        at = found + len(bare)
    return True
