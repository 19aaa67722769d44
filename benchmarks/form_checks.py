"""What is true of every smaller form of a text, judged without any of the code that makes forms.

A form is read as stretches of the original with marks between them. From where the stretches stand,
its lines are judged: whole, under their own heading and their table's head, with what leads in to
them, and with both ends of every fence, tag and emphasis. Each finding is a word and the line.
"""

import ast
import json
import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import yaml

from benchmarks import data_checks, function_bodies, mark_checks
from benchmarks.function_bodies import Body

MARK = re.compile(r"\[\.\.\.(?: [^\[\]\n]*)?\]")
# A mark with what stands around it: the quotes of a JSON member, the sign of a comment.
_PLACED = re.compile(r'(?:(?:#|//|--|%|;) )?"?\[\.\.\.(?: [^\[\]\n]*)?\](?:"(?!"")(?:: null)?,?)?')
_FENCE = re.compile(r"[ \t>]*(?P<sign>`{3,}|~{3,})(?P<info>[^\n]*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
# The titles of other markup languages: a sign whose length is the rank.
_TITLES = {
    "asciidoc": re.compile(r"(?P<sign>=+)[ \t]+\S"),
    "org": re.compile(r"(?P<sign>\*+)[ \t]+\S"),
}
_RULE = re.compile(r" {0,3}(?:-{3,}|\*{3,}|_{3,})\s*")
_DELIMITER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+")
_TAG = re.compile(
    r"<(?P<closes>/?)(?P<name>[A-Za-z][\w:.-]*)(?:\s(?:[^<>=/]|/(?!>)|=>?)*)?(?P<empty>/?)>"
)
_TAGS_ALONE = re.compile(
    r"(?:\s*(?:<[^<>]*>|-{3,}(?!-)|\*{3,}(?!\*)|_{3,}(?!_)))*\s*"  # or a rule
)
_CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+\d+(?:,(?P<new>\d+))? @@")
_SENTENCE_END = re.compile(r"[.!?:;。！？；।॥؟۔։።។][\"'”’»)\]*_`」』）】]*\Z")
_STOP = re.compile(r"[.!?:;।॥؟۔։።។][\"'”’»)\]*_`]*(?=\s)|[。！？；]")
_LONG_LINE = 240  # characters of a line of code that no person writes
_LONGEST = 1_000  # characters of a sentence; what goes on for longer is none
_UNDERLINE = re.compile(r"([=\-~^\"'*+#`:._])\1{2,}\s*")
_STAMP = re.compile(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|commit [0-9a-f]{7,40}\b"
)
# The end of a sentence, and one behind it that takes something back.
_EXCEPTION = re.compile(
    r"[.!?][\"')*_`]*\s+(?:[-*+>] +)?[*_]*(?P<word>(?:Except|Unless|Exceptions?:|But|However"
    r"|This does not apply)\b)"
)
_MOST_PLACES = 30  # of a line that is there several times: so many are tried
_AROUND = 290  # characters: the mark of the whole is 80, and four headings with marks are 200
_TAG_LINES = 12
_MEMBER_ENDS = ']},";{<>)|'
_MEMBER_STARTS = '[{,";}>('


@dataclass(frozen=True, slots=True)
class Chunk:
    """What stands between two marks of a form: where, and which of them are on its lines."""

    text: str
    start: int
    begins_beside_mark: bool
    ends_beside_mark: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A run of the original between two marks of a form, and whether the marks are on its lines."""

    start: int
    end: int
    begins_beside_mark: bool
    ends_beside_mark: bool


@dataclass(slots=True)
class Document:
    """The original, read line by line."""

    text: str
    kind: str
    lines: list[str] = field(init=False)
    starts: list[int] = field(init=False)
    in_fence: list[int] = field(init=False)  # for each line the fence it is in, or -1
    fences: list[tuple[int, int]] = field(init=False)  # opening and closing line
    balanced: list[tuple[int, int]] = field(init=False)  # paragraphs that close what they open
    tag_pairs: list[tuple[int, int]] = field(init=False)  # where tags open and close
    long_tags: list[re.Match[str]] = field(init=False)  # over several lines
    bodies: list[Body] = field(init=False)  # of functions

    def __post_init__(self) -> None:
        self.lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", self.text)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.in_fence = [-1] * len(self.lines)
        self.fences = []
        if self.kind == "markdown":
            self._find_fences(self._front_matter())
        self.balanced = list(_balanced_paragraphs(self))
        self.tag_pairs = list(_tag_pairs(self))
        self.long_tags = list(_long_tags(self))
        self.bodies = list(function_bodies.bodies(self.text, self.kind))
        for opening, closing in self.fences:
            self.bodies += function_bodies.bodies_in_fence(self.lines, opening, closing)

    def _front_matter(self) -> int:
        """The lines of YAML in front of the text; they are read as code between fences."""
        if not self.lines or self.lines[0].strip("\ufeff \t\r\n") != "---":
            return 0
        for at in range(1, len(self.lines)):
            if self.lines[at].rstrip() in ("---", "..."):
                self.fences.append((0, at))
                self.in_fence[: at + 1] = [0] * (at + 1)
                return at + 1
        return 0

    def _find_fences(self, first: int) -> None:
        opening = -1
        sign = ""
        for at, line in enumerate(self.lines[first:], first):
            found = _FENCE.match(line)
            if opening < 0:
                if found and "`" not in found["info"]:
                    opening = at
                    sign = found["sign"]
                continue
            self.in_fence[at] = opening
            closes = found and found["sign"][0] == sign[0] and not found["info"].strip()
            if found and closes and len(found["sign"]) >= len(sign):
                self.fences.append((opening, at))
                opening = -1

    def line_at(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def said(self, at: int) -> bool:
        return bool(self.lines[at].strip())

    def following(self, at: int) -> int:
        """The next line that says something, or -1."""
        for other in range(at + 1, len(self.lines)):
            if self.said(other):
                return other
        return -1

    def paragraph(self, at: int) -> tuple[int, int]:
        """The lines around this one up to blank ones."""
        start = end = at
        while start and self.said(start - 1):
            start -= 1
        while end < len(self.lines) and self.said(end):
            end += 1
        return start, end


def findings(document: Document, form: str, room: int) -> Iterator[tuple[str, str]]:
    """What is wrong with a form: what it is, and the line that shows it."""
    if form == document.text:
        return
    if len(form) > room:
        yield "too large", f"{len(form)} of {room}"
    chunks = list(_chunks(form))
    stretches = _first_places(document.text, chunks)
    if len(stretches) < len(chunks):
        yield "foreign", chunks[len(stretches)].text[:90]
        return
    judge = partial(_judge, document, room=room, form=form, chunks=chunks)
    judged = list(judge(stretches))
    if judged:
        judged = _fewest_findings(document, chunks, stretches, judge, judged)
    yield from judged
    misplaced = data_checks.misplaced(document.kind, document.text, form)
    if misplaced:
        yield "value in another place", misplaced
    if not is_readable(document.kind, form):
        yield "unreadable", form[:60]
    # Of code without line breaks statements are left out, and with them brackets.
    long_chars = sum(len(line) for line in document.lines if len(line) > _LONG_LINE)
    is_code = 2 * long_chars < len(document.text)
    is_code = is_code and function_bodies.is_valid(document.text, document.kind)
    if is_code and not function_bodies.is_valid(MARK.sub("", form), document.kind):
        yield "not code any more", form[:60]


def _fewest_findings(
    document: Document,
    chunks: list[Chunk],
    stretches: list[Stretch],
    judge: Callable[[list[Stretch]], Iterator[tuple[str, str]]],
    judged: list[tuple[str, str]],
) -> list[tuple[str, str]]:
    """The findings where lines that are there several times stand at the best of their places."""
    others = _last_places(document.text, chunks)
    if len(others) < len(chunks):
        return judged
    for at, other in enumerate(others):
        for place in _places_between(document.text, stretches[at], other):
            behind = _first_places(document.text, chunks[at + 1 :], place.end)
            for rest in (stretches[at + 1 :], behind):
                tried = [*stretches[:at], place, *rest]
                found = list(judge(tried)) if len(tried) == len(chunks) else judged
                if len(found) < len(judged):
                    judged = found
                    stretches = tried
    return judged


def _places_between(original: str, first: Stretch, last: Stretch) -> Iterator[Stretch]:
    """Where the same stretch stands behind the first of its places, up to the last one."""
    if last == first:
        return
    yield last
    chunk = original[first.start : first.end]
    start = first.start
    for _ in range(_MOST_PLACES):
        start = original.find(chunk, start + 1, last.end)
        if start < 0:
            return
        yield replace(first, start=start, end=start + len(chunk))


def _first_places(original: str, chunks: list[Chunk], at: int = 0) -> list[Stretch]:
    """Where the stretches of a form stand from an offset on, up to one that is nowhere."""
    found: list[Stretch] = []
    for chunk in chunks:
        start = _place(original, chunk, at)
        if start < 0:
            break
        found.append(_stretch(chunk, start))
        at = start + len(chunk.text)
    return found


def _last_places(original: str, chunks: list[Chunk]) -> list[Stretch]:
    """The same from the end: a line may stand in the original several times."""
    found: list[Stretch] = []
    end = len(original)
    for chunk in reversed(chunks):
        start = _last_place(original, chunk, end)
        if start < 0:
            break
        found.append(_stretch(chunk, start))
        end = start
    return found[::-1]


def _stretch(chunk: Chunk, start: int) -> Stretch:
    return Stretch(
        start=start,
        end=start + len(chunk.text),
        begins_beside_mark=chunk.begins_beside_mark,
        ends_beside_mark=chunk.ends_beside_mark,
    )


def _chunks(form: str) -> Iterator[Chunk]:
    """What stands between marks, and whether the mark before it and behind it is on its line."""
    at = 0
    before = False
    for mark in [*_PLACED.finditer(form), None]:
        raw = form[at : mark.start()] if mark else form[at:]
        bare = raw.strip()
        if bare:
            head = raw[: raw.index(bare)]
            begins_beside = before and "\n" not in head
            if not begins_beside:
                indent = head.rpartition("\n")[2]
                head = head.removesuffix(indent)
                bare = indent + bare
            tail = raw.rstrip(" \t")
            yield Chunk(
                text=bare,
                start=at + len(head),
                begins_beside_mark=begins_beside,
                ends_beside_mark=mark is not None and not tail.endswith("\n"),
            )
        before = mark is not None
        at = mark.end() if mark else len(form)


def _is_edge(original: str, at: int, *, is_start: bool) -> bool:
    """Whether a line begins, or ends, here."""
    if is_start:
        return not original[original.rfind("\n", 0, at) + 1 : at].strip("\ufeff")
    end = original.find("\n", at)
    return not original[at : end if end >= 0 else None].strip()


def _place(original: str, chunk: Chunk, at: int) -> int:
    first = original.find(chunk.text, at)
    start = first
    while start >= 0:
        if _keeps_lines(original, chunk, start):
            return start
        start = original.find(chunk.text, start + 1)
    return first


def _last_place(original: str, chunk: Chunk, end: int) -> int:
    last = original.rfind(chunk.text, 0, end)
    start = last
    while start >= 0:
        if _keeps_lines(original, chunk, start):
            return start
        start = original.rfind(chunk.text, 0, start + len(chunk.text) - 1)
    return last


def _keeps_lines(original: str, chunk: Chunk, start: int) -> bool:
    """Whether a chunk would begin and end with lines of the original wherever no mark is beside."""
    begins = chunk.begins_beside_mark or _is_edge(original, start, is_start=True)
    end = start + len(chunk.text)
    return begins and (chunk.ends_beside_mark or _is_edge(original, end, is_start=False))


def _judge(
    document: Document, stretches: list[Stretch], *, room: int, form: str, chunks: list[Chunk]
) -> Iterator[tuple[str, str]]:
    gaps = list(_gaps(document.text, stretches, form, chunks))
    yield from mark_checks.wrong_counts(document.text, gaps, form)
    kept: set[int] = set()
    for stretch in stretches:
        first = document.line_at(stretch.start)
        last = document.line_at(max(stretch.start, stretch.end - 1))
        kept.update(range(first, last + 1))
    kept = {at for at in kept if document.said(at)}
    # The lines whose end is there: of a lead-in, that is what leads in.
    ended = {at for at in kept if _holds(stretches, _end_of(document, at))}
    yield from _edge_findings(document, stretches, room - _tags_in(document, kept))
    if document.kind == "markdown":
        yield from _fence_findings(document, kept)
        yield from _heading_findings(document, kept)
        yield from _underline_findings(document, kept)
        yield from _table_findings(document, kept)
        yield from _lead_findings(document, kept, ended)
        yield from _led_findings(document, kept, ended)
        yield from _item_findings(document, kept)
        yield from _child_findings(document, kept)
        yield from _exception_findings(document, stretches)
        yield from _emphasis_findings(document, stretches)
    if document.kind in _TITLES:
        yield from _heading_findings(document, kept)
    if document.kind == "rst":
        yield from _underline_findings(document, kept)
        yield from _lead_findings(document, kept, ended)
        yield from _item_findings(document, kept)
    yield from _tag_findings(document, stretches, form)
    yield from _body_findings(document, kept)
    if document.kind == "diff":
        yield from _hunk_findings(document, kept)
    if document.kind == "log":
        yield from _entry_findings(document, kept, room)
    if document.kind == "table":
        said = [at for at in range(len(document.lines)) if document.said(at)]
        head = next((at for at in said if document.lines[at].lstrip()[0] not in "#%"), 0)
        if kept and head not in kept:
            yield "row without its head", document.lines[min(kept)]


def _gaps(
    text: str, stretches: list[Stretch], form: str, chunks: list[Chunk]
) -> Iterator[mark_checks.Gap]:
    """What is missing before, between and behind the stretches, with the marks for it."""
    starts = [*[stretch.start for stretch in stretches], len(text)]
    ends = [0, *[stretch.end for stretch in stretches]]
    opened = [0, *[chunk.end for chunk in chunks]]
    closed = [*[chunk.start for chunk in chunks], len(form)]
    for start, end, first, last in zip(ends, starts, opened, closed, strict=True):
        if text[start:end].strip():
            yield mark_checks.Gap(marks=form[first:last], start=start, end=end)


def _tags_in(document: Document, kept: set[int]) -> int:
    """The characters of lines with tags, which have to be there for what stands between them."""
    return sum(len(document.lines[at]) for at in kept if _TAG.search(document.lines[at]))


# --- the edges of stretches -----------------------------------------------------------------------


def _edge_findings(
    document: Document, stretches: list[Stretch], room: int
) -> Iterator[tuple[str, str]]:
    text = document.text
    for stretch in stretches:
        if text[stretch.start : stretch.end] in ('"""', "'''", "*/"):
            continue
        for offset, is_start in ((stretch.start, True), (stretch.end, False)):
            if _is_edge(text, offset, is_start=is_start):
                continue
            at = document.line_at(offset if is_start else offset - 1)
            line = document.lines[at].strip()
            beside = stretch.begins_beside_mark if is_start else stretch.ends_beside_mark
            if not beside:
                yield "part of a line without a mark", line
            elif not _is_whole(text, offset, is_start=is_start) and _has_an_end(text, offset):
                yield "torn", text[max(0, offset - 30) : offset] + "|" + text[offset : offset + 30]
            elif not _may_divide(document, at, room):
                yield "part of a line that would fit", line


def _is_whole(text: str, offset: int, *, is_start: bool) -> bool:
    """Whether a sentence or a member ends before this place."""
    before = text[max(0, offset - 200) : offset].rstrip()
    if not before or _SENTENCE_END.search(before[-12:]) or before.endswith("\\n"):
        return True  # or a line, as JSON writes it inside a string
    if is_start:
        return before[-1] in _MEMBER_STARTS or before[-1] in _MEMBER_ENDS
    return before[-1] in _MEMBER_ENDS or text[offset : offset + 1] in _MEMBER_ENDS


def _has_an_end(text: str, offset: int) -> bool:
    """Whether what stands around a place is no longer than a sentence may be: of a line without
    an end (base64, a list of a thousand words) any part is as good as any other."""
    start = max(text.rfind("\n", 0, offset) + 1, offset - _LONGEST)
    end = text.find("\n", offset)
    line_end = min(end if end >= 0 else len(text), offset + _LONGEST)
    for stop in _STOP.finditer(text, start, offset):
        start = stop.end()
    following = _STOP.search(text, offset, line_end)
    return (following.end() if following else line_end) - start < _LONGEST


def _may_divide(document: Document, at: int, room: int) -> bool:
    """Whether a line, with those it is wrapped with and about what has to stand around it (the
    headings above, fences, marks), is over the room."""
    first, end = document.paragraph(at)
    size = sum(len(line) for line in document.lines[first:end])
    return size > (room - _AROUND) // 2


# --- Markdown -------------------------------------------------------------------------------------


def _fence_findings(document: Document, kept: set[int]) -> Iterator[tuple[str, str]]:
    for opening, closing in document.fences:
        ends = {opening, closing} & kept
        inside = any(at in kept for at in range(opening + 1, closing))
        if len(ends) == 1 or (inside and not ends):
            yield "fence not closed", document.lines[opening]


def _heading_findings(document: Document, kept: set[int]) -> Iterator[tuple[str, str]]:
    """Lines that stand under a heading that they did not stand under."""
    above: list[tuple[int, int]] = []  # the headings a line stands under: level and line
    last_kept = -1
    for at, line in enumerate(document.lines):
        level = _title_level(document, at)
        if level:
            above = [heading for heading in above if heading[0] < level] + [(level, at)]
            last_kept = at if at in kept else last_kept
        elif document.in_fence[at] < 0 and at in kept and _RULE.fullmatch(line):
            above = []  # what stands below a rule is under no heading
            last_kept = -1
        elif at not in kept or last_kept < 0 or _TAGS_ALONE.fullmatch(line):
            continue
        elif document.kind == "asciidoc" and line.startswith("["):
            continue  # a label belongs to what follows it
        elif last_kept not in [heading for _, heading in above]:
            yield "under another heading", line


def _title_level(document: Document, at: int) -> int:
    """The rank of a line that is a title, or 0."""
    if document.in_fence[at] >= 0:
        return 0
    title = _TITLES.get(document.kind)
    if title is None:
        heading = _HEADING.match(document.lines[at])
        return heading[0].count("#") if heading else _underlined_level(document, at)
    found = title.match(document.lines[at])
    return len(found["sign"]) if found else 0


def _underlined_level(document: Document, at: int) -> int:
    """The rank of a line with `===` or `---` below it, and of that line."""
    for title in (at, at - 1):
        if not 0 <= title < len(document.lines) - 1 or not document.said(title):
            continue
        below = document.lines[title + 1].rstrip()
        stands_alone = title == 0 or not document.said(title - 1)
        if document.in_fence[title + 1] >= 0:
            continue
        if stands_alone and re.fullmatch(r"={3,}|-{3,}", below):
            return 1 if below[0] == "=" else 2
    return 0


def _underline_findings(document: Document, kept: set[int]) -> Iterator[tuple[str, str]]:
    """Headings that are a line and signs below it, of which one is missing."""
    for at in range(1, len(document.lines)):
        title = document.lines[at - 1].rstrip()
        line = document.lines[at].rstrip()
        stands_alone = (
            at < 2 or not document.said(at - 2) or _UNDERLINE.fullmatch(document.lines[at - 2])
        )
        if document.in_fence[at] >= 0 or not _UNDERLINE.fullmatch(line) or not stands_alone:
            continue
        is_title = title and title[0].isalnum() and len(line) >= len(title)
        if is_title and (at in kept) != (at - 1 in kept):
            yield "half of a heading", title


def _table_findings(document: Document, kept: set[int]) -> Iterator[tuple[str, str]]:
    at = 0
    while at + 1 < len(document.lines):
        head = document.lines[at].strip()
        below = document.lines[at + 1].strip()
        is_table = "|" in head and "|" in below and _DELIMITER.fullmatch(below)
        if not is_table or document.in_fence[at] >= 0:
            at += 1
            continue
        end = at + 2
        while end < len(document.lines) and "|" in document.lines[end]:
            if end in kept and not {at, at + 1} <= kept:
                yield "row without its head", document.lines[end]
            end += 1
        if len({at, at + 1} & kept) == 1:
            yield "half of a table's head", head
        at = end


def _ends_in_colon(line: str) -> bool:
    return line.rstrip(" \t\r\n*_").endswith((":", "\uff1a"))


def _end_of(document: Document, at: int) -> int:
    """Where the last character of a line stands."""
    return document.starts[at] + len(document.lines[at].rstrip()) - 1


def _lead_findings(
    document: Document, kept: set[int], ended: set[int]
) -> Iterator[tuple[str, str]]:
    for at in sorted(ended):
        line = document.lines[at]
        if document.in_fence[at] >= 0 or not _ends_in_colon(line) or len(line) > 300:
            continue
        # A row of a table, or code below a line of reStructuredText.
        if line.lstrip().startswith("|") or (document.kind == "rst" and line[0].isspace()):
            continue
        led = document.following(at)
        if led < 0 or led in kept:
            continue
        if document.in_fence[led] < 0 and _HEADING.match(document.lines[led]):
            continue
        yield "lead-in alone", line


def _led_findings(document: Document, kept: set[int], ended: set[int]) -> Iterator[tuple[str, str]]:
    """Items and blocks without the line that leads in to them: "never do these:" turns them
    round."""
    for at, line in enumerate(document.lines):
        if document.in_fence[at] >= 0 or at in ended or not _ends_in_colon(line):
            continue
        led = document.following(at)
        if led < 0 or _HEADING.match(document.lines[led]) or _HEADING.match(line):
            continue
        if line.lstrip().startswith(("|", ">", "<", "[")) or document.lines[led][:1] == "|":
            continue
        first = _ITEM.match(document.lines[led])
        lead = _ITEM.match(line)
        if first and lead and len(first["indent"]) <= len(lead["indent"]):
            continue  # an item beside it
        if first is None:
            fenced = document.in_fence[led + 1] == led if led + 1 < len(document.lines) else False
            if fenced and led in kept:
                yield "without its lead-in", document.lines[led + 1]
            continue
        for item in _items_of_list(document, led, len(first["indent"].expandtabs(4))):
            if item in kept:
                yield "without its lead-in", document.lines[item]
                break


def _items_of_list(document: Document, first: int, indent: int) -> Iterator[int]:
    """The lines that open items beside the first one, up to where the list ends."""
    was_blank = False
    for at in range(first, len(document.lines)):
        line = document.lines[at]
        if document.in_fence[at] >= 0 or not line.strip():
            was_blank = was_blank or not line.strip()
            continue
        width = len(line) - len(line.lstrip(" \t"))
        is_item = _ITEM.match(line) is not None
        ends = _TAGS_ALONE.fullmatch(line) or (not is_item and width <= indent and was_blank)
        if width < indent or ends:
            return
        if is_item and width == indent:
            yield at
        was_blank = False


def _child_findings(document: Document, kept: set[int]) -> Iterator[tuple[str, str]]:
    """Items that are nested in one that is not there: they would seem to be another's."""
    parents: list[tuple[int, int]] = []  # where the text of an item begins, and its line
    for at, line in enumerate(document.lines):
        if document.in_fence[at] >= 0 or not line.strip():
            continue
        found = _ITEM.match(line)
        indent = len(line) - len(line.lstrip(" \t"))
        if found is None:
            if not indent and (at == 0 or not document.said(at - 1)):
                parents = []
            continue
        parents = [parent for parent in parents if parent[0] <= indent]
        if parents and at in kept and parents[-1][1] not in kept:
            yield "item without its parent", line
        parents.append((len(found[0]), at))


def _exception_findings(document: Document, stretches: list[Stretch]) -> Iterator[tuple[str, str]]:
    """Sentences whose exception, in the sentence behind them, is missing."""
    for found in _EXCEPTION.finditer(document.text):
        word = found.start("word")
        at = document.line_at(word)
        if document.in_fence[at] >= 0 or _HEADING.match(document.lines[at]):
            continue
        if _holds(stretches, found.start()) and not _holds(stretches, word):
            yield "exception lost", document.text[word:][:60]


def _item_findings(document: Document, kept: set[int]) -> Iterator[tuple[str, str]]:
    """Lines that go on in an item, without the line that opens it."""
    opening = -1
    width = 0
    for at, line in enumerate(document.lines):
        begins_tag = _TAG.match(line.lstrip(" \t")) is not None
        if document.in_fence[at] >= 0 or begins_tag or _TAGS_ALONE.fullmatch(line):
            continue
        found = _ITEM.match(line)
        indent = len(line) - len(line.lstrip(" \t"))
        if found:
            opening = at
            width = len(found[0])
        elif indent < (min(2, width) if document.said(at - 1) else width):
            opening = -1
        elif opening >= 0 and at in kept and opening not in kept and indent >= width:
            yield "item without its opening", line


def _emphasis_findings(document: Document, stretches: list[Stretch]) -> Iterator[tuple[str, str]]:
    ends = [stretch.end for stretch in stretches]
    for start, stop in document.balanced:
        at = bisect_right(ends, start)
        while at < len(stretches) and stretches[at].start < stop:
            stretch = stretches[at]
            at += 1
            if stretch.start <= start and stretch.end >= stop:
                continue
            inside = document.text[max(start, stretch.start) : min(stop, stretch.end)]
            if not _is_balanced(inside):
                yield "emphasis not closed", inside[:90]


def _balanced_paragraphs(document: Document) -> Iterator[tuple[int, int]]:
    if document.kind != "markdown":
        return
    for first, end in _paragraphs(document):
        start = document.starts[first]
        stop = document.starts[end]
        if _is_balanced(document.text[start:stop]):
            yield start, stop


def _is_balanced(text: str) -> bool:
    without_code = _CODE_SPAN.sub("", text)
    return (
        without_code.count("**") % 2 == 0
        and without_code.count("`") % 2 == 0
        and without_code.count("~~") % 2 == 0
    )


def _paragraphs(document: Document) -> Iterator[tuple[int, int]]:
    """Runs of lines of prose: an item, a row and a heading begin one."""
    first = -1
    for at, line in enumerate(document.lines):
        in_code = document.in_fence[at] >= 0 or _FENCE.match(line)
        begins = _ITEM.match(line) or _HEADING.match(line) or line.lstrip().startswith(("|", ">"))
        if first >= 0 and (begins or in_code or not document.said(at)):
            yield first, at
            first = -1
        if first < 0 and document.said(at) and not in_code:
            first = at
    if first >= 0:
        yield first, len(document.lines)


def _tag_findings(
    document: Document, stretches: list[Stretch], form: str
) -> Iterator[tuple[str, str]]:
    """Tags that the original closes, and the form opens or closes alone."""
    counts = Counter[str]()
    for tag in _TAG.finditer(form):
        if not tag["empty"]:
            counts[tag["name"].lower()] += -1 if tag["closes"] else 1
    for opened, closed in document.tag_pairs:
        name = _TAG.match(document.text, opened)
        # Of a hundred that look the same, it may be another one that closes.
        if name is None or not counts[name["name"].lower()]:
            continue
        if _holds(stretches, opened) != _holds(stretches, closed):
            yield "tag not closed", document.text[opened : opened + 60]
    for tag in document.long_tags:
        start, end = tag.span()
        if _holds(stretches, start) != _holds(stretches, end - 1):
            yield "part of a tag", tag[0][:60]


def _tag_pairs(document: Document) -> Iterator[tuple[int, int]]:
    if document.kind not in ("markdown", "markup"):
        return
    waiting: dict[str, list[int]] = {}
    for tag in _TAG.finditer(_without_code(document)):
        name = tag["name"].lower()
        if tag["empty"]:
            continue
        if not tag["closes"]:
            waiting.setdefault(name, []).append(tag.start())
        elif waiting.get(name):
            yield waiting[name].pop(), tag.start()


def _long_tags(document: Document) -> Iterator[re.Match[str]]:
    if document.kind not in ("markdown", "markup"):
        return
    for tag in _TAG.finditer(_without_code(document)):
        # Of a drawing, a tag may go on over hundreds of lines.
        if 0 < tag[0].count("\n") < _TAG_LINES:
            yield tag


def _without_code(document: Document) -> str:
    """The text with code blanked out, character for character."""
    parts: list[str] = []
    for at, line in enumerate(document.lines):
        in_code = document.in_fence[at] >= 0 or _FENCE.match(line)
        parts.append(" " * len(line) if in_code else line)
    return _CODE_SPAN.sub(lambda found: " " * len(found[0]), "".join(parts))


def _holds(stretches: list[Stretch], offset: int) -> bool:
    at = bisect_right(stretches, offset, key=lambda stretch: stretch.start) - 1
    return at >= 0 and offset < stretches[at].end


# --- other kinds ----------------------------------------------------------------------------------


def _body_findings(document: Document, kept: set[int]) -> Iterator[tuple[str, str]]:
    """Functions of which some statements are there and others are not."""
    for body in document.bodies:
        said = {at for at in body.lines if document.said(at)}
        there = said & kept
        if there and there != said:
            yield "statements dropped", document.lines[min(said - kept)]
        if body.first != body.last and (body.first in kept) != (body.last in kept):
            yield "body not closed", document.lines[body.first]


def _entry_findings(document: Document, kept: set[int], room: int) -> Iterator[tuple[str, str]]:
    """Entries of a log, by the times in front of them, that lost some of their lines."""
    stamped = [at for at, line in enumerate(document.lines) if _STAMP.match(line)]
    for start, end in pairwise([*stamped, len(document.lines)]):
        said = [at for at in range(start, end) if document.said(at)]
        share = sum(1 for at in said if at in kept)
        size = document.starts[end] - document.starts[start]
        if 0 < share < len(said) and size <= room - _AROUND:
            yield "part of an entry", document.lines[start]


def _hunk_findings(document: Document, kept: set[int]) -> Iterator[tuple[str, str]]:
    for at, line in enumerate(document.lines):
        found = _HUNK.match(line)
        if not found:
            continue
        old = int(found["old"] or 1)
        new = int(found["new"] or 1)
        end = at + 1
        while end < len(document.lines) and (old > 0 or new > 0):
            sign = document.lines[end][:1]
            old -= sign not in ("+", "\\")
            new -= sign not in ("-", "\\")
            end += 1
        said = [other for other in range(at, end) if document.said(other)]
        share = sum(1 for other in said if other in kept)
        if 0 < share < len(said):
            yield "part of a hunk", line


def is_readable(kind: str, form: str) -> bool:
    """Whether code or data can be read as such: Python with its marks as `...`, YAML and TOML as
    they are, JSON without the last line."""
    try:
        if kind == "python":
            ast.parse(MARK.sub("...", form.lstrip("\ufeff")))
        elif kind == "json":
            rows = [row for row in form.splitlines() if not row.startswith("[... ")]
            json.loads("\n".join(rows).lstrip("\ufeff"))
        elif kind == "yaml":
            list(yaml.safe_load_all(form))
        elif kind == "toml":
            tomllib.loads(form.lstrip("\ufeff"))
    except (SyntaxError, ValueError, yaml.YAMLError):
        return False
    return True


def shrinks(forms: list[str | None]) -> Iterator[tuple[str, str]]:
    """Forms of growing rooms that become smaller."""
    for smaller, larger in pairwise([form or "" for form in forms]):
        if len(larger) + 6 < len(smaller):  # figures in a mark may have fewer digits
            yield "more room gave less", f"{len(smaller)} then {len(larger)}"
