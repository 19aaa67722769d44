"""Every operation by its name: what it is for, takes, gives, and whether it reads or writes.

Faces import the operations they offer from the modules of their nouns, so that a start loads no
others; the behaviour suite walks this table and asks each of them in every face.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from foreword import operations
from foreword.operations.operation import AnyOperation, Operation


def _all_operations() -> dict[str, AnyOperation]:
    """The operations of every module of this room."""
    found: dict[str, AnyOperation] = {}
    for module in iter_modules(operations.__path__, prefix=f"{operations.__name__}."):
        for member in vars(import_module(module.name)).values():
            if isinstance(member, Operation):
                found[member.name] = member
    return found


OPERATIONS = _all_operations()
