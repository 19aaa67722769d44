"""How far flows are, read from the database without taking part in anything.

A flow's attempts and agents are rows of dbos, its finished phases are artifacts of the store; both
together are its status. Running and resuming is the business of `flow_runs`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from foreword.plan.flow import Phase
from foreword.store import artifacts
from foreword.store.artifacts import Artifact
from foreword.store.database import Database
from foreword.work import dbos_setup
from foreword.work.heartbeat import living_workers
from foreword.work.order import Order, from_json
from foreword.work.run_status import USAGE_FIELDS, RunStatus, failure_reason, run_status
from foreword.work.runs import root_queue

NAME = f"{dbos_setup.APPLICATION}.flow"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseStatus:
    """How far one phase is."""

    phase: str
    title: str
    status: str  # done, running, waiting, failed, rejected, pending
    artifact: str = ""
    handle: str = ""
    tokens: int = 0
    error: str = ""
    verdict: str = ""  # of its panel
    note: str = ""  # what was not done of it
    gate: str = ""  # what must hold before the next one

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowStatus:
    """How far one flow is; `attempt_id` is the newest of the runs it has had."""

    run: str
    task: str
    flow: str
    model: str
    status: str  # done, running, waiting, interrupted, failed, stopped
    started: str
    attempt: int
    attempt_id: str
    why: str  # it failed or stopped
    order: Order
    failed: Mapping[str, str]
    # phases whose panel has not approved: verdict, why, handle
    rejected: Mapping[str, Mapping[str, str]]
    gates: tuple[str, ...] = ()  # phases after which it stopped
    agents: tuple[RunStatus, ...] = ()
    phases: tuple[PhaseStatus, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "run": self.run,
            "task": self.task,
            "flow": self.flow,
            "model": self.model,
            "status": self.status,
            "why": self.why,
            "started": self.started,
            "attempt": self.attempt,
            "gates": self.gates,
            "usage": self.usage,
            "phases": [phase.to_dict() for phase in self.phases],
        }

    @property
    def usage(self) -> dict[str, dict[str, int]]:
        """The tokens of the newest attempt, by model.

        `counted_tokens` is what we counted of the questions whose `charged_tokens` the
        provider has told: a call with tools is charged for their descriptions, too, and tells
        nothing.
        """
        totals: dict[str, dict[str, int]] = {}
        for agent in self.agents:
            model = agent.usage.get("asked")
            if not model:
                continue
            total = totals.setdefault(str(model), dict.fromkeys(("answers", *USAGE_FIELDS), 0))
            total["answers"] += 1
            fields = USAGE_FIELDS if agent.usage.get("charged_tokens") else USAGE_FIELDS[:2]
            for name in fields:
                total[name] += int(agent.usage.get(name, 0))
        return totals


def known_runs(root: Path, db: str | None, store: Database) -> list[FlowStatus]:
    """Every flow of this root, the newest first, as its newest attempt has it; `store` is that of
    `db`."""
    url = dbos_setup.known_url(db, root)
    if url is None:
        return []
    with dbos_setup.open_client(url) as client:
        return runs_listed_by(client, root, store)


def runs_listed_by(client: Any, root: Path, store: Database) -> list[FlowStatus]:
    """Every flow of this root, the newest first; `client` is a client of dbos, or dbos itself where
    it was launched in this process."""
    newest: dict[str, tuple[Any, Order]] = {}
    began: dict[str, int] = {}
    for row in _rows(client, root_queue(root)):
        order = _order(row)
        if order is not None:
            newest.setdefault(order.run, (row, order))
            began[order.run] = row.created_at
    alive = living_workers(store)
    flows = []
    for run, (row, order) in newest.items():
        agents = _agents(client, row)
        flows.append(_status(row, order, began=began[run], alive=alive, agents=agents))
    return flows


def flow_status(flow: FlowStatus, store: Database) -> FlowStatus:
    """The flow with each of its phases."""
    finished = {artifact.phase: artifact for artifact in artifacts.artifacts_of(store, flow.run)}
    agents = agents_by_phase(flow.agents)
    phases = []
    for place, phase in enumerate(flow.order.flow.phases, 1):
        status = PhaseStatus(
            phase=phase.name,
            title=phase.title,
            status="pending",
            artifact=phase.artifact,
            gate=phase.gate_text,
        )
        if phase.name in finished:
            status = _status_with_artifact(
                status, phase, finished[phase.name], flow=flow, store=store
            )
        elif phase.name in flow.failed:
            status = replace(status, status="failed", error=flow.failed[phase.name])
        elif phase.name in flow.rejected:
            rejection = flow.rejected[phase.name]
            status = replace(
                status,
                status="rejected",
                handle=rejection["handle"],
                verdict=rejection["verdict"],
                error=rejection["why"],
            )
        elif place in agents and flow.status in ("running", "waiting"):
            idle = all(agent.status == "waiting" for agent in agents[place])
            status = replace(status, status="waiting" if idle else "running")
        phases.append(status)
    return replace(flow, phases=tuple(phases))


def _status_with_artifact(
    status: PhaseStatus, phase: Phase, artifact: Artifact, *, flow: FlowStatus, store: Database
) -> PhaseStatus:
    """The status of a phase whose artifact is kept."""
    verdict = ""
    note = ""
    if phase.panel and flow.order.diff:
        verdict = _verdict(artifacts.text_of(store, artifact))
    elif phase.panel:
        note = f"{panel_not_run(phase)}, no diff was given"
    return replace(
        status,
        status="done",
        handle=artifact.handle,
        tokens=artifact.tokens,
        verdict=verdict,
        note=note,
    )


def agents_by_phase(agents: Iterable[RunStatus]) -> dict[int, list[RunStatus]]:
    """The agents of a flow by the place of their phase in it, from 1 on: their runs are called
    `run/place/agent`."""
    by_place: dict[int, list[RunStatus]] = {}
    for agent in agents:
        parts = agent.run.split("/")
        place = parts[-2] if len(parts) > 1 else ""
        if place.isdecimal():
            by_place.setdefault(int(place), []).append(agent)
    return by_place


def panel_not_run(phase: Phase) -> str:
    """That a phase's panel looks at nothing."""
    return f"panel {PurePosixPath(phase.panel).stem} not run"


