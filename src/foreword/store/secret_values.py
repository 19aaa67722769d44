"""The secrets that a workflow holds: in its variables and in the configuration of its nodes."""

from __future__ import annotations

from foreword.secrets.known_values import KnownValues
from foreword.store import variables, workflows
from foreword.store.database import Database


def secrets_of(db: Database, workflow: int) -> KnownValues:
    """What hides every secret that the workflow holds now."""
    nodes = workflows.nodes(db, workflow)
    secrets = KnownValues()
    values: list[object] = [variables.all_variables(db, workflow)]
    values += [node.get("config") for node in nodes]
    secrets.learn(values)  # all at once: each time, a pattern is compiled
    return secrets
