"""The index by which questions find what was said and written: FTS5 in SQLite, `tsvector` in
PostgreSQL.

Both are fed with the same terms and give the same candidates; callers compute the scores. An entry
is a passage, with its source, its number there (of a message, its own) and its part. The text of a
message is not stored twice: only the passages of other sources are here. Besides its words, an
entry is indexed under two filter terms, its field alone and its field with its source, by which a
question is limited. Messages go in by the batch, in the transaction of the append that fills it; a
question takes in the rest first, so that nothing that was appended is missing from an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from foreword.messages.record import from_record
from foreword.pattern import lazy_pattern
from foreword.relevance import Question, Statistics
from foreword.relevance.terms import stem
from foreword.secrets.known_values import KnownValues
from foreword.store.database import (
    LARGEST_NUMBER,
    Database,
    Row,
    select,
    select_first,
    storable_text,
    update,
)
from foreword.store.messages import HISTORY
from foreword.store.secret_values import secrets_of
from foreword.text.words import STOP_WORDS, bigrams

CONVERSATION = "conversation"
DOCUMENT = "document"
# fields of a document, each with entries and statistics of its own
TITLE = "title"
HEADINGS = "headings"
ARTIFACT = "artifact"
TRANSCRIPT = "transcript"
# Characters of a passage: about 300 tokens, as much as an answer quotes of one place. Longer ones
# match more questions by chance, shorter ones lose what they are about.
PASSAGE_CHARS = 1_200
# Of one text: its passages are longer where there would be more.
_MOST_PASSAGES = 2_048
# Entries that the terms of one question may be found in, all together: 22,000 take 9 ms. The rare
# terms come first; what is left out is in so many entries that it tells nothing apart.
MOST_FOUND = 20_000
# Sources that are asked one by one; more are asked with all others of their kind.
_FEW_SOURCES = 8
# Messages read at once when an old store is taken in: bounds the memory, and shows progress.
_READ_AT_ONCE = 1_000
_HUMP = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = lazy_pattern(r"[^\W_]+(?:['\u2019][^\W\d_]+)?")
# Of a term, to the index: what is longer is a hash or a blob, which its beginning tells apart.
_LONGEST_TERM = 64
_MOST_WORDS = 65_536  # whose terms are remembered: about 10 MB
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSource:
    """What entries are from: a conversation, a file ..."""

    id: int
    kind: str
    name: str
    stamp: str  # what it was when it was taken in; for a conversation, which secrets were hidden
    about: str  # what whoever took it in wants to know of it
    last: int  # the number of its last message
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage:
    """An entry: a passage of a source; of a message without its text."""

    id: int
    source: int
    field: str
    number: int  # in the source; that of its message in a conversation
    part: int  # which passage of its message it is, from 0
    about: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What the index knows about a question: the heaviest entries, the oldest first, and how often
    its terms are in everything that was asked."""

    entries: tuple[StoredPassage, ...]
    statistics: Statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassage:
    """A passage to take in: what is known about it, and its text; it is found by its `heading`,
    too, which is not kept."""

    text: str
    about: str = ""
    heading: str = ""
    field: str = ""  # else the kind of its source


def index_terms(text: str) -> set[str]:
    """What a text is found by: its words without their endings, and those inside its names.

    Fewer than the ranking knows: a name as a whole is found by its words, and to look for names is
    ten times as dear as all the rest (250 us for a message of 550 characters).
    """
    return set(_term_list(text).split())


# Every byte as it is, but a blank for those of ASCII that are in no word.
_BLANKS = bytes(
    byte if byte >= 128 or chr(byte).isalnum() or chr(byte) == "'" else ord(" ")
    for byte in range(256)
)


def _term_list(text: str) -> str:
    """The terms of a text with blanks between them, each as often as it is there: an index passes
    over what it has sooner than we could."""
    # Parted by its bytes, which is far quicker than a pattern; what is not ASCII is seen to once
    # for each word.
    return " ".join(map(_terms_of_word, text.encode("utf-8", "replace").translate(_BLANKS).split()))


class _WordTerms(dict[bytes, str]):
    """The terms of words, each looked for once: half the time of `lru_cache`, which has to know
    the order in which they were asked for."""

    def __missing__(self, spelled: bytes) -> str:
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[spelled] = terms = _word_terms(spelled)
        return terms


_terms_of_word = _WordTerms().__getitem__


