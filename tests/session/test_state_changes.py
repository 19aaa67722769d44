"""What is appended of a state: the lines that changed and no others, and whoever reads a request
knows the state as it is."""

from __future__ import annotations

import tempfile
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foreword
from foreword.plan.changed_lines import changed_lines
from foreword.testing.state_reader import _apply_line, state_in
from tests.examples import examples
from tests.sessions import Open, numbered_message, plan

NAMES = st.text(min_size=1, max_size=6) | st.sampled_from(
    ["a", "b", "status", "a b", 'q"uote', "]"]
)
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | st.text(max_size=9)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
TREES = st.dictionaries(NAMES, VALUES, max_size=5)


@given(before=TREES, after=TREES)
def test_the_lines_make_the_value_after_of_the_value_before(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    read = {"root": deepcopy(before)}
    for line in changed_lines(before, after, "root"):
        assert "\n" not in line
        _apply_line_at_root(read, line)
    assert repr(_sorted(read["root"])) == repr(_sorted(after))
    assert list(changed_lines(after, after)) == []


def _apply_line_at_root(read: dict[str, Any], line: str) -> None:
    rest = line.removeprefix("root")
    if rest.startswith(" = "):
        _apply_line(read, "root", rest)
    else:
        _apply_line(read, "root", rest.removeprefix("."))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((name, _sorted(member)) for name, member in value.items())
    return [_sorted(member) for member in value] if isinstance(value, list) else value


def test_a_changed_status_is_one_short_line() -> None:
    assert list(changed_lines(plan(), plan("completed"))) == [
        'phases[0].tasks[1].status = "completed"'
    ]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"a": [1, 2, 3]}, {"a": [1]}, ["a[2] removed", "a[1] removed"]),
        ({"a": []}, {"a": [{"b": 1}]}, ['a[0] = {"b": 1}']),
        ({"a": [1]}, {"a": []}, ["a = []"]),
        ({"a": 1}, {"a": True}, ["a = true"]),
        ({"a b": 1}, {"c": 1}, ['["a b"] removed', "c = 1"]),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": None}}, ["a.c = null"]),
    ],
)
def test_each_difference_is_a_line(before: object, after: object, lines: list[str]) -> None:
    assert list(changed_lines(before, after)) == lines


STATUSES = st.sampled_from(["pending", "in_progress", "completed"])
TEXTS = st.text('ab \n<>&\u2028é"\\', max_size=30) | st.sampled_from(
    ["</state_changes>", "current_plan:", "- rate = 7", "rate removed"]
)
KEY = "sk-ant-api03-" + "a1B2c3D4" * 11  # a name that is hidden
VARIABLES = st.sampled_from(["a", "a = b", "a removed", "\u2028", "\\u2028", KEY, f"{KEY}2"])
CHANGES = st.one_of(
    st.tuples(st.just("plan"), STATUSES, TEXTS, st.lists(TEXTS, max_size=3)),
    st.tuples(
        st.just("variable"),
        st.sampled_from(["a", "a = b", "a removed", "sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaa"]),
        VALUES,
    ),
    st.tuples(st.just("clear"), st.just("all")),
    st.tuples(st.just("node"), st.sampled_from(["n1", "n 2"]), TREES),
    st.tuples(st.just("drop"), st.sampled_from(["n1", "n 2"])),
    st.tuples(st.just("tabs"), st.lists(st.sampled_from(["A", "B", "C"]))),
    st.tuples(st.just("cut"), st.just("")),
)


def make(session: foreword.Session, change: tuple[Any, ...]) -> None:
    match change:
        case ("plan", status, text, actions):
            session.update_plan(plan(status, notes=text, next_actions=actions), "more")
        case ("variable", name, value):
            session.set_variable(name, value, "seen")
        case ("clear one", name):
            if name in session.get_workflow_variables():
                session.clear_variable(name, "anew")
        case ("clear", _):
            session.clear_all_variables("anew")
        case ("node", name, config):
            session.put_node({"id": name, "position": 1, "type": "x", "config": config})
        case ("drop", name):
            if any(node["id"] == name for node in session.snapshot()["nodes"]):
                session.drop_node(name)
        case ("cut", _):
            session.cut()


@settings(max_examples=examples(40))
@given(changes=st.lists(CHANGES, min_size=1, max_size=12))
def test_the_state_of_a_session_is_read_from_its_requests_alone(
    changes: list[tuple[Any, ...]],
) -> None:
    tabs: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        foreword.Session.open(f"sqlite:///{folder}/s.db", root=folder) as session,
        foreword.Session.open(f"sqlite:///{folder}/s.db", root=folder, recipe="workflow") as fresh,
    ):
        session.append(numbered_message(0))
        session.context()
        session.set_variable("first", 1, "there is a state")
        for change in changes:
            make(session, change)
            if change[0] == "tabs":
                names = enumerate(change[1])  # several may have one
                tabs = [{"name": name, "url": f"https://{at}.example/"} for at, name in names]
            read = state_in(session.context(browser=tabs).to_anthropic())
            now = state_in(fresh.context(browser=tabs, save=False).to_anthropic())
            assert _unordered(read) == _unordered(now)


def _unordered(state: dict[str, Any]) -> dict[str, Any]:
    """A state whose variables and tabs may stand in any order."""
    return {
        tag: sorted(value) if isinstance(value, list) else value for tag, value in state.items()
    }


def test_what_did_not_change_is_not_repeated(open_session: Open) -> None:
    session = open_session(recipe="workflow-cached")
    session.update_plan(plan(), "first")
    session.set_variable("rate", 7, "seen")
    session.append(numbered_message(0))
    first = session.context().text
    session.append(numbered_message(1))
    second = session.context().text
    assert second.startswith(first.partition("</conversation_history>")[0])
    assert "state_changes" not in second
    session.set_variable("cone", 6, "seen")
    added = session.context().text.removeprefix(second.partition("</conversation_history>")[0])
    assert "- cone = 6\n" in added
    assert "rate" not in added
    assert "current_plan" not in added


def test_lines_that_have_outgrown_the_state_give_way_to_the_whole_state(
    open_session: Open,
) -> None:
    session = open_session(recipe="workflow-cached")
    session.set_variable("rate", 0, "seen")
    session.append(numbered_message(0))
    texts = list[str]()
    for turn in range(1, 40):
        session.context()
        session.set_variable("rate", turn, "seen")
    text = session.context().text
    texts = text.split("<workflow_variables>\n")[1:]
    assert 2 <= len(texts) < 12
    assert len(session.cuts()) == 1
    read = state_in({"messages": [{"content": text}]})
    assert read["workflow_variables"] == ["- rate = 39"]
