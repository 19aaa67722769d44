"""A workflow's plan: read it, write it for the model and for people, and tell two versions apart.

A plan stays a plain mapping: fields that Foreword does not know are kept, in their author's order,
at every level. The number of a version and its times are the store's to set.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foreword.errors import BadPlan, UnknownName
from foreword.plan import shape_check
from foreword.text.identifiers import literals

Plan = Mapping[str, Any]

STATUSES = ("pending", "in_progress", "completed", "failed", "cancelled")
MARKS = dict(zip(STATUSES, ("[ ]", "[>]", "[x]", "[!]", "[-]"), strict=True))
SETTLED = ("completed", "failed", "cancelled")
KEPT_BY_STORE = ("workflow_id", "plan_version", "created_at", "updated_at")
_MOST_QUOTED = 120

_TASK = shape_check.fields(
    {
        "task_id": shape_check.identity,
        "description": shape_check.filled_text,
        "status": shape_check.one_of(STATUSES),
    },
    {"notes": shape_check.text, "node_ids": shape_check.list_of(shape_check.identity)},
)
_PHASE = shape_check.fields(
    {
        "phase_name": shape_check.filled_text,
        "status": shape_check.one_of(STATUSES),
        "tasks": shape_check.list_of(_TASK),
    },
    {},
)
_PLAN = shape_check.fields(
    {"overall_goal": shape_check.filled_text, "phases": shape_check.list_of(_PHASE)},
    {
        "workflow_id": shape_check.identity,
        "plan_version": shape_check.number,
        "created_at": shape_check.text,
        "updated_at": shape_check.text,
        "current_phase": shape_check.text,
        "next_actions": shape_check.list_of(shape_check.text),
        "blockers": shape_check.list_of(shape_check.text),
        "notes": shape_check.text,
    },
)


def read_plan(value: object, where: str = "plan") -> dict[str, Any]:
    """A copy of the plan in `value`, or `BadPlan` with every problem that it has."""
    if not isinstance(value, Mapping):
        raise BadPlan([f"must be a mapping, not {shape_check.value_in_words(value)}"], where)
    problems = [*shape_check.depth(value), *_PLAN(value, ""), *_same_ids(value)]
    if problems:
        raise BadPlan(problems, where)
    try:
        return dict(json.loads(json.dumps(value, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadPlan([f"can't be written as JSON: {error}"], where) from None


def warnings(plan: Plan) -> tuple[str, ...]:
    """What is odd about a plan and still allowed."""
    return tuple(_warnings(plan))


def as_json(plan: Plan) -> str:
    """The plan for the model; an indent of one costs fewer tokens than two and reads as well."""
    return json.dumps(plan, indent=1, ensure_ascii=False)


def as_todo(plan: Plan) -> str:
    """The plan for people: a list of phases and tasks with a mark for each status."""
    version = [f"version {plan['plan_version']}"] if plan.get("plan_version") else []
    phase = [f"now: {plan['current_phase']}"] if plan.get("current_phase") else []
    blocks = [
        "\n".join(
            [
                _indented(plan["overall_goal"], ""),
                *([", ".join(version + phase)] if version + phase else []),
            ]
        ),
        *("\n".join(_phase_lines(phase)) for phase in plan["phases"]),
        *(_named_list("Next", plan.get("next_actions"))),
        *(_named_list("Blockers", plan.get("blockers"))),
        *(["Notes\n" + _indented(plan["notes"], "  ", first="  ")] if plan.get("notes") else []),
    ]
    return "\n\n".join(blocks)


def finished_tasks(plan: Plan) -> list[tuple[int | str, str, str]]:
    """Id, description and status of every task that is completed, failed or cancelled."""
    return [
        (task["task_id"], task["description"], task["status"])
        for _, task in tasks(plan)
        if task["status"] in SETTLED
    ]


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
            {"overall_goal", "current_phase", "phases", "next_actions", "blockers", *KEPT_BY_STORE},
        ),
    ]


def identifiers(plan: Plan) -> set[str]:
    """Every node id of the plan and every literal identifier in its texts: what a compressor has
    to keep."""
    nodes = {str(node) for _, task in tasks(plan) for node in task.get("node_ids") or ()}
    written = {name: value for name, value in plan.items() if name not in KEPT_BY_STORE}
    return nodes.union(*(literals(text) for text in _texts(written))).difference(STATUSES)


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
    phases = [
        {
            **phase,
            "tasks": [
                {**t, "status": status} if str(t["task_id"]) == task_id else t
                for t in phase["tasks"]
            ],
        }
        for phase in plan["phases"]
    ]
    return {**plan, "phases": phases}


def _same_ids(value: Plan) -> Iterator[str]:
    # The plan may have any other problem as well; only what looks like a task is compared.
    first: dict[str, str] = {}
    for path, task_id in _ids(value.get("phases")):
        if str(task_id) in first:
            yield f"{path}: {task_id!r} is already the id of {first[str(task_id)]}"
        first.setdefault(str(task_id), path.removesuffix(".task_id"))


def _ids(phases: object) -> Iterator[tuple[str, int | str]]:
    for i, phase in enumerate(phases if isinstance(phases, list | tuple) else ()):
        found = phase.get("tasks") if isinstance(phase, Mapping) else ()
        for j, task in enumerate(found if isinstance(found, list | tuple) else ()):
            task_id = task.get("task_id") if isinstance(task, Mapping) else None
            if isinstance(task_id, int | str) and not any(shape_check.identity(task_id, "")):
                yield f"phases[{i}].tasks[{j}].task_id", task_id


def _warnings(plan: Plan) -> Iterator[str]:
    names = [phase["phase_name"] for phase in plan["phases"]]
    current = plan.get("current_phase")
    if current and current not in names:
        yield f"current_phase: {current!r} names no phase"
    yield from (
        f"phases: {name!r} is the name of {n} phases" for name, n in Counter(names).items() if n > 1
    )
    under_way = [
        phase["phase_name"] for phase in plan["phases"] if phase["status"] == "in_progress"
    ]
    if len(under_way) > 1:
        yield f"phases: {len(under_way)} are in_progress: {', '.join(map(repr, under_way))}"
    for index, phase in enumerate(plan["phases"]):
        open_ids = [
            str(task["task_id"]) for task in phase["tasks"] if task["status"] not in SETTLED
        ]
        if phase["status"] == "completed" and open_ids:
            yield (
                f"phases[{index}]: {phase['phase_name']!r} is completed, but not its tasks"
                f" {', '.join(open_ids)}"
            )


def _phase_lines(phase: Plan) -> Iterator[str]:
    counts = Counter(task["status"] for task in phase["tasks"])
    others = [f"{counts[status]} {status}" for status in ("failed", "cancelled") if counts[status]]
    done = ", ".join([f"{counts['completed']} of {len(phase['tasks'])} completed", *others])
    yield f"{MARKS[phase['status']]} {_indented(phase['phase_name'], '    ')} ({done})"
    for task in phase["tasks"]:
        nodes = ", ".join(map(str, task.get("node_ids") or ()))
        head = f"{task['task_id']}. {task['description']}" + (f" ({nodes})" if nodes else "")
        yield f"    {MARKS[task['status']]} {_indented(head, '        ')}"
        if task.get("notes"):
            yield _indented(task["notes"], "        ", first="        ")


def _named_list(name: str, lines: Iterable[str] | None) -> list[str]:
    return (
        ["\n".join([name, *(f"  - {_indented(line, '    ')}" for line in lines)])] if lines else []
    )


def _indented(text: str, indent: str, first: str = "") -> str:
    return first + f"\n{indent}".join(line.strip() for line in text.splitlines() if line.strip())


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(member)


def _phase_changes(old: Plan, new: Plan) -> Iterator[str]:
    before, after = _by_name(old["phases"]), _by_name(new["phases"])
    for key, phase in after.items():
        name = f"phase {_quoted(key[0])}"
        if key not in before:
            yield f"{name}: added ({phase['status']})"
            continue
        if before[key]["status"] != phase["status"]:
            yield f"{name}: {before[key]['status']} -> {phase['status']}"
        yield from _other_changes(
            f"{name}: ", before[key], phase, {"phase_name", "status", "tasks"}
        )
        if _reordered(
            [str(t["task_id"]) for t in before[key]["tasks"]],
            [str(t["task_id"]) for t in phase["tasks"]],
        ):
            yield f"{name}: tasks in another order"
    yield from (f"phase {_quoted(key[0])}: removed" for key in before if key not in after)
    if _reordered(list(before), list(after)):
        yield "phases: in another order"


def _task_changes(old: Plan, new: Plan) -> Iterator[str]:
    before = {str(task["task_id"]): (phase, task) for phase, task in tasks(old)}
    after = {str(task["task_id"]): (phase, task) for phase, task in tasks(new)}
    for key, (phase, task) in after.items():
        if key in before:
            yield from _one_task(*before[key], phase, task)
        else:
            yield f"{_titled(task)}: added to {_quoted(phase)} ({task['status']})"
    for key, (phase, task) in before.items():
        if key not in after:
            yield f"{_titled(task)}: removed from {_quoted(phase)} (was {task['status']})"


def _one_task(old_phase: str, old: Plan, new_phase: str, new: Plan) -> Iterator[str]:
    title = _titled(new)
    if old_phase != new_phase:
        yield f"{title}: moved from {_quoted(old_phase)} to {_quoted(new_phase)}"
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
        yield f"{name}: added {_quoted(new)}"
    elif new is None:
        yield f"{name}: removed, was {_quoted(old)}"
    else:
        yield f"{name}: {_quoted(old)} -> {_quoted(new)}"


def _item_changes(name: str, old: Sequence[str] | None, new: Sequence[str] | None) -> Iterator[str]:
    before, after = Counter(old or ()), Counter(new or ())
    yield from (f"{name} added: {_quoted(item)}" for item in (after - before).elements())
    yield from (f"{name} removed: {_quoted(item)}" for item in (before - after).elements())
    if _reordered(list(_numbered(old or ())), list(_numbered(new or ()))):
        yield f"{name}s: in another order"


def _by_name(phases: Iterable[Plan]) -> dict[tuple[str, int], Plan]:
    found = list(phases)
    return dict(zip(_numbered(phase["phase_name"] for phase in found), found, strict=True))


def _numbered(names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Each name with how many of the same came before it, so that equal names stay apart."""
    seen: Counter[str] = Counter()
    for name in names:
        yield name, seen[name]
        seen[name] += 1


def _reordered(old: Sequence[Any], new: Sequence[Any]) -> bool:
    both = set(old) & set(new)
    return [one for one in old if one in both] != [one for one in new if one in both]


def _titled(task: Plan) -> str:
    return f"task {task['task_id']} {_quoted(task['description'])}"


def _quoted(value: object) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _MOST_QUOTED else written[: _MOST_QUOTED - 3] + "..."
