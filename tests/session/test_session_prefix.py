"""The beginning of a call stays the same from turn to turn, measured in the texts themselves,
and the log agrees."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise, takewhile
from typing import Any

import pytest

import foreword
from foreword.testing.prefix_checks import request_parts
from tests.sessions import Open

BUDGET = 20_000
TURNS = 200
Size = Callable[[int], int]


@pytest.fixture
def start_session(open_session: Open) -> Open:
    """Opens sessions on one store."""

    def open_one(**more: Any) -> foreword.Session:
        return open_session(
            **{"recipe": "workflow-cached", "budget": BUDGET, "counter": "o200k", **more}
        )

    return open_one


def words(turn: int, tokens: int) -> str:
    """About so many tokens that name their turn."""
    return f"Turn {turn}. " + " ".join(f"row {n % 10}" for n in range(tokens // 2))


def start(session: foreword.Session) -> None:
    """A system prompt, and a conversation that fills the budget."""
    session.append({"role": "system", "content": words(0, 800)})
    session.extend(
        {"role": "assistant" if n % 2 else "user", "content": words(n, 200)} for n in range(110)
    )


def change_state(session: foreword.Session, turn: int) -> None:
    """Parts two to five are new at every turn."""
    task = {"task_id": 1, "description": f"Build node {turn}", "status": "in_progress"}
    phase = {"phase_name": "Build", "status": "in_progress", "tasks": [task]}
    session.update_plan({"overall_goal": "Build it", "phases": [phase]}, f"turn {turn}")
    session.put_node(
        {"id": f"node_{turn % 20}", "position": turn % 20, "type": "code", "config": {"turn": turn}}
    )
    session.set_variable(f"node{turn % 20}.value", f"value of {turn} " * (turn % 7), f"turn {turn}")


def go(session: foreword.Session, turn: int, size: int) -> foreword.Package:
    """One turn: a call, its result, and the next context."""
    call = {"type": "tool_use", "id": f"c{turn}", "name": "read", "input": {"turn": turn}}
    session.append(
        {"role": "assistant", "content": [{"type": "text", "text": f"Step {turn}."}, call]}
    )
    result = {
        "type": "tool_result",
        "tool_use_id": f"c{turn}",
        "content": words(turn, max(4, size - 40)),
    }
    session.append({"role": "user", "content": [result]})
    change_state(session, turn)
    tab = {"name": "Main", "url": f"https://example.com/{turn}", "active": True}
    return session.context(browser=[tab])


def sent_parts(package: foreword.Package) -> list[str]:
    """What a model reads of a call, in order."""
    parts = request_parts(package.to_anthropic())
    return [json.dumps([part.place, part.value]) for part in parts]


def reuse_and_use(packages: list[foreword.Package]) -> tuple[float, float]:
    """The share of each call that the call before began with, and the share of the budget used."""
    count = foreword.counter().count
    whole = 0
    reused = 0
    for old, new in pairwise(map(sent_parts, packages)):
        whole += sum(map(count, new))
        same = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
        reused += sum(count(part) for part, _ in same)
    used = sum(package.report.total_tokens for package in packages) / len(packages) / BUDGET
    return reused / whole, used


def even(turn: int) -> int:
    return 200


def uneven(turn: int) -> int:
    return random.Random(turn).choice([20, 60, 100, 200, 300, 520])


@pytest.mark.parametrize(("size", "counter"), [(even, "estimate"), (uneven, "o200k")])
def test_over_200_turns_at_the_limit_91_percent_of_a_call_is_reused_and_80_of_the_budget(
    start_session: Open, size: Size, counter: str
) -> None:
    session = start_session(counter=counter)
    start(session)
    packages = [go(session, turn, size(turn)) for turn in range(TURNS)]
    reuse, used = reuse_and_use(packages)
    assert reuse >= 0.91
    assert used >= 0.80
    assert max(package.report.total_tokens for package in packages) <= BUDGET
    usage = session.usage(TURNS)
    assert usage["calls"] == TURNS
    assert usage["reuse"] == pytest.approx(reuse, abs=0.01)
    assert usage["used"] == pytest.approx(used, abs=0.01)


def test_every_break_has_a_reason_and_every_call_without_one_only_grew(start_session: Open) -> None:
    session = start_session()
    start(session)
    calls = [sent_parts(go(session, turn, 200)) for turn in range(80)]
    reasons = [line["prefix_break"] for line in reversed(session.usage(80)["log"])]
    assert reasons[0] == "first call"
    for old, new, reason in zip(calls[:-1], calls[1:], reasons[1:], strict=True):
        assert (new[: len(old)] == old) == (not reason)
    assert {*reasons[1:]} == {"", "compressed"}
    assert [cut["reason"] for cut in session.cuts()] == [reason for reason in reasons if reason]


def test_a_restart_remembers_the_cut_and_the_beginning_does_not_break(start_session: Open) -> None:
    session = start_session()
    start(session)
    packages = list[foreword.Package]()
    for turn in range(60):
        if turn % 7 == 3:
            session.close()
            session = start_session()
        packages.append(go(session, turn, 200))
    reuse, _ = reuse_and_use(packages)
    assert reuse >= 0.91
    assert session.usage()["reuse"] == pytest.approx(reuse, abs=0.01)
    assert session.usage()["breaks"] <= 5


def test_two_processes_that_take_turns_have_one_beginning(start_session: Open) -> None:
    both = [start_session(), start_session()]
    start(both[0])
    packages = [go(both[turn % 2], turn, uneven(turn)) for turn in range(80)]
    reuse, used = reuse_and_use(packages)
    assert reuse >= 0.91
    assert used >= 0.75
    assert both[0].usage()["reuse"] == pytest.approx(reuse, abs=0.01)


def test_a_call_that_is_not_kept_moves_nothing(start_session: Open) -> None:
    session = start_session()
    start(session)
    before = sent_parts(go(session, 0, 200))
    session.context(budget=5000, save=False)
    session.context(save=False)
    assert sent_parts(go(session, 1, 200))[: len(before)] == before
    assert session.usage()["log"][0]["prefix_break"] == ""


def test_a_new_system_prompt_breaks_the_beginning_and_the_log_says_so(start_session: Open) -> None:
    session = start_session()
    start(session)
    go(session, 0, 200)
    session.system_prompt = "You are somebody else."
    go(session, 1, 200)
    assert session.usage()["log"][0]["prefix_break"] == "the system prompt changed"


def test_where_the_state_is_rebuilt_the_log_says_that_it_changed(start_session: Open) -> None:
    session = start_session(recipe="workflow")
    start(session)
    go(session, 0, 200)
    go(session, 1, 200)
    assert session.usage()["log"][0]["prefix_break"] == "the state changed"


def test_a_compression_and_its_undoing_are_breaks_with_a_reason(start_session: Open) -> None:
    session = start_session()
    start(session)
    go(session, 0, 200)
    session.compress(to=4000)
    go(session, 1, 200)
    session.undo()
    go(session, 2, 200)
    assert [line["prefix_break"] for line in session.usage()["log"]] == [
        "compression undone",
        "compressed",
        "first call",
    ]


def test_the_breakpoints_for_a_cache_mark_what_the_call_before_had(start_session: Open) -> None:
    """The last block is marked, and so is the one that was the last in the call before."""
    session = start_session()
    start(session)
    before = ""
    for turn in range(4):
        shaped = go(session, turn, 20).to_anthropic()
        marked = list[str]()
        for message in shaped["messages"]:
            for block in message["content"]:
                if block.pop("cache_control", None):
                    marked.append(json.dumps(block))
        assert len(marked) == (2 if turn else 1)
        assert marked[0] == before or not turn
        assert marked[-1] == json.dumps(shaped["messages"][-1]["content"][-1])
        before = marked[-1]
