"""How many statements a page about a session runs, over HTTP and on both databases, once the server
has the session open."""

from __future__ import annotations

from pathlib import Path

import pytest

import foreword
from tests.faces.http.running import running, settings_for
from tests.sessions import numbered_message, plan
from tests.statements import statements
from tests.store.databases import KINDS, new_url

HOME = "/sessions/main"


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_about_a_session_runs_at_most_ten_statements(kind: str, tmp_path: Path) -> None:
    url = new_url(kind, tmp_path)
    with (
        statements() as seen,
        foreword.Session.open(url, root=tmp_path) as agent,
        running(settings_for(tmp_path, db=url, model="test")) as (address, _),
    ):
        change_everything(agent, 0)
        for page in (HOME, f"{HOME}/context", f"{HOME}/chat"):
            assert address.ask("GET", page).status == 200
            seen.clear()
            assert address.ask("GET", page).status == 200
            assert 0 < len(seen) <= 10, (page, seen)
        for turn, page in enumerate((HOME, f"{HOME}/chat", f"{HOME}/context"), start=1):
            change_everything(agent, turn)
            seen.clear()
            shown = address.ask("GET", page)
            assert shown.status == 200
            assert 0 < len(seen) <= 10, (page, seen)
        assert b"turn 3" in shown.body


def change_everything(session: foreword.Session, turn: int) -> None:
    session.update_plan(plan(notes=f"turn {turn}"), "next turn")
    session.put_node({"id": "n1", "position": 1, "type": "code", "config": {"turn": turn}})
    session.set_variable("page", f"page {turn}", "seen")
    session.append(numbered_message(turn))
    session.context()
