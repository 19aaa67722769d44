"""Search everything at once: sessions, documents and artifacts of a project, and the sessions that
coding agents left on this machine. Foreword's own reports and settings are no part of it.

The first search takes in what is there, later ones what is new. Each hit says where it is from, and
has a handle that `recall` takes. Secrets are hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from foreword.engine.package import Package
from foreword.errors import UsageError
from foreword.origin import quote_headings
from foreword.recipe.budget import choose_counter, whole_number
from foreword.relevance import Question, read_question, terms
from foreword.relevance.terms import stem
from foreword.search import document_search, transcript_search
from foreword.search.conversation_search import ConversationPlace, ConversationScope
from foreword.search.conversation_search import take_in as take_in_messages
from foreword.search.finding import Place, find
from foreword.search.hit import Hit, answer
from foreword.search.index_entries import Description, EntryPlace, EntryStretch
from foreword.search.transcript_search import Bar
from foreword.secrets.masking import mask
from foreword.sources.documents import Document, ending_patterns, find_documents
from foreword.sources.library import DOC, Library, lookup_library
from foreword.store import artifacts, messages, originals, search_index, workflows
from foreword.store.database import Database
from foreword.store.search_index import (
    ARTIFACT,
    DOCUMENT,
    IndexSource,
    NewPassage,
    passages_of,
)
from foreword.store.secret_values import secrets_of
from foreword.tokens import Counter
from foreword.transcripts.places import SessionPlace

# A page or two.
ANSWER_TOKENS = 1_500
ENDINGS = ("md", "mdx", "rst", "txt", "adoc", "json")  # of what people write for reading
# Of a document: the longest that people write by hand; beyond it are exports and logs.
LARGEST_BYTES = 400_000
MAIN = "main"  # the conversation of a workflow where none is named
NOTHING = "nothing about it was found"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What a search found: the answer as it is read, and its hits."""

    package: Package
    hits: tuple[Hit, ...]  # those that are in it, in its order


@contextmanager
def _no_bar(what: str, length: int) -> Iterator[Callable[[int], None]]:
    yield lambda count: None


def search(
    question: str,
    *,
    db: Database | None,
    root: Path | None = None,
    sessions: Sequence[SessionPlace] = (),
    budget: int | str | None = None,
    counter: str | Counter | None = None,
    bar: Bar = _no_bar,
) -> SearchAnswer:
    """What was said and written about a question: in a store, in the documents of a root, which are
    taken into that store, and in sessions of coding agents. `bar` draws progress."""
    if not question.strip():
        raise UsageError("say what to search for", hint="a question, or a few words")
    tokens = whole_number(budget, "budget") or ANSWER_TOKENS
    counting = choose_counter(counter, None)
    with ExitStack() as opened:
        machine = (
            opened.enter_context(closing(transcript_search.open_index())) if sessions else None
        )
        places = list[Place]()
        if db is not None:
            places += [_conversation_place(db, bar), artifact_place(db)]
        if db is not None and root is not None:
            places.append(_document_place(db, root, bar))
        if machine is not None:
            known = transcript_search.take_in(machine, sessions, bar)
            places.append(transcript_search.place_of(machine, known))
        asked = read_question(question)
        hits = _mask_hits(find(places, asked, budget=tokens, counter=counting))
        notes = _missing_words_note(asked, hits) if hits else (NOTHING,)
        package = answer(
            _best_kind_first(hits),
            question=question,
            budget=tokens,
            counter=counting,
            recipe="search",
            notes=notes,
        )
        keep = db if db is not None and not db.read_only else machine
        if keep is not None and not keep.read_only:
            _keep(keep, package, hits)
    shown = _hits_in_answer(package, _best_kind_first(hits))
    return SearchAnswer(package=package, hits=tuple(shown))


def search_store(db: Database, question: str, *, budget: int, counter: Counter) -> str:
    """What was said in the sessions of a store, and handed on, about a question."""
    places: list[Place] = [_conversation_place(db, _no_bar), artifact_place(db)]
    hits = _mask_hits(find(places, read_question(question), budget=budget, counter=counter))
    package = answer(hits, question=question, budget=budget, counter=counter, recipe="search")
    if not db.read_only:
        _keep(db, package, hits)
    return package.text or f"{NOTHING}\n"


