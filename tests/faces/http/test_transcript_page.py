"""`foreword serve --transcript`: recorded conversations on the page, though Foreword did not run
them."""

from __future__ import annotations

import gzip
import json
import signal
from pathlib import Path

import pytest

from foreword.faces.cli.transcript_replay import MOST_CALLS, replay
from foreword.session.session import Session
from tests.command import foreword
from tests.faces.http.running import serving_process, session_path
from tests.patience import PATIENCE_SECONDS


def _write_transcript(folder: Path, name: str, count: int) -> Path:
    lines = list[str]()
    for number in range(count):
        role = "assistant" if number % 2 else "user"
        lines.append(json.dumps({"role": role, "content": f"Firing {number}."}))
    data = "\n".join(lines).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


def test_a_transcript_is_served_and_nothing_of_it_stays(tmp_path: Path) -> None:
    path = _write_transcript(tmp_path, "kiln.jsonl.gz", 6)
    before = path.read_bytes()
    with serving_process("--root", tmp_path, "--transcript", path) as (address, process):
        (session,) = address.ask("GET", "/v1/sessions").json["items"]
        assert (session["name"], session["messages"]) == ("kiln", 6)
        usage = address.ask("GET", session_path("kiln", "usage")).json
        assert usage["calls"] == 6
        assert b"Growth from call to call" in address.ask("GET", "/sessions/kiln").body
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0
    assert sorted(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


def test_a_long_transcript_is_as_many_calls_as_the_chart_shows(tmp_path: Path) -> None:
    path = _write_transcript(tmp_path, "long.jsonl", 3 * MOST_CALLS)
    db = replay([str(path)], tmp_path).db
    with Session.open(db, "long", root=tmp_path, create=False) as session:
        usage = session.usage(10 * MOST_CALLS)
    assert (usage["messages"], usage["calls"]) == (3 * MOST_CALLS, MOST_CALLS)


def test_what_the_agents_provider_counted_is_told_beside_our_own_figures(tmp_path: Path) -> None:
    lines = [{"type": "user", "message": {"role": "user", "content": "What is next?"}}]
    for number in range(2):
        said = [{"type": "text", "text": f"Firing {number}."}]
        usage = {"input_tokens": 400, "cache_read_input_tokens": 1_000, "output_tokens": 70}
        message = {"id": f"m{number}", "role": "assistant", "content": said, "usage": usage}
        lines.append({"type": "assistant", "message": {"model": "claude-sonnet-5-5", **message}})
    path = tmp_path / "agent.jsonl"
    path.write_text("\n".join(json.dumps({"sessionId": "s", **line}) for line in lines))
    with serving_process("--root", tmp_path, "--transcript", path) as (address, _):
        page = address.ask("GET", "/sessions/agent").body.decode()
    assert "own count" in page
    assert "sent in 2 calls, 2K of them from a cache, and 140 answered" in page


def test_of_a_folder_every_transcript_is_there_and_the_rest_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "more").mkdir()
    _write_transcript(tmp_path, "kiln.jsonl", 2)
    _write_transcript(tmp_path / "more", "kiln.json", 1)
    (tmp_path / "notes.json").write_text('{"title": "no transcript"}')
    db = replay([str(tmp_path)], tmp_path).db
    for name in ("kiln", "kiln (2)"):
        Session.open(db, name, root=tmp_path, create=False).close()
    assert "left out: " in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{}", "", "no JSON"])
def test_what_is_no_transcript_is_one_clear_error(content: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(content)
    ran = foreword("serve", "--transcript", "notes.txt", cwd=tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: notes.txt")
    assert "hint: " in ran.err


def test_a_store_is_not_named_beside_it(tmp_path: Path) -> None:
    path = _write_transcript(tmp_path, "kiln.jsonl", 1)
    ran = foreword("serve", "--transcript", path, "--db", "sqlite:///x.db", cwd=tmp_path)
    assert ran.code == 2
    assert "hint: to keep it: foreword session import NAME FILE" in ran.err
