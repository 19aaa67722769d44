"""What one phase of a flow is asked, and what is kept of it; when each begins is the business of
`graph`.

Each phase is asked with its own context; its answer is kept as an artifact, once, and a checkpoint
is written. Later phases are given the references of the artifacts only. Whatever is done here may
be done again after a crash, so that every step that changes something changes nothing the second
time. Where a phase has a panel and a gate, the panel has to approve; else its result is kept for
whoever wants to read it, and the phase is not done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword import tokens
from foreword.context.blanks import task_reference
from foreword.context.settled_tier import CHANGED, SettledTier
from foreword.errors import ForewordError
from foreword.plan.flow import Flow, Phase
from foreword.review.panel_result import PanelResult
from foreword.section import Section
from foreword.store import artifacts, originals
from foreword.store.artifacts import Artifact
from foreword.store.database import Database, storable_text
from foreword.work import runs
from foreword.work.flow_status import panel_not_run
from foreword.work.order import Order
from foreword.work.question_queue import QuestionBatch, start_all

if TYPE_CHECKING:
    from foreword.engine.package import Package

APPROVED = "approve"
_REQUEST = """\
Do phase {name} of this work and nothing else: {title}.

Task {task}: {objective}

Answer with what the phase hands on{artifact}, complete and ready to be used by the next phase."""


@dataclass(frozen=True, slots=True)
class PhaseStart:
    """A phase that is under way: its one question or its panel, and what was put in the queue."""

    prepared: Mapping[str, Any]
    batch: QuestionBatch


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """What became of a phase; it is done where it neither failed nor was rejected."""

    failed: str = ""
    rejected: Mapping[str, str] = field(default_factory=dict)


def find_warnings(root: Path, order: Order, done: Sequence[str] = ()) -> list[str]:
    """What there is to warn of before anybody is asked, each thing once; a context that can't be
    made is an error."""
    warnings: list[str] = []
    for phase in order.flow.phases:
        if phase.name in done:
            continue
        if _is_review(order, phase):
            warnings += _panel_warnings(root, order, phase)
            continue
        if phase.panel:
            warnings.append(f"phase {phase.name}: {panel_not_run(phase)}, no --diff given")
        # before there is anything to refer to; nobody is asked with it
        warnings += _context(root, order, phase, {}).report.warnings
    return list(dict.fromkeys(warnings))


def settle_tier_1(root: Path, order: Order) -> Order:
    """The order with tier 1 as it is now, for all phases that are asked by it."""
    tier_1 = SettledTier()
    _context(root, order, order.flow.phases[0], {}, tier_1)
    return replace(order, tier_1=tuple(map(_sendable, tier_1.sections or ())))


def _sendable(section: Section) -> Section:
    """The section without the author's bytes where JSON can't hold them."""
    try:
        (section.raw or b"").decode()
    except UnicodeDecodeError:
        return replace(section, raw=None)
    return section


def find_changes(root: Path, order: Order) -> list[str]:
    """What of tier 1 has changed since the flow began and was not given to its phases."""
    try:
        warnings = _context(root, order, order.flow.phases[-1], {}).report.warnings
    except ForewordError:  # the files are gone, or elsewhere
        return []
    return [warning for warning in warnings if warning.startswith(CHANGED)]


def _panel_warnings(root: Path, order: Order, phase: Phase) -> list[str]:
    panel = _prepare_panel(root, order, phase)
    missing = [f"panel {panel['panel']}: there is no persona {name!r}" for name in panel["missing"]]
    return [*missing, *panel["notes"]]


def begin_phase(order: Order, phase: Phase) -> PhaseStart | str:
    """Inside a run: ask the agent of a phase, or all members of its panel; or say why they can't
    be asked."""
    if _is_review(order, phase):
        prepared = runs.step(f"panel {phase.name}", _panel, order, phase)
    else:
        prepared = runs.step(f"question {phase.name}", _question, order, phase)
    if "error" in prepared:
        return str(prepared["error"])
    place = order.flow.phases.index(phase) + 1
    questions = prepared.get("questions", [prepared])
    return PhaseStart(prepared, start_all(questions, group=str(place)))


def end_phase(
    order: Order, phase: Phase, start: PhaseStart, answers: Sequence[Mapping[str, Any]]
) -> PhaseResult:
    """Inside a run: keep what a phase came to and write its checkpoint, unless it failed or may
    not pass its gate."""
    if _is_review(order, phase):
        answer: Mapping[str, Any] = _panel_answer(start.prepared, answers)
    else:
        (answer,) = answers
    if answer["status"] != "answered":
        return PhaseResult(failed=str(answer.get("error") or answer["status"]))
    if phase.gate and answer.get("verdict", APPROVED) != APPROVED:
        handle = runs.step(f"rejected {phase.name}", _keep_rejected, str(answer["text"]))
        rejected = {
            "verdict": str(answer["verdict"]),
            "why": str(answer["why"]),
            "handle": handle,
        }
        return PhaseResult(rejected=rejected)
    runs.step(f"keep {phase.name}", _keep, order, phase, str(answer["text"]))
    ensure_checkpoint(order, phase)
    return PhaseResult()


def finished_phases(order: Order) -> list[str]:
    """Inside a run: the phases whose answers are kept already."""
    names: list[str] = runs.step("finished", _read_finished, order.run)
    return names


def ensure_checkpoint(order: Order, phase: Phase) -> None:
    """Inside a run: see to it that the checkpoint of a phase is there."""
    runs.step(f"checkpoint {phase.name}", _checkpoint, order, phase)


def _is_review(order: Order, phase: Phase) -> bool:
    """Whether a phase is its panel looking at the change."""
    return bool(phase.panel and order.diff)


def _panel_answer(
    payload: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """What the panel of a phase says about the change, as an answer."""
    from foreword.work import panel_runs

    result = PanelResult.from_dict(panel_runs.conclude(payload, answers))
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


def _read_finished(run: str) -> list[str]:
    with _use_store() as store:
        return [artifact.phase for artifact in artifacts.artifacts_of(store, run)]


def _question(order: Order, phase: Phase) -> dict[str, Any]:
    """What the agent of a phase is asked, or why it can't be; made where the files are."""
    from foreword.context.assemble import keep

    engine = runs.current_engine()
    with engine.store.use() as store:
        known = _artifacts_of_flow(order.flow, artifacts.of_task(store, order.task))
    references = {artifact.name: artifact.reference for artifact in known}
    try:
        package = _context(engine.root, order, phase, references)
        with engine.reports.use() as reports:
            package = keep(package, engine.root, reports)
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
        "root": str(engine.root),
    }