def _word_terms(spelled: bytes) -> str:
    """The terms of what stands between two blanks; of `camelCase` those inside it, too."""
    found = set[str]()
    for word in _WORD.findall(bigrams(spelled.decode())):
        for part in (word, *_HUMP.split(word)):
            lowered = part.lower()
            if lowered not in STOP_WORDS:
                found.add(stem(lowered)[:_LONGEST_TERM])
    return " ".join(sorted(found))


# --- taking in ------------------------------------------------------------------------------------


def passages_of(text: str) -> list[str]:
    """A text in passages, which joined are the text again: whole lines where they are not too
    long."""
    if len(text) <= PASSAGE_CHARS:
        return [text]
    most = max(PASSAGE_CHARS, -(-len(text) // (_MOST_PASSAGES)))
    passages = list[str]()
    start = 0
    while start < len(text):
        end = start + most
        if end < len(text):
            # half of it at least: a short line in front of a very long one is no passage
            line_end = text.rfind("\n", start + most // 2, end)
            word_end = text.rfind(" ", start + most // 2, end) if line_end < 0 else line_end
            end = word_end + 1 if word_end >= 0 else end
        passages.append(text[start:end])
        start = end
    return passages


def add_messages(
    db: Database,
    conversation: int,
    *,
    most: int | None = None,
    progress: Progress = lambda count: None,
) -> None:
    """Take in the messages of a conversation that are waiting; none where they are more than
    `most`. The caller holds the conversation's lock."""
    workflow, last = _extent(db, conversation)
    source = find_source(db, CONVERSATION, str(conversation))
    begin = source.last if source else 0
    if last <= begin or (most is not None and last - begin > most):
        return
    secrets = secrets_of(db, workflow)
    if source is None:
        source = make_source(db, CONVERSATION, str(conversation), stamp=secrets.digest)
    entries = source.entries
    for first in range(begin, last, _READ_AT_ONCE):
        rows = db.rows(
            f"SELECT seq, written FROM messages WHERE conversation = ? AND seq > ? AND seq <= ? AND"
            f" {HISTORY} ORDER BY seq",
            (conversation, first, min(last, first + _READ_AT_ONCE)),
        )
        entries += _write_messages(db, source, rows, secrets)
        progress(len(rows))
    update(db, "search_sources", {"id": source.id}, last=last, entries=entries)


def _extent(db: Database, conversation: int) -> tuple[int, int]:
    """The workflow of a conversation, and the number of its last message."""
    ((workflow, last),) = db.rows(
        "SELECT workflow, (SELECT COALESCE(MAX(seq), 0) FROM messages WHERE conversation = c.id)"
        " FROM conversations c WHERE id = ?",
        (conversation,),
    )
    return int(workflow), int(last)


def is_current(db: Database, conversation: int, secrets: KnownValues) -> bool:
    """Whether all messages of a conversation are in the index, and none of these secrets."""
    source = find_source(db, CONVERSATION, str(conversation))
    last = _extent(db, conversation)[1]
    if source is None:
        return not last
    return source.last == last and source.stamp == secrets.digest


def waiting_messages(db: Database, conversation: int) -> int:
    """How many messages of a conversation are not in the index yet."""
    source = find_source(db, CONVERSATION, str(conversation))
    return _extent(db, conversation)[1] - (source.last if source else 0)


def _write_messages(
    db: Database, source: IndexSource, rows: Iterable[Row], secrets: KnownValues
) -> int:
    """Write entries for messages, each with its number and its record; returns how many."""
    new = list[_Entry]()
    for seq, record in rows:
        text = secrets.hide_known_values(from_record(record).text)
        for part, passage in enumerate(passages_of(text)):
            terms = _term_list(passage)
            if terms.strip():
                new.append(_Entry(CONVERSATION, seq, part, "", "", terms))
    _write_entries(db, source, new)
    return len(new)


def forget_messages(db: Database, conversation: int, *, after: int) -> None:
    """Take the messages behind one out of the index: a client has taken them back."""
    source = find_source(db, CONVERSATION, str(conversation))
    if source is not None:
        _delete_entries(db, source, after + 1)


def hide_new_secrets(db: Database, conversation: int) -> None:
    """Take anew what holds secrets that were not known as such when it was taken in. The caller
    holds the conversation's lock."""
    source = find_source(db, CONVERSATION, str(conversation))
    if source is None:
        return
    secrets = secrets_of(db, _extent(db, conversation)[0])
    if secrets.digest == source.stamp:
        return
    numbers = set[int]()
    for spelling in secrets.spellings:
        # a spelling may have ended in the middle of a word: its last term need not be whole
        numbers.update(_numbers_with(db, source, sorted(index_terms(spelling))))
    for number in sorted(numbers):
        _delete_entries(db, source, number, number)
        rows = db.rows(
            "SELECT seq, written FROM messages WHERE conversation = ? AND seq = ?",
            (conversation, number),
        )
        _write_messages(db, source, rows, secrets)
    update(db, "search_sources", {"id": source.id}, stamp=secrets.digest)


def _numbers_with(db: Database, source: IndexSource, wanted: Sequence[str]) -> set[int]:
    """The messages that have an entry with all of these terms."""
    found: set[int] | None = None
    for term in wanted:
        rows = db.rows(
            "SELECT number FROM search_entries WHERE id IN (SELECT rowid FROM search_words WHERE"
            f" {db.has_word} AND {db.has_word})",
            (term, _filter_term(CONVERSATION, source)),
        )
        numbers = {number for (number,) in rows}
        found = numbers if found is None else found & numbers
    return found or set()


def put(
    db: Database,
    kind: str,
    name: str,
    *,
    stamp: str,
    about: str = "{}",
    passages: Sequence[NewPassage],
) -> IndexSource:
    """Take in a source whole, in the place of what it was before."""
    with db.transaction(f"foreword: search {kind} {name}"):
        drop(db, kind, [name])
        source = make_source(db, kind, name, stamp=stamp, about=about)
        return add(db, source, passages, stamp=stamp)


def add(
    db: Database, source: IndexSource, passages: Sequence[NewPassage], *, stamp: str, last: int = 0
) -> IndexSource:
    """Add passages to a source, behind those it has; the caller holds the transaction."""
    entries = source.entries
    new = list[_Entry]()
    for number, passage in enumerate(passages, source.entries):
        field = passage.field or source.kind
        body = storable_text(passage.text)
        terms = _term_list(f"{passage.heading}\n{body}")
        new.append(_Entry(field, number, 0, storable_text(passage.about), body, terms))
        entries += field == source.kind
    _write_entries(db, source, new)
    update(db, "search_sources", {"id": source.id}, stamp=stamp, last=last, entries=entries)
    return replace(source, stamp=stamp, last=last, entries=entries)


def drop(db: Database, kind: str, names: Iterable[str]) -> None:
    """Forget sources."""
    for name in names:
        source = find_source(db, kind, name)
        if source is not None:
            _delete_entries(db, source)
            db.rows("DELETE FROM search_sources WHERE id = ?", (source.id,))


def make_source(
    db: Database, kind: str, name: str, *, stamp: str, about: str = "{}"
) -> IndexSource:
    """A source without entries, to add some to."""
    db.rows(
        "INSERT INTO search_sources (kind, name, stamp, about, last, entries) VALUES (?, ?, ?, ?,"
        " 0, 0)",
        (kind, storable_text(name), stamp, storable_text(about)),
    )
    made = find_source(db, kind, name)
    assert made is not None
    return made


class _Entry(NamedTuple):
    """A new entry: its columns, and its terms with blanks between them."""

    field: str
    number: int
    part: int
    about: str
    body: str
    terms: str


def _write_entries(db: Database, source: IndexSource, new: Sequence[_Entry]) -> None:
    """Write entries in the order of their numbers, which no entry of the source has."""
    if not new:
        return
    db.many(
        "INSERT INTO search_entries (source, field, number, part, about, body) VALUES (?, ?, ?, ?,"
        " ?, ?)",
        [(source.id, *entry[:-1]) for entry in new],
    )
    ids = db.rows(
        "SELECT id FROM search_entries WHERE source = ? AND number BETWEEN ? AND ? ORDER BY"
        " number, part",
        (source.id, new[0].number, new[-1].number),
    )
    words = list[tuple[int, str]]()
    for (number,), entry in zip(ids, new, strict=True):
        filters = f"{_filter_term(entry.field)} {_filter_term(entry.field, source)}"
        words.append((number, f"{filters} {entry.terms}"))
    db.many("INSERT INTO search_words (rowid, words) VALUES (?, ?)", words)


def _delete_entries(
    db: Database, source: IndexSource, first: int = 0, last: int = LARGEST_NUMBER
) -> None:
    """Delete the entries of a source from one number to another."""
    which = "FROM search_entries WHERE source = ? AND number BETWEEN ? AND ?"
    values = (source.id, first, last)
    db.rows(f"DELETE FROM search_words WHERE rowid IN (SELECT id {which})", values)
    db.rows(f"DELETE {which}", values)


def _filter_term(field: str, source: IndexSource | None = None) -> str:
    """The term of all entries of a field, or of those of one source; no word has a `_` in it."""
    return f"{field}_{source.id if source else ''}"


# --- what is there --------------------------------------------------------------------------------


def find_source(db: Database, kind: str, name: str) -> IndexSource | None:
    """The source of that name, if it was taken in."""
    which = "FROM search_sources WHERE kind = ? AND name = ?"
    return select_first(db, IndexSource, which, (kind, storable_text(name)))


def sources(db: Database, kind: str, *, below: str = "") -> list[IndexSource]:
    """The sources of a kind whose names begin so, in the order they were taken in."""
    end = f"{below[:-1]}{chr(ord(below[-1]) + 1)}" if below else "\U0010ffff"
    which = "FROM search_sources WHERE kind = ? AND name >= ? AND name < ? ORDER BY id"
    return select(db, IndexSource, which, (kind, below, end))


def passages_in(
    db: Database, source: IndexSource, first: int = 0, last: int = LARGEST_NUMBER
) -> list[StoredPassage]:
    """The passages of a source from one number to another, in order."""
    which = "FROM search_entries WHERE source = ? AND number BETWEEN ? AND ? AND field = ?"
    values = (source.id, first, last, source.kind)
    return select(db, StoredPassage, f"{which} ORDER BY number, part", values)


# --- asking ---------------------------------------------------------------------------------------


def candidates(
    db: Database, question: Question, field: str, among: Sequence[IndexSource], *, most: int
) -> Candidates:
    """The heaviest entries of these sources that terms of a question are in; of equals the
    newest. Of many sources, entries of others of their kind may be among them."""
    is_whole_text = field not in (TITLE, HEADINGS)  # else there is one for each document
    total = sum(source.entries for source in among) if is_whole_text else len(among)
    filters = [_filter_term(field, source) for source in among]
    if len(among) > _FEW_SOURCES:
        filters = [_filter_term(field)]
    counts = _counts(db, question, filters)
    # no length: whoever ranks knows those of the texts that it reads
    statistics = Statistics(total, 0, counts)
    selects = list[str]()
    values = list[object]()
    for term in _telling_terms(counts):
        weight = question.weights[term] * statistics.rarity(term)
        for filter_term in filters:
            selects.append(
                f"SELECT rowid AS entry, {weight} AS weight FROM search_words WHERE {db.has_word}"
                f" AND {db.has_word}"
            )
            values += (term[:_LONGEST_TERM], filter_term)
    if not selects:
        return Candidates(entries=(), statistics=statistics)
    heaviest = (
        f"SELECT entry FROM ({' UNION ALL '.join(selects)}) AS matches GROUP BY entry ORDER BY"
        " SUM(weight) DESC, entry DESC LIMIT ?"
    )
    which = f"FROM search_entries WHERE id IN ({heaviest}) ORDER BY id"
    entries = select(db, StoredPassage, which, (*values, most))
    return Candidates(entries=tuple(entries), statistics=statistics)


def _counts(db: Database, question: Question, filters: Sequence[str]) -> dict[str, int]:
    """In how many entries each term of a question is; none where it is in none. A name as a whole,
    with `_` in it, is found by its words."""
    counts = dict[str, int]()
    for term in question.weights:
        if "_" in term:
            continue
        count = 0
        for filter_term in filters:
            ((found,),) = db.rows(
                f"SELECT COUNT(*) FROM search_words WHERE {db.has_word} AND {db.has_word}",
                (term[:_LONGEST_TERM], filter_term),
            )
            count += int(found)
        if count:
            counts[term] = count
    return counts


def _telling_terms(counts: Mapping[str, int]) -> list[str]:
    """The rarest terms that are in few enough entries together; one at least."""
    chosen = list[str]()
    left = MOST_FOUND
    for term in sorted(counts, key=lambda term: (counts[term], term)):
        left -= counts[term]
        if chosen and left < 0:
            break
        chosen.append(term)
    return chosen
