"""A flow as a graph, inside its run: a phase begins as soon as those it waits for are done,
whatever else goes on.

One run walks the whole graph: it begins what can be begun, waits until a phase has its answers,
keeps what it came to, and begins what was waiting for it. Which phase was first is remembered, so
that a run that goes on after a crash takes the same way. Behind a phase that failed or may not pass
its gate nothing begins; the other branches go on to their end. What one phase does is in `phase`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from foreword.plan.flow import Phase, ready
from foreword.work import question_queue, runs
from foreword.work.order import Order, from_json
from foreword.work.phase import (
    PhaseResult,
    PhaseStart,
    begin_phase,
    end_phase,
    ensure_checkpoint,
    finished_phases,
)

KIND = "flow"
DAMAGED = "what it was started with can't be read"


@dataclass(slots=True, kw_only=True)
class GraphState:
    """How far a run is on its way through the graph."""

    order: Order
    done: list[str]
    under_way: dict[str, PhaseStart] = field(default_factory=dict)
    results: dict[str, PhaseResult] = field(default_factory=dict)  # of this run
    gates: list[str] = field(default_factory=list)  # phases behind which nothing begins in this run

    def can_begin(self) -> list[Phase]:
        """The phases whose turn it is."""
        passed = [name for name in self.done if name not in self.gates]
        known = {*self.done, *self.under_way, *self.results}
        return [phase for phase in ready(self.order.flow, passed) if phase.name not in known]

    def add_result(self, phase: Phase, result: PhaseResult) -> None:
        """Note what became of a phase."""
        self.results[phase.name] = result
        if result == PhaseResult():
            self.done.append(phase.name)
            if phase.gate and self.order.stop_at_gates:
                self.gates.append(phase.name)


@runs.workflow(KIND)
def run_flow(payload: dict[str, Any]) -> dict[str, Any]:
    """Go through the phases that are not finished yet."""
    value = runs.started_value()
    order = value if isinstance(value, Order) else from_json(payload)
    if order is None:
        return {"status": "failed", "why": DAMAGED}
    state = GraphState(order=order, done=finished_phases(order))
    for phase in order.flow.phases:
        # in an earlier attempt, which may have ended before this was written
        if phase.name in state.done:
            ensure_checkpoint(order, phase)
    while True:
        for phase in state.can_begin():
            _begin(state, phase)
        if not state.under_way:
            return _outcome(state)
        batches = {name: start.batch for name, start in state.under_way.items()}
        answers = question_queue.wait_for_first_group(batches)
        for phase in order.flow.phases:
            if phase.name in answers:
                start = state.under_way.pop(phase.name)
                result = end_phase(order, phase, start, answers[phase.name])
                state.add_result(phase, result)


def _begin(state: GraphState, phase: Phase) -> None:
    start = begin_phase(state.order, phase)
    if isinstance(start, str):
        state.add_result(phase, PhaseResult(failed=start))
    else:
        state.under_way[phase.name] = start


def _outcome(state: GraphState) -> dict[str, Any]:
    """What the run came to: what failed, who did not approve, and the gates that something waits
    behind."""
    failed = {}
    rejected = {}
    for name, result in state.results.items():
        if result.failed:
            failed[name] = result.failed
        if result.rejected:
            rejected[name] = dict(result.rejected)
    awaited: set[str] = set()
    for phase in state.order.flow.phases:
        if phase.name not in state.done:
            awaited.update(phase.after)
    closed = awaited.intersection(state.gates)
    gates = [phase.name for phase in state.order.flow.phases if phase.name in closed]
    status = "done"
    if failed:
        status = "failed"
    elif rejected or gates:
        status = "stopped"
    return {"status": status, "failed": failed, "rejected": rejected, "gates": gates}
