"""A workflow's nodes and variables as a call shows them, and the secrets that they hold.

Read again when their stamps have moved; what is shown of a row is worked out again only when the
row is another, so a call costs what has changed. Which part of a context they are is
`part_texts`' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from foreword.errors import BadNode
from foreword.plan.snapshot import as_json, node_json, snapshot
from foreword.plan.variable_text import variable_lines
from foreword.secrets.known_values import KnownValues, secrets_in, whole_secrets
from foreword.session.workflow_state import WorkflowState, workflow_fields
from foreword.store import variables, workflows
from foreword.store.database import from_json

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class _NodeText:
    """A node as it is shown."""

    place: tuple[int, str]  # its position, then its id
    text: str
    status: str
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _VariableText:
    """A variable as it is shown, and its value."""

    value: Any
    line: str
    secrets: tuple[str, ...]  # inside the value; whether all of it is one, its neighbours decide


class WorkflowTexts:
    """The nodes and variables of one workflow."""

    def __init__(self, state: WorkflowState) -> None:
        self.secrets = KnownValues()
        self._state = state
        self._stamps: tuple[int, int] | None = None
        self._about: dict[str, Any] = {}
        self._nodes = _RowCache(self._node)
        self._variables = _RowCache(self._variable)
        self._secret_texts = set[str]()

    def refresh(self, *, snapshot: int, variables: int) -> None:
        """Take in what has changed since it was read last, by the stamps of now."""
        before = self._stamps
        if before == (snapshot, variables):
            return
        if before is None or before[0] != snapshot:
            self._read_nodes()
        if before is None or before[1] != variables:
            self._read_variables()
        self._stamps = (snapshot, variables)
        self._learn_secrets()

    def snapshot_text(self) -> str:
        """The workflow and its nodes by position, then id."""
        nodes = sorted(self._nodes.by_name().values(), key=lambda node: node.place)
        return as_json(self._about, [node.text for node in nodes])

    def variable_text(self) -> str:
        """A line for each variable, in the order in which they were first set."""
        lines = [variable.line for variable in self._variables.by_name().values()]
        return "\n".join(lines) or variable_lines({})

    def node_statuses(self) -> dict[str, str]:
        """The status of each node by its id, in the order of the nodes."""
        return {name: node.status for name, node in self._nodes.by_name().items()}

    def variable_names(self) -> list[str]:
        """In the order in which they were first set."""
        return list(self._variables.by_name())

    def _read_nodes(self) -> None:
        state = self._state
        workflow, written = workflows.find_with_nodes(state.db, state.workflow.name)
        self._about = snapshot(workflow_fields(workflow), ())["workflow"]
        try:
            self._nodes.update(written)
        except BadNode:
            state.snapshot()  # its error has the places of all that is wrong
            raise

    def _node(self, name: str, written: str) -> _NodeText:
        node = from_json(written)
        (shown,) = snapshot({}, [node])["nodes"]
        return _NodeText(
            place=(node["position"], str(node["id"])),
            text=node_json(shown),
            status=str(node.get("status") or ""),
            secrets=tuple(secrets_in(node.get("config"))),
        )

    def _read_variables(self) -> None:
        state = self._state
        self._variables.update(variables.written_variables(state.db, state.workflow.id))

    def _variable(self, name: str, written: str) -> _VariableText:
        value = from_json(written)
        return _VariableText(
            value=value, line=variable_lines({name: value}), secrets=tuple(secrets_in(value))
        )

    def _learn_secrets(self) -> None:
        """Know every secret that the workflow holds now; where they are the same as before, so is
        what hides them."""
        shown = self._variables.by_name()
        whole = whole_secrets({name: variable.value for name, variable in shown.items()})
        texts = set[str]()
        for name, variable in shown.items():
            texts.update(whole.get(name, variable.secrets))
        for node in self._nodes.by_name().values():
            texts.update(node.secrets)
        if texts != self._secret_texts:
            self.secrets = KnownValues()
            self.secrets.learn_texts(texts)
            self._secret_texts = texts


class _RowCache(Generic[Made]):
    """What was made of rows, by their names; made anew only where what is written is another."""

    def __init__(self, make: Callable[[str, str], Made]) -> None:
        self._make = make
        self._rows = dict[str, tuple[str, Made]]()

    def update(self, rows: Iterable[tuple[str, str]]) -> None:
        """Take in the rows as they are now, and forget all others."""
        now = dict[str, tuple[str, Made]]()
        for name, written in rows:
            known = self._rows.get(name)
            if known is None or known[0] != written:
                known = (written, self._make(name, written))
            now[name] = known
        self._rows = now

    def by_name(self) -> dict[str, Made]:
        """What was made of each row, in the order of the rows."""
        return {name: made for name, (_, made) in self._rows.items()}
