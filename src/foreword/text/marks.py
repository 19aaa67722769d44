"""The marks that authors leave in instruction files: where they are, and which two are a pair.

Pure. A mark is an HTML comment outside of code: `<!-- PHASE:3a -->` ... `<!-- /PHASE:3a -->`, `<!--
ANCHOR: why -->` with or without `<!-- /ANCHOR -->`, `<!-- TIER_1_START -->` ... `<!-- TIER_1_END
-->`. Reading is lenient, so that a file with a forgotten mark still works; `problems` says what was
forgotten. What marks mean is told by `parts`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from foreword.pattern import lazy_pattern
from foreword.text import lines, markdown

Kind = Literal["PHASE", "ANCHOR", "TIER"]

# Around what `foreword init` writes into a project's Markdown files.
OWN_BEGIN = "<!-- foreword init: begin -->"
OWN_END = "<!-- foreword init: end -->"
OWN_BLOCK = lazy_pattern(rf"{OWN_BEGIN}.*?{OWN_END}", re.DOTALL)

_MARK = lazy_pattern(
    r"<!--[ \t]*+(?:"
    r"(?P<end>/?)(?P<kind>PHASE(?=[ \t]*+(?::|[0-9]|-->))|(?-i:ANCHOR\b)|ANCHOR(?=["
    r" \t]*+(?::|-->)))"
    r"(?:[ \t]*+:)?[ \t]*+(?P<rest>[^\r\n]{0,300}?)"
    r"|TIER_(?P<tier>[0-9])_(?P<edge>START|END)"
    r")[ \t]*+-->",
    re.IGNORECASE,
)
# a mark gone wrong: `/ PHASE:1`, `END PHASE:1`, `PHASE_1`, `TIER_1`, or no end on its line
_MEANT = lazy_pattern(
    r"<!--[ \t]*+(?:(?:/|END\b)[ \t_]*+)?(?P<kind>PHASE(?=[ \t]*+[:_0-9])|ANCHOR\b|TIER(?=_?[0-9]))"
    r"[^\r\n]{0,300}?(?:-->|(?=[\r\n])|\Z)"
)
_RIGHT = {
    "PHASE": "<!-- PHASE:1 --> and <!-- /PHASE:1 -->",
    "ANCHOR": "<!-- ANCHOR: why --> and <!-- /ANCHOR -->",
    "TIER": "<!-- TIER_1_START --> and <!-- TIER_1_END -->",
}
_NAME = lazy_pattern(r"[\w.-]{1,40}")
_FENCE = lazy_pattern(r"[ \t]{0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
_CODE = lazy_pattern(r"(?<!`)(?P<ticks>`++)[^\r\n]*?(?<!`)(?P=ticks)(?!`)")
_GAP = lazy_pattern(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One mark: `name` is a phase's, or a tier's number; `start` and `end` are offsets of the
    comment."""

    kind: Kind
    name: str
    opens: bool
    start: int
    end: int
    line: int
    alone: bool  # on a line of its own
    rest: str = ""  # why, or AFTER: which phases


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """What lies between two marks, or behind a single one; both ends without the marks."""

    mark: Mark
    start: int
    end: int
    whole: tuple[int, int]  # with the marks
    is_closed: bool


@dataclass(frozen=True, slots=True)
class MarkProblem:
    """What is wrong with a mark."""

    line: int
    code: str
    message: str
    start: int = 0


def marks(text: str) -> list[Mark]:
    """Every mark of a text in order; what stands in code is an example, not a mark."""
    if "<!--" not in text:
        return []
    starts = lines.starts(text)
    code = _code_spans(text)
    outside = [match for match in _MARK.finditer(text) if not _is_inside(match.start(), code)]
    return [_mark(text, match, starts) for match in outside]


def _is_inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether an offset lies in one of these stretches, which come in order."""
    index = bisect_right(spans, at, key=lambda span: span[0]) - 1
    return index >= 0 and spans[index][1] > at


def _mark(text: str, match: re.Match[str], starts: Sequence[int]) -> Mark:
    number = bisect_right(starts, match.start())
    begin = starts[number - 1]
    stop = starts[number] if number < len(starts) else len(text)
    alone = not (text[begin : match.start()] + text[match.end() : stop]).strip()
    if match["tier"]:
        opens = match["edge"].upper() == "START"
        return Mark(
            kind="TIER",
            name=match["tier"],
            opens=opens,
            start=match.start(),
            end=match.end(),
            line=number,
            alone=alone,
        )
    kind: Kind = "PHASE" if match["kind"].upper() == "PHASE" else "ANCHOR"
    rest = match["rest"].strip()
    named = _NAME.match(rest) if kind == "PHASE" else None
    if named:
        rest = rest[named.end() :].strip()
    return Mark(
        kind=kind,
        name=named[0] if named else "",
        opens=not match["end"],
        start=match.start(),
        end=match.end(),
        line=number,
        alone=alone,
        rest=rest,
    )


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Fenced code and code in a line, as offsets in order."""
    spans: list[tuple[int, int]] = []
    for at, row, in_code in rows(text):
        if in_code:
            spans.append((at, at + len(row)))
        elif "`" in row:
            spans += [(at + found.start(), at + found.end()) for found in _CODE.finditer(row)]
    return spans


