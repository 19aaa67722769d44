"""Tiers over their limits, before anything is loaded: what every call would carry, every session,
every phase.

The sums are of whole documents. What an agent really gets is made to fit (`context.tiers`): a
persona becomes a header, a panel an excerpt. A tier that is over its limit here is one where that
happens every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from foreword.lint.document_checks import phases_of
from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem, warning
from foreword.lint.project_files import DocumentName, names
from foreword.sources import references
from foreword.sources.documents import Document
from foreword.sources.library import INVOKED, fields_of
from foreword.text.parts import Part, anchors, in_tier

ALWAYS, SESSION, PHASE = 0, 1, 2
CODE = "tier-over-budget"
MOST_NAMED = 5


def tiers(reading: DocumentIndex) -> Iterator[Problem]:
    """Every tier that is over its limit, at the file that has most to do with it."""
    limits = reading.recipe.tiers
    named = names(reading)
    if ALWAYS in limits:
        yield from _always(reading, named, limits[ALWAYS])
    if SESSION in limits:
        yield from _session(reading, named, limits[SESSION])
    if PHASE in limits:
        for workflow in (one for one in reading.authored if one.kind == "workflow"):
            for part in phases_of(workflow, reading.text(workflow.path)):
                yield from _phase(reading, workflow, part, limits[PHASE])


def _always(reading: DocumentIndex, named: list[DocumentName], limit: int) -> Iterator[Problem]:
    """Tier 0: the instructions, what is anchored elsewhere, and fields of the project and its
    profile."""
    own = [one for one in reading.authored if one.kind == "instructions"][:1]
    parts = {one.path: reading.tokens(reading.text(one.path)) for one in own}
    loaded = [
        *reading.of_kind("guidance"),
        *_documents(reading, named, ("language", "persona", "workflow")),
    ]
    for one in loaded:
        text = reading.text(one.path)
        if "ANCHOR" in text.upper() and (
            tokens := sum(reading.tokens(part.text) for part in anchors(text))
        ):
            parts[f"anchors of {one.path}"] = tokens
    for path, tokens in _fields(reading, named):
        parts[f"fields of {path}"] = tokens
    place = own[0].path if own else next((name.file for name in named), "")
    yield from _over(ALWAYS, parts, limit, place, 1)


def _fields(reading: DocumentIndex, named: list[DocumentName]) -> Iterator[tuple[str, int]]:
    """What tier 0 takes out of YAML files."""
    for section in reading.recipe.sections.values():
        if section.tier != ALWAYS or not section.fields:
            continue
        own = [one.path for one in _documents(reading, named, (section.document,))]
        for path in [reading.placed(section.file)] if section.file else own:
            if tokens := reading.counter.count(fields_of(reading.text(path), section.fields)[0]):
                yield path, tokens


def _session(reading: DocumentIndex, named: list[DocumentName], limit: int) -> Iterator[Problem]:
    """Tier 1: the project's language and personas; of a persona what is marked for tier 1, where
    something is."""
    mine = _documents(reading, named, ("language", "persona"))
    parts = {one.path: _in_session(reading, reading.text(one.path)) for one in mine}
    place = next((name for name in named if name.kind == "persona"), next(iter(named), None))
    if place is not None:
        yield from _over(SESSION, parts, limit, place.file, place.line)


def _in_session(reading: DocumentIndex, text: str) -> int:
    return reading.tokens(in_tier(text, SESSION) or text)


def _phase(reading: DocumentIndex, workflow: Document, part: Part, limit: int) -> Iterator[Problem]:
    """Tier 2: a phase, and the personas, prompts and panels that it names."""
    parts = {f"phase {part.name}": reading.tokens(part.text)}
    for meant in references.find_references(reading.meant, part.text, workflow.path):
        if meant.kind in INVOKED:
            parts[meant.path] = reading.tokens(reading.text(meant.path))
    if len(parts) > 1 or parts[f"phase {part.name}"] > limit:
        what = f"with phase {part.name}"
        yield from _over(PHASE, parts, limit, workflow.path, part.line, what)


def _documents(
    reading: DocumentIndex, named: list[DocumentName], kinds: tuple[str | None, ...]
) -> list[Document]:
    found = [reading.meant(name.name, name.kind) for name in named if name.kind in kinds]
    return list(dict.fromkeys(one for one in found if one is not None))


def _over(
    tier: int, parts: Mapping[str, int], limit: int, file: str, line: int, what: str = ""
) -> Iterator[Problem]:
    total = sum(parts.values())
    if total <= limit:
        return
    largest = sorted(parts.items(), key=lambda part: -part[1])
    each = ", ".join(f"{name} {tokens:,}" for name, tokens in largest[:MOST_NAMED])
    more = f" and {len(largest) - MOST_NAMED} smaller" if len(largest) > MOST_NAMED else ""
    message = (
        f"tier {tier} {what + ' ' if what else ''}needs {total:,} tokens, its limit is {limit:,}:"
        f" {each}{more}"
    )
    yield warning(file, line, CODE, message)
