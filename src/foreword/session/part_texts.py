"""Every part of a session's context but the history, as the model reads it.

The system prompt, the plan, the snapshot, the variables and the tabs of the browser are written
from the store, and only when one has changed; other sections of the recipe are read from the
project. Fitting them into a budget is `next_call`'s business, the history `history_section`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from foreword.context.inputs import Inputs
from foreword.context.readers import gather
from foreword.plan.fresh_parts import EMPTY, part_text, plan_text
from foreword.recipe.schema import SectionSpec
from foreword.recipe.selection import Selection
from foreword.secrets.known_values import KnownValues
from foreword.section import Section
from foreword.session.session_options import SessionOptions
from foreword.session.workflow_state import WorkflowState
from foreword.session.workflow_texts import WorkflowTexts
from foreword.sources.library import Library
from foreword.store import workflows
from foreword.store.session_stamps import SessionStamps


@dataclass(frozen=True, slots=True)
class _PartText:
    """A part as it was written last, and what it was written from."""

    stamp: object
    text: str


class PartTexts:
    """The parts of one session, kept from call to call."""

    def __init__(self, state: WorkflowState, options: SessionOptions, system_prompt: str) -> None:
        self.system_prompt = system_prompt  # as it was read last
        self._state = state
        self.workflow = WorkflowTexts(state)
        self._options = options
        self._root = options.root
        self._parts: dict[str, _PartText] = {}
        self._last: tuple[object, dict[str, str]] = (None, {})  # what was asked, and the answer
        self._plan: tuple[int, dict[str, Any] | None] = (0, None)  # its version, 0 for none

    @property
    def secrets(self) -> KnownValues:
        """Those hidden in the texts that were written last."""
        return self.workflow.secrets

    def texts(self, now: SessionStamps, browser: object = None) -> dict[str, str]:
        """Every part by its tag; what has not changed is not written again, and where nothing has,
        the answer is the same object. `browser` are its tabs, if there is one."""
        stamps: dict[str | None, object] = {
            "system_prompt": now.system_prompt,
            "plan": now.plan,
            "snapshot": now.snapshot,
            "variables": now.variables,
            "browser": repr(browser),
        }
        self.system_prompt = now.system_prompt
        self.workflow.refresh(snapshot=now.snapshot, variables=now.variables)
        secrets = self.secrets
        selection = self._options.selection_for(now, browser)
        project_specs = {tag: spec for tag, spec in selection.sections.items() if not spec.state}
        asked = (stamps, secrets.digest, selection.recipe.name)
        if not project_specs and self._last[0] == asked:
            return self._last[1]
        texts = dict[str, str]()
        for tag, spec in selection.sections.items():
            if spec.state not in stamps:
                continue
            stamp = (stamps[spec.state], secrets.digest)
            part = self._parts.get(tag)
            if part is None or part.stamp != stamp:
                written = secrets.hide_known_values(self._write(spec, now, browser))
                part = self._parts[tag] = _PartText(stamp, written)
            texts[tag] = part.text
        if not now.system_prompt:
            texts.pop(_optional_prompt(selection.sections), None)
        for section in self._project_sections(replace(selection, sections=project_specs)):
            texts[section.tag] = secrets.hide_known_values(section.text)
        self._last = (asked, texts)
        return texts

    def plan(self, now: SessionStamps) -> dict[str, Any] | None:
        """The plan, whole; one that has not changed is not read again."""
        if self._plan[0] != now.plan:
            self._plan = (now.plan, self._state.get_current_plan())
        return self._plan[1]

    def current_secrets(self) -> KnownValues:
        """What hides every secret that the workflow holds now."""
        now = workflows.stamps(self._state.db, self._state.workflow.id)
        self.workflow.refresh(snapshot=now.snapshot, variables=now.variables)
        return self.secrets

    def _write(self, spec: SectionSpec, now: SessionStamps, browser: object) -> str:
        match (spec.state, spec.show):
            case "snapshot", "snapshot":
                return self.workflow.snapshot_text()
            case "variables", "variables":
                return self.workflow.variable_text()
            case "plan", "plan":
                plan = self.plan(now)
                return plan_text(plan) if plan else EMPTY["plan"]
        value = self._value(spec.state, now, browser)
        return part_text(spec.show, value) if spec.show else str(value or "")

    def _value(self, state: str | None, now: SessionStamps, browser: object) -> object:
        match state:
            case "system_prompt":
                return now.system_prompt
            case "plan":
                return self.plan(now)
            case "snapshot":
                return self._state.snapshot()
            case "variables":
                return self._state.get_workflow_variables()
            case _:
                return browser

    def _project_sections(self, selection: Selection) -> list[Section]:
        """The sections that are no state of the workflow, read anew: files may have changed."""
        if not selection.sections:
            return []
        library = Library(self._root, selection.recipe)
        return gather(selection, Inputs(root=self._root), library).sections


def _optional_prompt(specs: Mapping[str, SectionSpec]) -> str:
    """The tag of a system prompt that is left out where nobody has written one: that of a recipe
    for plain conversations. A workflow's recipe has the same parts in every call."""
    if any(spec.state == "plan" for spec in specs.values()):
        return ""
    return next((tag for tag, spec in specs.items() if spec.state == "system_prompt"), "")
