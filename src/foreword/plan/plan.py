"""A workflow's plan: read it, write it for the model and for people, and tell two versions apart.

A plan stays a plain mapping: fields that Foreword does not know are kept, in their author's order,
at every level. The number of a version and its times are set by `store.plans`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foreword.errors import BadPlan, UnknownName
from foreword.plan.value_words import depth_problems
from foreword.text.names import literals

Plan = Mapping[str, Any]

STATUSES = ("pending", "in_progress", "completed", "failed", "cancelled")
MARKS = dict(zip(STATUSES, ("[ ]", "[>]", "[x]", "[!]", "[-]"), strict=True))
FINISHED_STATUSES = ("completed", "failed", "cancelled")
STORE_FIELDS = ("workflow_id", "plan_version", "created_at", "updated_at")
_MOST_QUOTED = 120  # characters of a value in a line of changes, which should stay one line


def read_plan(value: object, where: str = "plan") -> dict[str, Any]:
    """A copy of the plan in `value`, or `BadPlan` with every problem that it has."""
    return dict(json.loads(checked_plan(value, where)))


def checked_plan(value: object, where: str = "plan") -> str:
    """The plan in `value` as JSON, or `BadPlan` with every problem that it has."""
    found = problems(value)
    if found or not isinstance(value, Mapping):
        raise BadPlan(found, where)
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadPlan([f"can't be written as JSON: {error}"], where) from None


def problems(value: object) -> list[str]:
    """Why a value is no plan, each with the path to it; nothing where it is one."""
    from foreword.plan import plan_shape, validation  # pydantic: not for those who only write one

    too_deep = depth_problems(value)
    if too_deep:
        return too_deep
    found = validation.problems(plan_shape.PlanShape, value)
    return found or list(_repeated_ids(value))


def warnings(plan: Plan) -> tuple[str, ...]:
    """What is odd about a plan and still allowed."""
    return tuple(_warnings(plan))


def as_json(plan: Plan) -> str:
    """The plan for the model; an indent of one costs fewer tokens than two and reads as well."""
    return json.dumps(plan, indent=1, ensure_ascii=False)


def as_todo(plan: Plan) -> str:
    """The plan for people: a list of phases and tasks with a mark for each status."""
    about = []
    if plan.get("plan_version"):
        about.append(f"version {plan['plan_version']}")
    if plan.get("current_phase"):
        about.append(f"now: {plan['current_phase']}")
    goal = _indent(plan["overall_goal"], "")
    blocks = [f"{goal}\n{', '.join(about)}" if about else goal]
    blocks += ["\n".join(_phase_lines(phase)) for phase in plan["phases"]]
    if plan.get("next_actions"):
        blocks.append(_bullet_list("Next", plan["next_actions"]))
    if plan.get("blockers"):
        blocks.append(_bullet_list("Blockers", plan["blockers"]))
    if plan.get("notes"):
        blocks.append("Notes\n" + _indent(plan["notes"], "  ", first="  "))
    return "\n\n".join(blocks)


def finished_tasks(plan: Plan) -> list[tuple[int | str, str, str]]:
    """Id, description and status of every task that is completed, failed or cancelled."""
    finished = []
    for _, task in tasks(plan):
        if task["status"] in FINISHED_STATUSES:
            finished.append((task["task_id"], task["description"], task["status"]))
    return finished


def diff(old: Plan, new: Plan) -> list[str]:
    """What changed, a line for each: goal, phases, tasks, next actions, blockers, then notes and
    other fields.

    Tasks are matched by their id wherever they stand, phases by their name. Version and times are
    not changes.
    """
    return [
        *_field_change("goal", old.get("overall_goal"), new.get("overall_goal")),
        *_field_change("current phase", old.get("current_phase"), new.get("current_phase")),
        *_phase_changes(old, new),
        *_task_changes(old, new),
        *_item_changes("next action", old.get("next_actions"), new.get("next_actions")),
        *_item_changes("blocker", old.get("blockers"), new.get("blockers")),
        *_other_changes(
            "",
            old,
            new,
            {"overall_goal", "current_phase", "phases", "next_actions", "blockers", *STORE_FIELDS},
        ),
    ]


def identifiers(plan: Plan) -> set[str]:
    """Every node id of the plan and every literal identifier in its texts: what a compressor has
    to keep."""
    found: set[str] = set()
    for _, task in tasks(plan):
        found.update(map(str, task.get("node_ids") or ()))
    written = {name: value for name, value in plan.items() if name not in STORE_FIELDS}
    for text in _texts(written):
        found.update(literals(text))
    return found.difference(STATUSES)


def tasks(plan: Plan) -> Iterator[tuple[str, Plan]]:
    """Every task with the name of its phase, in order."""
    for phase in plan["phases"]:
        for task in phase["tasks"]:
            yield phase["phase_name"], task


def with_status(plan: Plan, task_id: str, status: str) -> dict[str, Any]:
    """The plan with another status for one task, everything else as it is."""
    if status not in STATUSES:
        raise UnknownName("status", status, STATUSES)
    known = [str(task["task_id"]) for _, task in tasks(plan)]
    if task_id not in known:
        raise UnknownName("task", task_id, known, where="in the plan")
    phases = []
    for phase in plan["phases"]:
        new_tasks = []
        for task in phase["tasks"]:
            changed = str(task["task_id"]) == task_id
            new_tasks.append({**task, "status": status} if changed else task)
        phases.append({**phase, "tasks": new_tasks})
    return {**plan, "phases": phases}


def _repeated_ids(plan: Any) -> Iterator[str]:
    """Tasks whose id is that of another one, in a plan that has the shape of one."""
    first: dict[str, str] = {}
    for phase_number, phase in enumerate(plan["phases"]):
        for task_number, task in enumerate(phase["tasks"]):
            path = f"phases[{phase_number}].tasks[{task_number}]"
            task_id = task["task_id"]
            if str(task_id) in first:
                yield f"{path}.task_id: {task_id!r} is already the id of {first[str(task_id)]}"
            first.setdefault(str(task_id), path)


def _warnings(plan: Plan) -> Iterator[str]:
    names = [phase["phase_name"] for phase in plan["phases"]]
    current = plan.get("current_phase")
    if current and current not in names:
        yield f"current_phase: {current!r} names no phase"
    for name, count in Counter(names).items():
        if count > 1:
            yield f"phases: {name!r} is the name of {count} phases"
    under_way: list[str] = []
    for phase in plan["phases"]:
        if phase["status"] == "in_progress":
            under_way.append(repr(phase["phase_name"]))
    if len(under_way) > 1:
        yield f"phases: {len(under_way)} are in_progress: {', '.join(under_way)}"
    for index, phase in enumerate(plan["phases"]):
        if phase["status"] != "completed":
            continue
        open_ids: list[str] = []
        for task in phase["tasks"]:
            if task["status"] not in FINISHED_STATUSES:
                open_ids.append(str(task["task_id"]))
        if open_ids:
            tasks = ", ".join(open_ids)
            yield (
                f"phases[{index}]: {phase['phase_name']!r} is completed, but not its tasks {tasks}"
            )


def _phase_lines(phase: Plan) -> Iterator[str]:
    counts = Counter(task["status"] for task in phase["tasks"])
    done = f"{counts['completed']} of {len(phase['tasks'])} completed"
    for status in ("failed", "cancelled"):
        if counts[status]:
            done += f", {counts[status]} {status}"
    yield f"{MARKS[phase['status']]} {_indent(phase['phase_name'], '    ')} ({done})"
    for task in phase["tasks"]:
        line = f"{task['task_id']}. {task['description']}"
        if task.get("node_ids"):
            line += f" ({', '.join(map(str, task['node_ids']))})"
        yield f"    {MARKS[task['status']]} {_indent(line, '        ')}"
        if task.get("notes"):
            yield _indent(task["notes"], "        ", first="        ")


def _bullet_list(name: str, items: Iterable[str]) -> str:
    return "\n".join([name, *(f"  - {_indent(item, '    ')}" for item in items)])


def _indent(text: str, indent: str, first: str = "") -> str:
    lines = filter(None, map(str.strip, text.splitlines()))
    return first + f"\n{indent}".join(lines)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(member)


def _phase_changes(old: Plan, new: Plan) -> Iterator[str]:
    before = _by_name(old["phases"])
    after = _by_name(new["phases"])
    for key, phase in after.items():
        name, _ = key
        if key in before:
            yield from _changes_in_phase(f"phase {_quote(name)}", before[key], phase)
        else:
            yield f"phase {_quote(name)}: added ({phase['status']})"
    for key in before:
        if key not in after:
            name, _ = key
            yield f"phase {_quote(name)}: removed"
    if _is_reordered(list(before), list(after)):
        yield "phases: in another order"


def _changes_in_phase(title: str, old: Plan, new: Plan) -> Iterator[str]:
    if old["status"] != new["status"]:
        yield f"{title}: {old['status']} -> {new['status']}"
    yield from _other_changes(f"{title}: ", old, new, {"phase_name", "status", "tasks"})
    old_ids = [str(task["task_id"]) for task in old["tasks"]]
    new_ids = [str(task["task_id"]) for task in new["tasks"]]
    if _is_reordered(old_ids, new_ids):
        yield f"{title}: tasks in another order"


def _task_changes(old: Plan, new: Plan) -> Iterator[str]:
    before = {str(task["task_id"]): (phase, task) for phase, task in tasks(old)}
    after = {str(task["task_id"]): (phase, task) for phase, task in tasks(new)}
    for key, (phase, task) in after.items():
        if key not in before:
            yield f"{_task_title(task)}: added to {_quote(phase)} ({task['status']})"
            continue
        old_phase, old_task = before[key]
        if old_phase != phase:
            yield f"{_task_title(task)}: moved from {_quote(old_phase)} to {_quote(phase)}"
        yield from _changes_in_task(_task_title(task), old_task, task)
    for key, (phase, task) in before.items():
        if key not in after:
            yield f"{_task_title(task)}: removed from {_quote(phase)} (was {task['status']})"


def _changes_in_task(title: str, old: Plan, new: Plan) -> Iterator[str]:
    if old["status"] != new["status"]:
        yield f"{title}: {old['status']} -> {new['status']}"
    yield from _other_changes(f"{title}: ", old, new, {"task_id", "status"})


def _other_changes(owner: str, old: Plan, new: Plan, known: set[str]) -> Iterator[str]:
    for name in dict.fromkeys([*new, *old]):
        if name not in known:
            yield from _field_change(owner + name, old.get(name), new.get(name))


def _field_change(name: str, old: object, new: object) -> Iterator[str]:
    if old == new and type(old) is type(new):
        return
    if old is None:
        yield f"{name}: added {_quote(new)}"
    elif new is None:
        yield f"{name}: removed, was {_quote(old)}"
    else:
        yield f"{name}: {_quote(old)} -> {_quote(new)}"


def _item_changes(name: str, old: Sequence[str] | None, new: Sequence[str] | None) -> Iterator[str]:
    before = Counter(old or ())
    after = Counter(new or ())
    for item in (after - before).elements():
        yield f"{name} added: {_quote(item)}"
    for item in (before - after).elements():
        yield f"{name} removed: {_quote(item)}"
    if _is_reordered(_number_equals(old or ()), _number_equals(new or ())):
        yield f"{name}s: in another order"


def _by_name(phases: Sequence[Plan]) -> dict[tuple[str, int], Plan]:
    names = [phase["phase_name"] for phase in phases]
    return dict(zip(_number_equals(names), phases, strict=True))


def _number_equals(names: Iterable[str]) -> list[tuple[str, int]]:
    """Each name with how many of the same came before it, so that equal names stay apart."""
    counts: Counter[str] = Counter()
    numbered = []
    for name in names:
        numbered.append((name, counts[name]))
        counts[name] += 1
    return numbered


def _is_reordered(old: Sequence[Any], new: Sequence[Any]) -> bool:
    both = set(old) & set(new)
    return [one for one in old if one in both] != [one for one in new if one in both]


def _task_title(task: Plan) -> str:
    return f"task {task['task_id']} {_quote(task['description'])}"


def _quote(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _MOST_QUOTED else written[: _MOST_QUOTED - 3] + "..."