def _verdict(result: str) -> str:
    """The verdict of a panel's result; nothing where it is none."""
    try:
        return str(json.loads(result)["verdict"])
    except (ValueError, TypeError, KeyError):
        return ""


def _rows(client: Any, queue: str) -> list[Any]:
    """The attempts of the flows of a queue, the newest first; none where dbos has no tables
    yet."""
    from sqlalchemy.exc import DBAPIError

    try:
        rows: list[Any] = client.list_workflows(name=NAME, sort_desc=True)
    except DBAPIError as error:
        if "workflow_status" in str(error.orig):
            return []
        raise
    return [row for row in rows if (row.attributes or {}).get("queue") == queue]


def _order(row: Any) -> Order | None:
    """What a run was started with, or nothing where that can't be read: the file may have been
    meddled with."""
    return from_json(_payload(row))


def _payload(row: Any) -> object:
    try:
        return row.input["args"][0]
    except (KeyError, TypeError, IndexError):
        return None


def _agents(client: Any, row: Any) -> tuple[RunStatus, ...]:
    rows = client.list_workflows(parent_workflow_id=row.workflow_id, load_input=False)
    return tuple(map(run_status, rows))


def _status(
    row: Any,
    order: Order,
    *,
    began: int,
    alive: frozenset[str],
    agents: tuple[RunStatus, ...],
) -> FlowStatus:
    output = row.output if isinstance(row.output, dict) else {}
    failed = {str(phase): str(reason) for phase, reason in output.get("failed", {}).items()}
    rejected = {str(phase): dict(result) for phase, result in output.get("rejected", {}).items()}
    gates = tuple(map(str, output.get("gates", ())))
    reasons = []
    if row.status in ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"):
        reasons.append(failure_reason(row))
    if output.get("why"):
        reasons.append(str(output["why"]))
    for phase, reason in failed.items():
        reasons.append(f"phase {phase}: {reason}")
    for phase, result in rejected.items():
        reasons.append(f"phase {phase}: {verdict_in_words(result['verdict'])}")
    if gates:
        reasons.append(f"at the gate after phase {', '.join(gates)}")
    return FlowStatus(
        run=order.run,
        task=order.task,
        flow=order.flow.name,
        model=order.model,
        status=_status_word(row, output, alive),
        started=_time(began),
        attempt=_attempt(row.workflow_id),
        attempt_id=row.workflow_id,
        why="; ".join(reasons),
        order=order,
        failed=failed,
        rejected=rejected,
        gates=gates,
        agents=agents,
    )


def verdict_in_words(verdict: str) -> str:
    """A verdict in words: the panel says `changes requested`."""
    return f"the panel says {verdict.replace('_', ' ')}"


def _status_word(row: Any, output: Mapping[str, Any], alive: frozenset[str]) -> str:
    match row.status:
        case "ENQUEUED" | "DELAYED":
            return "waiting"
        case "PENDING":
            return "running" if row.executor_id in alive else "interrupted"
        case "SUCCESS":
            return str(output.get("status", "failed"))
        case _:
            return "failed"


def _attempt(name: str) -> int:
    """The number of an attempt: the third run of `flow-x` is called `flow-x.3`."""
    number = name.rpartition(".")[2]
    return int(number) if number.isdigit() else 1


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
