"""Workflows, their nodes, and their conversations: who owns what else is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foreword.errors import UnknownName
from foreword.store.database import Database, Row, dumped, loaded, mapping, plain, stamp

NODE_ORDER = "position, node"
_CURRENT = (
    "k.conversation = c.id"
    " AND k.number = (SELECT MAX(number) FROM compressions WHERE conversation = c.id AND undone = 0)"
)


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow."""

    id: int
    name: str
    created: str
    updated: str
    details: dict[str, Any]  # whatever else its owner keeps about it


@dataclass(frozen=True, slots=True)
class Stamps:
    """How new the parts of a workflow's state are."""

    snapshot: int
    plan: int
    variables: int


@dataclass(frozen=True, slots=True)
class Listed:
    """One workflow in a list of them."""

    name: str
    created: str
    messages: int
    tokens: int  # of all that was said
    now_tokens: int  # with the summaries in place of what they stand for
    plan_version: int
    variables: int


def ensure(db: Database, name: str) -> Workflow:
    """The workflow of that name, made where there is none."""
    found = find(db, name)
    if found is None:
        now = stamp()
        db.rows(
            "INSERT INTO workflows (name, created, updated, revision, written) VALUES (?, ?, ?, 0, ?)"
            " ON CONFLICT DO NOTHING",
            (name, now, now, "{}"),
        )
        found = existing(db, name)
    return found


def existing(db: Database, name: str) -> Workflow:
    """The workflow of that name, or an error that names those there are."""
    found = find(db, name)
    if found is None:
        raise UnknownName("workflow", name, names(db), where=f"in {db.name}")
    return found


def find(db: Database, name: str) -> Workflow | None:
    """The workflow of that name, if there is one."""
    rows = db.rows("SELECT id, name, created, updated, written FROM workflows WHERE name = ?", (name,))
    return _workflow(db, rows[0]) if rows else None


def names(db: Database) -> list[str]:
    """The names of all workflows, in order."""
    return [name for (name,) in db.rows("SELECT name FROM workflows ORDER BY name")]


def listed(db: Database) -> list[Listed]:
    """All workflows with the size of what they hold, the newest last."""
    rows = db.rows(
        "SELECT w.name, w.created,"
        " (SELECT COUNT(*) FROM messages m JOIN conversations c ON c.id = m.conversation WHERE c.workflow = w.id),"
        " (SELECT COALESCE(SUM(m.tokens), 0) FROM messages m JOIN conversations c ON c.id = m.conversation"
        "  WHERE c.workflow = w.id),"
        " (SELECT COALESCE(SUM(m.tokens), 0) FROM messages m JOIN conversations c ON c.id = m.conversation"
        f"  LEFT JOIN compressions k ON {_CURRENT}"
        "  WHERE c.workflow = w.id AND (k.last IS NULL OR m.seq > k.last OR m.pinned = 1 OR m.place = 1))"
        f" + (SELECT COALESCE(SUM(k.tokens_after), 0) FROM conversations c JOIN compressions k ON {_CURRENT}"
        "  WHERE c.workflow = w.id),"
        " (SELECT COALESCE(MAX(version), 0) FROM plans p WHERE p.workflow = w.id),"
        " (SELECT COUNT(*) FROM variables v WHERE v.workflow = w.id)"
        " FROM workflows w ORDER BY w.id"
    )
    return [Listed(str(name), str(created), *map(int, sizes)) for name, created, *sizes in rows]


def stamps(db: Database, workflow: int) -> Stamps:
    """How new each part of a workflow's state is: two stamps that are equal stand for the same."""
    ((revision, plan, variables),) = db.rows(
        "SELECT w.revision, (SELECT COALESCE(MAX(version), 0) FROM plans WHERE workflow = w.id),"
        " (SELECT COALESCE(MAX(id), 0) FROM variable_changes WHERE workflow = w.id) FROM workflows w WHERE w.id = ?",
        (workflow,),
    )
    return Stamps(revision, plan, variables)


def describe(db: Database, workflow: int, details: Mapping[str, Any]) -> None:
    """Replace what its owner keeps about a workflow."""
    written = dumped(details, "the workflow's details")
    with db.transaction(f"foreword: nodes {workflow}"):
        db.rows("UPDATE workflows SET written = ? WHERE id = ?", (written, workflow))
        _touch(db, workflow)


def put_node(db: Database, workflow: int, node: Mapping[str, Any]) -> None:
    """Add a node, or replace the one with its id."""
    values = (workflow, plain(node["id"]), node["position"], stamp(), dumped(node, f"node {node['id']!r}"))
    with db.transaction(f"foreword: nodes {workflow}"):
        db.rows(
            "INSERT INTO nodes (workflow, node, position, updated, written) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (workflow, node) DO UPDATE"
            " SET position = excluded.position, updated = excluded.updated, written = excluded.written",
            values,
        )
        _touch(db, workflow)


def drop_node(db: Database, workflow: int, node: str) -> bool:
    """Remove a node; says whether there was one."""
    with db.transaction(f"foreword: nodes {workflow}"):
        gone = db.rows("DELETE FROM nodes WHERE workflow = ? AND node = ? RETURNING node", (workflow, plain(node)))
        if gone:
            _touch(db, workflow)
    return bool(gone)


def nodes(db: Database, workflow: int) -> Sequence[dict[str, Any]]:
    """The nodes of a workflow, in their order."""
    rows = db.rows(f"SELECT node, written FROM nodes WHERE workflow = ? ORDER BY {NODE_ORDER}", (workflow,))
    return [loaded(written, f"node {node!r} in {db.name}", mapping(id=str)) for node, written in rows]


def _touch(db: Database, workflow: int) -> None:
    db.rows("UPDATE workflows SET updated = ?, revision = revision + 1 WHERE id = ?", (stamp(), workflow))


def _workflow(db: Database, row: Row) -> Workflow:
    number, name, created, updated, written = row
    details = loaded(written, f"workflow {name!r} in {db.name}", mapping())
    return Workflow(number, name, created, updated, details)
