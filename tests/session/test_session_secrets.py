"""A secret that a workflow holds is in no context and in nothing that is shown, wherever the
history repeats it."""

from __future__ import annotations

import base64
import json
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import foreword
from foreword.messages.anthropic import to_anthropic
from foreword.messages.message import Message, edit, keep
from foreword.messages.parts import Text, Thinking
from foreword.messages.record import to_record
from foreword.operations.fitted_values import original_page
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import HIDDEN
from foreword.session.secret_messages import without_secrets
from tests.attacks import EXAMPLES
from tests.messages.conversation import from_anthropic
from tests.session.test_session_model import GOOD, Scripted
from tests.session.validity import problems
from tests.sessions import Open, call, numbered_message, plan, results, words

pytestmark = pytest.mark.attack

PASSWORD = 'Tr0ub4dor "&3/x'
PIN = 4711
ENCODED = base64.b64encode(f"ada:{PASSWORD}".encode()).decode()


def hold_secrets(session: foreword.Session) -> None:
    session.set_variable("creds", {"user": "ada", "password": PASSWORD}, "login")
    session.set_variable("door_pin", PIN, "the door")


def repeat_them(session: foreword.Session) -> None:
    """The user, a call, its result and the parts around them all say the secrets."""
    session.append({"role": "system", "content": f"You sign in as ada with {PASSWORD}."})
    session.append(
        {"role": "user", "content": f"My password is {PASSWORD}, the door {PIN}, room 47110."}
    )
    typed = {
        "selector": "#field",
        "text": PASSWORD,
        "nested": [{"again": f"x{PASSWORD}"}],
        "pin": PIN,
    }
    call_block = {"type": "tool_use", "id": "t1", "name": "type", "input": typed}
    session.append(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": f"I type {PASSWORD}."}, call_block],
        }
    )
    answer = [
        {"type": "text", "text": f"typed {PASSWORD}"},
        {
            "type": "text",
            "text": f"GET /?p={quote(PASSWORD, safe='')} Basic {ENCODED} {json.dumps(PASSWORD)}",
        },
    ]
    result = {"type": "tool_result", "tool_use_id": "t1", "content": answer}
    session.append({"role": "user", "content": [result]})
    session.append(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "t2",
                    "type": "function",
                    "function": {"name": "look", "arguments": json.dumps({"for": PASSWORD})},
                }
            ],
        }
    )
    session.append(
        {"role": "tool", "tool_call_id": "t2", "content": json.dumps({"found": [PASSWORD, PIN]})}
    )
    session.update_plan(plan(overall_goal=f"sign in with {PASSWORD}"), "first")
    session.put_node(
        {
            "id": "n1",
            "position": 1,
            "type": "type",
            "config": {},
            "description": f"types {PASSWORD}",
        }
    )


TABS = [{"name": f"Tab {PASSWORD}", "url": f"https://x/?q={quote(PASSWORD)}", "active": True}]


def says_a_secret(value: object) -> list[str]:
    """Every way in which a secret is in the value."""
    written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    pieces = [
        "Tr0ub4dor",
        quote(PASSWORD, safe="")[4:],
        ENCODED[8:-6],
        "the door 4711",
        '"pin": 4711',
        ", 4711]",
    ]
    return [piece for piece in pieces if piece in written]


