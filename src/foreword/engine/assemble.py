"""Sections in, package out: fit, write, count, and only then believe it.

Pure. Reading the sections from a project is the runtime's business. The one loop here is the guard behind the
promise that a package is never over its budget: what `fit` added up is measured again as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from foreword.engine.fit import fit
from foreword.engine.outline import Memory
from foreword.engine.package import Package
from foreword.engine.render import GAP, pieces_of, scale_for, total_units
from foreword.engine.report import Check, Report
from foreword.model import Absent, Budget, Section, Tiers, handle_of
from foreword.tokens import Counter

COSTLY_HANDLE = "fw_b7e1d9f3a8c6e2"  # about as many tokens as a handle can have


@dataclass(frozen=True, slots=True)
class Request:
    """All that `assemble` needs to know besides the sections."""

    budget: Budget
    counter: Counter
    recipe: str = ""
    task: str = ""
    tiers: Tiers = field(default_factory=Tiers)
    tags: tuple[str, ...] = ()  # every tag of the recipe, present or not: none can be forged
    absent: tuple[Absent, ...] = ()
    notes: tuple[str, ...] = ()
    profile: dict[str, str] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()


def assemble(sections: Sequence[Section], request: Request, memory: Memory | None = None) -> Package:
    """The package for these sections: never over the budget, or an error.

    With the same `memory` from call to call, what has not changed is not worked out again.
    """
    memory = memory if memory is not None else Memory()
    outline = memory.look_at(sections)
    scale = scale_for(outline, request.counter, request.task, request.tags)
    longest_note, over = _note(len(sections), COSTLY_HANDLE), 0
    while True:
        decided = fit(sections, outline, request.budget.tokens, scale, request.tiers, longest_note, over)
        present = decided.keys() | outline.silent
        listing = memory.listing(present) if len(present) < len(sections) else ""
        gone = len(sections) - len(present)
        note = _note(gone, handle_of(listing.encode("utf-8", "surrogatepass"))) if gone else ""
        written = pieces_of(decided[index] for index in sorted(decided))
        pieces, total = _with_note(written, note, request)
        if total <= request.budget.tokens:
            break
        over += total - request.budget.tokens
    report = Report(
        request.recipe, request.budget, total, scale, tuple(sections), decided, request.absent, request.notes,
        request.profile, request.checks, request.tiers.shares, note if len(pieces) > len(written) else "",
    )  # fmt: skip
    return Package("".join(pieces), report, listing)


def _with_note(pieces: list[str], note: str, request: Request) -> tuple[list[str], int]:
    """The pieces with the note behind them, if both fit, and their tokens."""
    for candidate in ([*pieces, note], pieces) if note else (pieces,):
        total = request.counter.tokens(total_units(candidate, request.counter))
        if total <= request.budget.tokens:
            break
    return candidate, total


def _note(gone: int, handle: str) -> str:
    """The last line of a text that some sections are missing from."""
    what = "1 section" if gone == 1 else f"{gone:,} sections"
    return f"{GAP}[{what} left out: foreword recall {handle} lists what]\n"
