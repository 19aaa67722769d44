"""Asking many questions at once, inside a run: each becomes a run of its own on a queue, for any
process to answer.

Whatever becomes of a question is its answer: one that fails or is late takes no other down. What a
run is, and how one is started, is `runs`' business; its names are here, too, so that whoever asks
needs this module alone.

    @workflow("panel")
    def review(payload): return {"answers": ask_all(payload["questions"])}

    with workers.run_worker(db, root) as engine:
        engine.start("panel", "panel-1", {"questions": [...]})
        print(engine.result("panel-1"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer
from time import monotonic
from typing import Any

from foreword.errors import ForewordError
from foreword.secrets.masking import mask
from foreword.store.database import plain
from foreword.tokens import counter
from foreword.work import dbos_setup
from foreword.work.run_status import ACTIVE, RunStatus, outcome, standings, statuses, why
from foreword.work.runs import (
    AGENTS,
    LONGEST_POLL_SECONDS,
    RUNS,
    Engine,
    ShuttingDown,
    current,
    launch_engine,
    next_round,
    registered_runs,
    root_queue,
    step,
    workflow,
)

__all__ = [
    "ACTIVE",
    "AGENTS",
    "RUNS",
    "Engine",
    "Question",
    "QuestionBatch",
    "RunStatus",
    "ask_all",
    "current",
    "launch_engine",
    "outcome",
    "root_queue",
    "standings",
    "start_all",
    "statuses",
    "step",
    "wait_for_first_group",
    "workflow",
]

GRACE_SECONDS = 2.0  # for a call to end by itself before it is given up
QUEUE_SECONDS = 600.0  # the longest wait for a process that is free

Question = Mapping[str, Any]
"""`{"agent", "model", "instructions", "request", "timeout_seconds"}`, and if wanted `attempts`, `max_output_tokens`,
`artifacts_of`, the task whose artifacts the agent may look up, and `root`, the project whose documents."""


@dataclass(frozen=True, slots=True)
class QuestionBatch:
    """Questions that were put in the queue together, and the run of each."""

    questions: tuple[Question, ...]
    runs: tuple[str, ...]
    until: float  # when those that no process took are given up, by the clock of this one


def ask_all(questions: Sequence[Question]) -> list[dict[str, Any]]:
    """Inside a run: ask every question at once and return what became of each, in their order.

    One that fails or is late takes no other down. Each has its own time limit from when a process
    takes it.
    """
    if not questions:
        return []
    asked = start_all(questions)
    answers: list[dict[str, Any]] = step("answers", lambda: _first_settled({"": asked})[""])
    return answers


def start_all(questions: Sequence[Question], group: str = "") -> QuestionBatch:
    """Inside a run: put questions in the queue; a group has its own place in the names of their
    runs."""
    from dbos import DBOS, SetWorkflowID, SetWorkflowTimeout

    runs = _named(
        str(DBOS.workflow_id),
        group or _next_place(),
        [str(question["agent"]) for question in questions],
    )
    answer, limits = (
        registered_runs()["answer"],
        [float(question["timeout_seconds"]) for question in questions],
    )
    for run, question, limit in zip(runs, questions, limits, strict=True):
        with SetWorkflowID(run), SetWorkflowTimeout(limit + GRACE_SECONDS):
            DBOS.enqueue_workflow(AGENTS, answer, dict(question))
    return QuestionBatch(
        tuple(questions), tuple(runs), monotonic() + QUEUE_SECONDS + max(limits, default=0.0)
    )


def wait_for_first_group(groups: Mapping[str, QuestionBatch]) -> dict[str, list[dict[str, Any]]]:
    """Inside a run: wait until one group at least has all its answers; those of every group that
    has."""
    settled: dict[str, list[dict[str, Any]]] = step("settled", _first_settled, groups)
    return settled


@workflow("answer")
def _answer(question: dict[str, Any]) -> dict[str, Any]:
    """One question to one model. Nothing that goes wrong escapes: it is the answer."""
    engine, began, limit = current(), monotonic(), float(question["timeout_seconds"])
    told: dict[str, Any] = {"agent": question["agent"], "status": "failed", "text": "", "error": ""}
    try:
        with _cancelled_after(engine, limit + GRACE_SECONDS) as cancel:
            told |= _asked(engine, question, cancel)
    except ForewordError as error:
        told["error"] = plain(mask(error.message))
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        told["error"] = plain(mask(f"{type(error).__name__}: {error}"))
    if engine.leaving.is_set():
        raise ShuttingDown
    took = monotonic() - began
    if told["status"] == "failed" and took >= limit:
        told |= {"status": "late", "error": f"no answer within {limit:g} s"}
    return {**told, "seconds": round(took, 3)}


@contextmanager
def _cancelled_after(engine: Engine, seconds: float) -> Iterator[Event]:
    """An event that is set when the time is up, or this process leaves."""
    cancel = Event()
    engine.asking.add(cancel)
    timer = Timer(seconds, cancel.set)
    timer.daemon = True
    timer.start()
    try:
        yield cancel
    finally:
        timer.cancel()
        engine.asking.discard(cancel)


def _asked(engine: Engine, question: Question, cancel: Event) -> dict[str, Any]:
    from foreword.models import ask, usage_pair

    answer = ask(
        question["model"],
        question["instructions"],
        question["request"],
        timeout_seconds=float(question["timeout_seconds"]),
        attempts=int(question.get("attempts", 3)),
        tools=_tools(engine, question),
        max_output_tokens=question.get("max_output_tokens"),
        cancel=cancel,
    )
    if not answer.text.strip():
        return {"error": "the model answered nothing"}
    counted, charged = usage_pair(
        answer, question["instructions"], question["request"], counter("estimate")
    )
    return {
        "status": "answered",
        "text": plain(answer.text),
        "model": answer.model,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "attempts": answer.attempts,
        "tool_calls": answer.tool_calls,
        "asked": question["model"],
        "counted_tokens": counted,
        "charged_tokens": charged,
    }


def _tools(engine: Engine, question: Question) -> list[Callable[..., str]]:
    """What an agent may look up: the artifacts of its task and, where they are on this machine,
    the project's files."""
    if not question.get("artifacts_of"):
        return []
    from foreword.work.artifact_lookup import lookup_tool

    project = Path(str(question.get("root") or ""))
    there = project.is_absolute() and project.is_dir()
    return [
        lookup_tool(
            engine.db, engine.root, str(question["artifacts_of"]), project if there else None
        )
    ]


