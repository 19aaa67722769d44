"""Conversations and their messages: appended, never changed; sizes are added up as they come in.

`seq` numbers the messages of a conversation from 1 without a gap; `running` is the size of its
history up to and with a message, `place` how many messages of history these are, so that any
stretch is measured by one subtraction. What is no history (an old plan, a snapshot) is kept and
counts nothing. Messages that a client has taken back are kept as a `branch`, which is no history
either; the sums go on from the message in front of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Annotated

from foreword.engine.render import turn_text
from foreword.messages.message import NOT_HISTORY, Message
from foreword.messages.record import from_record, to_record
from foreword.origin import Speakers
from foreword.section import handle_of
from foreword.store.cuts import request_cut
from foreword.store.database import (
    LARGEST_NUMBER,
    Column,
    Database,
    Row,
    column_list,
    from_json,
    select,
    select_first,
    stamp,
    to_json,
    update,
)

_NOT_HISTORY_SQL = ", ".join(repr(kind) for kind in sorted(NOT_HISTORY))
# Messages that go in together. FTS5 writes a segment for each transaction and merges four to one:
# 290 us for one message of sixty words, 15 us each for 128 of them, 8 us for 512, 7 us for 1,024. A
# question has fewer than so many to take in, which takes it 10 ms.
INDEX_BATCH = 512
# Asked for by one statement: well under the values that a database takes.
MOST_NUMBERS = 500
HISTORY = f"kind NOT IN ({_NOT_HISTORY_SQL}) AND branch = 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation of a workflow."""

    id: int
    workflow: int
    name: str
    created: str
    counter: str  # by which its messages were counted
    system_prompt: Annotated[str, Column(read=from_json)]  # the newest
    warned: int  # the size at which a warning was given; 0 for none
    quiet_until: int  # compression is not tried again before this size
    # what it was opened with
    settings: Annotated[Mapping[str, int | str], Column(read=from_json)] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage:
    """A message as it is kept."""

    seq: int
    kind: str
    pinned: Annotated[bool, Column(read=bool)]
    tokens: int
    running: int
    place: int
    created: str
    answers: Annotated[bool, Column(read=bool)]  # the newest call, with nothing between
    message: Annotated[Message, Column("written", read=from_record)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTo:
    """What an answer was given to, as far as its process knows."""

    sent: str = ""  # the digest of the call that it made last; nothing where it made none
    goes_on: int = 0  # the message that it appended last, of the same answer


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a conversation goes: its last message, and the tokens and the number of messages
    of its history."""

    seq: int = 0
    running: int = 0
    place: int = 0


@dataclass(frozen=True, slots=True)
class Range:
    """Messages from one to another, both included; what became a branch of a higher number than
    `branch` is still among them. Without one, it is the history as it is now."""

    conversation: int
    first: int
    last: int
    branch: int = LARGEST_NUMBER


_COLUMNS = column_list(StoredMessage)


def ensure(db: Database, workflow: int, name: str, counter: str) -> Conversation:
    """The conversation of that name, made where there is none."""
    found = find(db, workflow, name)
    if found is not None:
        return found
    db.rows(
        "INSERT INTO conversations (workflow, name, created, counter, system_prompt, warned,"
        " quiet_until) VALUES (?, ?, ?, ?, ?, 0, 0) ON CONFLICT DO NOTHING",
        (workflow, name, stamp(), counter, json.dumps("")),
    )
    made = find(db, workflow, name)
    assert made is not None
    return made


def find(db: Database, workflow: int, name: str) -> Conversation | None:
    """The conversation of that name, if there is one."""
    which = "FROM conversations WHERE workflow = ? AND name = ?"
    return select_first(db, Conversation, which, (workflow, name))


def conversations_of(db: Database, workflow: int) -> list[Conversation]:
    """The conversations of a workflow, the oldest first."""
    return select(
        db, Conversation, "FROM conversations WHERE workflow = ? ORDER BY id", (workflow,)
    )


def set_settings(db: Database, conversation: int, settings: Mapping[str, int | str]) -> None:
    """Keep what a conversation was opened with."""
    written = to_json(dict(settings), "the settings")
    update(db, "conversations", {"id": conversation}, settings=written)


def names(db: Database, workflow: int) -> list[str]:
    """The names of a workflow's conversations, the oldest first."""
    rows = db.rows("SELECT name FROM conversations WHERE workflow = ? ORDER BY id", (workflow,))
    return [name for (name,) in rows]


def set_system_prompt(db: Database, conversation: int, text: str) -> None:
    """From now on this is the newest system prompt."""
    update(db, "conversations", {"id": conversation}, system_prompt=json.dumps(text))


def set_limits(db: Database, conversation: int, *, warned: int, quiet_until: int) -> None:
    """Remember what has been said, so that it is said once."""
    update(db, "conversations", {"id": conversation}, warned=warned, quiet_until=quiet_until)


def write_lock(db: Database, conversation: int) -> AbstractContextManager[None]:
    """All or nothing, and nobody else writes to the conversation meanwhile."""
    return db.transaction(f"foreword: conversation {conversation}")


def append(
    db: Database,
    conversation: int,
    messages: Sequence[tuple[Message, int, bool]],
    records: Sequence[str] = (),
    *,
    answer_to: AnswerTo | None = None,
) -> list[StoredMessage]:
    """Add messages, each with its tokens and whether it is pinned; they are there, all, when
    this returns. Records are theirs, where the caller has written them already.

    What the assistant says right after the newest call answers it, unless the caller says that its
    own call sent something else.
    """
    # before the lock, which others wait for
    written = records or [to_record(message) for message, _, _ in messages]
    with write_lock(db, conversation):
        created = stamp()
        last = db.rows(
            "SELECT seq, running, place, branch FROM messages WHERE conversation = ? ORDER BY seq"
            " DESC LIMIT 1",
            (conversation,),
        )
        seq, running, place, branch = last[0] if last else (0, 0, 0, 0)
        newest = seq
        if branch:
            extent = up_to(db, conversation)
            newest, running, place = extent.seq, extent.running, extent.place
        answers = _is_answer(db, conversation, newest, answer_to or AnswerTo())
        lines = list[StoredMessage]()
        for message, size, pinned in messages:
            tokens = size if message.is_history else 0
            answers = answers and message.role == "assistant"
            seq += 1
            running += tokens
            place += message.is_history
            line = StoredMessage(
                seq=seq,
                kind=message.kind,
                pinned=pinned,
                tokens=tokens,
                running=running,
                place=place,
                created=created,
                answers=answers,
                message=message,
            )
            lines.append(line)
        _insert(db, conversation, lines, written)
        prompt = _newest_prompt(lines)
        if prompt is not None:
            set_system_prompt(db, conversation, prompt)
        if seq // INDEX_BATCH > (seq - len(lines)) // INDEX_BATCH:
            from foreword.store import search_index  # not for those who append a few

            # an old store, with far more than that, is taken in by its first question
            search_index.add_messages(db, conversation, most=len(lines) + INDEX_BATCH)
    return lines


def _is_answer(db: Database, conversation: int, newest: int, answer_to: AnswerTo) -> bool:
    """Return whether what comes after the newest message answers the newest call."""
    rows = db.rows(
        "SELECT call, call_last, call_again, sent FROM conversations WHERE id = ?", (conversation,)
    )
    call, call_last, call_again, sent = rows[0] if rows else (0, 0, 0, "")
    is_own_call = answer_to.sent == sent or not (answer_to.sent or call_again)
    return call > 0 and is_own_call and newest in (call_last, answer_to.goes_on)


def _newest_prompt(lines: Sequence[StoredMessage]) -> str | None:
    """The newest system prompt among messages that came together: the last one with those right in
    front of it, since a request may have both `system` and `developer`."""
    texts = list[str]()
    for line in reversed(lines):
        if line.kind == "system_prompt":
            texts.append(line.message.text)
        elif texts:
            break
    return "\n\n".join(reversed(texts)) if texts else None


def _insert(
    db: Database, conversation: int, lines: Sequence[StoredMessage], records: Sequence[str]
) -> None:
    sql = f"INSERT INTO messages (conversation, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    rows = list[Row]()
    for line, record in zip(lines, records, strict=True):
        sizes = (line.tokens, line.running, line.place)
        row = (line.seq, line.kind, int(line.pinned), *sizes, line.created, int(line.answers))
        rows.append((conversation, *row, record))
    if len(rows) == 1:  # the usual case: one statement is quicker than a batch of one
        db.rows(sql, rows[0])
    else:
        db.many(sql, rows)


def import_marks(db: Database, conversation: int) -> set[str]:
    """The marks of all that was imported from transcripts."""
    marks = set[str]()
    for line in _select(db, "conversation = ? ORDER BY seq", (conversation,)):
        marks.update(line.message.marks)
    return marks


def after(
    db: Database, conversation: int, seq: int, limit: int = LARGEST_NUMBER
) -> list[StoredMessage]:
    """The history behind a message, the oldest first."""
    condition = f"conversation = ? AND seq > ? AND {HISTORY} ORDER BY seq LIMIT ?"
    return _select(db, condition, (conversation, seq, limit))


def before(db: Database, conversation: int, seq: int, limit: int) -> list[StoredMessage]:
    """The history in front of a message, as much as the limit says, the oldest first."""
    condition = f"conversation = ? AND seq < ? AND {HISTORY} ORDER BY seq DESC LIMIT ?"
    return _select(db, condition, (conversation, seq, limit))[::-1]


def between(db: Database, where: Range) -> list[StoredMessage]:
    """The history from one message to another, both included."""
    condition = (
        f"conversation = ? AND seq BETWEEN ? AND ? AND kind NOT IN ({_NOT_HISTORY_SQL})"
        " AND (branch = 0 OR branch > ?) ORDER BY seq"
    )
    return _select(db, condition, (where.conversation, where.first, where.last, where.branch))


def by_numbers(db: Database, conversation: int, numbers: Sequence[int]) -> list[StoredMessage]:
    """The messages of the history with these numbers, the oldest first."""
    lines = list[StoredMessage]()
    for first in range(0, len(numbers), MOST_NUMBERS):
        some = numbers[first : first + MOST_NUMBERS]
        places = ", ".join("?" * len(some))
        condition = f"conversation = ? AND seq IN ({places}) AND {HISTORY} ORDER BY seq"
        lines += _select(db, condition, (conversation, *some))
    return sorted(lines, key=lambda line: line.seq)


def pinned_messages(db: Database, conversation: int) -> list[StoredMessage]:
    """The messages that always stay, the oldest first."""
    condition = f"conversation = ? AND pinned = 1 AND {HISTORY} ORDER BY seq"
    return _select(db, condition, (conversation,))


def _select(db: Database, condition: str, values: Sequence[object]) -> list[StoredMessage]:
    return select(db, StoredMessage, f"FROM messages WHERE {condition}", values)


def set_pinned(db: Database, conversation: int, seq: int, *, pinned: bool) -> bool:
    """Pin a message, or take its pin back; whether there is such a message in the history."""
    with write_lock(db, conversation):
        if not between(db, Range(conversation, seq, seq)):
            return False
        place = {"conversation": conversation, "seq": seq}
        update(db, "messages", place, pinned=int(pinned))
        _note_change(db, conversation)
    return True


def up_to(db: Database, conversation: int, seq: int = LARGEST_NUMBER) -> Extent:
    """How far a conversation goes up to and with a message."""
    rows = db.rows(
        "SELECT seq, running, place FROM messages WHERE conversation = ? AND seq <= ? AND branch ="
        " 0 ORDER BY seq DESC LIMIT 1",
        (conversation, seq),
    )
    if not rows:
        return Extent()
    seq, running, place = map(int, rows[0])
    return Extent(seq, running, place)


def seq_at(db: Database, conversation: int, running: int) -> int:
    """The newest message up to which the history has at most so many tokens; 0 for none."""
    rows = db.rows(
        "SELECT seq FROM messages WHERE conversation = ? AND branch = 0 AND running <= ? ORDER BY"
        " seq DESC LIMIT 1",
        (conversation, running),
    )
    return int(rows[0][0]) if rows else 0


def recount(
    db: Database, conversation: int, counter: str, sizes: Iterable[tuple[int, int]]
) -> None:
    """Write sizes by another counter, (seq, tokens) for every message of the history.

    What somebody has appended since they were counted keeps its own; the sums are right even so.
    """
    counted = dict(sizes)
    with write_lock(db, conversation):
        rows = db.rows(
            "SELECT seq, tokens FROM messages WHERE conversation = ? AND branch = 0 ORDER BY seq",
            (conversation,),
        )
        running = 0
        values = list[tuple[int, int, int, int]]()
        for seq, old_tokens in rows:
            tokens = counted.get(seq, int(old_tokens))
            running += tokens
            values.append((tokens, running, conversation, seq))
        db.many(
            "UPDATE messages SET tokens = ?, running = ? WHERE conversation = ? AND seq = ?", values
        )
        update(db, "conversations", {"id": conversation}, counter=counter)


def take_back(db: Database, conversation: int, after: int) -> int:
    """Make everything after a message a branch of its own, and undo its summaries. Returns how
    many messages of history those are."""
    with write_lock(db, conversation):
        before = up_to(db, conversation)
        rest = up_to(db, conversation, after)
        ((branch,),) = db.rows(
            "SELECT COALESCE(MAX(branch), 0) + 1 FROM messages WHERE conversation = ?",
            (conversation,),
        )
        db.rows(
            "UPDATE messages SET branch = ? WHERE conversation = ? AND seq > ? AND branch = 0",
            (branch, conversation, after),
        )
        from foreword.store import search_index

        search_index.forget_messages(db, conversation, after=after)
        db.rows(
            "UPDATE compressions SET undone = 1 WHERE conversation = ? AND last > ? AND undone = 0",
            (conversation, after),
        )
        set_limits(db, conversation, warned=0, quiet_until=0)
        _note_change(db, conversation)
        request_cut(db, conversation, "the client edited its history", after=after)
    return before.place - rest.place


def _note_change(db: Database, conversation: int) -> None:
    """Have whoever follows the conversation read messages again that it has."""
    db.rows("UPDATE conversations SET revision = revision + 1 WHERE id = ?", (conversation,))


def handle_for(db: Database, conversation: Conversation, where: Range) -> str:
    """A handle for messages from one to another; what it stands for can't change, since messages
    never do. Those that are a branch by now are not in it, those that become one later are."""
    ((branch,),) = db.rows(
        "SELECT COALESCE(MAX(branch), 0) FROM messages WHERE conversation = ? AND seq <= ? AND"
        " branch > 0",
        (where.conversation, where.last),
    )
    name = (
        f"{conversation.created} {conversation.name} {conversation.id} {where.first}-{where.last}"
    )
    if branch:
        name += f" {branch}"
    handle = handle_of(name.encode("utf-8", "surrogatepass"))
    if not db.read_only and not db.rows("SELECT 1 FROM ranges WHERE handle = ?", (handle,)):
        db.rows(
            "INSERT INTO ranges VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (handle, where.conversation, where.first, where.last, branch),
        )
    return handle


def find_ranges(db: Database, handle: str, *, end: str) -> list[tuple[str, Range]]:
    """The ranges whose handles are from one on and in front of another, at most two."""
    rows = db.rows(
        "SELECT handle, conversation, first, last, branch FROM ranges WHERE handle >= ? AND handle"
        " < ? LIMIT 2",
        (handle, end),
    )
    return [(name, Range(*where)) for name, *where in rows]


def as_text(db: Database, where: Range) -> str:
    """Messages as a model reads them."""
    speakers = Speakers()
    turns = list[str]()
    for line in between(db, where):
        turns.append(turn_text(str(speakers.of(line.message)), line.message.text))
    return "\n".join(turns)


def workflow_of(db: Database, conversation: int) -> int:
    """The workflow that a conversation is of."""
    ((workflow,),) = db.rows("SELECT workflow FROM conversations WHERE id = ?", (conversation,))
    return int(workflow)
