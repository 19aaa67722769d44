"""The table `reports`: the report of every context, and the usage log of conversations.

A report goes in together with the originals of what it left out, in one transaction, so that a
reader or a killed writer never sees half of it. A list leaves out what can't be read as a report;
whoever asks for one by its number is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from foreword.store import originals as originals_table
from foreword.store.database import (
    LARGEST_NUMBER,
    Database,
    Row,
    altered_error,
    from_json,
    mapping,
    mapping_or_none,
    stamp,
    to_ascii_json,
)

NUMBER = (int, float)
_HAS_USAGE_FIELDS = mapping(
    recipe=str,
    total_tokens=int,
    budget_tokens=int,
    used=NUMBER,
    parts=dict,
    messages=int,
    image_tokens=int,
    stable_tokens=int,
    reused_tokens=int,
    reuse=NUMBER,
    prefix_break=str,
    milliseconds=NUMBER,
    compression=int,
    prefix=list,
)
_STRETCH_TYPES = [str, int, str]  # of the fingerprint of a prefix


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A whole report."""

    number: int
    created: str
    report: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEntry:
    """One report in the list, without what is in it."""

    number: int
    created: str
    recipe: str
    total_tokens: int
    budget_tokens: int
    workflow: str | None  # whose call it was, if it was a session's


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


def newest_reports(db: Database, limit: int = 20) -> list[StoredReport]:
    """The newest reports first; what can't be read as one is left out."""
    rows = db.rows(
        "SELECT id, created, report FROM reports ORDER BY id DESC LIMIT ?", (_in_range(limit),)
    )
    return _readable_reports(rows)


def _readable_reports(rows: Iterable[Row]) -> list[StoredReport]:
    found = []
    for number, created, text in rows:
        report = _read_report(number, created, text)
        if report is not None:
            found.append(report)
    return found


def find_report(db: Database, number: int) -> StoredReport | None:
    """The report of that number, if there is one; an error where it was altered."""
    if abs(number) > LARGEST_NUMBER:
        return None
    rows = db.rows("SELECT id, created, report FROM reports WHERE id = ?", (number,))
    if not rows:
        return None
    _, created, text = rows[0]
    report = _read_report(number, created, text)
    if report is None:
        raise altered_error(f"report {number} in {db.name}", hint=originals_table.HINT)
    return report


def list_reports(
    db: Database, *, workflow: str | None = None, before: int = LARGEST_NUMBER, limit: int = 50
) -> list[ReportEntry]:
    """The reports of all contexts, or of one workflow's calls, the newest first."""
    condition = "r.id < ?"
    values: list[object] = [before]
    if workflow is not None:
        condition += " AND w.name = ?"
        values.append(workflow)
    rows = db.rows(
        "SELECT r.id, r.created, r.recipe, r.total_tokens, r.budget_tokens, COALESCE(w.name, '')"
        " FROM reports r LEFT JOIN conversations c ON c.id = r.conversation LEFT JOIN workflows w"
        f" ON w.id = c.workflow WHERE {condition} ORDER BY r.id DESC LIMIT ?",
        (*values, limit),
    )
    entries = []
    for number, created, recipe, total_tokens, budget_tokens, name in rows:
        entry = ReportEntry(
            number=number,
            created=created,
            recipe=recipe,
            total_tokens=total_tokens,
            budget_tokens=budget_tokens,
            workflow=name or None,
        )
        entries.append(entry)
    return entries


def usage_log(db: Database, conversation: int, limit: int = 20) -> list[dict[str, Any]]:
    """The newest entries of a conversation's usage log, the newest first."""
    rows = db.rows(
        "SELECT id, created, usage FROM reports WHERE conversation = ? AND usage IS NOT NULL"
        " ORDER BY id DESC LIMIT ?",
        (conversation, _in_range(limit)),
    )
    entries = []
    for number, created, text in rows:
        usage = _read_usage(db, number, text)
        entries.append({"report": number, "created": created, **usage})
    return entries


def usage_of(db: Database, number: int) -> dict[str, Any]:
    """The line of the usage log that a report has; empty where there is none."""
    rows = db.rows("SELECT usage FROM reports WHERE id = ? AND usage IS NOT NULL", (number,))
    return _read_usage(db, number, rows[0][0]) if rows else {}


def _in_range(limit: int) -> int:
    """A limit as both databases take it."""
    return max(0, min(limit, LARGEST_NUMBER))


def _read_report(number: int, created: object, text: object) -> StoredReport | None:
    report = mapping_or_none(text, recipe=str, total_tokens=int, budget_tokens=int)
    if report is None or not isinstance(created, str):
        return None
    return StoredReport(number, created, report)


def _read_usage(db: Database, number: int, text: str) -> dict[str, Any]:
    where = f"the usage of report {number} in {db.name}"
    usage: dict[str, Any] = from_json(
        text, where, _is_usage, hint="remove its row from the table reports"
    )
    return usage


def _is_usage(value: Any) -> bool:
    """Whether a value is a line of a usage log, with the fingerprint that the next call compares
    itself with."""
    return _HAS_USAGE_FIELDS(value) and all(_is_stretch(part) for part in value["prefix"])


def _is_stretch(value: object) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == _STRETCH_TYPES
