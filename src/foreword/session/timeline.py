"""A conversation in memory, in groups that are never parted: a tool call and all its results are
one group.

Grows at its end in constant time. Which groups a call carries is `window`'s business.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from foreword.messages.call_pairs import OpenCalls, ends_with_thought, is_opaque_answer
from foreword.messages.message import Message


@dataclass(frozen=True, slots=True)
class TimelineMessage:
    """One message of a history, with its number and its size."""

    seq: int
    message: Message
    tokens: int
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Messages that stay or go together."""

    turns: tuple[TimelineMessage, ...]
    tokens: int

    @property
    def first(self) -> int:
        """The number of its first message."""
        return self.turns[0].seq

    @property
    def last(self) -> int:
        """The number of its last message."""
        return self.turns[-1].seq

    @property
    def messages(self) -> tuple[Message, ...]:
        """Its messages."""
        return tuple(turn.message for turn in self.turns)


@dataclass(slots=True)
class Timeline:
    """Groups in order."""

    groups: list[Group] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _waiting: OpenCalls = field(default_factory=OpenCalls)

    def add(self, turn: TimelineMessage) -> None:
        """One more message; a result joins the group of its call, and what the assistant says and
        calls the thought that it came with: OpenAI takes neither without the other."""
        first = turn.seq
        is_assistant = turn.message.role == "assistant"
        if self.groups and is_assistant and ends_with_thought(self.groups[-1].messages):
            first = self.groups[-1].first
        if self.groups and is_opaque_answer(turn.message):
            first = self._run_start()
        for (call_seq, _), _ in self._waiting.add_message(turn.seq, turn.message):
            if self._starts and call_seq >= self._starts[0]:
                first = min(first, call_seq)
        at = bisect_right(self._starts, first) - 1 if first < turn.seq else len(self.groups)
        turns = list[TimelineMessage]()
        tokens = turn.tokens
        for group in self.groups[at:]:
            turns += group.turns
            tokens += group.tokens
        del self.groups[at:], self._starts[at:]
        self.groups.append(Group((*turns, turn), tokens))
        self._starts.append(self.groups[-1].first)

    def _run_start(self) -> int:
        """Where the assistant began to speak last, without anybody in between."""
        at = len(self.groups) - 1
        while at and self._goes_on(at):
            at -= 1
        return self.groups[at].first

    def _goes_on(self, at: int) -> bool:
        """Whether the assistant says a group right behind its own words."""
        before = self.groups[at - 1].turns[-1].message
        return before.role == self.groups[at].turns[0].message.role == "assistant"

    def groups_from(self, seq: int) -> list[Group]:
        """The groups that begin with a message or behind it."""
        return self.groups[bisect_left(self._starts, seq) :]

    def extend(self, turns: Iterable[TimelineMessage]) -> None:
        """More messages, in order."""
        for turn in turns:
            self.add(turn)

    def drop_before(self, seq: int) -> None:
        """Forget the groups that begin in front of a message."""
        at = bisect_left(self._starts, seq)
        del self.groups[:at], self._starts[:at]


def group_tokens(groups: Iterable[Group]) -> int:
    """The tokens of groups."""
    return sum(group.tokens for group in groups)


def group_messages(turns: Iterable[TimelineMessage]) -> list[Group]:
    """Messages in groups."""
    timeline = Timeline()
    timeline.extend(turns)
    return timeline.groups
