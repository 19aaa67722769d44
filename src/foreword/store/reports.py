"""The list of reports, page by page, without what is in them; one whole report is `kept`'s to
give."""

from __future__ import annotations

from dataclasses import dataclass, replace

from foreword.store.database import LARGEST_NUMBER, Database


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """One report in the list."""

    number: int
    created: str
    recipe: str
    total_tokens: int
    budget_tokens: int
    workflow: str | None  # whose call it was, if it was a session's


def list_reports(
    db: Database, *, workflow: str | None = None, before: int = LARGEST_NUMBER, limit: int = 50
) -> list[ReportEntry]:
    """The reports of all contexts, or of one workflow's calls, the newest first."""
    only, values = ("", ()) if workflow is None else (" AND w.name = ?", (workflow,))
    rows = db.rows(
        "SELECT r.id, r.created, r.recipe, r.total_tokens, r.budget_tokens, COALESCE(w.name, '')"
        " FROM reports r LEFT JOIN conversations c ON c.id = r.conversation LEFT JOIN workflows w"
        f" ON w.id = c.workflow WHERE r.id < ?{only} ORDER BY r.id DESC LIMIT ?",
        (before, *values, limit),
    )
    return [replace(ReportEntry(*row), workflow=row[-1] or None) for row in rows]
