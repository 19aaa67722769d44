"""The history of a conversation, as a cut reads it from the store: the first message, what is
pinned, the summary, and the newest messages in groups that are never parted.

Which of them a call carries is `cut_plan`'s business. Nothing here is kept from call to call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote

from foreword.messages.call_pairs import group_by_calls
from foreword.messages.message import Message, bound_thinking, without_bound_thinking
from foreword.messages.parts import Text
from foreword.store import compressions, messages
from foreword.store.compressions import Compression
from foreword.store.database import Database
from foreword.store.messages import Conversation, Extent, Range, StoredMessage

# A call and its results are looked for within so many messages of each other. Results follow their
# calls at once in practice; the bound keeps a pinned message, or a result without a call, from
# making the whole conversation be read.
NEAR = 64


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

    @property
    def is_pinned(self) -> bool:
        """Whether one of its messages is pinned."""
        return any(turn.pinned for turn in self.turns)

    @property
    def is_summary(self) -> bool:
        """Whether it is itself a summary of what went before, and nobody has pinned it."""
        return all(turn.message.kind == "summary" and not turn.pinned for turn in self.turns)


TokensOf = Callable[[Message], int]
TokensWithin = Callable[[Group, int], int]  # the tokens of a group as written within so many


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages that a cut leaves out."""

    messages: int = 0
    tokens: int = 0
    handle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The history of one conversation as it is now, and as a cut sends it: without thinking that
    its provider binds to what was sent before."""

    db: Database = field(repr=False)
    conversation: Conversation
    tokens_of: TokensOf = field(repr=False)
    extent: Extent  # how far it goes
    compression: Compression | None
    compressed: Extent  # how far its summary goes
    staying: Sequence[Group] = field(repr=False)  # never left out: the first and the pinned

    @classmethod
    def load(cls, db: Database, conversation: Conversation, tokens_of: TokensOf) -> History:
        """Read how far it goes, its summary, and what stays; not its newest messages."""
        compression = compressions.current(db, conversation.id)
        last = compression.last if compression else 0
        return cls(
            db=db,
            conversation=conversation,
            tokens_of=tokens_of,
            extent=messages.up_to(db, conversation.id),
            compression=compression,
            compressed=messages.up_to(db, conversation.id, last) if last else Extent(),
            staying=_read_staying(db, conversation.id, tokens_of),
        )

    @property
    def compressed_to(self) -> int:
        """The last message that the summary stands for."""
        return self.compression.last if self.compression else 0

    @property
    def tokens(self) -> int:
        """What it would take with nothing left out."""
        return self.extent.running - (self.compression.left_out if self.compression else 0)

    def groups_from(self, start: int) -> list[Group]:
        """The groups from a message on, to the end."""
        lines = messages.after(self.db, self.conversation.id, start - 1)
        return group_messages(lines, self.tokens_of)

    def groups_within(self, start: int, room: int) -> list[Group]:
        """The groups from a message on, or where they are larger than the room, the newest that are
        a little more than it."""
        known = messages.seq_at(self.db, self.conversation.id, self.extent.running - room)
        groups = self.groups_from(max(start, self.compressed_to + 1, known - NEAR))
        size = group_tokens(groups)
        first = 0
        while first < len(groups) and size - groups[first].tokens > room:
            size -= groups[first].tokens
            first += 1
        return groups[first:]

    def in_front_of(self, start: int, *, compressed_to: int | None = None) -> list[Group]:
        """The groups that stay although a call begins behind them; a summary that a later one has
        taken in is none of them. What is compressed is what is now, or up to that message."""
        last = self.compressed_to if compressed_to is None else compressed_to
        staying = list[Group]()
        for group in self.staying:
            is_folded_in = group.last <= last and group.is_summary
            if group.last < start and not is_folded_in:
                staying.append(group)
        return staying

    def left_out(self, tokens_within: TokensWithin) -> int:
        """The tokens of all that was said and is not in the history: what the summary stands for,
        and what the compression shows a part of."""
        made = self.compression
        if made is None:
            return 0
        staying = size_within(self.in_front_of(made.last + 1), made.excerpts, tokens_within)
        shortened = 0
        for first in made.excerpts:
            if first > made.last:
                around = Range(self.conversation.id, first, first + NEAR)
                lines = messages.between(self.db, around)
                for group in group_messages(lines, self.tokens_of)[:1]:
                    shortened += group.tokens - size_within([group], made.excerpts, tokens_within)
        return self.compressed.running - staying - made.summary_tokens + shortened

    def gap_before(self, start: int, front: Sequence[Group]) -> Gap | None:
        """What a call that begins there, with these in front of it, leaves out, if anything."""
        if start <= self.compressed_to + 1:
            return None
        staying = [group for group in front if group.first > self.compressed_to]
        last = messages.up_to(self.db, self.conversation.id, start - 1)
        count = last.place - self.compressed.place - sum(len(group.turns) for group in staying)
        tokens = last.running - self.compressed.running - group_tokens(staying)
        if count <= 0:
            return None
        return Gap(
            messages=count,
            tokens=max(0, tokens),
            handle=self._handle(self.compressed_to + 1, start - 1),
        )

    def summary_gap(self) -> Gap:
        """What the summary stands for, where there is no room for it either; its tokens are
        accounted for as summed up."""
        return Gap(messages=self.compressed.place, handle=self.summarized_handle())

    def summarized_handle(self) -> str:
        """A handle for the messages that the summary stands for."""
        return self._handle(1, self.compressed_to)

    def _handle(self, first: int, last: int) -> str:
        where = Range(self.conversation.id, first, last)
        return messages.handle_for(self.db, self.conversation, where)


def group_messages(lines: Iterable[StoredMessage], tokens_of: TokensOf) -> list[Group]:
    """Messages in groups: a tool call and its results, a thought and what came with it."""
    turns = list[TimelineMessage]()
    for line in lines:
        message, tokens = line.message, line.tokens
        if bound_thinking(message):
            message = without_bound_thinking(message)
            tokens = tokens_of(message)
        turns.append(TimelineMessage(line.seq, message, tokens, line.pinned))
    groups = list[Group]()
    start = 0
    for group in group_by_calls([turn.message for turn in turns]):
        own = tuple(turns[start : start + len(group)])
        groups.append(Group(own, sum(turn.tokens for turn in own)))
        start += len(group)
    return groups


def group_tokens(groups: Iterable[Group]) -> int:
    """The tokens of groups."""
    return sum(group.tokens for group in groups)


def size_within(
    groups: Sequence[Group], excerpts: Mapping[int, int], tokens_within: TokensWithin
) -> int:
    """The tokens of groups of which some are shown in part."""
    size = 0
    for group in groups:
        most = excerpts.get(group.first, group.tokens)
        size += group.tokens if most >= group.tokens else tokens_within(group, most)
    return size


def summary_head(message: Message) -> tuple[str, str]:
    """The line of a summary's message that says what it stands for, and the summary."""
    head, _, summary = message.text.partition("\n\n")
    return head, summary


