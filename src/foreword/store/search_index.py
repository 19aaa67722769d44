"""The index by which questions find what was said and written: FTS5 in SQLite, `tsvector` in
PostgreSQL.

Both are fed with the same terms and give the same candidates; scores are the business of whoever
asks. An entry is a passage; its number says where it is from: kind, source, and for a message its
number and part. Messages are not kept twice: of other sources the passages are here. Messages go in
by the batch, in the transaction of the append that fills it; a question takes in the rest first, so
that nothing that was appended is missing from an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from foreword.messages.record import from_record
from foreword.pattern import lazy_pattern
from foreword.relevance import Question, Statistics
from foreword.relevance.terms import stem
from foreword.secrets.known_values import KnownValues
from foreword.store.database import Database, Row, storable_text
from foreword.store.messages import HISTORY, MOST_NUMBERS
from foreword.store.secret_values import secrets_of
from foreword.text.words import STOP_WORDS, bigrams

CONVERSATION = "conversation"
DOCUMENT = "document"
# fields of a document, each with entries and statistics of its own
TITLE = "title"
HEADINGS = "headings"
ARTIFACT = "artifact"
TRANSCRIPT = "transcript"
_KINDS = (CONVERSATION, DOCUMENT, TITLE, HEADINGS, ARTIFACT, TRANSCRIPT)
_FIELDS = {DOCUMENT: (DOCUMENT, TITLE, HEADINGS)}
# Characters of a passage: about 300 tokens, as much as an answer quotes of one place. Longer ones
# match more questions by chance, shorter ones lose what they are about.
PASSAGE_CHARS = 1_200
# Of an entry's number: its part of a message, the number in its source, its source, its kind.
_PART_BITS, _NUMBER_BITS, _SOURCE_BITS = 12, 24, 24
_MOST_PARTS = 1 << _PART_BITS
_SOURCE_SHIFT = _PART_BITS + _NUMBER_BITS
_KIND_SHIFT = _SOURCE_SHIFT + _SOURCE_BITS
# Entries that the terms of one question may be found in, all together: 22,000 take 9 ms. The rare
# terms come first; what is left out is in so many entries that it tells nothing apart.
MOST_FOUND = 20_000
# Sources that are asked one by one; more are asked together and told apart by their numbers.
_FEW_SOURCES = 8
# Messages read at once when an old store is taken in: bounds the memory, and shows progress.
_READ_AT_ONCE = 1_000
_HUMP = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = lazy_pattern(r"[^\W_]+(?:['\u2019][^\W\d_]+)?")
# Of a term, to the index: what is longer is a hash or a blob, which its beginning tells apart.
_LONGEST_TERM = 64
_MOST_WORDS = 65_536  # whose terms are remembered: about 10 MB
Progress = Callable[[int], None]
_EntryTerms = tuple[int, str]  # the number of an entry, and its terms with blanks between them


class IndexSource(NamedTuple):
    """What entries are from: a conversation, a file ...

    A tuple in the order of `_SOURCE`, since a question to a project reads thousands of them.
    """

    id: int
    kind: str
    name: str
    stamp: str  # what it was when it was taken in; for a conversation, which secrets were hidden
    about: str  # what whoever took it in wants to know of it
    last: int  # the number of its last message
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """A passage that terms of a question are in."""

    id: int

    @property
    def source(self) -> int:
        """The number of its source."""
        return (self.id >> _SOURCE_SHIFT) & ((1 << _SOURCE_BITS) - 1)

    @property
    def number(self) -> int:
        """Its number in the source; that of its message in a conversation."""
        return (self.id >> _PART_BITS) & ((1 << _NUMBER_BITS) - 1)

    @property
    def part(self) -> int:
        """Which passage of its message it is, from 0."""
        return self.id & (_MOST_PARTS - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What the index knows about a question: entries, the heaviest first, and how often its terms
    are in everything that was asked."""

    entries: tuple[IndexEntry, ...]
    statistics: Statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassage:
    """A passage to take in: what is known about it, and its text; it is found by its `heading`,
    too, which is not kept."""

    text: str
    about: str = ""
    heading: str = ""
    field: str = ""  # else the kind of its source


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassage(IndexEntry):
    """A passage that was taken in: what is known about it, and its text."""

    about: str
    body: str


def index_terms(text: str) -> set[str]:
    """What a text is found by: its words without their endings, and those inside its names.

    Fewer than the ranking knows: a name as a whole is found by its words, and to look for names is
    ten times as dear as all the rest (250 us for a message of 550 characters).
    """
    return set(_term_list(text).split())


