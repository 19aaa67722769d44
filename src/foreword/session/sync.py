"""Bring a conversation up to a client's history: the whole of it comes in, what is new is added.

The history here is what the client says it is. Where the client has edited or taken back messages,
those that it no longer has become a branch: kept, recallable, and in no later call. A pinned
message that the client does not have is the caller's own, and stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foreword.compression.checked_summary import as_it_came, is_checkable
from foreword.messages.message import Message
from foreword.session.append import BATCH
from foreword.session.calls import Calls
from foreword.session.client_history import (
    START,
    ClientHistory,
    ClientReading,
    client_values,
    is_same_content,
)
from foreword.session.size_control import SizeControl
from foreword.store import answer_usage, client_messages, messages
from foreword.store.client_messages import ClientPlace
from foreword.store.messages import Range, StoredMessage

PAGE = 256  # places read at once where a history has changed: it decides nothing else
TAKEN_BACK = (
    "the client's history goes on differently after message {place:,}: {count:,} messages that it"
    " no longer has are a branch of their own, in no later call; foreword recall {handle} shows"
    " them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """What became of a client's history."""

    added: int  # messages that are new
    known: int  # messages that were there
    taken_back: int  # messages that were there and are a branch now
    branch: str  # what recalls them; nothing where there are none
    seq: int  # of the last message
    tokens: int  # of the new ones
    size_tokens: int  # of the whole context after them
    warnings: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Match:
    """How far the client's history and the kept one are the same."""

    last: ClientPlace
    claimed: list[ClientPlace]  # messages that were appended otherwise, and are the client's, too
    own: list[StoredMessage]  # pinned messages behind that, which the client does not have
    is_different: bool  # whether others follow that the client does not have


class Syncer:
    """Brings one conversation up to what a client holds."""

    def __init__(self, calls: Calls, size_control: SizeControl) -> None:
        self._calls = calls
        self._size_control = size_control
        self._db = calls.db
        self._conversation = calls.conversation
        self._history = ClientHistory()

    def sync(self, given: object) -> tuple[SyncResult, str | None]:
        """Add what is new; also what the system says in front, where it says something."""
        values = client_values(given)
        try:
            reading = self._history.read(values)
            with messages.write_lock(self._db, self._conversation.id):
                last, is_different = self._last_common(reading)
                if last.place < reading.read_from:
                    # less is kept than this process has read before: another has changed it
                    self._history.forget()
                    reading = self._history.read(values)
                    last, is_different = self._last_common(reading)
                match = self._match(reading, last, is_different=is_different)
                synced = self._apply(reading, match)
        except BaseException:
            self._history.forget()
            raise
        return synced, reading.system_prompt

    def _match(self, reading: ClientReading, last: ClientPlace, *, is_different: bool) -> _Match:
        behind = messages.after(self._db, self._conversation.id, last.seq)
        if is_different:
            own = self._own_pins(behind)
            return _Match(last=last, claimed=[], own=own, is_different=True)
        return _match_tail(reading, last, behind)

    def _last_common(self, reading: ClientReading) -> tuple[ClientPlace, bool]:
        """The last message up to which both are the same, and whether more of the client's
        earlier messages are kept."""
        found = client_messages.places_back(self._db, self._conversation.id)
        known = found[0] if found else ClientPlace()
        place = min(known.place, reading.count)
        if place == known.place and reading.chain_at(place) == (known.chain or START):
            return known, False
        while place > 0:
            page = client_messages.places_back(
                self._db, self._conversation.id, place=place, limit=PAGE
            )
            for each in page:
                if reading.chain_at(each.place) == each.chain:
                    return each, True
            place = page[-1].place - 1 if page else 0
        return ClientPlace(), True

    def _own_pins(self, behind: Sequence[StoredMessage]) -> list[StoredMessage]:
        """The pinned messages among these that were never the client's."""
        pinned = [line for line in behind if line.pinned]
        if not pinned:
            return []
        places = client_messages.places_back(self._db, self._conversation.id, limit=len(behind))
        clients = {each.seq for each in places}
        return [line for line in pinned if line.seq not in clients]

    def _apply(self, reading: ClientReading, match: _Match) -> SyncResult:
        conversation = self._conversation.id
        taken_back = 0
        branch = ""
        warnings = tuple[str, ...]()
        client_messages.add(self._db, conversation, match.claimed)
        before = messages.up_to(self._db, conversation)
        new = reading.messages[match.last.place - reading.read_from :]
        notes = list[str]()
        if any(map(is_checkable, new)):
            # before what it stands for becomes a branch: a client that compacts has only the
            # summary left
            kept = messages.after(self._db, conversation, 0)
            new = self._size_control.check_summaries(
                new, [line.message for line in kept], notes.append
            )
        if match.is_different:
            where = Range(conversation, match.last.seq + 1, before.seq)
            branch = messages.handle_for(self._db, self._conversation, where)
            taken_back = messages.take_back(self._db, conversation, match.last.seq)
            client_messages.drop_after(self._db, conversation, match.last.place)
            for line in match.own:
                self._append([line.message], pinned=True)
            taken_back -= len(match.own)
            place = match.last.place
            note = TAKEN_BACK.format(place=place, count=taken_back, handle=branch)
            warnings = (note,)
        tokens = self._append_new(new, reading, match.last.place)
        known = match.last.place - len(match.claimed)
        for answer in reading.answers:
            if answer.place > known:
                answer_usage.keep(self._db, conversation, answer.key, answer.usage)
        after = messages.up_to(self._db, conversation)
        return SyncResult(
            added=len(new),
            known=match.last.place,
            taken_back=taken_back,
            branch=branch,
            seq=after.seq,
            tokens=tokens,
            size_tokens=self._size_control.size_tokens(),
            warnings=(*warnings, *notes),
        )

    def _append_new(self, new: Sequence[Message], reading: ClientReading, place: int) -> int:
        """Keep messages, each with its place in the client's history; returns their tokens."""
        tokens = 0
        for first in range(0, len(new), BATCH):
            lines = self._append(new[first : first + BATCH], pinned=False)
            places = list[ClientPlace]()
            for line in lines:
                place += 1
                tokens += line.tokens
                places.append(ClientPlace(place, line.seq, reading.chain_at(place)))
            client_messages.add(self._db, self._conversation.id, places)
        return tokens

    def _append(self, new: Sequence[Message], *, pinned: bool) -> list[StoredMessage]:
        rows = [(message, self._calls.writer.tokens_of(message), pinned) for message in new]
        return self._calls.append(rows)


def _match_tail(
    reading: ClientReading, last: ClientPlace, behind: Sequence[StoredMessage]
) -> _Match:
    """Compare what was appended since by other ways with what the client has there."""
    claimed = list[ClientPlace]()
    own = list[StoredMessage]()
    is_different = False
    for line in behind:
        at = last.place - reading.read_from
        new = reading.messages[at : at + 1]
        if new and not is_different and is_same_content(as_it_came(line.message), new[0]):
            last = ClientPlace(last.place + 1, line.seq, reading.chain_at(last.place + 1))
            claimed.append(last)
            own = []
        elif line.pinned:
            own.append(line)
        else:
            is_different = True
    return _Match(last=last, claimed=claimed, own=own, is_different=is_different)
