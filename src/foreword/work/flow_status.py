"""How flows stand, read from the database without taking part in anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from foreword.plan.flow import Phase, from_data
from foreword.store import artifacts
from foreword.store.database import Database
from foreword.store.urls import open_database
from foreword.work import dbos_setup
from foreword.work.run_status import SPENT, RunStatus, run_status, why
from foreword.work.runs import root_queue
from foreword.work.workers import living_workers

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
    order: Mapping[str, Any]
    failed: Mapping[str, str]
    # phases whose panel has not approved: verdict, why, handle
    rejected: Mapping[str, Mapping[str, str]]
    gates: tuple[str, ...] = ()  # phases after which it stopped
    standings: tuple[RunStatus, ...] = ()
    phases: tuple[PhaseStatus, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        shown = (
            "run",
            "task",
            "flow",
            "model",
            "status",
            "why",
            "started",
            "attempt",
            "gates",
            "usage",
        )
        return {name: getattr(self, name) for name in shown} | {
            "phases": [one.to_dict() for one in self.phases]
        }

    @property
    def usage(self) -> dict[str, dict[str, int]]:
        """The tokens of the newest attempt, by model.

        `counted_tokens` is what our estimate said of the questions whose `charged_tokens` the
        provider has told: a call with tools is charged for their descriptions, too, and tells
        nothing.
        """
        found: dict[str, dict[str, int]] = {}
        for spent in (one.spent for one in self.standings if one.spent.get("asked")):
            total = found.setdefault(str(spent["asked"]), dict.fromkeys(("answers", *SPENT), 0))
            total["answers"] += 1
            told = SPENT if spent.get("charged_tokens") else SPENT[:2]
            for name in told:
                total[name] += int(spent.get(name, 0))
        return found


def known_runs(root: Path, db: str | None) -> list[FlowStatus]:
    """Every flow of this root, the newest first, as its newest attempt has it."""
    url = dbos_setup.known_url(db, root)
    if url is None:
        return []
    with _client(url) as client, dbos_setup.no_pickles():
        mine = [
            row for row in _rows(client) if (row.attributes or {}).get("queue") == root_queue(root)
        ]
        newest: dict[str, tuple[Any, Mapping[str, Any]]] = {}
        began: dict[str, int] = {}
        for row in mine:
            if order := _order(row):
                newest.setdefault(order["run"], (row, order))
                began[order["run"]] = row.created_at
        with closing(open_database(db, root)) as store:
            alive = living_workers(store)
        return [
            _status(row, order, began[run], alive, _standings(client, row))
            for run, (row, order) in newest.items()
        ]


def flow_status(flow: FlowStatus, store: Database) -> FlowStatus:
    """The flow with each of its phases."""
    kept = {one.phase: one for one in artifacts.artifacts_of(store, flow.run)}
    agents = by_phase(flow.standings)
    has_change = bool(flow.order.get("diff"))
    phases = []
    for place, phase in enumerate(from_data(flow.order["flow"]).phases, 1):
        told = PhaseStatus(
            phase=phase.name,
            title=phase.title,
            status="pending",
            artifact=phase.artifact,
            gate=phase.gate_text,
        )
        if done := kept.get(phase.name):
            verdict = _verdict(artifacts.text_of(store, done)) if phase.panel and has_change else ""
            note = f"{not_run(phase)}, no diff was given" if phase.panel and not has_change else ""
            told = replace(
                told,
                status="done",
                handle=done.handle,
                tokens=done.tokens,
                verdict=verdict,
                note=note,
            )
        elif phase.name in flow.failed:
            told = replace(told, status="failed", error=flow.failed[phase.name])
        elif phase.name in flow.rejected:
            said = flow.rejected[phase.name]
            told = replace(
                told,
                status="rejected",
                handle=said["handle"],
                verdict=said["verdict"],
                error=said["why"],
            )
        elif place in agents and flow.status in ("running", "waiting"):
            idle = all(one.status == "waiting" for one in agents[place])
            told = replace(told, status="waiting" if idle else "running")
        phases.append(told)
    return replace(flow, phases=tuple(phases))


def by_phase(standings: Iterable[RunStatus]) -> dict[int, list[RunStatus]]:
    """The agents of a flow by the place of their phase in it, from 1 on: their runs are called
    `run/place/agent`."""
    found: dict[int, list[RunStatus]] = {}
    for one in standings:
        place = one.run.split("/")[-2:-1]
        if place and place[0].isdecimal():
            found.setdefault(int(place[0]), []).append(one)
    return found


def not_run(phase: Phase) -> str:
    """That a phase's panel looks at nothing."""
    return f"panel {PurePosixPath(phase.panel).stem} not run"


