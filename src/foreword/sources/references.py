"""The documents that a text names: in links and in code, and in lines whose label says what they
are for.

`> **Adopt persona:** relecteur`, `Persona: [the reader](../relecteur.md)`, "Invoke panel:
`code-review`": a label takes names, paths, links and code. Elsewhere only a path that is linked or
in backticks names a document. Which document is meant is the same for everyone who asks:
`find_reference`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.sources.documents import Document
from foreword.text import marks

Find = Callable[[str, str, str], Document | None]
"""From a name, a kind or nothing, and the file that it stands in, to the document."""

MOST_WORDS = 4  # of a name behind a label that may as well be the beginning of a sentence

_REFERENCE = lazy_pattern(
    r"(?<![\w/.-])(?P<path>(?:[\w.-]+/)*[\w.-]+\.(?:md|ya?ml|json))(?:#[\w-]*)?(?![\w/])"
)
_LINKED = lazy_pattern(r"\]\((?P<link>[^)\s]{1,300})\)|`(?P<code>[^`\r\n]{1,300})`")
_LABELLED = lazy_pattern(
    r"[ \t>*_+-]*(?P<directive>(?:adopt|invoke)[ \t]+)?"
    r"(?P<kind>persona|prompt|panel)s?[*_]*[ \t]*:[*_ \t]*"
    r"(?P<rest>[^\r\n]*)",
    re.IGNORECASE,
)
_BETWEEN = lazy_pattern(r",|;|&|\sand\s")
_NAME = lazy_pattern(r"[\w.][\w ./-]{0,200}")
_NOTHING = ("", "none", "n/a", "-", "—")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A document that a text names."""

    at: int  # its offset
    name: str  # or its path
    kind: str = ""  # where a label says which
    # the label says to adopt or invoke it: to be there is not a matter of style
    is_directive: bool = False
    is_path: bool = True


def linked_paths(text: str) -> list[tuple[int, str]]:
    """The documents that a text names in its lines, linked or in backticks, each with its offset.

    Addresses and globs are none, and what stands in fenced code is an example.
    """
    fenced = [(at, at + len(row)) for at, row, in_code in marks.rows(text) if in_code]
    found = list[tuple[int, str]]()
    for match in _LINKED.finditer(text):
        at = bisect_right(fenced, match.start(), key=lambda span: span[0]) - 1
        if at >= 0 and match.start() < fenced[at][1]:
            continue
        words = match["link"] or match["code"]
        named = _REFERENCE.fullmatch(words.strip())
        if named and not any(mark in words for mark in "*{}<>$"):
            found.append((match.start(), named["path"]))
    return found


def references_in(text: str) -> Iterator[Reference]:
    """Everything that a text names, in its order: what labels name, and elsewhere what
    `linked_paths` finds."""
    for at, row, in_code in marks.rows(text):
        if in_code or not ("`" in row or "](" in row or ":" in row):
            continue
        label = _LABELLED.match(row)
        if label is None:
            for place, path in linked_paths(row):
                yield Reference(at=at + place, name=path)
        else:
            yield from _label_references(label, at)


def _label_references(label: re.Match[str], at: int) -> Iterator[Reference]:
    """The names behind a label: those that are linked or in code, else what stands between
    commas."""
    kind = label["kind"].lower()
    is_directive = label["directive"] is not None
    start = at + label.start("rest")
    linked = list(_LINKED.finditer(label["rest"]))
    for match in linked:
        words = (match["link"] or match["code"]).strip()
        path = _REFERENCE.fullmatch(words)
        if path or _NAME.fullmatch(words):
            yield Reference(
                at=start + match.start(),
                name=path["path"] if path else words,
                kind=kind,
                is_directive=is_directive,
                is_path=path is not None,
            )
    if linked:
        return
    for part in _BETWEEN.split(label["rest"]):
        name = part.strip(" \t*_\"'").rstrip(".*_")
        if name.lower() in _NOTHING or not (is_directive or _is_name(name)):
            continue
        path = _REFERENCE.fullmatch(name)
        yield Reference(
            at=start,
            name=path["path"] if path else name,
            kind=kind,
            is_directive=is_directive,
            is_path=path is not None,
        )


def _is_name(words: str) -> bool:
    return _NAME.fullmatch(words) is not None and len(words.split()) <= MOST_WORDS


def find_reference(find: Find, named: Reference, near: str) -> Document | None:
    """The document that is meant: of the label's kind, else of any."""
    own = find(named.name, named.kind, near) if named.kind else None
    if own is None and (named.is_path or named.is_directive):
        return find(named.name, "", near)
    return own


def find_references(find: Find, text: str, near: str) -> list[Document]:
    """The documents that a text names and that are there, in its order, each once."""
    found = dict[Document, None]()  # each once, in their order
    for named in references_in(text):
        document = find_reference(find, named, near)
        if document is not None:
            found[document] = None
    return list(found)
