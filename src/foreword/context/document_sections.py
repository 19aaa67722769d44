"""Sections whose text is in a project's documents: a single phase, a core, a header, as their
authors marked them.

What a phase adopts or invokes is worked out from its own text. Finding the documents is
`sources.library`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from foreword.context.blanks import fill
from foreword.errors import BadSource, InputMissing, UnknownName
from foreword.recipe.schema import SectionSpec
from foreword.recipe.selection import Selection
from foreword.section import Section
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.front_matter import mapping, without_front_matter
from foreword.sources.library import DESCRIBED, INVOKED, NEWEST, NONE, Library, fields_of
from foreword.text import lines, markdown, marks, parts
from foreword.text.parts import Part

# Of a persona, to look for its header in: headers are near the top, and a file of megabytes is not
# searched to its end.
HEADER_CHARS = 200_000


@dataclass(slots=True)
class DocumentSections:
    """What the document sections came to."""

    sections: list[Section] = field(default_factory=list)
    absent: list[tuple[str, str]] = field(default_factory=list)  # what, and why
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # what the project names and does not have


def document_sections(
    tag: str,
    *,
    selection: Selection,
    library: Library,
    values: dict[str, str],
    requested: Mapping[str, str],
    allowance: files.Allowance,
) -> DocumentSections:
    """The sections of a tag whose text is in documents; a phase leaves what it invokes in
    `values`. What the user `requested` by name and is not there is an error."""
    spec = selection.sections[tag]
    out = DocumentSections()
    if "workflow" in requested and _is_without_phase(spec, values):
        out.notes.append(
            f"workflow {requested['workflow']!r} is not loaded without a phase: give --phase"
        )
    for name in _document_names(spec, values, library):
        document = library.choose(name, spec.document or "")
        if document is None:
            document = _substitute(name, spec=spec, library=library, requested=requested, out=out)
        if document is None:
            continue
        file = allowance.read(library.root, document.path, reader=library.file)
        if isinstance(file, files.Skip):
            if spec.phase is not None:
                raise BadSource(file.path, file.reason)
            out.absent.append((file.path, file.reason))
            continue
        text = _part(spec, file, values, out)
        if text is None:
            continue
        if spec.phase is not None:
            values |= _invoked_documents(text, document, library)
        out.sections.append(
            _section(tag, selection=selection, document=document, text=text, file=file)
        )
    return out


def _is_without_phase(spec: SectionSpec, values: Mapping[str, str]) -> bool:
    """Whether a section is one phase of a workflow, and nobody said which."""
    return spec.phase is not None and not fill(spec.phase, values).strip()


def _document_names(spec: SectionSpec, values: Mapping[str, str], library: Library) -> list[str]:
    """The names and paths of the documents that a section is made of, each once."""
    if _is_without_phase(spec, values):
        return []
    names = [name.strip() for name in re.split(r"[,\n]", fill(spec.named, values))]
    if NEWEST in names:
        newest = library.newest(spec.document or "")
        names = [newest.path] if newest else []
    return list(dict.fromkeys(name for name in names if name not in ("", NONE)))


def _substitute(
    name: str,
    *,
    spec: SectionSpec,
    library: Library,
    requested: Mapping[str, str],
    out: DocumentSections,
) -> Document | None:
    """What to do about a name that means nothing: an error if somebody asked for it, else a
    note."""
    kind = spec.document or ""
    known = [document.name for document in library.of_kind(kind)]
    for blank, request in requested.items():
        if name == request and f"{{{blank}}}" in spec.named:
            raise UnknownName(kind, name, known)
    if spec.phase is not None:
        if len(known) == 1:
            return library.of_kind(kind)[0]
        hint = f"put one into {library.recipe.documents[kind][0]}"
        if known:
            hint = f"give --workflow, one of: {', '.join(known)}"
        raise InputMissing("workflow", why=f"there is none called {name!r}", hint=hint)
    out.absent.append((name, f"no {kind} of that name"))
    is_described = kind in DESCRIBED and not known
    if not spec.fields and kind != "instructions" and not is_described:
        out.notes.append(f"there is no {kind} {name!r}")
        out.missing.append(f"{kind} {name!r}")
    return None


def _part(
    spec: SectionSpec, file: files.File, values: Mapping[str, str], out: DocumentSections
) -> str | None:
    """The part of a document that the section wants."""
    if spec.fields:
        text, problem = fields_of(file.text, spec.fields)
        if spec.document == "policy" and not problem:
            # only projects with policies need the room that knows them
            from foreword.review.policy import decision_lines

            data = mapping(file.text)[0]
            if data and data.keys().isdisjoint(spec.fields):
                # one that does not say its name is called after its file
                text = f"profile: {PurePosixPath(file.path).stem}\n{text}".strip()
            text = "\n".join([text, *decision_lines(data)]).strip("\n")
        if problem:
            out.notes.append(f"{file.path}: {problem}")
        if not text:
            out.absent.append((file.path, "none of the fields is there"))
        return text or None
    if spec.phase is not None:
        return phase_of(file, fill(spec.phase, values)).text
    if file.path.endswith(".md"):
        body = without_front_matter(file.text)
        if body != file.text:
            return body
    return file.text


def phase_of(file: files.File, name: str) -> Part:
    """A single phase of a workflow; `UnknownName` where there is none."""
    found = {part.name: part for part in parts.phases(file.text)}
    if not found:
        raise InputMissing(
            "phase",
            why=f"{file.path} has no phases",
            hint="mark them with <!-- PHASE:1 --> or `## Phase 1: Name` headings",
        )
    if name.lower() not in found:
        raise UnknownName("phase", name, found, where=f"in {file.path}")
    return found[name.lower()]


def _invoked_documents(text: str, document: Document, library: Library) -> dict[str, str]:
    """The personas, prompts and panels that a phase names."""
    paths: dict[str, list[str]] = {blank: [] for blank in INVOKED.values()}
    for named in library.documents_named_in(text, document.path):
        if named.kind in INVOKED:
            paths[INVOKED[named.kind]].append(named.path)
    return {blank: ", ".join(named) for blank, named in paths.items()}


def _section(
    tag: str, *, selection: Selection, document: Document, text: str, file: files.File
) -> Section:
    """A document, or what the section wants of it, with newlines alone; a whole one can be
    recalled as it is."""
    spec = selection.sections[tag]
    rule = selection.rule(tag)
    core = ""
    header = ""
    if not {"core", "header"}.isdisjoint(rule.forms):
        whole = lines.with_newlines(file.text)
        marked = marks.plain(parts.in_tier(parts.without_anchors(whole), 1)).strip()
        core = _with_title(marked, whole)
        header = parts.persona_header(parts.without_anchors(whole[:HEADER_CHARS])).strip()
    return Section(
        tag=tag,
        text=lines.with_newlines(text).strip("\n"),
        rule=rule,
        rank=selection.rank(tag),
        title=document.name if document.kind == "persona" else "",
        source=document.path,
        kind=document.kind,
        before=spec.before,
        after=spec.after,
        raw=file.raw if text is file.text else None,
        core=core,
        header=header,
    )


def _with_title(core: str, whole: str) -> str:
    """A marked core under its document's title, so that it says whose it is."""
    title = markdown.first_title(whole) if core else ""
    if not title or markdown.first_title(core) == title:
        return core
    return f"# {title}\n\n{core}"
