"""A `foreword` command at a terminal of its own: what it shows, typing, and the keys that
signal."""

from __future__ import annotations

import os
import pty
import re
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from tests.patience import PATIENCE_SECONDS
from tests.warm_process import ForkedCommand

CTRL_C, CTRL_D = b"\x03", b"\x04"
PRESSES = 12  # of a key that may be lost
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(slots=True)
class Terminal:
    """What a person at the terminal sees and does."""

    process: ForkedCommand
    side: int
    text: str = ""  # all that was written so far
    position: int = 0  # how much of it has been waited for

    def type(self, text: bytes) -> None:
        """Press keys."""
        os.write(self.side, text)

    def until(self, words: str) -> str:
        """Wait until the words are on the screen, behind those that were waited for before."""
        deadline = monotonic() + PATIENCE_SECONDS
        while (at := self.text.find(words, self.position)) < 0:
            if monotonic() > deadline or not self._read():
                raise AssertionError(f"no {words!r} in:\n{self.text}")
        before = self.text[self.position : at]
        self.position = at + len(words)
        return before

    def exit_code(self) -> int:
        """Wait for the end; the exit code."""
        deadline = monotonic() + PATIENCE_SECONDS
        while monotonic() < deadline and self._read():
            pass
        return self.process.wait(PATIENCE_SECONDS)

    def exit_code_after(self, key: bytes) -> int:
        """Press a key that ends it, again where nothing happens: one that comes between a prompt
        and the reading behind it is lost to `readline`. The exit code."""
        for _ in range(PRESSES):
            self.type(key)
            deadline = monotonic() + PATIENCE_SECONDS / PRESSES
            while monotonic() < deadline:
                if not self._read():
                    return self.process.wait(PATIENCE_SECONDS)
        raise AssertionError(f"it goes on:\n{self.text}")

    def _read(self) -> bool:
        ready, _, _ = select.select([self.side], [], [], 0.2)
        if not ready:
            return True
        try:
            data = os.read(self.side, 65_536)
        except OSError:  # the other side is closed
            return False
        self.text += ESCAPES.sub("", data.decode("utf-8", "replace")).replace("\r", "")
        return bool(data)


@contextmanager
def terminal(*args: str, cwd: Path) -> Iterator[Terminal]:
    """Run `foreword ARGS` at a terminal for the length of a `with` block."""
    ours, theirs = pty.openpty()
    process = ForkedCommand(
        args,
        folder=cwd,
        terminal=theirs,
        environment={
            **os.environ,
            "HOME": str(cwd),
            "NO_COLOR": "1",
            "TERM": "xterm",
            "COLUMNS": "120",
            "LINES": "40",
        },
    )
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.communicate()
        os.close(ours)
