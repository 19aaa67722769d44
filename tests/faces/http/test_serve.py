"""`foreword serve` as a user starts it: its address, its token, its end."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from foreword.faces.http import http_server, token
from tests.command import foreword
from tests.faces.http.running import (
    Address,
    events,
    running,
    serving_process,
    session_path,
    settings_for,
)
from tests.patience import PATIENCE_SECONDS
from tests.sessions import numbered_message


def test_it_prints_its_address_answers_and_ends_cleanly(tmp_path: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        with serving_process("--root", tmp_path) as (address, process):
            assert address.ask("GET", "/healthz").json["status"] == "ok"
            assert address.ask("GET", "/").status == 200
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
            assert (process.returncode, out) == (0, "")
            assert "Traceback" not in err


def test_a_request_that_is_under_way_is_ended_before_it_stops(tmp_path: Path) -> None:
    body = json.dumps({"message": numbered_message(1)}).encode()
    head = (
        f"POST {session_path('kiln', 'messages')} HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
        " application/json\r\n"
    )
    with serving_process("--root", tmp_path) as (address, process):
        address.ask("POST", "/v1/sessions", {"name": "kiln"})
        with (
            address.open("GET", session_path("kiln", "events")) as listening,
            socket.create_connection((address.host, address.port), 20) as slow,
        ):
            slow.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:5])
            address.ask("GET", "/healthz")  # the server has read the head by then
            process.send_signal(signal.SIGTERM)
            assert list(events(listening)) == []  # it ends at once
            slow.sendall(body[5:])
            assert slow.recv(1_000).split()[1] == b"201"
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 0
    with serving_process("--root", tmp_path) as (address, _):
        assert [
            one["seq"] for one in address.ask("GET", session_path("kiln", "messages")).json["items"]
        ] == [1]


def test_elsewhere_a_token_is_shown_once_and_then_demanded(tmp_path: Path) -> None:
    options = ("--root", tmp_path, "--host", "0.0.0.0")
    with serving_process(*options) as (address, process):
        assert address.ask("GET", "/v1/sessions").status == 401
        process.send_signal(signal.SIGTERM)
        _, shown = process.communicate(timeout=PATIENCE_SECONDS)
    token = shown.split("login?token=")[1].split()[0]
    assert "only its digest is kept" in shown
    sent = {"authorization": f"Bearer {token}"}
    with serving_process(*options, "--log") as (address, process):
        assert address.ask("GET", "/v1/sessions", headers=sent).status == 200
        assert address.ask("GET", "/login", token=token).status == 303
        process.send_signal(signal.SIGTERM)
        _, again = process.communicate(timeout=PATIENCE_SECONDS)
    assert token not in again
    assert "GET /login 303" in again
    with serving_process(*options, "--new-token") as (address, _):
        assert address.ask("GET", "/v1/sessions", headers=sent).status == 401
    assert not [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and token.encode() in path.read_bytes()
    ]


def test_a_token_file_is_demanded_on_loopback_too(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-token-of-my-own-choice\n")
    with serving_process("--root", tmp_path, "--token-file", tmp_path / "token") as (address, _):
        assert address.ask("GET", "/v1/sessions").status == 401
        sent = {"authorization": "Bearer a-token-of-my-own-choice"}
        assert address.ask("GET", "/v1/sessions", headers=sent).status == 200


def test_more_projects_are_read_under_their_names(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    with serving_process("--root", tmp_path, "--also", f"docs={tmp_path}/docs") as (address, _):
        assert address.ask("GET", "/v1/recipes", root="docs").status == 200
        assert (
            address.ask("GET", "/v1/recipes", root="dogs")
            .json["title"]
            .endswith("did you mean 'docs'?")
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--root", "/no/such/folder"], "there is no such folder"),
        (["--port", "99999"], "99999"),
        (["--host", "256.256.256.256", "--token-file", "TOKEN"], "can't listen on 256.256.256.256"),
        (["--also", "docs"], "is no NAME=DIR"),
        (["--recipe", "teapot"], "unknown recipe 'teapot'"),
        (["--db", "mysql://x"], "mysql:// is no database we know"),
        (["--token-file", "nothing"], "the token file nothing can't be read"),
    ],
)
def test_what_can_not_be_served_is_said_in_one_line(
    tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "TOKEN").write_text("a-token-of-my-own-choice\n")
    ran = foreword("serve", *options, cwd=tmp_path)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = foreword("serve", "--port", str(taken.getsockname()[1]), cwd=tmp_path)
    assert (ran.code, "can't listen on 127.0.0.1" in ran.err) == (2, True)


def test_without_the_extra_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['uvicorn'] = None; from foreword.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "serve"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "error: this needs the extra 'serve': uvicorn is not installed" in done.stderr


def test_other_commands_load_nothing_of_it(tmp_path: Path) -> None:
    program = (
        "import sys; from foreword.faces.cli.main import cli\ncli.main(['serve', '--help'],"
        " standalone_mode=False)\nprint([name for name in sys.modules if name.split('.')[0] in"
        " ('starlette', 'uvicorn', 'jinja2', 'anyio')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_where_it_listens_on_every_address_the_links_are_ones_that_open(tmp_path: Path) -> None:
    digest = token.digest_of("a-token-of-my-own-choice")
    with running(settings_for(tmp_path, host="0.0.0.0", token_digest=digest)) as (here, _):
        links = http_server.addresses("0.0.0.0", here.port)
        assert links[0] == f"http://127.0.0.1:{here.port}"
        for link in links:
            assert (
                Address(urlsplit(link).hostname or "", here.port).ask("GET", "/healthz").status
                == 200
            )
    assert http_server.addresses("::", 80)[0] == "http://[::1]:80"
    assert http_server.addresses("::1", 80) == ["http://[::1]:80"]
    assert http_server.addresses("agents.example", 80) == ["http://agents.example:80"]