def _verdict(result: str) -> str:
    """The verdict of a panel's result; nothing where it is none."""
    try:
        return str(json.loads(result)["verdict"])
    except (ValueError, TypeError, KeyError):
        return ""


@contextmanager
def _client(url: str) -> Iterator[Any]:
    driver = dbos_setup.driver()
    with dbos_setup.quiet(), dbos_setup.translate_errors():
        client = driver.DBOSClient(
            system_database_url=url,
            dbos_system_schema=dbos_setup.SCHEMA,
            serializer=driver.DBOSPortableJSONSerializer(),
            application_name=dbos_setup.APPLICATION,
            retry_connection_errors=False,
        )
        try:
            yield client
        finally:
            client.destroy()


def _rows(client: Any) -> list[Any]:
    """The attempts of all flows, the newest first; none where dbos has no tables yet."""
    from sqlalchemy.exc import DBAPIError

    try:
        rows: list[Any] = client.list_workflows(name=NAME, sort_desc=True)
    except DBAPIError as error:
        if "workflow_status" in str(error.orig):
            return []
        raise
    return rows


def _order(row: Any) -> Mapping[str, Any] | None:
    """What a run was started with, or nothing where that can't be read: the file may have been
    meddled with."""
    try:
        order = row.input["args"][0]
        from_data(order["flow"])
        return (
            order
            if all(isinstance(order[name], str) for name in ("run", "task", "model"))
            else None
        )
    except (KeyError, TypeError, IndexError):
        return None


def _standings(client: Any, row: Any) -> tuple[RunStatus, ...]:
    return tuple(
        map(run_status, client.list_workflows(parent_workflow_id=row.workflow_id, load_input=False))
    )


def _status(
    row: Any,
    order: Mapping[str, Any],
    began: int,
    alive: frozenset[str],
    standings: tuple[RunStatus, ...],
) -> FlowStatus:
    output = row.output if isinstance(row.output, dict) else {}
    failed = {str(phase): str(reason) for phase, reason in output.get("failed", {}).items()}
    rejected = {str(phase): dict(said) for phase, said in output.get("rejected", {}).items()}
    gates = tuple(map(str, output.get("gates", ())))
    reasons = [
        *(
            [why(row)]
            if row.status in ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
            else []
        ),
        *([str(output["why"])] if output.get("why") else []),
        *(f"phase {phase}: {what}" for phase, what in failed.items()),
        *(f"phase {phase}: {verdict_in_words(one['verdict'])}" for phase, one in rejected.items()),
        *([f"at the gate after phase {', '.join(gates)}"] if gates else []),
    ]
    return FlowStatus(
        run=order["run"],
        task=order["task"],
        flow=str(order["flow"]["name"]),
        model=order["model"],
        status=_word(row, output, alive),
        started=_time(began),
        attempt=_attempt(row.workflow_id),
        attempt_id=row.workflow_id,
        why="; ".join(reasons),
        order=order,
        failed=failed,
        rejected=rejected,
        gates=gates,
        standings=standings,
    )


def verdict_in_words(verdict: str) -> str:
    """A verdict in words: the panel says `changes requested`."""
    return f"the panel says {verdict.replace('_', ' ')}"


def _word(row: Any, output: Mapping[str, Any], alive: frozenset[str]) -> str:
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
    number = name.rpartition(".")[2]
    return int(number) if number.isdigit() else 1


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
