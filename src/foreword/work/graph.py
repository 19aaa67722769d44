"""A flow as a graph, inside its run: a phase begins as soon as those it waits for are done,
whatever else goes on.

One run walks the whole graph: it begins what can be begun, waits until a phase is settled, keeps
what that came to, and begins what was waiting for it. Who was settled first is remembered, so that
a run that goes on after a crash takes the same way. Behind a phase that failed or may not pass its
gate nothing begins; the other branches go on to their end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from foreword.plan.flow import Phase, ready
from foreword.work import question_queue
from foreword.work.phase import (
    SHAPE,
    Order,
    PhaseResult,
    PhaseStart,
    begin,
    end,
    ensure_checkpoint,
    finished_phases,
    order_of,
)

KIND = "flow"
EARLIER = "it was begun by an earlier Foreword; `foreword flow resume` goes on with it"


@dataclass(slots=True, kw_only=True)
class GraphState:
    """How far a run is on its way through the graph."""

    order: Order
    done: list[str]
    under_way: dict[str, PhaseStart] = field(default_factory=dict)
    ended: dict[str, PhaseResult] = field(default_factory=dict)  # in this run
    gates: list[str] = field(default_factory=list)  # phases behind which nothing begins in this run

    def can_begin(self) -> list[Phase]:
        """The phases whose turn it is."""
        passed = [name for name in self.done if name not in self.gates]
        known = {*self.done, *self.under_way, *self.ended}
        return [phase for phase in ready(self.order.flow, passed) if phase.name not in known]

    def note(self, phase: Phase, ended: PhaseResult) -> None:
        """A phase is settled."""
        self.ended[phase.name] = ended
        if ended == PhaseResult():
            self.done.append(phase.name)
            if phase.gate and self.order.stop_at_gates:
                self.gates.append(phase.name)


@question_queue.workflow(KIND)
def conduct(payload: dict[str, Any]) -> dict[str, Any]:
    """Go through the phases that are not finished yet."""
    if payload.get("shape") != SHAPE:
        return {"status": "failed", "why": EARLIER}
    order = order_of(payload)
    walk = GraphState(order=order, done=finished_phases(order))
    for phase in order.flow.phases:
        # in an earlier attempt, which may have ended before this was written
        if phase.name in walk.done:
            ensure_checkpoint(order, phase)
    while True:
        for phase in walk.can_begin():
            _begin(walk, phase)
        if not walk.under_way:
            return _outcome(walk)
        settled = question_queue.wait_for_first_group(
            {name: begun.asked for name, begun in walk.under_way.items()}
        )
        for phase in order.flow.phases:
            if phase.name in settled:
                walk.note(
                    phase, end(order, phase, walk.under_way.pop(phase.name), settled[phase.name])
                )


def _begin(walk: GraphState, phase: Phase) -> None:
    begun = begin(walk.order, phase)
    if isinstance(begun, str):
        walk.note(phase, PhaseResult(failed=begun))
    else:
        walk.under_way[phase.name] = begun


def _outcome(walk: GraphState) -> dict[str, Any]:
    """What the run came to: what failed, who did not approve, and the gates that something waits
    behind."""
    failed = {name: one.failed for name, one in walk.ended.items() if one.failed}
    rejected = {name: dict(one.rejected) for name, one in walk.ended.items() if one.rejected}
    awaited = {
        name
        for phase in walk.order.flow.phases
        if phase.name not in walk.done
        for name in phase.after
    }
    gates = [
        phase.name
        for phase in walk.order.flow.phases
        if phase.name in awaited.intersection(walk.gates)
    ]
    status = "failed" if failed else "stopped" if rejected or gates else "done"
    return {"status": status, "failed": failed, "rejected": rejected, "gates": gates}
