"""Every operation by its name: what the behaviour suite asks of each face."""

from __future__ import annotations

from foreword.operations import (
    checkpoint_operations,
    context_operations,
    conversation_operations,
    node_operations,
    plan_operations,
    recipe_operations,
    report_operations,
    session_operations,
    variable_operations,
)
from foreword.operations.operation import AnyOperation

OPERATIONS: dict[str, AnyOperation] = {
    operation.name: operation
    for operation in (
        *plan_operations.OPERATIONS,
        *variable_operations.OPERATIONS,
        *context_operations.OPERATIONS,
        *conversation_operations.OPERATIONS,
        *session_operations.OPERATIONS,
        *node_operations.OPERATIONS,
        *checkpoint_operations.OPERATIONS,
        *report_operations.OPERATIONS,
        *recipe_operations.OPERATIONS,
    )
}
