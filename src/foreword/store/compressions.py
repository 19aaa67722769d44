"""Compressions: the summaries that stand for the beginning of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated

from foreword.store.cuts import request_cut
from foreword.store.database import (
    Column,
    Database,
    from_json,
    insert,
    select,
    select_first,
    stamp,
    storable_text,
    to_json,
    update,
)
from foreword.store.messages import write_lock


def read_sizes(written: str) -> dict[int, int]:
    """Return the tokens of some messages by their numbers, as they are kept."""
    return {int(seq): tokens for seq, tokens in from_json(written).items()}


def write_sizes(sizes: Mapping[int, int]) -> str:
    """Return the tokens of some messages by their numbers as they are kept."""
    return to_json(dict(sizes), "the excerpts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """A summary that stands for all messages up to and with `last`."""

    number: int = 0  # none before it is kept
    last: int
    summary: Annotated[str, Column(read=from_json, write=partial(to_json, what="the summary"))]
    method: str  # "extract", or the model that wrote it
    note: str
    replaced_tokens: int = 0  # of the messages that it stands for
    summary_tokens: int
    tokens_before: int  # of the whole history
    tokens_after: int
    created: str = ""
    undone: Annotated[bool, Column(read=bool, write=int)] = False
    # of messages shown in part: tokens
    excerpts: Annotated[Mapping[int, int], Column(read=read_sizes, write=write_sizes)] = field(
        default_factory=dict
    )
    left_out: int = 0  # tokens of all that was said and is not in its history


def add(db: Database, conversation: int, new: Compression, *, after: int) -> Compression | None:
    """Keep a compression, which gets its number here; from now on it is the current one.

    It was made while compression `after` was the current one, 0 for none; nothing is kept where
    that is another by now.
    """
    with write_lock(db, conversation):
        if number_of(current(db, conversation)) != after:
            return None
        ((number,),) = db.rows(
            "SELECT COALESCE(MAX(number), 0) + 1 FROM compressions WHERE conversation = ?",
            (conversation,),
        )
        made = replace(
            new, number=int(number), note=storable_text(new.note), created=stamp(), undone=False
        )
        insert(db, "compressions", made, conversation=conversation)
        request_cut(db, conversation, "compressed")
    return made


def current(db: Database, conversation: int) -> Compression | None:
    """The newest compression that was not undone."""
    which = "FROM compressions WHERE conversation = ? AND undone = 0 ORDER BY number DESC"
    return select_first(db, Compression, which, (conversation,))


def number_of(compression: Compression | None) -> int:
    """The number of a compression; 0 for none."""
    return compression.number if compression else 0


def all_compressions(db: Database, conversation: int) -> list[Compression]:
    """Every compression, the oldest first, undone ones too."""
    which = "FROM compressions WHERE conversation = ? ORDER BY number"
    return select(db, Compression, which, (conversation,))


def undo(db: Database, conversation: int) -> Compression | None:
    """Take back the current compression; the one before it is current again."""
    with write_lock(db, conversation):
        found = current(db, conversation)
        if found:
            _change(db, conversation, found.number, undone=1)
            request_cut(db, conversation, "compression undone")
    return found


def resize(db: Database, conversation: int, number: int, tokens: int) -> None:
    """Write the size of a summary by another counter."""
    _change(db, conversation, number, summary_tokens=tokens)


def set_left_out(db: Database, conversation: int, number: int, tokens: int) -> None:
    """Write how much of all that was said is not in the history of a compression."""
    _change(db, conversation, number, left_out=tokens)


def _change(db: Database, conversation: int, number: int, **changes: object) -> None:
    which = {"conversation": conversation, "number": number}
    update(db, "compressions", which, **changes)
