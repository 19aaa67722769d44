"""Sections of a text by the name of their heading, however people write it.

`## 3. User Decisions (3 May)`, `## 🔒 [Decisions](d.md)`, `<h2>Decisions</h2>`, `> ## Decisions`, a
line `**Decisions**` and a line `Decisions:` above a list are all headings of decisions. A first
title is looked for in this generous way; further titles, which only stand in for it (`Locked`
alone), must be all that a heading says. Where lines begin with several of those (`Locked: A4 only`,
`- [DEFERRED] QR codes`), they are sections of their own. Pure; `markdown` finds headings by their
exact words.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from foreword.pattern import lazy_pattern
from foreword.text import lines, markdown
from foreword.text.markdown import Block, Heading

# Words beside a title that still leave it that title: "User Decisions", "Decisions made so far".
MOST_OTHER_WORDS = 3
# A heading with one of these is about what is not decided yet, or about something else.
_OTHERWISE = frozenset("open pending future undecided outstanding no needed todo how why".split())
_FILLERS = frozenset(
    "decision item choice user for now the what we ve s have been is are already in on".split()
)
# Below every real heading, and a label below that.
_BOLD_LEVEL = 7
_LABEL_LEVEL = 8

_LINK = lazy_pattern(r"\[([^\]\n]*)\]\([^)\n]*\)")
_ASIDE = lazy_pattern(r"\([^()\n]*\)|</?[A-Za-z][^<>\n]*>")
_WORD = lazy_pattern(r"[^\W\d_]+")
_SIGNS = lazy_pattern(r"(?:[^\w\s]|_)+")
# A line that says what stands below it and is no heading to a parser of Markdown.
_OTHER_HEADING = lazy_pattern(
    r"""^[ \t]*(?P<quote>(?>(?:>[ \t]?)*))[ \t]*(?:
    (?P<hashes>\#{1,6})[ \t]+(?P<in_quote>[^\r\n]+)
    | (?:\*\*|__)(?P<bold>[^*_\r\n]{1,80})(?:\*\*|__):?
    | <h(?P<level>[1-6])\b[^>\r\n]*>(?P<html>[^\r\n]{1,200}?)</h[1-6]>
    | (?P<details><details\b[^>\r\n]*>[ \t]*)?
      <summary\b[^>\r\n]*>(?P<summary>[^\r\n]{1,200}?)</summary>
    | \d{1,3}[.)][ \t]+(?P<underlined>[^\r\n]{1,80})\r?\n[ \t]*(?P<rule>-{3,}|={3,})
    | (?P<item>[-*+][ \t]+|\d{1,3}[.)][ \t]+)?
      (?:\*\*|__)?(?P<label>\w[^:*_\r\n]{0,60})(?:\*\*|__)?:(?:\*\*|__)?
    )[ \t]*\r?$""",
    re.MULTILINE | re.VERBOSE,
)
# In front of what a line says: `- **Locked:** `, `2. (locked) `, `Locked - `.
_LABEL_BEFORE = r"^[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?[^\w\s]*[ \t]*"
_LABEL_BEHIND = r"(?:[*_]*:[*_]*|[*_]*[\])][*_:]*|[ \t]+[-\u2013\u2014]+)[ \t]+(?=\S)"
# One alone may be a word of the matter (`- Locked: the door stays shut`); two are a scheme.
_LEAST_LABELS = 2
_BLANK_LINES = lazy_pattern(r"(?>(?:[ \t]*(?:\r\n?|\n))*)")
_DETAILS_END = lazy_pattern(r"^[ \t]*</details>", re.MULTILINE | re.IGNORECASE)


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


def labelled_line(text: str, titles: Sequence[str]) -> str:
    """The first line that begins with a title, or has one between two signs, as in `- Stripe
    (locked)` and `| Stripe | Locked |`; nothing where there is none."""
    names = {title.casefold() for title in titles}
    beginnings = tuple(f"{name} " for name in names)
    for line in text.splitlines():
        pieces = [piece.strip() for piece in _SIGNS.split(line.casefold())]
        first = next(filter(None, pieces), "")
        if first.startswith(beginnings) or not names.isdisjoint(pieces):
            return line.strip()
    return ""


def find_sections(text: str, titles: Sequence[str]) -> list[Heading]:
    """The headings of these titles that stand in no other one, in their order."""
    candidates = [one for one in _headings(text, titles) if _is_one_of(one.title, titles)]
    candidates += _labelled_lines(text, titles[1:])
    found: list[Heading] = []
    for heading in sorted(candidates, key=lambda one: (one.start, -one.end)):
        end = found[-1].end if found else 0
        if heading.start >= end:
            found.append(heading)
    return found


def _labelled_lines(text: str, labels: Sequence[str]) -> list[Heading]:
    """Lines that begin with one of these labels and go on, each run of them as one section; none
    where all have the same label."""
    matches = list(_label_pattern(tuple(labels)).finditer(text)) if labels else []
    if len({match["label"].casefold() for match in matches}) < _LEAST_LABELS:
        return []
    found: list[Heading] = []
    blocks = markdown.blocks(text)
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, next_label in zip(matches, ends, strict=True):
        at = bisect_right(blocks, match.start(), key=lambda block: block.start) - 1
        if at < 0 or blocks[at].kind not in ("item", "paragraph", "quote"):
            continue
        end = min(_block_end(text, blocks, at), next_label)
        if found and found[-1].end == match.start():
            found[-1] = replace(found[-1], end=end)
            continue
        section = Heading(
            level=_LABEL_LEVEL,
            title=match["label"],
            start=match.start(),
            body=match.end(),
            end=end,
        )
        found.append(section)
    return found


def _block_end(text: str, blocks: Sequence[Block], at: int) -> int:
    """Where a block ends with the items that are deeper than it, and the blank lines behind."""
    first = blocks[at]
    end = first.end
    for place in range(at + 1, len(blocks)):
        block = blocks[place]
        if first.kind != "item" or block.kind != "item" or block.level <= first.level:
            break
        end = block.end
    blank = _BLANK_LINES.match(text, end)
    return blank.end() if blank else end


@cache
def _label_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, labels))
    return re.compile(
        rf"{_LABEL_BEFORE}(?P<label>{names}){_LABEL_BEHIND}", re.IGNORECASE | re.MULTILINE
    )


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
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]


def _headings(text: str, titles: Sequence[str]) -> list[Heading]:
    """The headings of a text, and the lines of these titles that are written as one otherwise."""
    found = markdown.headings(text)
    lines_like_headings = list(_lines_like_headings(text, titles))
    if not lines_like_headings:
        return found
    blocks = markdown.blocks(text)
    quoted: list[Heading] = []  # they end nothing outside of their quote
    for line in lines_like_headings:
        at = bisect_right(blocks, line.start(), key=lambda block: block.start) - 1
        heading = _other_heading(text, line, blocks[at:]) if at >= 0 else None
        if heading is not None:
            (quoted if line["quote"] else found).append(heading)
    ended = [_up_to_next(heading, found) for heading in found]
    ended += [_up_to_next(heading, quoted) for heading in quoted]
    return sorted(ended, key=lambda heading: heading.start)


def _lines_like_headings(text: str, titles: Sequence[str]) -> Iterator[re.Match[str]]:
    """Lines of these titles, and in bold of any, since they end a section."""
    for line in _OTHER_HEADING.finditer(text):
        is_plain = line["hashes"] is not None and not line["quote"]
        if is_plain:
            continue
        ends_others = line["bold"] or line["html"] or line["underlined"]
        if ends_others or _is_one_of(_title(line), titles):
            yield line


def _title(line: re.Match[str]) -> str:
    names = ("in_quote", "bold", "html", "summary", "underlined", "label")
    return next(line[name] for name in names if line[name]).rstrip(": ")


def _other_heading(text: str, line: re.Match[str], blocks: Sequence[Block]) -> Heading | None:
    """The line as a heading, up to where its section ends at the latest; `blocks` begin with the
    one it is in. None where it is none: in code, as an item, above no list."""
    kind = blocks[0].kind
    wanted = {"quote"} if line["quote"] else {"paragraph", "html"}
    if line["item"] or line["underlined"]:  # to a parser, a list of one item above a rule
        wanted = {"item"}
    if kind not in wanted:
        return None
    level = _BOLD_LEVEL
    end = blocks[0].end if line["quote"] else len(text)
    if line["hashes"]:
        level = len(line["hashes"])
    elif line["html"]:
        level = int(line["level"])
    elif line["underlined"]:
        level = 1 if line["rule"].startswith("=") else 2
    elif line["summary"]:
        details_end = _DETAILS_END.search(text, line.end())
        end = details_end.start() if details_end else end
    elif line["label"] and not line["quote"]:
        level = _LABEL_LEVEL
        end = _list_end(blocks, line.end(), len(text))
        if not end:
            return None
    # `<details>` stays with the tag that closes it
    start = line.end("details") if line["details"] else line.start()
    return Heading(level=level, title=_title(line), start=start, body=line.end(), end=end)


def _list_end(blocks: Sequence[Block], body: int, text_end: int) -> int:
    """Where the list that follows a label ends, 0 where none does; below an item, the items that
    are deeper."""
    first, *others = blocks
    if first.end > body and first.kind != "item":
        return 0
    for place, block in enumerate(others):
        is_below = first.kind != "item" or block.level > first.level
        if block.kind not in ("item", "table", "code") or not is_below:
            return block.start if place else 0
    return text_end if others else 0


def _up_to_next(heading: Heading, others: Sequence[Heading]) -> Heading:
    """The heading with its section up to the next one of its rank or higher."""
    end = heading.end
    for other in others:
        is_inside = heading.body <= other.start < end
        if is_inside and other.level <= heading.level:
            end = other.start
    return replace(heading, end=end)
