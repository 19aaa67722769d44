"""Asking many questions at once, inside a run: each becomes a run of its own on a queue, for any
process to answer.

Whatever becomes of a question is its answer: one that fails or is late takes no other down. What a
run is, and how one is started, is the business of `runs`.

    @runs.workflow("panel")
    def review(payload): return {"answers": ask_all(payload["questions"])}

    with workers.run_worker(db, root) as engine:
        engine.start("panel", "panel-1", {"questions": [...]})
        print(engine.result("panel-1"))
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

from foreword.errors import AnswerInvalid, ForewordError
from foreword.secrets.masking import mask
from foreword.store.database import storable_text
from foreword.tokens import counter
from foreword.work import dbos_setup
from foreword.work.run_status import ACTIVE, failure_reason, statuses
from foreword.work.runs import (
    AGENTS,
    Engine,
    current_engine,
    longer_pause,
    next_round,
    registered_runs,
    step,
    workflow,
)
from foreword.work.shared_store import ShuttingDown

if TYPE_CHECKING:
    from pydantic import BaseModel

# For a call to end by itself, with its own error, before it is given up from outside.
GRACE_SECONDS = 2.0
# The longest wait for a process that is free: docs/scaling.md promises it. Without an end a run
# would wait for workers that nobody starts.
QUEUE_SECONDS = 600.0

Question = Mapping[str, Any]
"""`{"agent", "model", "instructions", "request", "timeout_seconds"}`, and if wanted `attempts`,
`max_output_tokens`, `output`, the name of the schema that the answer has to fit, `artifacts_of`,
the task whose artifacts the agent may look up, and `root`, the project whose documents."""


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
    batch = start_all(questions)
    answers: list[dict[str, Any]] = step("answers", lambda: _first_answers({"": batch})[""])
    return answers


def start_all(questions: Sequence[Question], group: str = "") -> QuestionBatch:
    """Inside a run: put questions in the queue; a group has its own place in the names of their
    runs."""
    from dbos import DBOS, SetWorkflowID, SetWorkflowTimeout

    agents = [str(question["agent"]) for question in questions]
    runs = _run_names(str(DBOS.workflow_id), place=group or _round_place(), agents=agents)
    limits = [float(question["timeout_seconds"]) for question in questions]
    answer = registered_runs()["answer"]
    for run, question, limit in zip(runs, questions, limits, strict=True):
        with SetWorkflowID(run), SetWorkflowTimeout(limit + GRACE_SECONDS):
            DBOS.enqueue_workflow(AGENTS, answer, dict(question))
    return QuestionBatch(
        questions=tuple(questions),
        runs=tuple(runs),
        until=monotonic() + QUEUE_SECONDS + max(limits, default=0.0),
    )


def wait_for_first_group(groups: Mapping[str, QuestionBatch]) -> dict[str, list[dict[str, Any]]]:
    """Inside a run: wait until one group at least has all its answers; those of every group that
    has."""
    # `settled` is the name of the step in the database: another one would orphan runs under way
    answers: dict[str, list[dict[str, Any]]] = step("settled", _first_answers, groups)
    return answers


@workflow("answer")
def _answer(question: dict[str, Any]) -> dict[str, Any]:
    """One question to one model. Nothing that goes wrong escapes: it is the answer."""
    engine = current_engine()
    began = monotonic()
    limit = float(question["timeout_seconds"])
    answer: dict[str, Any] = {
        "agent": question["agent"],
        "status": "failed",
        "text": "",
        "error": "",
    }
    try:
        with _cancel_after(engine, limit + GRACE_SECONDS) as cancel:
            answer |= _ask_model(engine, question, cancel)
    except AnswerInvalid as error:
        answer |= {"status": "invalid", "error": storable_text(_invalid_reason(error))}
    except ForewordError as error:
        answer["error"] = storable_text(mask(error.message))
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        answer["error"] = storable_text(mask(f"{type(error).__name__}: {error}"))
    if engine.stopping.is_set():
        raise ShuttingDown
    took = monotonic() - began
    if answer["status"] == "failed" and took >= limit:
        answer |= {"status": "late", "error": f"no answer within {limit:g} s"}
    return {**answer, "seconds": round(took, 3)}


@contextmanager
def _cancel_after(engine: Engine, seconds: float) -> Iterator[Event]:
    """An event that is set when the time is up, or this process ends."""
    cancel = Event()
    engine.cancel_events.add(cancel)
    timer = Timer(seconds, cancel.set)
    timer.daemon = True
    timer.start()
    try:
        yield cancel
    finally:
        timer.cancel()
        engine.cancel_events.discard(cancel)


def _invalid_reason(error: AnswerInvalid) -> str:
    from foreword.review.member_answer import quoted

    return f"its answer does not fit the form ({mask(error.problem)}): {quoted(error.words)}"


def _output_schema(name: str) -> type[BaseModel]:
    from foreword.review.member_answer import MemberAnswer
    from foreword.review.moderator import FindingGroups

    schemas: dict[str, type[BaseModel]] = {"review": MemberAnswer, "groups": FindingGroups}
    return schemas[name]


def _ask_model(engine: Engine, question: Question, cancel: Event) -> dict[str, Any]:
    from foreword.models import ask, usage_pair

    schema = _output_schema(question["output"]) if question.get("output") else None
    answer = ask(
        question["model"],
        question["instructions"],
        question["request"],
        timeout_seconds=float(question["timeout_seconds"]),
        attempts=int(question.get("attempts", 3)),
        tools=_tools(engine, question),
        max_output_tokens=question.get("max_output_tokens"),
        cancel=cancel,
        output=schema,
    )
    if not answer.text.strip():
        return {"error": "the model answered nothing"}
    # a provider counts the schema with what it is sent
    instructions = question["instructions"] + (
        json.dumps(schema.model_json_schema()) if schema else ""
    )
    counted, charged = usage_pair(answer, instructions, question["request"], counter())
    return {
        "status": "answered",
        "text": storable_text(answer.text),
        "first": storable_text(answer.first),
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
    from foreword.work.artifact_lookup import lookup_tool, recall_tool

    folder = Path(str(question.get("root") or ""))
    project = folder if folder.is_absolute() and folder.is_dir() else None
    task = str(question["artifacts_of"])
    return [
        lookup_tool(engine.store.use, task=task, project=project),
        recall_tool(engine.store.use),
    ]


def _first_answers(groups: Mapping[str, QuestionBatch]) -> dict[str, list[dict[str, Any]]]:
    """The answers of each group that has them all, once one has; questions that no process took in
    time are given up."""
    from dbos import DBOS

    engine = current_engine()
    pause = dbos_setup.TICK_SECONDS
    runs: list[str] = []
    for batch in groups.values():
        runs += batch.runs
    while True:
        active = {run for run, state in statuses(runs).items() if state in ACTIVE}
        answers = {}
        late: list[str] = []
        for name, batch in groups.items():
            waiting = active.intersection(batch.runs)
            if not waiting:
                answers[name] = _answers(batch)
            elif monotonic() > batch.until:
                late += waiting
        if answers:
            return answers
        if late:
            DBOS.cancel_workflows(late)
        engine.run_again(engine.unrecorded_runs(active), AGENTS)
        if engine.stopping.wait(pause):
            raise ShuttingDown
        pause = longer_pause(pause)


def _answers(batch: QuestionBatch) -> list[dict[str, Any]]:
    """What became of each question, in their order."""
    from dbos import DBOS

    if not batch.runs:
        return []
    rows = DBOS.list_workflows(workflow_ids=list(batch.runs), load_input=False)
    row_of = {row.workflow_id: row for row in rows}
    answers = []
    for run, question in zip(batch.runs, batch.questions, strict=True):
        answer = _answer_of(row_of.get(run), float(question["timeout_seconds"]))
        answers.append({**answer, "agent": question["agent"]})
    return answers


def _answer_of(row: Any, limit: float) -> dict[str, Any]:
    """What an agent answered, or why it did not."""
    if row is not None and row.status == "SUCCESS" and isinstance(row.output, dict):
        return dict(row.output)
    if row is not None and row.status == "CANCELLED":
        return {
            "status": "late",
            "text": "",
            "error": f"no answer within {limit:g} s",
            "seconds": limit,
        }
    return {"status": "failed", "text": "", "error": failure_reason(row), "seconds": 0.0}


def _round_place() -> str:
    """Where questions without a group are: nowhere the first time, then under the number of the
    round."""
    number = next_round()
    return "" if number == 1 else str(number)


def _run_names(run: str, *, place: str, agents: Sequence[str]) -> list[str]:
    """A name for the run of each agent: the second `reviewer` is `reviewer-2`, in the third
    round under `3`."""
    counts: dict[str, int] = {}
    names = []
    for agent in agents:
        name = agent.replace("/", "-")
        counts[name] = counts.get(name, 0) + 1
        if counts[name] > 1:
            name = f"{name}-{counts[name]}"
        names.append("/".join(part for part in (run, place, name) if part))
    return names
