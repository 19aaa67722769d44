"""What one phase of a flow is asked, and what is kept of it; when each begins is the business of
`graph`.

Each phase is asked with its own context; its answer is kept as an artifact, once, and a checkpoint
is written. Later phases are given the references of the artifacts only. Whatever is done here may
be done again after a crash, so that every step that changes something changes nothing the second
time. Where a phase has a panel and a gate, the panel has to approve: its result is kept for whoever
wants to read it, and the phase is not done.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword import tokens
from foreword.context.blanks import task_reference
from foreword.errors import ForewordError, UnknownName
from foreword.plan.flow import Flow, Phase, as_data, from_data
from foreword.store import artifacts, originals
from foreword.store.artifacts import Artifact
from foreword.store.database import Database, storable_text
from foreword.store.urls import open_database
from foreword.work import question_queue
from foreword.work.artifact_lookup import COUNTER
from foreword.work.flow_status import not_run
from foreword.work.question_queue import QuestionBatch

if TYPE_CHECKING:
    from foreword.engine.package import Package

SHAPE = 2  # of the steps of a run: one that was begun in another shape can't be gone on with
TIMEOUT_SECONDS = 600.0  # for one phase
ATTEMPTS = 3
APPROVED = "approve"
_REQUEST = """\
Do phase {name} of this work and nothing else: {title}.

Task {task}: {objective}

Answer with what the phase hands on{artifact}, complete and ready to be used by the next phase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a flow is run with; all of it travels to whoever runs it."""

    run: str
    task: str
    objective: str
    model: str
    flow: Flow
    diff: str = ""
    diff_source: str = ""
    stop_at_gates: bool = False
    timeout_seconds: float = TIMEOUT_SECONDS
    attempts: int = ATTEMPTS

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "flow"}
        return {**plain, "flow": as_data(self.flow), "shape": SHAPE}


def order_of(data: Mapping[str, Any]) -> Order:
    """The order of what `to_dict` gave."""
    known = {name: data[name] for name in Order.__slots__ if name in data}
    return Order(**{**known, "flow": from_data(data["flow"])})


@dataclass(frozen=True, slots=True)
class PhaseStart:
    """A phase that is under way: what was made for its agents, and what they were asked."""

    made: Mapping[str, Any]
    asked: QuestionBatch


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """What became of a phase; it is done where it neither failed nor was rejected."""

    failed: str = ""
    rejected: Mapping[str, str] = field(default_factory=dict)


def foreseen(root: Path, order: Order, done: Sequence[str] = ()) -> list[str]:
    """What there is to warn of before anybody is asked, each thing once; a context that can't be
    made is an error."""
    told: list[str] = []
    for phase in order.flow.phases:
        if phase.name in done:
            continue
        if _looks(order, phase):
            told += _foreseen_of_panel(root, order, phase)
            continue
        if phase.panel:
            told.append(f"phase {phase.name}: {not_run(phase)}, no --diff given")
        told += _tried(root, order, phase).report.warnings
    return list(dict.fromkeys(told))


def _foreseen_of_panel(root: Path, order: Order, phase: Phase) -> list[str]:
    prepared = _prepared(root, order, phase)
    missing = [
        f"panel {prepared['panel']}: there is no persona {name!r}" for name in prepared["missing"]
    ]
    return [*missing, *prepared["notes"]]


def begin(order: Order, phase: Phase) -> PhaseStart | str:
    """Inside a run: ask the agent of a phase, or all members of its panel; or say why they can't
    be asked."""
    prepare, what = (_panel, "panel") if _looks(order, phase) else (_question, "question")
    made = runs.step(f"{what} {phase.name}", prepare, order.to_dict(), phase.name)
    if "error" in made:
        return str(made["error"])
    place = order.flow.phases.index(phase) + 1
    return PhaseStart(made, question_queue.start_all(made.get("questions", [made]), str(place)))


def end(
    order: Order, phase: Phase, begun: PhaseStart, answers: Sequence[Mapping[str, Any]]
) -> PhaseResult:
    """Inside a run: keep what a phase came to and write its checkpoint, unless it failed or may
    not pass its gate."""
    answer = _concluded(begun.made, answers) if _looks(order, phase) else answers[0]
    if answer["status"] != "answered":
        return PhaseResult(failed=str(answer.get("error") or answer["status"]))
    if phase.gate and answer.get("verdict", APPROVED) != APPROVED:
        handle = runs.step(f"rejected {phase.name}", _remember, str(answer["text"]))
        return PhaseResult(
            rejected={
                "verdict": str(answer["verdict"]),
                "why": str(answer["why"]),
                "handle": handle,
            }
        )
    runs.step(
        f"keep {phase.name}", _keep, order.to_dict(), phase.name, str(answer["text"])
    )
    ensure_checkpoint(order, phase)
    return PhaseResult()


def finished_phases(order: Order) -> list[str]:
    """Inside a run: the phases whose answers are kept already."""
    found: list[str] = runs.step("finished", _finished, order.run)
    return found


def ensure_checkpoint(order: Order, phase: Phase) -> None:
    """Inside a run: see to it that the checkpoint of a phase is there."""
    runs.step(f"checkpoint {phase.name}", _checkpoint, order.to_dict(), phase.name)


def _looks(order: Order, phase: Phase) -> bool:
    """Whether a phase is its panel looking at the change."""
    return bool(phase.panel and order.diff)


def _concluded(payload: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the panel of a phase says about the change, as an answer."""
    from foreword.work import panel_runs

    result = panel_runs.result_from_json(panel_runs.conclude(payload, answers))
    if not any(member.status == "answered" for member in result.members):
        why = "; ".join(f"{member.name}: {member.status}" for member in result.members)
        return {"status": "failed", "error": f"nobody on the panel answered ({why})"}
    text = json.dumps(result.to_dict(), ensure_ascii=False, indent=2)
    return {
        "status": "answered",
        "text": text,
        "verdict": result.verdict,
        "why": " ".join(result.reasons),
    }


