"""What the store promises, on both databases: what goes in comes out, in its order; nothing is
lost or given twice."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import accumulate, product
from pathlib import Path

import pytest

import foreword
from foreword.errors import PlanConflict, StoreError, UnknownHandle, UnknownName, UsageError
from foreword.messages.message import KINDS as MESSAGE_KINDS
from foreword.messages.message import NOT_HISTORY, Kind, Message, Role, keep
from foreword.messages.parts import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from foreword.prices import AnswerUsage
from foreword.section import handle_of
from foreword.store import (
    answer_usage,
    compressions,
    cuts,
    messages,
    originals,
    plans,
    variables,
    workflows,
)
from foreword.store.carried_items import read_items, write_items
from foreword.store.cuts import LogEntry
from foreword.store.database import LARGEST_NUMBER, Database
from foreword.store.messages import AnswerTo, Extent, Range, StoredMessage
from foreword.store.reports import find_report, newest_reports, save_report, usage_log
from foreword.store.session_stamps import read_stamps
from foreword.store.urls import open_to_read, recall
from foreword.transcripts.import_file import read_transcript
from tests.store.databases import (
    USAGE,
    batch,
    conversation_in,
    cut_of,
    record_call,
    text_message,
    workflow_in,
)

REPORT = {"recipe": "r", "total_tokens": 1, "budget_tokens": 2}
ODD = [
    "",
    "\0",
    "a\0b",
    "\ud800",
    "x\udfffy",
    "\udcff",
    "\\u0000",
    "\\\\ud800",
    "\ufdd0",
    "\ufdd00000",
    "é",
    "日",
    "🧭",
    "👩\u200d🚀",
    "\u2028",
    "'; DROP TABLE plans",
    "? %s %% $1",
    '"',
    "\x1f\x7f\x9f",
    "\uffff",
]


# --- workflows and their nodes --------------------------------------------------------------------


def test_a_workflow_is_made_once_and_found_by_its_name(db: Database) -> None:
    made = workflows.ensure(db, "gmail ✉ to airtable")
    assert workflows.ensure(db, "gmail ✉ to airtable") == made == workflows.find(db, made.name)
    assert workflows.find(db, "gmail") is None
    assert (made.details, made.created) == ({}, made.updated)
    with pytest.raises(
        UnknownName, match=r"unknown workflow 'gmail ✉ to airtabel' in .*, did you mean"
    ):
        workflows.find_workflow(db, "gmail ✉ to airtabel")


def test_names_are_in_the_order_of_their_characters_whatever_the_language(db: Database) -> None:
    names = ["b", "B", "a", "_", "Z", "é", "z", "-a", "aa", "日本", "🧭", "\ufdd0"]
    for name in names:
        workflows.ensure(db, name)
    assert workflows.names(db) == sorted(names)


def test_a_list_of_workflows_says_how_much_each_holds(db: Database) -> None:
    conversation, other = conversation_in(db), workflow_in(db, "other")
    messages.append(db, conversation.id, [*batch("one", size=3), *batch("two", size=4)])
    plans.add(db, other, {"goal": 1}, reason="because")
    variables.set_variable(db, other, "a", 1, reason="because")
    sizes = [
        (one.name, one.messages, one.tokens, one.plan_version, one.variables)
        for one in workflows.list_workflows(db)
    ]
    assert sizes == [("main", 2, 7, 0, 0), ("other", 0, 0, 1, 1)]


def test_details_are_replaced_and_keep_the_order_of_their_keys(db: Database) -> None:
    workflow = workflow_in(db)
    workflows.describe(db, workflow, {"old": 1})
    workflows.describe(db, workflow, {"z": 1, "a": {"y": [1.5, None, True], "b": "\0"}})
    details = workflows.find_workflow(db, "main").details
    assert list(details) == ["z", "a"]
    assert list(details["a"].items()) == [("y", [1.5, None, True]), ("b", "\0")]


def node_names(db: Database, workflow: int) -> list[str]:
    return [node["id"] for node in workflows.nodes(db, workflow)]


def test_nodes_are_in_order_replaced_by_their_id_and_dropped(db: Database) -> None:
    workflow = workflow_in(db)
    for name, position in (("b", 2), ("a", 2), ("10", 1), ("last", LARGEST_NUMBER), ("first", -5)):
        node = {"id": name, "position": position, "z": 1, "config": {"y": "🧭", "b": "\ud800"}}
        workflows.put_node(db, workflow, node)
    assert node_names(db, workflow) == ["first", "10", "a", "b", "last"]
    workflows.put_node(db, workflow, {"position": 0, "id": "b"})
    assert node_names(db, workflow) == ["first", "b", "10", "a", "last"]
    assert list(workflows.nodes(db, workflow)[1]) == ["position", "id"]
    assert workflows.drop_node(db, workflow, "b")
    assert not workflows.drop_node(db, workflow, "b")
    assert len(workflows.nodes(db, workflow)) == 4
    assert workflows.nodes(db, workflow_in(db, "other")) == []


def test_a_node_may_be_called_anything(db: Database) -> None:
    workflow = workflow_in(db)
    for name in ODD[1:]:
        workflows.put_node(db, workflow, {"id": name, "position": 1})
        assert node_names(db, workflow) == [name]
        assert workflows.drop_node(db, workflow, name)


# --- plans ----------------------------------------------------------------------------------------


def test_every_update_of_a_plan_is_a_version_and_none_is_lost(db: Database) -> None:
    workflow = workflow_in(db)
    assert (plans.current(db, workflow), plans.newest_version(db, workflow)) == (None, 0)
    for number in range(1, 6):
        reason = f"reason {number}"
        plan = plans.add(db, workflow, {"goal": number}, reason=reason, expected=number - 1)
        assert plan.version == number
    kept = plans.history(db, workflow)
    assert [(plan.version, plan.reason, plan.data["goal"]) for plan in kept] == [
        (number, f"reason {number}", number) for number in range(1, 6)
    ]
    assert plans.current(db, workflow) == kept[-1]
    assert plans.get(db, workflow, 2) == kept[1]
    assert plans.newest_version(db, workflow) == 5
    assert plans.history(db, workflow_in(db, "other")) == []


def test_there_is_no_plan_of_a_version_that_was_never_given(db: Database) -> None:
    workflow = workflow_in(db)
    plans.add(db, workflow, {}, reason="first")
    for number in (0, -1, 3, 10**30, -(10**30), LARGEST_NUMBER):
        assert plans.get(db, workflow, number) is None


def test_a_conflict_carries_the_newest_plan_and_leaves_nothing(db: Database) -> None:
    workflow = workflow_in(db)
    with pytest.raises(PlanConflict) as early:
        plans.add(db, workflow, {"goal": "mine"}, reason="too early", expected=1)
    assert (early.value.version, early.value.newest) == (0, None)
    newest = plans.add(db, workflow, {"goal": "theirs"}, reason="first", expected=0)
    with pytest.raises(PlanConflict, match="at version 1, not 0") as late:
        plans.add(db, workflow, {"goal": "mine"}, reason="too late", expected=0)
    assert (late.value.expected, late.value.version, late.value.newest) == (0, 1, newest.data)
    assert plans.history(db, workflow) == [newest]


def test_a_plan_is_stamped_and_keeps_its_authors_order(db: Database) -> None:
    workflow = workflow_in(db)
    data = {"z": 1, "workflow_id": "main", "a": {"y": 1, "b": 2}, "plan_version": 99}
    first = plans.add(db, workflow, data, reason="one")
    second = plans.add(db, workflow, {"z": 2, "created_at": "never"}, reason="two")
    kept = [plan.data for plan in plans.history(db, workflow)]
    assert list(kept[0]) == ["workflow_id", "plan_version", "created_at", "updated_at", "z", "a"]
    assert list(kept[0]["a"]) == ["y", "b"]
    assert kept == [first.data, second.data]
    assert [plan["plan_version"] for plan in kept] == [1, 2]
    assert {plan["created_at"] for plan in kept} == {first.created}
    assert kept[1]["updated_at"] == second.created


def test_any_text_comes_back_from_plans_and_variables_as_it_was(db: Database) -> None:
    workflow = workflow_in(db)
    for text in ODD:
        value = {text: [text, {"in": {text: text}}], "other": text * 3}
        made = plans.add(db, workflow, {"goal": value}, reason=f"reason {text}")
        assert plans.current(db, workflow) == made
        assert made.data["goal"] == value
        variables.set_variable(db, workflow, "name", value, reason=f"reason {text}")
        assert variables.all_variables(db, workflow) == {"name": value}
        assert variables.changes(db, workflow)[0].reason == made.reason


VALUES: list[object] = [
    None,
    True,
    0,
    -1,
    1.5,
    1e300,
    -0.0,
    10**400,
    2**63,
    "",
    [],
    {},
    [[]],
    {"a": {}},
    [1, "1", 1.0, True, None],
]


def test_a_value_keeps_its_type(db: Database) -> None:
    workflow = workflow_in(db)
    deep = json.loads("[" * 98 + "]" * 98)
    for value in [*VALUES, deep]:
        variables.set_variable(db, workflow, "name", value, reason="because")
        assert repr(variables.all_variables(db, workflow)["name"]) == repr(value)


def test_what_is_no_json_is_refused_and_leaves_nothing(db: Database) -> None:
    workflow = workflow_in(db)
    for value in (float("nan"), float("inf"), {1, 2}, b"bytes", 10**5000):
        with pytest.raises(UsageError, match="variable 'name' can't be kept"):
            variables.set_variable(db, workflow, "name", value, reason="because")
        with pytest.raises(UsageError, match="the plan can't be kept"):
            plans.add(db, workflow, {"goal": value}, reason="because")
    assert variables.changes(db, workflow) == []
    assert plans.history(db, workflow) == []


# --- variables ------------------------------------------------------------------------------------


def test_variables_keep_the_order_in_which_they_were_first_set(db: Database) -> None:
    workflow = workflow_in(db)
    for name in ("z", "a", "m"):
        variables.set_variable(db, workflow, name, 1, reason="because")
    variables.set_variable(db, workflow, "a", {"z": 1, "b": 2}, reason="again")
    expected = [("z", 1), ("a", {"z": 1, "b": 2}), ("m", 1)]
    assert list(variables.all_variables(db, workflow).items()) == expected
    assert variables.drop(db, workflow, "z", reason="done")
    assert not variables.drop(db, workflow, "z", reason="done")
    variables.set_variable(db, workflow, "z", 2, reason="anew")
    assert list(variables.all_variables(db, workflow)) == ["a", "m", "z"]
    assert variables.drop_all(db, workflow, "over") == ["a", "m", "z"]
    assert variables.drop_all(db, workflow, "over") == []
    assert variables.all_variables(db, workflow) == {}


def test_the_trail_has_every_change_and_no_secret(db: Database) -> None:
    workflow = workflow_in(db)
    variables.set_variable(db, workflow, "password", "hunter2hunter2", reason="given")
    variables.set_variable(db, workflow, "password", "correct horse", reason="changed")
    variables.set_variable(
        db, workflow, "creds", {"user": "me", "api_key": "sk-ant-abcdefgh12345678"}, reason="given"
    )
    variables.set_variable(db, workflow, "count", 1, reason="counted")
    variables.drop(db, workflow, "password", reason="revoked")
    variables.drop(db, workflow, "nothing", reason="was never there")
    variables.drop_all(db, workflow, "over")
    trail = [
        (one.name, one.action, one.before, one.after, one.reason)
        for one in reversed(variables.changes(db, workflow))
    ]
    creds = '{user: "me", api_key: "[hidden]"}'
    assert trail == [
        ("password", "set", "", "[hidden]", "given"),
        ("password", "set", "[hidden]", "[hidden]", "changed"),
        ("creds", "set", "", creds, "given"),
        ("count", "set", "", "1", "counted"),
        ("password", "clear", "[hidden]", "", "revoked"),
        ("creds", "clear", creds, "", "over"),
        ("count", "clear", "1", "", "over"),
    ]


def test_the_newest_changes_come_first_as_many_as_asked_for(db: Database) -> None:
    workflow = workflow_in(db)
    for number in range(5):
        variables.set_variable(db, workflow, f"v{number}", number, reason="because")
    for limit, count in ((0, 0), (-1, 0), (2, 2), (10**30, 5)):
        names = [one.name for one in variables.changes(db, workflow, limit)]
        assert names == ["v4", "v3", "v2", "v1", "v0"][:count]


# --- conversations and their messages -------------------------------------------------------------


def test_a_conversation_is_made_once_and_remembers_what_it_is_told(db: Database) -> None:
    made = conversation_in(db)
    assert conversation_in(db) == made
    assert messages.find(db, made.workflow, "other") is None
    messages.set_system_prompt(db, made.id, "Be brief. \0\ud800🧭")
    messages.set_limits(db, made.id, warned=5, quiet_until=LARGEST_NUMBER)
    now = messages.find(db, made.workflow, "main")
    assert now
    assert now.system_prompt == "Be brief. \0\ud800🧭"
    assert (now.warned, now.quiet_until) == (5, LARGEST_NUMBER)
    assert messages.ensure(db, made.workflow, "main", "another counter").counter == "words"


def test_messages_are_numbered_without_a_gap_and_their_sizes_added_up(db: Database) -> None:
    one, other = conversation_in(db), conversation_in(db, "other")
    sizes = [5, 0, 7, 1, 2, 30]
    for size in sizes[:3]:
        messages.append(db, one.id, [(text_message(str(size)), size, False)])
        messages.append(db, other.id, [(text_message("other"), 100, False)])
    appended = messages.append(
        db, one.id, [(text_message(str(size)), size, False) for size in sizes[3:]]
    )
    lines = messages.after(db, one.id, 0)
    assert [line.seq for line in lines] == [1, 2, 3, 4, 5, 6]
    assert [line.tokens for line in lines] == sizes
    assert [line.running for line in lines] == list(accumulate(sizes))
    assert lines[3:] == appended
    assert messages.append(db, one.id, []) == []
    assert messages.up_to(db, one.id) == Extent(6, sum(sizes), 6)
    assert messages.up_to(db, one.id, 3) == Extent(3, 12, 3)
    assert messages.up_to(db, one.id, 0) == Extent(0, 0, 0)


def numbers_of(lines: list[StoredMessage]) -> list[int]:
    """The numbers of messages."""
    return [line.seq for line in lines]


def test_any_stretch_of_the_history_can_be_read(db: Database) -> None:
    conversation = conversation_in(db).id
    said = [(text_message(str(number)), 1, number in (2, 5)) for number in range(1, 8)]
    appended = messages.append(db, conversation, said)
    assert [line.pinned for line in appended] == [number in (2, 5) for number in range(1, 8)]
    for read in (messages.after(db, conversation, 0), messages.before(db, conversation, 8, 9)):
        assert read == appended
    assert numbers_of(messages.after(db, conversation, 4)) == [5, 6, 7]
    assert numbers_of(messages.after(db, conversation, 4, 2)) == [5, 6]
    assert numbers_of(messages.after(db, conversation, 7)) == []
    assert numbers_of(messages.before(db, conversation, 4, 2)) == [2, 3]
    assert numbers_of(messages.before(db, conversation, 1, 2)) == []
    assert numbers_of(messages.between(db, Range(conversation, 3, 5))) == [3, 4, 5]
    assert numbers_of(messages.between(db, Range(conversation, 5, 3))) == []
    turns = [f'<turn role="user">\n{number}\n</turn>' for number in (3, 4)]
    assert messages.as_text(db, Range(conversation, 3, 4)) == "\n".join(turns)
    pinned = [appended[1], appended[4]]
    assert messages.pinned_messages(db, conversation) == pinned
    assert messages.up_to(db, conversation, 99).place == 7


def test_messages_are_found_by_their_numbers_in_the_order_in_which_they_were_said(
    db: Database,
) -> None:
    one, other = conversation_in(db), conversation_in(db, "other")
    said = [text_message(str(at)) for at in range(6)]
    said[4] = Message("user", (Text("4"),), kind="snapshot")
    messages.append(db, one.id, [(message, 1, False) for message in said])
    messages.append(db, other.id, batch("other") * 6)
    more = range(100, 100 + messages.MOST_NUMBERS)  # than one statement takes
    found = messages.by_numbers(db, one.id, [6, 3, *more, 5, 2, 1])
    assert numbers_of(found) == [1, 2, 3, 6]  # the fifth is no history
    assert [line.message.text for line in found] == ["0", "1", "2", "5"]
    assert messages.by_numbers(db, one.id, []) == []


def test_a_pin_is_set_and_taken_back_in_its_conversation_alone(db: Database) -> None:
    one, other = conversation_in(db), conversation_in(db, "other")
    for conversation in (one.id, other.id):
        messages.append(db, conversation, batch(*map(str, range(3))))

    assert messages.set_pinned(db, one.id, 2, pinned=True)
    assert numbers_of(messages.pinned_messages(db, one.id)) == [2]
    assert not messages.set_pinned(db, one.id, 4, pinned=True)
    assert messages.set_pinned(db, one.id, 2, pinned=False)
    assert messages.pinned_messages(db, one.id) == messages.pinned_messages(db, other.id) == []


def test_what_is_taken_back_is_a_branch_and_its_warnings_are_forgotten(db: Database) -> None:
    one, other = conversation_in(db), conversation_in(db, "other")
    for conversation in (one.id, other.id):
        messages.append(db, conversation, batch(*map(str, range(5)), size=10))
        messages.set_limits(db, conversation, warned=7, quiet_until=9)
        record_call(db, conversation, 1, last=4, cut=cut_of(1, last=4))
    before = messages.handle_for(db, one, Range(one.id, 1, 5))
    assert messages.take_back(db, one.id, 4) == 1  # no call had it
    assert cuts.newest_call(db, one.id).cut_due == []
    assert messages.take_back(db, one.id, 3) == 1
    assert numbers_of(messages.after(db, one.id, 0)) == [1, 2, 3]
    assert numbers_of(messages.after(db, other.id, 0)) == [1, 2, 3, 4, 5]
    assert messages.up_to(db, one.id) == Extent(3, 30, 3)
    (new,) = messages.append(db, one.id, [(text_message("again"), 10, False)])
    assert (new.seq, new.running, new.place) == (6, 40, 4)
    assert messages.take_back(db, one.id, 2) == 2

    stamps = read_stamps(db, one.id)
    assert (stamps.warned, stamps.quiet_until, stamps.last_message) == (0, 0, 2)
    assert cuts.newest_call(db, one.id).cut_due == ["the client edited its history", ""]
    untouched = read_stamps(db, other.id)
    assert (untouched.warned, untouched.last_message) == (7, 5)
    assert cuts.newest_call(db, other.id).cut_due == []
    # A handle stands for what was the history when it was given, and is another one from then on.
    ((_, whole),) = messages.find_ranges(db, before, end=before + "~")
    assert numbers_of(messages.between(db, whole)) == [1, 2, 3, 4, 5]
    now = messages.handle_for(db, one, Range(one.id, 1, 5))
    assert now != before
    ((_, rest),) = messages.find_ranges(db, now, end=now + "~")
    assert numbers_of(messages.between(db, rest)) == [1, 2]


def test_the_newest_system_prompt_is_the_last_with_those_right_in_front_of_it(
    db: Database,
) -> None:
    one, other = conversation_in(db), conversation_in(db, "other")

    def prompt_after(*said: str) -> str:
        new = list[tuple[Message, int, bool]]()
        for text in said:
            kind: Kind = "system_prompt" if text.isupper() else "conversation"
            new.append((Message("user", (Text(text),), kind), 1, False))
        messages.append(db, one.id, new)
        found = messages.find(db, one.workflow, "main")
        assert found
        return found.system_prompt

    assert prompt_after("hi") == ""
    assert prompt_after("A", "B", "hi", "there") == "A\n\nB"
    assert prompt_after("hi") == "A\n\nB"
    assert prompt_after("C", "hi", "D") == "D"
    untouched = messages.find(db, other.workflow, "other")
    assert untouched
    assert untouched.system_prompt == ""


def test_the_conversations_of_a_workflow_are_named_in_the_order_they_were_made(
    db: Database,
) -> None:
    for name in ("main", "b", "a"):
        made = conversation_in(db, name)
    messages.ensure(db, workflow_in(db, "elsewhere"), "other", "words")
    assert messages.names(db, made.workflow) == ["main", "b", "a"]
    assert messages.workflow_of(db, made.id) == made.workflow


def test_what_was_imported_is_known_by_its_marks(db: Database) -> None:
    one, other = conversation_in(db), conversation_in(db, "other")
    line = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "hello"}}
    file = json.dumps(line).encode()
    imported = list(read_transcript(file, "a.jsonl", known=()))
    messages.append(db, one.id, batch("typed"))
    messages.append(db, one.id, [(message, 1, False) for message in imported])
    marks = messages.import_marks(db, one.id)
    assert marks
    assert list(read_transcript(file, "a.jsonl", known=marks)) == []
    assert messages.import_marks(db, other.id) == set()


def test_a_row_that_is_damaged_is_an_error_that_names_it(db: Database) -> None:
    conversation = conversation_in(db).id
    messages.append(db, conversation, [(text_message("a"), 1, True)])
    db.rows("UPDATE messages SET written = '[]'")
    with pytest.raises(StoreError, match="the message of StoredMessage 1 in the store is damaged"):
        messages.after(db, conversation, 0)


def test_what_is_no_history_is_kept_and_neither_shown_nor_counted(db: Database) -> None:
    conversation = conversation_in(db).id
    said = [(Message("user", (Text(kind),), kind), 10, True) for kind in MESSAGE_KINDS]
    appended = messages.append(db, conversation, said)
    history = [line.kind for line in messages.after(db, conversation, 0)]
    assert history == [kind for kind in MESSAGE_KINDS if kind not in NOT_HISTORY]
    assert [line.kind for line in messages.pinned_messages(db, conversation)] == history
    assert messages.up_to(db, conversation) == Extent(
        len(MESSAGE_KINDS), 10 * len(history), len(history)
    )
    assert {line.tokens for line in appended if line.kind in NOT_HISTORY} == {0}
    ((kept,),) = db.rows("SELECT COUNT(*) FROM messages")
    assert kept == len(MESSAGE_KINDS)


def test_any_text_comes_back_in_every_part_of_a_message(db: Database) -> None:
    conversation = conversation_in(db).id
    for number, text in enumerate(ODD):
        parts = (
            keep(Text(text), text, {text: [text], "": 1}),
            Image(text, text, text),
            Thinking(text, text, redacted=True, shape=text),
            Opaque(text, text),
            ToolCall(text, text, text),
            ToolResult(text, text, failed=True, rest=(Image(text), Opaque(text))),
        )
        role: Role = ("user", "assistant", "tool")[number % 3]
        message = Message(role, parts, "debug_action", tokens=7, marks=(text,))
        appended = messages.append(db, conversation, [(message, 7, False)])
        (line,) = messages.after(db, conversation, number)
        assert [line] == appended
        assert (line.message, line.message.tokens) == (message, 7)


@pytest.mark.parametrize("megabytes", [1, 10])
def test_a_message_of_megabytes_comes_back_whole(db: Database, megabytes: int) -> None:
    conversation = conversation_in(db).id
    text = (
        ("a🧭\0é" * 200_000)[: megabytes * 1_000_000]
        if megabytes == 1
        else "words and\nlines " * 700_000
    )
    assert len(text.encode()) >= megabytes * 1_000_000
    messages.append(db, conversation, [(text_message(text), 1, False)])
    (line,) = messages.after(db, conversation, 0)
    assert line.message == text_message(text)


def test_a_plan_and_a_variable_of_megabytes_come_back_whole(db: Database) -> None:
    workflow, text = workflow_in(db), "\0🧭" * 500_000
    plans.add(db, workflow, {"goal": text}, reason="because")
    variables.set_variable(db, workflow, "big", [text], reason="because")
    newest = plans.current(db, workflow)
    assert newest
    assert newest.data["goal"] == text
    assert variables.all_variables(db, workflow) == {"big": [text]}


def test_a_recount_sets_every_size_and_every_sum(db: Database) -> None:
    conversation = conversation_in(db)
    plan = Message("user", (Text("an old plan"),), "plan")
    said = [*batch("a", size=5), (plan, 0, False), *batch("b", size=5), (plan, 0, False)]
    messages.append(db, conversation.id, said)
    messages.recount(db, conversation.id, "letters", [(1, 100), (3, 20)])
    assert messages.up_to(db, conversation.id) == Extent(4, 120, 2)
    (later,) = messages.append(db, conversation.id, [(text_message("c"), 3, False)])
    assert later.running == 123
    running = [messages.up_to(db, conversation.id, seq).running for seq in range(1, 6)]
    assert running == [100, 100, 120, 120, 123]
    now = messages.find(db, conversation.workflow, "main")
    assert now
    assert now.counter == "letters"


def test_a_message_that_came_while_others_were_counted_is_in_the_sum(db: Database) -> None:
    conversation = conversation_in(db).id
    messages.append(db, conversation, [*batch("a", size=5), *batch("b", size=7)])
    messages.recount(db, conversation, "letters", iter([(1, 50)]))
    assert [(line.tokens, line.running) for line in messages.after(db, conversation, 0)] == [
        (50, 50),
        (7, 57),
    ]


# --- compressions, cuts ---------------------------------------------------------------------------


def compress(
    db: Database, conversation: int, last: int, summary: str = "so far", after: int | None = None
) -> compressions.Compression | None:
    before = (
        compressions.number_of(compressions.current(db, conversation)) if after is None else after
    )
    new = compressions.Compression(
        last=last,
        summary=summary,
        method="extract",
        note=summary,
        replaced_tokens=9,
        summary_tokens=3,
        tokens_before=12,
        tokens_after=6,
        excerpts={4: 200},
    )
    return compressions.add(db, conversation, new, after=before)


def test_the_newest_compression_counts_until_it_is_undone(db: Database) -> None:
    conversation = conversation_in(db).id
    assert compressions.current(db, conversation) is compressions.undo(db, conversation) is None
    first, second = compress(db, conversation, 4), compress(db, conversation, 8)
    assert compressions.current(db, conversation) == second
    assert compressions.undo(db, conversation) == second
    assert compressions.current(db, conversation) == first
    third = compress(db, conversation, 9)
    assert third
    assert third.number == 3
    assert compressions.current(db, conversation) == third
    made = compressions.all_compressions(db, conversation)
    assert [(one.number, one.undone) for one in made] == [(1, False), (2, True), (3, False)]
    for _ in range(3):
        compressions.undo(db, conversation)
    assert compressions.current(db, conversation) is None


def test_a_compression_that_was_overtaken_is_not_kept(db: Database) -> None:
    conversation = conversation_in(db).id
    first = compress(db, conversation, 8, "quick", after=0)
    assert compress(db, conversation, 4, "slow", after=0) is None
    assert compressions.all_compressions(db, conversation) == [first]
    compressions.undo(db, conversation)
    assert compress(db, conversation, 9, "on top of what was undone", after=1) is None
    assert compressions.current(db, conversation) is None
    again = compress(db, conversation, 4, "again", after=0)
    assert again
    assert compressions.current(db, conversation) == again


def test_a_list_of_workflows_says_how_large_each_is_now_that_it_is_compressed(
    url: str, tmp_path: Path
) -> None:
    with foreword.Session.open(url, root=tmp_path, auto_compress=False) as session:

        def sizes() -> tuple[int, int]:
            (one,) = workflows.list_workflows(session.db)
            return one.tokens, one.now_tokens

        session.append({"role": "system", "content": "You are Director."})
        for number in range(12):
            session.append(text_message(f"message {number} " * 50), pinned=number == 3)
        whole = session.usage()["history_tokens"]
        assert sizes() == (whole, whole)
        shown_in_part = 0
        for target in (760, 560):
            made = session.compress(to=target)
            assert made.applied
            shown_in_part += len(made.excerpts)
            assert sizes() == (whole, session.usage()["history_tokens"])
            assert sizes()[1] < whole
        assert shown_in_part
        session.pin(6)
        assert sizes()[1] == session.usage()["history_tokens"]
        session.unpin(6)
        session.append(text_message("one more"))
        assert sizes()[1] == session.usage()["history_tokens"]
        session.undo()
        session.undo()
        now = session.usage()["history_tokens"]
        assert sizes() == (now, now)


def test_a_list_of_workflows_counts_a_compressed_one_anew_after_another_counter(
    url: str, tmp_path: Path
) -> None:
    with foreword.Session.open(url, root=tmp_path, counter="estimate") as session:
        for number in range(12):
            session.append(text_message(f"message {number} " * 50))
        assert session.compress(to=700).applied
    with foreword.Session.open(url, root=tmp_path, counter="o200k") as session:
        (one,) = workflows.list_workflows(session.db)
        assert one.now_tokens == session.usage()["history_tokens"] < one.tokens


def test_the_size_of_one_summary_is_written_anew_and_no_other(db: Database) -> None:
    one, other = conversation_in(db).id, conversation_in(db, "other").id
    for conversation in (one, one, other):
        compress(db, conversation, 4)
    compressions.resize(db, one, 2, 77)
    sizes = [made.summary_tokens for made in compressions.all_compressions(db, one)]
    assert sizes == [3, 77]
    assert [made.summary_tokens for made in compressions.all_compressions(db, other)] == [3]


def test_any_text_comes_back_from_a_summary(db: Database) -> None:
    conversation = conversation_in(db).id
    for text in ODD:
        made = compress(db, conversation, 1, text)
        assert made
        assert made.summary == text
        assert compressions.current(db, conversation) == made


# --- the call log ---------------------------------------------------------------------------------


def test_a_call_records_its_cut_and_its_entries(db: Database) -> None:
    conversation = conversation_in(db).id
    assert cuts.newest_call(db, conversation).call == 0
    assert cuts.newest_cut(db, conversation) is None
    first = cut_of(1, head={"parts": [{"tag": "\0\ud800"}]})
    record_call(db, conversation, 1, cut=first)
    assert cuts.newest_cut(db, conversation) == first
    entries = [
        LogEntry(cut=1, number=n, place=n, kind="changes", tokens=3, written=text)
        for n, text in enumerate(ODD, 1)
        if "\0" not in text and text.isprintable()
    ]
    record_call(db, conversation, 2, entries=entries)
    assert cuts.entries_of(db, conversation, 1) == entries
    second = cut_of(2, call=3, reason="compressed")
    record_call(db, conversation, 3, cut=second)
    assert cuts.newest_cut(db, conversation) == second
    assert [(cut.reason, cut.head) for cut in cuts.all_cuts(db, conversation)] == [
        ("no room", {}),  # only the newest is needed
        ("compressed", second.head),
    ]
    assert cuts.entries_of(db, conversation, 2) == []


def test_a_cut_is_requested_once_and_only_of_what_a_call_has_sent(db: Database) -> None:
    conversation = conversation_in(db).id
    cuts.request_cut(db, conversation, "compressed")
    assert cuts.newest_call(db, conversation).cut_due == []  # the first call is one anyway
    messages.append(db, conversation, batch("a", "b"))
    record_call(db, conversation, 1, last=1, cut=cut_of(1))
    cuts.request_cut(db, conversation, "the client edited its history", after=1)
    assert cuts.newest_call(db, conversation).cut_due == []
    cuts.request_cut(db, conversation, "requested", "a new task")
    cuts.request_cut(db, conversation, "compressed")
    assert cuts.newest_call(db, conversation).cut_due == ["requested", "a new task"]
    record_call(db, conversation, 2, last=2, cut=cut_of(2))
    assert cuts.newest_call(db, conversation).cut_due == []


def test_an_answer_is_what_the_assistant_says_right_after_the_newest_call(db: Database) -> None:
    conversation = conversation_in(db).id

    def said(role: str, answer_to: AnswerTo | None = None) -> bool:
        message = text_message("word", role)
        rows = [(message, 1, False)]
        (line,) = messages.append(db, conversation, rows, answer_to=answer_to)
        return line.answers

    assert not said("assistant")  # nobody has called yet
    assert not said("user")
    record_call(db, conversation, 1, last=2, cut=cut_of(1), sent="one")
    assert not said("user")
    assert not said("assistant")  # somebody spoke in between
    record_call(db, conversation, 2, last=4, sent="two")
    assert not said("assistant", AnswerTo(sent="one"))  # to a call that sent something else
    record_call(db, conversation, 3, last=5, sent="three")
    assert said("assistant", AnswerTo(sent="three"))
    assert said("assistant", AnswerTo(sent="three", goes_on=6))  # the rest of it
    assert not said("assistant")  # somebody else's answer to the same call
    rows = [(text_message(role, role), 1, False) for role in ("assistant", "user", "assistant")]
    record_call(db, conversation, 4, last=8, sent="four")
    lines = messages.append(db, conversation, rows)
    assert [line.answers for line in lines] == [True, False, False]


# --- reports, originals, ranges, what is carried --------------------------------------------------


def test_reports_come_newest_first_with_the_usage_of_their_conversation(db: Database) -> None:
    conversation = conversation_in(db).id
    numbers = [
        save_report(db, {}, {**REPORT, "recipe": f"r{n}", "odd": "\0\ud800"}, created=f"t{n}")
        for n in range(3)
    ]
    used = save_report(db, {}, REPORT, conversation=conversation, usage=USAGE, created="t3")
    assert [(one.number, one.created) for one in newest_reports(db)] == [
        (used, "t3"),
        *((n, f"t{n - 1}") for n in reversed(numbers)),
    ]
    assert [one.number for one in newest_reports(db, 2)] == [used, numbers[-1]]
    assert newest_reports(db, 0) == newest_reports(db, -1) == []
    assert usage_log(db, conversation) == [{"report": used, "created": "t3", **USAGE}]
    assert read_stamps(db, conversation).last_recipe == "r"
    assert usage_log(db, conversation, -5) == []
    stored = find_report(db, numbers[1])
    assert stored
    assert stored.report == {**REPORT, "recipe": "r1", "odd": "\0\ud800"}
    assert find_report(db, 10**30) is find_report(db, -1) is None


def test_an_answer_is_counted_once_and_answers_are_summed_by_model(db: Database) -> None:
    conversation = conversation_in(db)
    usage = AnswerUsage(answer="", model="a", input_tokens=9, cached_tokens=5, output_tokens=2)
    for key in ("one", "two", "two"):
        answer_usage.keep(db, conversation.id, key, usage)
    written = replace(usage, model="b\0", written_tokens=3, written_hour_tokens=1)
    answer_usage.keep(db, conversation.id, "three\0", written)
    answer_usage.keep(db, conversation_in(db, "other").id, "one", usage)
    huge = replace(usage, model="c", input_tokens=10**30)
    answer_usage.keep(db, conversation.id, "four", huge)
    assert answer_usage.by_model(db, conversation.id) == [
        (2, replace(usage, input_tokens=18, cached_tokens=10, output_tokens=4)),
        (1, replace(written, model="b\ufffd")),
        (1, replace(huge, input_tokens=answer_usage.MOST_TOKENS)),
    ]


def test_an_original_comes_back_by_its_handle_and_by_the_beginning_of_it(
    url: str, db: Database, tmp_path: Path
) -> None:
    bodies = [b"", b"\0\xff\xfe", b"what was cut", b"x" * 3_000_000]
    save_report(db, {handle_of(body): body for body in bodies}, REPORT)
    save_report(db, {handle_of(body): body for body in bodies}, REPORT)
    for body in bodies:
        assert recall(handle_of(body), tmp_path, url) == body
        assert recall(handle_of(body)[:10], tmp_path, url) == body


def test_a_handle_of_nothing_is_unknown(url: str, db: Database, tmp_path: Path) -> None:
    save_report(db, {handle_of(b"body"): b"body"}, REPORT)
    bad = ("fw_\0\0\0", "fw_\ud800\ud800\ud800", "fw_%%%%", "fw_zzz{")
    for handle in ("", "fw_", "fw_00000000000000", *bad):
        with pytest.raises(UnknownHandle):
            recall(handle, tmp_path, url)


def test_a_handle_of_a_stretch_gives_back_the_words_of_its_messages(
    url: str, db: Database, tmp_path: Path
) -> None:
    conversation = conversation_in(db)
    texts = ["first", "find the \0 harbour 🧭", "it is \ud800 here", "last"]
    said = [(text_message(text, "assistant"), 1, False) for text in texts]
    messages.append(db, conversation.id, said)
    handle = messages.handle_for(db, conversation, Range(conversation.id, 2, 3))
    assert messages.handle_for(db, conversation, Range(conversation.id, 2, 3)) == handle
    assert messages.handle_for(db, conversation, Range(conversation.id, 2, 4)) != handle
    text = recall(handle, tmp_path, url).decode("utf-8", "surrogatepass")
    assert f'<turn role="assistant">\n{texts[1]}\n</turn>' in text
    assert texts[2] in text
    assert "first" not in text
    assert "last" not in text


def test_what_is_carried_is_replaced_forgotten_and_in_a_stable_order(
    url: str, db: Database, tmp_path: Path
) -> None:
    items = {}
    for kind, title in product("bBa", ODD):
        items[kind, title] = {"kind": kind, "title": title, "text": title}
    write_items(db, "work", items)
    key = ("a", "é")
    new = {key: {**items[key], "text": "new"}}
    write_items(db, "work", new, ended=[("b", ""), ("never", "there")])
    kept = read_items(db, "work")
    found = {(item["kind"], item["title"]): item["text"] for item in kept}
    assert found[key] == "new"
    assert ("b", "") not in found
    assert [item["kind"] for item in kept] == sorted(item["kind"] for item in kept)
    assert read_items(db, "other") == []
    existing = open_to_read(url, tmp_path)
    assert existing
    assert read_items(existing, "work") == kept
    existing.close()


# --- transactions ---------------------------------------------------------------------------------


def test_a_transaction_that_fails_halfway_leaves_nothing(db: Database) -> None:
    workflow = workflow_in(db)

    def fail() -> None:
        with db.transaction("lock"):
            workflows.put_node(db, workflow, {"id": "a", "position": 1})
            variables.set_variable(db, workflow, "inner", 1, reason="part of it")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert workflows.nodes(db, workflow) == []
    assert variables.all_variables(db, workflow) == {}
    variables.set_variable(db, workflow, "next", 1, reason="works")
    assert list(variables.all_variables(db, workflow)) == ["next"]


def test_a_part_of_a_transaction_may_fail_by_itself(db: Database) -> None:
    workflow = workflow_in(db)
    with db.transaction("lock"):
        variables.set_variable(db, workflow, "before", 1, reason="stays")
        with pytest.raises(PlanConflict):
            plans.add(db, workflow, {}, reason="conflict", expected=7)
        with pytest.raises(StoreError), db.transaction("other"):
            db.rows("INSERT INTO variables (workflow) VALUES (?)", (workflow,))
        variables.set_variable(db, workflow, "after", 1, reason="stays")
    assert list(variables.all_variables(db, workflow)) == ["before", "after"]


def test_an_error_of_the_caller_inside_a_transaction_stays_what_it_is(db: Database) -> None:
    for error in (UnicodeError("mine"), OverflowError("mine"), KeyboardInterrupt()):
        with pytest.raises(type(error)), db.transaction():
            raise error


def test_a_batch_that_can_not_be_kept_whole_is_not_kept_at_all(db: Database) -> None:
    conversation = conversation_in(db).id
    messages.append(db, conversation, batch("kept"))
    with pytest.raises(StoreError, match="can't be used"):
        messages.append(db, conversation, [*batch("a"), *batch("b", size=2**70)])
    assert messages.up_to(db, conversation) == Extent(1, 1, 1)


def test_a_statement_that_makes_no_sense_is_an_error_and_the_next_one_works(db: Database) -> None:
    for statement in ("SELEC", "SELECT * FROM nothing", "INSERT INTO nodes VALUES (1)", "SELECT ?"):
        with pytest.raises(StoreError, match="can't be used"):
            db.rows(statement)
        assert db.rows("SELECT 1") == [(1,)]


def test_nothing_is_kept_for_a_workflow_or_a_conversation_that_is_not_there(db: Database) -> None:
    with pytest.raises(StoreError, match="can't be used"):
        plans.add(db, 77, {}, reason="nobody's")
    with pytest.raises(StoreError, match="can't be used"):
        messages.append(db, 77, batch("nobody's"))
    with pytest.raises(StoreError, match="can't be used"):
        save_report(db, {handle_of(b"body"): b"body"}, REPORT, conversation=77)
    assert originals.find(db, handle_of(b"body")) == []


def test_a_database_that_was_closed_stays_closed(db: Database) -> None:
    db.close()
    with pytest.raises(StoreError, match="can't be used"):
        db.rows("SELECT 1")
    with pytest.raises(StoreError, match="can't be used"), db.transaction():
        pass
    db.close()
