"""The conversations of a workflow: which there are, their messages page by page, what calls cost.

For reading. Messages are appended, and the next call is made, by `session.session`. What a message
holds is given as it is kept: a face that shows it hides its secrets (`session.secrets()`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from foreword.errors import UnknownName
from foreword.secrets.known_values import KnownValues
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState
from foreword.store import messages, reports, workflows
from foreword.store.compressions import Compression as Compression
from foreword.store.database import Database, storable_text
from foreword.store.messages import Range
from foreword.store.messages import StoredMessage as StoredMessage

MAIN = "main"  # the conversation of a workflow where none is named


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Some messages, the oldest first, and the number in front of which the page before ends."""

    messages: list[StoredMessage]
    next: int | None


def names(state: WorkflowState) -> list[str]:
    """The names of a workflow's conversations, the oldest first."""
    return messages.names(state.db, state.workflow.id)


def check_exists(state: WorkflowState, conversation: str) -> None:
    """An error where the workflow has no such conversation."""
    known = names(state)
    if conversation not in known:
        where = f"of {state.workflow.name!r}"
        raise UnknownName("conversation", conversation, known, where=where)


def is_begun(db: Database, workflow: str) -> bool:
    """Whether the workflow of that name is there and has its main conversation."""
    owner = workflows.find(db, storable_text(workflow))
    return owner is not None and messages.find(db, owner.id, MAIN) is not None


def messages_before(session: Session, before: int, limit: int) -> list[StoredMessage]:
    """The history in front of a message, as much as the limit says, the oldest first."""
    return messages.before(session.db, session.conversation.id, before, limit)


def message_page(session: Session, before: int, limit: int) -> MessagePage:
    """The same with where the page before it ends."""
    found = messages_before(session, before, limit + 1)
    page = found[-limit:]
    is_first = len(found) == len(page)
    return MessagePage(page, None if is_first else page[0].seq)


def existing_message(session: Session, seq: int) -> StoredMessage:
    """The message of that number; an error where the history has none."""
    found = messages.between(session.db, Range(session.conversation.id, seq, seq))
    if not found:
        where = f"of {session.workflow.name!r}"
        raise UnknownName("message", str(seq), (), where=where)
    return found[0]


def message_count(session: Session) -> int:
    """How many messages were ever appended."""
    return messages.up_to(session.db, session.conversation.id).seq


def history_tokens(session: Session) -> int:
    """The tokens of all that was said, whatever was summed up since."""
    return messages.up_to(session.db, session.conversation.id).running


def imported_marks(session: Session) -> set[str]:
    """The marks of all that was imported from transcripts."""
    return messages.import_marks(session.db, session.conversation.id)


def calls(session: Session, limit: int) -> list[dict[str, Any]]:
    """The newest entries of the usage log, the newest first."""
    return reports.usage_log(session.db, session.conversation.id, limit)


def newest_compression(compressions: list[Compression]) -> Compression | None:
    """Of compressions from the oldest to the newest the last that was not undone."""
    for compression in reversed(compressions):
        if not compression.undone:
            return compression
    return None


def hide_secrets(compression: Compression, secrets: KnownValues) -> Compression:
    """The compression with the known secrets hidden in its summary."""
    return replace(compression, summary=secrets.known(compression.summary))