@pytest.mark.parametrize("recipe", ["workflow", "workflow-cached"])
def test_no_form_of_a_context_says_a_secret_that_a_tool_repeats(
    open_session: Open, recipe: str
) -> None:
    session = open_session(recipe=recipe)
    repeat_them(session)
    hold_secrets(session)
    package = session.context(browser=TABS)
    for form in (
        package.text,
        package.to_anthropic(),
        package.to_openai(),
        [m.text for m in package.messages],
    ):
        assert says_a_secret(form) == []
    assert "room 47110" in package.text
    assert problems(package) == []
    calls = dict[str, Any]()
    for message in package.to_anthropic()["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_use":
                assert block["id"] not in calls
                calls[block["id"]] = block
    assert calls["t1"]["input"] == {
        "selector": "#field",
        "text": HIDDEN,
        "nested": [{"again": f"x{HIDDEN}"}],
        "pin": HIDDEN,
    }
    assert package.text.count(HIDDEN) > 8


def test_what_is_kept_is_what_was_said(open_session: Open) -> None:
    session = open_session()
    repeat_them(session)
    before = session.history()
    hold_secrets(session)
    session.context()
    assert session.history() == before
    assert PASSWORD in before[0].text
    assert session.get_workflow_variable("creds")["password"] == PASSWORD


def test_what_was_left_out_comes_back_without_the_secret(open_session: Open) -> None:
    session = open_session(budget=1500, counter="o200k")
    for number in range(12):
        session.append(
            {"role": "user", "content": f"Message {number}: {PASSWORD}. {words('word', 120)}"}
        )
        session.append({"role": "assistant", "content": "ok"})
    hold_secrets(session)
    package = session.context()
    handles = [one.handle for one in package.report.omissions if one.handle]
    assert handles
    for handle in handles:
        recalled = original_page(session.db, handle, offset=0, budget=1_000_000).text
        assert says_a_secret(recalled) == []
        assert HIDDEN in recalled


def test_neither_a_summary_nor_the_model_that_writes_it_is_told_a_secret(
    open_session: Open,
) -> None:
    session = open_session(warn_at=5000, compress_at=6000, compress_to=1500)
    for number in range(20):
        session.append(
            {
                **numbered_message(number, 60),
                "content": f"Decided to use {PASSWORD} for it. {words('word', 60)}",
            }
        )
    hold_secrets(session)
    assert says_a_secret(session.compress(preview=True).summary) == []
    scripted = Scripted(lambda asked: GOOD)
    made = session.compress(model=scripted.model)
    assert scripted.asked
    assert says_a_secret(scripted.asked) == []
    assert says_a_secret([made.summary, *(one.summary for one in session.compressions())]) == []
    assert PASSWORD in session.expand()[0].text


def test_a_summary_from_before_the_secret_was_known_is_shown_without_it(open_session: Open) -> None:
    session = open_session(warn_at=5000, compress_at=6000, compress_to=1500)
    for number in range(20):
        session.append(
            {
                **numbered_message(number, 60),
                "content": f"Decided to use {PASSWORD} for it. {words('word', 60)}",
            }
        )
    assert PASSWORD in session.compress().summary
    hold_secrets(session)
    assert says_a_secret(session.context(browser=TABS).text) == []


def test_a_secret_that_is_set_breaks_the_beginning_once_and_the_log_says_why(
    open_session: Open,
) -> None:
    session = open_session(recipe="workflow-cached", counter="o200k")
    session.append({"role": "user", "content": f"It is {PASSWORD}."})
    session.append({"role": "assistant", "content": "Noted."})
    session.context()
    session.set_variable("count", 7, "not a secret")
    session.context()
    hold_secrets(session)
    session.context()
    session.append({"role": "user", "content": f"And again: {PASSWORD}."})
    session.context()
    breaks = [line["prefix_break"] for line in session.usage()["log"]][::-1]
    assert breaks == ["first call", "", "a secret became known", ""]
    assert all("hidden" not in line for line in session.usage()["log"])


def test_another_process_hides_the_same(open_session: Open) -> None:
    session = open_session()
    repeat_them(session)
    hold_secrets(session)
    package = session.context(browser=TABS)
    other = open_session()
    assert other.context(browser=TABS, save=False).text == package.text
    session.clear_variable("creds", "signed out")
    assert other.context(save=False).text == session.context(save=False).text


def test_a_signed_thought_with_a_secret_is_left_out_and_an_unsigned_one_is_hidden() -> None:
    secrets = KnownValues()
    secrets.learn_texts(["hunter22-x"])
    signed = Thinking("about hunter22-x", signature="hunter22-x", shape="anthropic")
    free = Thinking("about hunter22-x")
    hidden = without_secrets(Message("assistant", (signed, free, Text("hunter22-x"))), secrets)
    assert hidden.parts == (Thinking(f"about {HIDDEN}"), Text(HIDDEN))
    untouched = keep(
        Message("user", (Text("nothing"), edit(signed, text="a", signature="b"))), "a", {"n": 1}
    )
    assert without_secrets(untouched, secrets) is untouched


def test_a_secret_outside_of_the_view_is_never_sent() -> None:
    secrets = KnownValues()
    secrets.learn_texts(["hunter22-x"])
    cited = {"type": "text", "text": "See.", "citations": [{"cited_text": "it is hunter22-x"}]}
    asked = {"type": "tool_use", "id": "a", "name": "log_in", "input": {"hunter22-x": "hunter22-x"}}
    talk = from_anthropic([{"role": "assistant", "content": [cited, asked], "id": "hunter22-x"}])
    (hidden,) = [without_secrets(message, secrets) for message in talk]
    assert "hunter22-x" not in json.dumps([to_anthropic([hidden]), to_record(hidden)])
    assert "it is [hidden]" in json.dumps(to_anthropic([hidden]))


def test_an_id_that_is_a_secret_still_joins_a_call_and_its_result(open_session: Open) -> None:
    session = open_session()
    session.set_variable("token", "call-4711-abcdef", "odd")
    session.append({"role": "user", "content": "go"})
    session.append(call("call-4711-abcdef"))
    session.append(results(**{"call-4711-abcdef": "done call-4711-abcdef"}))
    package = session.context()
    assert problems(package) == []
    assert "done [hidden]" in package.text


pieces = st.sampled_from(
    ["4711", "pass-word-x", "a ", "word ", "\n", '"', "\\", "47", "{", "}", ": ", "1"]
)
texts = st.lists(pieces, max_size=30).map("".join)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=12), st.integers(400, 1500))
@settings(max_examples=EXAMPLES, deadline=None)
def test_what_is_sent_fits_the_budget_though_hiding_makes_it_longer(
    turns: list[tuple[str, str]], budget: int
) -> None:
    options: dict[str, Any] = {"counter": "o200k", "budget": budget, "auto_compress": False}
    with TemporaryDirectory() as folder, foreword.Session.open(root=folder, **options) as session:
        session.set_variable("pin", PIN, "the door")
        session.set_variable("password", "pass-word-x", "login")
        for number, (asked, answered) in enumerate(turns):
            session.append({"role": "user", "content": f"go {asked}"})
            block = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"a": asked}}
            session.append({"role": "assistant", "content": [block]})
            session.append(results(**{f"t{number}": answered * 4}))
        package = session.context(save=False)
    assert foreword.counter("o200k").count(package.text) <= budget
    assert "pass-word-x" not in package.text
    assert problems(package) == []
