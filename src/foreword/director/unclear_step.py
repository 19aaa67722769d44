"""The step of a run of which nobody knows whether it had its effect, and what is to become of it.

A click was under way when its process ended, or failed or was stopped in a way that does not say.
Such a step is never repeated unasked: whoever resumes the run says `again` or `skip`. Where the
browser was kept behind that very step, it is known to have happened. A run takes one step after the
other, so that there is at most one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from foreword.browser import browser_state
from foreword.director import browser_files
from foreword.errors import BrowserFailed, UsageError
from foreword.plan.node import acts, goes_on
from foreword.plan.node_tree import Tree
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results, node_steps
from foreword.store.node_runs import SUCCESS

Decision = Literal["ask", "again", "skip", "known"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclearStep:
    """A step that may have happened, and whether it is taken again."""

    key: str
    node: str
    decision: Decision = "ask"


def browser_mark(run: str, step: int) -> str:
    """What a browser is kept under after a step."""
    return f"{run} {step}"


def find(state: WorkflowState, tree: Tree, run: str) -> UnclearStep | None:
    """The step of a run that is not known to have happened or not, if there is one."""
    done = node_results.of_run(state.db, state.workflow.id, run)
    newest = {step.key: step for step in node_steps.of_run(state.db, state.workflow.id, run)}
    for step in newest.values():
        node = tree.nodes.get(step.node)
        if node is None or not acts(node, step.key):
            continue
        before = done.get(step.key)
        if before is not None and (before.status == SUCCESS or goes_on(node)):
            continue  # it has happened, or it failed and the run went on behind it
        if not step.ended or step.status == node_steps.UNCLEAR:
            is_known = _kept_browser_mark(state) == browser_mark(run, step.number)
            decision: Decision = "known" if is_known else "ask"
            return UnclearStep(key=step.key, node=step.node, decision=decision)
    return None


def decide(step: UnclearStep | None, *, again: str | None, skip: str | None) -> UnclearStep | None:
    """The step as it is to be treated; an error where the answer is to another question."""
    if again is not None and skip is not None:
        raise UsageError("a step is done again or skipped, not both", hint="give one of them")
    named = again if again is not None else skip
    if named is None:
        return step
    if step is None or named not in (step.key, step.node):
        asked = f"{step.key} is in question" if step else "no step of this run is in question"
        raise UsageError(f"{named[:80]} can't be decided on: {asked}", hint="resume without it")
    return UnclearStep(key=step.key, node=step.node, decision="skip" if again is None else "again")


def question(key: str) -> str:
    """The question to the user about a step that may or may not have happened."""
    return (
        f"{key} was under way when the run ended, so it may have happened; it is not done again"
        " unless you say so"
    )


def _kept_browser_mark(state: WorkflowState) -> str:
    try:
        return str(browser_state.read(browser_files.place(state)).get("mark", ""))
    except BrowserFailed:
        return ""
