"""The originals of what contexts left out: whole by a handle, or a stretch of messages in pages.

What an agent is answered within a budget is `fitted_values`' business.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from foreword.errors import UnknownHandle
from foreword.session.session import Session
from foreword.store import messages, originals, urls
from foreword.store.messages import Range


@dataclass(frozen=True, slots=True)
class MessageStretch:
    """An original that is a stretch of a conversation's messages, too long to be read at once."""

    whole: Range

    def pages(self, size: int) -> int:
        """How many pages of so many messages there are, at least one."""
        return max(1, -(-(self.whole.last - self.whole.first + 1) // size))

    def text(self, session: Session, page: int, size: int) -> str:
        """One page, from 1 on, as a model reads it; secrets are hidden."""
        first = self.whole.first + (page - 1) * size
        last = min(first + size - 1, self.whole.last)
        text = messages.as_text(session.db, replace(self.whole, first=first, last=last))
        return session.secrets().hide_known_values(text)


def find_original(session: Session, handle: str) -> bytes | MessageStretch | None:
    """What is kept under a handle or the beginning of one; nothing where nothing is, an error
    where several are."""
    found = originals.find(session.db, handle) if handle.startswith(originals.PREFIX) else []
    exact = [(name, packed) for name, packed in found if name == handle]
    found = exact or found
    if len(found) > 1:
        raise UnknownHandle(handle, session.db.name, matches=len(found))
    if not found:
        return None
    name, packed = found[0]
    if isinstance(packed, Range):
        return MessageStretch(packed)
    return originals.read(session.db, name, packed)


def recall(handle: str, root: Path, url: str | None = None) -> bytes:
    """The original under a handle, from the project's store or any other this user has."""
    return urls.recall(handle, root, url)
