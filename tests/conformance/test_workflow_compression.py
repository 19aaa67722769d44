"""Compression of a workflow's history, point by point (SPEC W11): when, to what, and what is
never lost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import foreword
from tests.session.validity import problems
from tests.sessions import Open

RECIPES = ("workflow", "workflow-cached")
FRESH = (
    "system_prompt",
    "current_plan",
    "workflow_snapshot",
    "workflow_variables",
    "browser_state",
)
FACTS = ["the quota is 4711 rows", "the selector is #identifierNext", "never open the billing tab"]


@pytest.fixture
def opened(open_session: Open) -> Open:
    """Opens sessions with small limits."""

    def opening(**more: Any) -> foreword.Session:
        return open_session(**{"warn_at": 5000, "compress_at": 6000, "compress_to": 1500, **more})

    return opening


def message_of(number: int, size: int = 60) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {
        "role": role,
        "content": f"Message {number}. " + " ".join(f"w{number}x{n}" for n in range(size)),
    }


def fill(session: foreword.Session, most: int = 200, first: int = 0) -> list[Any]:
    """Messages until the first compression; what became of each."""
    outcomes = list[Any]()
    for number in range(first, first + most):
        outcomes.append(session.append(message_of(number)))
        if outcomes[-1].compaction:
            break
    return outcomes


def parts(text: str) -> dict[str, str]:
    return {tag: text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0] for tag in FRESH}


def task(status: str, description: str, number: int = 1) -> dict[str, Any]:
    return {"task_id": number, "description": description, "status": status}


def plan_of(*tasks: dict[str, Any]) -> dict[str, Any]:
    phase = {"phase_name": "Build", "status": "in_progress", "tasks": list(tasks)}
    return {"overall_goal": "Gmail to Airtable", "phases": [phase]}


# --- when -----------------------------------------------------------------------------------------


def test_w11_the_limits_are_160_000_180_000_and_20_000_of_a_window_of_200_000(
    tmp_path: Path,
) -> None:
    with foreword.Session.open(f"sqlite:///{tmp_path}/state.db", root=tmp_path) as session:
        usage = session.usage()
    assert [usage[name] for name in ("warn_at", "compress_at", "compress_to")] == [
        160_000,
        180_000,
        20_000,
    ]


def test_w11_the_size_is_measured_after_every_message(opened: Open) -> None:
    session, size = opened(), 0
    for number in range(10):
        outcome = session.append(message_of(number))
        assert outcome.size_tokens == session.size_tokens() >= size + outcome.tokens
        size = outcome.size_tokens
    assert abs(session.context().report.total_tokens - size) <= 20


@pytest.mark.parametrize("change", ["plan", "variable", "node", "prompt"])
def test_w11_the_size_after_a_message_counts_the_parts_as_they_are_now(
    opened: Open, change: str
) -> None:
    session, large = opened(), " ".join(f"word{n}" for n in range(900))
    session.append(message_of(0))
    match change:
        case "plan":
            session.update_plan(plan_of(task("pending", large)), "large")
        case "variable":
            for number in range(60):
                session.set_variable(
                    f"node{number}.value", large[number * 90 : number * 90 + 90], "large"
                )
        case "node":
            session.put_node({"id": 1, "position": 1, "type": "code", "config": {"code": large}})
        case "prompt":
            session.append({"role": "system", "content": large})
    size = session.append(message_of(1)).size_tokens
    assert abs(session.context(save=False).report.total_tokens - size) <= 20


def test_w11_the_tabs_that_a_call_is_given_count_toward_its_limit(opened: Open) -> None:
    session = opened(warn_at=2500, compress_at=3000, compress_to=1500)
    tabs = [{"name": f"Tab {n}", "url": f"https://example.com/{n}/zebra"} for n in range(60)]
    for number in range(9):
        assert session.append(message_of(number)).compaction is None
    package = session.context(browser=tabs)
    assert any("compressed" in note for note in package.report.warnings)
    assert "https://example.com/59/zebra" in package.text
    assert "zebra" in session.context().text, "they stand until other tabs are named"
    closed = session.context(browser=[]).text
    assert closed.rindex("no browser attached") > closed.rindex("zebra")


def test_w11_there_is_one_warning_at_its_limit(opened: Open) -> None:
    session = opened()
    outcomes = [outcome for outcome in fill(session) if outcome.compaction is None]
    warned = [outcome for outcome in outcomes if outcome.warnings]
    assert len(warned) == 1
    assert "past 5,000" in warned[0].warnings[0]
    assert warned[0].size_tokens >= 5000 > warned[0].size_tokens - warned[0].tokens


def test_w11_a_warning_is_given_once_across_processes(opened: Open) -> None:
    session = opened(auto_compress=False)
    said_so = [bool(session.append(message_of(number)).warnings) for number in range(30)]
    assert said_so.count(True) == 1
    again = opened(auto_compress=False)
    assert not again.append(message_of(30)).warnings
    assert not any("past 5,000" in warning for warning in again.context().report.warnings)


@pytest.mark.parametrize("recipe", RECIPES)
def test_w11_the_history_is_compressed_before_the_message_that_would_pass_the_limit(
    opened: Open, recipe: str
) -> None:
    session = opened(recipe=recipe)
    *before, last = fill(session)
    assert (
        max(outcome.size_tokens for outcome in before)
        <= 6000
        < before[-1].size_tokens + last.tokens
    )
    made = last.compaction
    assert made.applied
    assert made.reached
    assert made.tokens_after <= 1.1 * 1500
    package = session.context()
    assert f"Message {len(before)}. " in package.text, "the message that came is whole"
    assert abs(package.report.total_tokens - session.size_tokens()) <= 20
    assert problems(package) == []


def test_w11_at_the_limit_the_history_is_compressed_and_never_just_cut(opened: Open) -> None:
    session, number = opened(), 0
    while len(session.compressions()) < 3:
        session.append(message_of(number, 1))
        number += 1
        if session.size_tokens() > 5900 or not number % 50:
            assert "left out: foreword recall" not in session.context().text


def test_w11_the_fresh_parts_are_untouched(opened: Open) -> None:
    session = opened()
    session.append({"role": "system", "content": "You are Director."})
    session.update_plan(plan_of(task("in_progress", "Build node")), "first")
    session.put_node({"id": "node_1", "position": 1, "type": "code"})
    session.set_variable("page", "inbox", "seen")
    tabs = [{"name": "Main", "url": "https://mail.google.com", "active": True}]
    session.append(message_of(0))
    before = parts(session.context(browser=tabs).text)
    assert fill(session, first=1)[-1].compaction
    assert parts(session.context(browser=tabs).text) == before


# --- nothing is lost ------------------------------------------------------------------------------


def test_w11_the_originals_are_there_and_expand_gives_them_back_byte_for_byte(
    opened: Open, tmp_path: Path
) -> None:
    session = opened()
    count = len(fill(session))
    last = session.compressions()[-1].last
    originals = [message_of(number)["content"] for number in range(count)]
    assert [message.text for message in session.expand()] == originals[:last]
    assert [message.text for message in opened().history()] == originals
    omission = next(each for each in session.context().report.omissions if "summed up" in each.what)
    assert all(text in foreword.recall(omission.handle, tmp_path) for text in originals[:last])


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("recipe", RECIPES)
def test_w11_undo_brings_every_message_back_into_the_context(
    opened: Open, recipe: str, restart: bool
) -> None:
    session = opened(recipe=recipe, compress_at=60_000, budget=6000)
    for number in range(12):
        session.append(message_of(number))
    before = session.context().text
    session.compress(to=1500)
    assert session.context().text != before
    session.undo()
    if restart:
        session = opened(recipe=recipe, compress_at=60_000, budget=6000)
    assert session.context().text == before
    assert session.compressions()[0].undone
    with pytest.raises(foreword.UsageError):
        session.undo()


def test_w11_after_undo_it_is_not_compressed_again_at_once(opened: Open) -> None:
    session = opened()
    fill(session)
    session.undo()
    assert session.append(message_of(300)).compaction is None
    assert session.context().report.total_tokens <= 6000


def test_w11_a_preview_changes_nothing(opened: Open) -> None:
    session = opened()
    for number in range(15):
        session.append(message_of(number))
    text, usage = session.context().text, session.usage()
    made = session.compress(preview=True)
    assert not made.applied
    assert made.messages > 0
    assert session.compressions() == []
    assert session.context(save=False).text == text
    assert session.usage() == usage


def test_w11_the_first_message_and_the_newest_ones_stay_whole(opened: Open) -> None:
    session = opened()
    count = len(fill(session))
    numbers = [
        int(n) for n in re.findall(r"^Message (\d+)\. w", session.context().text, re.MULTILINE)
    ]
    last = session.compressions()[-1].last
    assert numbers == [0, *range(last, count)]


def test_w11_a_pinned_message_that_is_the_last_one_summed_up_does_not_stand_in_for_the_summary(
    opened: Open,
) -> None:
    lasts = [0]
    for workflow in ("unpinned", "pinned"):
        session = opened(workflow=workflow)
        for number in range(20):
            session.append(message_of(number), pinned=number + 1 == lasts[-1])
        session.compress()
        lasts.append(session.compressions()[0].last)
    _, last, again = lasts
    assert last == again, "the scene: the pinned message is the last one summed up"
    text = session.context().text
    assert text.count("[Summary of messages 1-") == 1
    assert text.count(message_of(last - 1)["content"]) == 1


# --- again and again ------------------------------------------------------------------------------


@pytest.mark.parametrize("counter", ["o200k", "estimate"])
def test_w11_ten_compressions_in_a_row_keep_what_was_decided_and_stay_within_the_target(
    opened: Open, counter: str
) -> None:
    session = opened(counter=counter)
    session.append({"role": "user", "content": "Build it. You must " + FACTS[2] + "."})
    session.append(
        {"role": "assistant", "content": f"Decision: we stop at the limit because {FACTS[0]}."}
    )
    session.append({"role": "assistant", "content": f"Found: {FACTS[1]}, confirmed in the DOM."})
    number = 0
    while len(session.compressions()) < 10:
        outcome = session.append(message_of(number))
        number += 1
        if outcome.compaction:
            assert outcome.compaction.reached
            assert session.size_tokens() <= 1.1 * 1500 + outcome.tokens + 300
        assert number < 1000
    text = session.context().text
    assert [fact for fact in FACTS if fact in text] == FACTS
    assert text.count("[Summary of messages 1-") == 1
    assert [made.number for made in session.compressions()] == list(range(1, 11))


def test_w11_a_second_compression_folds_the_first_one_in(opened: Open) -> None:
    session = opened()
    fill(session)
    fill(session, first=100)
    first, second = session.compressions()
    assert second.last > first.last
    assert session.context().text.count("[Summary of messages 1-") == 1
    assert [message.text for message in session.expand(1)] == [
        message.text for message in session.expand()[: first.last]
    ]
    session.undo()
    assert f"[Summary of messages 1-{first.last:,} " in session.context().text


def test_w11_a_target_out_of_reach_is_said_once_and_not_tried_at_every_turn(opened: Open) -> None:
    session = opened(recipe="workflow")
    for number in range(3):
        session.append(message_of(number, 200), pinned=True)
    outcomes = [session.append(message_of(number, 20)) for number in range(3, 40)]
    tried = [outcome for outcome in outcomes if outcome.compaction]
    notes = [
        note for outcome in outcomes for note in outcome.warnings if "can't be reached" in note
    ]
    assert 1 <= len(tried) <= 2, "each further quarter of the limit is worth one attempt"
    assert len(notes) == len(tried)
    assert not any("can't be reached" in warning for warning in session.context().report.warnings)


def test_w11_a_target_near_the_limit_leaves_the_summary_whole(opened: Open) -> None:
    session = opened(compress_to=4500)
    assert fill(session)[-1].compaction.reached
    assert session.compressions()[-1].summary in session.context().text


def test_w11_two_limits_the_wrong_way_round_are_refused(opened: Open) -> None:
    with pytest.raises(foreword.ForewordError, match="makes nothing smaller"):
        opened(compress_to=7000)


def test_w11_without_auto_compress_the_window_cuts_and_nothing_is_summed_up(opened: Open) -> None:
    session = opened(auto_compress=False)
    for number in range(60):
        session.append(message_of(number))
    package = session.context()
    assert package.report.total_tokens <= 6000
    assert session.compressions() == []
    assert "earlier messages left out" in package.text


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("reopen", [False, True])
def test_w11_what_always_stays_is_there_after_a_compression_between_two_calls(
    opened: Open, recipe: str, reopen: bool
) -> None:
    session = opened(recipe=recipe)
    session.append({"role": "user", "content": "The task: sort the mail."})
    session.append({"role": "user", "content": "Always: never touch billing."}, pinned=True)
    session.context()
    for number in range(12):
        session.append(message_of(number))
    session.context()
    session.compress(to=1500)
    for number in range(12, 15):
        session = opened(recipe=recipe) if reopen else session
        text = session.context().text
        assert text.count("The task: sort the mail.") == 1
        assert text.count("Always: never touch billing.") == 1
        assert text.count("[Summary of messages 1-") == 1
        session.append(message_of(number))


def test_w11_a_compression_that_nobody_asked_for_is_told_with_the_way_back(opened: Open) -> None:
    outcome = fill(opened())[-1]
    assert outcome.warnings[0].startswith("the history was compressed: ")
    assert "foreword session undo main" in outcome.warnings[0]
