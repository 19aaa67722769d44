"""What the marks of an instruction file set apart: phases, anchors, what belongs to a tier, a
persona's header.

Pure. Finding and pairing marks is `marks`' business. A workflow without marks has its phases under
headings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from foreword.text import lines, markdown
from foreword.text.marks import Span, plain, rows, spans_of, without

PERSONA_HEADER = ("Role", "Evaluate For")

_AFTER = re.compile(r"\bAFTER\b[ \t]*+:?[ \t]*+(?P<names>[\w.,; \t-]{1,200})", re.IGNORECASE)
_HEADING = re.compile(
    r"Phase[ \t]+(?P<name>[0-9]{1,4}[a-z]?(?:-[a-z]{1,20})?)\b[ \t]*[:.)—–-]*[ \t]*(?P<title>.*)",
    re.IGNORECASE,
)
_ATX = re.compile(r"[ ]{0,3}(?P<level>#{1,6})[ \t]++(?P<title>\S[^\r\n]*)")
_PHASE_NAME = re.compile(r"\b[0-9]{1,4}[a-z]?(?:-[a-z]{1,20})?\b", re.IGNORECASE)
_DEPENDS = re.compile(
    r"^[> \t*_-]{0,12}(?:depends[ \t]++on|after)[*_]{0,3}[ \t]*+:[*_"
    r" \t]*+(?P<names>[^\r\n]{1,300})\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_NOTHING = ("none", "nothing")
_BETWEEN = re.compile(r"[\s,;&]+|\b(?:phases?|and)\b", re.IGNORECASE)
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,})")
_HEAD_LINES = 20
_HEAD_CHARS = 2_000  # how far into a phase its title and what it waits for are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of a text that a mark or a heading sets apart."""

    name: str
    title: str
    text: str
    line: int
    # phases that must be done before; None where the author says nothing
    after: tuple[str, ...] | None = None


def phases(text: str) -> list[Part]:
    """The phases of a workflow in its order: by marks, and where there are none by `## Phase N`
    headings."""
    spans = [span for span in spans_of(text, "PHASE") if span.mark.name]
    if spans:
        return [_phase_part(text, span) for span in spans]
    return list(_headed_phases(text)) if "phase" in text.lower() else []


def _headed_phases(text: str) -> Iterator[Part]:
    starts = lines.starts(text)
    headings = [
        (at, bisect_right(starts, at), len(match["level"]), _unhashed(match["title"]))
        for at, row, in_code in rows(text)
        if not in_code and (match := _ATX.fullmatch(row.rstrip()))
    ]
    for place, (at, number, level, title) in enumerate(headings):
        named = _HEADING.fullmatch(title.strip("*_ "))
        if named is None:
            continue
        later = (headings[index] for index in range(place + 1, len(headings)))
        end = next((start for start, _, other, _ in later if other <= level), len(text))
        body = _unruled(text[at:end])
        yield Part(
            name=named["name"].lower(),
            title=named["title"].strip(),
            text=body,
            line=number,
            after=_depends(body),
        )


def _unhashed(title: str) -> str:
    """A heading's title without the `#` that may close it."""
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else title


def _unruled(body: str) -> str:
    """A phase without the rules that part it from the next one."""
    kept = body.splitlines(keepends=True)
    while kept and (not kept[-1].strip() or _RULE.fullmatch(kept[-1].strip())):
        kept.pop()
    return "".join(kept).rstrip()


def _phase_part(text: str, span: Span) -> Part:
    body = lines.strip_blank_lines(text[span.start : span.end]).rstrip()
    titles = (_ATX.fullmatch(row.strip()) for row in body[:_HEAD_CHARS].splitlines()[:_HEAD_LINES])
    title = next((_unhashed(found["title"]) for found in titles if found), "")
    named = _HEADING.fullmatch(title.strip("*_ "))
    after = _AFTER.search(span.mark.rest)
    return Part(
        name=span.mark.name.lower(),
        title=(named["title"] if named else title).strip(),
        text=body,
        line=span.mark.line,
        after=_names(after["names"]) if after else _depends(body),
    )


def _depends(body: str) -> tuple[str, ...] | None:
    """The phases of a line such as `> **Depends on:** Phase 1, 3a` or `> **After:** none`."""
    for match in _DEPENDS.finditer(body[:_HEAD_CHARS]):
        words = [word for word in _BETWEEN.split(match["names"].strip().rstrip(".*_")) if word]
        if all(word.lower() in _NOTHING or _PHASE_NAME.fullmatch(word) for word in words):
            return _names(match["names"])
    return None


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.lower() for name in _PHASE_NAME.findall(text)))


def anchors(text: str) -> list[Part]:
    """What must survive everything: between paired marks, or the block that a single mark stands
    at."""
    starts = lines.starts(text)
    return [
        Part(
            name="",
            title=span.mark.rest,
            text=lines.strip_blank_lines(text[span.start : span.end]).rstrip(),
            line=bisect_right(starts, span.start),
        )
        for span in spans_of(text, "ANCHOR")
        if text[span.start : span.end].strip()
    ]


def without_anchors(text: str) -> str:
    """The text without what is anchored; it is read elsewhere."""
    return without(text, [span.whole for span in spans_of(text, "ANCHOR")])


def in_tier(text: str, tier: int) -> str:
    """What the author marked for a tier, or nothing where nothing is marked."""
    found = [span for span in spans_of(text, "TIER") if span.mark.name == str(tier)]
    return "\n\n".join(
        lines.strip_blank_lines(text[span.start : span.end]).strip() for span in found
    )


def persona_header(text: str) -> str:
    """A persona's `Role` and `Evaluate For`, under its own title; without them its marked core,
    else its opening."""
    found = markdown.headings(text)
    title = next((h for h in found if h.level == 1), None)
    parts = [text[title.start : title.body].strip()] if title else []
    wanted = [
        h for h in found if h.title.strip("*_: ").casefold() in _HEADER_KEYS and h is not title
    ]
    if wanted:
        return plain("\n\n".join([*parts, *(text[h.start : h.end].strip() for h in wanted)]))
    core = in_tier(text, 1)
    return plain("\n\n".join([*parts, core])) if core else plain(_opening(text))


_HEADER_KEYS = {name.casefold() for name in PERSONA_HEADER}


def _opening(text: str) -> str:
    """The title and the first paragraph."""
    found = markdown.blocks(plain(text))
    first = next(
        (at for at, block in enumerate(found) if block.kind in ("paragraph", "item", "quote")),
        len(found),
    )
    return plain(text)[: found[min(first, len(found) - 1)].end] if found else ""
