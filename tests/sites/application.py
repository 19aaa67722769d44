"""An application of other makers that runs on loopback for a test: how it is started, what is done
on it, and how its own data are read.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
SMALL = ROOT / ".venv" / "sites" / "bin"  # the environment of those that `make test` runs
LARGE = ROOT / ".venv-sites" / "bin"  # and of those that `make sites` runs
NODE_PACKAGES = ROOT / ".venv-sites" / "node" / "node_modules"
# JupyterLab and Node-RED draw themselves by scripts for 5 s on a free machine; this is for a busy
# one, and for an answer that is held back on the way.
DRAW_SECONDS = 90
START_SECONDS = 120.0  # JupyterLab takes 15 s on a free machine; this is for a busy one
# type, configuration, and what else a node has; `{{site}}` is where the application is
Node = tuple[str, dict[str, Any], dict[str, Any]]
Rows = tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page to be looked at, by somebody who has signed in and wants something."""

    path: str
    instruction: str
    before: Sequence[Node] = ()  # what is done on it first
    ready: str = ""  # a selector of what is there when it is complete


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """One that is running."""

    name: str
    port: int
    login: Sequence[Node]
    listing: Sequence[Node]  # reads a list over all its pages, after the login
    form: Sequence[Node]  # for each of `rows` as `row`, the last one sends it
    rows: Rows
    pages: Sequence[Page]
    effects: Callable[[], Counter[str]]  # by its own data: how often there is what
    expected: Callable[[], Sequence[Any]]  # by its own data: what the list must be
    is_ordered: bool = True  # whether its data have the order of the list
    # Whether sending the form opens another page: who is killed meanwhile has to be asked then.
    sends_by_page: bool = False
    folder: Path  # its own

    @property
    def address(self) -> str:
        """Where its pages are."""
        return f"http://127.0.0.1:{self.port}"


Start = Callable[[Path], AbstractContextManager[Application]]


def free_port() -> int:
    """A port of this machine that nobody has."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def running(
    command: Sequence[str | Path], folder: Path, port: int, **environment: str
) -> Iterator[None]:
    """A server in a process group of its own, from when it answers until it is no longer needed."""
    log = folder / "server.log"
    inherited = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder)}
    with log.open("wb") as written:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env={**inherited, **environment},
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        end = monotonic() + START_SECONDS
        while not _answers(port):
            assert process.poll() is None, log.read_text(errors="replace")[-2_000:]
            assert monotonic() < end, f"{command[0]} does not answer"
            sleep(0.1)
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/", timeout=5):
            return True
    except HTTPError:
        return True  # an answer, whatever it is
    except OSError:
        return False


def finish(command: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """Run something to its end; what it printed."""
    inherited = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def typing(selector: str, text: str) -> Node:
    """A node that fills a field."""
    return ("type", {"selector": selector, "text": text}, {})


def clicking(selector: str) -> Node:
    """A node that presses something."""
    return ("click", {"selector": selector}, {})


def opening(path: str) -> Node:
    """A node that opens a page of the application."""
    return ("navigate", {"url": "{{site}}" + path}, {})


def waiting(selector: str) -> Node:
    """A node that waits for something that scripts draw."""
    return ("wait", {"selector": selector, "timeout": DRAW_SECONDS}, {})


def reading(selector: str, **more: Any) -> Node:
    """A node that reads a list, or adds to what it has read."""
    config = {"selector": selector, "variable": "names", "many": True, **more}
    return ("extract", config, {"inside": True} if more.get("append") else {})


def paging(following: str) -> Node:
    """A node that goes from page to page until there is none."""
    return ("loop", {"next": following}, {})