def _blanks_table() -> bytes:
    """Every byte as it is, but a blank for those of ASCII that are in no word."""
    table = bytearray(range(256))
    for number in range(128):
        if not chr(number).isalnum() and chr(number) != "'":
            table[number] = ord(" ")
    return bytes(table)


_BLANKS = _blanks_table()


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
    most = max(PASSAGE_CHARS, -(-len(text) // (_MOST_PARTS // 2)))
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
        found = list[_EntryTerms]()
        for seq, record in rows:
            found += _message_terms(source.id, seq, record, secrets)
        _write_terms(db, found)
        entries += len(found)
        progress(len(rows))
    db.rows(
        "UPDATE search_sources SET last = ?, entries = ? WHERE id = ?",
        (last, entries, source.id),
    )


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


def _message_terms(
    source: int, seq: int, record: str, secrets: KnownValues
) -> Iterable[_EntryTerms]:
    text = from_record(record).text
    for part, passage in enumerate(passages_of(secrets.hide_known_values(text))):
        terms = _term_list(passage)
        if terms.strip():
            yield _entry_id(CONVERSATION, source, seq, part), terms


def forget_messages(db: Database, conversation: int, *, after: int) -> None:
    """Take the messages behind one out of the index: a client has taken them back."""
    source = find_source(db, CONVERSATION, str(conversation))
    if source is not None:
        first = _entry_id(CONVERSATION, source.id, after + 1, 0)
        last = _range(CONVERSATION, source.id)[1]
        db.rows("DELETE FROM search_words WHERE rowid BETWEEN ? AND ?", (first, last))


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
        low = _entry_id(CONVERSATION, source.id, number, 0)
        db.rows("DELETE FROM search_words WHERE rowid >= ? AND rowid < ?", (low, low + _MOST_PARTS))
        for seq, record in db.rows(
            "SELECT seq, written FROM messages WHERE conversation = ? AND seq = ?",
            (conversation, number),
        ):
            _write_terms(db, _message_terms(source.id, seq, record, secrets))
    db.rows("UPDATE search_sources SET stamp = ? WHERE id = ?", (secrets.digest, source.id))


def _numbers_with(db: Database, source: IndexSource, wanted: Sequence[str]) -> set[int]:
    """The messages that have an entry with all of these terms."""
    found: set[int] | None = None
    low, high = _range(CONVERSATION, source.id)
    for term in wanted:
        rows = db.rows(
            f"SELECT rowid FROM search_words WHERE {db.has_word} AND rowid BETWEEN ? AND ?",
            (term, low, high),
        )
        numbers = {IndexEntry(id=row).number for (row,) in rows}
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
    ids = list[int]()
    bodies = list[str]()
    found = list[str]()
    for number, passage in enumerate(passages, source.entries):
        ids.append(_entry_id(passage.field or source.kind, source.id, number, 0))
        bodies.append(storable_text(passage.text))
        found.append(_term_list(f"{passage.heading}\n{bodies[-1]}"))
        if not passage.field:
            entries += 1
    abouts = [storable_text(passage.about) for passage in passages]
    db.many(
        "INSERT INTO search_entries (id, about, body) VALUES (?, ?, ?)",
        zip(ids, abouts, bodies, strict=True),
    )
    _write_terms(db, zip(ids, found, strict=True))
    db.rows(
        "UPDATE search_sources SET stamp = ?, last = ?, entries = ? WHERE id = ?",
        (stamp, last, entries, source.id),
    )
    return source._replace(stamp=stamp, last=last, entries=entries)


def drop(db: Database, kind: str, names: Iterable[str]) -> None:
    """Forget sources."""
    for name in names:
        source = find_source(db, kind, name)
        if source is None:
            continue
        for field in _FIELDS.get(kind, (kind,)):
            values = _range(field, source.id)
            db.rows("DELETE FROM search_words WHERE rowid BETWEEN ? AND ?", values)
            db.rows("DELETE FROM search_entries WHERE id BETWEEN ? AND ?", values)
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


def _write_terms(db: Database, found: Iterable[_EntryTerms]) -> None:
    db.many("INSERT INTO search_words (rowid, words) VALUES (?, ?)", found)


# --- what is there --------------------------------------------------------------------------------

_SOURCE = "SELECT id, kind, name, stamp, about, last, entries FROM search_sources"


def find_source(db: Database, kind: str, name: str) -> IndexSource | None:
    """The source of that name, if it was taken in."""
    rows = db.rows(f"{_SOURCE} WHERE kind = ? AND name = ?", (kind, storable_text(name)))
    return IndexSource._make(rows[0]) if rows else None


def sources(db: Database, kind: str, *, below: str = "") -> list[IndexSource]:
    """The sources of a kind whose names begin so, in the order they were taken in."""
    rows = db.rows(
        f"{_SOURCE} WHERE kind = ? AND name >= ? AND name < ? ORDER BY id",
        (kind, below, f"{below[:-1]}{chr(ord(below[-1]) + 1)}" if below else "\U0010ffff"),
    )
    return [IndexSource._make(row) for row in rows]


def passages_at(db: Database, entries: Sequence[int]) -> list[StoredPassage]:
    """The passages with these numbers, in the order of the numbers; those that are there."""
    found = list[StoredPassage]()
    for first in range(0, len(entries), MOST_NUMBERS):
        some = entries[first : first + MOST_NUMBERS]
        places = ", ".join("?" * len(some))
        rows = db.rows(f"SELECT id, about, body FROM search_entries WHERE id IN ({places})", some)
        found += [_passage(row) for row in rows]
    return sorted(found, key=lambda passage: passage.id)


def passages_in(db: Database, source: IndexSource) -> list[StoredPassage]:
    """Every passage of a source, in order."""
    rows = db.rows(
        "SELECT id, about, body FROM search_entries WHERE id BETWEEN ? AND ? ORDER BY id",
        _range(source.kind, source.id),
    )
    return [_passage(row) for row in rows]


def _passage(row: Row) -> StoredPassage:
    number, about, body = row
    return StoredPassage(id=number, about=about, body=body)


def ids_around(entry: int, count: int) -> list[int]:
    """The numbers of so many entries on either side of one, whether they are there or not."""
    return [entry + step * _MOST_PARTS for step in range(-count, count + 1) if step]


# --- asking ---------------------------------------------------------------------------------------


def candidates(
    db: Database, question: Question, kind: str, among: Sequence[IndexSource], *, most: int
) -> Candidates:
    """The entries of these sources that terms of a question are in, the heaviest first; of equals
    the newest."""
    is_field = kind in (TITLE, HEADINGS)  # one for each document
    total = len(among) if is_field else sum(source.entries for source in among)
    scopes = _scopes(kind, among)
    counts = _counts(db, question, scopes)
    # no length: whoever ranks knows those of the texts that it reads
    statistics = Statistics(total, 0, counts)
    selects = list[str]()
    values = list[object]()
    for term in _telling_terms(counts):
        weight = question.weights[term] * statistics.rarity(term)
        for scope in scopes:
            selects.append(
                f"SELECT rowid AS id, {weight} AS weight FROM search_words WHERE {db.has_word} AND"
                " rowid BETWEEN ? AND ?"
            )
            values += (term[:_LONGEST_TERM], *scope)
    if not selects:
        return Candidates(entries=(), statistics=statistics)
    rows = db.rows(
        f"SELECT id, SUM(weight) AS weight FROM ({' UNION ALL '.join(selects)}) AS found GROUP BY"
        " id ORDER BY weight DESC, id DESC LIMIT ?",
        (*values, most),
    )
    entries = [IndexEntry(id=int(number)) for number, _ in rows]
    return Candidates(entries=tuple(entries), statistics=statistics)


def _counts(db: Database, question: Question, scopes: Sequence[tuple[int, int]]) -> dict[str, int]:
    """In how many entries each term of a question is; none where it is in none. A name as a whole,
    with `_` in it, is found by its words."""
    counts = dict[str, int]()
    for term in question.weights:
        if "_" in term:
            continue
        count = 0
        for scope in scopes:
            ((found,),) = db.rows(
                f"SELECT COUNT(*) FROM search_words WHERE {db.has_word} AND rowid BETWEEN ? AND ?",
                (term[:_LONGEST_TERM], *scope),
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


def _scopes(kind: str, among: Sequence[IndexSource]) -> list[tuple[int, int]]:
    """The stretches of numbers that entries of these sources have."""
    if len(among) <= _FEW_SOURCES:
        return [_range(kind, source.id) for source in among]
    low = _KINDS.index(kind) << _KIND_SHIFT
    return [(low, low + (1 << _KIND_SHIFT) - 1)]


def _range(kind: str, source: int) -> tuple[int, int]:
    """The first and the last number that an entry of a source may have."""
    low = _entry_id(kind, source, 0, 0)
    return low, low + (1 << _SOURCE_SHIFT) - 1


def _entry_id(kind: str, source: int, number: int, part: int) -> int:
    place = (_KINDS.index(kind) << _KIND_SHIFT) | (source << _SOURCE_SHIFT)
    return place | (number << _PART_BITS) | part
