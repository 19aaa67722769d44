"""What was taken into the index whole, as a place to find something in: documents, artifacts,
reports, and the transcripts of coding agents.

Its passages are in the index itself. What they are called and what `recall` brings back for one is
said by whoever took them in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from foreword.relevance import Question, Statistics
from foreword.search.entry_ranking import word_terms
from foreword.search.finding import AROUND, FoundPassage
from foreword.search.hit import Hit
from foreword.section import handle_of
from foreword.store import search_index
from foreword.store.database import Database
from foreword.store.search_index import DOCUMENT, PASSAGE_CHARS, IndexSource, StoredPassage
from foreword.text.words import STOP_WORDS, words

# Passages that are scored, as of conversations.
MOST_CANDIDATES = 100
# A question of fewer words is a few words to look for. The example of the README has seven.
LEAST_QUESTION_WORDS = 4


@dataclass(frozen=True, slots=True)
class EntryStretch:
    """Passages of a source that stand one behind another."""

    source: IndexSource
    passages: Sequence[StoredPassage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """How a stretch is shown, and what is kept for it."""

    where: str
    text: str
    date: str = ""
    handle: str = ""  # where its original is kept already
    original: str = ""  # else what is to be kept


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPlace:
    """The sources of one kind in a store."""

    db: Database
    kind: str
    sources: Sequence[IndexSource]
    describe: Callable[[EntryStretch], Description]
    share_of: Callable[[StoredPassage], int] = lambda passage: 1  # what scores are divided by
    # characters of what may come along beside a match: a longer one would push others out
    longest_neighbour: int = PASSAGE_CHARS

    def matches(self, question: Question) -> tuple[list[FoundPassage], Statistics]:
        """The passages that the index found."""
        found = search_index.candidates(
            self.db, question, self.kind, self.sources, most=MOST_CANDIDATES
        )
        known = {source.id for source in self.sources}
        passages = [passage for passage in found.entries if passage.source in known]
        units = [self._unit(passage, is_match=True) for passage in passages]
        # In a conversation, what follows the question may be its answer.
        quote = _quoted_question(question) if self.kind == DOCUMENT else None
        if quote is not None:
            said = [replace(unit, terms=word_terms(quote.sub(" ", unit.text))) for unit in units]
            if any(not question.weights.keys().isdisjoint(unit.terms) for unit in said):
                units = said
        return units, found.statistics

    def neighbours(
        self, best: Sequence[FoundPassage], known: Sequence[FoundPassage]
    ) -> list[FoundPassage]:
        """The passages on either side of the best matches."""
        there = {unit.item.id for unit in known}
        by_id = {source.id: source for source in self.sources}
        units = list[FoundPassage]()
        for unit in best:
            source = by_id[unit.item.source]
            first, last = unit.number - AROUND, unit.number + AROUND
            for passage in search_index.passages_in(self.db, source, first, last):
                if passage.id not in there and len(passage.body) <= self.longest_neighbour:
                    there.add(passage.id)
                    units.append(self._unit(passage, is_match=False))
        return units

    def hits(self, chosen: Sequence[tuple[FoundPassage, int]]) -> list[Hit]:
        """Passages that stand one behind another are one hit; the best hit comes first."""
        by_id = {source.id: source for source in self.sources}
        stretches = list[list[tuple[StoredPassage, int]]]()
        for unit, score in chosen:
            passage: StoredPassage = unit.item
            last = stretches[-1][-1][0] if stretches else None
            if last is None or not _follows(last, passage):
                stretches.append([])
            stretches[-1].append((passage, score))
        hits = list[Hit]()
        for scored in stretches:
            passages = [passage for passage, _ in scored]
            shown = self.describe(EntryStretch(by_id[passages[0].source], passages))
            original = shown.original.encode("utf-8", "surrogatepass")
            hits.append(
                Hit(
                    kind=self.kind,
                    where=shown.where,
                    text=shown.text,
                    score=max(score for _, score in scored),
                    handle=shown.handle or handle_of(original),
                    original=None if shown.handle else original,
                    date=shown.date,
                )
            )
        return sorted(hits, key=lambda hit: -hit.score)

    def _unit(self, passage: StoredPassage, *, is_match: bool) -> FoundPassage:
        return FoundPassage(
            session=str(passage.source),
            number=passage.number,
            text=passage.body,
            terms=word_terms(passage.body) if is_match else (),
            share=self.share_of(passage),
            item=passage,
        )


def _quoted_question(question: Question) -> re.Pattern[str] | None:
    """What finds the question itself in a text: with its question mark, or in quotation marks. A
    document that asks the same, as an example of a command may, does not answer it. None for a few
    words, which are found where they are said."""
    found = words(question.text)
    if len(found) < LEAST_QUESTION_WORDS or found[0] not in STOP_WORDS:
        return None
    written = r"\W+".join(map(re.escape, found))
    return re.compile(rf"\b{written}\b(?=\s*[?\"'`\u201d])", re.IGNORECASE)


def _follows(last: StoredPassage, passage: StoredPassage) -> bool:
    return last.source == passage.source and last.number + 1 == passage.number
