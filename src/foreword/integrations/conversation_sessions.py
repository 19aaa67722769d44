"""What every integration needs: sessions by the name of a conversation, and a context that fits.

Frameworks call from any thread: those that share a session take turns. Options are those of
`foreword.Session.open`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any

from foreword.engine.package import Package
from foreword.session.session import Session

MAIN = "main"


class Conversations:
    """The sessions of one integration, each opened when it is first needed."""

    def __init__(self, session: Session | None = None, **options: Any) -> None:
        self._options = options
        self._sessions: dict[str, Session] = {}
        self._lock = Lock()
        if session is not None:
            self._sessions[MAIN] = session

    def session(self, conversation: str = MAIN) -> Session:
        """The session of that conversation."""
        with self._lock:
            if conversation not in self._sessions:
                opened = Session.open(conversation=conversation, **self._options)
                self._sessions[conversation] = opened
            return self._sessions[conversation]

    def fit(
        self,
        messages: Iterable[object],
        *,
        conversation: str = MAIN,
        system: object = None,
        tools: Sequence[object] = (),
    ) -> Package:
        """The next call of a client that holds this history: what is new is kept, and as much is
        in it as fits."""
        session = self.session(conversation)
        with session.turn:
            session.sync(messages, system=system)
            return session.context(tools=tools)

    def record_usage(self, answers: Iterable[object], conversation: str = MAIN) -> None:
        """Count what answers cost, where they say so."""
        session = self.session(conversation)
        for answer in answers:
            session.record_usage(answer)

    def with_session(self, act: Callable[[Session], Any], conversation: str) -> Any:
        """Do something with a session while nobody else does."""
        session = self.session(conversation)
        with session.turn:
            return act(session)

    def recall(
        self, conversation: str = MAIN, *, handle: str = "", offset: int = 0, question: str = ""
    ) -> str:
        """What the recall tool of that conversation answers."""
        session = self.session(conversation)
        with session.turn:
            return session.recall_tool().handler(handle=handle, offset=offset, question=question)

    def close(self) -> None:
        """Close every session, each once its turn is over; one that is needed meanwhile is opened
        anew."""
        with self._lock:
            sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            session.close()


def definition(name: object, description: object, schema: object) -> dict[str, Any]:
    """A tool's definition as it is counted: what a provider gets of it."""
    try:
        json.dumps(schema)
    except (TypeError, ValueError):
        schema = str(schema)
    return {"name": str(name), "description": str(description or ""), "parameters": schema}