def rows(text: str) -> Iterator[tuple[int, str, bool]]:
    """Every line with its offset, and whether it is in fenced code.

    People put a fence into a fence: one with a language inside another opens a second one. Where
    that reading never comes to an end, fences are read as CommonMark has them.
    """
    found = text.splitlines(keepends=True)
    in_code, is_open = _fence_lines(found, nested=True)
    if is_open:
        in_code, _ = _fence_lines(found, nested=False)
    at = 0
    for row, code in zip(found, in_code, strict=True):
        yield at, row, code
        at += len(row)


def _fence_lines(rows: Sequence[str], nested: bool) -> tuple[list[bool], bool]:
    """Which lines are in fenced code, and whether the last fence is still open."""
    found: list[bool] = []
    fence = ""
    depth = 0
    for row in rows:
        match = _FENCE.match(row)
        found.append(depth > 0 or match is not None)
        if match is None or (depth and not match["fence"].startswith(fence)):
            continue
        if not depth:
            inline = match["fence"][0] == "`" and "`" in match["info"]
            if inline:
                found[-1] = False
            else:
                fence = match["fence"]
                depth = 1
        elif not match["info"].strip():
            depth -= 1
        elif nested:
            depth += 1
    return found, depth > 0


# --- without marks --------------------------------------------------------------------------------


def plain(text: str) -> str:
    """The text without our marks: they are for the loader, not for the model."""
    return without(text, [(mark.start, mark.end) for mark in marks(text)])


def without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """The text without these stretches, and without the empty lines that they would leave
    behind."""
    if not cuts:
        return text
    kept: list[str] = []
    at = 0
    for start, end in cuts:
        if start < at:
            continue
        before = text[at:start]
        at = end
        begins_line = before.endswith("\n") or not (before or kept)
        gap = _GAP.match(text, end) if begins_line else None
        if gap:
            at = gap.end()
        kept.append(before)
    kept.append(text[at:])
    ending = "\n" if text.endswith("\n") else ""
    return "".join(kept).rstrip() + ending


# --- pairs ----------------------------------------------------------------------------------------


def spans_of(text: str, kind: Kind) -> list[Span]:
    """What the marks of one kind set apart, in order; a mark that is never closed reaches as far
    as it can."""
    mine = [mark for mark in marks(text) if mark.kind == kind]
    if kind == "PHASE":
        closings = _closings(mine)
    else:
        closings = [_next_closes(mine, at) for at in range(len(mine))]
    found: list[Span] = []
    blocks: list[markdown.Block] = []
    for at, mark in enumerate(mine):
        if not mark.opens:
            continue
        closing = closings[at]
        following = mine[at + 1].start if at + 1 < len(mine) else len(text)
        if closing is not None:
            found.append(
                Span(
                    mark=mark,
                    start=mark.end,
                    end=closing.start,
                    whole=(mark.start, closing.end),
                    is_closed=True,
                )
            )
        elif kind == "ANCHOR":
            blocks = blocks or _blocks_without_marks(text)
            found.append(_single(text, mark, blocks, following))
        else:
            found.append(
                Span(
                    mark=mark,
                    start=mark.end,
                    end=following,
                    whole=(mark.start, following),
                    is_closed=False,
                )
            )
    return found


def _next_closes(mine: Sequence[Mark], at: int) -> Mark | None:
    """The very next mark, where it closes this one."""
    if at + 1 == len(mine):
        return None
    following = mine[at + 1]
    if following.opens or following.name != mine[at].name:
        return None
    return following


def _closings(mine: Sequence[Mark]) -> list[Mark | None]:
    """What closes each phase, just as `problems` has it."""
    pairs = _pairs(mine)
    by_start = {mark.start: mark for mark in mine}
    return [by_start.get(pairs.get(mark.start, -1)) for mark in mine]


def _single(text: str, mark: Mark, blocks: Sequence[markdown.Block], stop: int) -> Span:
    """What a single mark stands at: its own line's block, or the block behind it with all that
    belongs to it.

    The next mark's begins at `stop`.
    """
    at = bisect_right(blocks, mark.start, key=lambda block: block.start)
    if not mark.alone:
        if not at:
            return _empty_span(mark)
        own = blocks[at - 1]
        return Span(
            mark=mark, start=own.start, end=own.end, whole=(own.start, own.end), is_closed=True
        )
    if at == len(blocks):
        return _empty_span(mark)
    first = blocks[at]
    end = first.end
    leads = first.kind == "item" or text[first.start : first.end].rstrip().endswith(":")
    for index in range(at + 1, len(blocks)):
        block = blocks[index]
        if block.start >= stop:
            break
        if first.kind == "heading":
            belongs = block.kind != "heading" or block.level > first.level
        else:
            belongs = leads and block.kind == "item"
        if not belongs:
            break
        end = block.end
    return Span(mark=mark, start=first.start, end=end, whole=(mark.start, end), is_closed=True)


