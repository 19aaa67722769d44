"""What updates of the plan have changed, read from the conversation: each is compared with the one
before it.

The calls themselves hold whole plans, so nothing is asked of the store. What is no plan is shown as
any other call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foreword.message import ToolCall, ToolResult
from foreword.operations.conversation_operations import StoredMessage
from foreword.plan import plan as planning
from foreword.secrets.known_values import KnownValues

UPDATE = "update_plan"
MOST_LINES = 12  # of one change, in a conversation; the plan's own page has all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChange:
    """One update of the plan, for reading."""

    is_first: bool  # as far as the conversation was read
    goal: str
    reason: str
    changes: tuple[str, ...]
    more: int  # changes that are not shown
    completed: int
    total: int


class PlanChangeTexts:
    """The plans of a conversation, from its oldest message on."""

    def __init__(self, earlier: Sequence[StoredMessage], secrets: KnownValues) -> None:
        self._secrets = secrets
        self._open: dict[str, tuple[dict[str, Any], str]] = {}  # plan and reason, by call
        self._plan: dict[str, Any] | None = None  # that stands
        for stored in earlier:
            for part in stored.message.parts:
                if isinstance(part, ToolCall):
                    self.note(part)
                elif isinstance(part, ToolResult):
                    self.take(part)

    def note(self, call: ToolCall) -> None:
        """Remember a call, if it updates the plan."""
        if call.name != UPDATE:
            return
        try:
            arguments = self._secrets.value(json.loads(call.arguments or "{}"))
        except (ValueError, RecursionError):
            return
        if not isinstance(arguments, Mapping) or planning.problems(arguments.get("plan")):
            return
        self._open[call.id] = (arguments["plan"], str(arguments.get("reason") or ""))

    def take(self, result: ToolResult) -> PlanChange | None:
        """What a call has changed, by its result; nothing where it changed nothing."""
        plan, reason = self._open.pop(result.id, (None, ""))
        if plan is None or result.failed:
            return None
        before = self._plan
        self._plan = plan
        changes = planning.diff(before, plan) if before else _outline(plan)
        tasks = [task for _, task in planning.tasks(plan)]
        return PlanChange(
            is_first=before is None,
            goal=str(plan.get("overall_goal") or ""),
            reason=reason,
            changes=tuple(changes[:MOST_LINES]),
            more=max(0, len(changes) - MOST_LINES),
            completed=sum(task["status"] == "completed" for task in tasks),
            total=len(tasks),
        )


def _outline(plan: Mapping[str, Any]) -> list[str]:
    lines = list[str]()
    for phase in plan["phases"]:
        words = ", ".join(str(task["description"]) for task in phase["tasks"])
        lines.append(f"{phase['phase_name']}: {words}" if words else str(phase["phase_name"]))
    return lines
