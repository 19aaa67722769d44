"""Tell a template that nobody filled in from a file with something to say.

Such a file is prompts for its author (`_What are you calling this?_`, `[Goal Name]`), empty bullets
and rows, and headings with nothing under them. It judges whole files only, and when in doubt it
calls them filled: a lost answer is worse than a template in the context. Whether to leave the file
out is the caller's decision.
"""

from __future__ import annotations

import re

from foreword.text import markdown

MOSTLY_EMPTY = 0.25
LARGEST_TEMPLATE = 60_000

_JUDGED = 500

_ITALIC = re.compile(
    r"(?<!\w)_(?!_)[^_`\r\n]++(?:_[^_`\r\n]++)*?_(?!\w)|(?<![\w*])\*(?![*\s])[^*`\r\n]++\*(?![\w*])"
)
_PLACEHOLDER = re.compile(r"(?<![\w\])])\[(?![ xX]\]|\^)[A-Za-z][^\[\]\r\n]*+\](?![\[(:\w])")
_TAG = re.compile(r"\[[\w-]+\]\s+(\S+\s+\S.*)")
_TO_COME = re.compile(r"\bwill be (?:populated|filled|generated|created|written)\b", re.IGNORECASE)
_MARKUP = re.compile(
    r"^[ \t]*(?:[-*+]|\d+[.)]|>)[ \t]*(?:\[[ xX]\])?|^[ \t]*(?:```|~~~).*$|<!--.*?-->|[*_`|:>#=-]+"
)
_LABEL = re.compile(r"\s*(?:[-*+]\s+)?\*\*[^*]+\*\*:?\s*(.*)")
_RULE = re.compile(r"\s*+\|[\s:|]*+-[\s:|-]*+")
_HEADING = re.compile(r"^ {0,3}(?:#|(?:=++|-++)[ \t]*+\r?$)", re.MULTILINE)
_PROSE = re.compile(
    r"^[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?+(?![^\r\n]{0,500}\bwill"
    r" be\b)[^\W_][^\r\n_*\[\]`|<>]{40,500}+\r?+"
    r"(?!\n[ \t]*+[=|-])$",
    re.MULTILINE,
)
_CHECKLIST = re.compile(r"\s*(?:quality gate|checklist|before considering)\b", re.IGNORECASE)


def is_blank_template(text: str) -> bool:
    """Whether the text is blank, or a template whose sections are nearly all still prompts."""
    if not text.strip():
        return True
    if len(text) > LARGEST_TEMPLATE or _is_plainly_filled(text):
        return False
    sections = [kind for kind in map(_kind, _sections(text)) if kind]
    prompted = "prompted" in sections
    answered = sum(kind == "answered" or (kind == "labelled" and not prompted) for kind in sections)
    return not answered or answered < MOSTLY_EMPTY * len(sections)


def _is_plainly_filled(text: str) -> bool:
    """Whether there is plain prose under half the headings at a glance, so that nothing needs to
    be parsed."""
    first, *others = _HEADING.split(text)
    titled = (other.partition("\n") for other in others)
    bodies = [
        first,
        *(body for title, _, body in titled if not _CHECKLIST.match(title.lstrip("#"))),
    ]
    said = [body for body in bodies if body.strip()]
    return 2 * sum(_PROSE.search(body) is not None for body in said) >= len(said) > 0


def _sections(text: str) -> list[str]:
    """What stands directly under each heading; a checklist about the file itself is no part of
    what it says."""
    found = markdown.headings(text) if _HEADING.search(text) else []
    edges = [*(heading.start for heading in found), len(text)]
    bodies = [
        text[heading.body : end]
        for heading, end in zip(found, edges[1:], strict=True)
        if not _CHECKLIST.match(heading.title)
    ]
    return [text[: edges[0]], *bodies]


def _kind(section: str) -> str:
    """`answered`, `prompted`, `labelled` (a label with a word or two, as templates have them
    too), or nothing."""
    lines = [line[:_JUDGED] for line in section.splitlines() if line.strip()]
    heads = {at for at, below in enumerate(lines[1:]) if _RULE.fullmatch(below)}
    found = set()
    for at, line in enumerate(lines):
        found.add(kind := _line_kind(line) if at not in heads else "")
        if kind == "answered":
            break
    return next((kind for kind in ("answered", "prompted", "labelled") if kind in found), "")


def _line_kind(line: str) -> str:
    rest = _MARKUP.sub(" ", line, count=1)
    if _TO_COME.search(line):
        return "prompted"
    if (
        (tag := _TAG.match(rest.strip()))
        and not _ITALIC.search(line)
        and not _PLACEHOLDER.search(tag[1])
    ):
        return "answered"
    if _ITALIC.search(line) or _PLACEHOLDER.search(line):
        return "prompted" if _is_prompt(line) else "answered"
    label = _LABEL.fullmatch(line)
    if label and len(label[1].split()) <= 3:
        return "labelled" if label[1].strip() else ""
    return "answered" if re.search(r"\w", _MARKUP.sub(" ", line)) else ""


def _is_prompt(line: str) -> bool:
    """Whether little is left of a line once its prompts are gone; an aside in italics in real
    text is no prompt."""
    left = _PLACEHOLDER.sub(" ", _ITALIC.sub(" ", line))
    words = re.findall(r"\w+", _MARKUP.sub(" ", left))
    return len(words) <= 12 and (bool(_PLACEHOLDER.search(line)) or len(words) <= 4)
