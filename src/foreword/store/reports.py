"""The table `reports`: the report of every context, and the usage log of conversations.

A report goes in together with the originals of what it left out, in one transaction, so that a
reader or a killed writer never sees half of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from foreword.store import originals as originals_table
from foreword.store.database import (
    LARGEST_NUMBER,
    Column,
    Database,
    from_json,
    select,
    select_first,
    stamp,
    to_ascii_json,
)


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A whole report."""

    number: Annotated[int, Column("id")]
    created: str
    report: Annotated[dict[str, Any], Column(read=from_json)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEntry:
    """One report in the list, without what is in it."""

    number: Annotated[int, Column("r.id")]
    created: Annotated[str, Column("r.created")]
    recipe: str
    total_tokens: int
    budget_tokens: int
    workflow: Annotated[str | None, Column("w.name")]  # whose call it was, if it was a session's


def save_report(
    db: Database,
    originals: Mapping[str, bytes],
    report: Mapping[str, Any],
    *,
    conversation: int | None = None,
    usage: Mapping[str, Any] | None = None,
    created: str = "",
) -> int:
    """Keep a report and the originals of all that it left out, both or neither; returns the
    report's number."""
    with db.transaction():
        originals_table.write(db, originals)
        ((number,),) = db.rows(
            "INSERT INTO reports (created, recipe, total_tokens, budget_tokens, report,"
            " conversation, usage) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (
                created or stamp(),
                report["recipe"],
                min(report["total_tokens"], LARGEST_NUMBER),
                min(report["budget_tokens"], LARGEST_NUMBER),
                to_ascii_json(report),
                conversation,
                None if usage is None else to_ascii_json(usage),
            ),
        )
    return int(number)


def newest_reports(
    db: Database, limit: int = 20, before: int = LARGEST_NUMBER
) -> list[StoredReport]:
    """The newest reports in front of one first."""
    which = "FROM reports WHERE id < ? ORDER BY id DESC LIMIT ?"
    return select(db, StoredReport, which, (_in_range(before), _in_range(limit)))


def find_report(db: Database, number: int) -> StoredReport | None:
    """The report of that number, if there is one."""
    if abs(number) > LARGEST_NUMBER:
        return None
    return select_first(db, StoredReport, "FROM reports WHERE id = ?", (number,))


def list_reports(
    db: Database, *, workflow: str | None = None, before: int = LARGEST_NUMBER, limit: int = 50
) -> list[ReportEntry]:
    """The reports of all contexts, or of one workflow's calls, the newest first."""
    condition = "r.id < ?"
    values: list[object] = [before]
    if workflow is not None:
        condition += " AND w.name = ?"
        values.append(workflow)
    which = (
        "FROM reports r LEFT JOIN conversations c ON c.id = r.conversation LEFT JOIN workflows w ON"
        f" w.id = c.workflow WHERE {condition} ORDER BY r.id DESC LIMIT ?"
    )
    return select(db, ReportEntry, which, (*values, limit))


def usage_log(db: Database, conversation: int, limit: int = 20) -> list[dict[str, Any]]:
    """The newest entries of a conversation's usage log, the newest first."""
    rows = db.rows(
        "SELECT id, created, usage FROM reports WHERE conversation = ? AND usage IS NOT NULL"
        " ORDER BY id DESC LIMIT ?",
        (conversation, _in_range(limit)),
    )
    return [
        {"report": number, "created": created, **from_json(text)} for number, created, text in rows
    ]


def _in_range(limit: int) -> int:
    """A limit as both databases take it."""
    return max(0, min(limit, LARGEST_NUMBER))
