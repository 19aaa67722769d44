"""What a request brings besides its recipe, and what reading its sections came to.

Values only: `readers` and `file_sections` fill a `ReadingResult`, `tiers` brings its sections into
order, and `assemble` hands it to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from foreword.section import Absent, Section
from foreword.sources import commands
from foreword.sources.files import Skip
from foreword.sources.items import Item
from foreword.text.quantity import quantity
from foreword.tokens import Counter

SOURCE = "source"  # in place of a tag: what the user brought
SourceArgument = str | Mapping[str, object] | Sequence[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a request brings besides the recipe."""

    root: Path
    task: str | Path | None = None  # a file, or words
    step: str | None = None  # the folder of a step, or its file
    instructions: str = ""
    # a path, `-` for standard input, or the data itself
    source: SourceArgument | None = None
    policy: commands.Policy = field(default_factory=commands.Policy)
    carried: tuple[Item, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)  # for blanks, in place of what is found
    # what is planned for the room there will be, before anything is fitted: a code base
    budget_tokens: int = 0
    counter: Counter | None = None
    progress: Callable[[int, int], None] | None = None  # how many of how many files are read


@dataclass(slots=True, kw_only=True)
class ReadingResult:
    """What was read, and what a report should say about it."""

    sections: list[Section] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # what was left out since there is too much of it: these notes come before all others
    limit_notes: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    # of the context as a whole, for the last line of the bill
    shortcomings: list[str] = field(default_factory=list)
    query: str = ""  # what relevance is measured against

    def add_left_out(self, skips: Sequence[Skip]) -> None:
        """Record what is in the source and was not read."""
        for skip in skips:
            self.add_absent(SOURCE, source=skip.path, reason=skip.reason)
        if skips:
            left_out = quantity(len(skips), "file or folder", plural="files or folders")
            verb = "is" if len(skips) == 1 else "are"
            self.shortcomings.append(f"{left_out} of the source {verb} not in")

    def add_absent(self, tag: str, source: str, reason: str) -> None:
        """Record that a section had nothing to read at `source`."""
        self.absent.append(Absent(tag, source=source, reason=reason))
