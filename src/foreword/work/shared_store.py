"""One connection to a store that the threads of a process use in turn.

For those who need it often and shortly: the steps of a flow, and what its agents look up. Opening a
store costs more than what most of them do with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock

from foreword.store.database import Database


class ShuttingDown(BaseException):
    """This process is going; what it was doing stays unfinished, for whoever comes next."""


class SharedStore:
    """A store that is opened when somebody first uses it."""

    def __init__(self, open_store: Callable[[], Database]) -> None:
        self._open_store = open_store
        self._db: Database | None = None
        self._is_closed = False
        self._turn = RLock()

    @contextmanager
    def use(self) -> Iterator[Database]:
        """The store, for the length of a `with` block; nobody else has it meanwhile."""
        with self._turn:
            if self._is_closed:
                raise ShuttingDown
            if self._db is None:
                self._db = self._open_store()
            yield self._db

    def close(self) -> None:
        """Close it, once whoever uses it now is done."""
        with self._turn:
            self._is_closed = True
            if self._db is not None:
                self._db.close()
