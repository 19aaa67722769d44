"""Compressions and the cut points of windows: what a conversation was reduced to, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from foreword.store.database import (
    Database,
    Row,
    from_json,
    is_text,
    stamp,
    storable_text,
    to_json,
    whole_number,
)
from foreword.store.messages import write_lock

# `tokens_before` and `tokens_after` of the table are those of the messages and of the summary in
# their place; the size of the history is in columns of its own.
COLUMNS = (
    "number, last, summary, method, note, tokens_before, tokens_after, created, undone,"
    " history_before, history_after, excerpts, left_out"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """A summary that stands for all messages up to and with `last`."""

    number: int = 0  # none before it is kept
    last: int
    summary: str
    method: str  # "extract", or the model that wrote it
    note: str
    replaced_tokens: int  # of the messages that it stands for
    summary_tokens: int
    tokens_before: int  # of the whole history
    tokens_after: int
    created: str = ""
    undone: bool = False
    excerpts: Mapping[int, int] = field(default_factory=dict)  # of messages shown in part: tokens
    # tokens of all messages that are not in its history; None until they are counted again
    left_out: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a window begins, and which of its messages are shortened to how many tokens."""

    start: int = 0
    excerpts: Mapping[int, int] = field(default_factory=dict)


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
            new,
            number=whole_number(number, f"a compression's number in {db.name}"),
            note=storable_text(new.note),
            created=stamp(),
        )
        db.rows(
            f"INSERT INTO compressions (conversation, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?,"
            " ?, 0, ?, ?, ?, ?)",
            (
                conversation,
                made.number,
                made.last,
                to_json(made.summary, "the summary"),
                made.method,
                made.note,
                made.replaced_tokens,
                made.summary_tokens,
                made.created,
                made.tokens_before,
                made.tokens_after,
                to_json(dict(made.excerpts), "the excerpts"),
                made.left_out,
            ),
        )
        # they began in front of it
        db.rows("DELETE FROM cuts WHERE conversation = ?", (conversation,))
    return made


def current(db: Database, conversation: int) -> Compression | None:
    """The newest compression that was not undone."""
    rows = db.rows(
        f"SELECT {COLUMNS} FROM compressions WHERE conversation = ? AND undone = 0 ORDER BY number"
        " DESC LIMIT 1",
        (conversation,),
    )
    return _compression(db, rows[0]) if rows else None


def number_of(compression: Compression | None) -> int:
    """The number of a compression; 0 for none."""
    return compression.number if compression else 0


def all_compressions(db: Database, conversation: int) -> list[Compression]:
    """Every compression, the oldest first, undone ones too."""
    rows = db.rows(
        f"SELECT {COLUMNS} FROM compressions WHERE conversation = ? ORDER BY number",
        (conversation,),
    )
    return [_compression(db, row) for row in rows]


def undo(db: Database, conversation: int) -> Compression | None:
    """Take back the current compression; the one before it is current again."""
    with write_lock(db, conversation):
        found = current(db, conversation)
        if found:
            db.rows(
                "UPDATE compressions SET undone = 1 WHERE conversation = ? AND number = ?",
                (conversation, found.number),
            )
            # they began behind the summary
            db.rows("DELETE FROM cuts WHERE conversation = ?", (conversation,))
    return found


def resize(db: Database, conversation: int, number: int, tokens: int) -> None:
    """Write the size of a summary by another counter; what is left out is to be measured anew."""
    db.rows(
        "UPDATE compressions SET tokens_after = ?, left_out = NULL WHERE conversation = ? AND"
        " number = ?",
        (tokens, conversation, number),
    )


def set_left_out(db: Database, conversation: int, number: int, tokens: int) -> None:
    """Write how much of all that was said is not in the history of a compression."""
    db.rows(
        "UPDATE compressions SET left_out = ? WHERE conversation = ? AND number = ?",
        (tokens, conversation, number),
    )


def read_cut(db: Database, conversation: int, *, budget: int, start: object, excerpts: str) -> Cut:
    """Where a window begins by the columns of its row; an error where they were altered."""
    where = f"the cut of conversation {conversation} for a budget of {budget} in {db.name}"
    hint = "remove its row from the table cuts: the window is chosen anew"
    return Cut(whole_number(start, where), _read_sizes(excerpts, where, hint))


def _read_sizes(written: str, where: str, hint: str) -> dict[int, int]:
    sizes = from_json(written, where, _is_sizes, hint=hint)
    return {int(seq): int(tokens) for seq, tokens in sizes.items()}


def save_window_start(db: Database, conversation: int, budget: int, cut: Cut) -> None:
    """Remember where the window of a budget begins."""
    db.rows(
        "INSERT INTO cuts VALUES (?, ?, ?, ?) ON CONFLICT (conversation, budget)"
        " DO UPDATE SET start = excluded.start, excerpts = excluded.excerpts",
        (conversation, str(budget), cut.start, to_json(dict(cut.excerpts), "the cut")),
    )


def _is_sizes(value: object) -> bool:
    """Whether a value is a number of tokens for each of some messages."""
    if not isinstance(value, dict):
        return False
    for seq, tokens in value.items():
        if not seq.isdecimal() or type(tokens) is not int or tokens < 0:
            return False
    return True


def _compression(db: Database, row: Row) -> Compression:
    number, last, written, method, note, replaced, size, created, undone, *sizes = row
    before, after, excerpts, left_out = sizes
    where = f"compression {number} in {db.name}"
    summary = from_json(written, where, is_text)
    return Compression(
        number=number,
        last=last,
        summary=summary,
        method=method,
        note=note,
        replaced_tokens=replaced,
        summary_tokens=size,
        tokens_before=before,
        tokens_after=after,
        created=created,
        undone=bool(undone),
        excerpts=_read_sizes(excerpts, where, "undo this compression and make it again"),
        left_out=left_out,
    )
