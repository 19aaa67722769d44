"""No call has thinking whose prefix has changed: a provider that binds thinking to what was sent
before it takes every call, whatever happened to the conversation in between."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import foreword
from foreword.session.calls import THINKING_LOST
from foreword.testing import prefix_breaks
from tests.sessions import Open

Step = Callable[[foreword.Session, int], object]


def say(session: foreword.Session, number: int) -> None:
    session.append({"role": "user", "content": f"Question {number} about cones and glazes. " * 9})


def answer(session: foreword.Session, number: int) -> None:
    """A call, and an answer with thinking that calls a tool, and the tool's result."""
    REQUESTS.append(session.context().to_anthropic())
    thought = {"type": "thinking", "thinking": f"I think {number}.", "signature": f"s{number}"}
    call = {"type": "tool_use", "id": f"t{number}", "name": "look", "input": {"n": number}}
    session.append({"role": "assistant", "content": [thought, call]})
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "seen " * 60}
    session.append({"role": "user", "content": [result]})


def think_of_a_secret(session: foreword.Session, number: int) -> None:
    """An answer whose signed thinking holds what is, or becomes, a secret."""
    REQUESTS.append(session.context().to_anthropic())
    words = f"Question {number % 3} about"
    thought = {"type": "thinking", "thinking": words, "signature": f"x{number}"}
    said = {"type": "text", "text": f"Yes: {words} it."}
    session.append({"role": "assistant", "content": [thought, said]})


def set_state(session: foreword.Session, number: int) -> None:
    session.set_variable("temperature", number, "measured")


def learn_secret(session: foreword.Session, number: int) -> None:
    session.set_variable("password", f"Question {number % 3} about", "told")


def compress(session: foreword.Session, number: int) -> None:
    if session.history():
        session.compress(to=600)


def new_prompt(session: foreword.Session, number: int) -> None:
    session.system_prompt = f"You look after kiln {number}."


def pin(session: foreword.Session, number: int) -> None:
    if session.history():
        session.pin(1)


REQUESTS: list[dict[str, Any]] = []
STEPS = st.sampled_from(
    [
        say,
        answer,
        answer,
        answer,
        set_state,
        learn_secret,
        think_of_a_secret,
        compress,
        new_prompt,
        pin,
    ]
)


@pytest.mark.parametrize("recipe", ["chat", "workflow", "workflow-cached"])
@given(steps=st.lists(STEPS, min_size=4, max_size=25), budget=st.sampled_from([3_000, 50_000]))
def test_no_call_has_thinking_whose_prefix_changed(
    recipe: str, steps: list[Step], budget: int
) -> None:
    REQUESTS.clear()
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/s.db"
        for number, step in enumerate(steps):
            # opened anew for each step: what a call needs is in the store
            with foreword.Session.open(url, recipe=recipe, budget=budget, root=folder) as session:
                say(session, number)
                step(session, number)
    refused = [found for found in prefix_breaks(REQUESTS) if found.thinking]
    assert refused == []


def test_the_report_says_how_much_thinking_was_lost(open_session: Open) -> None:
    session = open_session(recipe="chat")
    for number in (1, 2):
        say(session, number)
        answer(session, number)
    assert not lost(session.context(save=False))
    session.system_prompt = "You look after a kiln."
    package = session.context()
    assert lost(package) == [THINKING_LOST.format(2)]
    assert "thinking" not in str(package.to_anthropic())
    assert [cut["thinking"] for cut in session.cuts()] == [0, 2]
    assert not lost(session.context())


def lost(package: foreword.Package) -> list[str]:
    return [line for line in package.report.warnings if "not sent any more" in line]
