"""What a loop of one's own needs: answers as the SDK gives them, a recall tool, tools that count,
why, pins that can be taken back, hints that name arguments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import foreword
from foreword.errors import keyword_hint
from tests.corpus import rows
from tests.sessions import Open, numbered_message, words

TOOL = {
    "name": "read",
    "description": words("reads", 60),
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
}


def test_a_plain_conversation_has_no_part_that_nobody_has_written(open_session: Open) -> None:
    session = open_session(recipe="chat")
    session.append({"role": "user", "content": "hello"})
    assert session.context().text == (
        '<conversation_history>\n<turn role="user">\nhello\n</turn>\n</conversation_history>\n'
    )
    assert session.context().to_openai() == [{"role": "user", "content": "hello"}]
    session.system_prompt = "Be brief."
    assert [message.role for message in session.context().messages] == ["system", "user"]


def test_tools_are_counted_and_kept_free_of_the_budget(open_session: Open) -> None:
    session = open_session(recipe="chat", budget=2_000, window=8_000, compress_at="90%")
    for number in range(160):
        session.append(numbered_message(number, 20))
    plain = session.context(save=False).report
    with_tools = session.context(tools=[TOOL] * 4, save=False).report
    taken = dict(with_tools.budget.steps)["tools"]
    assert -taken > 4 * 60
    assert with_tools.total_tokens - taken <= 2_000
    assert with_tools.total_tokens < plain.total_tokens
    with pytest.raises(foreword.EssentialsTooLarge, match="tools"):
        session.context(tools=[TOOL] * 60)
    with pytest.raises(foreword.UsageError, match="can't be counted"):
        session.context(tools=[object()])


def test_the_recall_tool_brings_back_what_was_left_out_in_pages_and_never_raises(
    open_session: Open,
) -> None:
    session = open_session(recipe="chat", budget=800, window=8_000, compress_at="90%")
    session.append({"role": "user", "content": words("first", 3_000)})
    session.append({"role": "user", "content": "go on"})
    definition, handler = session.recall_tool(budget=300)
    assert definition["name"] == "recall"
    (handle,) = re.findall(r"fw_[0-9a-f]{14}", session.context().text)
    count = foreword.counter("o200k").count
    text = ""
    offset = 0
    for _ in range(100):
        page = handler(handle=handle, offset=offset)
        assert count(page) <= 300
        body, mark, rest = page.rpartition("\n[characters ")
        text += body if mark else page
        if not mark:
            break
        offset = int(rest.rpartition("offset=")[2].split()[0])
    assert words("first", 3_000) in text
    assert foreword.recall(handle, url=session.url, budget=300).startswith(text[:200])
    assert "fw_" in handler(handle="nothing")
    assert handler(handle="fw_00") == "Nothing is kept under fw_00."
    assert "outside" in handler(handle=handle, offset=10**9)
    tool = session.recall_tool()
    assert tool.to_openai()["function"]["parameters"] == definition["input_schema"]
    assert tool.to_responses()["name"] == tool.to_gemini()["name"] == "recall"


def test_the_recall_tool_answers_a_question_from_what_was_summed_up(open_session: Open) -> None:
    session = open_session(recipe="chat", budget=800, window=8_000)
    session.append({"role": "user", "content": "The port of the kiln server is 8731."})
    for number in range(1, 60):
        session.append(numbered_message(number, 20))
    _, handler = session.recall_tool(budget=300)
    answer = handler(question="Which port does the kiln server have?")
    assert "The port of the kiln server is 8731." in answer
    assert foreword.counter("o200k").count(answer) <= 300
    assert handler(question="zebra unicorns") == "Nothing was said about that."
    assert "or a question" in handler()


def test_why_says_everything_or_one_thing(open_session: Open) -> None:
    session = open_session(recipe="chat", budget=800, window=8_000, compress_at="90%")
    for number in range(60):
        session.append(numbered_message(number, 20))
    text = session.why().text
    assert "conversation_history: in, as its newest entries" in text
    (handle,) = re.findall(r"foreword recall (fw_[0-9a-f]{14})", text)
    assert "no room left" in session.why(handle).text
    assert session.why("conversation_history").text == text
    with pytest.raises(foreword.UnknownName):
        session.why("browser_state")


def test_foreword_why_without_a_question_says_everything(tmp_path: Path) -> None:
    items = [{"kind": "decision", "title": "Use UTC", "text": "All times are kept in UTC."}]
    source = {"items": items}
    answer = foreword.why("package", root=tmp_path, source=source, purpose="handoff", budget=2_000)
    assert "Use UTC: in, whole" in answer.text


def test_pins_stay_are_named_where_they_are_too_large_and_can_be_taken_back(
    open_session: Open,
) -> None:
    session = open_session(recipe="chat", budget=600, window=8_000, auto_compress=False)
    for number in range(12):
        session.append(numbered_message(number, 60), pinned=True)
    session.append({"role": "user", "content": "go on"})
    with pytest.raises(foreword.EssentialsTooLarge, match="pinned messages stay") as refused:
        session.context()
    assert set(refused.value.pins) == set(range(1, 13))
    assert "session.unpin(" in refused.value.hint
    assert session.context(budget=refused.value.needed).report.total_tokens <= refused.value.needed
    for line in session.pins()[1:]:
        session.unpin(line.seq)
    package = session.context()
    assert package.report.total_tokens <= 600
    assert "Message 0." in package.text
    session.pin(5)
    assert "Message 4." in session.context().text
    with pytest.raises(foreword.UnknownName):
        session.unpin(99)


@pytest.mark.parametrize("points", [130, 260])
def test_a_pin_stays_as_it_was_said_however_much_of_the_budget_it_takes(
    open_session: Open, points: int
) -> None:
    """A third, then two thirds of the budget: compressed and windowed around it."""
    rule = " ".join(
        f"Kiln {number} stays below {1_000 + number} degrees." for number in range(points)
    )
    session = open_session(recipe="chat", budget=4_000)
    session.append({"role": "user", "content": rule}, pinned=True)
    for number in range(60):
        session.append(numbered_message(number, 60))
        assert rule in session.context().text
    assert session.context().report.total_tokens <= 4_000


@pytest.mark.parametrize(("said", "meant"), rows("commands/hints.jsonl"))
def test_hints_in_python_name_arguments_and_leave_commands_alone(said: str, meant: str) -> None:
    assert keyword_hint(said) == meant
    error = foreword.UsageError("no", hint=said)
    assert (error.hint, error.command_hint) == (meant, said)


def test_tools_of_a_session_and_of_a_call_are_counted_the_same(open_session: Open) -> None:
    session = open_session(budget=2_000)
    session.append({"role": "user", "content": "word " * 900})
    named = session.context(tools=[TOOL] * 4, save=False).report
    assert session.context(save=False).report.budget.tokens == 2_000  # nothing was changed
    other = open_session(budget=2_000, tools=[TOOL] * 4)
    opened = other.context().report
    taken = dict(opened.budget.steps)["tools"]
    assert opened.budget.steps == named.budget.steps
    assert other.size_tokens() == session.size_tokens() - taken  # taken is below zero
    later = open_session()  # whoever says nothing speaks of the same next call
    assert later.size_tokens() == other.size_tokens()
    assert later.context(save=False).report.budget.tokens == opened.budget.tokens
    assert later.context(tools=[]).report.budget.tokens == 2_000
    assert open_session().size_tokens() == session.size_tokens()


def test_a_compression_leaves_room_for_the_tools(open_session: Open) -> None:
    session = open_session(auto_compress=False, tools=[TOOL] * 4)
    for number in range(60):
        session.append({"role": "user", "content": f"Fact {number} is about topic {number}. " * 9})
    made = session.compress(to=2_000)
    package = session.context(budget=2_000)
    assert made.reached
    assert made.summary in package.text
    assert session.size_tokens() <= 2_000
