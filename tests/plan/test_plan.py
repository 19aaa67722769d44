"""A plan: every problem at once, every field kept, every change value."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.errors import BadPlan, UsageError
from foreword.plan import plan
from foreword.text.names import literals


def gmail() -> dict[str, Any]:
    return {
        "overall_goal": "Build the Gmail to Airtable sync",
        "current_phase": "Login",
        "phases": [
            {
                "phase_name": "Login",
                "status": "in_progress",
                "tasks": [
                    {
                        "task_id": 1,
                        "description": "Scout the login",
                        "status": "completed",
                        "notes": "use #identifierId",
                    },
                    {
                        "task_id": 2,
                        "description": "Build email entry",
                        "status": "in_progress",
                        "node_ids": ["node_124"],
                    },
                ],
            },
            {
                "phase_name": "Extraction",
                "status": "pending",
                "tasks": [{"task_id": 3, "description": "Read the inbox", "status": "pending"}],
            },
        ],
        "next_actions": ["Test email entry", "Build password entry"],
        "blockers": [],
        "notes": "redirects to accounts.google.com",
    }


def problems(value: object) -> tuple[str, ...]:
    with pytest.raises(BadPlan) as caught:
        plan.read_plan(value)
    return caught.value.problems


def gmail_with(**fields: Any) -> dict[str, Any]:
    return {**gmail(), **fields}


def test_a_good_plan_comes_back_as_an_equal_copy_in_the_same_order() -> None:
    given_plan = gmail()
    read = plan.read_plan(given_plan)
    assert json.dumps(read) == json.dumps(given_plan)
    read["phases"][0]["tasks"].clear()
    assert given_plan == gmail()


def test_unknown_fields_are_kept_in_their_place_at_every_level() -> None:
    task = {"owner": "scout", "task_id": "a", "description": "d", "extra": [1], "status": "failed"}
    phase = {"colour": 3, "phase_name": "P", "status": "pending", "tasks": [task], "z": None}
    whole = {"first": {"x": 1}, "overall_goal": "g", "phases": [phase], "last": True}
    assert json.dumps(plan.read_plan(whole)) == json.dumps(whole)


def test_what_the_store_sets_may_be_missing_or_given() -> None:
    stamps = {
        "workflow_id": "uuid",
        "plan_version": 3,
        "created_at": "2024-01-01T00:00:00Z",
        "updated_at": None,
    }
    assert plan.read_plan(gmail_with(**stamps)).items() >= stamps.items()


def test_all_problems_come_in_one_error_each_with_its_path() -> None:
    bad = {
        "overall_goal": 3,
        "phases": [
            {"phase_name": "A", "status": "pending", "tasks": []},
            {
                "phase_name": "",
                "status": "complete",
                "tasks": [
                    {"task_id": True, "description": "d", "status": "doing", "node_ids": [None]},
                    "x",
                ],
            },
            7,
        ],
        "next_actions": "go",
        "blockers": ["a", 5],
        "notes": [],
    }
    assert problems(bad) == (
        "overall_goal: must be text, not 3",
        "phases[1].phase_name: must not be empty",
        (
            "phases[1].status: 'complete' is not one of pending, in_progress, completed, failed,"
            " cancelled, did you mean 'completed'?"
        ),
        "phases[1].tasks[0].task_id: must be text or a whole number, not true",
        (
            "phases[1].tasks[0].status: 'doing' is not one of pending, in_progress, completed,"
            " failed, cancelled"
        ),
        "phases[1].tasks[0].node_ids[0]: must be text or a whole number, not null",
        "phases[1].tasks[1]: must be a mapping, not 'x'",
        "phases[2]: must be a mapping, not 7",
        "next_actions: must be a list, not 'go'",
        "blockers[1]: must be text, not 5",
        "notes: must be text, not a list",
    )


def test_a_missing_field_is_named_with_what_may_have_been_meant() -> None:
    assert problems({"overal_goal": "g"}) == (
        "overall_goal: missing, is it 'overal_goal'?",
        "phases: missing",
    )


def test_a_task_id_is_used_once_in_the_whole_plan_whether_number_or_text() -> None:
    bad = gmail()
    bad["phases"][1]["tasks"][0]["task_id"] = "1"
    assert problems(bad) == (
        "phases[1].tasks[0].task_id: '1' is already the id of phases[0].tasks[0]",
    )


def test_the_error_is_a_usage_error_that_shows_the_first_problems_and_the_shape() -> None:
    with pytest.raises(UsageError) as caught:
        plan.read_plan({"overall_goal": "g", "phases": list(range(40))}, "reply.json")
    assert caught.value.message.startswith(
        "reply.json: 40 problems\n  phases[0]: must be a mapping, not 0\n"
    )
    assert caught.value.message.endswith("\n  and 28 more")
    assert "phase_name" in caught.value.hint


@pytest.mark.parametrize("value", [None, [], "{}", 3])
def test_what_is_no_mapping_is_no_plan(value: object) -> None:
    assert "must be a mapping" in problems(value)[0]


def test_depth_cycles_and_numbers_that_json_can_not_take_are_problems() -> None:
    deep: object = 1
    for _ in range(5000):
        deep = [deep]
    cycle: dict[str, object] = {}
    cycle["a"] = [cycle, cycle]
    assert (
        problems(gmail_with(extra=deep))
        == problems(gmail_with(extra=cycle))
        == ("nested more than 100 deep",)
    )
    assert "JSON" in problems(gmail_with(extra=float("nan")))[0]
    assert "JSON" in problems(gmail_with(extra=object()))[0]
    assert problems(gmail_with(plan_version=10**5000)) == (
        "plan_version: must be a smaller number",
    )


def test_what_is_odd_is_a_warning_and_no_error() -> None:
    odd = gmail()
    odd["current_phase"] = "Nowhere"
    odd["phases"][1]["status"] = "in_progress"
    odd["phases"].append({"phase_name": "Report", "status": "completed", "tasks": []})
    odd["phases"].append({**gmail()["phases"][1], "phase_name": "Report", "status": "completed"})
    assert plan.warnings(odd) == (
        "current_phase: 'Nowhere' names no phase",
        "phases: 'Report' is the name of 2 phases",
        "phases: 2 are in_progress: 'Login', 'Extraction'",
        "phases[3]: 'Report' is completed, but not its tasks 3",
    )
    assert plan.warnings(gmail()) == ()


def test_the_json_for_the_model_is_the_plan() -> None:
    written = plan.as_json(gmail_with(notes="naïve 漢字"))
    assert "漢字" in written
    assert json.loads(written) == gmail_with(notes="naïve 漢字")


def test_the_list_for_people_marks_every_status_without_colour() -> None:
    value = gmail()
    value["phases"][1]["tasks"] += [
        {"task_id": "x", "description": "Try the API", "status": "failed", "notes": "403\n  twice"},
        {"task_id": "y", "description": "Ask", "status": "cancelled"},
    ]
    value["blockers"] = ["2FA"]
    assert (
        plan.as_todo(value)
        == """\
