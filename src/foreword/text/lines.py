"""Lines as the Markdown parser counts them, and a rough block reader for texts too large to parse.

`scan` sees fences, `#` headings, list items, table rows and blank lines, in one pass and in linear
time; it knows nothing of nesting, quotes or underlined headings. Real parsing is in `markdown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foreword.pattern import lazy_pattern

_BREAK = lazy_pattern(r"\r\n?|\n")
_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_MARKED = lazy_pattern(
    r"[ \t]*(?:(?P<fence>```|~~~)|(?P<heading>#{1,6})(?=[ \t]|\r|\n|$)"
    r"|(?P<item>(?:[-*+]|\d{1,9}[.)])[ \t])|(?P<table>\|))"
)
_KINDS = {"fence": "code", "": "paragraph"}  # of a block, where its first line's mark is not it
_RULE = lazy_pattern(r"[ \t]*+\|[:| \t]*+-[-:| \t]*+[\r\n]*+\Z")


def starts(text: str) -> list[int]:
    """Where each line begins; the piece after a last line break counts as a line only if there
    is one."""
    found = [0, *[match.end() for match in _BREAK.finditer(text)]]
    return found[:-1] if found[-1] == len(text) else found


def count(text: str) -> int:
    """How many lines a text has; a last one needs no line break."""
    breaks = text.count("\n") if "\r" not in text else sum(1 for _ in _BREAK.finditer(text))
    return breaks + (1 if text and text[-1] not in "\r\n" else 0)


def first_break(text: str) -> str:
    """The first line break in a text, as it is written there, or nothing."""
    match = _BREAK.search(text)
    return match[0] if match else ""


def with_newlines(text: str) -> str:
    """The text with every line break as a newline: a model pays for carriage returns and reads
    nothing in them."""
    return _BREAK.sub("\n", text) if "\r" in text else text


def strip_blank_lines(text: str) -> str:
    """The text without blank lines before and white space after; the first line keeps its
    indent."""
    text = text.rstrip()
    lead = len(text) - len(text.lstrip())
    edge = max(text.rfind("\n", 0, lead), text.rfind("\r", 0, lead))
    return text[edge + 1 :]


def scan(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Rough blocks as (kind, first line, line after the last, level)."""
    kind = ""  # of the block under way, or nothing between two of them
    first = 0
    level = 0
    fence = ""  # of the code under way
    for number, line in enumerate(_LINE.findall(text)):
        mark = _MARKED.match(line)
        found = (mark.lastgroup or "") if mark else ""
        line_fence = mark["fence"] if mark and found == "fence" else ""
        if fence:
            if line_fence == fence:
                fence = ""
            continue
        if kind == "table" and _RULE.match(line):
            continue
        if kind in ("paragraph", "item") and not found and line.strip():
            continue
        if kind:
            yield kind, first, number, level
        level = _level(mark, found, kind)
        kind = _KINDS.get(found, found) if line.strip() else ""
        first = number
        fence = line_fence
    if kind:
        yield kind, first, count(text), level


def _level(mark: re.Match[str] | None, found: str, before: str) -> int:
    if mark and found == "heading":
        return len(mark["heading"])
    return int(found == "table" and before == "table")
