"""What the elements of a workflow's nodes were known by when they were last used, kept with the
workflow.

It is read once for a run and written at its end. What is kept belongs to a selector: a node that
has another one by now has nothing to be repaired by.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from foreword.errors import StoreError
from foreword.session.workflow_state import WorkflowState
from foreword.store.carried_items import read_items, write_items

_KIND = "element"


@dataclass(slots=True)
class ElementMemory:
    """The marks of elements, by node."""

    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)

    @classmethod
    def load(cls, state: WorkflowState) -> Self:
        """What is kept of a workflow; whatever can't be read is not known."""
        known = dict[str, dict[str, Any]]()
        for item in read_items(state.db, _items_name(state)):
            with suppress(ValueError, RecursionError):
                value = json.loads(item["text"])
                if isinstance(value, dict) and isinstance(value.get("marks"), dict):
                    known[item["title"]] = value
        return cls(known)

    def marks(self, node: str, selector: str) -> dict[str, str]:
        """The marks of a node's element, if they belong to this selector."""
        found = self.known.get(node, {})
        if found.get("selector") != selector:
            return {}
        return {str(name): str(value) for name, value in found["marks"].items()}

    def note(self, node: str, selector: str, marks: object) -> None:
        """Remember what an element is known by now."""
        value = {"selector": selector, "marks": marks}
        if marks and self.known.get(node) != value:
            self.known[node] = value
            self.changed.add(node)

    def save(self, state: WorkflowState) -> None:
        """Keep what is new; a store that can't be written repairs nothing."""
        items = dict[tuple[str, str], dict[str, Any]]()
        for node in self.changed:
            text = json.dumps(self.known[node])
            items[_KIND, node] = {"kind": _KIND, "title": node, "text": text}
        self.changed.clear()
        if items:
            with suppress(StoreError):
                write_items(state.db, _items_name(state), items)


def _items_name(state: WorkflowState) -> str:
    return f"elements of workflow {state.workflow.id}"
