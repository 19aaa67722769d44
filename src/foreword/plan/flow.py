"""A flow: the phases of a piece of work, and which of them wait for which.

Plain values and their order. Reading them out of a project's Markdown is the business of
`work.factory_project`; running them is that of `work.flow_runs`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from foreword.errors import CyclicFlow, UnknownName, UsageError
from foreword.pattern import lazy_pattern

LONGEST_GATE = 200  # characters of what is shown of a gate: two lines in the status of a flow
# `## GATE`, `> **Approval gate**`: where a phase says what must hold before the next one.
GATE = lazy_pattern(
    r"^(?:#{2,6}[ \t]+|[>*_ \t-]{0,8}\*\*)(?:approval )?GATE\b", re.IGNORECASE | re.MULTILINE
)
_QUOTE_MARKS = lazy_pattern(r"^[>\s]+", re.MULTILINE)
_PARAGRAPH = lazy_pattern(r"\n[>\s]*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One phase, as the author wrote it."""

    name: str  # "1", "3a"
    title: str
    after: tuple[str, ...] = ()  # phases that must be done before it
    artifact: str = ""  # "FEAT-1": what it calls what it hands on, "" where it gives it no name
    also: tuple[str, ...] = ()  # other names that it gives to the same
    takes: tuple[str, ...] = ()  # artifacts of earlier phases that it names
    gate: bool = False
    personas: tuple[str, ...] = ()  # names or paths it adopts
    prompts: tuple[str, ...] = ()
    panel: str = ""  # a panel it invokes
    text: str = ""

    @property
    def key(self) -> str:
        """What its answer is kept and handed on under: its artifact, else its own name."""
        return self.artifact or f"phase {self.name}"

    @property
    def keys(self) -> tuple[str, ...]:
        """All names that its answer is kept under; the one that says it is done comes last."""
        return (*self.also, self.key)

    @property
    def gate_text(self) -> str:
        """What must hold before the next phase, in the author's words; nothing where the gate
        says nothing."""
        gate = GATE.search(self.text) if self.gate else None
        if gate is None:
            return ""
        for paragraph in _PARAGRAPH.split(self.text[gate.end() :]):
            words = _QUOTE_MARKS.sub(" ", paragraph).split()
            text = " ".join(words).strip("*_: ")
            if len(text) > LONGEST_GATE:
                return f"{text[:LONGEST_GATE].rsplit(' ', 1)[0]} ..."
            if text:
                return text
        return ""


@dataclass(frozen=True, slots=True)
class Flow:
    """The phases of a workflow, in the author's order."""

    name: str
    source: str  # path of the workflow file
    phases: tuple[Phase, ...]

    def phase(self, name: str) -> Phase:
        """The phase of that name."""
        found = next((phase for phase in self.phases if phase.name == name), None)
        if found is None:
            raise UnknownName(
                "phase", name, [phase.name for phase in self.phases], where=f"in flow {self.name}"
            )
        return found

    @property
    def artifact_names(self) -> list[str]:
        """What its phases hand on, under the names that authors gave it or the phase's own."""
        names = list[str]()
        for phase in self.phases:
            names += phase.keys
        return names


def handover_lines(flow: Flow) -> list[str]:
    """What each phase takes and gives, a line for each; one that names nothing to take is given
    what the phases before it hand on."""
    found = []
    for phase in flow.phases:
        takes = "takes" if phase.takes else "is given"
        names = phase.takes or _keys_before(flow, phase)
        taken = f"{takes} {_references(names)}, " if names else ""
        gives = _references((phase.key, *phase.also))
        found.append(f"phase {phase.name} {phase.title}".rstrip() + f": {taken}hands on {gives}")
    return found


def _references(names: Iterable[str]) -> str:
    return ", ".join(f"[{name}]" for name in names)


def _keys_before(flow: Flow, phase: Phase) -> tuple[str, ...]:
    """What is there when a phase begins: of the phases that it waits for, and those they do."""
    waiting = {one.name: one.after for one in flow.phases}
    before: set[str] = set()
    pending = list(phase.after)
    while pending:
        name = pending.pop()
        if name not in before:
            before.add(name)
            pending += waiting.get(name, ())
    return tuple(one.key for one in flow.phases if one.name in before)


def ready(flow: Flow, done: Collection[str]) -> tuple[Phase, ...]:
    """The phases that are not done and wait for none that is not."""
    finished = set(done)
    phases = list[Phase]()
    for phase in flow.phases:
        if phase.name not in finished and finished.issuperset(phase.after):
            phases.append(phase)
    return tuple(phases)


def waves(flow: Flow) -> tuple[tuple[Phase, ...], ...]:
    """The phases by how soon each may run at the earliest; an error where some wait for each
    other."""
    check(flow)
    found: list[tuple[Phase, ...]] = []
    done: set[str] = set()
    while len(done) < len(flow.phases):
        wave = ready(flow, done)
        if not wave:
            after = {phase.name: phase.after for phase in flow.phases if phase.name not in done}
            raise CyclicFlow(flow.name, _cycle(after))
        found.append(wave)
        done.update(phase.name for phase in wave)
    return tuple(found)


def check(flow: Flow) -> None:
    """An error where a flow has no phases, two of one name, two that hand on the same, or waits
    for an unknown one."""
    if not flow.phases:
        raise UsageError(
            f"{flow.source or flow.name} has no phases",
            hint="mark them with <!-- PHASE:1 --> or `## Phase 1: Name` headings",
        )
    names = [phase.name for phase in flow.phases]
    _refuse_repeated(flow, "phase", names)
    _refuse_repeated(flow, "artifact", flow.artifact_names)
    for phase in flow.phases:
        for name in phase.after:
            if name not in names:
                raise UnknownName(
                    "phase",
                    name,
                    names,
                    where=f"that phase {phase.name} of flow {flow.name} waits for",
                )


def _refuse_repeated(flow: Flow, what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UsageError(
                f"flow {flow.name!r} has {what} {name!r} twice",
                hint=f"give each {what} a name of its own",
            )
        seen.add(name)


def _cycle(after: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """One round of phases that wait for each other, in the order they would run; the first one
    is also the last."""
    path: list[str] = []
    name, *_ = after
    while name not in path:
        path.append(name)
        # every phase that is left waits for another one that is left, or it would be ready
        name = next(earlier for earlier in after[name] if earlier in after)
    cycle = [*path[path.index(name) :], name]
    return tuple(reversed(cycle))
