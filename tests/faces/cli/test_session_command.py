"""`foreword session`, as a user runs it."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from foreword import Session
from foreword.errors import UsageError
from foreword.store.locations import state_path
from foreword.store.urls import open_database
from tests.command import CommandResult, foreword
from tests.postgres import new_database

SECRET = "sk-ant-api03-abcdefgh12345678"


def rounds_of_talk(rounds: int) -> list[dict[str, Any]]:
    """Rounds of a question, a call, its result and an answer."""
    messages = list[dict[str, Any]]()
    for i in range(rounds):
        call = {"type": "tool_use", "id": f"t{i}", "name": "read_node", "input": {"id": i}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{i}",
            "content": json.dumps({"rows": list(range(40))}),
        }
        messages += [
            {
                "role": "user",
                "content": f"Please repair node{i}: it times out on the page of invoices. " * 3,
            },
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
            {
                "role": "assistant",
                "content": f"Decided to wait for the table in node{i}, and it works. " * 3,
            },
        ]
    return messages


def as_lines(messages: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)


@pytest.mark.parametrize("database", ["file", "postgresql"])
def test_a_session_is_made_filled_called_and_looked_at(tmp_path: Path, database: str) -> None:
    env: dict[str, Any] = {"FOREWORD_DB": new_database()} if database == "postgresql" else {}

    def run(*words: str) -> CommandResult:
        return foreword("session", *words, cwd=tmp_path, **env)

    (tmp_path / "prompt.md").write_text("You build workflows.")
    (tmp_path / "talk.jsonl").write_text(as_lines(rounds_of_talk(20)))
    made = run("new", "demo", "--system-prompt", "prompt.md")
    assert (made.code, made.out) == (0, "")
    assert made.err.endswith("began session 'demo'\n")
    assert run("new", "demo").code == 2
    imported = run("import", "demo", "talk.jsonl")
    assert (imported.code, imported.out) == (0, "")
    assert imported.err.startswith("imported 80 messages, ")
    called = run("context", "demo", "--format", "anthropic")
    sent = json.loads(called.out)
    assert "You build workflows." in sent["system"][0]["text"]
    assert sent["messages"][0]["content"][0]["text"].startswith("Please repair node0")
    assert "conversation_history" in called.err
    added = run("append", "demo", "--text", f"Now use {SECRET}", "--pin")
    assert added.out == "message 81\n"
    assert SECRET not in added.err
    assert run("context", "demo", "-q").err == ""

    page = run("usage", "demo")
    assert page.out.startswith("demo · 81 messages · ")
    assert "█" in page.out
    assert "size now" in page.out
    assert "warning at" in page.out
    used = json.loads(run("usage", "demo", "--last", "1", "--format", "json").out)
    assert used["calls"] == len(used["log"]) == 1
    assert used["log"][0]["prefix_break"] == ""
    assert 0.9 < used["reuse"] <= 1
    listed = run("list")
    assert listed.out.split()[:2] == ["demo", "81"]
    assert listed.err.split()[:3] == ["name", "messages", "tokens"]


def test_commands_that_are_named_can_be_typed_as_they_stand(tmp_path: Path) -> None:
    name = "Ada's talk"
    store = f"sqlite:///{tmp_path}/talk.db"
    with Session.open(store, name, recipe="chat", budget=1_000) as session:
        session.append({"role": "user", "content": "The log, please."})
        session.append({"role": "assistant", "content": "Here."})
        lines = [f"line {number} of the log\n" for number in range(2_000)]
        session.append({"role": "user", "content": "".join(lines)})
        package = session.context()
    (note, *_) = package.report.warnings
    assert "1 message summed up" in note
    commands = [note.split("`")[1]]
    commands += re.findall(r"foreword session expand .*?(?=\. Where)", package.text)
    assert len(commands) == 2
    for command in commands:
        words = shlex.split(command)
        assert words[-1] == name
        shown = foreword(*words[1:], "--db", store, cwd=tmp_path)
        assert shown.code == 0 or "no compression" in shown.err
    again = foreword("session", "new", name, "--db", store, cwd=tmp_path)
    assert shlex.split(again.err.split("`")[1]) == ["foreword", "session", "append", name]


def test_a_whole_answer_is_appended_with_what_it_cost(tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
    usage = {"input_tokens": 30, "output_tokens": 12}
    answer: dict[str, Any] = {"object": "response", "id": "resp_1", "model": "gpt-5"}
    answer |= {"output": [{"type": "reasoning", "id": "rs_1", "summary": []}, call]}
    answer |= {"usage": usage}
    result = {"type": "function_call_output", "call_id": "c1", "output": "kiln 7"}
    for value, last in [(answer, 2), (result, 3)]:
        ran = foreword(
            "session", "append", "demo", "-", cwd=tmp_path, stdin=json.dumps(value).encode()
        )
        assert (ran.code, ran.out) == (0, f"message {last}\n")
    used = json.loads(foreword("session", "usage", "demo", "--format", "json", cwd=tmp_path).out)
    assert used["answers"]["output_tokens"] == 12


def test_what_is_given_in_the_wrong_way_is_told_how_to_be_given(tmp_path: Path) -> None:
    packed = tmp_path / "talk.jsonl.gz"
    packed.write_bytes(gzip.compress(as_lines(rounds_of_talk(1)).encode()))
    ran = foreword("session", "import", "demo", packed, cwd=tmp_path)
    assert (ran.code, ran.err.splitlines()[-1]) == (2, "hint: unpack it first: gunzip")
    with pytest.raises(UsageError) as told:
        Session.open(tmp_path / "talk.db", "demo")  # type: ignore[arg-type]
    assert told.value.hint.endswith(f"sqlite:///{tmp_path}/talk.db")


def test_a_store_without_sessions_says_how_one_is_made(tmp_path: Path) -> None:
    open_database(None, tmp_path).close()

    ran = foreword("session", "context", "demo", cwd=tmp_path)

    assert ran.code == 2
    assert "hint: there is none yet; `foreword session new NAME` makes one" in ran.err


def test_a_message_that_is_shown_in_part_is_not_called_whole(tmp_path: Path) -> None:
    lines = [f"line {number} of the log\n" for number in range(3_000)]
    talk = [*rounds_of_talk(2), {"role": "user", "content": "".join(lines)}]
    (tmp_path / "talk.json").write_text(json.dumps(talk))
    foreword("session", "import", "demo", "talk.json", cwd=tmp_path)
    made = foreword("session", "compress", "demo", "--to", "1000", cwd=tmp_path)
    assert "messages, in part where too large" in made.out
    assert "whole" not in made.out


def test_a_history_is_compressed_expanded_and_brought_back(tmp_path: Path) -> None:
    def run(*words: str) -> CommandResult:
        return foreword("session", *words, cwd=tmp_path)

    (tmp_path / "talk.json").write_text(
        json.dumps({"system": "Be brief.", "messages": rounds_of_talk(30)})
    )
    run("import", "demo", "talk.json")
    preview = json.loads(
        run("compress", "demo", "--to", "2000", "--preview", "--format", "json").out
    )
    assert preview["applied"] is False
    assert preview["tokens_after"] < preview["tokens_before"]
    nothing = run("undo", "demo")
    assert nothing.code == 2
    assert "there is no compression" in nothing.err

    done = run("compress", "demo", "--to", "1%")
    lines = {line.split()[0]: line for line in done.out.splitlines()}
    assert f"{preview['tokens_before']:,} tokens" in lines["before"]
    assert f"{preview['tokens_after']:,} tokens" in lines["after"]
    assert "by the built-in compressor" in lines["summed"]
    assert "foreword session undo demo" in done.err
    text = run("expand", "demo").out
    assert text.startswith('<turn role="user">\nPlease repair node0')
    originals = json.loads(run("expand", "demo", "1", "--format", "json").out)
    assert originals[0]["content"] == rounds_of_talk(1)[0]["content"]
    assert run("expand", "demo", "7").code == 2

    assert "compression 1" in run("undo", "demo").err
    again = json.loads(run("usage", "demo", "--format", "json").out)
    assert (again["compressions"], again["history_tokens"]) == (0, preview["tokens_before"])


def test_a_target_that_is_none_is_told_by_the_name_of_the_option(tmp_path: Path) -> None:
    foreword("session", "append", "demo", "--text", "hello", cwd=tmp_path)
    for target in ("300%", "199k"):
        ran = foreword("session", "compress", "demo", "--to", target, cwd=tmp_path)
        assert ran.code == 2
        assert "compress-to" not in ran.err
        assert ran.err.endswith("hint: for example --to 20000 or --to 10%\n")


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        (
            "talk.jsonl",
            as_lines(rounds_of_talk(1)) + "{oops}\n" + as_lines(rounds_of_talk(1)),
            "talk.jsonl:5: not JSON",
        ),
        (
            "talk.json",
            json.dumps([*rounds_of_talk(1), {"role": "robot"}]),
            "messages[4].role: 'robot'",
        ),
        ("talk.jsonl", "", "talk.jsonl: no messages"),
    ],
)
def test_a_transcript_that_is_wrong_anywhere_is_not_imported_at_all(
    tmp_path: Path, name: str, text: str, place: str
) -> None:
    (tmp_path / name).write_text(text)
    ran = foreword("session", "import", "demo", name, cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert place in ran.err
    assert not state_path(tmp_path).exists()


def test_what_is_no_message_is_counted_and_a_pipe_will_do(tmp_path: Path) -> None:
    message = {"type": "user", "uuid": "1", "message": {"role": "user", "content": "hello"}}
    lines: list[dict[str, Any]] = [
        {"type": "summary", "leafUuid": "9"},
        message,
        message,
        {**message, "uuid": "2", "isMeta": True},
    ]
    ran = foreword("session", "import", "demo", "-", cwd=tmp_path, stdin=as_lines(lines).encode())
    assert ran.code == 0
    assert "imported 1 message, " in ran.err
    assert "left out, since they are no messages: 1 summary, 1 duplicate, 1 meta" in ran.err


@pytest.mark.parametrize("database", ["file", "postgresql"])
def test_a_file_that_is_imported_again_adds_only_what_is_new(tmp_path: Path, database: str) -> None:
    env: dict[str, Any] = {"FOREWORD_DB": new_database()} if database == "postgresql" else {}

    def run(*words: str) -> CommandResult:
        return foreword("session", *words, cwd=tmp_path, **env)

    file = tmp_path / "talk.jsonl"
    file.write_text(as_lines(rounds_of_talk(2)))
    assert (
        run("import", "demo", "talk.jsonl").err.splitlines()[-1].startswith("imported 8 messages, ")
    )
    again = run("import", "demo", "talk.jsonl")
    assert (again.code, again.out, again.err) == (0, "", "0 imported, 8 are there already\n")
    run("append", "demo", "--text", "Something else.")
    file.write_text(as_lines(rounds_of_talk(3)))
    assert run("import", "demo", "talk.jsonl").err == "4 imported, 8 are there already\n"
    assert run("import", "demo", "talk.jsonl").err == "0 imported, 12 are there already\n"
    assert json.loads(run("usage", "demo", "--format", "json").out)["messages"] == 13
    assert (
        run("import", "other", "talk.jsonl")
        .err.splitlines()[-1]
        .startswith("imported 12 messages, ")
    )


@pytest.mark.parametrize(
    ("words", "stdin", "message"),
    [
        (["-"], b'{"role": "user",\n "content": }', "standard input:2:13: not JSON"),
        ([], b'{"role": "robot"}', "standard input: message.role: 'robot'"),
        (["m.json", "--text", "hello"], b"", "give --text or a file, not both"),
        (["-", "--role", "user"], b"{}", "--role has no effect without --text"),
        (["missing.json"], b"", "missing.json: there is no such file"),
        (["--text", "x", "--kind", "sumary"], b"", "did you mean 'summary'?"),
        (
            ["--text", "x", "--role", "asistant"],
            b"",
            "not one of user, assistant, system, did you mean 'assistant'?",
        ),
        (
            ["hello there"],
            b"",
            "hint: words go with --text: `foreword session append demo --text 'hello there'`",
        ),
        (
            ["my password: hunter2-hunter2"],
            b"",
            "error: my password: [hidden]: there is no such file\n",
        ),
        (["\n" * 70_000], b"", "there is no such file"),
        (["--text", " \n"], b"", "error: the message is empty\n"),
    ],
)
def test_a_message_that_is_none_is_refused_before_anything_is_made(
    tmp_path: Path, words: list[str], stdin: bytes, message: str
) -> None:
    ran = foreword("session", "append", "demo", *words, cwd=tmp_path, stdin=stdin)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert list(tmp_path.iterdir()) == []


def test_without_saving_nothing_is_compressed_or_logged(tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").write_text(as_lines(rounds_of_talk(10)))
    foreword("session", "import", "demo", "talk.jsonl", cwd=tmp_path)
    look = (
        "session",
        "context",
        "demo",
        "--no-save",
        "--window",
        "1500",
        "--recipe",
        "workflow-cached",
    )
    assert "conversation_history" in foreword(*look, cwd=tmp_path).out
    used = json.loads(foreword("session", "usage", "demo", "--format", "json", cwd=tmp_path).out)
    assert (used["calls"], used["compressions"]) == (0, 0)
    assert foreword("report", "list", cwd=tmp_path).out == ""


def test_what_reads_wants_the_session_to_exist(tmp_path: Path) -> None:
    for command in ("list", "context demo", "usage demo"):
        ran = foreword("session", *command.split(), cwd=tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "no store yet" in ran.err
    assert list(tmp_path.iterdir()) == []
    foreword("variable", "set", "demo", "a", "1", "--reason", "x", cwd=tmp_path)
    for command in ("context", "usage", "compress", "expand", "undo"):
        ran = foreword("session", command, "dmo", cwd=tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "did you mean 'demo'?" in ran.err


@pytest.mark.parametrize(
    ("address", "code", "message"),
    [
        ("postgres//localhost/x", 2, "begins with sqlite:/// or postgresql://"),
        ("postgersql://localhost/x", 2, "did you mean postgresql://?"),
        ("sqlite:///", 2, "names no file"),
        ("postgresql://me:hunter2@127.0.0.1:1/x", 1, "postgresql://me@127.0.0.1:1/x can't be used"),
        ("sqlite:///newer.db", 1, "was written by another Foreword (schema 99"),
        ("sqlite:///notes.txt", 1, "is not a Foreword store"),
    ],
)
def test_an_address_that_will_not_do_is_told_without_its_password(
    tmp_path: Path, address: str, code: int, message: str
) -> None:
    (tmp_path / "notes.txt").write_text("notes " * 200)
    if "newer" in address:
        foreword("session", "new", "demo", "--db", address, cwd=tmp_path)
        with sqlite3.connect(tmp_path / "newer.db") as store:
            store.execute("PRAGMA user_version = 99")
        store.close()
    for words in (["session", "list"], ["variable", "set", "demo", "x", "1", "--reason", "r"]):
        ran = foreword(*words, "--db", address, cwd=tmp_path)
        assert (ran.code, ran.out) == (code, "")
        assert message in ran.err
        assert "hunter2" not in ran.err
