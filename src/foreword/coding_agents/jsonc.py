"""Add to a JSON file without touching the rest of it: every key, comment and space of the author's
stays.

Reads JSON, and JSON with comments and trailing commas where a format has them. A member or an item
is put behind the last one, indented as its neighbours are. Nothing is changed or removed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern

HINT = "nothing was changed; mend the file and run it again"
DEFAULT_INDENT = "  "  # of a file that has none
_BLANKS = lazy_pattern(r"[ \t\r\n\ufeff]*")
_COMMENT = lazy_pattern(r"//[^\r\n]*|/\*(?s:.*?)\*/")
_STRING = lazy_pattern(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = lazy_pattern(r"[^\s,:{}\[\]\"/]+")
_INDENT = lazy_pattern(r"(?:\A|\n)([ \t]*)\Z")
_MOST_DEPTH = 200  # of nesting: no settings have it, and each level is a call of the reader


@dataclass(slots=True, kw_only=True)
class JsonNode:
    """A value and where it stands in the text."""

    kind: Literal["object", "array", "other"]
    start: int
    end: int = 0
    value: Any = None
    members: dict[str, JsonNode] = field(default_factory=dict)
    items: list[JsonNode] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)  # where each member or item begins
    last: int = 0  # the end of the last one
    comma: bool = False  # whether a comma follows the last one


def read(text: str, where: str, *, comments: bool = False) -> JsonNode:
    """The value in a text, or `BadSource` with line and column."""
    reader = _Reader(text, where, comments=comments)
    root = reader.value(reader.blanks(0), 0)
    end = reader.blanks(root.end)
    if end != len(text):
        raise reader.wrong(end, "something follows the end of it")
    return root


def with_member(
    text: str, where: str, path: tuple[str, ...], value: Any, *, comments: bool = False
) -> str:
    """The text with a member at that path, objects above it made as needed; a member that is
    there stays as it is."""
    node = _require_object(read(text, where, comments=comments), where)
    for depth, name in enumerate(path):
        if name not in node.members:
            for above in reversed(path[depth + 1 :]):
                value = {above: value}
            return _append(text, node, value, name)
        if depth == len(path) - 1:
            return text
        node = _require_object(node.members[name], where, ".".join(path[: depth + 1]))
    return text


def with_item(
    text: str,
    where: str,
    path: tuple[str, ...],
    value: Any,
    *,
    mark: re.Pattern[str],
    comments: bool = False,
) -> str:
    """The text with one more item in the list at that path, unless one of its items has the mark
    in it."""
    text = with_member(text, where, path, [], comments=comments)
    node = read(text, where, comments=comments)
    for name in path:
        node = node.members[name]
    if node.kind != "array":
        raise BadSource(where, f"{'.'.join(path)} must be a list", hint=HINT)
    if any(mark.search(text, item.start, item.end) for item in node.items):
        return text
    return _append(text, node, value)


def differs(
    text: str, where: str, path: tuple[str, ...], value: Any, *, comments: bool = False
) -> bool:
    """Whether something else than this value stands at that path."""
    node = read(text, where, comments=comments)
    for name in path:
        if name not in node.members:
            return False
        node = node.members[name]
    return bool(_plain_value(node) != value)


def _plain_value(node: JsonNode) -> Any:
    if node.kind == "object":
        return {name: _plain_value(member) for name, member in node.members.items()}
    if node.kind == "array":
        return [_plain_value(item) for item in node.items]
    return node.value


def _require_object(node: JsonNode, where: str, path: str = "") -> JsonNode:
    if node.kind != "object":
        raise BadSource(where, f"{path or 'it'} must be an object", hint=HINT)
    return node


# --- writing --------------------------------------------------------------------------------------


def _append(text: str, node: JsonNode, value: Any, name: str | None = None) -> str:
    """The text with a member or an item behind the last one of a node."""
    label = "" if name is None else f"{json.dumps(name, ensure_ascii=False)}: "
    if node.firsts and "\n" not in text[node.start : node.end]:
        return _append_on_line(text, node, label + json.dumps(value, ensure_ascii=False))
    newline = "\r\n" if "\r\n" in text else "\n"
    outer = _indent_of_line(text, node.start)
    inner = _indent_of_members(text, node, outer)
    unit = inner.removeprefix(outer) or DEFAULT_INDENT
    lines = (label + json.dumps(value, ensure_ascii=False, indent=unit)).split("\n")
    written = "".join(f"{newline}{inner}{line}" for line in lines)
    if not node.firsts:
        rest = text[node.start + 1 : node.end - 1]
        end = rest if rest.strip() else f"{newline}{outer}"
        return f"{text[: node.start + 1]}{written}{end}{text[node.end - 1 :]}"
    behind = text[node.last : node.end - 1]
    close = node.last + len(behind.rstrip())
    if node.comma:
        return text[:close] + written + "," + text[close:]
    return f"{text[: node.last]},{text[node.last : close]}{written}{text[close:]}"


def _append_on_line(text: str, node: JsonNode, written: str) -> str:
    """The text with one more member or item in a node that is written on one line."""
    comma = "" if node.comma else ","
    before_closing = text[: node.end - 1]
    position = len(before_closing.rstrip())
    return f"{text[:position]}{comma} {written}{text[position:]}"


def _indent_of_members(text: str, node: JsonNode, outer: str) -> str:
    """How the members of a node are indented, by the first that begins a line."""
    for first in node.firsts:
        indent = _INDENT.search(text[:first])
        if indent:
            return indent[1]
    return outer + _unit(text)


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else DEFAULT_INDENT


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


# --- reading --------------------------------------------------------------------------------------


class _Reader:
    """Goes through a text once."""

    def __init__(self, text: str, where: str, *, comments: bool) -> None:
        self.text = text
        self.where = where
        self.comments = comments

    def wrong(self, at: int, problem: str) -> BadSource:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return BadSource(self.where, f"not JSON: {problem}", line=line, column=column, hint=HINT)

    def blanks(self, at: int) -> int:
        """Where the next thing that counts begins."""
        while True:
            space = _BLANKS.match(self.text, at)
            at = space.end() if space else at
            comment = _COMMENT.match(self.text, at)
            if not comment:
                return at
            if not self.comments:
                raise self.wrong(at, "it has no comments")
            at = comment.end()

    def value(self, at: int, depth: int) -> JsonNode:
        if depth > _MOST_DEPTH:
            raise self.wrong(at, "nested too deeply")
        start = self.text[at : at + 1]
        if start == "{":
            return self._members(JsonNode(kind="object", start=at), "}", depth)
        if start == "[":
            return self._members(JsonNode(kind="array", start=at), "]", depth)
        pattern = _STRING if start == '"' else _WORD
        found = pattern.match(self.text, at)
        if found is None:
            raise self.wrong(at, f"{start!r} is out of place" if start else "it ends too early")
        try:
            value = json.loads(found[0], parse_constant=_refuse)
        except ValueError:
            raise self.wrong(at, f"{found[0][:40]!r} is no value") from None
        return JsonNode(kind="other", start=at, end=found.end(), value=value)

    def _members(self, node: JsonNode, closing: str, depth: int) -> JsonNode:
        at = self.blanks(node.start + 1)
        while self.text[at : at + 1] != closing:
            if node.firsts and not node.comma:
                raise self.wrong(at, f"a comma or {closing} is missing")
            node.firsts.append(at)
            if node.kind == "object":
                item = self._member(node, at, depth)
            else:
                item = self.value(at, depth + 1)
            node.items.append(item)
            node.last = item.end
            at = self.blanks(item.end)
            node.comma = self.text[at : at + 1] == ","
            if node.comma:
                at = self.blanks(at + 1)
        if node.comma and not self.comments:
            raise self.wrong(at, f"{closing!r} follows a comma")
        node.end = at + 1
        return node

    def _member(self, node: JsonNode, at: int, depth: int) -> JsonNode:
        name = self.value(at, depth + 1)
        if not isinstance(name.value, str):
            raise self.wrong(at, "a name in quotes is missing")
        colon = self.blanks(name.end)
        if self.text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon is missing")
        item = self.value(self.blanks(colon + 1), depth + 1)
        node.members[name.value] = item
        return item


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