def _conversation_place(db: Database, bar: Bar) -> ConversationPlace:
    """The sessions of a store, what was appended taken in before."""
    scopes = list[ConversationScope]()
    for name in workflows.names(db):
        workflow = workflows.find_workflow(db, name)
        secrets = secrets_of(db, workflow.id)
        for conversation in messages.conversations_of(db, workflow.id):
            called = f"session {name}"
            if conversation.name != MAIN:
                called += f", conversation {conversation.name}"
            scope = ConversationScope(conversation=conversation, name=called, secrets=secrets)
            scopes.append(scope)
    if not db.read_only:
        waiting = sum(search_index.waiting_messages(db, one.conversation.id) for one in scopes)
        with bar(f"indexing {waiting:,} messages", waiting) as advance:
            take_in_messages(db, scopes, advance)
    return ConversationPlace(db, scopes)


def _document_place(db: Database, root: Path, bar: Bar) -> EntryPlace:
    """The documents of a project."""
    library = lookup_library(root)
    known = dict[IndexSource, Document]()
    if not db.read_only:
        written = _project_documents(library)
        with bar(f"indexing {len(written):,} documents", len(written)) as advance:
            known, _ = document_search.take_in(db, library.root, written, library.read, advance)

    def describe(stretch: EntryStretch) -> Description:
        whole = search_index.passages_in(db, stretch.source)
        return Description(
            where=known[stretch.source].path,
            text="".join(passage.body for passage in stretch.passages),
            original="".join(passage.body for passage in whole),
        )

    return EntryPlace(db=db, kind=DOCUMENT, sources=list(known), describe=describe)


def _project_documents(library: Library) -> list[Document]:
    """The documents of a project: those that can be looked up, and whatever else is written in
    it."""
    others = find_documents(library.root, {DOC: ending_patterns(*ENDINGS)})
    found = {document.path: document for document in [*others, *library.documents]}
    return [document for document in found.values() if _is_readable(library.root, document.path)]


def _is_readable(root: Path, path: str) -> bool:
    """Whether a person would read a file: not what tools write, and not what is very long."""
    try:
        size = (root / path).stat().st_size
    except OSError:
        return False
    return size <= LARGEST_BYTES and "lock" not in PurePosixPath(path).name


def _mask_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Hits without what looks like a secret; what was hidden before stays so."""
    return [replace(hit, text=mask(hit.text)) for hit in hits]


def _missing_words_note(asked: Question, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Which words of a question none of its hits has: a reader takes those for an answer else."""
    found = set[str]()
    for hit in hits:
        found.update(terms(f"{hit.where} {hit.text}"))
    missing = [word for word in asked.words if stem(word) not in found]
    return (f"in none of it: {', '.join(missing)}",) if missing else ()


def _best_kind_first(hits: Sequence[Hit]) -> list[Hit]:
    """Hits by what they are from, that with the best of them first; within it as they stand."""
    best = dict[str, int]()
    for hit in hits:
        best[hit.kind] = max(best.get(hit.kind, 0), hit.score)
    order = sorted(best, key=lambda kind: -best[kind])
    return sorted(hits, key=lambda hit: order.index(hit.kind))


def _keep(db: Database, package: Package, hits: Sequence[Hit]) -> None:
    """Keep what handles of an answer stand for."""
    bodies = dict(package.originals)
    for hit in hits:
        if hit.original is not None:
            bodies[hit.handle] = hit.original
    if bodies:
        with db.transaction():
            originals.write(db, bodies)


def _hits_in_answer(package: Package, hits: Sequence[Hit]) -> list[Hit]:
    """The hits that are in an answer."""
    return [hit for hit in hits if f"({hit.handle})" in package.text]


def artifact_place(db: Database) -> EntryPlace:
    """The artifacts of a store, those that are new taken in before."""
    known = {source.name: source for source in search_index.sources(db, ARTIFACT)}
    for artifact in artifacts.every_artifact(db):
        if artifact.handle not in known and not db.read_only:
            text = mask(artifacts.text_of(db, artifact))
            heading = f"{artifact.name} {artifact.title} {artifact.task}"
            known[artifact.handle] = search_index.put(
                db,
                ARTIFACT,
                artifact.handle,
                stamp=artifact.created,
                about=f"{artifact.name} of {artifact.task}, {artifact.origin}",
                passages=[NewPassage(text=part, heading=heading) for part in passages_of(text)],
            )
    return EntryPlace(
        db=db, kind=ARTIFACT, sources=list(known.values()), describe=_describe_artifact
    )


def _describe_artifact(stretch: EntryStretch) -> Description:
    return Description(
        where=f"artifact {stretch.source.about}",
        text=quote_headings("".join(passage.body for passage in stretch.passages)),
        date=stretch.source.stamp,
        handle=stretch.source.name,
    )
