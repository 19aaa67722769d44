"""How new everything is that the next call of a conversation is made from, by one statement.

Two stamps that are equal stand for the same, so whoever holds what was read at the first need not
read it again. What they are the stamps of is read by the modules named after it (`plans`,
`messages`, `compressions` ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from foreword.errors import StoreError
from foreword.store.compressions import Cut, read_sizes
from foreword.store.database import RESTORE, Database, from_json

_QUERY = (
    "SELECT w.revision, (SELECT COALESCE(MAX(version), 0) FROM plans WHERE workflow = w.id),"
    " (SELECT COALESCE(MAX(id), 0) FROM variable_changes WHERE workflow = w.id), c.system_prompt,"
    " c.warned, c.quiet_until, c.revision, (SELECT COALESCE(MAX(number), 0) FROM compressions WHERE"
    " conversation = c.id AND undone = 0), (SELECT COALESCE(MAX(seq), 0) FROM messages WHERE"
    " conversation = c.id), (SELECT COALESCE(MAX(id), 0) FROM reports WHERE conversation = c.id AND"
    " budget_tokens = ? AND usage IS NOT NULL), (SELECT COALESCE(MAX(id), 0) FROM reports WHERE"
    " conversation = c.id AND usage IS NOT NULL), COALESCE((SELECT recipe FROM reports WHERE"
    " conversation = c.id AND usage IS NOT NULL ORDER BY id DESC LIMIT 1), ''),"
    " COALESCE(k.start, 0), COALESCE(k.excerpts, '{}') FROM conversations c JOIN workflows w ON"
    " w.id = c.workflow LEFT JOIN cuts k ON k.conversation = c.id AND k.budget = ? WHERE c.id = ?"
)


# A tuple: each message that is appended moves one of them, and to copy a value with eleven fields
# takes seven times as long.
class SessionStamps(NamedTuple):
    """How new the parts of a conversation and of its workflow are; short values are there whole."""

    snapshot: int  # moves with the nodes and with what is kept about the workflow
    plan: int  # its newest version
    variables: int  # the newest change of one
    system_prompt: str
    warned: int
    quiet_until: int
    revision: int  # moves when messages that were there become a branch, or change their pins
    compression: int  # the number of the one that stands; 0 for none
    last_message: int
    last_call: int  # the report of the newest call under a budget; 0 for none
    newest_call: int  # under any budget
    last_recipe: str  # of the newest call under any budget; "" for none
    cut: Cut  # where the window of that budget begins

    @property
    def has_state(self) -> bool:
        """Whether there ever was a plan, a variable, a node or something about the workflow."""
        return bool(self.plan or self.variables or self.snapshot)


@dataclass(slots=True, kw_only=True)
class _StampMemory:
    """Stamps, what they were asked for, and how much had been written when they held."""

    stamps: SessionStamps
    budget_tokens: int
    own_writes: int
    others_writes: int


class StampReader:
    """Reads the stamps of one conversation: again only where somebody has written since, whatever
    it was."""

    def __init__(self, db: Database, conversation: int) -> None:
        self._db = db
        self._conversation = conversation
        self._last: _StampMemory | None = None

    def read(self, budget_tokens: int) -> SessionStamps:
        """The stamps of now, as of `read`."""
        own_writes = self._db.own_writes()
        if own_writes is None:
            return read(self._db, self._conversation, budget_tokens)
        # before the stamps: what others write in between is then found the next time
        others_writes = self._db.others_writes()
        last = self._last
        if (
            last is None
            or last.budget_tokens != budget_tokens
            or last.own_writes != own_writes
            or last.others_writes != others_writes
        ):
            last = self._last = _StampMemory(
                stamps=read(self._db, self._conversation, budget_tokens),
                budget_tokens=budget_tokens,
                own_writes=own_writes,
                others_writes=others_writes,
            )
        return last.stamps

    def is_current(self) -> bool:
        """Whether this connection has written nothing since the stamps were read."""
        return self._last is not None and self._last.own_writes == self._db.own_writes()

    def note_own_write(self, **stamps: Any) -> None:
        """These stamps were moved by what this connection has just written, and no others were;
        it `is_current` before that. What others wrote meanwhile is found when it is read."""
        own_writes = self._db.own_writes()
        if self._last is None or own_writes is None:
            return
        self._last.stamps = self._last.stamps._replace(**stamps)
        self._last.own_writes = own_writes

    def forget(self) -> None:
        """Read them anew the next time."""
        self._last = None


def read(db: Database, conversation: int, budget_tokens: int) -> SessionStamps:
    """The stamps of now; the last call and the cut are those of that budget."""
    rows = db.rows(_QUERY, (budget_tokens, str(budget_tokens), conversation))
    if not rows:
        raise StoreError(f"conversation {conversation} is not in {db.name} any more", hint=RESTORE)
    snapshot, plan, variables, prompt, *others, start, excerpts = rows[0]
    cut = Cut(start, read_sizes(excerpts))
    return SessionStamps._make((snapshot, plan, variables, from_json(prompt), *others, cut))
