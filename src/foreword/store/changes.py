"""How new everything of each workflow is, as numbers from one cheap query.

Each number moves whenever something of its kind changes. What two of them mean together, and what
they are called in an event, is said by `operations.change_vector`.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.pattern import lazy_pattern
from foreword.store.database import Database

# Workflows asked for by name; beyond that, all are read. It keeps the statement well under the
# number of values that a database takes (999 in old releases of SQLite).
MOST_NAMED = 500
_STAMP = lazy_pattern(r"\D")
_OF_WORKFLOW = "FROM conversations c WHERE c.workflow = w.id"
_QUERY = (
    "SELECT w.name, (SELECT COALESCE(MAX(version), 0) FROM plans WHERE workflow = w.id), (SELECT"
    f" COALESCE(SUM(COALESCE((SELECT MAX(seq) FROM messages WHERE conversation = c.id), 0)"
    f" + c.revision), 0) {_OF_WORKFLOW}),"
    " (SELECT COALESCE(MAX(id), 0) FROM variable_changes WHERE workflow = w.id), w.revision,"
    " (SELECT COALESCE(SUM((SELECT COUNT(*) FROM compressions WHERE conversation = c.id)), 0)"
    f" {_OF_WORKFLOW}), (SELECT COALESCE(SUM((SELECT SUM(undone) FROM compressions WHERE"
    f" conversation = c.id)), 0) {_OF_WORKFLOW}), (SELECT COUNT(*) FROM checkpoints WHERE workflow"
    " = w.id), (SELECT COALESCE(MAX(created), '') FROM checkpoints WHERE workflow = w.id), (SELECT"
    f" COALESCE(MAX((SELECT MAX(id) FROM reports WHERE conversation = c.id)), 0) {_OF_WORKFLOW})"
    " FROM workflows w"
)


def newest_numbers(
    db: Database, workflows: Sequence[str] | None = None
) -> dict[str, tuple[int, ...]]:
    """The numbers of several workflows by name, or of all, in the order of the query's columns:
    plan, messages, variables, revision, compressions, undone ones, checkpoints, the time of the
    last one, report."""
    if workflows is None or len(workflows) > MOST_NAMED:
        rows = db.rows(_QUERY)
    elif workflows:
        places = ", ".join("?" * len(workflows))
        rows = db.rows(f"{_QUERY} WHERE w.name IN ({places})", list(workflows))
    else:
        rows = []
    return {str(name): tuple(map(_number, parts)) for name, *parts in rows}


def _number(part: object) -> int:
    """A part as a number; a time becomes its digits."""
    return int(_STAMP.sub("", part[:23]) or 0) if isinstance(part, str) else int(part)  # type: ignore[call-overload]