def _finished(run: str) -> list[str]:
    with _store() as store:
        return [one.phase for one in artifacts.artifacts_of(store, run)]


def _question(payload: dict[str, Any], name: str) -> dict[str, Any]:
    """What the agent of a phase is asked, or why it can't be; made where the files are."""
    order = order_of(payload)
    phase = order.flow.phase(name)
    root = question_queue.current().root
    with _store() as store:
        known = _handed_on(order.flow, artifacts.of_task(store, order.task))
    try:
        package = _context(root, order, phase, {one.name: one.reference for one in known})
    except ForewordError as error:
        return {"error": error.message}
    return {
        "agent": phase.name,
        "model": order.model,
        "instructions": package.text,
        "request": _request(order, phase),
        "timeout_seconds": order.timeout_seconds,
        "attempts": order.attempts,
        "artifacts_of": order.task,
        "root": str(root),
    }


def _context(root: Path, order: Order, phase: Phase, references: Mapping[str, str]) -> Package:
    """What the agent of a phase reads; the task is in it as a line, for the whole of it is in
    the request."""
    from foreword.work.factory_project import phase_context

    line = task_reference(order.task, order.objective)
    return phase_context(root, order.flow, phase, task=line, artifacts=references)


def _tried(root: Path, order: Order, phase: Phase) -> Package:
    """The context of a phase before there is anything to refer to; nobody is asked with it, so
    it is not kept."""
    from foreword.context.assemble import assemble
    from foreword.sources.library import RECIPE

    line = {"task_reference": task_reference(order.task, order.objective)}
    return assemble(
        RECIPE, root=root, phase=phase.name, workflow=order.flow.source, values=line, save=False
    )


def _request(order: Order, phase: Phase) -> str:
    artifact = f" as [{phase.artifact}]" if phase.artifact else ""
    return _REQUEST.format(
        name=phase.name,
        title=phase.title,
        task=order.task,
        objective=order.objective,
        artifact=artifact,
    )


def _panel(payload: dict[str, Any], name: str) -> dict[str, Any]:
    """What the members of a phase's panel are asked, or why they can't be."""
    order = order_of(payload)
    try:
        return _prepared(question_queue.current().root, order, order.flow.phase(name))
    except ForewordError as error:
        return {"error": error.message}


def _prepared(root: Path, order: Order, phase: Phase) -> dict[str, Any]:
    from foreword.sources.diff_source import as_diff
    from foreword.work import panel_runs

    diff = as_diff(order.diff.encode("utf-8", "surrogatepass"), order.diff_source)
    return panel_runs.prepare(
        root,
        phase.panel,
        diff,
        panel_runs.PanelRequest(order.model, order.timeout_seconds, order.attempts),
    )


def _remember(text: str) -> str:
    """Keep what a panel said that has not approved, for whoever wants to read it."""
    with _store() as store:
        return originals.keep(store, storable_text(text).encode())


def _keep(payload: dict[str, Any], name: str, text: str) -> str:
    """Keep what a phase hands on; doing it twice changes nothing."""
    order = order_of(payload)
    phase = order.flow.phase(name)
    with _store() as store:
        size = tokens.counter(COUNTER).count(text)
        return artifacts.keep(
            store, run=order.run, name=phase.key, phase=phase.name, title=phase.title, text=text, tokens=size, task=order.task
        ).handle


def _checkpoint(payload: dict[str, Any], name: str) -> str:
    """Write down where the task stands; a checkpoint that this run has written already stays as
    it is."""
    from foreword.work import checkpoints
    from foreword.work.checkpoint import Checkpoint
    from foreword.work.tier_digests import lasting_tiers

    order = order_of(payload)
    with _store() as store:
        root = question_queue.current().root
        if _is_written(root, store, order, name):
            return name
        kept = artifacts.artifacts_of(store, order.run)
        done = [
            phase.name for phase in order.flow.phases if phase.name in {one.phase for one in kept}
        ]
        checkpoints.write(
            root,
            store,
            Checkpoint(
                task=order.task,
                phase=name,
                objective=order.objective,
                flow=order.flow.name,
                state={"run": order.run},
                artifacts={
                    one.name: {"title": one.title, "handle": one.handle, "tokens": one.tokens}
                    for one in _handed_on(order.flow, kept)
                },
                done=done,
                pending=[phase.name for phase in order.flow.phases if phase.name not in done],
                tiers=lasting_tiers(root, order.task, order.objective),
            ),
        )
    return name


def _is_written(root: Path, store: Database, order: Order, name: str) -> bool:
    """Whether both copies of a checkpoint are there, the same, and of this run."""
    from foreword.work import checkpoints

    try:
        found = checkpoints.checkpoint_entries(root, store, order.task)
    except UnknownName:
        return False
    mine = [
        one.checkpoint
        for one in found
        if one.phase == name and len(one.sources) > 1 and not one.notes
    ]
    return any(one is not None and one.state.get("run") == order.run for one in mine)


def _handed_on(flow: Flow, kept: Sequence[Artifact]) -> list[Artifact]:
    """The artifacts that the authors gave a name."""
    named = {phase.artifact for phase in flow.phases if phase.artifact}
    return [one for one in kept if one.name in named]


@contextmanager
def _store() -> Iterator[Database]:
    engine = question_queue.current()
    with closing(open_database(engine.db, engine.root)) as store:
        yield store
