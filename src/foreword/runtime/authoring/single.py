"""What can be wrong with one document: its size, its marks, its sections and phases, what it refers to.

Each check takes the reading, the document and its text, and yields problems; `EACH` has them all. What only shows
between documents is in `across`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from foreword.errors import CyclicFlow
from foreword.recipe.schema import Limit
from foreword.runtime.authoring.problem import Problem, error, warning
from foreword.runtime.authoring.reading import LARGEST_CHARS, Reading
from foreword.runtime.authoring.repair import repairs
from foreword.sources import documents, files
from foreword.sources.documents import Document
from foreword.text import lines, markers
from foreword.text.markers import PERSONA_HEADER, Part
from foreword.workflow.flow import Flow, Phase, waves

Check = Callable[[Reading, Document, str], Iterator[Problem]]

MOST_PHASES = 500  # that are looked into for circles

_ARTICLE = {"instructions": "instructions.md", "guidance": "a file of instructions/"}
_NUMBER = re.compile(r"[0-9]+")
_FOLLOWED = re.compile(
    r"[ \t>*_-]*(?:adopt|invoke)[ \t]+(?P<kind>persona|prompt|panel)s?[*_]*[ \t]*:[*_ \t]*(?P<rest>[^\r\n]*)",
    re.IGNORECASE,
)
_NOTHING = ("", "none", "n/a", "-", "—")


def document(reading: Reading, one: Document) -> Iterator[Problem]:
    """Everything that is wrong with one document alone."""
    file = reading.file(one.path)
    if isinstance(file, files.Skip):
        how = warning if file.reason == "empty" else error
        yield how(one.path, 1, "empty-file" if file.reason == "empty" else "unreadable-file", file.reason)
        return
    for note in file.notes:
        yield warning(one.path, 1, "not-utf8", note)
    if len(file.text) > LARGEST_CHARS:
        yield error(one.path, 1, "too-large", f"{reading.counter.count(file.text):,} tokens: not looked into")
        return
    for check in EACH:
        for problem in check(reading, one, file.text):
            yield replace(problem, fixable=problem.fixable and not file.notes)


# --- size ------------------------------------------------------------------------------------------------------


def size(reading: Reading, one: Document, text: str) -> Iterator[Problem]:
    """A document, or one of its phases, over the limit that the recipe sets for its kind."""
    limits = reading.recipe.lint.limits
    if one.kind in limits:
        yield from _over(limits[one.kind], reading.tokens(text), one, 1, _ARTICLE.get(one.kind, f"a {one.kind}"))
    if "phase" in limits:
        for part in phases_of(one, text):
            yield from _over(
                limits["phase"], reading.tokens(part.text), one, part.line, "a phase", f"phase {part.name}: "
            )


def _over(limit: Limit, tokens: int, one: Document, line: int, what: str, start: str = "") -> Iterator[Problem]:
    if limit.error is not None and tokens > limit.error:
        message = f"{start}{tokens:,} tokens, {what} may have {limit.tokens:,}, and from {limit.error:,} it is an error"
        yield error(one.path, line, "too-large", message)
    elif tokens > limit.tokens:
        yield warning(one.path, line, "too-large", f"{start}{tokens:,} tokens, {what} may have {limit.tokens:,}")


def phases_of(one: Document, text: str) -> Sequence[Part]:
    """The phases of a workflow, and of other documents those that are marked as such."""
    if one.kind != "workflow" and not any(mark.kind == "PHASE" for mark in markers.marks(text)):
        return ()
    return markers.phases(text)


# --- marks and structure ---------------------------------------------------------------------------------------


def marks(reading: Reading, one: Document, text: str) -> Iterator[Problem]:
    """Marks that are unclosed, nested, repeated, unopened, unnamed, misspelt or untidy."""
    found = list(markers.problems(text))
    repaired = repairs(text)
    fixable = {(repair.at, repair.code) for repair in repaired}
    for problem in found:
        is_fixable = (problem.start, problem.code) in fixable
        yield Problem(one.path, problem.line, problem.code, "error", problem.message, is_fixable)
    for repair in repaired:
        if repair.code == "untidy-marker":
            yield Problem(one.path, repair.line, repair.code, "warning", f"write {repair.right}", True)


def sections(reading: Reading, one: Document, text: str) -> Iterator[Problem]:
    """A persona without what its header is made of."""
    if one.kind != "persona":
        return
    titles = {
        row.strip("#*_: \t\r\n").casefold() for _, row, in_code in markers.rows(text) if row[0] == "#" and not in_code
    }
    missing = [f"`## {title}`" for title in PERSONA_HEADER if title.casefold() not in titles]
    if missing:
        both = len(missing) == len(PERSONA_HEADER)
        instead = "its header is its opening" if both else "its header has only the other"
        if both and markers.in_tier(text, 1):
            instead = "its header is what is marked TIER_1"
        yield warning(one.path, 1, "missing-section", f"no {' and no '.join(missing)}: {instead}")


def phases(reading: Reading, one: Document, text: str) -> Iterator[Problem]:
    """A workflow without phases, with a gap between them, with one twice, or with some that wait in vain."""
    if one.kind != "workflow":
        return
    parts = markers.phases(text)
    if not parts:
        yield error(
            one.path, 1, "no-phases", "no phases: mark them with <!-- PHASE:1 --> or `## Phase 1: Name` headings"
        )
    yield from _gaps(one, parts)
    known, by_marks = dict[str, int](), any(mark.kind == "PHASE" for mark in markers.marks(text))
    for part in parts:
        if part.name in known and not by_marks:  # of marks it is told elsewhere
            message = f"phase {part.name} is there twice, first on line {known[part.name]}"
            yield error(one.path, part.line, "repeated-phase", message)
        known.setdefault(part.name, part.line)
    yield from _waits(one, {part.name: part for part in parts})


def _waits(one: Document, parts: Mapping[str, Part]) -> Iterator[Problem]:
    """Phases that wait for one that is not there, or for each other."""
    for part in parts.values():
        for name in part.after or ():
            if name not in parts:
                message = f"phase {part.name} waits for {name}, which is not there"
                yield error(one.path, part.line, "unknown-phase", message)
    known = [
        Phase(name, part.title, tuple(other for other in part.after or () if other in parts))
        for name, part in parts.items()
    ]
    try:
        if 0 < len(known) <= MOST_PHASES:
            waves(Flow(one.name, one.path, tuple(known)))
    except CyclicFlow as circle:
        message = f"phases wait for each other: {' -> '.join(circle.cycle)}"
        yield error(one.path, parts[circle.cycle[0]].line, "cyclic-phases", message)


def _gaps(one: Document, parts: Sequence[Part]) -> Iterator[Problem]:
    """Numbers that are missing in a row, told at the phase behind the gap."""
    places = {int(found[0]): part.line for part in reversed(parts) if (found := _NUMBER.match(part.name))}
    before = 0
    for number in sorted(places):
        if number > before + 1:
            gone = f"{before + 1}" if number == before + 2 else f"{before + 1} to {number - 1}"
            yield warning(
                one.path, places[number], "missing-phase", f"phase {number} follows {before or 'nothing'}: no {gone}"
            )
        before = number


# --- references ------------------------------------------------------------------------------------------------


def references(reading: Reading, one: Document, text: str) -> Iterator[Problem]:
    """Files that are not there: an error where the loader follows the line, else a warning, once for each file."""
    starts, told = lines.starts(text), set[str]()
    for at, row, in_code in markers.rows(text):
        if in_code or not ("`" in row or "](" in row or ":" in row):
            continue
        followed = _FOLLOWED.match(row)
        for name in _followed(reading, one, followed) if followed else _mentioned(reading, one, row):
            if name in told and not followed:
                continue
            told.add(name)
            message = f"there is no {name}{_instead(reading, name)}"
            how = error if followed else warning
            yield how(one.path, bisect_right(starts, at), "dangling-reference", message)


def _followed(reading: Reading, one: Document, found: re.Match[str]) -> Iterator[str]:
    """What a line such as `> **Adopt persona:** ...` names in vain."""
    kind, rest = found["kind"].lower(), found["rest"]
    paths = [path for _, path in documents.references(rest)]
    for name in paths or [part.strip(" \t`*_.") for part in rest.split(",")]:
        if name.lower() in _NOTHING or reading.meant(name, kind, one.path) or reading.meant(name, near=one.path):
            continue
        if name not in paths or not reading.is_there(name, one.path):
            yield name if name in paths else f"{kind} {name!r}"


def _mentioned(reading: Reading, one: Document, row: str) -> Iterator[str]:
    """The files that a line links to, and those it names in code where a document could be, if they are not there."""
    for at, path in documents.references(row):
        is_link = row[at] != "`"
        if not (is_link or "/" in path) or reading.is_there(path, one.path) or reading.meant(path, near=one.path):
            continue
        if is_link or reading.could_be_one(path, one.path):
            yield path


def _instead(reading: Reading, name: str) -> str:
    others = [other.path for other in reading.namesakes(name)][:2]
    return f", did you mean {' or '.join(others)}?" if others and "/" in name else ""


EACH: tuple[Check, ...] = (size, marks, sections, phases, references)
