"""Every operation by its name: the one table that the faces are made from."""

from __future__ import annotations

from foreword.operations import (
    checkpoints,
    contexts,
    conversations,
    nodes,
    plans,
    recipes,
    reports,
    sessions,
    variables,
)
from foreword.operations.operation import AnyOperation

OPERATIONS: dict[str, AnyOperation] = {
    operation.name: operation
    for operation in (
        *plans.OPERATIONS,
        *variables.OPERATIONS,
        *contexts.OPERATIONS,
        *conversations.OPERATIONS,
        *sessions.OPERATIONS,
        *nodes.OPERATIONS,
        *checkpoints.OPERATIONS,
        *reports.OPERATIONS,
        *recipes.OPERATIONS,
    )
}
