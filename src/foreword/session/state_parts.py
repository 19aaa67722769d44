"""The parts of a session's context but its history: what each says now, whole and by what changed.

The system prompt, the plan, the snapshot, the variables and the tabs of the browser come from the
store; other sections of the recipe are read from the project. How they are fitted into a budget is
`head`'s business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from foreword.context.inputs import Inputs
from foreword.context.readers import gather
from foreword.plan.changed_lines import changed_lines
from foreword.plan.fresh_parts import EMPTY, part_text, plan_text
from foreword.plan.snapshot import as_json, node_json, snapshot
from foreword.plan.variable_text import variable_lines
from foreword.recipe.schema import SectionSpec
from foreword.recipe.selection import Selection
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import hide
from foreword.session.session_options import SessionOptions
from foreword.session.workflow_state import WorkflowState, workflow_fields
from foreword.sources.library import Library
from foreword.store import variables, workflows
from foreword.store.database import from_json
from foreword.store.session_stamps import SessionStamps, read_stamps

SYSTEM_PROMPT = "system_prompt"
REMOVED, ADDED = "removed: ", "added: "  # before a line of a variable or a tab
# What tells one value of a part from another: a tree by its paths, lines by their names, or else
# the whole text. None is what the call log has.
PartValue = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePart:
    """One part as it is now; secrets are hidden in the text, not yet in the value."""

    text: str
    value: PartValue | None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Every part as it is now, and what pages show beside the conversation."""

    parts: Mapping[str, StatePart]  # by tag, in the order of the recipe
    secrets: KnownValues  # all that the workflow holds
    system_prompt: str
    prompt_tag: str  # of the part that it is; nothing where a recipe has none
    plan: dict[str, Any] | None
    node_statuses: Mapping[str, str]  # by id
    variable_names: list[str]

    @property
    def texts(self) -> dict[str, str]:
        """The text of each part by its tag."""
        return {tag: part.text for tag, part in self.parts.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workflow:
    """What the store holds of a workflow, as it is shown, and its secrets."""

    plan: dict[str, Any] | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    nodes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)  # of the variables, by their names
    secrets: KnownValues = field(default_factory=KnownValues)


class StateReader:
    """Reads the state of one session, and again only what its stamps say is new."""

    def __init__(self, state: WorkflowState, options: SessionOptions) -> None:
        self._state = state
        self._options = options
        self._stamps: tuple[int, int, int] | None = None
        self._workflow = _Workflow()
        self._last: tuple[object, State | None] = (None, None)  # what was asked, and the answer

    def read(self, now: SessionStamps, browser: object = None) -> State:
        """Return the state as of the stamps; tabs that are None are as the call log has them."""
        selection = self._options.selection_for(now, browser)
        asked = (now[:4], selection.recipe.name, repr(browser))
        known_for, known = self._last
        has_files = any(not spec.state for spec in _specs(selection))  # which may have changed
        if known is None or known_for != asked or has_files:
            known = self._read(now, browser, selection)
            self._last = (asked, known)
        return known

    def _read(self, now: SessionStamps, browser: object, selection: Selection) -> State:
        self._refresh(now)
        workflow = self._workflow
        parts = dict[str, StatePart]()
        for tag, spec in selection.sections.items():
            if spec.state is not None and spec.state != "messages":
                part = self._part(spec, now, browser)
                parts[tag] = replace(part, text=workflow.secrets.hide_known_values(part.text))
        prompt_tag = ""
        for tag, spec in selection.sections.items():
            prompt_tag = tag if spec.state == SYSTEM_PROMPT else prompt_tag
        if not now.system_prompt and not any(spec.state == "plan" for spec in _specs(selection)):
            parts.pop(prompt_tag, None)  # a workflow's recipe has the same parts in every call
        for tag, text in self._project_texts(selection).items():
            hidden = workflow.secrets.hide_known_values(text)
            parts[tag] = StatePart(text=hidden, value={"text": text})
        in_order = {tag: parts[tag] for tag in selection.sections if tag in parts}
        return State(
            parts=in_order,
            secrets=workflow.secrets,
            system_prompt=now.system_prompt,
            prompt_tag=prompt_tag,
            plan=workflow.plan,
            node_statuses={name: str(node.get("status") or "") for name, node in self._by_place()},
            variable_names=list(workflow.lines),
        )

    def secrets(self, conversation: int) -> KnownValues:
        """Return what hides every secret that the workflow holds now."""
        self._refresh(read_stamps(self._state.db, conversation))
        return self._workflow.secrets

    def _refresh(self, now: SessionStamps) -> None:
        stamps = (now.plan, now.snapshot, now.variables)
        if stamps == self._stamps:
            return
        state = self._state
        workflow, written = workflows.find_with_nodes(state.db, state.workflow.name)
        nodes = [from_json(text) for _, text in written]
        shown = snapshot(workflow_fields(workflow), nodes)
        values = variables.all_variables(state.db, state.workflow.id)
        secrets = KnownValues()
        secrets.learn([values, *(node.get("config") for node in nodes)])
        self._workflow = _Workflow(
            plan=state.get_current_plan() if now.plan else None,
            about=shown["workflow"],
            nodes={node["id"]: node for node in shown["nodes"]},
            lines={name: variable_lines({name: value}) for name, value in values.items()},
            secrets=secrets,
        )
        self._stamps = stamps

    def _by_place(self) -> Iterable[tuple[str, Mapping[str, Any]]]:
        """The nodes by their ids, in the order of the store."""
        return sorted(self._workflow.nodes.items(), key=lambda item: item[1]["position"])

    def _part(self, spec: SectionSpec, now: SessionStamps, browser: object) -> StatePart:
        workflow = self._workflow
        match (spec.state, spec.show):
            case ("plan", "plan"):
                text = plan_text(workflow.plan) if workflow.plan else EMPTY["plan"]
                return StatePart(text=text, value={"tree": hide(workflow.plan)})
            case ("snapshot", "snapshot"):
                nodes = list(map(node_json, workflow.nodes.values()))
                tree = {"workflow": workflow.about, "nodes": workflow.nodes}
                return StatePart(text=as_json(workflow.about, nodes), value={"tree": tree})
            case ("variables", "variables"):
                text = "\n".join(workflow.lines.values()) or EMPTY["variables"]
                return StatePart(text=text, value={"lines": workflow.lines})
            case ("browser", "browser"):
                return _browser_part(browser)
        value = self._value(str(spec.state), now, browser)
        text = part_text(spec.show, value) if spec.show else str(value or "")
        return StatePart(text=text, value={"text": text})

    def _value(self, state: str, now: SessionStamps, browser: object) -> object:
        values: Mapping[str, Callable[[], object]] = {
            SYSTEM_PROMPT: lambda: now.system_prompt,
            "plan": lambda: self._workflow.plan,
            "snapshot": self._state.snapshot,
            "variables": self._state.get_workflow_variables,
            "browser": lambda: browser,
        }
        return values[state]() if state in values else None

    def _project_texts(self, selection: Selection) -> dict[str, str]:
        """The sections that are no state of the workflow, read anew: files may have changed."""
        specs = {tag: spec for tag, spec in selection.sections.items() if not spec.state}
        if not specs:
            return {}
        library = Library(self._options.root, selection.recipe)
        inputs = Inputs(root=self._options.root)
        sections = gather(replace(selection, sections=specs), inputs, library).sections
        return {section.tag: section.text for section in sections}


