"""What is true of every smaller form of a text, as checks that name the line that breaks it."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator

import yaml

from foreword.text.content_type import content_type

MARK = re.compile(r"\[\.\.\.(?: [^\]\n]*)?\]")
# A mark with what stands around it: the quotes of a JSON member, the sign of a comment.
_PLACED = re.compile(r'(?:# )?"?\[\.\.\.[^\]\n]*\](?:"(?!"")(?:: null)?,?)?')
_QUOTES = ('"""', "'''")  # that close a docstring


def broken_line(original: str, form: str, most_chars: int) -> str:
    """The first line of a smaller form that is no line of the original, no mark, and no part of a
    line or paragraph longer than `most_chars`; or that follows one it did not follow without a mark
    between."""
    lines = original.splitlines()
    places: set[int] = {-1}  # of the line before, as it may be in the original several times
    known = {line.rstrip() for line in lines}
    is_marked = False
    for line in form.splitlines():
        if not line.strip():
            continue
        if MARK.search(line) and line.rstrip() not in known:
            parts = [part.strip() for part in _PLACED.split(line)]
            rest = [part for part in parts if part and part not in _QUOTES]
            if rest:
                places = _holders(lines, places, rest, most_chars)
                if not places:
                    return f"a part of no line: {line!r}"
            is_marked = True
            continue
        following = _later(lines, places, line) if is_marked else _next(lines, places, line)
        if not following:
            whole = _holders(lines, places, [line.strip()], most_chars)
            if not whole:
                return f"not in its place: {line!r}"
            following = whole
        places = following
        is_marked = False
    return ""


def _next(lines: list[str], places: set[int], line: str) -> set[int]:
    found: set[int] = set()
    for place in places:
        at = place + 1
        while at < len(lines) and not lines[at].strip():
            at += 1
        if at < len(lines) and lines[at].rstrip() == line.rstrip():
            found.add(at)
    return found


def _later(lines: list[str], places: set[int], line: str) -> set[int]:
    first = min(places)
    wanted = line.rstrip()
    return {at for at, row in enumerate(lines) if at > first and row.rstrip() == wanted}


def _holders(lines: list[str], places: set[int], parts: list[str], most: int) -> set[int]:
    first = min(places)
    found: set[int] = set()
    for at, row in enumerate(lines):
        if at >= first and all(part in row for part in parts) and _paragraph(lines, at) > most:
            found.add(at)
    return found


def _paragraph(lines: list[str], at: int) -> int:
    """The characters of a line and of those that it is wrapped together with, for an item with the
    paragraph above it, which may be what turns it round."""
    start = end = at
    while start and lines[start - 1].strip():
        start -= 1
    if start > 1 and lines[start].lstrip().startswith("- "):
        start -= 1
        while start and lines[start - 1].strip():
            start -= 1
    while end < len(lines) and lines[end].strip():
        end += 1
    return sum(len(line) + 1 for line in lines[start:end])


def unclosed_tags(original: str, form: str) -> Iterator[str]:
    """Tags on lines of their own that the original closes as often as it opens them, and the
    smaller form does not."""
    names = set(re.findall(r"^\s*<([A-Za-z][\w-]*)>", original, re.MULTILINE))
    for name in sorted(names):
        counts = [
            (len(re.findall(f"<{name}>", text)), len(re.findall(f"</{name}>", text)))
            for text in (original, form)
        ]
        (opened, closed), (kept_open, kept_closed) = counts
        if opened == closed and kept_open != kept_closed:
            yield name


def mark(lines: int, units: int) -> str:
    return f"[... {lines:,} lines, {units:,} tokens left out: foreword recall fw_b7e1d9f3a8c6e2]"


MARK_CHARS = len(mark(999, 9_999))


def is_readable(kind: str, form: str) -> bool:
    """Whether a smaller form of code or data can be read as such: Python with its marks as `...`,
    YAML and TOML as they are, JSON without the last line."""
    try:
        if kind == "python":
            ast.parse(MARK.sub("...", form))
        elif kind == "json":
            json.loads("\n".join(row for row in form.splitlines() if not row.startswith("[... ")))
        elif kind == "yaml":
            list(yaml.safe_load_all(form))
        elif kind == "toml":
            tomllib.loads(form)
    except (SyntaxError, ValueError, yaml.YAMLError):
        return False
    return True


def check(text: str, form: str, room: int, name: str = "") -> None:
    assert len(form) <= room
    # a line with its headings, and with the marks around it
    assert broken_line(text, form, (room - MARK_CHARS) // 2) == ""
    assert list(unclosed_tags(text, form)) == []
    assert form.count("```") % 2 == text.count("```") % 2
    kind = "toml" if name.endswith(".toml") else content_type(text, name)
    assert is_readable(kind, form)
