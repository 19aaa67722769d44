"""The three ways to shorten a text: `summary`, `relevant` and `excerpt`.

Each returns the author's own words in the author's order, at most `room` units by the caller's
measure with the mark inside it, filled as far as whole pieces go; or None when nothing worth having
fits. Nothing is rephrased. The scores come from `weight` and `relevance`, the choosing from
`choose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil

from foreword.pattern import lazy_pattern
from foreword.section import Measure
from foreword.text import narrow, relevance, weight
from foreword.text.choose import PieceChoice
from foreword.text.needs import needs
from foreword.text.omission_mark import GAP
from foreword.text.pieces import Piece, is_lead, is_markup
from foreword.text.sentences import sentences

__all__ = ["Mark", "Measure", "excerpt", "relevant", "summary"]

Mark = Callable[[int, int], str]

OPENING = 0.3  # of the room of an excerpt: how a text begins says most about it
CLOSING = 0.2  # of the same: how it ends; half of the room is left for the middle
OUTLINE = 0.8  # of the room of a summary: at most this goes to the first piece of each section

# Times the room is filled, measured and filled again: what is joined measures otherwise than its
# parts. On this project's own documents nearly all cuts need one or two rounds, the worst ten; the
# limit is for a measure that never agrees with itself.
_ROUNDS = 24
_TRIES = 400  # pieces that are tried for a part that fits: the best ones, whatever the text's size
# What the next piece of a section is worth beside the one before it: without it, one section could
# take all the room of a summary.
_SECTION_DECAY = 0.94
_MUCH = 0.3  # of the room: with more left over, even a whole sentence is torn to use it
_LITTLE = 0.01  # of the room: what is left over and smaller stays empty
_TEARABLE = 0.03  # of the room: with more left over, what is torn anyway is torn once more
_ENDS = lazy_pattern(r"""[.!?:;。！？；：|{}\[\]]\s*\Z|["\]}\d],\s*\Z""")
# What a piece carries for itself, beside what it says to the query: enough to tell pieces apart
# that the query does not, too little to outweigh a good match.
_CARRY_SHARE = 0.05
# Weighing is most of the work of a cut. Of a text that is longer than this and than so many rooms,
# evenly spaced runs of pieces are weighed: they still hold three times what the middle of an
# excerpt takes. At half of it documents of everyday length would be read less closely; at double, a
# book takes twice as long.
_WEIGHED_CHARS = 80_000
_WEIGHED_ROOMS = 1.5
_WEIGHED_RUN = 8  # pieces, so that what is kept comes in runs and not in crumbs
_USEFUL_CHARS = 60  # of room: with less, the opening words of the first piece would say nothing
_PROSE_KINDS = ("paragraph", "item", "quote")
_ATTACHED_KINDS = ("heading", "fence", "rule")
_LED_KINDS = ("item", "code", "table", "fence")


def summary(text: str, room: int, measure: Measure, mark: Mark, *, query: str = "") -> str | None:
    """The headings, and under each the sentences and items that carry the most; the mark is the
    last line."""
    total = measure(text)
    if total <= max(0, room):
        return text
    work = _Work(
        text=text, total=total, room=room, measure=measure, mark=mark, query=query, finely=True
    )
    scores = _sum_scores(weight.carry(work.pieces), _relevance(work.pieces, query))
    sections = [section for section in _sections(work.pieces) if section]
    leaders = _leaders(work.pieces, sections, scores)
    work.open_with(leaders[:1])
    work.choice.fill(leaders, int(OUTLINE * work.body_room))
    for section in sections:
        for place, at in enumerate(_best_first(section, scores)):
            scores[at] *= _SECTION_DECAY**place
    return work.fill_room(_best_first(range(len(scores)), scores))