def _specs(selection: Selection) -> Iterable[SectionSpec]:
    return selection.sections.values()


def _browser_part(browser: object) -> StatePart:
    text = part_text("browser", browser)
    if browser is None:
        return StatePart(text=text, value=None)
    lines = dict[str, str]()
    for line in text.splitlines():
        name = line.partition(" = ")[0].removesuffix(" (Active)").removeprefix("- ")
        while name in lines:  # tabs of one name
            name += " "
        lines[name if lines else "tabs"] = line
    return StatePart(text=text, value={"lines": lines})


def with_logged_parts(state: State, logged: Mapping[str, PartValue]) -> State:
    """Return the state with what nobody said now as the call log has it."""
    parts = dict(state.parts)
    for tag, part in state.parts.items():
        if part.value is None:
            value = logged.get(tag, {"lines": {"tabs": part.text}})
            text = state.secrets.hide_known_values("\n".join(value["lines"].values()))
            parts[tag] = StatePart(text=text, value=value)
    return replace(state, parts=parts)


def changes_of(before: PartValue, now: StatePart) -> list[str] | None:
    """Return the lines that differ from a part as the log records it; None where only the whole
    part can say what changed."""
    value = now.value or {}
    if value.get("tree") is not None and before.get("tree") is not None:
        return list(changed_lines(before["tree"], value["tree"]))
    if "lines" in value and "lines" in before:
        return list(_changed_named_lines(before["lines"], value["lines"]))
    return [] if value == before else None


def _changed_named_lines(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of variables or tabs that changed. What is gone is `removed: ` and its line.
    Where a name does not tell a line from others, what changed is removed and `added: `."""
    shown = Counter(map(shown_name, [*before.values(), *now.values()]))
    for name, line in before.items():
        if name not in now:
            yield f"{REMOVED}{line}"
    for name, line in now.items():
        old = before.get(name)
        if old == line:
            continue
        if shown[shown_name(line)] <= (1 if old is None else 2) and " = " not in name:
            yield line
            continue
        if old is not None:
            yield f"{REMOVED}{old}"
        yield f"{ADDED}{line}"


def shown_name(line: str) -> str:
    """Return the name on a line of a variable or a tab."""
    return line.partition(" = ")[0].removesuffix(" (Active)")
