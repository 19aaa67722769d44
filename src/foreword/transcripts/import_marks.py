"""The marks by which an import knows what it has: of each piece of a message, the id of its line,
or, where lines have no ids, a digest of all that was said up to it.

A file that has grown adds what is new; a reply that has grown adds its rest; a conversation that
only begins in other words is another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

from foreword.messages.blocks import joined
from foreword.messages.message import Message, relabel
from foreword.messages.record import to_record
from foreword.transcripts.events import MessageEvent

THERE = "there"  # messages that were imported before


def join_pieces(pieces: Sequence[MessageEvent]) -> Message:
    """Return the message that these pieces are."""
    return joined([piece.message for piece in pieces])


def with_marks(pieces: Iterable[MessageEvent]) -> Iterator[MessageEvent]:
    """Yield the pieces, each with a mark; where lines have no ids, the same words in another place
    have another one."""
    said = blake2b(digest_size=12)
    for piece in pieces:
        if piece.mark:
            yield piece
            continue
        said.update(_shapeless_record(piece.message).encode())
        yield replace(piece, mark=said.hexdigest())


def _shapeless_record(message: Message) -> str:
    """Return the record of the message without its kind and its JSON.

    Both depend on the shape that the file as a whole is read in, and that may be recognized only
    once the file has grown.
    """
    return to_record(Message(message.role, tuple([replace(part) for part in message.parts])))


def new_messages(
    messages: Iterable[list[MessageEvent]], known: Collection[str], skipped: Counter[str]
) -> Iterator[Message]:
    """Yield what was not imported before; of a reply that has grown since, the rest."""
    for pieces in messages:
        new = [piece for piece in pieces if piece.mark not in known]
        if not new:
            skipped[THERE] += 1
            continue
        message = join_pieces(new)
        marks = [piece.mark for piece in new]
        yield relabel(message, marks=tuple(marks))
