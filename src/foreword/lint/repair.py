"""Repair what can be repaired without a doubt and without touching a word: white space in marks,
and the closing mark that a phase lacks.

`repairs` is pure and says what would be done; it proves itself by reading the repaired text again.
`fix` writes: whole or not at all, with the line ends, the BOM and the permissions that were there.
"""

from __future__ import annotations

import codecs
import contextlib
import itertools
import os
import re
import stat
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from foreword.pattern import lazy_pattern
from foreword.sources import files
from foreword.text import lines, markdown, marks
from foreword.text.marks import Mark

_UNTIDY = lazy_pattern(
    r"<!--[ \t]*+(?P<start>/?[A-Za-z]+)(?P<colon>[ \t]*+:[ \t]*+)?(?P<rest>.*?)[ \t]*+-->",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One change: the text between `start` and `end` becomes `right`; `at` is where the mark in
    question starts."""

    at: int
    line: int
    code: str
    start: int
    end: int
    right: str


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What was done to a file, or why nothing was."""

    file: str
    repairs: tuple[Repair, ...] = ()
    refused: str = ""


def repairs(text: str) -> tuple[Repair, ...]:
    """What can be repaired, in order; nothing where the repaired text would not read as it
    should."""
    if "<!--" not in text:
        return ()
    found = marks.marks(text)
    planned = [*_tidy_repairs(text, found), *_closing_repairs(text, found)]
    planned.sort(key=lambda repair: (repair.start, repair.at))
    return tuple(planned) if planned and _is_better(text, planned) else ()


def apply_repairs(text: str, planned: Sequence[Repair]) -> str:
    """The text with the repairs made."""
    pieces = list[str]()
    at = 0
    for repair in planned:
        pieces += [text[at : repair.start], repair.right]
        at = repair.end
    return "".join([*pieces, text[at:]])


def _is_better(text: str, planned: Sequence[Repair]) -> bool:
    """Whether the repaired text has the old problems but for the repaired ones, and no new ones."""
    before = Counter(problem.code for problem in marks.problems(text))
    after = Counter(problem.code for problem in marks.problems(apply_repairs(text, planned)))
    return after == before - Counter(repair.code for repair in planned)


# --- white space ----------------------------------------------------------------------------------


def _tidy_repairs(text: str, found: Sequence[Mark]) -> Iterator[Repair]:
    for mark in found:
        written = text[mark.start : mark.end]
        tidy = _tidy(mark, written)
        if tidy != written:
            yield Repair(
                at=mark.start,
                line=mark.line,
                code="untidy-marker",
                start=mark.start,
                end=mark.end,
                right=tidy,
            )


def _tidy(mark: Mark, written: str) -> str:
    """`<!--PHASE: 1-->` as `<!-- PHASE:1 -->`; the reason of an anchor keeps its own space."""
    match = _UNTIDY.fullmatch(written)
    if match is None or mark.kind != "PHASE":
        return f"<!-- {written.removeprefix('<!--').removesuffix('-->').strip()} -->"
    colon = ":" if match["colon"] else ""
    return f"<!-- {match['start']}{colon}{match['rest']} -->"


# --- closing marks --------------------------------------------------------------------------------


def _closing_repairs(text: str, found: Sequence[Mark]) -> Iterator[Repair]:
    """The closing marks that are missing, where only one place is possible: before the next
    phase, or at the end."""
    phases = [mark for mark in found if mark.kind == "PHASE"]
    problems: dict[int, set[str]] = {}
    for problem in marks.problems(text):
        problems.setdefault(problem.start, set()).add(problem.code)
    for mark, following in itertools.zip_longest(phases, phases[1:]):
        if problems.get(mark.start) != {"unclosed-marker"} or not mark.alone:
            continue
        if following is None:
            place = _text_end(text, mark)
        else:
            place = _line_start(text, following) if following.opens else None
        if place is not None:
            yield _closing_mark(text, mark, place)


def _line_start(text: str, mark: Mark) -> int | None:
    """Where the line of a mark begins, if the mark stands alone on it."""
    if not mark.alone:
        return None
    return max(text.rfind("\n", 0, mark.start), text.rfind("\r", 0, mark.start)) + 1


def _text_end(text: str, mark: Mark) -> int | None:
    """The end of the text, where the section that the mark opens, or stands in, reaches so far;
    else None."""
    section = _section_of(markdown.headings(text), text, mark)
    return len(text) if section is None or section.end == len(text) else None


def _section_of(
    headings: Sequence[markdown.Heading], text: str, mark: Mark
) -> markdown.Heading | None:
    """The heading right behind a mark, else the last one before it whose section it stands in."""
    at = bisect_right(headings, mark.start, key=lambda heading: heading.start)
    if at < len(headings) and not text[mark.end : headings[at].start].strip():
        return headings[at]
    for heading in reversed(headings[:at]):
        if heading.end > mark.start:
            return heading
    return None


def _closing_mark(text: str, mark: Mark, place: int) -> Repair:
    ending = lines.first_break(text) or "\n"
    before = "" if text[:place].endswith(("\n", "\r")) else ending
    written = text[mark.start : mark.end]
    kind = "phase" if "phase" in written else "PHASE"
    right = f"{before}<!-- /{kind}:{mark.name} -->{ending}"
    return Repair(
        at=mark.start, line=mark.line, code="unclosed-marker", start=place, end=place, right=right
    )


# --- writing --------------------------------------------------------------------------------------


def fix(root: Path, path: str, *, is_panel: bool = False) -> RepairResult:
    """Repair one file under the root; it is replaced whole, and not at all where there is
    nothing to repair. A panel in another form gets its front matter, too."""
    file = files.read(root, path)
    if isinstance(file, files.Skip):
        return RepairResult(path, refused=file.reason)
    if file.notes:
        return RepairResult(path, refused="not UTF-8")
    planned = repairs(file.text)
    if is_panel:
        from foreword.lint.panel_form import panel_repair

        naming = panel_repair(file.text)
        planned = (naming, *planned) if naming else planned
    if not planned:
        return RepairResult(path)
    real = (root.resolve() / path).resolve()
    if not real.is_relative_to(root.resolve()):
        return RepairResult(path, refused="outside the root")
    mark = codecs.BOM_UTF8 if file.raw.startswith(codecs.BOM_UTF8) else b""
    try:
        _replace(real, mark + apply_repairs(file.text, planned).encode("utf-8"))
    except OSError as problem:
        return RepairResult(path, refused=problem.strerror or str(problem))
    return RepairResult(path, planned)


def _replace(path: Path, raw: bytes) -> None:
    """Put new bytes in the place of a file, all at once."""
    state = path.stat()
    if not state.st_mode & stat.S_IWUSR:
        raise PermissionError(0, "read-only")
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            with contextlib.suppress(PermissionError):
                os.fchown(out.fileno(), state.st_uid, state.st_gid)
            os.fchmod(out.fileno(), stat.S_IMODE(state.st_mode))
            out.write(raw)
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
