"""How new everything is that the next call of a conversation is made from, by one statement.

Two stamps that are equal stand for the same, so whoever holds what was read at the first need not
read it again. What they are the stamps of is read by the modules named after it (`plans`,
`messages`, `compressions`, `cuts` ...).
"""

from __future__ import annotations

from typing import NamedTuple

from foreword.errors import StoreError
from foreword.store.database import RESTORE, Database, from_json

_OF_HISTORY = "FROM messages WHERE conversation = c.id AND branch = 0 ORDER BY seq DESC LIMIT 1"
_OF_COMPRESSION = (
    "FROM compressions WHERE conversation = c.id AND undone = 0 ORDER BY number DESC LIMIT 1"
)
_QUERY = (
    "SELECT w.revision, (SELECT COALESCE(MAX(version), 0) FROM plans WHERE workflow = w.id),"
    " (SELECT COALESCE(MAX(id), 0) FROM variable_changes WHERE workflow = w.id), c.system_prompt,"
    f" c.warned, c.quiet_until, COALESCE((SELECT number {_OF_COMPRESSION}), 0),"
    f" COALESCE((SELECT left_out {_OF_COMPRESSION}), 0), COALESCE((SELECT seq {_OF_HISTORY}), 0),"
    f" COALESCE((SELECT running {_OF_HISTORY}), 0), CASE WHEN c.cut_due = '[]' THEN c.call_tokens"
    " ELSE 0 END, c.call_running, c.sent, COALESCE((SELECT recipe FROM reports WHERE"
    " conversation = c.id AND usage IS NOT NULL ORDER BY id DESC LIMIT 1), '') FROM conversations c"
    " JOIN workflows w ON w.id = c.workflow WHERE c.id = ?"
)


class SessionStamps(NamedTuple):
    """How new the parts of a conversation and of its workflow are; short values are there whole."""

    snapshot: int  # moves with the nodes and with what is kept about the workflow
    plan: int  # its newest version
    variables: int  # the newest change of one
    system_prompt: str
    warned: int
    quiet_until: int
    compression: int  # the number of the one that stands; 0 for none
    left_out: int  # tokens of all that was said that are not in the history
    last_message: int
    running: int  # tokens of all that was said
    call_tokens: int  # of the newest call; 0 where the next one begins with a cut
    call_running: int  # tokens of all that was said up to its newest message
    sent: str  # what tells it from other calls
    last_recipe: str  # of the newest call; "" for none

    @property
    def has_state(self) -> bool:
        """Whether there ever was a plan, a variable, a node or something about the workflow."""
        return bool(self.plan or self.variables or self.snapshot)

    @property
    def history_tokens(self) -> int:
        """What the history would take with nothing left out: the summary in place of what it stands
        for, and all the rest."""
        return self.running - self.left_out


def read_stamps(db: Database, conversation: int) -> SessionStamps:
    """Return the stamps of now."""
    rows = db.rows(_QUERY, (conversation,))
    if not rows:
        raise StoreError(f"conversation {conversation} is not in {db.name} any more", hint=RESTORE)
    snapshot, plan, variables, prompt, *others = rows[0]
    return SessionStamps(snapshot, plan, variables, from_json(prompt), *others)
