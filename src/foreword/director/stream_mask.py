"""Pass on what a model says as it comes, word by word, with its secrets hidden.

A secret may come in pieces, so nothing is passed on but whole words, and a line that turns out to
hold one waits for its end.
"""

from __future__ import annotations

from collections.abc import Callable

from foreword.secrets.known_values import KnownValues


class StreamMask:
    """Passes a text on as it comes, its secrets hidden; an empty piece says that it begins
    again."""

    def __init__(self, secrets: KnownValues, tell: Callable[[str], None]) -> None:
        self._secrets = secrets
        self._tell = tell
        self._line = ""  # that is being written, as it came
        self._sent = ""  # what was passed on of it
        self.text = ""  # everything that was passed on

    def __call__(self, piece: str) -> None:
        """Take in a piece."""
        if not piece:
            self._line = ""
            self._sent = ""
            self.text = ""
            self._tell("")
            return
        self._line += piece
        *whole, self._line = self._line.split("\n")
        for line in whole:
            self._pass_on(self._secrets.text(f"{line}\n"))
            self._sent = ""
        # the last word may go on: half of a secret
        whole_words = self._line[: self._line.rfind(" ") + 1]
        self._pass_on(self._secrets.text(whole_words))

    def end(self) -> None:
        """Pass the last word on."""
        self._pass_on(self._secrets.text(self._line))
        self._line = ""
        self._sent = ""

    def _pass_on(self, line: str) -> None:
        """Send what a line has more than was sent of it. Where masking has changed what was sent,
        nothing goes out until the line ends."""
        if line.startswith(self._sent) and line != self._sent:
            new = line[len(self._sent) :]
            self._sent = line
            self.text += new
            self._tell(new)
