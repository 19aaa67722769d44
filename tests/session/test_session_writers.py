"""What a call of a session holds where others write between its calls, or a transaction failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import foreword
from tests.sessions import numbered_message, plan
from tests.store.databases import KINDS, new_url

TABS = [{"name": "Main", "url": "https://example.com/1", "active": True}]
NODE = {"id": "n1", "position": 1, "type": "code", "config": {"turn": 0}}
Scene = tuple[foreword.Session, foreword.Session]


@pytest.fixture(params=KINDS)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    """A session that has made a call, and one of somebody else."""
    url = new_url(request.param, tmp_path)
    options: dict[str, Any] = {"root": tmp_path, "counter": "estimate"}
    with (
        foreword.Session.open(url, **options) as session,
        foreword.Session.open(url, **options) as other,
    ):
        session.update_plan(plan(notes="turn 0"), "next turn")
        session.put_node(NODE)
        session.set_variable("page", "page 0", "seen")
        session.append(numbered_message(0))
        session.context(browser=TABS)
        yield session, other


def test_what_others_write_between_two_writes_of_a_session_is_in_its_next_call(
    scene: Scene,
) -> None:
    session, other = scene
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
    session, other = scene
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
