"""Chats whose process is killed on the way: the director goes on, and what it had done is not
done again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from foreword.demos.scripted_model import scripted_model
from foreword.demos.site import NAME, PASSWORD, ROWS, site
from foreword.testing import fake_provider
from tests.director.scenes import open_director


def test_a_chat_that_is_killed_again_and_again_comes_to_its_end(tmp_path: Path) -> None:
    with site() as desk, fake_provider(scripted_model(desk.url, pages=1)) as provider:
        with open_director(tmp_path) as director:
            director.session.set_variable(
                "creds", {"name": NAME, "password": PASSWORD}, "the user's"
            )
        command = [
            sys.executable,
            "-m",
            "tests.director.chat_lives",
            str(tmp_path),
            desk.url,
            provider.openai,
        ]
        done = subprocess.run([*command, "40"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) > 2
        sent = [row["subject"] for row in desk.sent]
    assert list(dict.fromkeys(sent)) == [row["subject"] for row in ROWS[:5]]
    assert len(sent) <= 5 + int(done.stdout) - 1, (
        "a click that nobody had written down may happen twice"
    )
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
