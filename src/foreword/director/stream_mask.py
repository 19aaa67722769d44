"""Pass on what a model says as it comes, word by word, with its secrets hidden."""

from __future__ import annotations

from collections.abc import Callable

from foreword.secrets.known_values import KnownValues


class StreamMask:
    """Passes a text on as it comes, its secrets hidden; an empty piece says that it begins
    again."""

    def __init__(self, secrets: KnownValues, tell: Callable[[str], None]) -> None:
        self._secrets, self._tell = secrets, tell
        # of the line that is being written: as it came, as it was passed on
        self._line, self._told = "", ""
        self.text = ""  # everything that was passed on

    def __call__(self, piece: str) -> None:
        """Take in a piece."""
        if not piece:
            self._line = self._told = self.text = ""
            self._tell("")
            return
        self._line += piece
        *whole, self._line = self._line.split("\n")
        for line in whole:
            self._pass_on(self._secrets.text(f"{line}\n"))
            self._told = ""
        # a word may go on: half of a secret
        self._pass_on(self._secrets.text(self._line[: self._line.rfind(" ") + 1]))

    def end(self) -> None:
        """Pass the last word on."""
        self._pass_on(self._secrets.text(self._line))
        self._line = self._told = ""

    def _pass_on(self, line: str) -> None:
        """What is new of a line; where what was said of it no longer holds, it waits for the end
        of the line."""
        if line.startswith(self._told) and line != self._told:
            new, self._told = line[len(self._told) :], line
            self.text += new
            self._tell(new)
