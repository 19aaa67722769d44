"""How runs stand, read from what dbos keeps of them: whether they are over, how far each agent
is, what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foreword.errors import StoreError
from foreword.secrets.masking import mask
from foreword.store.database import plain

ACTIVE = ("ENQUEUED", "PENDING", "DELAYED")
SPENT = ("input_tokens", "output_tokens", "counted_tokens", "charged_tokens")
WORDS = {"ENQUEUED": "waiting", "DELAYED": "waiting", "PENDING": "running", "CANCELLED": "late"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """How far one agent of a run is."""

    run: str
    agent: str
    # waiting, running, answered, failed, late; of phases also pending, already done; of members,
    # nonsense
    status: str
    seconds: float
    error: str = ""
    title: str = ""  # of the phase it does
    text: str = ""  # what it answered
    # the model that was asked, and what `SPENT` names
    spent: Mapping[str, Any] = field(default_factory=dict)


def statuses(runs: Sequence[str]) -> dict[str, str]:
    """The state of each run in dbos' words; what isn't there isn't in it."""
    from dbos import DBOS

    found = DBOS.list_workflows(workflow_ids=list(runs), load_input=False, load_output=False)
    return {row.workflow_id: row.status for row in found}


def outcome(run: str) -> dict[str, Any]:
    """What a finished run returned, or an error that says why it has returned nothing."""
    from dbos import DBOS

    row = next(iter(DBOS.list_workflows(workflow_ids=[run], load_input=False)), None)
    if row is not None and row.status == "SUCCESS" and isinstance(row.output, dict):
        return row.output
    raise StoreError(
        f"{run} ended without a result: {why(row)}", hint="`foreword flow resume` tries again"
    )


def standings(run: str) -> list[RunStatus]:
    """How each agent of a run stands, in the order they were asked."""
    from dbos import DBOS

    return [
        run_status(row) for row in DBOS.list_workflows(parent_workflow_id=run, load_input=False)
    ]


def run_status(row: Any) -> RunStatus:
    """How the agent of a row stands."""
    output = row.output if row.status == "SUCCESS" and isinstance(row.output, dict) else {}
    took = (
        (row.completed_at - row.dequeued_at) / 1000 if row.completed_at and row.dequeued_at else 0.0
    )
    return RunStatus(
        run=row.workflow_id,
        agent=str(output.get("agent") or row.workflow_id.rpartition("/")[2]),
        status=str(output.get("status") or WORDS.get(row.status, "failed")),
        seconds=round(float(output.get("seconds", took)), 1),
        error=str(output.get("error", "")),
        text=str(output.get("text", "")),
        spent={name: output[name] for name in ("asked", *SPENT) if name in output},
    )


def why(row: Any) -> str:
    """Why a run has no result."""
    if row is None:
        return "it is not in the database"
    return plain(mask(str(row.error))) if row.error else f"it is {row.status.lower()}"
