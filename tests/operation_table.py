"""Every operation by its name: what the behaviour suite asks of each face."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import foreword.operations as operations
from foreword.operations.operation import AnyOperation, Operation

OPERATIONS: dict[str, AnyOperation] = {}
for _found in pkgutil.iter_modules(operations.__path__, prefix=f"{operations.__name__}."):
    for _member in vars(import_module(_found.name)).values():
        if isinstance(_member, Operation):
            OPERATIONS[_member.name] = _member
