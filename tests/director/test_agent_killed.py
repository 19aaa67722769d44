"""Chats whose process is killed on the way: the director goes on, and what it had done is not
done again."""

from __future__ import annotations

from pathlib import Path

from foreword.demos.scripted_model import scripted_model
from foreword.demos.site import NAME, PASSWORD, ROWS, site
from foreword.testing import fake_provider
from tests.director.scenes import open_director
from tests.warm_process import run_module


def test_a_chat_that_is_killed_again_and_again_comes_to_its_end(tmp_path: Path) -> None:
    with site() as desk, fake_provider(scripted_model(desk.url, pages=1)) as provider:
        with open_director(tmp_path) as director:
            director.session.set_variable(
                "creds", {"name": NAME, "password": PASSWORD}, "the user's"
            )
        arguments = (tmp_path, desk.url, provider.openai, 40)
        lives = int(run_module("tests.director.chat_lives", *arguments))
        assert lives > 2
        sent = [row["subject"] for row in desk.sent]
    assert list(dict.fromkeys(sent)) == [row["subject"] for row in ROWS[:5]]
    assert len(sent) <= 5 + lives - 1, "a click that nobody had written down may happen twice"
    with open_director(tmp_path) as director:
        history = director.session.history()
        nodes = director.session.snapshot()["nodes"]
    assert [node["id"] for node in nodes] == [f"node{number}" for number in range(1, 14)]
    assert {node["status"] for node in nodes} == {"success"}
    called = list[str]()
    answered = list[str]()
    for message in history:
        called += message.calls
        answered += message.results
    assert called == answered
    assert any("the process ended before a result" in message.text for message in history)
    assert PASSWORD not in "".join(message.text for message in history)
