"""The three ways to shorten a text: `summary`, `relevant` and `excerpt`.

Each returns the author's own lines in the author's order, at most `room` units by the caller's
measure with every mark inside it, filled as far as whole pieces go; or None when nothing worth
having fits. Nothing is rephrased, and two lines that were apart have a mark between them. What the
pieces of a text are is told by `layouts`, the scores come from `weight` and `relevance`, the
choosing from `choose`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil

from foreword.pattern import lazy_pattern
from foreword.section import Measure
from foreword.text import narrow, relevance, weight
from foreword.text.boilerplate import boilerplate, decoration
from foreword.text.choose import PieceChoice, PieceSizes
from foreword.text.content_type import GRAMMARS, content_type
from foreword.text.gap_marks import gap_text, is_inside_a_line
from foreword.text.omission_mark import GAP
from foreword.text.pieces import Layout, Piece, is_lead, is_markup
from foreword.text.qualifiers import turns_list

__all__ = ["Mark", "Measure", "excerpt", "relevant", "summary"]

Mark = Callable[[int, int], str]
Order = Callable[[Layout, str], list[int]]

OPENING = 0.3  # of the room of an excerpt: how a text begins says most about it
CLOSING = 0.2  # of the same: how it ends; half of the room is left for the middle
OUTLINE = 0.8  # of the room of a summary: at most this goes to the first piece of each section

# Times the room is filled, measured and filled again: what is joined measures otherwise than its
# parts. On this project's own documents nearly all cuts need one or two rounds; the limit is for a
# measure that never agrees with itself.
_ROUNDS = 12
# Times that what is too large together with what it needs is divided further: a page of HTML has
# its long lines three deep.
_DIVISIONS = 4
# What the next piece of a section is worth beside the one before it: without it, one section could
# take all the room of a summary.
_SECTION_DECAY = 0.94
# What a piece carries for itself, beside what it says to the query: enough to tell pieces apart
# that the query does not, too little to outweigh a good match.
_CARRY_SHARE = 0.05
# Weighing is most of the work of a cut. A text up to this is weighed whole; at half of it documents
# of everyday length would be read less closely.
_WEIGHED_CHARS = 80_000
# Of a longer one so much is weighed, in evenly spaced runs of pieces. With 80,000 a book of 200,000
# takes a sixth longer to cut; with 25,000 a room of 10,000 tokens has nothing to choose among.
_SAMPLE_CHARS = 50_000
_WEIGHED_RUN = 8  # pieces, so that what is kept comes in runs and not in crumbs
# How much more the largest piece has to fill before it comes in front of better ones: at 1 a piece
# longer by a word would.
_LARGER = 1.1
# Of the room: where more than this stays empty, other ways to fill it are tried. At half of it the
# smallest rooms, which hold two or three lines, would be tried twice for a line of theirs; at
# double a title of two lines keeps out everything below it.
_SPARSE = 0.4
_DONE = float("inf")
_BY_LINES = "lines.log"  # the name of a text that is taken line by line
_BY_BLOCKS = "blocks.code"  # of code that is taken by its indentation
# What may be short and bring along much: a line between tags, what is declared with fields.
_BRINGING_KINDS = ("html", "code")
# Why people read a log. As much as the best answer to the query; the first of them comes before
# anything: where there is room for one line, it says what failed, and with more room both are
# there.
_FAILURE = lazy_pattern(
    r"(?:\b|(?<=\dm))(?:ERROR|FAIL(?:ED|URE)?|FATAL|CRITICAL|Traceback|[A-Z]\w+(?:Error|Exception)"
    r"|panicked)\b|(?:panic|error(?:\[E\d+\])?): |\[(?:error|crit)\]|\blevel=(?:error|fatal)\b"
    r"|\A[EF]\d{4} |\" 5\d\d |\u2715|\u2717|^not ok ",
    re.M,
)
_FAILURE_WORTH = 1.0
# Of what is nothing but tags: a page has more words than that, a drawing or a configuration fewer.
_LEAST_SAID = 0.5
_ATTACHED_KINDS = ("heading", "fence", "rule", "closing")


def summary(
    text: str, room: int, measure: Measure, mark: Mark, *, query: str = "", name: str = ""
) -> str | None:
    """What a text is about: of prose what each section says first and what carries the most, of
    code its outline."""
    return _cut(text, room, measure, mark, _summary_order, query=query, name=name)


def relevant(
    text: str, room: int, measure: Measure, mark: Mark, *, query: str = "", name: str = ""
) -> str | None:
    """The passages that answer the query with the headings above them; without a query the same
    as `summary`."""
    order = _relevant_order if query.strip() else _summary_order
    return _cut(text, room, measure, mark, order, query=query, name=name)


def excerpt(
    text: str, room: int, measure: Measure, mark: Mark, *, query: str = "", name: str = ""
) -> str | None:
    """The opening, the closing and the best of the middle; the mark stands at the first gap."""
    return _cut(text, room, measure, mark, _excerpt_order, query=query, name=name, mark_first=True)


def _cut(
    text: str,
    room: int,
    measure: Measure,
    mark: Mark,
    order: Order,
    *,
    query: str,
    name: str,
    mark_first: bool = False,
) -> str | None:
    total = measure(text)
    if total <= max(0, room):
        return text
    body_room = room - measure(f"\n\n{mark(text.count(chr(10)) + 1, total)}")
    if body_room <= 0:
        return None
    write = partial(_with_mark, text=text, total=total, mark=mark, mark_first=mark_first)
    tried_name = name
    while True:
        work = _Work(
            text=text,
            name=tried_name,
            query=query,
            total=total,
            room=room,
            body_room=body_room,
            measure=measure,
            mark_first=mark_first,
        )
        written, layout = work.largest(order, write)
        tried_name = "" if written is not None else _other_name(text, tried_name, layout)
        if not tried_name:
            return written


def _titles_to_free(layout: Layout) -> list[set[int]]:
    """The titles that nothing needs any more where no piece fits with all of its own: that of the
    whole text, then all. With one of several gone, what it stood above would stand under
    another. In data nothing is free: a setting without its section is another setting."""
    if layout.comment:
        return []
    pieces = layout.pieces
    titles = [at for at, piece in enumerate(pieces) if piece.kind == "heading"]
    if not titles:
        return []
    first, *others = titles
    is_above_all = all(pieces[at].level > pieces[first].level for at in others)
    return [{first}, set(titles)] if is_above_all else [set(titles)]


def _readable_without(freed: set[int], sizes: PieceSizes, order: list[int]) -> list[int]:
    """The pieces of an order that say the same without these titles: not what stands below "Never:"
    or "Anti-patterns, do not copy"."""
    turning = {at for at in freed if _turns(sizes.layout.pieces[at])}
    if not turning:
        return order
    return [at for at in order if turning.isdisjoint(sizes.closure(at))]


def _turns(title: Piece) -> bool:
    return is_lead(title) or turns_list(title.text)


def _has_title(written: str, layout: Layout) -> bool:
    titles = [piece for piece in layout.pieces if piece.kind == "heading"]
    return any(title.text.strip() in written for title in titles)


def _other_name(text: str, name: str, layout: Layout) -> str:
    """What else a text may be taken for where nothing of it fits; nothing where it is what it
    is."""
    if name in (_BY_LINES, _BY_BLOCKS) or layout.comment:
        return ""
    headings = sum(1 for piece in layout.pieces if piece.kind == "heading")
    if 2 * headings > len(layout.pieces):
        return _BY_LINES  # they are comments
    kind = content_type(text, name)
    if kind not in GRAMMARS:
        return ""
    from foreword.text.layouts.code import is_understood

    # A grammar makes one piece of what it does not understand, as a file that breaks off. Of what
    # it does, blocks would be statements without their function.
    return "" if is_understood(text, kind) else _BY_BLOCKS


def _written_within(
    room: int,
    left: int,
    sizes: PieceSizes,
    best: Sequence[int],
    write: Callable[[PieceChoice], str],
) -> str | None:
    """What is written of the pieces where it fits the room; `left` is first tried for them."""
    for _ in range(_ROUNDS):
        choice = _fill(sizes, best, left)
        if not choice.kept:
            return None
        written = write(choice)
        over = sizes.measure(written) - room
        if over <= 0:
            return written
        left = min(left, choice.used) - over
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """One cut: the text and the room for what is kept of it."""

    text: str
    name: str
    query: str
    total: int
    room: int
    body_room: int
    measure: Measure
    mark_first: bool

    def largest(
        self, order: Order, write: Callable[[PieceChoice], str]
    ) -> tuple[str | None, Layout]:
        """What is written of the text, and its layout. Where whole lines under all their titles
        leave much of the room empty, the largest of what is written with fewer titles (if no title
        was small enough), and of lines that are divided earlier: all are tried, as a smaller room
        may need the last of them and hold more than this one with the second."""
        best: str | None = None
        for line_room in (self.body_room, self.body_room // 2, self.body_room // 4):
            sizes = self._sizes(line_room)
            # Weighing is most of the work: nothing is weighed where no piece fits by itself.
            if not sizes.has_one_within(self.body_room):
                continue
            pieces = _pieces_in_order(order, sizes.layout, self.query)
            titled = sizes
            for freed in (set[int](), *_titles_to_free(sizes.layout)):
                if freed and best is not None and _has_title(best, sizes.layout):
                    break
                if freed:
                    sizes = sizes.without_needs(freed)
                alone = _readable_without(freed, titled, pieces)
                written = _written_within(self.room, self.body_room, sizes, alone, write)
                is_first = best is None
                best = self._larger(best, written)
                if best is not None and is_first and not self._is_sparse(best):
                    return best, sizes.layout
        return best, sizes.layout

    def _larger(self, best: str | None, other: str | None) -> str | None:
        if best is None or other is None:
            return best if other is None else other
        return other if self.measure(other) > _LARGER * self.measure(best) else best

    def _is_sparse(self, written: str) -> bool:
        return self.room - self.measure(written) > _SPARSE * self.body_room

    def _sizes(self, line_room: int) -> PieceSizes:
        """The pieces: a line that is larger than the room for one, alone or with what it needs, is
        divided."""
        tight: set[int] = set()
        sizes = self._layout_sizes(tight, line_room)
        for _ in range(_DIVISIONS):
            more = self._starts_over(sizes, line_room, tight)
            if not more:
                break
            tight |= more
            sizes = self._layout_sizes(tight, line_room)
        return sizes

    def _starts_over(self, sizes: PieceSizes, line_room: int, tight: Container[int]) -> set[int]:
        """Where pieces start that are too large with what they need, beside those known. What is
        declared in a class that is one of these may fit as soon as that is divided and no longer
        brings all of its fields."""
        found: set[int] = set()
        pieces = sizes.layout.pieces
        for at, piece in enumerate(pieces):
            may_be_over = 4 * len(piece.text) > line_room or piece.kind in _BRINGING_KINDS
            if not piece.divisible or not may_be_over or piece.start in tight:
                continue
            if piece.kind == "code" and not found.isdisjoint(sizes.layout.needs[at]):
                continue
            if PieceChoice(sizes).cost(at) > line_room:
                found.add(at)
        return {pieces[at].start for at in found}

    def _layout_sizes(self, tight: Container[int], line_room: int) -> PieceSizes:
        def over(start: int, part: str) -> bool:
            return start in tight or self._is_over(part, line_room)

        return PieceSizes(
            narrow.layout(self.text, self.name, self.query, over),
            self.measure,
            self.total / len(self.text),
            mark_first=self.mark_first,
        )

    def _is_over(self, part: str, line_room: int) -> bool:
        # No text has more units than bytes, so that a short line need not be measured.
        if 4 * len(part) <= line_room:
            return False
        return self.measure(part) > line_room


@lru_cache(maxsize=8)  # twice as many as texts: a layout with its lines whole, and one divided
def _pieces_in_order(order: Order, layout: Layout, query: str) -> list[int]:
    """The order in which pieces are tried; not to be changed."""
    return order(layout, query)


def _fill(sizes: PieceSizes, order: Sequence[int], room: int) -> PieceChoice:
    """The larger of two choices: the pieces in their order, or the largest that was not divided
    first, and then the others.

    A piece that a smaller room divides may fill most of it; where it is whole and the order
    leaves no room for it, the larger room would hold less.
    """
    choice = PieceChoice(sizes)
    choice.fill(order, room)
    largest = _largest_left_out(choice, order, room)
    if largest is None:
        return choice
    other = PieceChoice(sizes)
    other.fill([largest, *order], room)
    return other if other.used > _LARGER * choice.used else choice


def _largest_left_out(choice: PieceChoice, order: Iterable[int], room: int) -> int | None:
    pieces = choice.sizes.layout.pieces
    kept = set(choice.kept)
    most = choice.used
    largest = None
    for at in order:
        piece = pieces[at]
        may_be_larger = 4 * len(piece.text) >= most or piece.kind in _BRINGING_KINDS
        if not piece.divisible or at in kept or not may_be_larger:
            continue
        cost = choice.cost(at)
        if most < cost <= room:
            most = cost
            largest = at
    return largest


def _with_mark(choice: PieceChoice, *, text: str, total: int, mark: Mark, mark_first: bool) -> str:
    """What is kept, with the mark that says how much is missing: in the first gap, or behind
    everything."""
    pieces = choice.sizes.layout.pieces
    lines = text.count("\n")
    units = total
    end = 0
    for start, end in choice.runs():
        for at in range(start, end):
            lines -= pieces[at].text.count("\n")
            units -= choice.sizes.size(at)
    if end < len(pieces) and not text.endswith("\n"):
        lines += 1  # the last one, which has no line break
    line = mark(max(0, lines), max(0, units))
    body, is_marked = choice.write(line if mark_first else "")
    layout = choice.sizes.layout
    if not is_marked and end < len(pieces) and is_inside_a_line(pieces[end - 1]):
        body = f"{body.rstrip()} {GAP}"  # of the rest of the line; the mark stands on its own
    if is_marked:
        return body + gap_text(layout, end, len(pieces)) if end < len(pieces) else body
    if layout.shape == "outline" and end < len(pieces):
        # In the place of what is missing, so that a signature without its body reads as code; what
        # is missing elsewhere is not said of this body.
        is_all = len(choice.runs()) == 1 and choice.runs()[0][0] == 0
        gap = gap_text(layout, end, len(pieces), line if is_all else "")
        body = f"{_without_last_breaks(body)}\n{gap.rstrip()}"
        if is_all:
            return body
    return f"{_without_last_breaks(body)}\n\n{layout.comment}{line}"


def _without_last_breaks(body: str) -> str:
    """The text without the line breaks at its end; a space may be the last line of a hunk."""
    return body.rstrip("\r\n")


def _standing_alone(pieces: Sequence[Piece]) -> list[int]:
    """The pieces that are worth something for themselves; the others come along with those that
    need them. Tags alone are worth nothing, unless a text is hardly more: a drawing,
    a configuration."""
    found: list[int] = []
    tags: list[int] = []
    for at, piece in enumerate(pieces):
        following = pieces[at + 1].kind if at + 1 < len(pieces) else ""
        opens_string = following == "string" and piece.kind != "string"
        if piece.kind in _ATTACHED_KINDS or not piece.text.strip() or opens_string:
            continue
        places = tags if is_markup(piece) else found
        places.append(at)
    words_chars = sum(len(pieces[at].text) for at in found)
    tags_chars = sum(len(pieces[at].text) for at in tags)
    return found if words_chars > _LEAST_SAID * tags_chars else sorted(found + tags)


def _only(places: Iterable[int], order: Iterable[int]) -> list[int]:
    wanted = set(places)
    return [at for at in order if at in wanted]


def _put_last(places: Container[int], order: Sequence[int]) -> list[int]:
    """The same order, but for these places, which come behind all others."""
    return sorted(order, key=lambda at: at in places)


# --- in which order pieces are tried --------------------------------------------------------------


def _summary_order(layout: Layout, query: str) -> list[int]:
    """Of prose what its sections begin with and what carries most, of code its outline, of a list
    its beginning and its end."""
    pieces = layout.pieces
    if layout.shape == "sequence":
        return _sequence_order(layout, query)
    scores = _sum_scores(_weights(pieces), _ranks(layout, query))
    standing = _standing_alone(pieces)
    if layout.shape == "outline":
        return _only(standing, _by_rank(pieces, scores))
    last = boilerplate(layout)
    first = [at for at in standing if at not in last]
    sections = [section for section in _sections(pieces, first) if section]
    leaders = _leaders(pieces, sections, scores)
    for section in sections:
        for place, at in enumerate(_best_first(section, scores)):
            scores[at] *= _SECTION_DECAY**place
    best = _best_first(range(len(scores)), scores)
    order = _interleave(pieces, [(leaders, OUTLINE), (best, 1 - OUTLINE)])
    return _put_last(last, _only(standing, order))


def _relevant_order(layout: Layout, query: str) -> list[int]:
    best = _best_first(_standing_alone(layout.pieces), _scores_for(layout, query))
    return _put_last(decoration(layout), best)


def _excerpt_order(layout: Layout, query: str) -> list[int]:
    pieces = layout.pieces
    scores = _scores_for(layout, query, smooth=True)
    by_rank = layout.shape == "outline" and not query.strip()
    best = _by_rank(pieces, scores) if by_rank else _best_first(range(len(pieces)), scores)
    opening = _standing_alone(pieces)
    closing = list(reversed(opening))
    middle = 1 - OPENING - CLOSING
    last = boilerplate(layout)
    streams = [(opening, OPENING), (closing, CLOSING), (best, middle)]
    order = _interleave(pieces, [(_put_last(last, stream), share) for stream, share in streams])
    return _put_last(last, _only(opening, order))


def _sequence_order(layout: Layout, query: str) -> list[int]:
    """Of a log or a table what carries most, beside its beginning and its end; that comes first:
    where there is room for a line or two, they say what failed and not how the run began."""
    pieces = layout.pieces
    scores = _sum_scores(_weights(pieces), _ranks(layout, query))
    failures: list[int] = []
    for at, piece in enumerate(pieces):
        if piece.kind == "entry" and _FAILURE.search(piece.text):
            scores[at] += _FAILURE_WORTH
            failures.append(at)
    best = _best_first(failures, scores)[:1] + _best_first(range(len(pieces)), scores)
    opening = _standing_alone(pieces)
    closing = list(reversed(opening))
    middle = 1 - OPENING - CLOSING
    order = _interleave(pieces, [(best, middle), (opening, OPENING), (closing, CLOSING)])
    return _only(opening, order)


def _scores_for(layout: Layout, query: str, *, smooth: bool = False) -> list[float]:
    weights = _weights(layout.pieces, smooth=smooth)
    return _sum_scores(_ranks(layout, query), [_CARRY_SHARE * carried for carried in weights])


def _weights(pieces: Sequence[Piece], *, smooth: bool = False) -> list[float]:
    """What each piece carries; of a book, evenly spaced runs of pieces are weighed, and the others
    come behind them."""
    chars = sum(len(piece.text) for piece in pieces)
    every = 1 if chars <= _WEIGHED_CHARS else ceil(chars / _SAMPLE_CHARS)
    places = [at for at in range(len(pieces)) if at // _WEIGHED_RUN % every == 0]
    carried = weight.carry([pieces[at] for at in places])
    if smooth:
        carried = _smooth(carried)
    weights = [0.0] * len(pieces)
    for at, value in zip(places, carried, strict=True):
        weights[at] = value
    return weights


def _ranks(layout: Layout, query: str) -> list[float]:
    """How well each piece answers the query; nothing is asked where there is none."""
    if not query.strip():
        return [0.0] * len(layout.pieces)
    return relevance.rank(_passages(layout), query)


def _interleave(pieces: Sequence[Piece], streams: list[tuple[list[int], float]]) -> list[int]:
    """One order out of several, so that from its beginning up to any place each has had its
    share of the characters."""
    order: list[int] = []
    taken: set[int] = set()
    waiting = [iter(stream) for stream, _ in streams]
    used = [0.0] * len(streams)
    while (least := min(used)) < _DONE:
        turn = used.index(least)
        at = next(waiting[turn], None)
        if at is None:
            used[turn] = _DONE
        elif at not in taken:
            taken.add(at)
            order.append(at)
            used[turn] += len(pieces[at].text) / streams[turn][1]
    return order


def _by_rank(pieces: Sequence[Piece], scores: Sequence[float]) -> list[int]:
    return sorted(range(len(pieces)), key=lambda at: (pieces[at].rank, -scores[at], at))


def _passages(layout: Layout) -> list[str]:
    """The pieces as they are ranked: each with the title it stands under and the lines that lead
    in to it."""
    pieces = layout.pieces
    passages: list[str] = []
    for piece, needed in zip(pieces, layout.needs, strict=True):
        titles = [pieces[at].text for at in needed if pieces[at].kind == "heading"][-1:]
        leads = [pieces[at].text for at in needed if is_lead(pieces[at])]
        passages.append("\n".join([piece.text, *titles, *leads]))
    return passages


def _sections(pieces: Sequence[Piece], standing: Iterable[int]) -> list[list[int]]:
    """The pieces under each heading, the headings themselves and mere attachments left out."""
    wanted = set(standing)
    found: list[list[int]] = [[]]
    for at, piece in enumerate(pieces):
        if piece.kind == "heading":
            found.append([])
        elif at in wanted:
            found[-1].append(at)
    return found


def _leaders(
    pieces: Sequence[Piece], sections: Sequence[Sequence[int]], scores: Sequence[float]
) -> list[int]:
    """The first piece of each section, which says what it is about; that of the first one first,
    then the most telling, early sections favoured."""
    early: dict[int, float] = {}
    for place, section in enumerate(sections):
        first = section[0]
        thrift = scores[first] / (len(pieces[first].text) + 80) ** 0.5
        early[first] = thrift * (1 + 4 / (1 + place))
    opening = sections[0][0] if sections else -1
    return sorted(early, key=lambda at: (at != opening, -early[at]))


def _best_first(places: Iterable[int], scores: Sequence[float]) -> list[int]:
    """Places that come in their order, by their scores; where these are equal, in their order."""
    return sorted(places, key=scores.__getitem__, reverse=True)


def _sum_scores(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Two scores summed, the first brought to a top of 1 and the second too unless it is smaller
    on purpose."""
    first_top = max(first, default=0.0) or 1.0
    second_top = max(1.0, max(second, default=0.0))
    pairs = zip(first, second, strict=True)
    return [one / first_top + other / second_top for one, other in pairs]


def _smooth(scores: Sequence[float]) -> list[float]:
    """Each score mixed with its neighbours', so that the middle of an excerpt comes in runs and
    not in crumbs."""
    padded = [0.0, *scores, 0.0]
    return [0.5 * score + 0.25 * (padded[at] + padded[at + 2]) for at, score in enumerate(scores)]
