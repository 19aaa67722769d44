"""Workflows, their nodes, and their conversations: who owns what else is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from foreword.errors import UnknownName
from foreword.store.database import (
    Column,
    Database,
    from_json,
    record_of,
    select,
    select_first,
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


def _newest_of(times: str) -> str:
    """Return the newest of times with blanks between them."""
    return max(times.split())


_NOW = "m.running - COALESCE(k.left_out, 0)"  # of a conversation, in tokens
_OF_WORKFLOW = "WHERE workflow = w.id"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowEntry:
    """One workflow in a list of them."""

    name: Annotated[str, Column("w.name")]
    created: Annotated[str, Column("w.created")]
    # sums are read by `int`: PostgreSQL adds decimals
    messages: Annotated[int, Column("COALESCE(SUM(m.seq), 0)", int)]
    tokens: Annotated[int, Column("COALESCE(SUM(m.running), 0)", int)]  # of all that was said
    # with the summaries in place of what they stand for
    now_tokens: Annotated[int, Column(f"COALESCE(SUM({_NOW}), 0)", int)]
    # the same of `main` alone, or of the first conversation
    history_tokens: Annotated[
        int, Column(f"COALESCE(SUM(CASE WHEN c.id = f.id THEN {_NOW} END), 0)", int)
    ]
    # what that conversation was opened with: budget, window, ...
    settings: Annotated[dict[str, int | str], Column("COALESCE(f.settings, '{}')", from_json)]
    plan_version: Annotated[
        int, Column(f"(SELECT COALESCE(MAX(version), 0) FROM plans {_OF_WORKFLOW})")
    ]
    variables: Annotated[int, Column(f"(SELECT COUNT(*) FROM variables {_OF_WORKFLOW})")]
    compressions: Annotated[  # that stand
        int,
        Column(
            "(SELECT COUNT(*) FROM compressions d JOIN conversations o ON o.id = d.conversation"
            " WHERE o.workflow = w.id AND d.undone = 0)"
        ),
    ]
    # whether a conversation is past the size for a warning
    warned: Annotated[bool, Column("COALESCE(MAX(c.warned), 0)", bool)]
    # when its messages, plan, variables or nodes were last written
    changed: Annotated[
        str,
        Column(
            "w.updated || ' ' || COALESCE(MAX(m.created), '') || ' ' || COALESCE(MAX(k.created),"
            f" '') || ' ' || COALESCE((SELECT created FROM plans {_OF_WORKFLOW} ORDER BY version"
            " DESC LIMIT 1), '') || ' ' || COALESCE((SELECT created FROM variable_changes"
            f" {_OF_WORKFLOW} ORDER BY id DESC LIMIT 1), '')",
            _newest_of,
        ),
    ]


_ENTRIES = (
    "FROM workflows w LEFT JOIN conversations c ON c.workflow = w.id"
    # of each conversation: its last message, and the compression that stands
    " LEFT JOIN messages m ON m.conversation = c.id AND m.seq = (SELECT MAX(seq) FROM messages"
    " WHERE conversation = c.id AND branch = 0) LEFT JOIN compressions k ON k.conversation = c.id"
    " AND k.number = (SELECT MAX(number) FROM compressions WHERE conversation = c.id AND undone ="
    # of a workflow: the conversation that is opened where none is named
    " 0) LEFT JOIN conversations f ON f.id = (SELECT g.id FROM conversations g WHERE g.workflow ="
    " w.id ORDER BY g.name <> 'main', g.id LIMIT 1)"
    " GROUP BY w.id, w.name, w.created, w.updated, f.settings ORDER BY w.id"
)


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
    return select_first(db, Workflow, "FROM workflows WHERE name = ?", (name,))


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
    return select(db, WorkflowEntry, _ENTRIES)


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
