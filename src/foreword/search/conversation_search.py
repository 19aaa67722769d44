"""What was said about a question in the conversations of a store, compressed since or not.

Candidates come from the index, scores from the ranking; what is shown is verbatim, in the order it
was said, with the numbers of the messages. Secrets that a workflow holds are hidden before anything
is scored: a question for one finds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import accumulate

from foreword.messages.message import texts_in
from foreword.origin import Origin, Speakers, gap_in_tags, quote_headings, tags_at
from foreword.relevance import Question, Statistics
from foreword.search.entry_ranking import word_terms
from foreword.search.finding import AROUND, FoundPassage
from foreword.search.hit import Hit
from foreword.secrets.known_values import KnownValues
from foreword.store import messages, search_index
from foreword.store.database import LARGEST_NUMBER, Database
from foreword.store.messages import Conversation, Range, StoredMessage
from foreword.store.search_index import CONVERSATION, IndexSource, passages_of
from foreword.text.omission_mark import missing_mark
from foreword.text.quantity import quantity

# Passages that are scored: an answer of 1,500 tokens shows five to twenty of them, and to read and
# score a hundred takes about 10 ms.
MOST_CANDIDATES = 100
# What a call or a result of a tool is worth beside words: `timeout: 300` in the arguments of a
# command is no answer to a question about timeouts, what was said of them is. Not where it has more
# of the question than any words (`finding`).
TOOL_SHARE = 2
MOST_BETWEEN = 20  # messages between a call and its result: the results of the same turn
KIND = "session"
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationScope:
    """A conversation to look into: what it is called, and what is hidden in it."""

    conversation: Conversation
    name: str  # nothing where there is no other that is looked into
    secrets: KnownValues
    end: int = LARGEST_NUMBER  # the message from which on nothing is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """A passage of a message."""

    scope: ConversationScope
    stored: StoredMessage
    part: int
    parts: int  # of its message
    text: str
    tags: tuple[str, str]  # that it begins and ends inside of


def take_in(
    db: Database, scopes: Iterable[ConversationScope], progress: Progress = lambda count: None
) -> None:
    """Bring the index up to date with what was appended, and with secrets that became known;
    `progress` is told how many messages are in."""
    done = 0

    def tell(count: int) -> None:
        nonlocal done
        done += count
        progress(done)

    for scope in scopes:
        conversation = scope.conversation.id
        if search_index.is_current(db, conversation, scope.secrets):
            continue
        with messages.write_lock(db, conversation):
            search_index.add_messages(db, conversation, progress=tell)
            search_index.hide_new_secrets(db, conversation)


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """The conversations of a store as a place to find something in."""

    db: Database
    scopes: Sequence[ConversationScope]

    def matches(self, question: Question) -> tuple[list[FoundPassage], Statistics]:
        """The passages that the index found, read."""
        db = self.db
        scope_of = dict[int, ConversationScope]()  # by the number of its source
        among = list[IndexSource]()
        for scope in self.scopes:
            source = search_index.find_source(db, CONVERSATION, str(scope.conversation.id))
            if source is not None:
                among.append(source)
                scope_of[source.id] = scope
        found = search_index.candidates(db, question, CONVERSATION, among, most=MOST_CANDIDATES)
        parts = dict[tuple[int, int], set[int]]()  # of a message, by its source and its number
        for entry in found.entries:
            if entry.source in scope_of:
                parts.setdefault((entry.source, entry.number), set()).add(entry.part)
        units = list[FoundPassage]()
        for number, scope in scope_of.items():
            numbers = [seq for own, seq in parts if own == number]
            for stored in messages.by_numbers(db, scope.conversation.id, numbers):
                units += _units(scope, stored, parts[number, stored.seq])
        if db.read_only:
            units += self._not_taken_in(among)
        return units, found.statistics

    def _not_taken_in(self, among: Sequence[IndexSource]) -> list[FoundPassage]:
        """The messages that are not in the index of a store that can't be written."""
        last = {source.name: source.last for source in among}
        units = list[FoundPassage]()
        for scope in self.scopes:
            number = scope.conversation.id
            for stored in messages.after(self.db, number, last.get(str(number), 0)):
                units += _units(scope, stored, None)
        return units

    def neighbours(
        self, best: Sequence[FoundPassage], known: Sequence[FoundPassage]
    ) -> list[FoundPassage]:
        """The messages around the best matches; a long one would push them out, so it does not
        come along."""
        there = {(unit.session, unit.item.stored.seq) for unit in known}
        wanted = dict[str, tuple[ConversationScope, set[int]]]()
        for unit in best:
            turn: _Turn = unit.item
            scope, numbers = wanted.setdefault(unit.session, (turn.scope, set()))
            for number in range(turn.stored.seq - AROUND, turn.stored.seq + AROUND + 1):
                if (unit.session, number) not in there:
                    numbers.add(number)
        units = list[FoundPassage]()
        for scope, numbers in wanted.values():
            for stored in messages.by_numbers(self.db, scope.conversation.id, sorted(numbers)):
                beside = _units(scope, stored, {-1, 1})
                if len(beside) == 1 and beside[0].item.parts == 1:
                    units += beside
        return units

    def hits(self, chosen: Sequence[tuple[FoundPassage, int]]) -> list[Hit]:
        """The turns that were chosen, those that were said one after another as one hit."""
        stretches = list[list[tuple[_Turn, int]]]()
        for unit, score in chosen:
            turn: _Turn = unit.item
            if not stretches or not _follows(stretches[-1][-1][0], turn):
                stretches.append([])
            stretches[-1].append((turn, score))
        hits = list[Hit]()
        before: StoredMessage | None = None
        with nullcontext() if self.db.read_only else self.db.transaction():
            for at, stretch in enumerate(stretches):
                turns = [turn for turn, _ in stretch]
                is_first = not at or stretches[at - 1][-1][0].scope is not turns[0].scope
                hit = _hit(
                    self.db,
                    turns,
                    score=max(score for _, score in stretch),
                    before=None if is_first else before,
                )
                hits.append(hit)
                before = turns[-1].stored
        return hits


