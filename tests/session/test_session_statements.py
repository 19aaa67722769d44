"""How many statements a call of a session runs, on both databases: each reads how new everything is
once, and then only what has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foreword
from tests.sessions import numbered_message, plan
from tests.statements import statements
from tests.store.databases import KINDS, new_url

TABS = [{"name": "Main", "url": "https://example.com/1", "active": True}]
NODE = {"id": "n1", "position": 1, "type": "code"}
STAMPS = "SELECT w.revision"  # how the statement begins that reads them
# What is asked of SQLite around the work: whether others have written, and a transaction.
NO_WORK = ("PRAGMA data_version", "BEGIN IMMEDIATE", "COMMIT")
Scene = tuple[foreword.Session, foreword.Session, list[str]]


@pytest.fixture(params=KINDS)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    """A session that has made a call, one of somebody else, and what runs from here on."""
    url = new_url(request.param, tmp_path)
    options: dict[str, Any] = {"root": tmp_path, "counter": "estimate"}
    with (
        statements() as seen,
        foreword.Session.open(url, **options) as session,
        foreword.Session.open(url, **options) as other,
    ):
        change_everything(session, 0)
        session.context(browser=TABS)
        seen.clear()
        yield session, other, seen


def change_everything(session: foreword.Session, turn: int) -> None:
    session.update_plan(plan(notes=f"turn {turn}"), "next turn")
    session.put_node({**NODE, "config": {"turn": turn}})
    session.set_variable("page", f"page {turn}", "seen")
    session.append(numbered_message(turn))


def test_a_call_runs_at_most_four_statements_where_nothing_has_changed(scene: Scene) -> None:
    session, _, seen = scene
    session.context(browser=TABS)
    assert 0 < len(seen) <= 4, seen


def test_a_call_runs_at_most_eight_statements_where_the_state_has_changed(scene: Scene) -> None:
    session, other, seen = scene
    change_everything(session, 1)
    seen.clear()
    first = session.context(browser=TABS, save=False)
    assert 0 < len(seen) <= 8, seen
    assert sum(STAMPS in sql for sql in seen) <= 1
    change_everything(other, 2)
    seen.clear()
    package = session.context(browser=TABS)
    counted = [sql for sql in seen if sql not in NO_WORK]
    assert len(counted) <= 8, seen
    assert sum(STAMPS in sql for sql in seen) == 1
    assert "turn 1" in first.text
    assert [word in package.text for word in ("turn 2", "page 2", "Message 2.")] == [True] * 3


def test_a_message_is_appended_by_at_most_five_statements(scene: Scene) -> None:
    session, _, seen = scene
    session.append(numbered_message(1))
    assert 0 < len(seen) <= 5, seen
    assert sum(STAMPS in sql for sql in seen) <= 1


def test_what_others_write_between_two_writes_of_a_session_is_in_its_next_call(
    scene: Scene,
) -> None:
    session, other, _ = scene
    for turn in range(1, 13, 3):
        other.append(numbered_message(turn))
        session.append(numbered_message(turn + 1))
        other.set_variable("page", f"page {turn}", "seen")
        session.context(browser=TABS)
        other.system_prompt = f"Prompt {turn}."
        session.append(numbered_message(turn + 2))
        package = session.context(browser=TABS)
        for written in (f"page {turn}", f"Prompt {turn}.", f"Message {turn}."):
            assert written in package.text
        assert package.text == other.context(browser=TABS, save=False).text


def test_what_a_session_wrote_in_a_transaction_that_failed_is_not_in_its_next_call(
    scene: Scene,
) -> None:
    session, other, _ = scene
    session.append(numbered_message(1), key="one")
    with pytest.raises(foreword.ForewordError):
        session.append(numbered_message(2), key="one")
    session.append_all([numbered_message(3)])

    def fail() -> None:
        with session.db.transaction():
            session.system_prompt = "Never."
            session.set_variable("page", "never", "seen")
            session.size_tokens()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    package = session.context(browser=TABS)
    assert "never" not in package.text.lower()
    assert package.text == other.context(browser=TABS, save=False).text


def test_looking_at_a_property_of_a_session_runs_nothing(scene: Scene) -> None:
    session, _, seen = scene
    for owner in type(session).__mro__:
        for name, member in vars(owner).items():
            if isinstance(member, property):
                getattr(session, name)
    assert seen == []
    assert session.system_prompt == ""
