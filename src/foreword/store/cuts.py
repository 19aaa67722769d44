"""The call log of a conversation: its cuts, and what was appended to calls besides messages.

A call is the head of the newest cut, and every entry since. Messages are entries, kept by
`messages`; changes of the state and new system prompts are rows here. `record` keeps what a call
added; the caller holds the lock of the conversation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from foreword.store.database import (
    Column,
    Database,
    from_json,
    insert,
    select,
    select_first,
    storable_text,
    to_ascii_json,
    update,
)

CutReason = Literal[
    "first call",
    "no room",
    "compressed",
    "compression undone",
    "the system prompt changed",
    "the tools changed",
    "the state changed",
    "the recipe changed",
    "the client edited its history",
    "a message that calls omitted was pinned",
    "a placeholder was sent for what came later",
    "a secret became known",
    "a phase was entered",
    "requested",
]
FIRST: CutReason = "first call"
EntryKind = Literal["state", "changes", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Where calls begin from one call on: their head, and why."""

    number: int  # from 1
    created: str
    call: int  # the first call with this head
    reason: CutReason
    detail: str  # the phase that was entered, or what was asked for
    recipe: str
    tools: str  # the digest of the tools that go along; nothing where they are not known
    start: int  # the first message after the head
    last: int  # the newest message at that time
    head: Annotated[Mapping[str, Any], Column(read=from_json, write=to_ascii_json)] = field(
        repr=False
    )
    total_tokens: int  # of the call
    omitted_messages: int
    omitted_tokens: int
    reread_tokens: int  # of the call: those that the call before had at another place, or not
    thinking: int  # blocks that are not sent any more


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """What was appended to the calls of a cut besides messages; it is never changed."""

    cut: int
    number: int  # from 1, in the whole log
    place: int  # the message that it stands after; 0 for none
    kind: EntryKind
    tokens: int
    written: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestCall:
    """The newest call of a conversation, and what the next one begins with."""

    call: int  # its number; 0 for none
    call_last: int  # the newest message in it
    call_tokens: int  # of all of it
    call_running: int  # tokens of all that was said up to its newest message
    call_entry: int  # the newest entry in it
    # the tool calls for whose results it had a placeholder; "" for the whole conversation
    call_open: Annotated[Sequence[str], Column(read=from_json)]
    # whether another call sent something else since anybody said anything
    call_again: Annotated[bool, Column(read=bool)]
    cut_due: Annotated[Sequence[str], Column(read=from_json)]  # reason and detail, or nothing
    state: Annotated[Mapping[str, Any], Column(read=from_json)]  # by tag, as the log records it
    sent: str  # a digest of all that it sent


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """What a call adds to the log."""

    call: NewestCall
    cut: Cut | None
    entries: Sequence[LogEntry]


def newest_cut(db: Database, conversation: int) -> Cut | None:
    """Return the cut that calls begin with now, if there is one."""
    return select_first(
        db, Cut, "FROM cuts WHERE conversation = ? ORDER BY number DESC", (conversation,)
    )


def all_cuts(db: Database, conversation: int) -> list[Cut]:
    """Return every cut, the oldest first; only the newest has its head."""
    return select(db, Cut, "FROM cuts WHERE conversation = ? ORDER BY number", (conversation,))


def entries_of(db: Database, conversation: int, cut: int) -> list[LogEntry]:
    """Return what was appended since a cut, the oldest first."""
    which = "FROM log_entries WHERE conversation = ? AND cut = ? ORDER BY number"
    return select(db, LogEntry, which, (conversation, cut))


def newest_call(db: Database, conversation: int) -> NewestCall:
    """Return the newest call of a conversation."""
    (call,) = select(db, NewestCall, "FROM conversations WHERE id = ?", (conversation,))
    return call


def record(db: Database, conversation: int, new: CallRecord) -> None:
    """Keep what a call adds to the log."""
    if new.cut is not None:
        db.rows("UPDATE cuts SET head = '{}' WHERE conversation = ?", (conversation,))
        insert(db, "cuts", new.cut, conversation=conversation)
    for entry in new.entries:
        insert(db, "log_entries", entry, conversation=conversation)
    call = new.call
    changes: dict[str, object] = {}
    if new.cut is not None or new.entries:
        changes["state"] = to_ascii_json(call.state)
    update(
        db,
        "conversations",
        {"id": conversation},
        call=call.call,
        call_last=call.call_last,
        call_tokens=call.call_tokens,
        call_running=call.call_running,
        call_entry=call.call_entry,
        call_open=to_ascii_json([*call.call_open]),
        call_again=int(call.call_again),
        cut_due="[]",
        sent=call.sent,
        **changes,
    )


def request_cut(
    db: Database, conversation: int, reason: CutReason, detail: str = "", *, after: int = 0
) -> None:
    """Have the next call begin with a cut, if any call had messages behind `after`; the first of
    several reasons stays."""
    due = to_ascii_json([reason, storable_text(detail)])
    db.rows(
        "UPDATE conversations SET cut_due = ? WHERE id = ? AND cut_due = '[]' AND call > 0 AND"
        " call_last > ?",
        (due, conversation, after),
    )
