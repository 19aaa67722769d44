"""Plans: every update is a new version, and no version is ever lost, given twice, or changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from foreword.errors import PlanConflict
from foreword.store.database import (
    LARGEST_NUMBER,
    Column,
    Database,
    from_json,
    insert,
    select,
    select_first,
    stamp,
    storable_text,
    to_json,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """One version of a plan."""

    version: int
    reason: str
    created: str
    data: Annotated[dict[str, Any], Column("written", from_json, partial(to_json, what="the plan"))]


def add(
    db: Database,
    workflow: int,
    data: Mapping[str, Any],
    *,
    reason: str,
    expected: int | None = None,
) -> Plan:
    """A new version; where the newest is not the `expected` one, a conflict that carries the
    newest."""
    reason = storable_text(reason)
    with db.transaction(f"foreword: plan {workflow}"):
        newest = current(db, workflow)
        version = newest.version if newest else 0
        if expected is not None and expected != version:
            raise PlanConflict(expected, version, newest.data if newest else None)
        created = stamp()
        first_created = newest.data.get("created_at", created) if newest else created
        stamped = _with_stamps(data, version=version + 1, created=first_created, updated=created)
        plan = Plan(version + 1, reason, created, stamped)
        insert(db, "plans", plan, workflow=workflow)
    return plan


def current(db: Database, workflow: int) -> Plan | None:
    """The newest version, if there is any."""
    which = "FROM plans WHERE workflow = ? ORDER BY version DESC"
    return select_first(db, Plan, which, (workflow,))


def get(db: Database, workflow: int, version: int) -> Plan | None:
    """One version, if there is one of that number."""
    if abs(version) > LARGEST_NUMBER:
        return None
    which = "FROM plans WHERE workflow = ? AND version = ?"
    return select_first(db, Plan, which, (workflow, version))


def history(db: Database, workflow: int) -> list[Plan]:
    """Every version, the oldest first."""
    return select(db, Plan, "FROM plans WHERE workflow = ? ORDER BY version", (workflow,))


def newest_version(db: Database, workflow: int) -> int:
    """The number of the newest version; 0 where there is none."""
    ((version,),) = db.rows(
        "SELECT COALESCE(MAX(version), 0) FROM plans WHERE workflow = ?", (workflow,)
    )
    return int(version)


def _with_stamps(
    data: Mapping[str, Any], *, version: int, created: str, updated: str
) -> dict[str, Any]:
    """The plan with what the store knows about it, in the place where a reader looks for it: at
    its beginning, behind the workflow's id."""
    stamped: dict[str, Any] = {}
    if "workflow_id" in data:
        stamped["workflow_id"] = data["workflow_id"]
    stamped |= {"plan_version": version, "created_at": created, "updated_at": updated}
    for name, value in data.items():
        stamped.setdefault(name, value)
    return stamped
