"""The written form of a compressed history: parts under fixed headings, one fact a line, and
reading it back.

A summary that was written by a model is read too: its headings are taken for the part they
resemble, its lines for what they say. What goes in is decided in `compress`; this only knows how it
looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from foreword.pattern import lazy_pattern
from foreword.session.summary.facts import Kind, is_filler, kind_of
from foreword.text.sentences import sentences

Part = Literal[
    "user", "decisions", "findings", "errors", "open", "commands", "files", "names", "before"
]

HEADINGS: Mapping[Part, str] = {
    "user": "## What the user said",
    "decisions": "## Decisions and reasons",
    "findings": "## Findings and results",
    "errors": "## Errors, fixes and failed approaches",
    "open": "## Open",
    "commands": "## Commands",
    "files": "## Files, with names in them",
    "names": "## Names in play",
    "before": "## Names from before",
}
LEDGER: tuple[Part, ...] = ("files", "names", "before")
PART_OF: Mapping[Kind, Part] = {
    "constraint": "user",
    "request": "user",
    "decision": "decisions",
    "failure": "errors",
    "error": "errors",
    "fix": "errors",
    "finding": "findings",
    "done": "findings",
    "other": "findings",
    "open": "open",
    "command": "commands",
}
LONGEST_LINE = 360  # characters: about three lines of a terminal, read at a glance
LONGEST_SPLIT = 20 * LONGEST_LINE  # of a longer line only the beginning is cut into sentences
FIX = "  fix: "

_ITEM = lazy_pattern(r"[ \t]*(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+|[ \t]*#{1,6}[ \t]+|[ \t]*>[ \t]*")
_TITLE = lazy_pattern(
    # what goes on behind the colon is an item: `16. User's latest question: "Why?"`
    r"[ \t]*(?:#{1,6}[ \t]+|\d{1,3}[.)][ \t]+\*{0,2}(?=[A-Z][^.]{0,60}:\*{0,2}\s*$)"
    r"|\*\*(?=[^*]+\*\*:?\s*$))(?P<title>[^\n]{1,80})"
)
FENCE = lazy_pattern(r"[ \t]*(?:```|~~~)")
_KIND_IN: Mapping[Part, Kind] = {
    "decisions": "decision",
    "errors": "fix",
    "open": "open",
    "commands": "command",
}
_RESEMBLES: tuple[tuple[Part, re.Pattern[str]], ...] = (
    (
        "user",
        lazy_pattern(
            r"user|request|intent|constraint|preference|requirement|instruction", re.IGNORECASE
        ),
    ),
    ("errors", lazy_pattern(r"error|fix|problem|issue|fail", re.IGNORECASE)),
    ("decisions", lazy_pattern(r"decision|rationale|reason|approach|design", re.IGNORECASE)),
    (
        "open",
        lazy_pattern(r"open|pending|todo|next|remaining|current work|progress", re.IGNORECASE),
    ),
)


@dataclass(frozen=True, slots=True)
class EarlierSummary:
    """An earlier summary, read back: its lines with their kinds, and the rows of its ledger."""

    lines: tuple[tuple[Kind, str], ...] = ()
    files: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()


def write(parts: Mapping[Part, Iterable[str]]) -> str:
    """The parts that have lines, in the fixed order."""
    blocks = list[str]()
    for part, heading in HEADINGS.items():
        lines = [f"- {line}" for line in parts.get(part, ())]
        if lines:
            blocks.append("\n".join([heading, *lines]))
    return "\n\n".join(blocks)


def read(text: str) -> EarlierSummary:
    """A summary taken apart again, whoever wrote it."""
    lines: list[tuple[Kind, str]] = []
    ledger: dict[Part, list[str]] = {part: [] for part in LEDGER}
    part: Part | None = None
    for row in _rows(text):
        heading = _heading(row)
        if heading is not None:
            part = heading or None
        elif part in ledger:
            ledger[part].append(bare(row))
        elif row.startswith(FIX) and lines:
            kind, error = lines[-1]
            lines[-1] = (kind, f"{error}\n{row}")
        else:
            lines += [(_kind(line, part), line) for line in split(row)]
    return EarlierSummary(
        lines=tuple(lines),
        files=tuple(ledger["files"]),
        names=tuple(ledger["names"]),
        lasting=tuple(ledger["before"]),
    )


def bare(row: str) -> str:
    """A line without its bullet, number or hashes."""
    mark = _ITEM.match(row)
    return row[mark.end() if mark else 0 :].strip()


def split(row: str) -> list[str]:
    """A line, or its sentences where it is long; what is still too long ends in dots."""
    line = bare(row)
    if len(line) <= LONGEST_LINE:
        return [line] if line else []
    parts = sentences(line[:LONGEST_SPLIT])
    return [shorten_line(sentence) for sentence in parts if sentence.strip()]


def shorten_line(line: str) -> str:
    """The line, its end given up for dots where it is too long to read at a glance."""
    line = " ".join(line.split())
    if len(line) <= LONGEST_LINE:
        return line
    head, _, _ = line[: LONGEST_LINE - 4].rpartition(" ")
    return f"{head or line[: LONGEST_LINE - 4]} ..."


def _rows(text: str) -> Iterable[str]:
    """The lines that say something; what stands in a code block says it in another language."""
    fenced = False
    for row in text.splitlines():
        if FENCE.match(row):
            fenced = not fenced
        elif not fenced and row.strip():
            yield row


def _heading(row: str) -> Part | Literal[""] | None:
    """The part that a heading opens, empty for a heading that is like none of them, None for any
    other line."""
    for part, heading in HEADINGS.items():
        if row.rstrip() == heading:
            return part
    title = _TITLE.match(row)
    if not title:
        return None
    for part, pattern in _RESEMBLES:
        if pattern.search(title["title"]):
            return part
    return ""


def _kind(line: str, part: Part | None) -> Kind:
    """What a line of an earlier summary is: by its part where that is known, else by its words."""
    kind = kind_of(line, "user" if part == "user" else "said")
    if part is None:
        return "other" if is_filler(line) else kind
    return kind if PART_OF[kind] == part else _KIND_IN.get(part, "finding")
