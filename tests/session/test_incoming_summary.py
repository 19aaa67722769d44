"""A summary that comes in, by whatever way, is checked against what the store has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import foreword
from foreword.messages.message import Message
from foreword.messages.parts import Text
from tests.command import foreword as run

TALK = [
    {
        "role": "user",
        "content": "Move the retries out of src/pay/client.py, never touch ledger_v2.",
    },
    {"role": "assistant", "content": "The limit is in `retry_limit_ms`, set by src/pay/limits.py."},
    {"role": "user", "content": "Good. Use PAY-4411 for the commit."},
    {"role": "assistant", "content": "Done in src/pay/client.py; `test_pay_retry` passes."},
]
SUMMARY = (
    "This session is being continued from a previous conversation.\n\n"
    "The work is in src/pay/client.py. `make_invoice_twice` was added in src/pay/ghost.py."
)


def summary() -> Message:
    return Message("user", (Text(SUMMARY),), kind="summary")


def open_session(folder: Path) -> foreword.Session:
    return foreword.Session.open(f"sqlite:///{folder}/state.db", counter="estimate")


def assert_checked(text: str, warnings: tuple[str, ...]) -> None:
    assert "src/pay/client.py. " in text  # proven, so not marked
    assert "`make_invoice_twice` [unproven]" in text
    assert "src/pay/ghost.py [unproven]" in text
    _, _, added = text.partition("[Added by Foreword")
    assert "src/pay/limits.py" in added
    assert "retry_limit_ms" in added
    assert any("make_invoice_twice" in warning for warning in warnings)
    assert any("were added" in warning for warning in warnings)


def test_a_summary_that_is_appended_is_checked(tmp_path: Path) -> None:
    with open_session(tmp_path) as session:
        session.append_all(TALK)
        made = session.append(summary())
        assert_checked(session.context().text, made.warnings)


def test_what_is_unproven_in_one_summary_does_not_prove_the_next(tmp_path: Path) -> None:
    with open_session(tmp_path) as session:
        session.append_all(TALK)
        for _ in range(2):
            made = session.append(summary())
            assert any("make_invoice_twice" in warning for warning in made.warnings)
        assert session.context().text.count("`make_invoice_twice` [unproven]") == 2


def test_a_summary_that_is_appended_under_a_key_is_checked_once(tmp_path: Path) -> None:
    with open_session(tmp_path) as session:
        session.append_all(TALK)
        made = session.append(summary(), key="once")
        again = session.append(summary(), key="once")
        assert again.seq == made.seq
        assert_checked(session.context().text, again.warnings)


def test_a_summary_among_many_messages_is_checked_against_those_in_front_of_it(
    tmp_path: Path,
) -> None:
    with open_session(tmp_path) as session:
        made = session.append_all([*TALK, {"role": "user", "content": SUMMARY}])
        assert_checked(session.context().text, made.warnings)


def test_a_history_that_its_client_compacted_is_checked_against_what_it_was(
    tmp_path: Path,
) -> None:
    with open_session(tmp_path) as session:
        session.sync(TALK)
        compacted = [{"role": "user", "content": SUMMARY}, {"role": "user", "content": "Go on."}]
        made = session.sync(compacted)
        assert made.taken_back == len(TALK)
        assert_checked(session.context().text, made.warnings)
        again = session.sync([*compacted, {"role": "assistant", "content": "Going on."}])
        assert (again.added, again.taken_back) == (1, 0)


def test_a_summary_that_was_appended_and_marked_is_the_clients_own(tmp_path: Path) -> None:
    with open_session(tmp_path) as session:
        session.sync(TALK)
        session.append(summary())
        made = session.sync([*TALK, {"role": "user", "content": SUMMARY}])
        assert (made.added, made.taken_back) == (0, 0)


def test_a_transcript_with_a_compaction_of_its_own_is_checked_and_says_so(tmp_path: Path) -> None:
    rows = list[str]()
    before: str | None = None
    for number, each in enumerate([*TALK, {"role": "user", "content": SUMMARY}]):
        uuid = f"u{number}"
        row: dict[str, object] = {
            "type": each["role"],
            "uuid": uuid,
            "parentUuid": before,
            "sessionId": "s",
            "message": each,
        }
        if each["content"] == SUMMARY:
            row["isCompactSummary"] = True
        before = uuid
        rows.append(json.dumps(row))
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(rows))
    db = f"sqlite:///{tmp_path}/state.db"
    ran = run("session", "import", "main", file, "--db", db, cwd=tmp_path)
    with open_session(tmp_path) as session:
        assert_checked(session.context().text, tuple(ran.err.splitlines()))


def test_a_summary_of_what_is_not_kept_is_left_alone_and_said_to_be_unchecked(
    tmp_path: Path,
) -> None:
    with open_session(tmp_path) as session:
        made = session.append(summary())
        assert "[unproven]" not in session.context().text
        assert any("was not checked" in warning for warning in made.warnings)


def test_a_summary_too_small_for_what_it_stands_for_says_so_and_gets_names(tmp_path: Path) -> None:
    with open_session(tmp_path) as session:
        read = [f"I read src/area/file_{number}.py. " * 20 for number in range(200)]
        session.append_all([{"role": "assistant", "content": each} for each in read])
        made = session.append(Message("user", (Text("lost all"),), kind="summary"))
        assert any("too few to stand for" in warning for warning in made.warnings)
        assert "src/area/file_199.py" in session.history()[-1].text


@pytest.mark.parametrize("room", [150, 400])
def test_what_is_unproven_does_not_come_back_as_a_name_of_its_own(
    tmp_path: Path, room: int
) -> None:
    with open_session(tmp_path) as session:
        session.append_all(TALK)
        session.append(summary())
        session.append_all([{"role": "user", "content": f"Step {n} is fine."} for n in range(120)])
        session.compress(to=room)
        text = session.context(budget=room).text
        assert text.count("make_invoice_twice") == text.count("make_invoice_twice` [unproven]")


def test_no_word_of_a_summary_that_came_in_is_struck_though_all_of_it_is_unproven(
    tmp_path: Path,
) -> None:
    invented = " ".join(f"`g{number}_x`" for number in range(120))
    with open_session(tmp_path) as session:
        session.append_all(TALK)
        session.append(Message("user", (Text(invented),), kind="summary"))
        stored = session.history()[-1].text
    for number in range(120):
        assert f"`g{number}_x` [unproven]" in stored
