"""Add messages to a conversation: one with room made for it, many at once, or once under a key.

What may be appended is checked here; how it is stored is `store.messages`' business, and when the
history is compressed for it `size_control`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from foreword.errors import BadSource
from foreword.messages.fields import FieldPath
from foreword.messages.message import KINDS, Kind, Message, relabel
from foreword.messages.record import checked_message, to_record
from foreword.messages.shapes import mark_instructions, read_any, read_message, read_messages
from foreword.session.calls import Calls
from foreword.session.checked_summary import is_checkable
from foreword.session.compaction import Compaction
from foreword.session.size_control import Room, SizeControl
from foreword.store import append_keys, messages

# Messages written by one statement: keeps the memory of a long import bounded, and its progress
# visible. All batches are one transaction, so the size decides nothing else.
BATCH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendResult:
    """What became of a message that was appended."""

    seq: int
    tokens: int
    size_tokens: int  # of the whole context after it
    warnings: tuple[str, ...] = ()
    compaction: Compaction | None = None  # of the history in front of it, where it was compressed
    compressed: bool = False  # said again, too, where the message was there already under its key
    count: int = 1


class Appender:
    """Adds to one conversation."""

    def __init__(self, calls: Calls, size_control: SizeControl) -> None:
        self._calls = calls
        self._size_control = size_control
        self._db = calls.db
        self._conversation = calls.conversation.id

    def append(self, message: Message, *, pinned: bool) -> AppendResult:
        """Add a message, after a compression where there is no room for it."""
        message, notes = self._check_summary(message)
        tokens = self._tokens(message)
        room = self._size_control.make_room(more=tokens)
        made = self._write(message, tokens, room, pinned=pinned)
        return replace(made, warnings=(*notes, *made.warnings)) if notes else made

    def append_once(self, message: Message, *, pinned: bool, key: str) -> AppendResult:
        """Add a message unless it is there under that key already."""
        append_keys.validate_key(key)
        record = to_record(message)
        digest = append_keys.digest_of([(record, pinned)])
        before = self._find_answer(key, digest)
        if before is not None:
            return before
        checked, notes = self._check_summary(message)
        if checked is not message:
            record = to_record(checked)
        tokens = self._tokens(checked)
        # outside of the transaction: a model may be asked
        room = self._size_control.make_room(more=tokens)

        def write() -> AppendResult:
            made = self._write(checked, tokens, room, pinned=pinned, records=[record])
            return replace(made, warnings=(*notes, *made.warnings))

        return self._once(key, digest, write)

    def append_all(self, new: Sequence[Message], *, records: Sequence[str] = ()) -> AppendResult:
        """Add several messages, all or none; the answer is about all of them. Records are theirs,
        where they are written already."""
        with messages.write_lock(self._db, self._conversation):
            before = messages.up_to(self._db, self._conversation)
            notes = list[str]()
            count = self.extend(new, records=records, warn=notes.append)
            after = messages.up_to(self._db, self._conversation)
            return AppendResult(
                seq=after.seq,
                tokens=after.running - before.running,
                size_tokens=self._size_control.measure().size_tokens,
                warnings=tuple(notes),
                count=count,
            )

    def append_all_once(self, new: Sequence[Message], *, key: str) -> AppendResult:
        """Add several messages unless they are there under that key already."""
        records = [to_record(message) for message in new]
        digest = append_keys.digest_of((record, False) for record in records)
        append_keys.validate_key(key)

        def write() -> AppendResult:
            return self.append_all(new, records=records)

        return self._once(key, digest, write)

    def extend(
        self,
        new: Iterable[Message],
        progress: Callable[[int], None] = lambda count: None,
        *,
        records: Sequence[str] = (),
        warn: Callable[[str], None] = lambda note: None,
    ) -> int:
        """Add many messages, all or none, and compress nothing; returns how many. A summary among
        them is checked, and `warn` is told what was found."""
        count = 0
        left = mark_instructions(new)
        with messages.write_lock(self._db, self._conversation):
            while batch := list(islice(left, BATCH)):
                written = records[count : count + len(batch)]
                if any(map(is_checkable, batch)):
                    kept = messages.after(self._db, self._conversation, 0)
                    batch = self._size_control.check_summaries(
                        batch, [line.message for line in kept], warn
                    )
                    written = ()
                rows = [(message, self._tokens(message), False) for message in batch]
                count += len(self._calls.append(rows, written))
                progress(count)
        return count

    def _check_summary(self, message: Message) -> tuple[Message, list[str]]:
        """A message; where it is a summary, checked against all that is kept, and notes."""
        notes = list[str]()
        if not is_checkable(message):
            return message, notes
        kept = messages.after(self._db, self._conversation, 0)
        checked = self._size_control.check_summaries(
            [message], [line.message for line in kept], notes.append
        )
        return checked[0], notes

    def _tokens(self, message: Message) -> int:
        return self._calls.writer.tokens_of(message)

    def _write(
        self,
        message: Message,
        tokens: int,
        room: Room,
        *,
        pinned: bool,
        records: Sequence[str] = (),
    ) -> AppendResult:
        (line,) = self._calls.append([(message, tokens, pinned)], records)
        if message.kind == "system_prompt":
            # it replaces a part whose size was measured before
            room = replace(room, size_tokens=self._size_control.measure().size_tokens)
        return AppendResult(
            seq=line.seq,
            tokens=tokens,
            size_tokens=room.size_tokens,
            warnings=self._size_control.notes(room),
            compaction=room.compaction,
            compressed=room.compaction is not None and room.compaction.applied,
        )

    def _once(self, key: str, digest: str, append: Callable[[], AppendResult]) -> AppendResult:
        """Append and keep the answer under the key, all or nothing; where somebody was faster,
        theirs is given."""
        with messages.write_lock(self._db, self._conversation):
            before = self._find_answer(key, digest)
            if before is not None:
                return before
            made = append()
            receipt = {name: getattr(made, name) for name in append_keys.RECEIPT}
            append_keys.keep(self._db, self._conversation, key=key, digest=digest, receipt=receipt)
            return made

    def _find_answer(self, key: str, digest: str) -> AppendResult | None:
        """What was answered when this was appended under the key before."""
        receipt = append_keys.find(self._db, self._conversation, key=key, digest=digest)
        return None if receipt is None else AppendResult(**receipt)


# What reading raises for a value that JSON can't hold.
_UNSTORABLE = (TypeError, ValueError, RecursionError)


def _unstorable(
    where: str, error: Exception, hint: str = "give values that JSON can hold"
) -> BadSource:
    return BadSource(where, problem=f"can't be kept: {error}", hint=hint)


def messages_to_store(said: Iterable[object]) -> list[Message]:
    """The messages of one list as they will be kept: an agent's turn is the messages it was made
    of."""
    given = list(said)
    try:
        read = read_messages(given, "messages")
    except _UNSTORABLE as error:
        raise _unstorable("messages", error) from None
    return [message_to_store(message) for message in read]


def object_to_store(value: object) -> list[Message]:
    """The messages of an SDK's object as they will be kept: an answer may hold several."""
    at = FieldPath(where="message", path="message")
    try:
        read = read_any(value, at)
    except _UNSTORABLE as error:
        raise _unstorable("message", error) from None
    if not read:
        raise at.wrong("holds no message")
    return [message_to_store(message) for message in read]


def message_to_store(message: object, kind: Kind | None = None) -> Message:
    """A message as it will be kept; one that could not be read back is refused."""
    try:
        read = read_message(message)
    except _UNSTORABLE as error:
        raise _unstorable("message", error) from None
    if kind is None and not isinstance(message, Message):
        return read
    try:
        return checked_message(read if kind is None else relabel(read, kind=kind))
    except (*_UNSTORABLE, AttributeError) as error:
        known = f"a kind is one of {', '.join(KINDS)}"
        raise _unstorable("message", error, hint=known) from None
