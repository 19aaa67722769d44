"""A workflow's state: its plan in all versions, its variables with their trail, its nodes.

These are the tools an agent is given (`update_plan`, `get_workflow_variable` ...), under the same
names. Nothing here writes a log; what a tool returns goes to its caller alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

from foreword.errors import UnknownName, UsageError
from foreword.pattern import lazy_pattern
from foreword.plan import plan as planning
from foreword.plan.snapshot import read_node, snapshot
from foreword.plan.variable_text import of_node
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import hide, mask
from foreword.session.take_turns import take_turns
from foreword.sources.project_root import project_root
from foreword.store import plans, variables, workflows
from foreword.store.database import Database, from_json
from foreword.store.plans import Plan
from foreword.store.secret_values import secrets_of
from foreword.store.urls import open_database
from foreword.store.variables import VariableChange
from foreword.store.workflows import Workflow

ALL = "all"  # in place of a name: every variable
LONGEST_NAME = 200  # characters: a name is shown on one line, in lists and in commands to copy
_NAME = lazy_pattern(rf"[^\x00-\x1f\x7f]{{1,{LONGEST_NAME}}}")


def workflow_fields(workflow: Workflow) -> dict[str, Any]:
    """What is kept about a workflow besides its nodes; secrets are not hidden."""
    about = {
        "id": workflow.name,
        "name": workflow.name,
        "created_at": workflow.created,
        "updated_at": workflow.updated,
    }
    return {**about, **workflow.details}


@take_turns
class WorkflowState:
    """One workflow in one store, open; threads that share it take turns."""

    is_new = False  # whether this very opening made it
    # the address it was opened with, and for which project: whoever needs it once more
    url: str | None = None
    root = Path()

    def __init__(self, db: Database, workflow: Workflow) -> None:
        self.db = db
        self.workflow = workflow
        self.turn = RLock()  # held by whoever uses it

    @classmethod
    def open(
        cls,
        url: str | None = None,
        workflow: str = "main",
        *,
        root: str | Path = ".",
        create: bool = True,
    ) -> Self:
        """The workflow of that name, made where there is none, unless `create` says no."""
        name = checked_name(workflow, "workflow")
        db = open_database(url, project_root(root), create=create)
        try:
            found, is_new = find_or_make(db, name, create=create)
            state = cls(db, found)
            state.is_new = is_new
            state.url = url
            state.root = project_root(root)
        except BaseException:
            db.close()
            raise
        return state

    def close(self) -> None:
        """Close the store."""
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- the plan ---------------------------------------------------------------------------------

    def get_current_plan(self) -> dict[str, Any] | None:
        """The plan as it is now."""
        newest = plans.current(self.db, self.workflow.id)
        return newest.data if newest else None

    def update_plan(self, plan: object, reason: str, expected_version: int | None = None) -> Plan:
        """Replace the plan by a new version; `PlanConflict` where the newest is not the expected
        one."""
        data = {"workflow_id": self.workflow.name, **planning.read_plan(plan)}
        return plans.add(
            self.db, self.workflow.id, data, reason=_reason(reason), expected=expected_version
        )

    def plan_history(self) -> list[Plan]:
        """Every version, the oldest first."""
        return plans.history(self.db, self.workflow.id)

    def plan_version(self, version: int) -> Plan:
        """One version."""
        found = plans.get(self.db, self.workflow.id, version)
        if found is None:
            known = [str(plan.version) for plan in self.plan_history()]
            raise UnknownName(
                "plan version", str(version), known, where=f"of {self.workflow.name!r}"
            )
        return found

    def plan_diff(self, old: int, new: int) -> list[str]:
        """What changed from one version to another, in words; secrets are hidden in them."""
        before = self.plan_version(old).data
        after = self.plan_version(new).data
        lines = planning.diff(_without_secrets(before), _without_secrets(after))
        if not lines and planning.diff(before, after):
            return ["something that is hidden has changed"]
        return lines

    # --- variables --------------------------------------------------------------------------------

    def get_workflow_variables(self) -> dict[str, Any]:
        """Every variable with its whole value."""
        return variables.all_variables(self.db, self.workflow.id)

    def get_workflow_variable(
        self, name: str | None = None, *, node: str | int | None = None
    ) -> Any:
        """The whole value of one variable; with a `node` alone, or with the name "all", a mapping
        of several."""
        known = self.get_workflow_variables()
        if node is not None:
            known = of_node(known, node)
            name = ALL if name is None else name
        if name is None:
            raise UsageError("which variable?", hint='give its name, a node, or "all"')
        if name in known:
            return known[name]
        if name == ALL:
            return known
        raise UnknownName("variable", name, known, where=f"in {self.workflow.name!r}")

    def set_variable(self, name: str, value: object, reason: str) -> None:
        """Set a variable, and write down why."""
        variables.set_variable(
            self.db, self.workflow.id, checked_name(name, "variable"), value, reason=_reason(reason)
        )

    def clear_variable(self, name: str, reason: str) -> None:
        """Remove a variable, and write down why."""
        if not variables.drop(self.db, self.workflow.id, name, reason=_reason(reason)):
            known = self.get_workflow_variables()
            raise UnknownName("variable", name, known, where=f"in {self.workflow.name!r}")

    def clear_all_variables(self, reason: str) -> list[str]:
        """Remove every variable, and write down why; returns their names."""
        return variables.drop_all(self.db, self.workflow.id, _reason(reason))

    def variable_changes(self, limit: int = 100) -> list[VariableChange]:
        """The trail of changes, the newest first; secrets are hidden in it."""
        return variables.changes(self.db, self.workflow.id, limit)

    def secrets(self) -> KnownValues:
        """What hides every secret that the workflow holds now, by its name or by its value."""
        return secrets_of(self.db, self.workflow.id)

    # --- nodes ------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """The workflow and its nodes as a call shows them, secrets hidden."""
        workflow, written = workflows.find_with_nodes(self.db, self.workflow.name)
        nodes = [from_json(text) for _, text in written]
        return snapshot(workflow_fields(workflow), nodes)

    def about(self) -> dict[str, Any]:
        """What is kept about the workflow besides its nodes; secrets are not hidden."""
        return workflow_fields(workflows.find_workflow(self.db, self.workflow.name))

    def describe(self, details: object) -> None:
        """Replace what is kept about the workflow besides its nodes."""
        if not isinstance(details, Mapping):
            raise UsageError(
                f"a workflow's details must be a mapping, not {type(details).__name__}"
            )
        workflows.describe(self.db, self.workflow.id, details)

    def put_node(self, node: object) -> None:
        """Add a node, or replace the one with its id."""
        workflows.put_node(self.db, self.workflow.id, read_node(node))

    def drop_node(self, node: str | int) -> None:
        """Remove a node."""
        if not workflows.drop_node(self.db, self.workflow.id, str(node)):
            known = [str(one["id"]) for one in workflows.nodes(self.db, self.workflow.id)]
            raise UnknownName("node", str(node), known, where=f"in {self.workflow.name!r}")


def _reason(text: object) -> str:
    """Why something was changed, as it is written down: without secrets."""
    if not isinstance(text, str):
        raise UsageError(
            f"a reason must be text, not {type(text).__name__}", hint='for example "login works"'
        )
    return mask(text)


def _without_secrets(plan: Mapping[str, Any]) -> dict[str, Any]:
    hidden = hide(plan)
    assert isinstance(hidden, dict)
    return hidden


def find_or_make(db: Database, name: str, *, create: bool) -> tuple[Workflow, bool]:
    """The workflow of that name, and whether it had to be made."""
    if not create:
        return workflows.find_workflow(db, name), False
    found = workflows.find(db, name)
    return found or workflows.ensure(db, name), found is None


def checked_name(name: object, what: str) -> str:
    """A name that can be kept and shown on one line."""
    if not isinstance(name, str) or not name.strip() or not _NAME.fullmatch(name):
        raise UsageError(
            f"a {what}'s name must be 1 to {LONGEST_NAME} characters on one line, not"
            f" {str(name)[:40]!r}",
            hint="for example gmail-to-airtable",
        )
    return name
