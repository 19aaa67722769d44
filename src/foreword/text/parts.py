"""What an instruction file sets apart: phases, anchors, what belongs to a tier, a persona's header.

Pure. Finding and pairing marks is `marks`' business. A workflow without marks has its phases under
headings.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.text import lines, markdown
from foreword.text.marks import Span, plain, rows, spans_of, without

PERSONA_HEADER = ("Role", "Evaluate For")
_HEADER_KEYS = {name.casefold() for name in PERSONA_HEADER}

_AFTER = lazy_pattern(r"\bAFTER\b[ \t]*+:?[ \t]*+(?P<names>[\w.,; \t-]{1,200})", re.IGNORECASE)
_HEADING = lazy_pattern(
    r"Phase[ \t]+(?P<name>[0-9]{1,4}(?:\.[0-9]{1,3}){0,3}[a-z]?(?:-[a-z]{1,20})?)\b"
    r"[ \t]*[:.)—–-]*[ \t]*(?P<title>.*)",
    re.IGNORECASE,
)
_ATX = lazy_pattern(r"[ ]{0,3}(?P<level>#{1,6})[ \t]++(?P<title>\S[^\r\n]*)")
_PHASE_NAME = lazy_pattern(
    r"\b[0-9]{1,4}(?:\.[0-9]{1,3}){0,3}[a-z]?(?:-[a-z]{1,20})?\b", re.IGNORECASE
)
_DEPENDS = lazy_pattern(
    r"^[> \t*_-]{0,12}(?:depends[ \t]++on|after)[*_]{0,3}[ \t]*+:[*_"
    r" \t]*+(?P<names>[^\r\n]{1,300})\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_NOTHING = ("none", "nothing")
_BETWEEN = lazy_pattern(r"[\s,;&]+|\b(?:phases?|and)\b", re.IGNORECASE)
_RULE = lazy_pattern(r"(?:-{3,}|\*{3,}|_{3,})")
# How far into a phase its title and what it waits for are looked for: behind that, a heading is one
# of its steps, and `after:` a word of its text.
_HEAD_LINES = 20
_HEAD_CHARS = 2_000


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


def before_phases(text: str) -> str:
    """What stands before the first phase of a workflow: all of a text without phases."""
    found = phases(text)
    if not found:
        return text
    rows_before = min(part.line for part in found) - 1
    return "".join(text.splitlines(keepends=True)[:rows_before])


def _headed_phases(text: str) -> Iterator[Part]:
    headings = list(_headings_outside_code(text))
    names = [_HEADING.fullmatch(title.strip("*_ ")) for *_, title in headings]
    levels = [heading[2] for heading, name in zip(headings, names, strict=True) if name]
    # `# Phase 6 + 7` over `## Phase 6` and `## Phase 7` is the title of the text
    title_level = levels[0] if len(levels) > 2 and levels[0] < min(levels[1:]) else 0
    for place, (at, number, level, _) in enumerate(headings):
        named = names[place]
        if named is None or level == title_level:
            continue
        end = len(text)
        for later in range(place + 1, len(headings)):
            start, _, other_level, _ = headings[later]
            if other_level <= level:
                end = start
                break
        body = _without_last_rules(text[at:end])
        yield Part(
            name=named["name"].lower(),
            title=named["title"].strip(),
            text=body,
            line=number,
            after=_phases_before(body),
        )


def _headings_outside_code(text: str) -> Iterator[tuple[int, int, int, str]]:
    """The `#` headings as (offset, line, level, title)."""
    starts = lines.starts(text)
    for at, row, in_code in rows(text):
        match = None if in_code else _ATX.fullmatch(row.rstrip())
        if match:
            title = _without_closing_hashes(match["title"])
            yield at, bisect_right(starts, at), len(match["level"]), title


def _without_closing_hashes(title: str) -> str:
    """A heading's title without the `#` that may close it."""
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else title


def _without_last_rules(body: str) -> str:
    """A phase without the rules that part it from the next one."""
    kept = body.splitlines(keepends=True)
    while kept and (not kept[-1].strip() or _RULE.fullmatch(kept[-1].strip())):
        kept.pop()
    return "".join(kept).rstrip()


def _phase_part(text: str, span: Span) -> Part:
    body = lines.strip_blank_lines(text[span.start : span.end]).rstrip()
    title = _first_heading(body)
    named = _HEADING.fullmatch(title.strip("*_ "))
    after = _AFTER.search(span.mark.rest)
    return Part(
        name=span.mark.name.lower(),
        title=(named["title"] if named else title).strip(),
        text=body,
        line=span.mark.line,
        after=_phase_names(after["names"]) if after else _phases_before(body),
    )


def _first_heading(body: str) -> str:
    """The title of the first heading near the beginning, or nothing."""
    for row in body[:_HEAD_CHARS].splitlines()[:_HEAD_LINES]:
        found = _ATX.fullmatch(row.strip())
        if found:
            return _without_closing_hashes(found["title"])
    return ""


def _phases_before(body: str) -> tuple[str, ...] | None:
    """The phases of a line such as `> **Depends on:** Phase 1, 3a` or `> **After:** none`."""
    for match in _DEPENDS.finditer(body[:_HEAD_CHARS]):
        words = [word for word in _BETWEEN.split(match["names"].strip().rstrip(".*_")) if word]
        if all(word.lower() in _NOTHING or _PHASE_NAME.fullmatch(word) for word in words):
            return _phase_names(match["names"])
    return None


def _phase_names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([name.lower() for name in _PHASE_NAME.findall(text)]))


def anchors(text: str) -> list[Part]:
    """What must survive everything: between paired marks, or the block that a single mark stands
    at."""
    starts = lines.starts(text)
    found: list[Part] = []
    for span in spans_of(text, "ANCHOR"):
        body = text[span.start : span.end]
        if not body.strip():
            continue
        found.append(
            Part(
                name="",
                title=span.mark.rest,
                text=lines.strip_blank_lines(body).rstrip(),
                line=bisect_right(starts, span.start),
            )
        )
    return found


def without_anchors(text: str) -> str:
    """The text without what is anchored; it is read elsewhere."""
    return without(text, [span.whole for span in spans_of(text, "ANCHOR")])


def in_tier(text: str, tier: int) -> str:
    """What the author marked for a tier, or nothing where nothing is marked."""
    spans = [span for span in spans_of(text, "TIER") if span.mark.name == str(tier)]
    bodies = [lines.strip_blank_lines(text[span.start : span.end]).strip() for span in spans]
    return "\n\n".join(bodies)


def persona_header(text: str) -> str:
    """A persona's `Role` and `Evaluate For`, under its own title; without them its marked core,
    else its opening."""
    found = markdown.headings(text)
    main = [heading for heading in found if heading.level == 1][:1]
    parts = [text[heading.start : heading.body].strip() for heading in main]
    has_header = False
    for heading in found:
        if heading not in main and heading.title.strip("*_: ").casefold() in _HEADER_KEYS:
            parts.append(text[heading.start : heading.end].strip())
            has_header = True
    if not has_header:
        core = in_tier(text, 1)
        if not core:
            return plain(_opening(text))
        parts.append(core)
    return plain("\n\n".join(parts))


def _opening(text: str) -> str:
    """The title and the first paragraph."""
    without_marks = plain(text)
    end = 0
    for block in markdown.blocks(without_marks):
        end = block.end
        if block.kind in ("paragraph", "item", "quote"):
            break
    return without_marks[:end]
