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

# The numbers of the tiers, by how long what is in them stays.
ALWAYS = 0
SESSION = 1
PHASE = 2
CODE = "tier-over-budget"
MOST_NAMED = 5  # of the parts of a tier, the largest: what to shorten is among them


def tiers(index: DocumentIndex) -> Iterator[Problem]:
    """Every tier that is over its limit, at the file that has most to do with it."""
    limits = index.recipe.tiers
    named = names(index)
    if ALWAYS in limits:
        yield from _always(index, named, limits[ALWAYS])
    if SESSION in limits:
        yield from _session(index, named, limits[SESSION])
    if PHASE in limits:
        for document in index.authored_documents:
            if document.kind != "workflow":
                continue
            for part in phases_of(document, index.text(document.path)):
                yield from _phase(index, document, part, limits[PHASE])


def _always(index: DocumentIndex, named: list[DocumentName], limit: int) -> Iterator[Problem]:
    """Tier 0: the instructions, what is anchored elsewhere, and fields of the project and its
    profile."""
    sizes = dict[str, int]()
    place = named[0].file if named else ""
    own = [document for document in index.authored_documents if document.kind == "instructions"]
    if own:
        place = own[0].path
        sizes[place] = index.tokens(index.text(place))
    loaded = index.of_kind("guidance")
    loaded += _documents(index, named, ("language", "persona", "workflow"))
    for document in loaded:
        tokens = _anchor_tokens(index, index.text(document.path))
        if tokens:
            sizes[f"anchors of {document.path}"] = tokens
    for path, tokens in _field_sizes(index, named):
        sizes[f"fields of {path}"] = tokens
    yield from _over_limit(ALWAYS, sizes, limit, file=place)


def _anchor_tokens(index: DocumentIndex, text: str) -> int:
    if "ANCHOR" not in text.upper():
        return 0
    return sum(index.tokens(part.text) for part in anchors(text))


def _field_sizes(index: DocumentIndex, named: list[DocumentName]) -> Iterator[tuple[str, int]]:
    """What tier 0 takes out of YAML files."""
    for section in index.recipe.sections.values():
        if section.tier != ALWAYS or not section.fields:
            continue
        if section.file:
            paths = [index.path_of(section.file)]
        else:
            own = _documents(index, named, (section.document,))
            paths = [document.path for document in own]
        for path in paths:
            fields, _ = fields_of(index.text(path), section.fields)
            tokens = index.counter.count(fields)
            if tokens:
                yield path, tokens


def _session(index: DocumentIndex, named: list[DocumentName], limit: int) -> Iterator[Problem]:
    """Tier 1: the project's language and personas; of a persona what is marked for tier 1, where
    something is."""
    if not named:
        return
    sizes = dict[str, int]()
    for document in _documents(index, named, ("language", "persona")):
        text = index.text(document.path)
        sizes[document.path] = index.tokens(in_tier(text, SESSION) or text)
    personas = [name for name in named if name.kind == "persona"]
    place = personas[0] if personas else named[0]
    yield from _over_limit(SESSION, sizes, limit, file=place.file, line=place.line)


def _phase(index: DocumentIndex, workflow: Document, part: Part, limit: int) -> Iterator[Problem]:
    """Tier 2: a phase, and the personas, prompts and panels that it names."""
    own = index.tokens(part.text)
    sizes = {f"phase {part.name}": own}
    for document in references.find_references(index.find, part.text, workflow.path):
        if document.kind in INVOKED:
            sizes[document.path] = index.tokens(index.text(document.path))
    if len(sizes) > 1 or own > limit:
        what = f"with phase {part.name} "
        yield from _over_limit(PHASE, sizes, limit, file=workflow.path, line=part.line, what=what)


def _documents(
    index: DocumentIndex, named: list[DocumentName], kinds: tuple[str | None, ...]
) -> list[Document]:
    found = dict[Document, None]()  # each once, in their order
    for name in named:
        document = index.find(name.name, name.kind) if name.kind in kinds else None
        if document is not None:
            found[document] = None
    return list(found)


def _over_limit(
    tier: int, sizes: Mapping[str, int], limit: int, *, file: str, line: int = 1, what: str = ""
) -> Iterator[Problem]:
    total = sum(sizes.values())
    if total <= limit:
        return
    largest = sorted(sizes.items(), key=lambda part: -part[1])
    named = ", ".join(f"{name} {tokens:,}" for name, tokens in largest[:MOST_NAMED])
    message = f"tier {tier} {what}needs {total:,} tokens, its limit is {limit:,}: {named}"
    if len(largest) > MOST_NAMED:
        message += f" and {len(largest) - MOST_NAMED} smaller"
    yield warning(file, line, code=CODE, message=message)
