"""The way of a run through the nodes: from top to bottom, into loops and conditions, past what is
done already.

Each turn of a node is a step: a row before it begins, and its end together with its result, which
is written once, and the variables it sets. A run that goes on later takes the same way and passes
what has a result. What was typed into a page since it was loaded is lost with its browser, so that
it is typed again; typing has no effect until something is clicked. An address that was being opened
when its process died is opened again, and a note says so; of a click, `unclear_step` decides.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from foreword.director import browser_files, node_tools
from foreword.director.node_turn import (
    NEXT_PAGE,
    NodeOutcome,
    TurnResources,
    side_event_notes,
    take,
)
from foreword.director.unclear_step import UnclearStep, browser_mark, question
from foreword.errors import ForewordError, StoreError
from foreword.plan.node import BRANCHES, MOST_TURNS, NEXT, TYPES, acts, goes_on
from foreword.plan.node_tree import Node, Tree
from foreword.plan.templates import Scope
from foreword.plan.variable_text import display
from foreword.secrets.masking import is_array
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results, node_runs, node_steps, workflows
from foreword.store.node_results import Result
from foreword.store.node_runs import FAILED, RUNNING, STOPPED, SUCCESS, NodeRun

OnStep = Callable[[dict[str, Any]], None]
_DIGEST_DIGITS = 16  # 64 bits: two lists of one loop do not meet by chance


class _LoopBreak(Exception):
    """The innermost loop is left."""


class WalkStop(Exception):
    """The run does not go on: a node has failed, somebody said stop, or has to decide
    (`question`)."""

    def __init__(self, key: str, *, failed: bool, question: str = "") -> None:
        super().__init__(key)
        self.key = key
        self.failed = failed
        self.question = question


@dataclass(slots=True, kw_only=True)
class NodeWalk:
    """How far a run is."""

    state: WorkflowState
    resources: TurnResources
    run: NodeRun
    tree: Tree
    is_stopped: Callable[[], bool]
    unclear: UnclearStep | None = None  # of an earlier attempt
    on_step: OnStep | None = None
    done: dict[str, Result] = field(default_factory=dict)  # of earlier attempts
    steps: list[dict[str, Any]] = field(default_factory=list)  # of this one
    notes: list[str] = field(default_factory=list)
    typed: list[tuple[Node, Scope]] = field(default_factory=list)
    logins: list[tuple[Node, Scope]] = field(default_factory=list)  # that a new browser forgot
    read: set[str] = field(default_factory=set)  # nodes that have read something in this run
    variables: dict[str, Any] = field(default_factory=dict)
    stamp: int = -1  # of the variables

    def go(self) -> None:
        """Go all the way; `WalkStop` where it ends before."""
        self.done = node_results.of_run(self.state.db, self.state.workflow.id, self.run.run)
        self._note_lost_steps()
        if self.unclear is not None and self.unclear.decision == "ask":
            raise WalkStop(self.unclear.key, failed=False, question=question(self.unclear.key))
        for result in self.done.values():
            if result.status == SUCCESS:
                self.read.add(result.node)
        try:
            self._walk_children("", branch="", loops={}, path="")
        except _LoopBreak:
            self.notes.append("a break stands in no loop, so that the run ended there")

    def _walk_children(
        self, parent: str, *, branch: str, loops: Mapping[str, Any], path: str
    ) -> None:
        """Everything that stands in one place."""
        for node in self.tree.children(parent, branch):
            self._walk_node(node, loops, path)

    def _walk_node(self, node: Node, loops: Mapping[str, Any], path: str) -> None:
        key = f"{path}{node['id']}"
        before = self.done.get(key)
        if before is not None and (before.status == SUCCESS or self._went_on(node, before)):
            self._pass(node, loops, before, path)
            return
        if (
            self.unclear is not None
            and self.unclear.key == key
            and self._settle(node, self.unclear)
        ):
            return
        turn = self._step(node, loops, key)
        if turn.status == FAILED:
            self._stop_or_go_on(node, key, turn)
            return
        if node["type"] == "break":
            raise _LoopBreak
        if node["type"] == "condition":
            self._walk_branch(node, bool(turn.value), loops, path)
        if node["type"] == "loop":
            self._walk_turns(node, loops, key, turn)

    def _stop_or_go_on(self, node: Node, key: str, turn: NodeOutcome) -> None:
        """End the run at a node that has failed, unless it is to go on then."""
        if goes_on(node) and not self.is_stopped():
            self._note_once(f"{key}: failed, and the run went on: {turn.output['error']}")
            return
        asks = question(key) if self._is_unclear(node, turn) else ""
        raise WalkStop(key, failed=not self.is_stopped(), question=asks)

    def _went_on(self, node: Node, before: Result) -> bool:
        """Whether a node has failed in an earlier attempt that went on behind it."""
        return before.status == FAILED and goes_on(node) and before.key != self.run.failed_at

    def _settle(self, node: Node, step: UnclearStep) -> bool:
        """Pass a step that may have happened, if it has or is taken for it."""
        if step.decision == "again":
            self.notes.append(f"{step.key}: it may have happened before, and was done again")
            return False
        note = "it had happened when its process ended"
        if step.decision == "skip":
            note = "it was taken for done, and not done again"
        self.notes.append(f"{step.key}: {note}")
        self.typed.clear()
        with self._own_transaction():
            self._keep(node, step.key, NodeOutcome(SUCCESS, {"result": {"note": note}}), SUCCESS)
        return True

    def _walk_branch(self, node: Node, holds: bool, loops: Mapping[str, Any], path: str) -> None:
        """The nodes on the way that a condition has decided for."""
        then, otherwise = BRANCHES
        branch = then if holds else otherwise
        self._walk_children(str(node["id"]), branch=branch, loops=loops, path=path)

    def _pass(self, node: Node, loops: Mapping[str, Any], before: Result, path: str) -> None:
        """A node that is done: a loop with all its turns, a condition as far as it decided."""
        if node["type"] == "condition":
            holds = bool((before.output.get("result") or {}).get("holds"))
            self._walk_branch(node, holds, loops, path)
            return
        if node["type"] == "break":
            raise _LoopBreak
        inside = [node, *self.tree.read(str(node["id"]))]
        known = [TYPES[str(one["type"])] for one in inside]
        scope = Scope(self._current_variables(), loops)
        self.logins += [(one, scope) for one in inside if one["type"] == "http_login"]
        if any(kind.loads for kind in known) or "next" in (node.get("config") or {}):
            self.typed.clear()
        elif any(kind.fills for kind in known):
            self.typed.append((node, scope))

    def _walk_turns(
        self, node: Node, loops: Mapping[str, Any], key: str, turn: NodeOutcome
    ) -> None:
        """All turns of a loop, of a list or until something ends it."""
        try:
            if turn.value is None:
                turns = self._walk_until_end(node, loops, key)
                turn = replace(turn, output={**turn.output, "result": {"turns": turns}})
            else:
                self._walk_list(node, loops, key, turn)
        except WalkStop as stop:
            with self._own_transaction():
                self._keep(node, key, turn, FAILED if stop.failed else STOPPED)
            raise
        with self._own_transaction():
            self._keep(node, key, turn, SUCCESS)

    def _walk_list(self, node: Node, loops: Mapping[str, Any], key: str, turn: NodeOutcome) -> None:
        before = self.done.get(key)
        begun_with = before.output.get("digest") if before is not None else None
        if begun_with is not None and begun_with != _digest(turn.value):
            self.notes.append(
                f"{key}: the list is not the one that the loop began with; turns that are done stay"
                " done"
            )
        for number, value in enumerate(turn.value):
            if not self._walk_turn(node, loops, key, number, value):
                return

    def _walk_until_end(self, node: Node, loops: Mapping[str, Any], key: str) -> int:
        """The turns of a loop that goes from page to page, or while or until something holds; how
        many there were."""
        config = node["config"]
        most = config.get("most") or MOST_TURNS
        for number in range(most):
            turn_key = f"{key}[{number}]"
            scoped = _in_turn(node, loops, number + 1)
            if "while" in config and not self._asks(
                node, scoped, key=f"{turn_key}/while", name="while"
            ):
                return number
            if not self._walk_turn(node, loops, key, number, number + 1):
                return number + 1
            if "until" in config and self._asks(
                node, scoped, key=f"{turn_key}/until", name="until"
            ):
                return number + 1
            if "next" in config and not self._go_to_next(node, scoped, f"{turn_key}{NEXT}"):
                return number + 1
        self._note_once(f"{key}: ended after {most:,} turns, which are the most it may have")
        return int(most)

    def _walk_turn(
        self, node: Node, loops: Mapping[str, Any], key: str, number: int, value: Any
    ) -> bool:
        """One turn of a loop; False where a node inside has ended the loop."""
        scoped = _in_turn(node, loops, value)
        path = f"{key}[{number}]/"
        try:
            self._walk_children(str(node["id"]), branch="", loops=scoped, path=path)
        except _LoopBreak:
            return False
        return True

    def _asks(self, node: Node, loops: Mapping[str, Any], key: str, name: str) -> bool:
        """Whether what a loop asks in a turn holds, as it was answered the first time."""
        before = self.done.get(key)
        if before is not None and before.status == SUCCESS:
            return bool((before.output.get("result") or {}).get("holds"))
        asked = {**node, "type": "condition", "config": node["config"][name]}
        turn = self._step(asked, loops, key)
        if turn.status == FAILED:
            raise WalkStop(key, failed=not self.is_stopped())
        return bool(turn.value)

    def _go_to_next(self, node: Node, loops: Mapping[str, Any], key: str) -> bool:
        """Go to the next page of a loop over pages; False where there is none."""
        before = self.done.get(key)
        if before is not None and before.status == SUCCESS:
            self.typed.clear()
            return (before.output.get("result") or {}).get("next") is not False
        is_unclear = self.unclear is not None and self.unclear.key == key
        if is_unclear and self.unclear is not None and self._settle(node, self.unclear):
            return True
        step = {**node, "type": NEXT_PAGE, "config": {"selector": node["config"]["next"]}}
        turn = self._step(step, loops, key)
        if turn.status == FAILED:
            asks = question(key) if turn.output.get("may_have_happened") else ""
            raise WalkStop(key, failed=not self.is_stopped(), question=asks)
        return bool((turn.output.get("result") or {}).get("next"))

    def _step(self, node: Node, loops: Mapping[str, Any], key: str) -> NodeOutcome:
        """One turn of a node, told when it begins and when it is over."""
        if self.is_stopped():
            raise WalkStop(key, failed=False)
        self._report_step({"node": node["id"], "key": key, "status": RUNNING})
        outcome = self._take_turn(node, Scope(self._current_variables(), loops), key)
        done = {"node": node["id"], "key": key, "status": outcome.status, **outcome.output}
        self.steps.append(done)
        for event in side_event_notes(outcome.output):
            self._note_once(f"{key}: {event}")
        self._report_step(done)
        return outcome

    def _take_turn(self, node: Node, scope: Scope, key: str) -> NodeOutcome:
        step = self._begin_step(node, key)
        in_browser = node["type"] == NEXT_PAGE or TYPES[str(node["type"])].in_browser
        if in_browser:
            self._type_again()
        turn = self._append_values(node, self._take_with_retries(node, scope, key))
        if in_browser and turn.status == SUCCESS:
            self._save_browser(browser_mark(self.run.run, step))
        end = node_steps.UNCLEAR if self._is_unclear(node, turn) else turn.status
        if turn.status == FAILED and self.is_stopped():
            node_steps.end(self.state.db, step, STOPPED if end == FAILED else end)
            return turn
        status = RUNNING if node["type"] == "loop" and turn.status == SUCCESS else turn.status
        with self._own_transaction():
            self._keep(node, key, turn, status)
            node_steps.end(self.state.db, step, end)
        return turn

    def _take_with_retries(self, node: Node, scope: Scope, key: str) -> NodeOutcome:
        """One turn, tried again as often as its node allows, unless it may have had its effect."""
        retries = int((node.get("config") or {}).get("retries") or 0)
        for tried in range(1, retries + 2):
            turn = take(node, scope, self.resources)
            if turn.status == SUCCESS and tried > 1:
                self._note_once(f"{key}: worked when it was tried for the {tried}. time")
            if turn.status == SUCCESS or self._is_unclear(node, turn) or self.is_stopped():
                break
        return turn

    def _append_values(self, node: Node, turn: NodeOutcome) -> NodeOutcome:
        """A turn whose values are added to those that are there, if its node says so: what a node
        reads begins anew with each run."""
        if turn.status != SUCCESS:
            return turn
        is_first = str(node["id"]) not in self.read
        self.read.add(str(node["id"]))
        if not (node.get("config") or {}).get("append"):
            return turn
        values = dict[str, Any]()
        for name, value in turn.variables.items():
            before = self._current_variables().get(name, [])
            if node["type"] == "extract" and is_first:
                before = []
            earlier = list(before) if is_array(before) else [before]
            values[name] = [*earlier, *(value if is_array(value) else [value])]
        secrets = self.resources.secrets
        shown = {name: display(name, secrets.value(value)) for name, value in values.items()}
        return replace(turn, variables=values, output={**turn.output, "variables": shown})

    def _is_unclear(self, node: Node, turn: NodeOutcome) -> bool:
        """Whether a turn failed that may have had its effect all the same."""
        is_acting = node["type"] == NEXT_PAGE or acts(node)
        return is_acting and bool(turn.output.get("may_have_happened"))

    def _begin_step(self, node: Node, key: str) -> int:
        """Write down that a turn of a node is about to be taken."""
        name = str(node["id"])
        with self._own_transaction():
            node_tools.set_status(self.state, name, RUNNING)
            return node_steps.begin(
                self.state.db, self.state.workflow.id, self.run, key=key, node=name
            )

    @contextmanager
    def _own_transaction(self) -> Iterator[None]:
        """All or nothing, and nothing where another process has taken the run over meanwhile:
        this one was silent for so long that it was taken for dead."""
        workflow = self.state.workflow.id
        with self.state.db.transaction(node_runs.lock(workflow)):
            if not node_runs.is_current(self.state.db, workflow, self.run):
                raise StoreError(
                    f"{self.run.run} was taken over by another process, as this one was silent",
                    hint="it goes on there",
                )
            yield

    def _note_lost_steps(self) -> None:
        """Say which addresses were being opened when a process ended."""
        for step in node_steps.of_run(self.state.db, self.state.workflow.id, self.run.run):
            before = self.done.get(step.key)
            is_done = before is not None and before.status == SUCCESS
            node = self.tree.nodes.get(step.node)
            if step.ended or is_done or node is None or node["type"] != "navigate":
                continue
            self._note_once(
                f"{step.key}: it was under way when its process ended, so it is opened again"
            )

    def _keep(self, node: Node, key: str, turn: NodeOutcome, status: str) -> None:
        """Write a result down, with the variables it sets and the status of its node."""
        name = str(node["id"])
        output = dict(turn.output)
        if node["type"] == "loop" and turn.status == SUCCESS and status != SUCCESS:
            output["digest"] = _digest(turn.value)
        if node_results.keep(
            self.state.db,
            self.state.workflow.id,
            run=self.run.run,
            key=key,
            node=name,
            status=status,
            output=output,
        ):
            for variable, value in turn.variables.items():
                self.state.set_variable(variable, value, f"{key} of {self.run.run}")
        node_tools.set_status(self.state, name, status)

    def _type_again(self) -> None:
        """Type what was typed into this page by an earlier attempt; a page that still has it is
        none the worse."""
        again = [*self.logins, *self.typed]
        self.logins, self.typed = [], []
        for node, scope in again:
            if node["type"] == "loop":
                self.notes.append(f"{node['id']}: what was typed in its turns is not typed again")
                continue
            turn = take(node, scope, self.resources)
            if turn.status == FAILED:
                self.notes.append(
                    f"{node['id']}: what was typed could not be typed again: {turn.output['error']}"
                )

    def _save_browser(self, mark: str) -> None:
        if self.resources.browser is None:
            return
        path = browser_files.place(self.state)
        try:
            browser_files.prepare(path)
            self.resources.browser.save(path, mark=mark)
        except ForewordError as error:
            self._note_once(
                f"the browser could not be saved, so that its tabs may be lost: {error.message}"
            )

    def _note_once(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _current_variables(self) -> dict[str, Any]:
        """The variables as they are now, read again where somebody has changed one."""
        stamp = workflows.stamps(self.state.db, self.state.workflow.id).variables
        if stamp != self.stamp:
            self.stamp = stamp
            self.variables = self.state.get_workflow_variables()
            self.resources.secrets.learn([self.variables])
        return self.variables

    def _report_step(self, event: dict[str, Any]) -> None:
        if self.on_step:
            self.on_step(event)


def _in_turn(node: Node, loops: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """What the loops give inside a turn of one of them."""
    name = node["config"].get("as")
    return {**loops, str(name): value} if name else dict(loops)


def _digest(values: Any) -> str:
    """What tells one list from another without giving it away."""
    written = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()[:_DIGEST_DIGITS]
