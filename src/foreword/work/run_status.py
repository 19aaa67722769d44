"""How far runs are, read from what dbos keeps of them: whether they are over, how far each agent
is, what came of it.

Only reads. Starting runs and waiting for them is the business of `runs`; how far a whole flow is,
that of `flow_status`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foreword.errors import StoreError
from foreword.secrets.masking import mask
from foreword.store.database import storable_text

ACTIVE = ("ENQUEUED", "PENDING", "DELAYED")
USAGE_FIELDS = ("input_tokens", "output_tokens", "counted_tokens", "charged_tokens")
STATUS_WORDS = {
    "ENQUEUED": "waiting",
    "DELAYED": "waiting",
    "PENDING": "running",
    "CANCELLED": "late",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """How far one agent of a run is."""

    run: str
    agent: str
    # waiting, running, answered, failed, late; of phases also pending, already done; of members,
    # invalid
    status: str
    seconds: float
    error: str = ""
    title: str = ""  # of the phase it does
    text: str = ""  # what it answered
    # `asked`, the model, and what `USAGE_FIELDS` names
    usage: Mapping[str, Any] = field(default_factory=dict)


def statuses(runs: Sequence[str]) -> dict[str, str]:
    """The state of each run in dbos' words; a run that is unknown has none."""
    from dbos import DBOS

    rows = DBOS.list_workflows(workflow_ids=list(runs), load_input=False, load_output=False)
    return {row.workflow_id: row.status for row in rows}


def outcome(run: str) -> dict[str, Any]:
    """What a finished run returned, or an error that says why it has returned nothing."""
    from dbos import DBOS

    rows = DBOS.list_workflows(workflow_ids=[run], load_input=False)
    row = rows[0] if rows else None
    if row is not None and row.status == "SUCCESS" and isinstance(row.output, dict):
        return row.output
    raise StoreError(
        f"{run} ended without a result: {failure_reason(row)}",
        hint="`foreword flow resume` tries again",
    )


def agent_statuses(run: str) -> list[RunStatus]:
    """How far each agent of a run is, in the order they were asked."""
    from dbos import DBOS

    rows = DBOS.list_workflows(parent_workflow_id=run, load_input=False)
    return [run_status(row) for row in rows]


def run_status(row: Any) -> RunStatus:
    """How far the agent of a row is."""
    output = row.output if row.status == "SUCCESS" and isinstance(row.output, dict) else {}
    took = 0.0
    if row.completed_at and row.dequeued_at:
        took = (row.completed_at - row.dequeued_at) / 1000
    return RunStatus(
        run=row.workflow_id,
        agent=str(output.get("agent") or row.workflow_id.rpartition("/")[2]),
        status=str(output.get("status") or STATUS_WORDS.get(row.status, "failed")),
        seconds=round(float(output.get("seconds", took)), 1),
        error=str(output.get("error", "")),
        text=str(output.get("text", "")),
        usage={name: output[name] for name in ("asked", *USAGE_FIELDS) if name in output},
    )


def failure_reason(row: Any) -> str:
    """Why a run has no result."""
    if row is None:
        return "it is not in the database"
    return storable_text(mask(str(row.error))) if row.error else f"it is {row.status.lower()}"
