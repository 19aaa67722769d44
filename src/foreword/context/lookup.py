"""Tier 3: what is never loaded and always within reach. By name, or by what it is about; each
answer has a budget.

An answer is a package like any other: boundaries that can't be forged, a bill, a handle for what
was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath

from foreword.context import assemble
from foreword.dataclass import dataclass
from foreword.engine.assemble import Request
from foreword.engine.assemble import assemble as fit_and_write
from foreword.engine.package import Package
from foreword.errors import AmbiguousName, BadBudget, UnknownName, UsageError
from foreword.pattern import lazy_pattern
from foreword.plan.artifact_names import NAME
from foreword.recipe.budget import choose_counter, whole_number
from foreword.section import Budget, Rank, Rule, Section
from foreword.sources import files
from foreword.sources.documents import Document, find_namesakes, is_called
from foreword.sources.front_matter import front_matter, without_front_matter
from foreword.sources.library import RECIPE, Library, lookup_library
from foreword.store import artifacts as artifacts_kept
from foreword.store.paths import is_there
from foreword.store.urls import open_database, place_of
from foreword.text import lines, marks, relevance
from foreword.tokens import Counter

# A page or two: an agent that looks something up in the middle of its work has little room to
# spare, and can ask again with a larger budget.
ANSWER_TOKENS = 1_000
# In an answer to a question: with more of them each has too little of that page to be of use.
MOST_DOCUMENTS = 3
# Of the best score: what is less to the point is left alone, and what only lies beside it.
SMALLEST_SHARE = 0.35
# Documents are scored in parts of about two pages, so that a long one is judged by its best page.
PART_CHARS = 4_000
# Of a document's title and of its headings, beside 1 for its best part. Measured with 30 questions
# to a real project of 95 documents: 19 are answered first without them, 27 with these, 27 with 0.5
# and 0.5, 26 with 0.7 and 0.3; two of the 30 have no answer there.
TITLE_WEIGHT = 0.5
HEADINGS_WEIGHT = 0.3
ARTIFACT = "artifact"
# of what a phase hands on: an artifact's name, or the phase's own where it gives it none
_SHAPE = lazy_pattern(rf"{NAME}|phase \d{{1,4}}[a-z]?")
_HEADING_TEXT = lazy_pattern(r"^#{1,3}[ \t]+(?P<text>[^\n]{1,200})", re.MULTILINE)
_NOT_WORDS = lazy_pattern(r"[\W_]+")
_HEADING = lazy_pattern(r"^(?=#{2,6}[ \t])", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    kind: str
    name: str
    source: str
    text: str
    described: str = ""  # in its front matter, by which it is found and which nobody reads
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
    save: bool = True,
) -> Package:
    """A document of the project by its name or path, or the few that have most to do with a
    question.

    `kind` narrows it to one kind of document; `artifacts` are texts by name that are within reach,
    too, instead of those in the store (`db`, else the root's own), of which the newest of a name is
    found. Nothing that fits is an `UnknownName` with what there is; a name such as FEAT-1 is never
    taken as a question.
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
        is_name = ARTIFACT in kinds and len(name.split()) == 1
        artifacts = _newest_artifact(name, library.root, db) if is_name else {}
    found = _by_name(name, library, kinds, artifacts)
    notes = library.notes
    if not found and (kind == ARTIFACT or _SHAPE.fullmatch(name)):
        raise UnknownName(ARTIFACT, name, artifacts)
    if not found:
        found, unread = _by_meaning(wanted, library, kinds, artifacts)
        notes += unread
    if not found:
        library.check()
        known = [document.name for document in library.documents if document.kind in kinds]
        raise UnknownName("document", wanted, [*artifacts, *known])
    package = _answer(
        wanted, found, tokens=tokens, counter=choose_counter(counter, model), notes=notes
    )
    return assemble.keep(package, library.root) if save else package


def _newest_artifact(name: str, root: Path, db: str | None) -> dict[str, str]:
    """The newest artifact of a name in the store; no store is made where there is none."""
    place = place_of(db, root)
    if isinstance(place, Path) and not is_there(place):
        return {}
    with closing(open_database(db, root)) as store:
        found = artifacts_kept.newest(store, name)
        return {found.name: artifacts_kept.text_of(store, found)} if found else {}


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
                return [_Candidate(kind=ARTIFACT, name=own, source=own, text=text)]
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
    wanted: str, library: Library, kinds: tuple[str, ...], artifacts: Mapping[str, str]
) -> tuple[list[_Candidate], list[str]]:
    """The documents that have most to do with a question, and a note where not all of them could
    be looked into."""
    if _is_path(wanted):
        return [], []
    candidates, left_out = _candidates(library, kinds)
    if ARTIFACT in kinds:
        for name, text in artifacts.items():
            candidates.append(_Candidate(kind=ARTIFACT, name=name, source=name, text=text))
    scores = _scores(candidates, wanted)
    best = max(scores, default=0.0)
    found = list[_Candidate]()
    for place in sorted(range(len(candidates)), key=lambda place: (-scores[place], place)):
        if best and scores[place] >= SMALLEST_SHARE * best:
            found.append(candidates[place])
    notes = list[str]()
    if left_out:
        notes.append(
            f"{left_out:,} documents were not looked into: {files.PAST_LIMIT}; give --kind"
        )
    return found[:MOST_DOCUMENTS], notes


