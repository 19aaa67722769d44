"""`foreword director chat`: a turn from a script, a talk at a terminal, and what becomes of it
when it is stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from foreword.session.session import Session
from foreword.store.locations import state_path
from foreword.testing import Reply, ToolCall, fake_provider
from tests.command import run_in_process
from tests.director.scenes import spoken_in
from tests.faces.cli.terminal import CTRL_C, CTRL_D, terminal

SET = Reply(
    "I note it.",
    tool_calls=[ToolCall("set_variable", {"name": "berth", "value": 4, "reason": "you said so"})],
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FOREWORD_DB", raising=False)
    monkeypatch.delenv("FOREWORD_DIRECTOR_MODEL", raising=False)


def chat(model: str, *args: str, stdin: bytes = b"") -> Any:
    return run_in_process("director", "chat", "letters", "--model", model, *args, stdin=stdin)


def test_one_thing_said_from_a_script_has_the_answer_alone_on_stdout(tmp_path: Path) -> None:
    with fake_provider([SET, "Berth 4 is noted."]) as provider:
        ran = chat(provider.openai, "--say", "Remember berth 4.")
    assert (ran.code, ran.out) == (0, "Berth 4 is noted.\n")
    assert "I note it." in ran.err
    assert "set_variable(berth, value 4, you said so)  ok" in ran.err
    with Session.open(None, "letters", root=tmp_path, create=False) as session:
        assert session.get_workflow_variables() == {"berth": 4}


def test_what_is_said_can_come_from_standard_input_and_calls_can_be_shown_whole() -> None:
    with fake_provider([SET, "Noted."]) as provider:
        ran = chat(provider.openai, "--say", "-", "--verbose", stdin=b"Remember berth 4.\n")
        content = spoken_in(provider.requests[0])[-1]["content"]
    assert "Remember berth 4." in json.dumps(content)
    assert 'set_variable({"name": "berth", "value": 4, "reason": "you said so"})  ok' in ran.err


def test_every_line_of_a_pipe_is_a_turn() -> None:
    with fake_provider(["One.", "Two."]) as provider:
        ran = chat(provider.openai, stdin=b"first\n\nsecond\n")
    assert ran.out == "One.\nTwo.\n"
    assert "window" in ran.err


def test_without_a_model_it_says_how_to_name_one_and_that_there_are_tools() -> None:
    ran = run_in_process("director", "chat", "letters")
    assert ran.code == 2
    assert "a director needs a model" in ran.err
    assert "FOREWORD_DIRECTOR_MODEL" in ran.err
    assert "foreword director tools" in ran.err
    assert not state_path(Path()).exists()


def test_the_model_may_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_provider("Here.") as provider:
        monkeypatch.setenv("FOREWORD_DIRECTOR_MODEL", provider.anthropic)
        assert (
            run_in_process("director", "chat", "letters", "--say", "Are you there?").out
            == "Here.\n"
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "antropic:claude"), "can't be asked"),
        (("--model", "test", "--origin", "example"), "is not an origin"),
        (("--model", "test", "--browser", "/no/such/browser"), "there is no browser at"),
        (
            ("--model", "test", "--attach", "http://127.0.0.1:9", "--show"),
            "takes a browser as it is",
        ),
        (("--model", "test", "--say", " "), "nothing to say"),
        (
            ("--model", "test", "--say", "hello", "--window", "32"),
            "can't work in a window of 32 tokens",
        ),
    ],
)
def test_what_can_not_be_is_said_before_anything_begins(
    options: tuple[str, ...], message: str
) -> None:
    ran = run_in_process("director", "chat", "letters", *options)
    assert ran.code == 2
    assert message in ran.err
    assert "hint:" in ran.err
    assert not state_path(Path()).exists()


def test_a_model_that_fails_ends_a_script_and_is_asked_again_by_the_next_chat() -> None:
    with fake_provider(Reply("out of order", status=400)) as provider:
        ran = chat(provider.openai, "--say", "Hello.")
    assert ran.code == 1
    assert "error:" in ran.err
    with fake_provider(["Hello to you.", "And again."]) as provider:
        ran = chat(provider.openai, stdin=b"more\n")
    assert "the last turn did not come to its end: going on with it" in ran.err
    assert ran.out == "Hello to you.\nAnd again.\n"


def test_what_was_done_by_hand_is_no_open_turn() -> None:
    run_in_process(
        "director",
        "call",
        "letters",
        "set_variable",
        '{"name": "berth", "value": 4, "reason": "mine"}',
    )
    with fake_provider("Good morning.") as provider:
        ran = chat(provider.openai, stdin=b"")
    assert "did not come to its end" not in ran.err
    assert provider.requests == []


def test_characters_that_steer_a_terminal_do_not_reach_it() -> None:
    with fake_provider("Fine.\x1b[2J Really.\n\nAnd a new line.") as provider:
        ran = chat(provider.openai, stdin=b"How are you?\n")
    assert "\x1b" not in ran.out
    assert ran.out.endswith("Really.\n\nAnd a new line.\n")


def test_ctrl_c_stops_a_turn_and_not_the_chat(tmp_path: Path) -> None:
    replies: list[str | Reply] = [
        Reply("This goes on and on. " * 400, drip_seconds=0.05),
        "Back again.",
    ]
    with (
        fake_provider(replies) as provider,
        terminal(*_command(provider.openai), cwd=tmp_path) as screen,
    ):
        screen.until("> ")
        screen.type(b"Tell me everything.\r")
        screen.until("This goes on")
        screen.type(CTRL_C)
        screen.until("stopping")
        screen.until("> ")
        screen.type(b"Are you there?\r")
        screen.until("Back again.")
        screen.until("> ")
        screen.type(CTRL_D)
        assert screen.exit_code() == 0


def test_a_second_chat_is_refused_and_two_ctrl_c_end_the_first(tmp_path: Path) -> None:
    with (
        fake_provider(Reply(hangs=True)) as provider,
        terminal(*_command(provider.openai), cwd=tmp_path) as screen,
    ):
        screen.until("> ")
        second = chat(provider.openai, "--say", "And me?")
        assert second.code == 2
        assert "somebody talks with the director of 'letters' already" in second.err
        screen.type(CTRL_C)
        screen.until("ctrl-C again, or ctrl-D, ends the chat")
        screen.until("> ")
        assert screen.exit_code_after(CTRL_C) == 0


def test_a_chat_that_was_killed_goes_on_and_says_so(tmp_path: Path) -> None:
    def set_variable_then_hang(body: Mapping[str, Any]) -> Reply:
        return Reply(hangs=True) if spoken_in(body)[-1]["role"] == "tool" else SET

    with (
        fake_provider(set_variable_then_hang) as provider,
        terminal(*_command(provider.openai), cwd=tmp_path) as screen,
    ):
        screen.until("> ")
        screen.type(b"Remember berth 4.\r")
        screen.until("set_variable(berth, value 4, you said so)  ok")
        screen.process.kill()
    with fake_provider("It is noted already.") as provider:
        ran = chat(provider.openai, stdin=b"")
    assert "the last turn did not come to its end: going on with it" in ran.err
    assert ran.out == "It is noted already.\n"


def _command(model: str) -> tuple[str, ...]:
    return ("director", "chat", "letters", "--model", model)
