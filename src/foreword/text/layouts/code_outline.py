"""An outline of code under way, in whichever language: its lines, and those that are in a piece."""

from __future__ import annotations

from dataclasses import dataclass

from foreword.text.pieces import LayoutBuilder


@dataclass(slots=True)
class CodeOutline:
    """All lines up to `done` are in a piece of the builder."""

    rows: list[str]
    builder: LayoutBuilder
    done: int = 0

    def take(self, last: int) -> str:
        """The lines that are in no piece yet, up to a line number."""
        text = "".join(self.rows[self.done : last])
        self.done = max(self.done, last)
        return text