Build the Gmail to Airtable sync
now: Login

[>] Login (1 of 2 completed)
    [x] 1. Scout the login
        use #identifierId
    [>] 2. Build email entry (node_124)

[ ] Extraction (0 of 3 completed, 1 failed, 1 cancelled)
    [ ] 3. Read the inbox
    [!] x. Try the API
        403
        twice
    [-] y. Ask

Next
  - Test email entry
  - Build password entry

Blockers
  - 2FA

Notes
  redirects to accounts.google.com"""
    )


def test_a_diff_tells_every_kind_of_change_in_a_stable_order() -> None:
    new = gmail()
    login, extraction = new["phases"]
    new.update(overall_goal="Build it", current_phase="Extraction", plan_version=9, priority="high")
    login["status"] = "completed"
    login["tasks"][1].update(
        status="completed", description="Build and test email entry", node_ids=["node_124", 5]
    )
    extraction["tasks"].insert(0, login["tasks"].pop(0))
    extraction["tasks"][0]["notes"] = "use #email"
    extraction["tasks"][1] = {"task_id": 4, "description": "Page through", "status": "pending"}
    new["phases"].append({"phase_name": "Report", "status": "pending", "tasks": []})
    new["next_actions"] = ["Build password entry", "Test email entry", "Sleep"]
    new["blockers"] = ["2FA"]
    assert plan.diff(gmail(), new) == [
        'goal: "Build the Gmail to Airtable sync" -> "Build it"',
        'current phase: "Login" -> "Extraction"',
        'phase "Login": in_progress -> completed',
        'phase "Report": added (pending)',
        'task 2 "Build and test email entry": in_progress -> completed',
        (
            'task 2 "Build and test email entry": description: "Build email entry" -> "Build and'
            ' test email entry"'
        ),
        'task 2 "Build and test email entry": node_ids: ["node_124"] -> ["node_124", 5]',
        'task 1 "Scout the login": moved from "Login" to "Extraction"',
        'task 1 "Scout the login": notes: "use #identifierId" -> "use #email"',
        'task 4 "Page through": added to "Extraction" (pending)',
        'task 3 "Read the inbox": removed from "Extraction" (was pending)',
        'next action added: "Sleep"',
        "next actions: in another order",
        'blocker added: "2FA"',
        'priority: added "high"',
    ]


def test_a_diff_tells_what_was_removed_and_reordered() -> None:
    new = gmail()
    new["phases"][0]["tasks"].reverse()
    new["phases"].reverse()
    del new["notes"]
    assert plan.diff(gmail(), new) == [
        'phase "Login": tasks in another order',
        "phases: in another order",
        'notes: removed, was "redirects to accounts.google.com"',
    ]
    new["phases"].pop()
    assert 'phase "Login": removed' in plan.diff(gmail(), new)


words = st.text("abc xyz", min_size=1, max_size=8).filter(str.strip)
statuses = st.sampled_from(plan.STATUSES)
some_tasks = st.lists(
    st.fixed_dictionaries(
        {"task_id": st.integers(0, 9), "description": words, "status": statuses},
        optional={"notes": words, "node_ids": st.lists(st.integers(0, 3)), "extra": st.integers()},
    ),
    max_size=6,
    unique_by=lambda task: str(task["task_id"]),
)


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    phases: list[dict[str, Any]] = [
        {"phase_name": name, "status": draw(statuses), "tasks": []} for name in names
    ]
    for task in draw(some_tasks):
        draw(st.sampled_from(phases))["tasks"].append(task)
    lists = st.lists(words, max_size=3)
    rest = draw(
        st.fixed_dictionaries(
            {}, optional={"next_actions": lists, "notes": words, "extra": st.booleans()}
        )
    )
    return {"overall_goal": draw(words), "phases": phases, **rest}


@given(plans(), plans())
@settings(deadline=None)
def test_a_diff_is_empty_for_a_plan_and_itself_and_tells_all_else(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert plan.diff(old, copy.deepcopy(old)) == []
    old_with_list = {**old, "next_actions": old.get("next_actions", [])}
    new_with_list = {**new, "next_actions": new.get("next_actions", [])}
    assert (plan.diff(old, new) == []) == (old_with_list == new_with_list)
    assert plan.diff(old, new) == plan.diff(copy.deepcopy(old), copy.deepcopy(new))


@given(plans())
@settings(deadline=None)
def test_every_valid_plan_is_read_whole_and_can_be_written(value: dict[str, Any]) -> None:
    assert plan.read_plan(value) == json.loads(plan.as_json(value)) == value
    assert all(task["description"].strip() in plan.as_todo(value) for _, task in plan.tasks(value))
    assert len(plan.finished_tasks(value)) == sum(
        task["status"] in plan.FINISHED_STATUSES for _, task in plan.tasks(value)
    )


leaves = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(plan.STATUSES)
)
fields = st.sampled_from(
    ["overall_goal", "phases", "phase_name", "tasks", "task_id", "status", "description", "notes"]
)
junk = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=5)
)


@given(junk)
@settings(deadline=None)
def test_no_junk_brings_anything_but_a_bad_plan(value: object) -> None:
    with contextlib.suppress(BadPlan):
        assert plan.read_plan(value) == value


def test_finished_tasks_are_the_completed_failed_and_cancelled() -> None:
    value = gmail()
    value["phases"][1]["tasks"][0]["status"] = "failed"
    assert plan.finished_tasks(value) == [
        (1, "Scout the login", "completed"),
        (3, "Read the inbox", "failed"),
    ]


def test_identifiers_are_node_ids_and_the_literals_of_every_text() -> None:
    value = gmail_with(
        workflow_id="wf_1",
        extra={"deep": ["see src/app/main.py"]},
        blockers=["E-77 at https://a.b/c?d=1."],
    )
    assert plan.identifiers(value) == {
        "node_124",
        "#identifierId",
        "accounts.google.com",
        "src/app/main.py",
        "E-77",
        "https://a.b/c?d=1",
    }


def test_literals_are_told_from_prose() -> None:
    text = (
        'Click `Sign in` (input[name="q"] or button#go), then e.g. run findAll() with --force'
        " and/or GMAIL_URL. Mail user@x.com; 2.5 times, node7.emails = 5, at"
        " 550e8400-e29b-41d4-a716-446655440000."
    )
    assert set(literals(text)) == {
        "and/or",
        "Sign in",
        'input[name="q"]',
        "button#go",
        "findAll",
        "--force",
        "GMAIL_URL",
        "user@x.com",
        "node7.emails",
        "550e8400-e29b-41d4-a716-446655440000",
    }


@pytest.mark.parametrize(
    "unit", ["a.", "[a=", "a-", "/a", "a@", "_", "aA", "`", "0", " ", "http://"]
)
def test_a_hostile_text_takes_no_longer_than_its_length(unit: str) -> None:
    assert all(len(name) < 1_000_000 for name in literals((unit * 1_000_000)[:1_000_000]))
    assert plan.as_todo(gmail_with(notes="x" + (unit * 1_000_000)[:1_000_000] + "x"))