def _candidates(library: Library, kinds: tuple[str, ...]) -> tuple[list[_Candidate], int]:
    """The documents of the kinds, and how many more there are than may be read."""
    candidates = list[_Candidate]()
    left_out = 0
    allowance = files.Allowance(files=files.MOST_FOUND)
    for document in library.documents:
        if document.kind not in kinds:
            continue
        file = allowance.read(library.root, document.path, reader=library.file)
        if isinstance(file, files.File):
            candidates.append(_candidate(document, file))
        elif file.reason == files.PAST_LIMIT:
            left_out += 1
    return candidates, left_out


def _scores(candidates: Sequence[_Candidate], wanted: str) -> list[float]:
    """Each document by its best part, so that a long one with the answer in it is not behind a
    short one without; and by what it is called and what its headings say, since what a document is
    about outweighs what it mentions."""
    texts = list[str]()
    places = list[int]()  # of each text, that of its document
    for place, candidate in enumerate(candidates):
        for part in _parts(candidate):
            texts.append(part)
            places.append(place)
    best = [0.0] * len(candidates)
    for place, score in zip(places, relevance.rank(texts, wanted), strict=True):
        best[place] = max(best[place], score)
    titles = relevance.rank([_title(candidate) for candidate in candidates], wanted)
    headings = relevance.rank([_headings(candidate) for candidate in candidates], wanted)
    weighted = ((best, 1.0), (titles, TITLE_WEIGHT), (headings, HEADINGS_WEIGHT))
    total = [0.0] * len(candidates)
    for scores, weight in weighted:
        highest = max(scores, default=0.0) or 1.0
        for place, score in enumerate(scores):
            total[place] += weight * score / highest
    return total


def _title(candidate: _Candidate) -> str:
    """What a document is called: its name, its folder where the name says nothing, its title."""
    path = PurePosixPath(candidate.source)
    name = path.parent.name if path.stem == "instructions" else path.stem
    first = _HEADING_TEXT.search(candidate.text)
    title = first["text"] if first else ""
    return f"{_NOT_WORDS.sub(' ', name)}\n{title}\n{candidate.described}"


def _headings(candidate: _Candidate) -> str:
    found = [match["text"] for match in _HEADING_TEXT.finditer(candidate.text)]
    return "\n".join([_title(candidate), *found])


def _parts(candidate: _Candidate) -> Iterator[str]:
    """A document by its headings, in parts of some length; its name stands in front of the
    first."""
    text = f"`{candidate.source}` {candidate.name}\n{candidate.described}\n{candidate.text}"
    for section in _HEADING.split(text):
        for at in range(0, len(section), PART_CHARS):
            yield section[at : at + PART_CHARS]


def _is_path(wanted: str) -> bool:
    """Whether a single file is meant: other documents would be no answer."""
    if len(wanted.split()) != 1:
        return False
    return "/" in wanted or wanted.endswith((".md", ".yaml", ".yml", ".json"))


def _candidate(document: Document, file: files.File) -> _Candidate:
    text = lines.with_newlines(file.text)
    is_markdown = document.path.endswith(".md")
    plain = marks.plain(without_front_matter(text)) if is_markdown else text
    description = front_matter(text)[0].get("description", "") if is_markdown else ""
    return _Candidate(
        kind=document.kind,
        name=document.name,
        source=document.path,
        text=plain,
        described=description if isinstance(description, str) else "",
        raw=file.raw if plain == text else None,
    )


def _answer(
    wanted: str,
    found: list[_Candidate],
    *,
    tokens: int,
    counter: Counter,
    notes: Sequence[str],
) -> Package:
    """The documents found; they share the room, the first one first."""
    rule = Rule(tier=3, forms=("full", "relevant", "excerpt", "reference", "gone"))
    sections = list[Section]()
    for place, candidate in enumerate(found):
        section = Section(
            tag=candidate.kind,
            text=candidate.text,
            rule=rule,
            rank=Rank(order=-place),
            title=candidate.name,
            source=candidate.source,
            kind=candidate.kind,
            before=f"# {candidate.source}\n",
            raw=candidate.raw,
        )
        sections.append(section)
    request = Request(
        budget=Budget(tokens, window_tokens=tokens),
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
