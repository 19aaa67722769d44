"""What can be wrong with one document: its size, its marks, its sections and phases, what it refers
to.

Each check takes the index, the document and its text, and yields problems; `EACH` has them all.
What only shows between documents is in `tier_limits` and `project_files`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from foreword.errors import CyclicFlow
from foreword.lint.agent_files import front_matter_problems
from foreword.lint.document_index import LARGEST_CHARS, DocumentIndex
from foreword.lint.problem import Problem, error, shared_name, warning
from foreword.lint.repair import repairs
from foreword.pattern import lazy_pattern
from foreword.plan import artifact_names
from foreword.plan.flow import Flow, Phase, waves
from foreword.recipe.schema import Limit
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.references import Reference, find_reference, references_in
from foreword.text import lines, marks, parts
from foreword.text.marks import Mark
from foreword.text.parts import PERSONA_HEADER, Part

Check = Callable[[DocumentIndex, Document, str], Iterator[Problem]]

# That are looked into for circles: real workflows have a dozen, and a file that was made to be slow
# has thousands.
MOST_PHASES = 500

_ARTICLE = {"instructions": "instructions.md", "guidance": "a file of instructions/"}
_NUMBER = lazy_pattern(r"[0-9]+")


def document_problems(index: DocumentIndex, document: Document) -> Iterator[Problem]:
    """Everything that is wrong with one document alone."""
    file = index.file(document.path)
    if isinstance(file, files.Skip):
        if file.reason == "empty":
            yield warning(document.path, 1, code="empty-file", message=file.reason)
        else:
            yield error(document.path, 1, code="unreadable-file", message=file.reason)
        return
    for note in file.notes:
        yield warning(document.path, 1, code="not-utf8", message=note)
    if len(file.text) > LARGEST_CHARS:
        message = f"{index.counter.count(file.text):,} tokens: not looked into"
        yield error(document.path, 1, code="too-large", message=message)
        return
    for check in EACH:
        for problem in check(index, document, file.text):
            yield replace(problem, fixable=problem.fixable and not file.notes)


# --- size -----------------------------------------------------------------------------------------


def size(index: DocumentIndex, document: Document, text: str) -> Iterator[Problem]:
    """A document, or one of its phases, over the limit that the recipe sets for its kind."""
    limits = index.recipe.lint.limits
    if document.kind in limits:
        yield from _over_limit(
            document.path,
            limit=limits[document.kind],
            tokens=index.tokens(text),
            what=_ARTICLE.get(document.kind, f"a {document.kind}"),
        )
    for part in phases_of(document, text):
        yield from phase_size(index, document, part)


def phase_size(index: DocumentIndex, document: Document, part: Part) -> Iterator[Problem]:
    """A phase over the limit for phases."""
    limit = index.recipe.lint.limits.get("phase")
    if limit is not None:
        yield from _over_limit(
            document.path,
            line=part.line,
            limit=limit,
            tokens=index.tokens(part.text),
            what="a phase",
            start=f"phase {part.name}: ",
        )


def _over_limit(
    path: str, *, limit: Limit, tokens: int, what: str, line: int = 1, start: str = ""
) -> Iterator[Problem]:
    message = f"{start}{tokens:,} tokens, {what} may have {limit.tokens:,}"
    if limit.error is not None and tokens > limit.error:
        message += f", and from {limit.error:,} it is an error"
        yield error(path, line, code="too-large", message=message)
    elif tokens > limit.tokens:
        yield warning(path, line, code="too-large", message=message)


def phases_of(document: Document, text: str) -> Sequence[Part]:
    """The phases of a workflow, and of other documents those that are marked as such."""
    if document.kind != "workflow" and not _has_phase_marks(text):
        return ()
    return parts.phases(text)


def _has_phase_marks(text: str) -> bool:
    return any(mark.kind == "PHASE" for mark in marks.marks(text))


# --- marks and structure --------------------------------------------------------------------------


def mark_problems(index: DocumentIndex, document: Document, text: str) -> Iterator[Problem]:
    """Marks that are unclosed, nested, repeated, unopened, unnamed, misspelt or untidy."""
    possible_repairs = repairs(text)
    fixable = {(repair.at, repair.code) for repair in possible_repairs}
    label = _label(document, text)
    for problem in marks.problems(text):
        if label is not None and problem.start == label.start:
            continue
        yield Problem(
            file=document.path,
            line=problem.line,
            code=problem.code,
            severity="error",
            message=problem.message,
            fixable=(problem.start, problem.code) in fixable,
        )
    for repair in possible_repairs:
        if repair.code == "untidy-marker":
            yield Problem(
                file=document.path,
                line=repair.line,
                code=repair.code,
                severity="warning",
                message=f"write {repair.right}",
                fixable=True,
            )


def _label(document: Document, text: str) -> Mark | None:
    """The one mark of a guidance that says for which kind of work the file is, as in
    `<!-- PHASE:code -->`: it sets nothing apart, so it need not close."""
    if document.kind != "guidance":
        return None
    found = [mark for mark in marks.marks(text) if mark.kind == "PHASE"]
    is_label = len(found) == 1 and found[0].opens and not _NUMBER.match(found[0].name)
    return found[0] if is_label else None


def sections(index: DocumentIndex, document: Document, text: str) -> Iterator[Problem]:
    """A persona without what its header is made of."""
    if document.kind != "persona":
        return
    titles = set[str]()
    for _, row, in_code in marks.rows(text):
        if row[0] == "#" and not in_code:
            titles.add(row.strip("#*_: \t\r\n").casefold())
    missing = [f"`## {title}`" for title in PERSONA_HEADER if title.casefold() not in titles]
    if missing:
        both = len(missing) == len(PERSONA_HEADER)
        instead = "its header is its opening" if both else "its header has only the other"
        if both and parts.in_tier(text, 1):
            instead = "its header is what is marked TIER_1"
        yield warning(
            document.path,
            1,
            code="missing-section",
            message=f"no {' and no '.join(missing)}: {instead}",
        )


def phases(index: DocumentIndex, document: Document, text: str) -> Iterator[Problem]:
    """A workflow without phases, with a gap between them, with one twice, or with some that wait
    in vain."""
    if document.kind != "workflow":
        return
    found = parts.phases(text)
    if not found:
        message = "no phases: mark them with <!-- PHASE:1 --> or `## Phase 1: Name` headings"
        yield error(document.path, 1, code="no-phases", message=message)
    yield from _gaps(document, found)
    if not _has_phase_marks(text):  # a mark that is there twice is a problem of marks
        yield from _repeated_phases(document, found)
    yield from _waits(document, {part.name: part for part in found})
    yield from _handovers(document, text, found)


def _handovers(document: Document, text: str, found: Sequence[Part]) -> Iterator[Problem]:
    """Artifacts that two phases hand on, and phases that name none where the others do."""
    texts = {part.name: part.text for part in found}
    line_of = {part.name: part.line for part in found}
    for phase, artifact in artifact_names.repeated_artifacts(texts):
        message = f"phase {phase} hands on [{artifact}], as an earlier one does"
        yield error(document.path, line_of[phase], code="repeated-artifact", message=message)
    handed = artifact_names.handovers(texts, parts.before_phases(text))
    if not any(one.gives for one in handed.values()):
        return  # every answer goes on under its phase
    for phase, one in handed.items():
        if not one.gives:
            message = f"phase {phase} names no artifact: its answer goes on as [phase {phase}]"
            yield warning(document.path, line_of[phase], code="unnamed-artifact", message=message)
    given: set[str] = set()
    for one in handed.values():
        given.update((one.gives, *one.also))
    for phase, name in artifact_names.missing_artifacts(texts, given):
        message = f"phase {phase} takes [{name}], which no phase hands on"
        yield warning(document.path, line_of[phase], code="artifact-never-given", message=message)


def _repeated_phases(document: Document, found: Sequence[Part]) -> Iterator[Problem]:
    first_lines = dict[str, int]()
    for part in found:
        if part.name in first_lines:
            message = f"phase {part.name} is there twice, first on line {first_lines[part.name]}"
            yield error(document.path, part.line, code="repeated-phase", message=message)
        first_lines.setdefault(part.name, part.line)


def _waits(document: Document, known: Mapping[str, Part]) -> Iterator[Problem]:
    """Phases that wait for one that is not there, or for each other."""
    flow = list[Phase]()
    for name, part in known.items():
        awaited = list[str]()
        for other in part.after or ():
            if other in known:
                awaited.append(other)
            else:
                message = f"phase {part.name} waits for {other}, which is not there"
                yield error(document.path, part.line, code="unknown-phase", message=message)
        flow.append(Phase(name=name, title=part.title, after=tuple(awaited)))
    try:
        if 0 < len(flow) <= MOST_PHASES:
            waves(Flow(document.name, document.path, tuple(flow)))
    except CyclicFlow as circle:
        message = f"phases wait for each other: {' -> '.join(circle.cycle)}"
        yield error(
            document.path, known[circle.cycle[0]].line, code="cyclic-phases", message=message
        )


def _gaps(document: Document, found: Sequence[Part]) -> Iterator[Problem]:
    """Numbers that are missing in a row, reported at the phase behind the gap."""
    lines_by_number = dict[int, int]()
    for part in found:
        digits = _NUMBER.match(part.name)
        if digits:
            lines_by_number.setdefault(int(digits[0]), part.line)
    before = 0
    for number in sorted(lines_by_number):
        if number > before + 1:
            missing = f"{before + 1}" if number == before + 2 else f"{before + 1} to {number - 1}"
            message = f"phase {number} follows {before or 'nothing'}: no {missing}"
            yield warning(
                document.path, lines_by_number[number], code="missing-phase", message=message
            )
        before = number


# --- references -----------------------------------------------------------------------------------


def references(index: DocumentIndex, document: Document, text: str) -> Iterator[Problem]:
    """Files that are not there: an error where the loader follows the line, else a warning, once
    for each file."""
    starts = lines.starts(text)
    reported = set[str]()
    for named in references_in(text):
        name = named.name if named.is_path else f"{named.kind} {named.name!r}"
        if name in reported and not named.is_directive:
            continue
        shared = index.namesake_paths(named.name, named.kind, document.path) if named.kind else ()
        if shared:
            reported.add(name)
            line = bisect_right(starts, named.at)
            yield shared_name(document.path, line, named.name, shared)
            continue
        if not _is_in_vain(index, document, named, text):
            continue
        reported.add(name)
        problem = error if named.is_directive else warning
        message = f"there is no {name}{_suggestion(index, named.name)}"
        yield problem(document.path, bisect_right(starts, named.at), "dangling-reference", message)


def _is_in_vain(index: DocumentIndex, document: Document, named: Reference, text: str) -> bool:
    """Whether something is named that is not there, and that a reader or the loader would look
    for."""
    if find_reference(index.find, named, document.path):
        return False
    if named.is_path and index.is_there(named.name, document.path):
        return False
    if named.is_directive:
        return True
    if not named.is_path:  # behind a label that may as well begin a sentence
        return document.kind == "workflow" and " " not in named.name
    is_link = text[named.at] != "`"
    return is_link or ("/" in named.name and index.could_be_document(named.name, document.path))


def _suggestion(index: DocumentIndex, name: str) -> str:
    if "/" not in name:
        return ""
    others = [other.path for other in index.namesakes(name)][:2]
    return f", did you mean {' or '.join(others)}?" if others else ""


EACH: tuple[Check, ...] = (
    size,
    front_matter_problems,
    mark_problems,
    sections,
    phases,
    references,
)
