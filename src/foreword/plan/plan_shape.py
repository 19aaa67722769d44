"""The shape of a plan, once: what `plan.plan.read_plan` checks and what every face describes.

Loaded where a plan is read or described; the rest of `plan` works on plain mappings. Fields that
the shape does not know are kept.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from foreword.plan.validation import DataShape, FilledText, Identity, Text, Whole

Status = Literal["pending", "in_progress", "completed", "failed", "cancelled"]


class TaskShape(DataShape):
    """One task of a phase."""

    task_id: Identity = Field(description="Used once in the whole plan.")
    description: FilledText
    status: Status
    notes: Text | None = None
    node_ids: list[Identity] | None = None


class PhaseShape(DataShape):
    """One phase of a plan."""

    phase_name: FilledText
    status: Status
    tasks: list[TaskShape]


class PlanShape(DataShape):
    """A plan; fields that are not named here are kept."""

    overall_goal: FilledText
    phases: list[PhaseShape]
    workflow_id: Identity | None = Field(None, description="Set where it is kept, as are the next.")
    plan_version: Whole | None = None
    created_at: Text | None = None
    updated_at: Text | None = None
    current_phase: Text | None = None
    next_actions: list[Text] | None = None
    blockers: list[Text] | None = None
    notes: Text | None = None
