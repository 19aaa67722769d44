"""Which messages a call begins with after a cut, and how much of each: what stands in front, the
summary, the newest.

Prompt caches and bound thinking need exact beginnings, so a cut gives up so much at once that many
turns fit before the next one. The oldest messages behind the summary give way first, the summary
after them, and the newest exchange stays. What is too large for its share is shortened, never
refused. Pure but for the messages that it reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from foreword.messages.message import Message, texts_in
from foreword.session.history import (
    Group,
    History,
    TokensWithin,
    group_tokens,
    summary_group,
)
from foreword.session.message_writer import HEAD_TOKENS

# Of the budget, over many turns: how full calls are on average. What is left after a cut is chosen
# for this, a little above the 80% that is promised. Higher, and there are more cuts and a prompt
# cache reuses less; lower, and more of the budget stays empty.
AVERAGE = 0.81
# Of the budget: how much of the size of large messages is added to make up for the room they leave
# when they no longer fit. The bound keeps one giant message from making every cut a small one.
LARGEST_SPREAD = 0.1
# Of the low-water mark: too much to leave empty because of one large group.
MUCH = 0.25
# Of the room: what may stay empty where it may be filled.
LITTLE = 0.03
# Of the room for the newest messages: a cut leaves at least so much of the conversation, also where
# the other parts take nearly the whole budget.
LEAST_RUN = 0.3
# Of the budget: a first message that is larger is shortened, so that what stands in front can't
# push out the newest messages; what is pinned stays as it was said. Real first messages are mostly
# a few hundred tokens, and some are a plan of many pages. On real compactions 0.15 and 0.08 keep
# half a name in 100 more, and lose a short first message where the target is small.
FRONT_SHARE = 0.25
LEAST_FRONT_TOKENS = 60  # a first message with less room than this is left out: a mark says as much
# Of the room for the history: what the newest exchange has to itself before a summary gives way to
# it. At half, one long result is a stub; at double, a summary loses what nobody will say again.
EXCHANGE_SHARE = 0.3
# The line that names what is missing, a little generously: its room is set aside before its numbers
# are known, and what it takes is measured afterwards.
MARK_TOKENS = 40


# Of what fits: all, as much as leaves room for many turns, or that only where not all fits.
Fill = Literal["all", "low", "fit"]


@dataclass(frozen=True, slots=True)
class HistoryPiece:
    """A group in front of the newest messages, shortened to so many tokens unless that is 0, and
    what it takes."""

    group: Group
    shorten_to: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Front:
    """What stands in front of the newest messages, in order."""

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
        history: History,
        start: int,
        *,
        summary: HistoryPiece | None = None,
        compressed_to: int | None = None,
    ) -> Front:
        """What stands in front of messages from there on: the first message, what is pinned, the
        summary. What is compressed is what is now, or up to that message."""
        pieces = list[HistoryPiece]()
        later = list[HistoryPiece]()
        for group in history.in_front_of(start, compressed_to=compressed_to):
            most = self._most_tokens(group)
            if group.tokens > most and most < LEAST_FRONT_TOKENS:
                continue
            same = pieces if group.first <= history.compressed_to else later
            same.append(_piece(group, most, self.tokens_within))
        if summary is not None:
            pieces.append(summary)
        return Front([*pieces, *later])

    def _most_tokens(self, group: Group) -> int:
        if group.is_pinned:
            return group.tokens
        most = round(FRONT_SHARE * self.budget)
        return min(most, self.excerpts.get(group.first, most))


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPlan:
    """Which messages a call carries."""

    front: Front
    groups: Sequence[Group] = ()  # the newest
    start: int
    # of the newest groups: the tokens one is shortened to, by its first message
    excerpts: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Window:
    """The newest groups that fit."""

    groups: Sequence[Group]
    shorten_to: int = 0  # tokens for the oldest of the groups, where it does not fit whole


def plan_cut(
    history: History,
    start: int,
    *,
    budget: int,
    taken: int,
    workflow: str,
    fill: Fill,
    tokens_within: TokensWithin,
) -> CutPlan:
    """Keep all messages from the start on where they fit beside the parts, which take so many
    tokens; else so many that many turns fit before the next cut."""
    made = history.compression
    excerpts = made.excerpts if made else {}
    room = max(0, budget - taken)
    groups = history.groups_within(start, room)
    start = groups[0].first if groups else history.extent.seq + 1
    if excerpts:
        groups = [
            _with_excerpt_size(group, excerpts.get(group.first), tokens_within) for group in groups
        ]
    summary = _summary(history, workflow, None, tokens_within)
    fronts = FrontRule(budget=budget, tokens_within=tokens_within, excerpts=excerpts)
    front = fronts.front_of(history, start, summary=summary)
    most = room - front.tokens
    if fill == "low":
        most = low_water(groups, budget=budget, others=taken + front.tokens, room=most)
    if not groups or group_tokens(groups) <= most:
        return CutPlan(front=front, groups=groups, start=start, excerpts=excerpts)
    # From here on the first message and what is pinned stand in front: leave room for them.
    newest = groups[-1].first
    reserved = fronts.front_of(history, newest).tokens + MARK_TOKENS
    exchange = _exchange_tokens(groups, round(EXCHANGE_SHARE * room))
    most_summary = room - reserved - exchange
    if summary is not None and summary.tokens > most_summary:
        summary = _summary(history, workflow, max(1, most_summary), tokens_within)
    if summary is not None:
        reserved += summary.tokens
    free = max(1, room - reserved)
    low = free
    if fill != "all":
        low = low_water(groups, budget=budget, others=taken + reserved, room=free)
        low = min(free, max(low, exchange))
    most = min(free, max(low, groups[-1].tokens)) if fill == "low" else free
    window = choose(groups, room=most, low=low, much=LITTLE if fill == "all" else MUCH)
    window = _without_bare_mark(window, tokens_within)
    if len(window.groups) < len(groups):
        start = window.groups[0].first
    if window.shorten_to:
        excerpts = {**excerpts, window.groups[0].first: window.shorten_to}
    return CutPlan(
        front=fronts.front_of(history, start, summary=summary),
        groups=window.groups,
        start=start,
        excerpts=excerpts,
    )


def nothing_of(history: History) -> CutPlan:
    """No message at all: for a room in which even the newest leaves nothing but a mark."""
    return CutPlan(front=Front(), start=history.extent.seq + 1)


def low_water(groups: Sequence[Group], *, budget: int, others: int, room: int) -> int:
    """How many tokens of a conversation to keep at a cut, where other parts take so many of the
    budget.

    From there to full and back to there, call by call, is `AVERAGE` in the middle. It is never
    quite full: the group that no longer fits ends it, and that is more often a large one.
    """
    tokens = group_tokens(groups)
    spread = sum(group.tokens**2 for group in groups) / max(1, tokens)
    refill = (2 * AVERAGE - 1) * budget + min(spread, LARGEST_SPREAD * budget)
    return min(room, max(round(refill) - others, round(LEAST_RUN * room)))


def choose(groups: Sequence[Group], *, room: int, low: int, much: float = MUCH) -> Window:
    """The groups to send: all that are there where they fit, else the newest up to the low-water
    mark.

    The newest group always stays. One that is too large to stay whole, the newest or one that would
    leave much of the room empty (that share of the mark), is the last to come in, and is shortened.
    """
    if not groups or group_tokens(groups) <= room:
        return Window(groups)
    newest = groups[-1]
    if newest.tokens > room:
        return Window([newest], shorten_to=max(low, 1))
    start = len(groups) - 1
    size = newest.tokens
    while start > 0 and size + groups[start - 1].tokens <= low:
        start -= 1
        size += groups[start].tokens
    if low - size > much * low and start > 0:
        return Window(groups[start - 1 :], shorten_to=low - size)
    return Window(groups[start:])


def _without_bare_mark(window: Window, tokens_within: TokensWithin) -> Window:
    """The window without a message of which only its mark would stay: the line that counts what is
    missing before the window says as much."""
    oldest, *newer = window.groups
    if not window.shorten_to or not newer or tokens_within(oldest, window.shorten_to) > MARK_TOKENS:
        return window
    return Window(newer)


def _piece(group: Group, most: int, tokens_within: TokensWithin) -> HistoryPiece:
    if group.tokens <= most:
        return HistoryPiece(group, 0, group.tokens)
    return HistoryPiece(group, most, tokens_within(group, most))


def _summary(
    history: History, workflow: str, shorten_to: int | None, tokens_within: TokensWithin
) -> HistoryPiece | None:
    """The summary that stands: as it was made, unless it had to be shortened; none where there is
    room for its heading at best."""
    made = history.compression
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
    """A group with the size it has in the call, shortened or not."""
    if tokens is None or tokens >= group.tokens:
        return group
    return replace(group, tokens=tokens_within(group, tokens))
