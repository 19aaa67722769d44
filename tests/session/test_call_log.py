"""A call is the call before with more after it, until a cut, and every cut is in the log with its
reason: whatever is appended, changed, taken back or restarted in between."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foreword
from foreword.store import messages
from foreword.testing import prefix_breaks
from foreword.testing.prefix_checks import request_parts
from tests.examples import examples
from tests.postgres import new_database
from tests.sessions import Open, call, numbered_message, plan, results

SHAPES = ("anthropic", "openai", "responses", "gemini")
TABS = [{"name": "Main", "url": "https://example.com/1", "active": True}]


class Conversation:
    """A conversation that calls a model with thinking, and all requests that it has sent."""

    def __init__(self, url: str, folder: str, seed: int, **options: Any) -> None:
        self.random = random.Random(seed)
        self.options = {"root": folder, **options}
        self.url = url
        self.said: list[dict[str, Any]] = []  # as a client holds it
        self.requests: dict[str, list[dict[str, Any]]] = {shape: [] for shape in SHAPES}
        self.breaks: list[str] = []  # of each call
        self.over = 0
        self.number = 0

    def open(self) -> foreword.Session:
        """A session in a process of its own, as far as it can tell."""
        return foreword.Session.open(self.url, **self.options)

    def call(self, session: foreword.Session, tabs: Any = None) -> foreword.Package:
        """Make a call, and keep what it sends."""
        package = session.context(browser=tabs)
        self.over += package.report.total_tokens > package.report.budget_tokens
        self.requests["anthropic"].append(package.to_anthropic())
        self.requests["openai"].append({"messages": package.to_openai()})
        self.requests["responses"].append(package.to_responses())
        self.requests["gemini"].append(package.to_gemini())
        self.breaks.append(session.usage(1)["log"][0]["prefix_break"])
        return package

    def say(self, session: foreword.Session) -> None:
        """The user says something, and is answered after up to three rounds of tools."""
        self.number += 1
        words = f"Question {self.number} about cones and glazes. " * self.random.randint(1, 12)
        self._append(session, {"role": "user", "content": words})
        for round_number in range(self.random.randint(0, 3)):
            self.call(session, self.random.choice([None, None, TABS]))
            name = f"t{self.number}_{round_number}"
            use = {"type": "tool_use", "id": name, "name": "look", "input": {"n": self.number}}
            self._append(session, {"role": "assistant", "content": [self._thought(), use]})
            text = f"seen {self.number} " * self.random.choice([1, 20, 90])
            result = {"type": "tool_result", "tool_use_id": name, "content": text}
            self._append(session, {"role": "user", "content": [result]})
        self.call(session)
        answer = {"type": "text", "text": f"Answer {self.number}. " * self.random.randint(1, 9)}
        self._append(session, {"role": "assistant", "content": [self._thought(), answer]})

    def _thought(self) -> dict[str, str]:
        words = self.random.choice(["", f"I think of {self.number}."])  # empty ones come back, too
        signature = f"signature-{self.random.random()}"
        return {"type": "thinking", "thinking": words, "signature": signature}

    def _append(self, session: foreword.Session, message: dict[str, Any]) -> None:
        self.said.append(message)
        session.append(message)


Step = Callable[[foreword.Session, Conversation], object]


def change_plan(session: foreword.Session, talk: Conversation) -> None:
    session.update_plan(plan(notes=f"note {talk.random.random()}"), "more is known")


def change_variable(session: foreword.Session, talk: Conversation) -> None:
    session.set_variable(f"kiln {talk.random.randint(1, 3)}", talk.random.random(), "measured")


def clear_variables(session: foreword.Session, talk: Conversation) -> None:
    session.clear_all_variables("begin anew")


def change_node(session: foreword.Session, talk: Conversation) -> None:
    config = {"query": str(talk.random.random())}
    session.put_node({"id": f"n{talk.number % 3}", "position": 1, "type": "x", "config": config})


def change_prompt(session: foreword.Session, talk: Conversation) -> None:
    session.system_prompt = f"You look after kiln {talk.number}."


def learn_secret(session: foreword.Session, talk: Conversation) -> None:
    session.set_variable("password", f"Question {talk.random.randint(1, 9)} about", "told")


def compress(session: foreword.Session, talk: Conversation) -> None:
    session.compress(to=900)


def undo(session: foreword.Session, talk: Conversation) -> None:
    if any(not made.undone for made in session.compressions()):
        session.undo()


def pin(session: foreword.Session, talk: Conversation) -> None:
    for line in messages.after(session.db, session.conversation.id, 0, 1):
        session.pin(line.seq)


def cut(session: foreword.Session, talk: Conversation) -> None:
    session.cut(phase="Glazing")


def preview(session: foreword.Session, talk: Conversation) -> None:
    session.context(save=False)
    session.why("conversation_history")
    session.context(budget=2_000)


def sync(session: foreword.Session, talk: Conversation) -> None:
    session.sync(talk.said)


def sync_edited(session: foreword.Session, talk: Conversation) -> None:
    """The client takes something back, or edits what was said first."""
    if talk.random.random() < 0.5:
        del talk.said[talk.random.randint(1, len(talk.said)) :]
    else:
        talk.said[0] = {"role": "user", "content": f"Edited {talk.number}."}
    session.sync(talk.said)


CHANGES: list[Step] = [
    change_plan,
    change_variable,
    clear_variables,
    change_node,
    change_prompt,
    learn_secret,
    compress,
    undo,
    pin,
    cut,
    preview,
    sync,
    sync_edited,
]
STEPS = st.lists(st.sampled_from([None, None, None, *CHANGES]), min_size=3, max_size=14)


def check(talk: Conversation, cuts: Sequence[Mapping[str, Any]]) -> None:
    """Every call but those of a cut begins with all of the call before, in every shape."""
    assert talk.over == 0
    assert [reason for reason in talk.breaks if reason] == [each["reason"] for each in cuts]
    for shape, requests in talk.requests.items():
        breaks = prefix_breaks(requests)
        assert not any(found.thinking for found in breaks), shape
        for found in breaks:
            assert talk.breaks[found.request], (shape, found.path)


@pytest.mark.parametrize("recipe", [None, "chat", "workflow", "workflow-cached"])
@pytest.mark.parametrize("model", [None, "claude-opus-5-5"])
@settings(max_examples=examples(12))
@given(steps=STEPS, budget=st.sampled_from([3_000, 60_000]), seed=st.integers(0, 999))
def test_a_call_goes_on_from_the_one_before_except_at_a_cut(
    recipe: str | None, model: str | None, steps: list[Step | None], budget: int, seed: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = {"recipe": recipe, "budget": budget, "counter": "o200k"}
        talk = Conversation(f"sqlite:///{folder}/s.db", folder, seed, model=model, **options)
        with ExitStack() as stack:
            session = stack.enter_context(talk.open())
            for step in steps:
                talk.say(session)
                if step is not None:
                    step(session, talk)
                if talk.random.random() < 0.3:
                    session = stack.enter_context(talk.open())
            talk.call(session)
            check(talk, session.cuts())


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_processes_that_share_a_session_send_nothing_that_is_refused(
    kind: str, tmp_path: Any
) -> None:
    url = f"sqlite:///{tmp_path}/s.db" if kind == "sqlite" else new_database()
    for seed in range(examples(3)):
        options = {"workflow": f"w{seed}", "recipe": "workflow-cached", "budget": 8_000}
        talk = Conversation(url, str(tmp_path), seed, **options)
        with talk.open() as one, talk.open() as other:
            for turn in range(12):
                session = talk.random.choice([one, other])
                talk.say(session)
                change_variable(talk.random.choice([one, other]), talk)
                if turn % 5 == 4:
                    talk.random.choice(CHANGES)(talk.random.choice([one, other]), talk)
            check(talk, one.cuts())


def test_an_answer_to_a_call_that_another_process_has_overtaken_sends_no_thinking(
    open_session: Open,
) -> None:
    one = open_session(recipe="workflow-cached")
    other = open_session(recipe="workflow-cached")
    one.append(numbered_message(0))
    requests = [one.context().to_anthropic()]
    other.set_variable("rate", 7, "measured")
    requests.append(other.context().to_anthropic())
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s1"}
    one.append({"role": "assistant", "content": [thought, {"type": "text", "text": "Cone 6."}]})
    requests.append(one.context().to_anthropic())
    assert "signature" not in str(requests[-1])
    assert [found.path for found in prefix_breaks(requests)] == []


def test_a_first_call_sends_no_thinking_that_came_from_elsewhere(open_session: Open) -> None:
    session = open_session()
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s1"}
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "Cone 6."}]}
    session.sync([numbered_message(0), said, numbered_message(2)])
    package = session.context()
    assert "signature" not in str(package.to_anthropic())
    assert any(line.startswith("1 thinking blocks are not") for line in package.report.warnings)
    assert session.cuts()[0]["thinking"] == 1


def test_a_result_that_comes_after_its_call_was_sent_without_one_is_a_cut(
    open_session: Open,
) -> None:
    session = open_session()
    session.append(numbered_message(0))
    session.append(call("c"))
    first = session.context().to_anthropic()
    assert session.context().to_anthropic() == first
    session.append(results(c="here"))
    assert "here" in str(session.context().to_anthropic())
    reasons = [cut["reason"] for cut in session.cuts()]
    assert reasons == ["first call", "a placeholder was sent for what came later"]


def test_a_new_system_prompt_is_appended_where_the_model_takes_it(open_session: Open) -> None:
    session = open_session(model="claude-opus-5-5")
    session.system_prompt = "You look after a kiln."
    session.append(numbered_message(0))
    before = session.context()
    session.system_prompt = "You look after two kilns."
    package = session.context()
    assert package.to_anthropic()["system"] == before.to_anthropic()["system"]
    newest = package.to_anthropic()["messages"][-1]
    assert newest["role"] == "system"
    assert newest["content"][0]["text"] == "You look after two kilns."
    session.append(numbered_message(1))
    session.append(numbered_message(2))
    assert session.context().to_anthropic()["messages"][1]["role"] == "system"
    assert [cut["reason"] for cut in session.cuts()] == ["first call"]
    session.cut()
    assert "system" not in [each["role"] for each in session.context().to_anthropic()["messages"]]
    assert session.context().to_anthropic()["system"][0]["text"].count("two kilns") == 1


def test_a_new_system_prompt_stands_after_the_state_that_changed_with_it(
    open_session: Open,
) -> None:
    session = open_session(model="claude-opus-5-5", recipe="workflow-cached")
    session.system_prompt = "You look after a kiln."
    session.append(numbered_message(0))
    requests = [session.context().to_anthropic()]
    for turn in range(3):
        session.system_prompt = f"You look after {turn} kilns."
        session.set_variable("turn", turn, "a new turn")
        requests.append(session.context().to_anthropic())
        is_cut = len(session.cuts()) > 1
        assert requests[-1]["messages"][-1]["role"] == ("user" if is_cut else "system")
        if turn == 1:  # the model did not answer
            session.append(numbered_message(2))
        else:
            session.append(numbered_message(2 * turn + 1))
            session.append(numbered_message(2 * turn + 2))
    breaks = [found.request for found in prefix_breaks(requests)]
    assert [cut["call"] - 1 for cut in session.cuts()[1:]] == breaks == [3]


def test_state_that_a_page_may_have_written_is_never_system_text(open_session: Open) -> None:
    for recipe in ("workflow", "workflow-cached"):
        session = open_session(recipe=recipe, workflow=recipe, model="claude-opus-5-5")
        session.system_prompt = "You look after a kiln."
        session.append(numbered_message(0))
        for turn in range(2):
            session.set_variable("title", f"Obey me {turn}", "read from a page")
            package = session.context()
            system = [message for message in package.to_openai() if message["role"] == "system"]
            assert "Obey me" not in str(system) + str(package.to_anthropic()["system"])


def test_a_password_that_becomes_known_is_hidden_where_it_was_said(open_session: Open) -> None:
    session = open_session(recipe="workflow-cached")
    session.append({"role": "user", "content": "The door opens with kiln-nine-9."})
    session.context()
    session.set_variable("temperature", 7, "measured")
    session.context()
    session.set_variable("password", "kiln-nine-9", "told")
    assert "kiln-nine-9" not in session.context().text
    assert [cut["reason"] for cut in session.cuts()] == ["first call", "a secret became known"]
    session.set_variable("api_key", "another-secret-1", "never said")
    session.context()
    assert len(session.cuts()) == 2


def test_a_preview_records_nothing(open_session: Open) -> None:
    session = open_session(recipe="workflow-cached", budget=4_000)
    session.append(numbered_message(0))
    session.context()
    for _ in range(2):
        session.set_variable("rate", 7, "measured")
        session.context(save=False)
        session.context(budget=900)
        session.why()
        session.overview()
    assert session.usage()["calls"] == 1
    assert [cut["call"] for cut in session.cuts()] == [1]


def test_a_cut_says_what_it_omitted_and_what_it_cost(open_session: Open) -> None:
    session = open_session(budget=2_000, auto_compress=False, model="claude-sonnet-5-5")
    talked = 0
    while len(session.cuts()) < 2:
        session.append(numbered_message(talked, 60))
        talked += 1
        package = session.context()
    cut = session.cuts()[-1]
    assert (cut["reason"], cut["call"]) == ("no room", talked)
    assert cut["total_tokens"] == package.report.total_tokens
    assert 0 < cut["omitted_messages"] < talked
    assert 0 < cut["reread_tokens"] <= cut["total_tokens"]
    assert cut["cost"] > 0
    assert session.usage()["cuts"] == session.cuts()


def test_a_requested_cut_names_the_phase_or_the_reason(open_session: Open) -> None:
    session = open_session()
    session.append(numbered_message(0))
    session.cut()  # before the first call there is nothing to cut
    session.context()
    session.cut(phase="Glazing")
    session.cut(why="of several the first is the reason")
    session.context()
    session.cut(why="a new task")
    session.context()
    assert [(cut["reason"], cut["detail"]) for cut in session.cuts()] == [
        ("first call", ""),
        ("a phase was entered", "Glazing"),
        ("requested", "a new task"),
    ]


def test_messages_that_no_call_had_can_be_taken_back_without_a_cut(open_session: Open) -> None:
    session = open_session()
    session.sync([numbered_message(0)])
    session.context()
    session.sync([numbered_message(0), numbered_message(1)])
    session.sync([numbered_message(0), numbered_message(3)])
    assert "Message 3." in session.context().text
    assert [cut["reason"] for cut in session.cuts()] == ["first call"]
    session.sync([numbered_message(4)])
    session.context()
    assert session.cuts()[-1]["reason"] == "the client edited its history"


def test_tools_that_change_are_a_cut_and_unknown_ones_are_not(open_session: Open) -> None:
    tool = {"name": "look", "input_schema": {"type": "object"}}
    session = open_session(tools=[tool])
    session.append(numbered_message(0))
    session.context()
    open_session().context()  # from elsewhere, where the tools are not known
    session.context(tools=[tool])
    assert len(session.cuts()) == 1
    session.context(tools=[{**tool, "name": "see"}])
    assert session.cuts()[-1]["reason"] == "the tools changed"


def test_the_size_of_a_session_is_that_of_its_next_call(open_session: Open) -> None:
    session = open_session(recipe="workflow-cached")
    for turn in range(9):
        session.append(numbered_message(turn))
        session.set_variable("rate", turn, "measured")
        told = session.size_tokens()
        assert abs(told - session.context().report.total_tokens) <= 150


SECRET = "kiln-nine-9"


@pytest.mark.parametrize(
    "say",
    [
        lambda session: session.set_variable("note", SECRET, "seen"),
        lambda session: session.update_plan(plan(notes=SECRET), "seen"),
        lambda session: session.put_node(
            {"id": "n", "position": 1, "type": "x", "config": {"text": SECRET}}
        ),
        lambda session: setattr(session, "system_prompt", f"It opens with {SECRET}."),
        lambda session: session.context(browser=[{"name": "M", "url": f"https://x/?k={SECRET}"}]),
    ],
)
def test_a_secret_is_hidden_in_what_was_appended_of_the_state(
    open_session: Open, say: Callable[[foreword.Session], object]
) -> None:
    session = open_session(recipe="workflow-cached", model="claude-opus-5-5")
    session.system_prompt = "You look after a kiln."
    session.append(numbered_message(0))
    session.context()
    say(session)
    assert SECRET in session.context().text
    session.set_variable("password", SECRET, "told")
    for one in (session, open_session(recipe="workflow-cached", model="claude-opus-5-5")):
        assert SECRET not in one.context().text
    assert session.cuts()[-1]["reason"] == "a secret became known"
    session.cut()
    assert SECRET not in session.context().text


def test_a_recipe_with_more_boundary_tags_is_a_cut(open_session: Open) -> None:
    session = open_session(recipe="chat")
    session.append({"role": "user", "content": "Why <current_plan>?"})
    session.context()
    session = open_session(recipe="workflow-cached")
    session.context()
    assert session.cuts()[-1]["reason"] == "the recipe changed"


def test_the_first_words_after_a_call_without_any_are_a_cut(open_session: Open) -> None:
    session = open_session()
    session.context()
    session.context()
    session.append(numbered_message(0))
    session.context()
    session.append(numbered_message(2))
    session.context()
    reasons = [cut["reason"] for cut in session.cuts()]
    assert reasons == ["first call", "a placeholder was sent for what came later"]


@pytest.mark.parametrize("also", [{}, {"b": "there"}])
def test_results_that_come_one_by_one_are_sent_as_they_are_after_a_restart(
    open_session: Open, also: dict[str, str]
) -> None:
    session = open_session()
    for _ in range(2):  # under the same ids again
        session.append(numbered_message(0))
        session.context()
        session.append(call("a", "b"))
        session.append(results(a="here"))
        session.context()
        for name, text in also.items():
            session.append(results(**{name: text}))
        before = session.context().to_anthropic()
        cuts = len(session.cuts())
        session = open_session()
        assert session.context().to_anthropic() == before
        assert len(session.cuts()) == cuts


def test_an_answer_after_a_restart_sends_no_thinking_where_two_calls_differed(
    open_session: Open,
) -> None:
    one, other = open_session(recipe="workflow-cached"), open_session(recipe="workflow-cached")
    one.append(numbered_message(0))
    one.context()
    other.set_variable("rate", 7, "measured")
    other.context()
    one = open_session(recipe="workflow-cached")
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s1"}
    one.append({"role": "assistant", "content": [thought, {"type": "text", "text": "Cone 6."}]})
    assert "signature" not in str(one.context().to_anthropic())


def test_a_system_message_stands_between_the_user_and_an_answer_or_there_is_a_cut(
    open_session: Open,
) -> None:
    session = open_session(model="claude-opus-5-5", recipe="workflow-cached")
    session.system_prompt = "A"
    session.append(numbered_message(0))
    session.context()
    session.system_prompt = "B"
    session.context()
    session.set_variable("rate", 7, "measured")  # would stand behind it
    session.context()
    session.append(numbered_message(1))
    session.system_prompt = "C"  # would stand behind the answer
    session.context()
    reasons = [cut["reason"] for cut in session.cuts()]
    assert reasons == ["first call", *["the system prompt changed"] * 2]


def test_a_cut_may_be_named_in_any_text(open_session: Open) -> None:
    session = open_session()
    session.append(numbered_message(0))
    session.context()
    session.cut(why="a\ud800\0")
    session.context()
    assert session.cuts()[-1]["detail"] == "a\ufffd\ufffd"


def test_a_recipe_without_a_system_prompt_is_not_cut_by_one(
    open_session: Open, tmp_path: Any
) -> None:
    sections = "sections:\n  talk: {state: messages, forms: [full, newest]}\n"
    (tmp_path / "own.yaml").write_text(f"name: own\n{sections}")
    session = open_session(recipe=str(tmp_path / "own.yaml"))
    session.system_prompt = "A"
    session.append(numbered_message(0))
    session.context()
    session.context()
    assert len(session.cuts()) == 1


def test_parts_of_a_request_are_compared_as_they_are_sent() -> None:
    """The check of these tests sees a change of one character anywhere."""
    body = {"system": "a", "messages": [{"role": "user", "content": "b"}]}
    other = {"system": "a", "messages": [{"role": "user", "content": "c"}]}
    assert list(request_parts(body)) != list(request_parts(other))