def _blocks_without_marks(text: str) -> list[markdown.Block]:
    found: list[markdown.Block] = []
    for block in markdown.blocks(text):
        is_html = block.kind == "html"
        if not is_html or not _MARK.fullmatch(text[block.start : block.end].strip()):
            found.append(block)
    return found


def _empty_span(mark: Mark) -> Span:
    return Span(
        mark=mark, start=mark.end, end=mark.end, whole=(mark.start, mark.end), is_closed=True
    )


# --- what is wrong --------------------------------------------------------------------------------


def problems(text: str) -> Iterator[MarkProblem]:
    """Marks that were not closed, closed twice, nested, repeated or misspelt; of anchors only a
    closing mark can be wrong."""
    found = marks(text)
    for kind in ("PHASE", "TIER"):
        yield from _pairing_problems([mark for mark in found if mark.kind == kind])
    yield from _anchor_problems([mark for mark in found if mark.kind == "ANCHOR"])
    for mark in found:
        if mark.kind == "PHASE" and mark.opens and not mark.name:
            yield _problem(
                mark, code="unnamed-phase", message="PHASE without a name: write PHASE:1"
            )
    yield from _misspelt_marks(text, {mark.start for mark in found})


def _problem(mark: Mark, code: str, message: str) -> MarkProblem:
    return MarkProblem(line=mark.line, code=code, message=message, start=mark.start)


def _anchor_problems(anchors: Sequence[Mark]) -> Iterator[MarkProblem]:
    is_open = False
    for mark in anchors:
        if not mark.opens and not is_open:
            yield _problem(mark, code="unopened-marker", message="/ANCHOR closes nothing")
        is_open = mark.opens


def _pairing_problems(mine: Sequence[Mark]) -> Iterator[MarkProblem]:
    closed = _pairs(mine)
    closing = set(closed.values())
    open_pairs: list[tuple[Mark, int]] = []  # those around this mark, and where they are closed
    first_lines: dict[str, int] = {}  # by name
    for mark in mine:
        label = _label(mark)
        if not mark.opens:
            if mark.start not in closing:
                yield _problem(mark, code="unopened-marker", message=f"{label} closes nothing")
            continue
        while open_pairs and open_pairs[-1][1] < mark.start:
            open_pairs.pop()
        if open_pairs:
            outer, _ = open_pairs[-1]
            yield _problem(
                mark, code="nested-marker", message=f"{label} opens inside {_label(outer)}"
            )
        name = mark.name.lower()
        if mark.kind == "PHASE" and name and name in first_lines:
            twice = f"{label} is there twice, first on line {first_lines[name]}"
            yield _problem(mark, code="repeated-marker", message=twice)
        first_lines.setdefault(name, mark.line)
        if mark.start in closed:
            open_pairs.append((mark, closed[mark.start]))
        else:
            yield _problem(mark, code="unclosed-marker", message=f"{label} is never closed")


def _pairs(mine: Sequence[Mark]) -> dict[int, int]:
    """Where each mark that is closed starts, and where the one that closes it does: the last of
    its name that is open, or for one without a name the last of any."""
    pairs: dict[int, int] = {}
    waiting: list[Mark] = []
    by_name: dict[str, list[Mark]] = {}
    for mark in mine:
        name = mark.name.lower()
        if mark.opens:
            waiting.append(mark)
            by_name.setdefault(name, []).append(mark)
            continue
        closes_any = mark.kind == "PHASE" and not name
        candidates = waiting if closes_any else by_name.get(name, [])
        while candidates and candidates[-1].start in pairs:
            candidates.pop()
        if candidates:
            pairs[candidates.pop().start] = mark.start
    return pairs


def _misspelt_marks(text: str, known: set[int]) -> Iterator[MarkProblem]:
    """Comments that were meant as marks and are none."""
    candidates = [match for match in _MEANT.finditer(text) if match.start() not in known]
    if not candidates:
        return
    starts = lines.starts(text)
    code = _code_spans(text)
    for match in candidates:
        at = match.start()
        if not _is_inside(at, code):
            message = f"{match[0].strip()} is no mark: write {_RIGHT[match['kind']]}, on one line"
            line = bisect_right(starts, at)
            yield MarkProblem(line=line, code="broken-marker", message=message, start=at)


def _label(mark: Mark) -> str:
    """A mark as its author wrote it, near enough."""
    if mark.kind == "TIER":
        return f"TIER_{mark.name}_{'START' if mark.opens else 'END'}"
    slash = "" if mark.opens else "/"
    return f"{slash}{mark.kind}:{mark.name}" if mark.name else f"{slash}{mark.kind}"
