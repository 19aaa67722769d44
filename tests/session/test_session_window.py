"""The window of a session: which messages a call carries when not all of them fit, and what
stands in for the rest."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

import foreword
from tests.session.validity import problems
from tests.sessions import Open, call, numbered_message, results, shown_numbers, words

MARK = re.compile(r"\[([\d,]+) earlier messages? left out: foreword recall (fw_[0-9a-f]{14})\]")
CUT_OUT = re.compile(
    r"\[\.\.\. (?:[\d,]+ lines, )?[\d,]+ tokens left out: foreword recall (fw_[0-9a-f]{14})\]"
)
RECIPES = ("workflow", "workflow-cached")


def mark_of(package: foreword.Package) -> tuple[int, str]:
    (found,) = MARK.findall(package.text)
    return int(found[0].replace(",", "")), found[1]


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_first_and_the_newest_messages_stay_whole_and_one_mark_stands_between(
    start_session: Open, recipe: str
) -> None:
    session = start_session(recipe=recipe)
    session.extend(numbered_message(n) for n in range(100))
    package = session.context()
    first, *newest = shown_numbers(package)
    assert first == 0
    assert newest == list(range(newest[0], 100))
    assert mark_of(package)[0] == newest[0] - 1
    assert package.report.total_tokens <= 2000
    assert problems(package) == []


def test_in_provider_forms_the_mark_is_said_once_inside_a_message(start_session: Open) -> None:
    session = start_session()
    session.append({"role": "system", "content": "You are Director."})
    session.extend(numbered_message(n) for n in range(100))
    package = session.context()
    for form in (package.to_openai(), package.to_anthropic()["messages"]):
        spoken = [message for message in form if MARK.search(json.dumps(message))]
        assert [message["role"] for message in spoken] == ["user"]
    assert [message["role"] for message in package.to_openai()].count("system") == 1


def test_the_handle_in_the_mark_recalls_every_message_left_out_also_from_elsewhere(
    start_session: Open, tmp_path: Path
) -> None:
    session = start_session()
    session.extend(numbered_message(n) for n in range(100))
    package = session.context()
    lost = [n for n in range(100) if n not in shown_numbers(package)]
    session.close()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    recalled = foreword.recall(mark_of(package)[1], root=elsewhere)
    assert all(numbered_message(n)["content"] in recalled for n in lost)


def test_a_single_message_left_out_is_one_message_in_words(start_session: Open) -> None:
    session = start_session(580)
    session.append(numbered_message(0))
    session.append(numbered_message(1, 130))
    session.append(numbered_message(2, 130))
    session.append({"role": "user", "content": "Message 3."})
    package = session.context()
    assert shown_numbers(package) == [0, 2, 3]
    assert "[1 earlier message left out" in package.text


def test_the_mark_and_all_in_front_of_the_newest_message_stay_the_same_between_cuts(
    start_session: Open,
) -> None:
    session = start_session(recipe="workflow-cached")
    session.extend(numbered_message(n) for n in range(40))
    marks = list[str]()
    for number in range(40, 140):
        session.append(numbered_message(number))
        package = session.context()
        marks.append(MARK.findall(package.text)[0][1])
    assert 2 <= len(set(marks)) <= 20, "it moves, and not at every turn"
    assert marks == sorted(marks, key=marks.index), "and never back"


def test_kept_and_omitted_are_together_what_came_in(start_session: Open) -> None:
    session = start_session(counter="o200k")
    session.extend(numbered_message(n) for n in range(100))
    report = session.context().report
    assert report.kept_tokens + report.omitted_tokens == report.original_tokens
    mark_tokens = 40
    assert session.size_tokens() <= report.original_tokens <= session.size_tokens() + mark_tokens
    assert {omission.tag for omission in report.omissions} == {"conversation_history"}


# --- what breaks other windows --------------------------------------------------------------------


@pytest.mark.parametrize("reopen", [False, True])
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_newest_result_larger_than_the_budget_is_an_excerpt_beside_its_call(
    start_session: Open, recipe: str, reopen: bool
) -> None:
    session = start_session(recipe=recipe)
    result = words("row", 5000)
    session.extend(numbered_message(n) for n in range(10))
    session.append(call("c1"))
    session.append(results(c1=result))
    if reopen:
        session = start_session(recipe=recipe)
    package = session.context()
    assert package.report.total_tokens <= 2000
    assert result not in package.text
    assert "row0 row1" in package.text
    (handle,) = CUT_OUT.findall(package.text)
    assert foreword.recall(handle, session.db.name.rpartition("/")[0]) == result
    assert "[calls read({})]" in package.text, "the call was parted from its result"
    assert package.to_anthropic()["messages"][-1]["content"][0]["type"] == "tool_result"
    assert problems(package) == []


def test_turns_after_a_shortened_result_leave_it_as_it_is(start_session: Open) -> None:
    session = start_session(recipe="workflow-cached")
    session.append(numbered_message(0))
    session.append(call("c1"))
    session.append(results(c1=words("row", 5000)))
    fronts = list[str]()
    for number in range(1, 6):
        fronts.append(session.context().text.partition("</conversation_history>")[0])
        session.append(numbered_message(number, 5))
    assert all(new.startswith(old) for old, new in pairwise(fronts))
    assert [line["prefix_break"] for line in session.usage()["log"]] == [
        "",
        "",
        "",
        "",
        "first call",
    ]


@pytest.mark.parametrize("reopen", [False, True])
@pytest.mark.parametrize("size", [5, 40, 400])
@pytest.mark.parametrize("behind", [0, 20])
def test_twelve_parallel_calls_at_the_cut_are_all_in_or_all_out(
    start_session: Open, behind: int, size: int, reopen: bool
) -> None:
    session = start_session(recipe="workflow-cached")
    ids = [f"c{n}" for n in range(12)]
    session.extend(numbered_message(n) for n in range(30))
    session.append(call(*ids))
    for name in ids:
        session.append(
            {
                "role": "tool",
                "tool_call_id": name,
                # sentences, of which a result that is shortened keeps the first
                "content": f"result of {name}. " + words("Row", size).replace(" ", ". "),
            }
        )
    session.extend(numbered_message(n) for n in range(31, 31 + behind))
    package = (start_session(recipe="workflow-cached") if reopen else session).context()
    assert problems(package) == []
    answered = re.findall(r"^result of (c\d+)", package.text, re.MULTILINE)
    assert answered in (ids, [])
    assert package.text.count("[calls read({})]") == len(answered)
    if not behind:
        assert answered == ids


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_call_whose_result_never_came_is_answered_in_what_is_sent_and_named_in_the_report(
    start_session: Open, recipe: str
) -> None:
    session = start_session(recipe=recipe)
    for message in (
        numbered_message(0),
        call("lost", "kept"),
        results(kept="here"),
        numbered_message(1),
        numbered_message(2),
    ):
        session.append(message)
    package = session.context()
    assert problems(package) == []
    assert any("'lost' was never answered" in warning for warning in package.report.warnings)
    assert not any("'kept'" in warning for warning in package.report.warnings)


@pytest.mark.parametrize("recipe", RECIPES)
def test_pinned_messages_stay_through_cuts_and_compressions(
    start_session: Open, recipe: str
) -> None:
    session = start_session(recipe=recipe)
    session.extend(numbered_message(n) for n in range(5))
    session.append({"role": "user", "content": "Always: never touch the billing tab."}, pinned=True)
    for _ in range(2):
        session.extend(numbered_message(n) for n in range(5, 60))
        package = session.context()
        assert package.text.count("Always: never touch the billing tab.") == 1
        assert shown_numbers(package)[0] == 0
        assert problems(package) == []
        session.compress(to=800)
        assert session.context().text.count("Always: never touch the billing tab.") == 1
    assert (
        start_session(recipe=recipe).context().text.count("Always: never touch the billing tab.")
        == 1
    )


def test_a_pinned_result_keeps_its_call(start_session: Open) -> None:
    session = start_session()
    session.append(numbered_message(0))
    session.append(call("c1"))
    session.append(results(c1="the selector is #identifierId"), pinned=True)
    session.extend(numbered_message(n) for n in range(1, 60))
    for each in (session, start_session()):
        package = each.context()
        assert 1 not in shown_numbers(package)
        assert package.text.count("the selector is #identifierId") == 1
        assert "[calls read({})]" in package.text, "the result is there without its call"
        assert problems(package) == []


def test_a_message_of_a_megabyte_is_an_excerpt_and_comes_back_whole(
    start_session: Open, tmp_path: Path
) -> None:
    session = start_session()
    rest = "and what its author thought worth telling at that moment of that day"
    huge = "".join(f"line {n} of a very long log, {rest}\n" for n in range(10_500))
    assert len(huge) > 1_000_000
    session.append(numbered_message(0))
    session.append({"role": "user", "content": huge})
    package = session.context()
    assert 1000 <= package.report.total_tokens <= 2000
    (handle,) = CUT_OUT.findall(package.text)
    assert foreword.recall(handle, tmp_path) == huge
    session.append(numbered_message(1))
    assert session.context().report.total_tokens <= 2000


def test_an_essential_part_larger_than_the_budget_is_an_error_that_names_it(
    start_session: Open,
) -> None:
    session = start_session()
    session.append({"role": "system", "content": words("prompt", 2000)})
    with pytest.raises(foreword.EssentialsTooLarge) as caught:
        session.context()
    assert "system_prompt" in str(caught.value)


@pytest.mark.parametrize("recipe", ["workflow", "workflow-cached"])
@pytest.mark.parametrize("counter", ["o200k", "estimate"])
@pytest.mark.parametrize("count", [0, 20])
def test_the_budget_that_an_error_asks_for_is_enough(
    open_session: Open, recipe: str, counter: str, count: int
) -> None:
    session = open_session(recipe=recipe, counter=counter, auto_compress=False)
    session.system_prompt = words("prompt", 300)
    session.set_variable("seen", words("value", 100), "seen")
    for number in range(count):
        session.append(numbered_message(number, 10 * number), pinned=number % 5 == 4)
    for budget in (1, 400):
        with pytest.raises(foreword.EssentialsTooLarge) as found:
            session.context(budget=budget)
        needed = found.value.needed
        assert found.value.hint.endswith(f"raise the budget to at least {needed:,}")
    assert session.context(budget=needed).report.total_tokens <= needed


def test_a_message_of_which_only_a_mark_would_stay_is_counted_with_those_before_it(
    open_session: Open,
) -> None:
    session = open_session(recipe="workflow-cached", budget=400, compress_at="90%", warn_at="80%")
    undivided = " ".join(f"alpha{number}" for number in range(55))
    for said in ("Begin.", undivided, "Yes.", undivided, "And now?"):
        session.append({"role": "user", "content": said})
    text = session.context().text
    assert "[3 earlier messages left out: " in text
    assert "tokens left out" not in text
