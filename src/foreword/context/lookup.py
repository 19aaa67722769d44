"""Tier 3: what is never loaded and always within reach. By name, or by what it is about; each
answer has a budget.

An answer is a package like any other: boundaries that can't be forged, a bill, a handle for what
was cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

from foreword.context import assemble
from foreword.engine.package import Package
from foreword.engine.pipeline import Request
from foreword.engine.pipeline import assemble as fit_and_write
from foreword.errors import AmbiguousName, BadBudget, UnknownName, UsageError
from foreword.origin import ASSISTANT, quote_headings
from foreword.pattern import lazy_pattern
from foreword.plan.artifact_names import NAME
from foreword.recipe.budget import choose_counter, whole_number
from foreword.relevance import read_question
from foreword.search import document_search as document_index
from foreword.search.document_search import FoundDocument
from foreword.section import Budget, Form, Rank, Rule, Section, Share
from foreword.sources import files
from foreword.sources.documents import Document, find_namesakes, is_called
from foreword.sources.library import RECIPE, Library, lookup_library
from foreword.store import artifacts as artifacts_kept
from foreword.store.database import Database
from foreword.store.sqlite import Sqlite
from foreword.store.urls import open_database, open_store, store_exists
from foreword.tokens import Counter

# A page or two: an agent that looks something up in the middle of its work has little room to
# spare, and can ask again with a larger budget.
ANSWER_TOKENS = 1_000
# In an answer to a question: with more of them each has too little of that page to be of use.
MOST_DOCUMENTS = 3
# Of the best score: what is less to the point is left alone, and what only lies beside it.
SMALLEST_SHARE = 0.35
# Of the room, kept for each document of an answer: else a long one leaves nothing of those behind
# it, and one of them may be what was meant. More would be taken from the first, which it mostly is.
LEAST_SHARE = 0.2
FRAME_TOKENS = 25  # around each document: its tags and the line with its path
# Tokens: what is cut to fewer is no answer, and the first may have all the room.
SMALLEST_ANSWER = 400
ARTIFACT = "artifact"
# of what a phase hands on: an artifact's name, or the phase's own where it gives it none
_SHAPE = lazy_pattern(rf"{NAME}|[Pp]hase \d{{1,4}}(?:\.\d{{1,3}}){{0,3}}[a-z]?(?:-[a-z]{{1,20}})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    kind: str
    name: str
    source: str
    text: str
    raw: bytes | None = None


def lookup(
    wanted: str,
    *,
    root: str | Path = ".",
    kind: str = "",
    budget: int | str | None = None,
    counter: str | Counter | None = None,
    model: str | None = None,
    artifacts: Mapping[str, str] | None = None,
    recipe: str = RECIPE,
    db: str | None = None,
    index: Database | None = None,
    save: bool = True,
) -> Package:
    """A document of the project by its name or path, or the few that have most to do with a
    question.

    `kind` narrows it to one kind of document; `artifacts` are texts by name that are within reach,
    too, instead of those in the store (`db`, else the root's own), of which the newest of a name is
    found. Nothing that fits is an `UnknownName` with what there is; a name such as FEAT-1 is never
    taken as a question. The index of the documents is kept in the root's store, or in `index`, a
    store that is open; without `save` and without that, it is made anew.
    """
    if not wanted.strip():
        raise UsageError(
            "say what to look up", hint="a document's name, or a few words about what you need"
        )
    library = lookup_library(root, recipe)
    if not library.recipe.documents:
        raise UsageError(
            f"recipe {recipe!r} says nothing about documents, so there is nothing to look up",
            hint=f"take the recipe {RECIPE}, or a recipe of yours that extends it",
        )
    kinds = _kinds(library, kind)
    tokens = whole_number(budget, "budget") or ANSWER_TOKENS
    name = wanted.strip().strip("[]`")
    if artifacts is None:
        is_name = len(name.split()) == 1 or _SHAPE.fullmatch(name) is not None
        artifacts = {}
        if ARTIFACT in kinds and is_name:
            artifacts = _newest_artifact(name, library.root, db)
    found = _by_name(name, library, kinds, artifacts)
    notes = library.notes
    if not found and (kind == ARTIFACT or _SHAPE.fullmatch(name)):
        raise UnknownName(ARTIFACT, name, artifacts or _artifact_names(library.root, db))
    with ExitStack() as while_open:
        store: Database | None = None
        if not found:
            if save and index is None and library.documents:
                store = while_open.enter_context(open_store(library.root))
            found, unread = _by_meaning(wanted, library, kinds, artifacts, index or store)
            notes += unread
        if not found:
            library.check()
            known = [document.name for document in library.documents if document.kind in kinds]
            raise UnknownName("document", wanted, [*artifacts, *known])
        package = _answer(
            wanted, found, tokens=tokens, counter=choose_counter(counter, model), notes=notes
        )
        return assemble.keep(package, library.root, store) if save else package


def _newest_artifact(name: str, root: Path, db: str | None) -> dict[str, str]:
    """The newest artifact of a name in the store; no store is made where there is none."""
    if not store_exists(db, root):
        return {}
    with closing(open_database(db, root)) as store:
        found = artifacts_kept.newest(store, name)
        return {found.name: artifacts_kept.text_of(store, found)} if found else {}


def _artifact_names(root: Path, db: str | None) -> list[str]:
    """What the artifacts in the store are called, each name once."""
    if not store_exists(db, root):
        return []
    with closing(open_database(db, root)) as store:
        names = [artifact.name for artifact in artifacts_kept.every_artifact(store)]
    return list(dict.fromkeys(names))


def _kinds(library: Library, kind: str) -> tuple[str, ...]:
    known = (*library.recipe.on_demand, ARTIFACT)
    if kind and kind not in known:
        raise UnknownName("kind of document", kind, known)
    return (kind,) if kind else known


def _by_name(
    name: str, library: Library, kinds: tuple[str, ...], artifacts: Mapping[str, str]
) -> list[_Candidate]:
    if ARTIFACT in kinds:
        for own, text in artifacts.items():
            if own.lower() == name.lower():
                return [_artifact(own, text)]
    if len(name.split()) > 1:
        return []
    for kind in kinds:
        document = _choose(name, kind, library) if kind != ARTIFACT else None
        if document is None:
            continue
        file = library.read(document)
        if isinstance(file, files.File):
            return [_candidate(document, file)]
    return []


def _choose(name: str, kind: str, library: Library) -> Document | None:
    """The one document that is called so. Several that only begin so make it a question."""
    try:
        return library.choose(name, kind)
    except AmbiguousName:
        namesakes = find_namesakes(library.of_kind(kind), name, kind)
        if any(is_called(document, name) for document in namesakes):
            raise
        return None


def _by_meaning(
    wanted: str,
    library: Library,
    kinds: tuple[str, ...],
    artifacts: Mapping[str, str],
    index: Database | None,
) -> tuple[list[_Candidate], list[str]]:
    """The documents that have most to do with a question, and a note where not all of them could
    be looked into."""
    if _is_path(wanted):
        return [], []
    documents = [document for document in library.documents if document.kind in kinds]
    others = artifacts if ARTIFACT in kinds else {}
    allowance = files.Allowance(files=files.MOST_FOUND)

    def read(document: Document) -> files.File | files.Skip:
        return allowance.read(library.root, document.path, reader=library.file)

    with nullcontext(index) if index is not None else closing(Sqlite.in_memory()) as db:
        known, unread = document_index.take_in(db, library.root, documents, read)
        answers = document_index.find(db, known, read_question(wanted), others)
    found = list[_Candidate]()
    for answer in answers[:MOST_DOCUMENTS]:
        if answer.score < SMALLEST_SHARE * answers[0].score:
            break
        candidate = _found_candidate(library, answer, others)
        if candidate is not None:
            found.append(candidate)
    notes = list[str]()
    left_out = sum(skip.reason == files.PAST_LIMIT for skip in unread)
    if left_out:
        notes.append(
            f"{left_out:,} documents were not looked into: {files.PAST_LIMIT}; give --kind"
        )
    return found, notes


def _found_candidate(
    library: Library, answer: FoundDocument, others: Mapping[str, str]
) -> _Candidate | None:
    """What was found, read; nothing where it has gone meanwhile."""
    if answer.document is None:
        return _artifact(answer.name, others[answer.name])
    file = library.read(answer.document)
    return _candidate(answer.document, file) if isinstance(file, files.File) else None


def _is_path(wanted: str) -> bool:
    """Whether a single file is meant: other documents would be no answer."""
    if len(wanted.split()) != 1:
        return False
    return "/" in wanted or wanted.endswith((".md", ".yaml", ".yml", ".json"))


def _artifact(name: str, text: str) -> _Candidate:
    raw = text.encode("utf-8", "surrogatepass")
    shown = quote_headings(text)
    return _Candidate(kind=ARTIFACT, name=name, source=name, text=shown, raw=raw)


def _candidate(document: Document, file: files.File) -> _Candidate:
    shown = document_index.document_text(document, file)
    return _Candidate(
        kind=document.kind,
        name=document.name,
        source=document.path,
        text=shown.text,
        raw=shown.raw,
    )


def _rooms(sizes: Sequence[int], tokens: int) -> list[int]:
    """The room for each document of an answer: its least share, then what is left in their
    order."""
    rooms = [min(size, int(tokens * LEAST_SHARE)) for size in sizes]
    left = tokens - sum(rooms)
    for place, size in enumerate(sizes):
        more = max(0, min(left, size - rooms[place]))
        rooms[place] += more
        left -= more
    return rooms


def _answer(
    wanted: str,
    found: list[_Candidate],
    *,
    tokens: int,
    counter: Counter,
    notes: Sequence[str],
) -> Package:
    """The documents found; they share the room, the first one first."""
    forms: tuple[Form, ...] = ("full", "relevant", "excerpt", "reference", "gone")
    sizes = [counter.count(candidate.text) + FRAME_TOKENS for candidate in found]
    sections = list[Section]()
    for place, candidate in enumerate(found):
        cap = Share(of="tokens", value=_rooms(sizes, tokens)[place])
        rule = Rule(tier=3, forms=forms, cap=cap if tokens >= SMALLEST_ANSWER else None)
        said_by = f", {ASSISTANT}" if candidate.kind == ARTIFACT else ""
        section = Section(
            tag=candidate.kind,
            text=candidate.text,
            rule=rule,
            rank=Rank(order=-place),
            title=candidate.name,
            source=candidate.source,
            kind=candidate.kind,
            before=f"# {candidate.source}{said_by}\n",
            raw=candidate.raw,
        )
        sections.append(section)
    request = Request(
        budget=Budget(tokens, window_tokens=tokens, has_window=False),
        counter=counter,
        recipe="lookup",
        task=wanted,
        notes=tuple(notes),
    )
    package = fit_and_write(sections, request)
    if not package.text.strip():
        names = ", ".join(candidate.source for candidate in found)
        raise BadBudget(
            tokens,
            problem=f"nothing of {names} fits {tokens:,} tokens",
            hint="give a larger --budget",
        )
    return package