def relevant(text: str, room: int, measure: Measure, mark: Mark, *, query: str = "") -> str | None:
    """The passages that answer the query with the headings above them; without a query the same
    as `summary`."""
    if not query.strip():
        return summary(text, room, measure, mark)
    total = measure(text)
    if total <= max(0, room):
        return text
    work = _Work(
        text=text, total=total, room=room, measure=measure, mark=mark, query=query, gaps=True
    )
    return work.fill_room(work.best_first(query))


def excerpt(text: str, room: int, measure: Measure, mark: Mark, *, query: str = "") -> str | None:
    """The opening, the closing and the best of the middle; the mark stands at the first gap."""
    total = measure(text)
    if total <= max(0, room):
        return text
    work = _Work(
        text=text,
        total=total,
        room=room,
        measure=measure,
        mark=mark,
        query=query,
        gaps=True,
        mark_first=True,
    )
    count = len(work.pieces)
    work.choice.run(range(count), int(OPENING * room), work.body_room)
    closing = range(count - 1, len(work.choice.picked), -1)
    work.choice.run(closing, work.choice.used + int(CLOSING * room), work.body_room)
    return work.fill_room(work.best_first(query, smooth=True))


@dataclass(slots=True, kw_only=True)
class _Work:
    """One cut under way: the text and the room, the pieces, and the choice among them."""

    text: str
    total: int
    room: int
    measure: Measure
    mark: Mark
    query: str
    finely: bool = False
    gaps: bool = False
    mark_first: bool = False
    body_room: int = field(init=False)
    pieces: list[Piece] = field(init=False)
    choice: PieceChoice = field(init=False)

    def __post_init__(self) -> None:
        longest_mark = self.mark(self.text.count("\n") + 1, self.total)
        self.body_room = self.room - self.measure(f"\n\n{longest_mark}")
        self.pieces = narrow.pieces(
            self.text, _largest(self.room / self.per_char), self.query, finely=self.finely
        )
        self.choice = PieceChoice(self.pieces, self.measure, self.per_char, gaps=self.gaps)

    @property
    def per_char(self) -> float:
        """Units for a character, over the whole text."""
        return self.total / len(self.text)

    def best_first(self, query: str, *, smooth: bool = False) -> list[int]:
        """The pieces that answer the query or carry much, the best first."""
        ranks = _relevance(self.pieces, query)
        places = self._weighed_places()
        carried = weight.carry([self.pieces[at] for at in places])
        if smooth:
            carried = _smooth(carried)
        weights = [0.0] * len(self.pieces)
        for at, value in zip(places, carried, strict=True):
            weights[at] = _CARRY_SHARE * value
        scores = _sum_scores(ranks, weights)
        answers = [at for at, rank in enumerate(ranks) if rank]
        return _best_first({*places, *answers}, scores)

    def _weighed_places(self) -> Sequence[int]:
        """All pieces, or of a text much longer than the room evenly spaced runs of them."""
        most = max(_WEIGHED_CHARS, _WEIGHED_ROOMS * self.room / self.per_char)
        every = ceil(len(self.text) / most)
        return [at for at in range(len(self.pieces)) if at // _WEIGHED_RUN % every == 0]

    def open_with(self, leader: Sequence[int]) -> None:
        """Take what the text leads with before anything else, if need be only its opening words."""
        self.choice.fill(leader, self.body_room)
        if not self.choice.picked and self.body_room >= _USEFUL_CHARS * self.per_char:
            prose = [at for at in leader if self.pieces[at].kind in _PROSE_KINDS]
            if not self._take_whole_opening(prose, self.body_room):
                self._take_opening_words(prose, self.body_room)

    def fill_room(self, order: Sequence[int]) -> str | None:
        """Fill the room in the order given, then trim or add until the measured whole fits it
        closely."""
        if self.body_room <= 0:
            return None
        order = [at for at in order if self._stands_alone(at)] or order
        self.choice.fill(order, self.body_room)
        best = None
        fullest = 0
        for _ in range(_ROUNDS):
            if not self.choice.picked and not self._take_whole_opening(order, self.body_room):
                self._take_opening_words(order, self.body_room)
            if not self.choice.picked:
                break
            written = self._text_with_mark()
            size = self.measure(written)
            if size > self.room:
                # What was given up is not tried again: its parts sum to less than they take, and
                # this would never end.
                dropped = self._drop_last(size - self.room)
                order = [at for at in order if at not in dropped]
                continue
            if size > fullest:
                best = written
                fullest = size
            if not self._use_spare(order, self.room - size):
                break
        return best

    def _stands_alone(self, at: int) -> bool:
        """Whether a piece is worth having for itself; the others come along with those that need
        them."""
        piece = self.pieces[at]
        if piece.kind in _ATTACHED_KINDS or is_markup(piece):
            return False
        is_last = at + 1 == len(self.pieces)
        return is_last or not is_lead(piece) or self.pieces[at + 1].kind not in _LED_KINDS

    def _drop_last(self, excess: int) -> set[int]:
        """Give up the pieces taken last until the excess is gone."""
        goal = self.choice.used - excess
        dropped: set[int] = set()
        while self.choice.picked and self.choice.used > goal:
            last = next(reversed(self.choice.picked))
            dropped.add(last)
            self.choice.drop(last)
        return dropped

    def _use_spare(self, order: Sequence[int], spare: int) -> bool:
        """Add what still fits; then tear what is torn anyway, and where much is left over, a
        sentence."""
        before = self.choice.used
        if spare > _LITTLE * self.room:
            self.choice.fill(order, before + spare)
        if self.choice.used > before:
            return True
        if spare > _TEARABLE * self.room and not self._take_whole_opening(order, spare):
            if spare <= _MUCH * self.room:
                order = [at for at in order if self._is_torn(at)]
            self._take_opening_words(order, spare)
        return self.choice.used > before

    def _take_whole_opening(self, order: Sequence[int], spare: int) -> bool:
        """Take as many whole lines or sentences from the beginning of a piece as fit; say
        whether any did."""
        for at in order[:_TRIES]:
            if self.choice.holds(at):
                continue
            left = spare - self.choice.cost(at) + self.choice.size(at)
            part = self._whole_opening(self.pieces[at], left) if left > 2 else ""
            if _says_something(part):
                self.choice.shorten(at, part, torn=False)
                return True
        return False

    def _whole_opening(self, piece: Piece, room: int) -> str:
        """As many whole lines or sentences as fit; a wrapped line of prose is whole only where a
        sentence ends."""
        lines = piece.text.splitlines(keepends=True)
        parts = lines if len(lines) > 1 else sentences(piece.text)
        opening = ""
        whole = ""
        for part in parts[:-1]:
            opening += part
            if self.measure(opening) > room:
                break
            if piece.kind in ("code", "table") or _ENDS.search(part[-8:]):
                whole = opening
        return whole.rstrip()

    def _is_torn(self, at: int) -> bool:
        """Whether a piece is part of something that has no whole: an endless line, or one longer
        than the room."""
        if self.pieces[at].begins == "middle":
            return True
        if at + 1 < len(self.pieces) and self.pieces[at + 1].begins == "middle":
            return True
        return self.choice.size(at) > self.body_room

    def _take_opening_words(self, order: Sequence[int], spare: int) -> None:
        """Take the opening words of the best piece that is too long: the room is worth more than
        the full stop."""
        left_out = [at for at in order[:_TRIES] if not self.choice.holds(at)]
        for at in sorted(left_out, key=lambda at: self.pieces[at].kind == "table"):
            left = spare - self.choice.cost(at) + self.choice.size(at) - self.measure(" ...")
            part = self._opening_words(self.pieces[at].text, left) if left > 2 else ""
            if self.pieces[at].kind != "code":
                part = _without_open_end(part)
            if _says_something(part):
                self.choice.shorten(at, part)
                return

    def _opening_words(self, text: str, room: int) -> str:
        """As many whole words as fit; characters where the words would leave half of the room."""
        low = 0
        high = min(len(text), int(4 * room / self.per_char) + 8)
        while low < high:
            middle = (low + high + 1) // 2
            if self.measure(text[:middle]) <= room:
                low = middle
            else:
                high = middle - 1
        part = text[:low]
        words = part.rpartition(" ")[0] if low < len(text) and not text[low].isspace() else part
        return words.rstrip() if len(words) > low // 2 else part

    def _text_with_mark(self) -> str:
        kept = self.choice.kept
        lines = self.text.count("\n")
        units = self.total
        for at in kept:
            lines -= self.choice.text(at).count("\n")
            units -= self.choice.size(at)
        mark = self.mark(max(0, lines), max(0, units))
        body = self.choice.write(lambda place, evident: self._gap(place, evident, mark))
        if self.mark_first and mark in body:
            return body
        return f"{body.rstrip()}\n\n{mark}"

    def _gap(self, place: int, evident: bool, mark: str) -> str:
        if self.mark_first and not place:
            return mark
        return GAP if self.gaps and not evident else ""


def _largest(room_chars: float) -> int:
    """How long a piece may be: long enough for a sentence, short enough that several fit the
    room."""
    # A sentence of 80 characters in the smallest room, a third of a room up to 1,200; in larger
    # ones an eighth, and never more than a paragraph.
    return int(max(80, min(room_chars / 3, max(400, room_chars / 8), 1200)))


def _says_something(part: str) -> bool:
    """Whether the opening of a sentence is worth its dots: four words, or as much where there
    are no spaces."""
    return len(part.encode(errors="replace")) > 12 and not 0 < part.count(" ") < 3


def _without_open_end(part: str) -> str:
    """The part without the code or the bracket it ends in the middle of."""
    open_tick = part.rfind("`") if part.count("`") % 2 else len(part)
    open_bracket = part.rfind("(") if part.rfind("(") > part.rfind(")") else len(part)
    end = min(open_tick, open_bracket)
    return part[:end].rstrip(" ([*_") if end < len(part) else part


def _relevance(pieces: Sequence[Piece], query: str) -> list[float]:
    """How well each piece answers the query; nothing is asked where there is none."""
    if not query.strip():
        return [0.0] * len(pieces)
    return relevance.rank(_passages(pieces), query)


def _passages(pieces: Sequence[Piece]) -> list[str]:
    """The pieces as they are ranked: each with the title it stands under and the lines that lead
    in to it."""
    passages = []
    for piece, needed in zip(pieces, needs(pieces), strict=True):
        titles = [pieces[at].text for at in needed if pieces[at].kind == "heading"][-1:]
        leads = [pieces[at].text for at in needed if pieces[at].kind in ("paragraph", "item")]
        passages.append("\n".join([piece.text, *titles, *leads]))
    return passages


def _sections(pieces: Sequence[Piece]) -> list[list[int]]:
    """The pieces under each heading, the headings themselves and mere attachments left out."""
    found: list[list[int]] = [[]]
    for at, piece in enumerate(pieces):
        if piece.kind == "heading":
            found.append([])
        elif piece.kind not in ("fence", "rule") and not is_markup(piece):
            found[-1].append(at)
    return found


def _leaders(
    pieces: Sequence[Piece], sections: Sequence[Sequence[int]], scores: Sequence[float]
) -> list[int]:
    """The first piece of each section, which says what it is about; the most telling first,
    early sections favoured."""
    early: dict[int, float] = {}
    for place, section in enumerate(sections):
        first = section[0]
        thrift = scores[first] / (len(pieces[first].text) + 80) ** 0.5
        early[first] = thrift * (1 + 4 / (1 + place))
    return sorted(early, key=lambda at: -early[at])


def _best_first(places: Iterable[int], scores: Sequence[float]) -> list[int]:
    return sorted(places, key=lambda at: (-scores[at], at))


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
