"""The documents of a project in the index, and those that a question is about.

A document is found by its parts, by what it is called and by its headings. What has not changed
since it was taken in is not read again: its size and its time say so.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from foreword.pattern import lazy_pattern
from foreword.relevance import Question
from foreword.search.entry_ranking import rank_texts, word_terms
from foreword.sources.documents import Document, name_of
from foreword.sources.files import File, Skip
from foreword.sources.front_matter import front_matter, without_front_matter
from foreword.sources.library import DOC
from foreword.store import search_index
from foreword.store.database import Database
from foreword.store.search_index import (
    DOCUMENT,
    HEADINGS,
    TITLE,
    IndexSource,
    NewPassage,
    passages_of,
)
from foreword.text import lines, marks

# Of a document's best part; of its best three, so that one which is all about it is before one that
# mentions it; of its title; and of its headings. Measured on 33 questions to eight real projects of
# 31 to 165 documents (8 of lookup-questions.tsv that have an answer there, 25 of ours): 30 first.
# Title 0.5 to 1 and headings 0.8 to 1 give 29 to 30, half of both 27, no title 25; parts of 2,000
# characters in place of 1,200 the same.
PART_WEIGHT = 1.0
SEVERAL_WEIGHT = 0.3
TITLE_WEIGHT = 0.8
HEADINGS_WEIGHT = 1.0
SEVERAL = 3
FORMAT = 3  # of what is kept of a document; one that was taken in otherwise is read again
LEAST_PROSE = 200  # characters: a shorter value of JSON is a name, a setting or a label
# Entries that are scored: what the index weighs least of more was never first.
MOST_PARTS = 120
MOST_TITLES = 60
_HEADING_TEXT = lazy_pattern(r"^#{1,3}[ \t]+(?P<text>[^\n]{1,200})", re.MULTILINE)
_HEADING = lazy_pattern(r"^(?=#{2,6}[ \t])", re.MULTILINE)
# As reStructuredText has them: a line of one sign below the words.
_UNDERLINED = lazy_pattern(
    r"^(?P<text>\w[^\n]{1,199})\n(?P<sign>[=~^*+#\"'`:.-])(?P=sign){2,}[ \t]*$", re.MULTILINE
)
_NOT_WORDS = lazy_pattern(r"[\W_]+")
Read = Callable[[Document], File | Skip]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentText:
    """A document as it is searched and shown."""

    text: str  # without its front matter
    described: str = ""  # in its front matter, by which it is found and which nobody reads
    raw: bytes | None = None  # where the text is the whole file


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDocument:
    """A document that a question is about."""

    document: Document | None  # nothing for one of the others, which has a name
    name: str
    score: float


def document_text(document: Document, file: File) -> DocumentText:
    """The text of a document and how its front matter describes it."""
    text = lines.with_newlines(file.text)
    is_markdown = document.path.endswith(".md")
    plain = marks.plain(without_front_matter(text)) if is_markdown else text
    description = front_matter(text)[0].get("description", "") if is_markdown else ""
    return DocumentText(
        text=plain,
        described=description if isinstance(description, str) else "",
        raw=file.raw if plain == text else None,
    )


def take_in(
    db: Database,
    root: Path,
    documents: Sequence[Document],
    read: Read,
    progress: Progress = lambda count: None,
) -> tuple[dict[IndexSource, Document], list[Skip]]:
    """Bring the index up to date with the documents of a project: what is new or changed is read,
    what is gone is forgotten. Returns each of them as it is in the index, and those that could not
    be read."""
    base = str(root.resolve())
    known = {source.name: source for source in _sources(db, base)}
    current = dict[IndexSource, Document]()
    new = list[tuple[Document, str]]()
    for document in documents:
        stamp = file_stamp(f"{base}/{document.path}")
        stamp = f"{stamp} {FORMAT}" if stamp else ""
        source = known.pop(f"{base}/{document.path}", None)
        if source is not None and source.stamp == stamp != "":
            current[source] = document
        else:
            new.append((document, stamp))
    gone = [name for name in known if not os.path.lexists(name)]
    unread = list[Skip]()
    if not new and not gone:
        return current, unread
    with db.transaction(f"foreword: search {base}"):
        search_index.drop(db, DOCUMENT, gone)
        for count, (document, stamp) in enumerate(new, 1):
            name = f"{base}/{document.path}"
            file = read(document)
            progress(count)
            if isinstance(file, Skip):
                unread.append(file)
                search_index.drop(db, DOCUMENT, [name])
                continue
            passages = document_passages(document, document_text(document, file))
            made = search_index.put(db, DOCUMENT, name, stamp=stamp, passages=passages)
            current[made] = document
    return current, unread


def file_stamp(path: str) -> str:
    """What a file's size and time are; nothing where it can't be told."""
    try:
        about = os.stat(path)  # noqa: PTH116 - thousands of paths, none of which is taken apart
    except OSError:
        return ""
    return f"{about.st_size} {about.st_mtime_ns}"


def document_passages(known: Document, document: DocumentText) -> list[NewPassage]:
    """What a document is found by; nothing for one that holds only what `foreword init` wrote, and
    for JSON without prose that no recipe names: those are settings and data."""
    path = known.path
    text = marks.OWN_BLOCK.sub("", document.text)
    is_json = path.endswith(".json")
    sections = _prose_in_json(text) if is_json else _sections(path, text)
    if not text.strip() or (is_json and not sections and known.kind == DOC):
        return []
    title = _title(path, document)
    headings = _headings(path, text)
    passages = [
        NewPassage(field=TITLE, text=title),
        NewPassage(field=HEADINGS, text="\n".join([title, *headings])),
    ]
    for section in sections or _sections(path, text):
        passages += [NewPassage(text=part) for part in passages_of(section) if part.strip()]
    return passages


def _is_underlined(path: str) -> bool:
    """Whether the headings of a document are underlined; in Markdown a line of dashes is a rule."""
    return path.endswith((".rst", ".rest", ".txt"))


def _headings(path: str, text: str) -> list[str]:
    pattern = _UNDERLINED if _is_underlined(path) else _HEADING_TEXT
    return [match["text"] for match in pattern.finditer(text)]


def _sections(path: str, text: str) -> list[str]:
    """A text in parts that begin with its headings."""
    if not _is_underlined(path):
        return _HEADING.split(text)
    starts = [match.start() for match in _UNDERLINED.finditer(text)]
    return [text[first:end] for first, end in pairwise([0, *starts, len(text)])]


def _prose_in_json(text: str) -> list[str]:
    """The texts of a JSON document that people wrote for reading, each with what stands beside it;
    nothing of one that is settings or data."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    found = list[str]()
    waiting = [value]
    is_prose = False
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            lines = [f"{key}: {each}" for key, each in one.items() if isinstance(each, str)]
            is_prose = is_prose or any(len(line) > LEAST_PROSE for line in lines)
            if lines:
                found.append("\n".join(lines) + "\n\n")
            waiting += reversed(one.values())
        elif isinstance(one, list):
            waiting += reversed(one)
    return found if is_prose else []


