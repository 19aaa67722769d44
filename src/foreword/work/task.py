"""A task, turn by turn: tier 0 in every call, tier 1 for the session, tier 2 for the phase, tier 3
on demand.

What has been decided and found lives in checkpoints, never only in the conversation: throw the
conversation away, in the middle of a phase or with the whole process, and `Task.resume` goes on
from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from foreword.context import tiers
from foreword.context.assemble import assemble
from foreword.context.lookup import lookup
from foreword.context.settled_tier import SettledTier
from foreword.context.tiers import TierUse
from foreword.engine.package import Package
from foreword.errors import UnknownName, UsageError
from foreword.messages.message import Message
from foreword.messages.openai_chat import to_openai
from foreword.messages.shapes import read_message
from foreword.plan.flow import Flow
from foreword.recipe.budget import choose_counter
from foreword.session.workflow_state import checked_name
from foreword.sources.library import INVOKED, RECIPE, Library, library_of
from foreword.store import artifacts
from foreword.store.database import Database
from foreword.store.urls import open_database
from foreword.tokens import Counter
from foreword.work import task_checkpoints
from foreword.work.checkpoint import Checkpoint, as_text
from foreword.work.factory_project import read_flow
from foreword.work.tier_digests import lasting_tiers

# Room for the conversation beside the tiers: a phase of some dozen turns with what they looked up.
# What does not fit is cut like any other section; what must not be lost belongs into a checkpoint.
CONVERSATION_TOKENS = 20_000
LAST_TIER = 2
BEFORE_ANY = "0"  # the phase of a checkpoint that is written before a phase was entered


@dataclass(slots=True)
class TaskState:
    """What a task has come to so far; all of it is in its checkpoints."""

    state: dict[str, Any] = field(default_factory=dict)
    decisions: list[dict[str, str]] = field(default_factory=list)
    findings: list[Any] = field(default_factory=list)
    done: list[str] = field(default_factory=list)


class Task:
    """One task of a project; each thread opens its own."""

    def __init__(
        self,
        library: Library,
        db: Database,
        *,
        name: str,
        objective: str,
        flow: Flow | None,
        recipe: str,
        counter: Counter,
        conversation_tokens: int,
    ) -> None:
        self.library = library
        self.db = db
        self.name = name
        self.objective = objective
        self.flow = flow
        self.phase = ""
        self.known = TaskState()
        self.conversation: list[Message] = []
        self.events: list[str] = []  # what was loaded, released and kept, in order
        self._recipe = recipe
        self._counter = counter
        self._conversation_tokens = conversation_tokens
        # kind and path of what the phase has loaded on the way
        self._invoked: list[tuple[str, str]] = []
        # The checkpoint that the task was resumed from stands in front of tier 1 and stays as it
        # is, or no prompt cache would keep tier 1; one that was written since stands behind it.
        self._resumed_text = ""
        self._progress_text = ""
        self._tier_1 = SettledTier()
        self._last_package: Package | None = None

    @classmethod
    def open(
        cls,
        root: str | Path = ".",
        *,
        task: str,
        objective: str = "",
        workflow: str | None = None,
        db: str | None = None,
        recipe: str = RECIPE,
        model: str | None = None,
        counter: str | Counter | None = None,
        conversation_tokens: int = CONVERSATION_TOKENS,
    ) -> Self:
        """Open a task by its id: `workflow` is the one its phases are of, else the project's.

        `db` is `sqlite:///path` or `postgresql://...`; without it, `FOREWORD_DB` or the store of
        the root. `model` and `counter` are those of `assemble`. `conversation_tokens` is the room
        beside the tiers.
        """
        library = library_of(root, recipe)
        flow_name = workflow or library.values()[0].get("workflow", "")
        flow = _find_flow(library, flow_name, recipe, must=workflow is not None)
        name = checked_name(task, "task")
        chosen_counter = choose_counter(counter, model)
        return cls(
            library,
            open_database(db, library.root),
            name=name,
            objective=objective,
            flow=flow,
            recipe=recipe,
            counter=chosen_counter,
            conversation_tokens=conversation_tokens,
        )

    @classmethod
    def resume(cls, root: str | Path = ".", *, task: str, **opening: Any) -> Self:
        """Go on from the newest checkpoint: tier 0, the checkpoint, then what the phase needs of
        tiers 1 and 2."""
        resumed = cls.open(root, task=task, **opening)
        try:
            flow = resumed.flow.name if resumed.flow else ""
            newest = task_checkpoints.newest(
                resumed.library.root, resumed.db, resumed.name, flow=flow
            )
            resumed._restore(newest.checkpoint, newest.changes)
        except BaseException:
            resumed.close()
            raise
        return resumed

    def close(self) -> None:
        """Close the store; what was not in a checkpoint is gone."""
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # --- loading ----------------------------------------------------------------------------------

    def start(self) -> Package:
        """Begin the session: tiers 0 and 1."""
        self.events.append("loaded tier 1")
        return self.context()

    def enter(self, phase: str | int) -> Package:
        """Enter a phase: what the last one loaded goes, with a checkpoint of what it came to."""
        entered = self._phase_name(str(phase))
        if self.phase and entered != self.phase:
            self.finish()
        self._invoked = []
        self.phase = entered
        # entered again, it is open again
        self.known.done = [name for name in self.known.done if name != entered]
        self.events.append(f"loaded tier 2 of phase {entered}")
        return self.context()

    def finish(self) -> Path:
        """The phase is done: its gate's checkpoint is written and what it loaded is released."""
        if not self.phase:
            raise UsageError(
                "no phase was entered, so none can be finished", hint="enter one first: enter(1)"
            )
        self.known.done = [*self.known.done, self.phase]
        path = self.checkpoint()
        self.events.append(f"released tier 2 of phase {self.phase}")
        self.phase = ""
        self._invoked = []
        if self._resumed_text or self._progress_text:  # the model goes on from this one now
            self._progress_text = self._newest_as_text()
        return path

    def invoke(self, *names: str) -> Package:
        """Load prompts, panels or personas into the phase.

        Where tier 2 has no room for all of it: a checkpoint is written, what was invoked before and
        the conversation are released, the new one is loaded, and the checkpoint is given to the
        model in their place.
        """
        before = self._invoked
        added = [self._find_invoked(name) for name in names]
        self._invoked = [*before, *added]
        package = self.context()
        too_large = _last_tier_tokens(package) > self.usage()[-1].limit
        if too_large:
            self._invoked = before
            self._make_room()
            self._invoked = added
            self._progress_text = self._newest_as_text()
            package = self.context()
        self.events += [f"loaded {path}" for _, path in added]
        if too_large:
            self.events.append("restored the checkpoint")
        return package

    def _make_room(self) -> None:
        """Write a checkpoint, and let go of what the phase has loaded on the way."""
        self.events.append(f"checkpoint {self.checkpoint().name}")
        self.reset()
        self._invoked = []
        self.events.append("released what was invoked before and the conversation")

    def lookup(self, wanted: str, *, kind: str = "", budget: int | None = None) -> str:
        """Tier 3: a document or an artifact by its name, or what has most to do with a question;
        within a budget."""
        found = lookup(
            wanted,
            root=self.library.root,
            kind=kind,
            budget=budget,
            counter=self._counter,
            artifacts=self._artifact_texts(),
            recipe=self._recipe,
        )
        return found.text

    # --- turns ------------------------------------------------------------------------------------

    def append(self, message: object) -> None:
        """Add to the conversation: a provider's or a framework's shape, or a `foreword.Message`."""
        self.conversation.append(read_message(message))

    def context(self) -> Package:
        """The next call: tier 0 as system text, the tiers that are loaded, and the conversation."""
        values = {
            "task_reference": f"{self.name}: {self.objective}" if self.objective else self.name
        }
        for kind in INVOKED:
            paths = [path for path_kind, path in self._invoked if path_kind == kind]
            values[f"invoked_{kind}s"] = ", ".join(paths)
        known = artifacts.of_task(self.db, self.name)
        if known:
            values["artifacts"] = "\n".join(artifact.reference for artifact in known)
        if self._resumed_text:
            values["checkpoint"] = self._resumed_text
        if self._progress_text:
            values["progress"] = self._progress_text
        total = sum(self.library.recipe.tiers.values())
        package = assemble(
            self._recipe,
            root=self.library.root,
            purpose="task" if self.conversation else "work",
            phase=self.phase or None,
            workflow=self.flow.source if self.phase and self.flow else None,
            values=values,
            settled=self._tier_1,
            source={"messages": to_openai(self.conversation)} if self.conversation else None,
            budget=total + (self._conversation_tokens if self.conversation else 0),
            counter=self._counter,
        )
        self._last_package = package
        return package

    def usage(self) -> list[TierUse]:
        """How full each tier was in the last call; without one, in a call of now."""
        package = self._last_package or self.context()
        return tiers.usage(package.report, self.library.recipe.tiers)

    def warnings(self) -> list[str]:
        """A line for each tier at 80% or more."""
        return tiers.warnings(self.usage())

    # --- what lasts -------------------------------------------------------------------------------

    def decide(self, what: str, why: str = "") -> None:
        """Keep a decision."""
        self.known.decisions.append({"what": what, "why": why})

    def found(self, finding: Any) -> None:
        """Keep a finding."""
        self.known.findings.append(finding)

    def remember(self, **state: Any) -> None:
        """Keep values under names."""
        self.known.state.update(state)

    def hand_on(self, name: str, text: str, title: str = "") -> str:
        """Keep an artifact of this phase; later phases see the reference that comes back.

        Handed on again, the new text counts; what it said before can still be recalled by its
        handle.
        """
        if not text.strip():
            raise UsageError(
                f"artifact {name!r} is empty", hint="hand on what the phase has come to"
            )
        kept = artifacts.keep(
            self.db,
            run=self.name,
            name=name,
            phase=self.phase,
            title=title or name,
            text=text,
            tokens=self._counter.count(text),
            replaces=True,
        )
        return kept.reference

    def checkpoint(self) -> Path:
        """Write down everything that is needed to go on."""
        phases = [phase.name for phase in self.flow.phases] if self.flow else []
        kept = artifacts.of_task(self.db, self.name)
        checkpoint = Checkpoint(
            task=self.name,
            phase=self.phase or BEFORE_ANY,
            objective=self.objective,
            flow=self.flow.name if self.flow else "",
            state=self.known.state,
            decisions=self.known.decisions,
            findings=self.known.findings,
            artifacts=task_checkpoints.artifact_fields(kept),
            done=self.known.done,
            pending=[name for name in phases if name not in self.known.done],
            tiers=lasting_tiers(
                self.library.root,
                task=self.name,
                objective=self.objective,
                recipe=self._recipe,
                settled=self._tier_1,
            ),
        )
        return task_checkpoints.write(self.library.root, self.db, checkpoint)

    def reset(self) -> None:
        """Throw the conversation away, as a full window does; tiers and checkpoints stay."""
        self.conversation.clear()

    def _restore(self, checkpoint: Checkpoint, changes: Sequence[str]) -> None:
        self.objective = self.objective or checkpoint.objective
        self.known = TaskState(
            state=dict(checkpoint.state),
            decisions=[dict(decision) for decision in checkpoint.decisions],
            findings=list(checkpoint.findings),
            done=list(checkpoint.done),
        )
        if checkpoint.flow and (self.flow is None or self.flow.name != checkpoint.flow):
            self.flow = _find_flow(self.library, checkpoint.flow, self._recipe, must=True)
        self.phase = "" if checkpoint.phase == BEFORE_ANY else self._phase_name(checkpoint.phase)
        stopped_at_gate = self.phase in self.known.done or (self.known.done and not self.phase)
        if stopped_at_gate:
            self.phase = checkpoint.pending[0] if checkpoint.pending else ""
        self._resumed_text = as_text(checkpoint, changes)
        self.events.append(f"restored {checkpoint.name}")

    # --- small things -----------------------------------------------------------------------------

    def _phase_name(self, phase: str) -> str:
        if self.flow is None:
            raise UsageError(
                "the task has no workflow, so it has no phases", hint="open it with workflow=NAME"
            )
        return self.flow.phase(phase.lower()).name

    def _find_invoked(self, name: str) -> tuple[str, str]:
        """Kind and path of a prompt, panel or persona."""
        known: list[str] = []
        for kind in INVOKED:
            document = self.library.choose(name, kind)
            if document is not None:
                return kind, document.path
            known += [document.name for document in self.library.of_kind(kind)]
        raise UnknownName("prompt, panel or persona", name, known)

    def _newest_as_text(self) -> str:
        newest = task_checkpoints.newest(self.library.root, self.db, self.name, tiers={})
        return as_text(newest.checkpoint)

    def _artifact_texts(self) -> dict[str, str]:
        known = artifacts.of_task(self.db, self.name)
        return {artifact.name: artifacts.text_of(self.db, artifact) for artifact in known}


def _last_tier_tokens(package: Package) -> int:
    """What the last tier would take if all of it were there."""
    return sum(row.original_tokens for row in package.report.sections if row.tier == LAST_TIER)


def _find_flow(library: Library, name: str, recipe: str, *, must: bool) -> Flow | None:
    """The workflow of that name; where it was only the project's default it may be missing."""
    if not must and (not name or library.find(name, "workflow") is None):
        return None
    return read_flow(library.root, name, recipe)
