"""What can be wrong with one document: its size, its marks, its sections and phases, what it refers
to.

Each check takes the reading, the document and its text, and yields problems; `EACH` has them all.
What only shows between documents is in `across`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from foreword.errors import CyclicFlow
from foreword.lint.document_index import LARGEST_CHARS, DocumentIndex
from foreword.lint.problem import Problem, error, warning
from foreword.lint.repair import repairs
from foreword.plan.flow import Flow, Phase, waves
from foreword.recipe.schema import Limit
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.references import Reference, find_reference, references_in
from foreword.text import lines, marks, parts
from foreword.text.parts import PERSONA_HEADER, Part

Check = Callable[[DocumentIndex, Document, str], Iterator[Problem]]

MOST_PHASES = 500  # that are looked into for circles

_ARTICLE = {"instructions": "instructions.md", "guidance": "a file of instructions/"}
_NUMBER = re.compile(r"[0-9]+")


def document(reading: DocumentIndex, one: Document) -> Iterator[Problem]:
    """Everything that is wrong with one document alone."""
    file = reading.file(one.path)
    if isinstance(file, files.Skip):
        how = warning if file.reason == "empty" else error
        yield how(
            one.path, 1, "empty-file" if file.reason == "empty" else "unreadable-file", file.reason
        )
        return
    for note in file.notes:
        yield warning(one.path, 1, "not-utf8", note)
    if len(file.text) > LARGEST_CHARS:
        yield error(
            one.path,
            1,
            "too-large",
            f"{reading.counter.count(file.text):,} tokens: not looked into",
        )
        return
    for check in EACH:
        for problem in check(reading, one, file.text):
            yield replace(problem, fixable=problem.fixable and not file.notes)


# --- size -----------------------------------------------------------------------------------------


def size(reading: DocumentIndex, one: Document, text: str) -> Iterator[Problem]:
    """A document, or one of its phases, over the limit that the recipe sets for its kind."""
    limits = reading.recipe.lint.limits
    if one.kind in limits:
        yield from _over(
            limits[one.kind], reading.tokens(text), one, 1, _ARTICLE.get(one.kind, f"a {one.kind}")
        )
    for part in phases_of(one, text):
        yield from phase_size(reading, one, part)


def phase_size(reading: DocumentIndex, one: Document, part: Part) -> Iterator[Problem]:
    """A phase over the limit for phases."""
    limit = reading.recipe.lint.limits.get("phase")
    if limit is not None:
        yield from _over(
            limit, reading.tokens(part.text), one, part.line, "a phase", f"phase {part.name}: "
        )


def _over(
    limit: Limit, tokens: int, one: Document, line: int, what: str, start: str = ""
) -> Iterator[Problem]:
    if limit.error is not None and tokens > limit.error:
        message = (
            f"{start}{tokens:,} tokens, {what} may have {limit.tokens:,}, and from {limit.error:,}"
            " it is an error"
        )
        yield error(one.path, line, "too-large", message)
    elif tokens > limit.tokens:
        yield warning(
            one.path,
            line,
            "too-large",
            f"{start}{tokens:,} tokens, {what} may have {limit.tokens:,}",
        )


def phases_of(one: Document, text: str) -> Sequence[Part]:
    """The phases of a workflow, and of other documents those that are marked as such."""
    if one.kind != "workflow" and not any(mark.kind == "PHASE" for mark in marks.marks(text)):
        return ()
    return parts.phases(text)


# --- marks and structure --------------------------------------------------------------------------


def mark_problems(reading: DocumentIndex, one: Document, text: str) -> Iterator[Problem]:
    """Marks that are unclosed, nested, repeated, unopened, unnamed, misspelt or untidy."""
    found = list(marks.problems(text))
    repaired = repairs(text)
    fixable = {(repair.at, repair.code) for repair in repaired}
    for problem in found:
        is_fixable = (problem.start, problem.code) in fixable
        yield Problem(
            file=one.path,
            line=problem.line,
            code=problem.code,
            severity="error",
            message=problem.message,
            fixable=is_fixable,
        )
    for repair in repaired:
        if repair.code == "untidy-marker":
            yield Problem(
                file=one.path,
                line=repair.line,
                code=repair.code,
                severity="warning",
                message=f"write {repair.right}",
                fixable=True,
            )


def sections(reading: DocumentIndex, one: Document, text: str) -> Iterator[Problem]:
    """A persona without what its header is made of."""
    if one.kind != "persona":
        return
    titles = {
        row.strip("#*_: \t\r\n").casefold()
        for _, row, in_code in marks.rows(text)
        if row[0] == "#" and not in_code
    }
    missing = [f"`## {title}`" for title in PERSONA_HEADER if title.casefold() not in titles]
    if missing:
        both = len(missing) == len(PERSONA_HEADER)
        instead = "its header is its opening" if both else "its header has only the other"
        if both and parts.in_tier(text, 1):
            instead = "its header is what is marked TIER_1"
        yield warning(one.path, 1, "missing-section", f"no {' and no '.join(missing)}: {instead}")


def phases(reading: DocumentIndex, one: Document, text: str) -> Iterator[Problem]:
    """A workflow without phases, with a gap between them, with one twice, or with some that wait
    in vain."""
    if one.kind != "workflow":
        return
    found = parts.phases(text)
    if not found:
        yield error(
            one.path,
            1,
            "no-phases",
            "no phases: mark them with <!-- PHASE:1 --> or `## Phase 1: Name` headings",
        )
    yield from _gaps(one, found)
    known, by_marks = dict[str, int](), any(mark.kind == "PHASE" for mark in marks.marks(text))
    for part in found:
        if part.name in known and not by_marks:  # of marks it is told elsewhere
            message = f"phase {part.name} is there twice, first on line {known[part.name]}"
            yield error(one.path, part.line, "repeated-phase", message)
        known.setdefault(part.name, part.line)
    yield from _waits(one, {part.name: part for part in found})


def _waits(one: Document, known: Mapping[str, Part]) -> Iterator[Problem]:
    """Phases that wait for one that is not there, or for each other."""
    for part in known.values():
        for name in part.after or ():
            if name not in known:
                message = f"phase {part.name} waits for {name}, which is not there"
                yield error(one.path, part.line, "unknown-phase", message)
    flow = [
        Phase(
            name=name,
            title=part.title,
            after=tuple(other for other in part.after or () if other in known),
        )
        for name, part in known.items()
    ]
    try:
        if 0 < len(flow) <= MOST_PHASES:
            waves(Flow(one.name, one.path, tuple(flow)))
    except CyclicFlow as circle:
        message = f"phases wait for each other: {' -> '.join(circle.cycle)}"
        yield error(one.path, known[circle.cycle[0]].line, "cyclic-phases", message)


def _gaps(one: Document, found: Sequence[Part]) -> Iterator[Problem]:
    """Numbers that are missing in a row, told at the phase behind the gap."""
    places = {
        int(match[0]): part.line for part in reversed(found) if (match := _NUMBER.match(part.name))
    }
    before = 0
    for number in sorted(places):
        if number > before + 1:
            gone = f"{before + 1}" if number == before + 2 else f"{before + 1} to {number - 1}"
            yield warning(
                one.path,
                places[number],
                "missing-phase",
                f"phase {number} follows {before or 'nothing'}: no {gone}",
            )
        before = number


# --- references -----------------------------------------------------------------------------------


def references(reading: DocumentIndex, one: Document, text: str) -> Iterator[Problem]:
    """Files that are not there: an error where the loader follows the line, else a warning, once
    for each file."""
    starts, told = lines.starts(text), set[str]()
    for named in references_in(text):
        name = named.name if named.is_path else f"{named.kind} {named.name!r}"
        if (name in told and not named.is_directive) or not _is_in_vain(reading, one, named, text):
            continue
        told.add(name)
        how = error if named.is_directive else warning
        message = f"there is no {name}{_instead(reading, named.name)}"
        yield how(one.path, bisect_right(starts, named.at), "dangling-reference", message)


def _is_in_vain(reading: DocumentIndex, one: Document, named: Reference, text: str) -> bool:
    """Whether something is named that is not there, and that a reader or the loader would look
    for."""
    if find_reference(reading.meant, named, one.path) or (
        named.is_path and reading.is_there(named.name, one.path)
    ):
        return False
    if named.is_directive:
        return True
    if not named.is_path:  # behind a label that may as well begin a sentence
        return one.kind == "workflow" and " " not in named.name
    is_link = text[named.at] != "`"
    return is_link or ("/" in named.name and reading.could_be_one(named.name, one.path))


def _instead(reading: DocumentIndex, name: str) -> str:
    others = [other.path for other in reading.namesakes(name)][:2]
    return f", did you mean {' or '.join(others)}?" if others and "/" in name else ""


EACH: tuple[Check, ...] = (size, mark_problems, sections, phases, references)
