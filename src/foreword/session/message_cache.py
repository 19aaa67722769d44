"""As much of a conversation as the next call needs, in memory: read once, then only what is new.

Opening a conversation of any length reads its first message, what is pinned, the last summary, and
the newest messages that fit. Which of these a call carries is `history_section`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote

from foreword.messages.call_pairs import is_opaque_answer
from foreword.messages.message import NOT_HISTORY, Message
from foreword.messages.parts import Text
from foreword.session.timeline import Group, Timeline, TimelineMessage, group_messages, group_tokens
from foreword.store import compressions, messages
from foreword.store.compressions import Compression
from foreword.store.database import Database
from foreword.store.messages import Conversation, Range, StoredMessage

TokensWithin = Callable[[Group, int], int]  # the tokens of a group as written within so many
PAGE = 256  # messages read at once, going back: a bound on memory, it decides nothing else
# A call and its results are looked for within so many messages of each other. Results follow their
# calls at once in practice; the bound keeps a pinned message, or a result without a call, from
# making the whole conversation be read.
NEAR = 64


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages that a window leaves out."""

    messages: int
    tokens: int
    handle: str


@dataclass(slots=True, kw_only=True)
class MessageCache:
    """A conversation, loaded from `start` to its end."""

    db: Database
    conversation: Conversation
    tokens_within: TokensWithin  # as it is written
    compression: Compression | None = None
    # never left out: the first and the pinned, by their start
    staying: dict[int, Group] = field(default_factory=dict)
    timeline: Timeline = field(default_factory=Timeline)
    start: int = 1  # nothing in front of this is in memory
    known: int = 0  # the newest message that was seen
    running: int = 0  # tokens of the whole history
    floor: int = 0  # tokens of the history that the compression stands for
    # what a compression leaves out of messages behind it, in tokens by the first of each group
    _shortened: dict[int, int] = field(default_factory=dict)
    # by the start of the window, and how many stand in front of it
    _dropped: dict[tuple[int, int], Gap] = field(default_factory=dict)

    @property
    def compressed_to(self) -> int:
        """The last message that the summary stands for."""
        return self.compression.last if self.compression else 0

    @property
    def history_tokens(self) -> int:
        """What the history would take with nothing left out: the summary in place of what it stands
        for, and all the rest, messages that the compression shortened as they are shown."""
        made = self.compression
        if made is None:
            return self.running
        staying = size_within(self.in_front_of(made.last + 1), made.excerpts, self.tokens_within)
        behind = self.running - self.floor - sum(self._shortened.values())
        return made.summary_tokens + staying + behind

    def in_front_of(self, start: int, *, compressed_to: int | None = None) -> list[Group]:
        """The groups that stay although a window begins behind them; a summary that a later one
        has taken in is none of them. What is compressed is what is now, or up to that message."""
        last = self.compressed_to if compressed_to is None else compressed_to
        staying = list[Group]()
        for _, group in sorted(self.staying.items()):
            is_folded_in = group.last <= last and is_summary(group)
            if group.last < start and not is_folded_in:
                staying.append(group)
        return staying

    def pins(self) -> dict[int, int]:
        """The tokens of each pinned message, by its number."""
        pins = dict[int, int]()
        for group in self.staying.values():
            for turn in group.turns:
                if turn.pinned:
                    pins[turn.seq] = turn.tokens
        return pins

    def load_compression(self) -> None:
        """Read which summary stands."""
        self.compression = compressions.current(self.db, self.conversation.id)

    def load(self, start: int, room: int) -> None:
        """Read from a known start, or, where there is none (0), as far back as the room goes; which
        summary stands is known."""
        conversation = self.conversation.id
        whole = messages.up_to(self.db, conversation)
        self.known = whole.seq
        self.running = whole.running
        self.floor = 0
        if self.compression:
            self.floor = messages.up_to(self.db, conversation, self.compressed_to).running
        self.staying = self._read_staying()
        self._shortened = {}
        for group in self._read_shortened():
            self._note_shortened(group)
        self.timeline = Timeline()
        self._dropped = {}
        self.start = max(start, self.compressed_to + 1)
        if start <= self.compressed_to and self.running - self.floor > room:
            self.start = self._start_for(room)
        lines = messages.after(self.db, conversation, self.start - 1)
        self.timeline.extend(map(timeline_message, lines))

    def _read_staying(self) -> dict[int, Group]:
        beginning = messages.after(self.db, self.conversation.id, 0, NEAR)
        staying = _groups(beginning)[:1]
        for line in messages.pinned_messages(self.db, self.conversation.id):
            around = Range(self.conversation.id, line.seq - NEAR, line.seq + NEAR)
            for group in _groups(messages.between(self.db, around)):
                if group.first <= line.seq <= group.last:
                    staying.append(group)
        return {group.first: group for group in staying}

    def _read_shortened(self) -> list[Group]:
        """The groups behind the summary of which the compression shows a part."""
        made = self.compression
        shortened = list[Group]()
        for first in made.excerpts if made else ():
            if first > self.compressed_to:
                around = Range(self.conversation.id, first, first + NEAR)
                shortened += _groups(messages.between(self.db, around))[:1]
        return shortened

    def _note_shortened(self, group: Group) -> None:
        most = self.compression.excerpts.get(group.first) if self.compression else None
        if most is not None:
            self._shortened[group.first] = group.tokens - size_within(
                [group], {group.first: most}, self.tokens_within
            )

    def _start_for(self, room: int) -> int:
        """The message from which on the history is a little more than the room; no result there
        lacks its call, and nothing that was said the thought it came with."""
        first = self.known + 1
        newer: Message | None = None  # the one that this would begin with
        size = 0
        since_full = 0  # messages taken although the room was full: a result lacks its call
        in_opaque_group = False  # an answer was taken, and its call may stand before it
        calls = set[str]()
        results = set[str]()
        while first > self.compressed_to + 1 and since_full < NEAR:
            page = messages.before(self.db, self.conversation.id, first, PAGE)
            if not page:
                return first
            for line in reversed(page):
                is_full = size > room
                is_joined = _is_joined(line.message, newer, in_opaque_group)
                is_whole = results <= calls and not is_joined
                if line.seq <= self.compressed_to or (is_full and is_whole):
                    return first
                since_full += is_full
                first = line.seq
                size += line.tokens
                calls.update(line.message.calls)
                results.update(line.message.results)
                in_opaque_group = is_opaque_answer(line.message) or (in_opaque_group and is_joined)
                newer = line.message
        return first

    def sync(self, last: int) -> None:
        """Take in what others have written since, up to and with a message or beyond."""
        if last <= self.known:
            return
        for line in messages.after(self.db, self.conversation.id, self.known):
            self.take(line)
        self.known = max(self.known, last)  # the last ones may be no history

    def take(self, line: StoredMessage) -> None:
        """Take in one message that was just kept."""
        self.known = line.seq
        self.running = line.running
        if line.kind in NOT_HISTORY:
            return
        self.timeline.add(timeline_message(line))
        newest = self.timeline.groups[-1]
        if newest.first > self.compressed_to:
            self._note_shortened(newest)
        is_pinned = any(message.pinned for message in newest.turns)
        if is_pinned or not self.staying or newest.first in self.staying:
            # a group that the newest one took in is part of it now
            staying = dict[int, Group]()
            for first, group in self.staying.items():
                if first < newest.first:
                    staying[first] = group
            self.staying = {**staying, newest.first: newest}

    def cut(self, start: int) -> None:
        """Forget what is in front of a message."""
        self.start = start
        self.timeline.drop_before(start)

    def dropped_gap(self, start: int, front: Sequence[Group]) -> Gap | None:
        """What a window that begins here, with these in front of it, leaves out, if anything;
        looked up once for every cut."""
        if start <= self.compressed_to + 1:
            return None
        staying = [group for group in front if group.first > self.compressed_to]
        key = (start, len(staying))
        if key not in self._dropped:
            self._dropped = {key: self._look_up(start, staying)}
        found = self._dropped[key]
        return found if found.messages else None

    def _look_up(self, start: int, staying: Sequence[Group]) -> Gap:
        conversation = self.conversation.id
        last = messages.up_to(self.db, conversation, start - 1)
        first = messages.up_to(self.db, conversation, self.compressed_to)
        count = last.place - first.place - sum(len(group.turns) for group in staying)
        tokens = last.running - first.running - group_tokens(staying)
        where = Range(conversation, self.compressed_to + 1, start - 1)
        return Gap(
            messages=max(0, count),
            tokens=max(0, tokens),
            handle=messages.handle_for(self.db, self.conversation, where),
        )

    def summary_gap(self) -> Gap:
        """What the summary stands for, where there is no room for it either; its tokens are
        accounted for as summed up."""
        count = messages.up_to(self.db, self.conversation.id, self.compressed_to).place
        return Gap(messages=count, tokens=0, handle=self.summarized_handle())

    def summarized_handle(self) -> str:
        """A handle for the messages that the summary stands for."""
        where = Range(self.conversation.id, 1, self.compressed_to)
        return messages.handle_for(self.db, self.conversation, where)


def _is_joined(older: Message, newer: Message | None, in_opaque_group: bool) -> bool:
    """Whether a message may stay with the one behind it that begins a group so far, as `Timeline`
    has it: a thought may stand before any words of the assistant."""
    if newer is None:
        return False
    if newer.role == "assistant":
        return older.role == "assistant"
    return in_opaque_group


def size_within(
    groups: Sequence[Group], excerpts: Mapping[int, int], tokens_within: TokensWithin
) -> int:
    """The tokens of groups of which some are shown in part."""
    size = 0
    for group in groups:
        most = excerpts.get(group.first, group.tokens)
        size += group.tokens if most >= group.tokens else tokens_within(group, most)
    return size


def is_summary(group: Group) -> bool:
    """Whether a group is itself a summary of what went before, and nobody has pinned it."""
    return all(turn.message.kind == "summary" and not turn.pinned for turn in group.turns)


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


def timeline_message(line: StoredMessage) -> TimelineMessage:
    """A stored message as a timeline holds it."""
    return TimelineMessage(line.seq, line.message, line.tokens, line.pinned)


def _groups(lines: Iterable[StoredMessage]) -> list[Group]:
    return group_messages(map(timeline_message, lines))
