"""Sections of a text by the name of their heading, however people write it.

`## 3. User Decisions (3 May)`, `## 🔒 [Decisions](d.md)` and a line `**Decisions**` are all
headings of decisions. A first title is looked for in this generous way; further titles, which only
stand in for it (`Locked` alone), must be all that a heading says. Pure; `markdown` finds headings
by their exact words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from foreword.pattern import lazy_pattern
from foreword.text import lines, markdown
from foreword.text.markdown import Heading

# Words beside a title that still leave it that title: "User Decisions", "Decisions made so far".
MOST_OTHER_WORDS = 3
# A heading with one of these is about what is not decided yet, or about something else.
_OTHERWISE = frozenset("open pending future undecided outstanding no needed todo how why".split())
_FILLERS = frozenset("decision item choice user for now the".split())
# What people who write in another language call it; a recipe names a heading in English.
_TRANSLATED = {
    "entscheidung": "decision",
    "entscheidungen": "decision",
    "beschlüsse": "decision",
    "décision": "decision",
    "decisión": "decision",
    "decisione": "decision",
    "decisioni": "decision",
    "decisão": "decision",
    "decisõe": "decision",
    "besluiten": "decision",
    "決定": "decision",
    "决定": "decision",
    "решения": "decision",
}
_BOLD_LEVEL = 7  # below every real heading

_LINK = lazy_pattern(r"\[([^\]\n]*)\]\([^)\n]*\)")
_ASIDE = lazy_pattern(r"\([^()\n]*\)")
_WORD = lazy_pattern(r"[^\W\d_]+")
_BOLD_LINE = lazy_pattern(
    r"^ {0,3}(?:\*\*|__)(?P<title>[^*_\n]{1,80})(?:\*\*|__):?[ \t]*$", re.MULTILINE
)


def section_text(text: str, titles: Sequence[str]) -> str | None:
    """What stands under the headings of these titles; with its headings, where there are several
    or where one of the further titles stands alone. None where there is none."""
    found = find_sections(text, titles)
    if not found:
        return None
    if len(found) == 1 and not _says_more(found[0].title, titles):
        return lines.strip_blank_lines(text[found[0].body : found[0].end])
    parts = [lines.strip_blank_lines(text[one.start : one.end]) for one in found]
    return "\n\n".join(parts)


def _says_more(heading: str, titles: Sequence[str]) -> bool:
    """Whether what a heading says has to stay with what stands below it, as in `Locked
    decisions`."""
    words = set(_words(heading))
    return any(words.issuperset(_words(title)) for title in titles[1:])


def text_without_sections(text: str, titles: Sequence[str]) -> str:
    """The text with the sections of these titles cut out, and the rest untouched."""
    found = find_sections(text, titles)
    for heading in reversed(found):
        text = markdown.without_span(text, heading.start, heading.end)
    return text


def find_sections(text: str, titles: Sequence[str]) -> list[Heading]:
    """The headings of these titles that stand in no other one, in their order."""
    found: list[Heading] = []
    end = 0
    for heading in _headings(text):
        if heading.start < end or not _is_one_of(heading.title, titles):
            continue
        found.append(heading)
        end = heading.end
    return found


def _is_one_of(heading: str, titles: Sequence[str]) -> bool:
    first, *others = titles
    if _is_named(heading, first, generously=True):
        return True
    return any(_is_named(heading, title, generously=False) for title in others)


def _is_named(heading: str, title: str, *, generously: bool) -> bool:
    words = _words(heading)
    wanted = _words(title)
    for place in range(len(words) - len(wanted) + 1):
        if words[place : place + len(wanted)] == wanted:
            rest = words[:place] + words[place + len(wanted) :]
            if generously:
                return len(rest) <= MOST_OTHER_WORDS and _OTHERWISE.isdisjoint(rest)
            return _FILLERS.issuperset(rest)
    return False


def _words(heading: str) -> list[str]:
    """The words of a heading, one number for both: no link, aside, emphasis, number or symbol."""
    plain = _ASIDE.sub(" ", _LINK.sub(r"\1", heading)).casefold()
    words = _WORD.findall(plain)
    singular = [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]
    return [_TRANSLATED.get(word, word) for word in singular]


def _headings(text: str) -> list[Heading]:
    """The headings of a text, and the lines that are one in bold."""
    found = markdown.headings(text)
    if "**" not in text and "__" not in text:
        return found
    bold: list[tuple[int, int, str]] = []
    for block in markdown.blocks(text):
        match = _BOLD_LINE.match(text, block.start) if block.kind == "paragraph" else None
        if match:
            bold.append((match.start(), match.end(), match["title"].rstrip(": ")))
    starts = sorted([one.start for one in found] + [start for start, _, _ in bold])
    for start, body, title in bold:
        end = next((other for other in starts if other > start), len(text))
        found.append(Heading(level=_BOLD_LEVEL, title=title, start=start, body=body, end=end))
    return sorted(found, key=lambda heading: heading.start)
