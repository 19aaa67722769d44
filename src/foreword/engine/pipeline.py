"""Sections in, package out: fit, write, count, and only then believe it.

Pure. Reading the sections from a project is the business of `context`. The one loop here is the
guard behind the promise that a package is never over its budget: what `fit` added up is measured
again as written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from foreword.engine.fit import fit
from foreword.engine.outline import Outline, outline_of
from foreword.engine.package import Package
from foreword.engine.render import GAP, Scale, pieces_of, scale_for, total_units
from foreword.engine.report import Report
from foreword.section import Absent, Budget, Section, Tiers, handle_of
from foreword.text.omission_mark import missing_mark
from foreword.text.quantity import quantity
from foreword.tokens import Counter

# Sections that are gone are named in the note up to this many, and only counted beyond it. Room for
# the longest note is set aside before anything is handed out, so every name here is taken from the
# sections that stay.
MOST_NAMED = 3
SHORT_NAME = 32  # characters of a name in the note: the end of most paths, and three make one line
COSTLY_HANDLE = "fw_b7e1d9f3a8c6e2"  # about as many tokens as a handle can have


@dataclass(frozen=True, slots=True, kw_only=True)
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
    shortcomings: tuple[str, ...] = ()


def assemble(sections: Sequence[Section], request: Request) -> Package:
    """The package for these sections: never over the budget, or an error."""
    outline = outline_of(sections)
    scale = scale_for(outline, request.counter, request.task, request.tags)
    longest_note = _longest_note(sections, outline)
    over = 0
    while True:
        choices = fit(
            sections,
            outline,
            budget_tokens=request.budget.tokens,
            scale=scale,
            tiers=request.tiers,
            note=longest_note,
            spare_tokens=over,
        )
        present = choices.keys() | outline.silent
        missing = [section for index, section in enumerate(sections) if index not in present]
        listing = "".join([section.label for section in missing])
        notes = _notes_on(missing, listing, scale) if missing else []
        written = pieces_of(choices[index] for index in sorted(choices))
        note, total = _note_that_fits(written, notes, request)
        if total <= request.budget.tokens:
            break
        over += total - request.budget.tokens
    report = Report(
        recipe=request.recipe,
        budget=request.budget,
        total_tokens=total,
        scale=scale,
        came_in=tuple(sections),
        decided=choices,
        absent=request.absent,
        notes=request.notes,
        profile=request.profile,
        tier_shares=request.tiers.shares,
        note=note,
        shortcomings=request.shortcomings,
    )
    return Package("".join([*written, note]), report, listing=listing)


def _note_that_fits(pieces: list[str], notes: list[str], request: Request) -> tuple[str, int]:
    """The first note that fits behind the pieces, or none, and the tokens of both."""
    counter = request.counter
    for note in notes:
        total = counter.tokens(total_units([*pieces, note], counter))
        if total <= request.budget.tokens:
            return note, total
    return "", counter.tokens(total_units(pieces, counter))


def _notes_on(missing: Sequence[Section], listing: str, scale: Scale) -> list[str]:
    """The last line of a text that some sections are missing from: by name where they are few,
    else, and where that is too long, by number."""
    gone = len(missing)
    list_handle = handle_of(listing.encode("utf-8", "surrogatepass"))
    counted = _note(quantity(gone, "section"), list_handle, verb="lists what")
    if gone > MOST_NAMED:
        return [counted]
    if gone == 1:
        return [_note(scale.safe(_short_name(missing[0])), missing[0].handle), counted]
    names = ", ".join([_short_name(section) for section in missing])
    return [_note(scale.safe(names), list_handle, verb="lists them"), counted]


def _longest_note(sections: Sequence[Section], outline: Outline) -> str:
    """The longest note that there is room for in any case."""
    what = quantity(len(outline.order), "section")
    if len(outline.order) <= MOST_NAMED * 4:  # else not worth looking at every name
        by_length = sorted((_short_name(sections[index]) for index in outline.order), key=len)
        what = ", ".join(by_length[-MOST_NAMED:])
    return _note(what, COSTLY_HANDLE, verb="lists them")


def _short_name(section: Section) -> str:
    name = section.name.rsplit("/", 1)[-1].split("\n", 1)[0]
    return name if len(name) <= SHORT_NAME else name[: SHORT_NAME - 3] + "..."


def _note(what: str, handle: str, verb: str = "") -> str:
    return f"{GAP}{missing_mark(what, handle, purpose=verb)}\n"
