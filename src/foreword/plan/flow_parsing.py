"""A workflow's text as a flow: its phases, when each begins, and what each takes and gives.

Pure. Which documents a phase names is not told here (`work.factory_project` knows them); lint and
the runs of flows read the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.pattern import lazy_pattern
from foreword.plan.artifact_names import handovers
from foreword.plan.flow import GATE, Flow, Phase
from foreword.text import marks, parts
from foreword.text.parts import Part

_NUMBER = lazy_pattern(r"\d+(?:\.\d+)*")


def parse_flow(text: str, *, name: str, source: str) -> Flow:
    """The phases of a workflow, in the author's order."""
    found = parts.phases(text)
    handed = handovers({part.name: part.text for part in found}, parts.before_phases(text))
    phases = []
    for part in found:
        one = handed[part.name]
        phase = Phase(
            name=part.name,
            title=part.title,
            after=_phases_before(part, found) if part.after is None else part.after,
            artifact=one.gives,
            also=one.also,
            takes=one.takes,
            gate=GATE.search(part.text) is not None,
            text=marks.plain(part.text),
        )
        phases.append(phase)
    return Flow(name=name, source=source, phases=tuple(phases))


def _phases_before(part: Part, others: Sequence[Part]) -> tuple[str, ...]:
    """Where the author says nothing: every phase of the number before; 3a and 3b wait for 2 and
    not for each other, 3.5 for 3."""
    number_of = {other.name: _number(other.name) for other in others}
    earlier = [number for number in number_of.values() if number < number_of[part.name]]
    if not earlier:
        return ()
    before = max(earlier)
    return tuple(name for name, number in number_of.items() if number == before)


def _number(name: str) -> tuple[int, ...]:
    digits = _NUMBER.match(name)
    return tuple(map(int, digits[0].split("."))) if digits else (0,)