def _context(
    root: Path,
    order: Order,
    phase: Phase,
    references: Mapping[str, str],
    tier_1: SettledTier | None = None,
) -> Package:
    """What the agent of a phase reads; the task is in it as a line, for the whole of it is in
    the request."""
    from foreword.work.factory_project import phase_context

    return phase_context(
        root,
        order.flow,
        phase,
        task=task_reference(order.task, order.objective),
        artifacts=references,
        recipe=order.recipe,
        settled=tier_1 or SettledTier(order.tier_1),
    )


def _request(order: Order, phase: Phase) -> str:
    names = " and ".join(f"[{name}]" for name in (phase.artifact, *phase.also) if name)
    artifact = f" as {names}" if names else ""
    return _REQUEST.format(
        name=phase.name,
        title=phase.title,
        task=order.task,
        objective=order.objective,
        artifact=artifact,
    )


def _panel(order: Order, phase: Phase) -> dict[str, Any]:
    """What the members of a phase's panel are asked, or why they can't be."""
    try:
        return _prepare_panel(runs.current_engine().root, order, phase)
    except ForewordError as error:
        return {"error": error.message}


def _prepare_panel(root: Path, order: Order, phase: Phase) -> dict[str, Any]:
    from foreword.sources.diff_source import as_diff
    from foreword.work import panel_runs

    diff = as_diff(order.diff.encode("utf-8", "surrogatepass"), order.diff_source)
    request = panel_runs.PanelRequest(
        order.model,
        timeout_seconds=order.timeout_seconds,
        attempts=order.attempts,
        task=order.objective or order.task,
        recipe=order.recipe,
        default_rules=order.default_rules,
        facts=order.facts,
    )
    return panel_runs.prepare(root, phase.panel, diff, request)


def _keep_rejected(text: str) -> str:
    """Keep the result of a panel that has not approved, for whoever wants to read it."""
    with _use_store() as store:
        return originals.keep(store, storable_text(text).encode())


def _keep(order: Order, phase: Phase, text: str) -> str:
    """Keep what a phase hands on, under each name that it has; doing it twice changes nothing."""
    size = tokens.counter().count(text)
    with _use_store() as store, store.transaction():
        for name in phase.keys:
            artifact = artifacts.keep(
                store,
                run=order.run,
                name=name,
                phase=phase.name,
                title=phase.title,
                text=text,
                tokens=size,
                task=order.task,
            )
    return artifact.handle


def _checkpoint(order: Order, phase: Phase) -> str:
    """Write down where the task stands; a checkpoint that this run has written already stays as
    it is."""
    from foreword.work import task_checkpoints
    from foreword.work.checkpoint import Checkpoint
    from foreword.work.tier_digests import lasting_tiers

    root = runs.current_engine().root
    with _use_store() as store:
        if _has_checkpoint(root, order, phase):
            return phase.name
        kept = artifacts.artifacts_of(store, order.run)
        names = [one.name for one in order.flow.phases]
        finished = {artifact.phase for artifact in kept}
        checkpoint = Checkpoint(
            task=order.task,
            phase=phase.name,
            objective=order.objective,
            flow=order.flow.name,
            state={"run": order.run},
            artifacts=task_checkpoints.artifact_fields(_artifacts_of_flow(order.flow, kept)),
            done=[name for name in names if name in finished],
            pending=[name for name in names if name not in finished],
            tiers=lasting_tiers(
                root,
                task=order.task,
                objective=order.objective,
                recipe=order.recipe,
                settled=SettledTier(order.tier_1),
            ),
        )
        task_checkpoints.write(root, store, checkpoint)
    return phase.name


def _has_checkpoint(root: Path, order: Order, phase: Phase) -> bool:
    """Return whether this run has written the checkpoint of a phase."""
    from foreword.work import task_checkpoints

    entry = task_checkpoints.checkpoint_entry(root, order.task, phase.name)
    if entry is None or entry.checkpoint is None:
        return False
    return bool(entry.checkpoint.state.get("run") == order.run)


def _artifacts_of_flow(flow: Flow, kept: Sequence[Artifact]) -> list[Artifact]:
    """What the phases of this flow have handed on."""
    names = set(flow.artifact_names)
    return [artifact for artifact in kept if artifact.name in names]


def _use_store() -> AbstractContextManager[Database]:
    return runs.current_engine().store.use()
