"""Threads that share an object take turns: every public method of its class holds one lock.

Integrations record usage in a thread of the framework's own while the user's thread reads it; a
connection of SQLite and what a session has in memory are for one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isfunction
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])


def take_turns(cls: Class) -> Class:
    """The class, its public methods and properties guarded by `turn`, a lock that each object
    has."""
    for name, member in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if isfunction(member):
            setattr(cls, name, _guarded(member))
        elif isinstance(member, property) and member.fget:
            setter = _guarded(member.fset) if member.fset else None
            setattr(cls, name, property(_guarded(member.fget), setter, doc=member.__doc__))
    return cls


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def guarded(self: Any, *args: Any, **options: Any) -> Any:
        with self.turn:
            return method(self, *args, **options)

    return guarded
