"""The same paragraph in two files: it is paid for twice, and one day the two will differ.

One pass: paragraphs are compared by what they say, white space, case and list marks aside.
Neighbours that are repeated in the same files are one problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem, warning
from foreword.pattern import lazy_pattern
from foreword.text import lines

KINDS = ("instructions", "guidance", "language", "persona", "prompt", "workflow")
# Of a paragraph that counts: two or three lines. Shorter ones are headings, commands and phrases
# that are the same in many files for good reasons.
FEWEST_WORDS = 25
MOST_PLACES = 3  # of the other files, in a message of one line

_LEAD = lazy_pattern(r"(?:[-*+>]|[0-9]{1,9}[.)])\s+")


@dataclass(frozen=True, slots=True)
class _Paragraph:
    file: str
    line: int
    words: str  # in small letters, one space between words


def repeats(index: DocumentIndex) -> Iterator[Problem]:
    """Paragraphs that are in more than one file, each reported once, at the first of them."""
    texts = dict[str, list[_Paragraph]]()
    for document in index.authored_documents:
        if document.kind in KINDS:
            texts[document.path] = list(_paragraphs(document.path, index.text(document.path)))
    places = dict[str, dict[str, int]]()  # by words: the line in each file
    for paragraphs in texts.values():
        for paragraph in paragraphs:
            places.setdefault(paragraph.words, {}).setdefault(paragraph.file, paragraph.line)
    for file, paragraphs in texts.items():
        for run in _runs(file, paragraphs, places):
            yield _problem(run, places[run[0].words])


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
    run = list[_Paragraph]()
    run_files = list[str]()
    before = set[str]()
    for paragraph in paragraphs:
        files = list(places[paragraph.words])
        is_first = len(files) > 1 and files[0] == file and paragraph.words not in before
        before.add(paragraph.words)
        if run and not (is_first and files == run_files):
            yield run
            run = []
        if is_first:
            run = [*run, paragraph]
            run_files = files
    if run:
        yield run


def _problem(run: Sequence[_Paragraph], places: dict[str, int]) -> Problem:
    first = run[0]
    words = sum(len(paragraph.words.split()) for paragraph in run)
    message = f"a paragraph of {words} words is"
    if len(run) > 1:
        message = f"{len(run)} paragraphs ({words} words) are"
    elsewhere = [f"{file}:{line}" for file, line in places.items() if file != first.file]
    message += f" also in {', '.join(elsewhere[:MOST_PLACES])}"
    if len(elsewhere) > MOST_PLACES:
        message += f" and {len(elsewhere) - MOST_PLACES} more"
    return warning(first.file, first.line, code="repeated-paragraph", message=message)