def _title(path: str, document: DocumentText) -> str:
    """What a document is called: its name, its folder where the name says nothing, its title."""
    place = PurePosixPath(path)
    title = next(iter(_headings(path, document.text)), "")
    folder = place.parent.name if place.stem.isupper() or name_of(path) != place.stem else ""
    name = _NOT_WORDS.sub(" ", f"{folder} {place.stem}")
    return f"{name}\n{title}\n{document.described}"


def _sources(db: Database, base: str) -> list[IndexSource]:
    """The documents of a project that were taken in."""
    return search_index.sources(db, DOCUMENT, below=f"{base}/")


def find(
    db: Database,
    documents: Mapping[IndexSource, Document],
    question: Question,
    others: Mapping[str, str],
) -> list[FoundDocument]:
    """The documents that have to do with a question, the best first. `others` are texts by name
    that are no files, found like documents."""
    among = list(documents)
    found = {source.id: document for source, document in documents.items()}
    added = dict[int, str]()  # the names of others, by numbers that no source has
    other_parts = list[tuple[int, str]]()
    for number, (name, text) in enumerate(others.items(), 1):
        added[-number] = name
        other_parts += [(-number, part) for part in passages_of(text)]
    names = [(number, _NOT_WORDS.sub(" ", name)) for number, name in added.items()]
    parts = _score_documents(db, question, DOCUMENT, among, other_parts, most=MOST_PARTS)
    titles = _score_documents(db, question, TITLE, among, names, most=MOST_TITLES)
    headings = _score_documents(db, question, HEADINGS, among, [], most=MOST_TITLES)
    total = dict[int, float]()
    for scores, weight in (
        (_sums(parts, 1), PART_WEIGHT),
        (_sums(parts, SEVERAL), SEVERAL_WEIGHT),
        (_sums(titles, 1), TITLE_WEIGHT),
        (_sums(headings, 1), HEADINGS_WEIGHT),
    ):
        highest = max(scores.values(), default=0) or 1
        for number, score in scores.items():
            total[number] = total.get(number, 0.0) + weight * score / highest
    for number, share in _coverage([*parts, *titles, *headings], question).items():
        total[number] *= share
    best_first = sorted(total, key=lambda number: (-total[number], number))
    answers = list[FoundDocument]()
    for number in best_first:
        if total[number] > 0:
            answers.append(
                FoundDocument(
                    document=found.get(number),
                    name=added.get(number, ""),
                    score=total[number],
                )
            )
    return answers


class _ScoredText(NamedTuple):
    """An entry of a document with its score."""

    source: int
    score: int
    terms: tuple[str, ...]


def _score_documents(
    db: Database,
    question: Question,
    field: str,
    among: Sequence[IndexSource],
    others: Sequence[tuple[int, str]],
    *,
    most: int,
) -> list[_ScoredText]:
    """The entries of one field that the index found, and others beside them, each with its
    score."""
    candidates = search_index.candidates(db, question, field, among, most=most)
    known = {source.id for source in among}
    found = [passage for passage in candidates.entries if passage.source in known]
    texts = [(passage.source, passage.body) for passage in found]
    texts += others
    terms = [word_terms(text) for _, text in texts]
    scores = rank_texts([text for _, text in texts], terms, question, candidates.statistics)
    scored = list[_ScoredText]()
    for (number, _), score, own in zip(texts, scores, terms, strict=True):
        scored.append(_ScoredText(source=number, score=score, terms=own))
    return scored


def _sums(scored: Iterable[_ScoredText], most: int) -> dict[int, int]:
    """For each document, the sum of so many of its best scores."""
    found = dict[int, list[int]]()
    for each in scored:
        found.setdefault(each.source, []).append(each.score)
    return {number: sum(sorted(scores)[-most:]) for number, scores in found.items()}


def _coverage(scored: Iterable[_ScoredText], question: Question) -> dict[int, float]:
    """For each document, from 3/4 to 1 by how much of the question is anywhere in it: `potter`
    in a title is no answer to a question about pots on a shelf."""
    found = dict[int, set[str]]()
    for each in scored:
        own = found.setdefault(each.source, set())
        own.update(question.weights.keys() & set(each.terms))
    everywhere = set[str]().union(*found.values())
    whole = sum(question.weights[term] for term in everywhere) or 1
    shares = dict[int, float]()
    for number, terms in found.items():
        shares[number] = (3 + sum(question.weights[term] for term in terms) / whole) / 4
    return shares
