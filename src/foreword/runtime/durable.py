"""Asking many questions at once, inside a run: each becomes a run of its own on a queue, for any process to answer.

Whatever becomes of a question is its answer: one that fails or is late takes no other down. What a run is, and how one
is started, is `runs`' business; its names are here, too, so that whoever asks needs this module alone.

    @workflow("panel")
    def review(payload): return {"answers": ask_all(payload["questions"])}

    with workers.working(db, root) as engine:
        engine.start("panel", "panel-1", {"questions": [...]})
        print(engine.result("panel-1"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Timer
from time import monotonic
from typing import Any

from foreword.errors import ForewordError
from foreword.runtime import launch
from foreword.runtime.runs import (
    ACTIVE,
    AGENTS,
    LONGEST_POLL_SECONDS,
    RUNS,
    Engine,
    Leaving,
    Standing,
    current,
    launched,
    next_round,
    outcome,
    registered,
    root_queue,
    standings,
    statuses,
    step,
    why,
    workflow,
)
from foreword.store.database import plain
from foreword.workflow.secrets import mask

__all__ = [
    "ACTIVE", "AGENTS", "RUNS", "Engine", "Question", "Standing", "ask_all", "current", "launched", "outcome",
    "root_queue", "standings", "start_all", "statuses", "step", "wait_for", "workflow",
]  # fmt: skip

GRACE_SECONDS = 2.0  # for a call to end by itself before it is given up
QUEUE_SECONDS = 600.0  # the longest wait for a process that is free

Question = Mapping[str, Any]
"""`{"agent", "model", "instructions", "request", "timeout_seconds"}`, and if wanted `attempts`, `max_output_tokens`,
`artifacts_of`, the task whose artifacts the agent may look up, and `root`, the project whose documents."""


def ask_all(questions: Sequence[Question], *, within_seconds: float = QUEUE_SECONDS) -> list[dict[str, Any]]:
    """Inside a run: ask every question at once and return what became of each, in their order.

    One that fails or is late takes no other down. Each has its own time limit from when a process takes it;
    `within_seconds` is how long they may wait for one.
    """
    return wait_for(start_all(questions), questions, within_seconds=within_seconds)


def wait_for(
    runs: Sequence[str], questions: Sequence[Question], *, within_seconds: float = QUEUE_SECONDS
) -> list[dict[str, Any]]:
    """Inside a run: what became of each question that `start_all` has put in the queue."""
    if not questions:
        return []
    limits = [float(question["timeout_seconds"]) for question in questions]
    told: list[dict[str, Any]] = step("answers", _collect, list(runs), limits, within_seconds)
    return [{**one, "agent": question["agent"]} for one, question in zip(told, questions, strict=True)]


def start_all(questions: Sequence[Question]) -> list[str]:
    """Inside a run: put questions in the queue and return the run of each."""
    from dbos import DBOS, SetWorkflowID, SetWorkflowTimeout

    runs = _named(str(DBOS.workflow_id), next_round(), [str(question["agent"]) for question in questions])
    answer = registered()["answer"]
    for run, question in zip(runs, questions, strict=True):
        with SetWorkflowID(run), SetWorkflowTimeout(float(question["timeout_seconds"]) + GRACE_SECONDS):
            DBOS.enqueue_workflow(AGENTS, answer, dict(question))
    return runs


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
        raise Leaving
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
    from foreword.models import ask

    answer = ask(
        question["model"], question["instructions"], question["request"],
        timeout_seconds=float(question["timeout_seconds"]), attempts=int(question.get("attempts", 3)),
        tools=_tools(engine, question), max_output_tokens=question.get("max_output_tokens"), cancel=cancel,
    )  # fmt: skip
    if not answer.text.strip():
        return {"error": "the model answered nothing"}
    return {
        "status": "answered", "text": plain(answer.text), "model": answer.model, "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens, "attempts": answer.attempts, "tool_calls": answer.tool_calls,
    }  # fmt: skip


def _tools(engine: Engine, question: Question) -> list[Callable[..., str]]:
    """What an agent may look up: the artifacts of its task and, where they are on this machine, the project's files."""
    if not question.get("artifacts_of"):
        return []
    from foreword.runtime.artifacts import lookup_tool

    project = Path(str(question.get("root") or ""))
    there = project.is_absolute() and project.is_dir()
    return [lookup_tool(engine.db, engine.root, str(question["artifacts_of"]), project if there else None)]


def _collect(runs: list[str], limits: list[float], within_seconds: float) -> list[dict[str, Any]]:
    """Wait until every question is settled, and give up those that no process took in time."""
    from dbos import DBOS

    engine, pause = current(), launch.TICK_SECONDS
    deadline = monotonic() + within_seconds + max(limits)
    while waiting := [run for run, state in statuses(runs).items() if state in ACTIVE]:
        if monotonic() > deadline:
            DBOS.cancel_workflows(waiting)
        if engine.leaving.wait(pause):
            raise Leaving
        pause = min(pause * 1.2, LONGEST_POLL_SECONDS)
    rows = {row.workflow_id: row for row in DBOS.list_workflows(workflow_ids=runs, load_input=False)}
    return [_told(rows.get(run), limit) for run, limit in zip(runs, limits, strict=True)]


def _told(row: Any, limit: float) -> dict[str, Any]:
    """What an agent said, or why it said nothing."""
    if row is not None and row.status == "SUCCESS" and isinstance(row.output, dict):
        return dict(row.output)
    if row is not None and row.status == "CANCELLED":
        return {"status": "late", "text": "", "error": f"no answer within {limit:g} s", "seconds": limit}
    return {"status": "failed", "text": "", "error": why(row), "seconds": 0.0}


def _named(run: str, turn: int, agents: Sequence[str]) -> list[str]:
    """A name for the run of each agent: the second `reviewer` is `reviewer-2`, in the third round under `3`."""
    seen: dict[str, int] = {}
    found = []
    for agent in (name.replace("/", "-") for name in agents):
        seen[agent] = seen.get(agent, 0) + 1
        name = agent if seen[agent] == 1 else f"{agent}-{seen[agent]}"
        found.append(f"{run}/{name}" if turn == 1 else f"{run}/{turn}/{name}")
    return found