def _first_settled(groups: Mapping[str, QuestionBatch]) -> dict[str, list[dict[str, Any]]]:
    """The answers of each group that is settled, once one is; questions that no process took in
    time are given up."""
    from dbos import DBOS

    engine, pause = current(), dbos_setup.TICK_SECONDS
    runs = [run for asked in groups.values() for run in asked.runs]
    while True:
        active = {run for run, state in statuses(runs).items() if state in ACTIVE}
        settled = {name: asked for name, asked in groups.items() if active.isdisjoint(asked.runs)}
        if settled:
            return {name: _answers(asked) for name, asked in settled.items()}
        late = [
            run
            for asked in groups.values()
            if monotonic() > asked.until
            for run in active.intersection(asked.runs)
        ]
        if late:
            DBOS.cancel_workflows(late)
        engine.put_again(engine.untold(active), AGENTS)
        if engine.leaving.wait(pause):
            raise ShuttingDown
        pause = min(pause * 1.2, LONGEST_POLL_SECONDS)


def _answers(asked: QuestionBatch) -> list[dict[str, Any]]:
    """What became of each question, in their order."""
    from dbos import DBOS

    found = (
        DBOS.list_workflows(workflow_ids=list(asked.runs), load_input=False) if asked.runs else []
    )
    rows = {row.workflow_id: row for row in found}
    pairs = zip(asked.runs, asked.questions, strict=True)
    return [
        {**_told(rows.get(run), float(question["timeout_seconds"])), "agent": question["agent"]}
        for run, question in pairs
    ]


def _told(row: Any, limit: float) -> dict[str, Any]:
    """What an agent said, or why it said nothing."""
    if row is not None and row.status == "SUCCESS" and isinstance(row.output, dict):
        return dict(row.output)
    if row is not None and row.status == "CANCELLED":
        return {
            "status": "late",
            "text": "",
            "error": f"no answer within {limit:g} s",
            "seconds": limit,
        }
    return {"status": "failed", "text": "", "error": why(row), "seconds": 0.0}


def _next_place() -> str:
    """Where questions without a group are: nowhere the first time, then under the number of the
    round."""
    turn = next_round()
    return "" if turn == 1 else str(turn)


def _named(run: str, place: str, agents: Sequence[str]) -> list[str]:
    """A name for the run of each agent: the second `reviewer` is `reviewer-2`, in the third
    round under `3`."""
    seen: dict[str, int] = {}
    found = []
    for agent in (name.replace("/", "-") for name in agents):
        seen[agent] = seen.get(agent, 0) + 1
        name = agent if seen[agent] == 1 else f"{agent}-{seen[agent]}"
        found.append("/".join(filter(None, (run, place, name))))
    return found
