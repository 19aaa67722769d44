"""Workflows, their nodes, and their conversations: who owns what else is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from foreword.errors import UnknownName
from foreword.store.database import (
    Column,
    Database,
    Row,
    column_list,
    from_json,
    record_of,
    stamp,
    storable_text,
    to_json,
)

# The tables whose rows make a workflow worth keeping, besides the messages of its conversations.
_HOLDERS = (
    "nodes",
    "plans",
    "variables",
    "variable_changes",
    "checkpoints",
    "node_runs",
    "node_results",
    "node_steps",
)
NODE_ORDER = "position, node"
_CURRENT = (
    "k.conversation = c.id AND k.number = (SELECT MAX(number) FROM compressions WHERE conversation"
    " = c.id AND undone = 0)"
)

# Of a workflow: the conversation that is opened where none is named.
_FIRST = (
    "f.id = (SELECT g.id FROM conversations g WHERE g.workflow = w.id ORDER BY g.name <> 'main',"
    " g.id LIMIT 1)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """One workflow."""

    id: int
    name: str
    created: str
    updated: str
    # whatever else its owner keeps about it
    details: Annotated[dict[str, Any], Column("written", from_json)]


@dataclass(frozen=True, slots=True)
class Stamps:
    """How new the nodes and details of a workflow are, and its variables."""

    snapshot: int
    variables: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowEntry:
    """One workflow in a list of them."""

    name: str
    created: str
    messages: int
    tokens: int  # of all that was said
    now_tokens: int  # with the summaries in place of what they stand for
    history_tokens: int  # the same of `main` alone, or of the first conversation
    settings: dict[str, int | str]  # what that conversation was opened with: budget, window, ...
    plan_version: int
    variables: int
    compressions: int  # that stand
    warned: bool  # whether a conversation is past the size for a warning
    changed: str  # when its messages, plan, variables or nodes were last written


def ensure(db: Database, name: str) -> Workflow:
    """The workflow of that name, made where there is none."""
    found = find(db, name)
    if found is None:
        now = stamp()
        db.rows(
            "INSERT INTO workflows (name, created, updated, revision, written) VALUES (?, ?, ?, 0,"
            " ?) ON CONFLICT DO NOTHING",
            (name, now, now, "{}"),
        )
        found = find_workflow(db, name)
    return found


def drop_empty(db: Database, workflow: int) -> None:
    """Forget a workflow that was only just made and holds nothing."""
    of_conversation = "t JOIN conversations c ON c.id = t.conversation WHERE c.workflow = ?"
    queries = [f"SELECT 1 FROM {table} WHERE workflow = ?" for table in _HOLDERS]
    queries.append(f"SELECT 1 FROM messages {of_conversation}")
    queries.append(f"SELECT 1 FROM append_keys {of_conversation}")
    any_row = " UNION ALL ".join(queries) + " LIMIT 1"
    with db.transaction(f"foreword: workflow {workflow}"):
        if not db.rows(any_row, [workflow] * len(queries)):
            db.rows("DELETE FROM conversations WHERE workflow = ?", (workflow,))
            db.rows("DELETE FROM workflows WHERE id = ?", (workflow,))


def find_workflow(db: Database, name: str) -> Workflow:
    """The workflow of that name, or an error that names those there are."""
    found = find(db, name)
    if found is None:
        raise UnknownName(
            "workflow",
            name,
            names(db),
            where=f"in {db.name}",
            hint_if_none="there is none yet; `foreword session new NAME` makes one",
        )
    return found


def find(db: Database, name: str) -> Workflow | None:
    """The workflow of that name, if there is one."""
    rows = db.rows(f"SELECT {column_list(Workflow)} FROM workflows WHERE name = ?", (name,))
    return record_of(Workflow, rows[0]) if rows else None


def names(db: Database) -> list[str]:
    """The names of all workflows, in order."""
    return [name for (name,) in db.rows("SELECT name FROM workflows ORDER BY name")]


def conversation_names(db: Database, name: str) -> list[str]:
    """The names of the conversations of the workflow of that name, the oldest first."""
    rows = db.rows(
        "SELECT c.name FROM conversations c JOIN workflows w ON w.id = c.workflow WHERE w.name = ?"
        " ORDER BY c.id",
        (name,),
    )
    return [conversation for (conversation,) in rows]


def list_workflows(db: Database) -> list[WorkflowEntry]:
    """All workflows with the size of what they hold, the newest last; no message is read but the
    ends of stretches."""
    rows = db.rows(
        "SELECT w.name, w.created, COALESCE(SUM(m.seq), 0), COALESCE(SUM(m.running), 0),"
        " COALESCE(SUM(m.running - COALESCE(k.left_out, 0)), 0),"
        " COALESCE(SUM(CASE WHEN c.id = f.id THEN m.running - COALESCE(k.left_out, 0) END), 0),"
        " COALESCE(f.settings, '{}'),"
        " (SELECT COALESCE(MAX(version), 0) FROM plans p WHERE p.workflow = w.id), (SELECT"
        " COUNT(*) FROM variables v WHERE v.workflow = w.id), (SELECT COUNT(*) FROM compressions d"
        " JOIN conversations o ON o.id = d.conversation  WHERE o.workflow = w.id AND d.undone ="
        " 0), COALESCE(MAX(c.warned), 0), w.updated, MAX(m.created), MAX(k.created),"
        " COALESCE((SELECT p.created FROM plans p WHERE p.workflow = w.id ORDER BY p.version DESC"
        " LIMIT 1), ''), COALESCE((SELECT h.created FROM variable_changes h WHERE h.workflow ="
        " w.id ORDER BY h.id DESC LIMIT 1), '') FROM workflows w LEFT JOIN conversations c ON"
        " c.workflow = w.id LEFT JOIN messages m ON m.conversation = c.id  AND m.seq = (SELECT"
        " MAX(seq) FROM messages WHERE conversation = c.id AND branch = 0) LEFT JOIN compressions"
        f" k ON {_CURRENT} LEFT JOIN conversations f ON {_FIRST}"
        " GROUP BY w.id, w.name, w.created, w.updated, f.settings ORDER BY w.id"
    )
    return [_workflow_entry(row) for row in rows]


def _workflow_entry(row: Row) -> WorkflowEntry:
    name, created, messages, tokens, now, history, settings, *rest = row
    plan, variables, compressions, warned, *times = rest
    return WorkflowEntry(
        name=name,
        created=created,
        messages=int(messages),  # PostgreSQL adds decimals
        tokens=int(tokens),
        now_tokens=int(now),
        history_tokens=int(history),
        settings=from_json(settings),
        plan_version=plan,
        variables=variables,
        compressions=compressions,
        warned=bool(warned),
        changed=max(time for time in times if time),
    )


def stamps(db: Database, workflow: int) -> Stamps:
    """How new a workflow's nodes and variables are: two stamps that are equal stand for the
    same."""
    ((revision, variables),) = db.rows(
        "SELECT w.revision, (SELECT COALESCE(MAX(id), 0) FROM variable_changes WHERE workflow ="
        " w.id) FROM workflows w WHERE w.id = ?",
        (workflow,),
    )
    return Stamps(snapshot=revision, variables=variables)


def describe(db: Database, workflow: int, details: Mapping[str, Any]) -> None:
    """Replace what its owner keeps about a workflow."""
    written = to_json(details, "the workflow's details")
    with db.transaction(f"foreword: nodes {workflow}"):
        db.rows("UPDATE workflows SET written = ? WHERE id = ?", (written, workflow))
        _touch(db, workflow)


def put_node(db: Database, workflow: int, node: Mapping[str, Any]) -> None:
    """Add a node, or replace the one with its id."""
    written = to_json(node, f"node {node['id']!r}")
    with db.transaction(f"foreword: nodes {workflow}"):
        db.rows(
            "INSERT INTO nodes (workflow, node, position, updated, written) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (workflow, node) DO UPDATE SET position = excluded.position, updated ="
            " excluded.updated, written = excluded.written",
            (workflow, storable_text(node["id"]), node["position"], stamp(), written),
        )
        _touch(db, workflow)


def drop_node(db: Database, workflow: int, node: str) -> bool:
    """Remove a node; says whether there was one."""
    with db.transaction(f"foreword: nodes {workflow}"):
        deleted = db.rows(
            "DELETE FROM nodes WHERE workflow = ? AND node = ? RETURNING node",
            (workflow, storable_text(node)),
        )
        if deleted:
            _touch(db, workflow)
    return bool(deleted)


def nodes(db: Database, workflow: int) -> Sequence[dict[str, Any]]:
    """The nodes of a workflow, in their order."""
    return [from_json(written) for _, written in written_nodes(db, workflow)]


def written_nodes(db: Database, workflow: int) -> list[tuple[str, str]]:
    """The nodes of a workflow as they are kept, each with its id, in their order."""
    rows = db.rows(
        f"SELECT node, written FROM nodes WHERE workflow = ? ORDER BY {NODE_ORDER}", (workflow,)
    )
    return [(node, written) for node, written in rows]


def find_with_nodes(db: Database, name: str) -> tuple[Workflow, list[tuple[str, str]]]:
    """The workflow of that name and its nodes as they are kept, by one statement: each turn in
    which they changed reads both."""
    rows = db.rows(
        "SELECT w.id, w.name, w.created, w.updated, w.written, COALESCE(n.node, ''),"
        " COALESCE(n.written, '') FROM workflows w LEFT JOIN nodes n ON n.workflow = w.id WHERE"
        f" w.name = ? ORDER BY {NODE_ORDER}",
        (name,),
    )
    if not rows:
        return find_workflow(db, name), []  # its error names those there are
    kept = [(node, written) for *_, node, written in rows if node or written]
    return record_of(Workflow, rows[0][:-2]), kept


def next_node(db: Database, workflow: int, least: int) -> int:
    """A number for a node that no node of the workflow has ever had; above `least`."""
    ((number,),) = db.rows(
        "UPDATE workflows SET last_node = (CASE WHEN last_node > ? THEN last_node ELSE ? END) + 1"
        " WHERE id = ? RETURNING last_node",
        (least, least, workflow),
    )
    return int(number)


def _touch(db: Database, workflow: int) -> None:
    db.rows(
        "UPDATE workflows SET updated = ?, revision = revision + 1 WHERE id = ?",
        (stamp(), workflow),
    )
