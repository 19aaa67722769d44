"""Add messages to a conversation: with room made for them, many at once, or once under a key.

What may be appended is checked here; how it is stored is `store.messages`' business, and when the
history is compressed for it `size_control`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from foreword.compression.checked_summary import is_checkable
from foreword.errors import BadSource
from foreword.messages.fields import FieldPath
from foreword.messages.message import KINDS, Kind, Message, relabel
from foreword.messages.record import checked_message, to_record
from foreword.messages.shapes import mark_instructions, read_any, read_message, read_messages
from foreword.session.calls import Calls
from foreword.session.compaction import Compaction
from foreword.session.size_control import SizeControl
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

    def append(
        self,
        new: Sequence[Message],
        *,
        pinned: bool = False,
        key: str | None = None,
        make_room: bool = True,
    ) -> AppendResult:
        """Add messages, all or none, after a compression where there is no room for them; under a
        key, unless they are there under that key already. The answer is about all of them."""
        records = [to_record(message) for message in new]
        digest = append_keys.digest_of((record, pinned) for record in records)
        if key is not None:
            append_keys.validate_key(key)
            before = self._find_answer(key, digest)
            if before is not None:
                return before
        notes = list[str]()
        checked = self._check_summaries(new, notes.append)
        rows = [(message, self._calls.writer.tokens_of(message), pinned) for message in checked]
        tokens = sum(size for message, size, _ in rows if message.is_history)
        # outside of the transaction: a model may be asked
        room = self._size_control.make_room(more=tokens) if make_room else None
        with messages.write_lock(self._db, self._conversation):
            if key is not None:
                before = self._find_answer(key, digest)
                if before is not None:
                    return before
            lines = self._calls.append(rows, records if checked is new else ())
            if room is not None:
                notes += self._size_control.notes(room)
            replaces_part = any(message.kind == "system_prompt" for message in new)
            is_measured = room is not None and not replaces_part
            size = room.size_tokens if room and is_measured else self._size_control.size_tokens()
            compaction = room.compaction if room else None
            made = AppendResult(
                seq=lines[-1].seq if lines else messages.up_to(self._db, self._conversation).seq,
                tokens=tokens,
                size_tokens=size,
                warnings=tuple(notes),
                compaction=compaction,
                compressed=compaction is not None and compaction.applied,
                count=len(lines),
            )
            if key is not None:
                receipt = {name: getattr(made, name) for name in append_keys.RECEIPT}
                append_keys.keep(
                    self._db, self._conversation, key=key, digest=digest, receipt=receipt
                )
            return made

    def extend(
        self,
        new: Iterable[Message],
        progress: Callable[[int], None] = lambda count: None,
        warn: Callable[[str], None] = lambda note: None,
    ) -> int:
        """Add many messages, all or none, and compress nothing; returns how many. A summary among
        them is checked, and `warn` is told what was found."""
        count = 0
        left = mark_instructions(new)
        with messages.write_lock(self._db, self._conversation):
            while batch := list(islice(left, BATCH)):
                checked = self._check_summaries(batch, warn)
                tokens_of = self._calls.writer.tokens_of
                rows = [(message, tokens_of(message), False) for message in checked]
                count += len(self._calls.append(rows))
                progress(count)
        return count

    def _check_summaries(
        self, new: Sequence[Message], warn: Callable[[str], None]
    ) -> Sequence[Message]:
        """The messages, each summary among them checked against all that is kept."""
        if not any(map(is_checkable, new)):
            return new
        kept = messages.after(self._db, self._conversation, 0)
        return self._size_control.check_summaries(new, [line.message for line in kept], warn)

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
