"""A summary that a model writes is asked for behind the conversation's last request, so that the
provider has read all but one message of it before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword import models
from foreword.models import ToolSpec
from foreword.testing import FakeProvider, Reply, ToolCall, fake_provider

SUMMARY = "## Decisions\n" + "\n".join(f"- Fact {n} is about topic {n}." for n in range(30))
TOOL = ToolSpec("look", "Looks at a page.", {"type": "object", "properties": {}})
Open = Callable[..., foreword.Session]


@pytest.fixture
def start_session(tmp_path: Path) -> Iterator[Open]:
    sessions: list[foreword.Session] = []

    def open_one(**more: Any) -> foreword.Session:
        session = foreword.Session.open(
            f"sqlite:///{tmp_path}/state.db", root=tmp_path, auto_compress=False, **more
        )
        sessions.append(session)
        session.system_prompt = "You keep facts. " * 40
        for number in range(40):
            role = "assistant" if number % 2 else "user"
            text = f"Fact {number} is about topic {number}, " + f"as page {number} says. " * 20
            session.append({"role": role, "content": text})
        return session

    yield open_one
    for session in sessions:
        session.close()


def answer(body: Mapping[str, Any]) -> str:
    return SUMMARY if "shorten the history" in str(body) else "Noted."


def converse(session: foreword.Session, model: str, tools: tuple[ToolSpec, ...] = ()) -> None:
    """One turn as a caller makes it: the context is sent, the reply kept."""
    session.append({"role": "user", "content": "And what about fact 3?"})
    reply = models.reply(model, session.context().messages, tools)
    session.append(reply.message)


def messages_of(provider: FakeProvider, number: int) -> list[Any]:
    body = provider.requests[number]
    return [body.get("system"), body.get("tools"), *body["messages"]]


def test_a_summary_is_asked_for_by_one_message_behind_what_was_sent_last(
    start_session: Open,
) -> None:
    with fake_provider(answer) as provider:
        session = start_session(tools=[TOOL])
        converse(session, provider.openai, (TOOL,))
        made = session.compress(to=1_500, model=provider.openai)
        before, asked = messages_of(provider, 0), messages_of(provider, 1)
        assert asked[: len(before)] == before
        reply, instruction = asked[len(before) :]
        assert reply["content"] == "Noted."
        assert instruction["role"] == "user"
        assert made.method == provider.openai
        (note,) = [note for note in made.notes if "provider's cache" in note]
        assert f"{provider.cached[1]:,} of" in note
        assert session.compressions()[-1].note.endswith(note)


@pytest.mark.parametrize("form", ["openai", "openai_responses", "anthropic"])
def test_most_of_the_request_for_a_summary_is_in_the_providers_cache(
    start_session: Open, form: str
) -> None:
    with fake_provider(answer) as provider:
        model = getattr(provider, form)
        session = start_session(tools=[TOOL])
        for _ in range(3):
            converse(session, model, (TOOL,))
        made = session.compress(to=1_500, model=model)
        (found,) = re.findall(r"([\d,]+) of ([\d,]+) tokens", "\n".join(made.notes))
        cached, asked = [int(number.replace(",", "")) for number in found]
        assert cached == provider.cached[3]
        assert cached > 0.85 * asked


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda session: setattr(session, "system_prompt", "Another."),
            "the system prompt changed",
        ),
        (lambda session: session.set_variable("rate", "7", "new"), "the state changed"),
    ],
)
def test_where_the_parts_in_front_changed_it_is_asked_for_by_itself_and_the_note_says_why(
    start_session: Open, change: Callable[[foreword.Session], object], reason: str
) -> None:
    with fake_provider(answer) as provider:
        session = start_session(recipe="workflow")
        converse(session, provider.openai)
        change(session)
        made = session.compress(to=1_500, model=provider.openai)
        assert made.method == provider.openai
        assert f"by itself, not behind the last call: {reason}" in "\n".join(made.notes)
        assert "<history>" in str(provider.requests[1])


def test_other_tools_are_a_reason_too_and_before_a_first_call_there_is_nothing_to_say(
    start_session: Open, tmp_path: Path
) -> None:
    with fake_provider(answer) as provider:
        session = start_session()
        made = session.compress(to=1_500, model=provider.openai)
        assert made.method == provider.openai
        assert "last call" not in "\n".join(made.notes)
        session.undo()
        converse(session, provider.openai)
        other = foreword.Session.open(
            f"sqlite:///{tmp_path}/state.db", root=tmp_path, tools=[TOOL], auto_compress=False
        )
        with other:
            made = other.compress(to=1_500, model=provider.openai)
        assert "the tools changed" in "\n".join(made.notes)


def test_a_request_that_leaves_no_room_in_the_window_for_a_summary_is_not_made(
    start_session: Open,
) -> None:
    with fake_provider(answer) as provider:
        session = start_session(window=8_000, budget=8_000)
        session.append({"role": "user", "content": "One more. " * 700})
        converse(session, provider.openai)
        made = session.compress(to=1_500, model=provider.openai)
        assert "more than the window of 8,000" in "\n".join(made.notes)


PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def add_picture(session: foreword.Session) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    said = [{"type": "text", "text": "This is the chart."}, {"type": "image", "source": source}]
    session.append({"role": "user", "content": said})
    session.append({"role": "assistant", "content": "I see the chart."})


@pytest.mark.parametrize("form", ["openai", "openai_responses", "anthropic"])
def test_pictures_are_sent_again_as_they_were(start_session: Open, form: str) -> None:
    with fake_provider(answer) as provider:
        model = getattr(provider, form)
        session = start_session()
        add_picture(session)
        converse(session, model)
        made = session.compress(to=1_500, model=model)
        assert PIXEL in str(provider.requests[1])
        assert "was asked for behind the last call" in "\n".join(made.notes)
        (found,) = re.findall(r"([\d,]+) of ([\d,]+) tokens", "\n".join(made.notes))
        cached, asked = [int(number.replace(",", "")) for number in found]
        assert cached == provider.cached[1]
        assert cached > 0.85 * asked


def test_pictures_count_where_a_window_is_nearly_full(start_session: Open) -> None:
    with fake_provider(answer) as provider:
        session = start_session(window=9_000, budget=9_000)
        converse(session, provider.openai)
        text_only = session.context(save=False).report.total_tokens
        for _ in range(3):  # with their text they would fit
            add_picture(session)
        assert text_only + 1_500 + 500 < 9_000
        session.context()
        made = session.compress(to=1_500, model=provider.openai)
        notes = "\n".join(made.notes)
        assert "more than the window of 9,000" in notes or "left older messages out" in notes
        assert made.method == provider.openai


def test_tools_that_a_call_named_are_those_of_the_request_for_a_summary(
    start_session: Open,
) -> None:
    definition = {
        "type": "function",
        "function": {
            "name": TOOL.name,
            "description": TOOL.description,
            "parameters": dict(TOOL.parameters),
        },
    }
    with fake_provider(answer) as provider:
        session = start_session()
        session.append({"role": "user", "content": "And what about fact 3?"})
        package = session.context(tools=[definition])
        session.append(models.reply(provider.openai, package.messages, (TOOL,)).message)
        made = session.compress(to=1_500, model=provider.openai)
        before, asked = messages_of(provider, 0), messages_of(provider, 1)
        assert asked[: len(before)] == before
        assert "was asked for behind the last call" in "\n".join(made.notes)


def test_a_tool_that_is_no_function_is_a_reason_to_ask_by_itself(start_session: Open) -> None:
    with fake_provider(answer) as provider:
        session = start_session(tools=[{"type": "web_search_20250305", "name": "web_search"}])
        converse(session, provider.openai)
        made = session.compress(to=1_500, model=provider.openai)
        assert "not all tools are functions" in "\n".join(made.notes)


def test_a_model_that_calls_a_tool_instead_is_asked_by_itself(start_session: Open) -> None:
    def calls(body: Mapping[str, Any]) -> str | Reply:
        if body.get("tools") and "shorten the history" in str(body):
            return Reply("", (ToolCall("look"),))
        return answer(body)

    with fake_provider(calls) as provider:
        session = start_session(tools=[TOOL])
        converse(session, provider.openai, (TOOL,))
        made = session.compress(to=1_500, model=provider.openai)
        assert made.method == provider.openai
        assert "the model called a tool instead" in "\n".join(made.notes)
        assert "## Decisions" in made.summary
