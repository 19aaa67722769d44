"""As much of a conversation as the next call needs, in memory: read once, then only what is new.

Opening a conversation of any length reads its first message, what is pinned, the last summary, and
the newest messages that fit. Which of these a call carries is `told`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from foreword.message import NOT_HISTORY, Message, Text
from foreword.session.timeline import Group, Timeline, TimelineMessage, group_messages
from foreword.store import compressions, messages
from foreword.store.compressions import Compression
from foreword.store.database import Database
from foreword.store.messages import Conversation, Range, StoredMessage

PAGE = 256  # messages read at once, going back
NEAR = 64  # a call and its results are looked for within so many messages of each other


@dataclass(frozen=True, slots=True)
class Dropped:
    """Messages that a window leaves out."""

    messages: int
    tokens: int
    handle: str


@dataclass(slots=True, kw_only=True)
class MessageCache:
    """A conversation, loaded from `start` to its end."""

    db: Database
    conversation: Conversation
    compression: Compression | None = None
    # never left out: the first and the pinned, by their start
    staying: dict[int, Group] = field(default_factory=dict)
    timeline: Timeline = field(default_factory=Timeline)
    start: int = 1  # nothing in front of this is in memory
    known: int = 0  # the newest message that was seen
    running: int = 0  # tokens of the whole history
    floor: int = 0  # tokens of the history that the compression stands for
    _dropped: dict[int, Dropped] = field(default_factory=dict)  # by the start of the window

    @property
    def compressed_to(self) -> int:
        """The last message that the summary stands for."""
        return self.compression.last if self.compression else 0

    @property
    def history_tokens(self) -> int:
        """What the history would take whole: the summary in place of what it stands for, and all
        the rest."""
        summary = self.compression.tokens_after if self.compression else 0
        return (
            summary + size_of(self.in_front_of(self.compressed_to + 1)) + self.running - self.floor
        )

    def in_front_of(self, start: int) -> list[Group]:
        """The groups that stay although a window begins behind them."""
        return [group for _, group in sorted(self.staying.items()) if group.last < start]

    def load(self, start: int, room: int) -> None:
        """Read from a known start, or, where there is none (0), as far back as the room goes."""
        conversation = self.conversation.id
        self.compression = compressions.current(self.db, conversation)
        whole = messages.up_to(self.db, conversation)
        self.known, self.running = whole.seq, whole.running
        self.floor = (
            messages.up_to(self.db, conversation, self.compressed_to).running
            if self.compression
            else 0
        )
        self.staying, self._dropped, self.timeline = self._read_staying(), {}, Timeline()
        self.start = max(start, self.compressed_to + 1)
        if start <= self.compressed_to and self.running - self.floor > room:
            self.start = self._start_for(room)
        self.timeline.extend(map(_turn, messages.after(self.db, conversation, self.start - 1)))

    def _read_staying(self) -> dict[int, Group]:
        first = group_messages(map(_turn, messages.after(self.db, self.conversation.id, 0, NEAR)))[
            :1
        ]
        for line in messages.pinned_messages(self.db, self.conversation.id):
            around = Range(self.conversation.id, line.seq - NEAR, line.seq + NEAR)
            groups = group_messages(map(_turn, messages.between(self.db, around)))
            first += [group for group in groups if group.first <= line.seq <= group.last]
        return {group.first: group for group in first}

    def _start_for(self, room: int) -> int:
        """The message from which on the history is a little more than the room; no result there
        lacks its call."""
        first, size, asked, answered = self.known + 1, 0, set[str](), set[str]()
        since_full = 0
        while first > self.compressed_to + 1 and (
            size <= room or (answered - asked and since_full < NEAR)
        ):
            page = messages.before(self.db, self.conversation.id, first, PAGE)
            for line in reversed(page):
                if line.seq <= self.compressed_to or (size > room and not answered - asked):
                    return first
                since_full += size > room
                first, size = line.seq, size + line.tokens
                asked.update(line.message.calls)
                answered.update(line.message.results)
            if not page:
                break
        return first

    def sync(self) -> None:
        """Take in what others have written since."""
        for line in messages.after(self.db, self.conversation.id, self.known):
            self.take(line)

    def take(self, line: StoredMessage) -> None:
        """Take in one message that was just kept."""
        self.known, self.running = line.seq, line.running
        if line.kind in NOT_HISTORY:
            return
        self.timeline.add(_turn(line))
        newest = self.timeline.groups[-1]
        if (
            not self.staying
            or newest.first in self.staying
            or any(turn.pinned for turn in newest.turns)
        ):
            inside = [first for first in self.staying if newest.first < first]
            self.staying = {
                first: group for first, group in self.staying.items() if first not in inside
            }
            self.staying[newest.first] = newest

    def cut(self, start: int) -> None:
        """Forget what is in front of a message."""
        self.start = start
        self.timeline.drop_before(start)

    def dropped(self, start: int) -> Dropped | None:
        """What a window that begins here leaves out, if anything; looked up once for every cut."""
        if start <= self.compressed_to + 1:
            return None
        if start not in self._dropped:
            self._dropped = {start: self._look_up(start)}
        found = self._dropped[start]
        return found if found.messages else None

    def _look_up(self, start: int) -> Dropped:
        conversation = self.conversation.id
        staying = [group for group in self.in_front_of(start) if group.first > self.compressed_to]
        last = messages.up_to(self.db, conversation, start - 1)
        first = messages.up_to(self.db, conversation, self.compressed_to)
        count = last.place - first.place - sum(len(group.turns) for group in staying)
        tokens = last.running - first.running - size_of(staying)
        where = Range(conversation, self.compressed_to + 1, start - 1)
        return Dropped(
            max(0, count), max(0, tokens), messages.handle_for(self.db, self.conversation, where)
        )

    def summed_up(self) -> str:
        """A handle for the messages that the summary stands for."""
        return messages.handle_for(
            self.db, self.conversation, Range(self.conversation.id, 1, self.compressed_to)
        )


def size_of(groups: Sequence[Group]) -> int:
    """The tokens of groups."""
    return sum(group.tokens for group in groups)


def summary_message(summary: str, last: int, workflow: str) -> Message:
    """The summary as a message: it says what it stands for and how the originals come back."""
    head = (
        f"[Summary of messages 1-{last:,} of this conversation. The originals are kept: foreword"
        f" session expand {workflow}. Where it differs from the current plan, the plan holds.]"
    )
    return Message("user", (Text(f"{head}\n\n{summary}"),), kind="summary")


def summary_group(compression: Compression, workflow: str) -> Group:
    """The current summary, as it stands in the history."""
    message = summary_message(compression.summary, compression.last, workflow)
    return Group(
        (TimelineMessage(-compression.number, message, compression.tokens_after),),
        compression.tokens_after,
    )


def _turn(line: StoredMessage) -> TimelineMessage:
    return TimelineMessage(line.seq, line.message, line.tokens, line.pinned)