def summary_message(summary: str, last: int, workflow: str) -> Message:
    """The summary as a message: it says what it stands for and how the originals come back."""
    head = (
        f"[Summary of messages 1-{last:,} of this conversation. The originals are kept:"
        f" foreword session expand {quote(workflow)}."
        " Where it differs from the current plan, the plan holds.]"
    )
    return Message("user", (Text(f"{head}\n\n{summary}"),), kind="summary")


def summary_group(compression: Compression, workflow: str) -> Group:
    """The current summary, as it stands in the history."""
    message = summary_message(compression.summary, compression.last, workflow)
    tokens = compression.summary_tokens
    # below 0: no message of the history has such a number
    return Group((TimelineMessage(-compression.number, message, tokens),), tokens)


def _read_staying(db: Database, conversation: int, tokens_of: TokensOf) -> list[Group]:
    beginning = messages.after(db, conversation, 0, NEAR)
    staying = {group.first: group for group in group_messages(beginning, tokens_of)[:1]}
    for line in messages.pinned_messages(db, conversation):
        around = Range(conversation, line.seq - NEAR, line.seq + NEAR)
        for group in group_messages(messages.between(db, around), tokens_of):
            if group.first <= line.seq <= group.last:
                staying[group.first] = group
    return [staying[first] for first in sorted(staying)]
