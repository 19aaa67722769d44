"""The same paragraph in two files: it is paid for twice, and one day the two will differ.

One pass: paragraphs are compared by what they say, white space, case and list marks aside.
Neighbours that are repeated in the same files are told as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem, warning
from foreword.text import lines

KINDS = ("instructions", "guidance", "language", "persona", "prompt", "workflow")
FEWEST_WORDS = 25
MOST_PLACES = 3

_LEAD = re.compile(r"(?:[-*+>]|[0-9]{1,9}[.)])\s+")


@dataclass(frozen=True, slots=True)
class _Paragraph:
    file: str
    line: int
    said: str  # in small letters, one space between words


def repeats(reading: DocumentIndex) -> Iterator[Problem]:
    """Paragraphs that are in more than one file, each told once, at the first of them."""
    texts = {
        one.path: list(_paragraphs(one.path, reading.text(one.path)))
        for one in reading.authored
        if one.kind in KINDS
    }
    places = dict[str, dict[str, int]]()  # what is said -> file -> line
    for paragraphs in texts.values():
        for paragraph in paragraphs:
            places.setdefault(paragraph.said, {}).setdefault(paragraph.file, paragraph.line)
    for file, paragraphs in texts.items():
        for run in _runs(file, paragraphs, places):
            yield _told(run, places[run[0].said])


def _paragraphs(file: str, text: str) -> Iterator[_Paragraph]:
    starts = lines.starts(text)
    for kind, first, last, _ in lines.scan(text):
        if kind in ("paragraph", "item"):
            body = text[starts[first] : starts[last] if last < len(starts) else len(text)]
            words = _LEAD.sub("", body.strip(), count=1).casefold().split()
            if len(words) >= FEWEST_WORDS:
                yield _Paragraph(file, first + 1, " ".join(words))


def _runs(
    file: str, paragraphs: Sequence[_Paragraph], places: dict[str, dict[str, int]]
) -> Iterator[list[_Paragraph]]:
    """Paragraphs of a file, one behind the other, that the same other files have too; only where
    it is the first."""
    run, others, seen = list[_Paragraph](), tuple[str, ...](), set[str]()
    for paragraph in paragraphs:
        files = tuple(places[paragraph.said])
        is_first = len(files) > 1 and files[0] == file and paragraph.said not in seen
        seen.add(paragraph.said)
        if run and not (is_first and files == others):
            yield run
            run = []
        if is_first:
            run, others = [*run, paragraph], files
    if run:
        yield run


def _told(run: Sequence[_Paragraph], places: dict[str, int]) -> Problem:
    first = run[0]
    elsewhere = [f"{file}:{line}" for file, line in places.items() if file != first.file]
    more = f" and {len(elsewhere) - MOST_PLACES} more" if len(elsewhere) > MOST_PLACES else ""
    words = sum(len(paragraph.said.split()) for paragraph in run)
    what = (
        f"{len(run)} paragraphs ({words} words) are"
        if len(run) > 1
        else f"a paragraph of {words} words is"
    )
    message = f"{what} also in {', '.join(elsewhere[:MOST_PLACES])}{more}"
    return warning(first.file, first.line, "repeated-paragraph", message)
