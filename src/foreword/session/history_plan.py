"""Which messages a call carries and how much of each: what stands in front, the summary, the
newest.

A window stays where it was while everything fits. Then the oldest messages behind the summary give
way first, the summary after them, and the newest exchange stays. What is too large for its share is
shortened, never refused. Pure but for the messages in memory; writing is `history_section`'s
business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from foreword.messages.message import Message, texts_in
from foreword.session.message_cache import MessageCache, TokensWithin, summary_group
from foreword.session.timeline import Group
from foreword.session.window import MUCH, Window, choose, low_water
from foreword.store.compressions import Cut

# Of the budget: a first message that is larger is shortened, so that what stands in front can't
# push out the newest messages; what is pinned stays as it was said. Real first messages are mostly
# a few hundred tokens, and some are a plan of many pages. On real compactions 0.15 and 0.08 keep
# half a name in 100 more, and lose a short first message where the target is small.
FRONT_SHARE = 0.25
LEAST_FRONT_TOKENS = 60  # a first message with less room than this is left out: a mark says as much
# Of the room for the history: what the newest exchange has to itself before a summary gives way to
# it. At half, one long result is a stub; at double, a summary loses what nobody will say again.
EXCHANGE_SHARE = 0.3
# Of the room: what may stay empty where it may be filled. A window that moves leaves more
# (`window.MUCH`), since it is to be filled by what comes.
LITTLE = 0.03
# The line that names what is missing, a little generously: its room is set aside before its numbers
# are known, and what it takes is measured afterwards.
MARK_TOKENS = 40
HEAD_TOKENS = 60  # the line that says what a summary stands for, about
SUMMARY = 0  # its number among the excerpts; messages are numbered from 1
LEFT_OUT = "older messages left out to make room"
SHORTENED = "a message had to be shortened to make room"
SUMMARY_SHORTENED = "the summary had to be shortened to make room"


@dataclass(frozen=True, slots=True)
class HistoryPiece:
    """A group in front of the window, shortened to so many tokens unless that is 0, and what it
    takes."""

    group: Group
    shorten_to: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Front:
    """What stands in front of the window, in order."""

    pieces: Sequence[HistoryPiece] = ()

    @property
    def tokens(self) -> int:
        """What it takes."""
        return sum(piece.tokens for piece in self.pieces)

    @property
    def staying(self) -> list[Group]:
        """The messages in it, without the summary."""
        return [piece.group for piece in self.pieces if piece.group.first > 0]

    @property
    def has_summary(self) -> bool:
        """Whether a summary is among it."""
        return any(piece.group.first < 0 for piece in self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontRule:
    """How much of the first and the pinned messages stands in front, in a call of that budget."""

    budget: int
    tokens_within: TokensWithin
    excerpts: Mapping[int, int] = field(default_factory=dict)  # what a compression left of them

    def front_of(
        self,
        message_cache: MessageCache,
        start: int,
        *,
        summary: HistoryPiece | None = None,
        compressed_to: int | None = None,
    ) -> Front:
        """What stands in front of a window that begins there: the first message, what is pinned,
        the summary. What is compressed is what is now, or up to that message."""
        pieces = list[HistoryPiece]()
        later = list[HistoryPiece]()
        for group in message_cache.in_front_of(start, compressed_to=compressed_to):
            most = self._most_tokens(group)
            if group.tokens > most and most < LEAST_FRONT_TOKENS:
                continue
            same = pieces if group.first <= message_cache.compressed_to else later
            same.append(_piece(group, most, self.tokens_within))
        if summary is not None:
            pieces.append(summary)
        return Front([*pieces, *later])

    def _most_tokens(self, group: Group) -> int:
        if _is_pinned(group):
            return group.tokens
        most = round(FRONT_SHARE * self.budget)
        return min(most, self.excerpts.get(group.first, most))


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPlan:
    """Which messages a call carries."""

    front: Front
    window: Window
    start: int
    # by the first message of a group: the tokens it is shortened to; the summary's by `SUMMARY`
    excerpts: dict[int, int] = field(default_factory=dict)
    reason: str = ""


def plan_history(
    message_cache: MessageCache,
    cut: Cut,
    *,
    budget: int,
    taken: int,
    workflow: str,
    may_fill: bool,
    tokens_within: TokensWithin,
) -> HistoryPlan:
    """Keep the window where it is while that fits; else move it, far enough for many turns unless
    it may fill the room: at a first call there is nothing that a cache could reuse."""
    made = message_cache.compression
    excerpts = {**(made.excerpts if made else {}), **cut.excerpts}
    room = max(0, budget - taken)
    start = max(cut.start, message_cache.start)
    groups = message_cache.timeline.groups_from(start)
    if excerpts:
        groups = [
            _with_excerpt_size(group, excerpts.get(group.first), tokens_within) for group in groups
        ]
    summary = _summary(message_cache, workflow, excerpts.get(SUMMARY), tokens_within)
    fronts = FrontRule(budget=budget, tokens_within=tokens_within, excerpts=excerpts)
    front = fronts.front_of(message_cache, start, summary=summary)
    window = choose(groups, room=room - front.tokens, low=0)
    if not window.moved and not window.shorten_to:
        return HistoryPlan(front=front, window=window, start=start, excerpts=excerpts)
    # From here on the first message and what is pinned stand in front: leave room for them.
    newest = groups[-1].first
    reserved = fronts.front_of(message_cache, newest).tokens + MARK_TOKENS
    exchange = _exchange_tokens(groups, round(EXCHANGE_SHARE * room))
    most_summary = room - reserved - exchange
    reason = ""
    if summary is not None and summary.tokens > most_summary:
        excerpts[SUMMARY] = max(1, most_summary)
        summary = _summary(message_cache, workflow, excerpts[SUMMARY], tokens_within)
        reason = SUMMARY_SHORTENED
    if summary is not None:
        reserved += summary.tokens
    free = max(1, room - reserved)
    low = free
    if not may_fill:
        low = low_water(groups, budget=budget, others=taken + reserved, room=free)
        low = min(free, max(low, exchange))
    window = choose(groups, room=free, low=low, much=LITTLE if may_fill else MUCH)
    window = _without_bare_mark(window, tokens_within)
    is_shorter = len(window.groups) < len(groups)
    if is_shorter:
        start = window.groups[0].first
    if window.shorten_to:
        excerpts[window.groups[0].first] = window.shorten_to
    if not reason:
        reason = LEFT_OUT if is_shorter else SHORTENED
    kept = dict[int, int]()
    for first, tokens in excerpts.items():
        if first == SUMMARY or first >= start:
            kept[first] = tokens
    return HistoryPlan(
        front=fronts.front_of(message_cache, start, summary=summary),
        window=window,
        start=start,
        excerpts=kept,
        reason=reason,
    )


def nothing_of(message_cache: MessageCache) -> HistoryPlan:
    """No message at all: for a room in which even the newest leaves nothing but a mark."""
    start = message_cache.known + 1
    return HistoryPlan(front=Front(), window=Window(()), start=start, reason=LEFT_OUT)


def _without_bare_mark(window: Window, tokens_within: TokensWithin) -> Window:
    """The window without a message of which only its mark would stay: the line that counts what is
    missing before the window says as much."""
    oldest, *newer = window.groups
    if not window.shorten_to or not newer or tokens_within(oldest, window.shorten_to) > MARK_TOKENS:
        return window
    return Window(newer, moved=True)


def _is_pinned(group: Group) -> bool:
    return any(turn.pinned for turn in group.turns)


def _piece(group: Group, most: int, tokens_within: TokensWithin) -> HistoryPiece:
    if group.tokens <= most:
        return HistoryPiece(group, 0, group.tokens)
    return HistoryPiece(group, most, tokens_within(group, most))


def _summary(
    message_cache: MessageCache, workflow: str, shorten_to: int | None, tokens_within: TokensWithin
) -> HistoryPiece | None:
    """The summary that stands: as it was made, unless it had to be shortened; none where there is
    room for its heading at best."""
    made = message_cache.compression
    if made is None:
        return None
    group = summary_group(made, workflow)
    most = group.tokens if shorten_to is None else shorten_to
    return _piece(group, most, tokens_within) if most >= min(group.tokens, HEAD_TOKENS) else None


def _exchange_tokens(groups: Sequence[Group], most: int) -> int:
    """The size of the newest exchange, from the user's last message on where that is not too much,
    else of the newest group."""
    size = 0
    for group in reversed(groups):
        size += group.tokens
        if size > most:
            break
        if any(_is_said_by_user(turn.message) for turn in group.turns):
            return size
    return min(groups[-1].tokens, most)


def _is_said_by_user(message: Message) -> bool:
    return message.role == "user" and bool(texts_in(message))


def _with_excerpt_size(group: Group, tokens: int | None, tokens_within: TokensWithin) -> Group:
    """A group with the size it has in the window, shortened or not."""
    if tokens is None or tokens >= group.tokens:
        return group
    return replace(group, tokens=tokens_within(group, tokens))
