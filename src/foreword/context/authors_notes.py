"""What authors should know about the files of a context: too large, or naming files that are not
there.

A few checks of `lint`, on the sections that are in; all of them are the business of `foreword
lint`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foreword.lint import document_checks
from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem
from foreword.section import Section
from foreword.sources.documents import Document
from foreword.sources.library import Library
from foreword.text.parts import Part
from foreword.tokens import Counter


def authors_notes(
    sections: Sequence[Section], library: Library, counter: Counter, phase: str
) -> list[str]:
    """What `lint` would say about the files that are in, as far as it is about size and names; a
    line for each file."""
    index = DocumentIndex(library=library, counter=counter)
    known = {document.path: document for document in library.documents}
    messages = dict[str, list[str]]()
    for section in sections:
        path = section.source
        if path in messages or not path.endswith(".md"):
            continue
        document = known.get(path) or Document(section.kind or section.tag, path, path)
        problems = [
            *_size_problems(index, document, section, phase),
            *document_checks.references(index, document, section.text),
        ]
        messages[path] = [problem.message for problem in problems]
    notes = list[str]()
    for path, found in messages.items():
        if found:
            notes.append(f"{path}: {'; '.join(dict.fromkeys(found))}")
    return notes


def _size_problems(
    index: DocumentIndex, document: Document, section: Section, phase: str
) -> Iterator[Problem]:
    """A file over the limit of its kind; of a workflow, the phase that is in."""
    if document.kind == "workflow":
        return document_checks.phase_size(
            index, document, Part(name=phase, title="", text=section.text, line=0)
        )
    return document_checks.size(index, document, index.text(document.path))