def _units(
    scope: ConversationScope, stored: StoredMessage, parts: set[int] | None
) -> list[FoundPassage]:
    """The passages of a message that match, all of them where it is not known which, with those
    beside them."""
    if stored.seq >= scope.end:
        return []
    passages = passages_of(scope.secrets.hide_known_values(stored.message.text))
    # what tools were given and gave says less than words
    has_words = bool(texts_in(stored.message))
    ends = accumulate(map(len, passages), initial=0)
    tags = tags_at("".join(passages), ends) if stored.message.role == "user" else []
    units = list[FoundPassage]()
    for part, text in enumerate(passages):
        is_match = parts is None or part in parts
        is_beside = parts is not None and not parts.isdisjoint((part - 1, part + 1))
        if is_match or is_beside:
            turn = _Turn(
                scope=scope,
                stored=stored,
                part=part,
                parts=len(passages),
                text=text,
                tags=(tags[part], tags[part + 1]) if tags else ("", ""),
            )
            unit = FoundPassage(
                session=f"conversation {scope.conversation.id}",
                number=stored.place,
                part=part,
                text=text,
                terms=word_terms(text) if is_match else (),
                date=stored.created,
                share=1 if has_words else TOOL_SHARE,
                item=turn,
            )
            units.append(unit)
    return units


def _follows(last: _Turn, turn: _Turn) -> bool:
    """Whether nothing of the history was said between two turns."""
    is_same = last.scope is turn.scope
    return is_same and turn.stored.place - last.stored.place <= 1


def _hit(
    db: Database,
    turns: Sequence[_Turn],
    *,
    score: int,
    before: StoredMessage | None,
) -> Hit:
    scope = turns[0].scope
    first, last = turns[0].stored, turns[-1].stored
    which = f"message {first.seq}" if first is last else f"messages {first.seq}-{last.seq}"
    where = f"{scope.name}, {which}" if scope.name else which

    def handle(begin: int, end: int) -> str:
        where = Range(scope.conversation.id, begin, end)
        return messages.handle_for(db, scope.conversation, where)

    gap = ""
    passed = first.place - 1 - (before.place if before else 0)
    if passed > 0:
        tokens = first.running - first.tokens - (before.running if before else 0)
        what = f"{quantity(passed, 'message')}, {tokens:,} tokens"
        gap = missing_mark(what, handle(before.seq + 1 if before else 1, first.seq - 1))
    return Hit(
        kind=KIND,
        where=where,
        text=_text(db, turns, lambda seq: handle(seq, seq)),
        score=score,
        handle=handle(first.seq, last.seq),
        gap=gap,
    )


def _speaker(db: Database, turn: _Turn) -> Origin:
    """Return who says the message of a turn; a result is named after its call, just before it."""
    speakers = Speakers()
    seq = turn.stored.seq
    if turn.stored.message.results:
        numbers = range(max(1, seq - MOST_BETWEEN), seq)
        for stored in messages.by_numbers(db, turn.scope.conversation.id, numbers):
            speakers.of(stored.message)
    return speakers.of(turn.stored.message)


def _text(db: Database, turns: Sequence[_Turn], handle: Callable[[int], str]) -> str:
    """Turns as they were said, each message under a line with its number, who and when; what is
    missing of one is marked."""
    pieces = list[str]()
    shown = -1  # the last part of the message that is shown
    tag = ""  # that it ends inside of
    is_several = turns[0].stored is not turns[-1].stored
    for at, turn in enumerate(turns):
        stored = turn.stored
        is_new = not at or turns[at - 1].stored is not stored
        if is_new:
            number = f"message {stored.seq}, " if is_several else ""
            when = stored.created[:16].replace("T", " ")
            pieces.append(f"{number}{_speaker(db, turn)}, {when}:\n")
            shown = -1
            tag = ""
        if turn.part > shown + 1:
            pieces.append(gap_in_tags(_part_mark(turn, handle), before=tag, after=turn.tags[0]))
        pieces.append(quote_headings(turn.text))
        shown = turn.part
        tag = turn.tags[1]
        is_last = at + 1 == len(turns) or turns[at + 1].stored is not stored
        if is_last:
            if not turn.text.endswith("\n"):
                pieces.append("\n")
            if turn.part + 1 < turn.parts:
                pieces.append(gap_in_tags(_part_mark(turn, handle), before=tag, after=""))
            pieces.append("\n")
    return "".join(pieces).rstrip("\n") + "\n"


def _part_mark(turn: _Turn, handle: Callable[[int], str]) -> str:
    seq = turn.stored.seq
    return missing_mark(f"part of message {seq}", handle(seq)) + "\n"
