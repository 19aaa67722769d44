"""Sessions that coding agents left on this machine, in an index of their own in the user's cache.

What a person and the agent said is taken in whole, of what a tool gave the beginning; secrets are
hidden before. A session that has grown is read again, and what is new in it is added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from pathlib import PurePath
from typing import Any

from foreword.messages.message import Message, texts_in
from foreword.origin import SUMMARY, Speakers, gap_in_tags, quote_headings, tags_at
from foreword.search.conversation_search import TOOL_SHARE
from foreword.search.index_entries import Description, EntryPlace, EntryStretch
from foreword.secrets.masking import mask
from foreword.store import search_index
from foreword.store.database import Database
from foreword.store.locations import FILE, cache_folder, make_directory, remember
from foreword.store.search_index import TRANSCRIPT, IndexSource, NewPassage, passages_of
from foreword.store.sqlite import Sqlite
from foreword.text.omission_mark import transcript_mark
from foreword.transcripts.events import CompactionEvent, MessageEvent, SessionHead
from foreword.transcripts.places import SessionPlace
from foreword.transcripts.reader import BrokenFile

# Characters of what a tool gave: its errors and its first lines. A session has ten times as much of
# files that were read as of words, and those are on the disk.
RESULT_CHARS = 2_000
LONGEST_NEIGHBOUR = 500  # characters: a remark beside a match, not a file beside it
AROUND = 3  # passages on either side of a hit that `recall` brings back with it
NO_TAGS = ("", "")  # that a passage begins and ends inside of
Bar = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


def open_index() -> Database:
    """The index of this machine's sessions, made where there is none."""
    path = make_directory(cache_folder() / "transcripts") / FILE
    remember(path)  # `recall` finds what is in it
    return Sqlite(path)


def take_in(db: Database, places: Sequence[SessionPlace], bar: Bar) -> list[IndexSource]:
    """Bring the index up to date with these sessions, and return them; files that are none are
    passed over."""
    known = {source.name: source for source in search_index.sources(db, TRANSCRIPT)}
    new = list[SessionPlace]()
    current = list[IndexSource]()
    for place in places:
        source = known.get(_name(place))
        if source is not None and source.stamp == _stamp(place):
            current.append(source)
        else:
            new.append(place)
    total = sum(max(1, place.size) for place in new)
    with bar(f"indexing {len(new):,} sessions of coding agents", total) as advance:
        done = 0
        for place in new:
            source = _take_in_one(db, place, known.get(_name(place)))
            if source is not None:
                current.append(source)
            done += max(1, place.size)
            advance(done)
    return [source for source in current if source.entries]


def place_of(db: Database, sources: Sequence[IndexSource]) -> EntryPlace:
    """These sessions as a place to find something in."""
    return EntryPlace(
        db=db,
        kind=TRANSCRIPT,
        sources=sources,
        describe=lambda stretch: _describe(db, stretch),
        share_of=_share,
        longest_neighbour=LONGEST_NEIGHBOUR,
    )


def _share(passage: search_index.StoredPassage) -> int:
    """What tools were given and gave says less than words."""
    return TOOL_SHARE if json.loads(passage.about).get("tool") else 1


def _name(place: SessionPlace) -> str:
    return f"{place.path.absolute()}#{place.row}" if place.row else str(place.path.absolute())


def _stamp(place: SessionPlace) -> str:
    return f"{place.size} {place.changed}"


def _take_in_one(
    db: Database, place: SessionPlace, before: IndexSource | None
) -> IndexSource | None:
    """Take in a session, or what is new in it; what can't be read is a source without entries, so
    that it is not tried again."""
    about = dict[str, str]()
    messages = list[_SessionMessage]()
    try:
        with place.open() as session:
            if session is not None:
                about["agent"] = session.agent
                messages = list(_messages(session.events, about))
    except BrokenFile:
        messages = []
    name = _name(place)
    last = messages[-1].number if messages else 0
    with db.transaction(f"foreword: search {name}"):
        if before is None or last < before.last or not before.entries:
            search_index.drop(db, TRANSCRIPT, [name])
            before = search_index.make_source(
                db, TRANSCRIPT, name, stamp=_stamp(place), about=json.dumps(about)
            )
        passages = list[NewPassage]()
        for said in messages:
            if said.number > before.last:
                passages += said.passages()
        return search_index.add(db, before, passages, stamp=_stamp(place), last=last)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionMessage:
    """A message of a session, without secrets."""

    number: int
    speaker: str
    time: str
    text: str
    has_words: bool = True  # else it is what a tool was given or gave

    def passages(self) -> list[NewPassage]:
        """The passages to take in, and what is kept about each."""
        about: dict[str, Any] = {
            "message": self.number,
            "speaker": self.speaker,
            "time": self.time,
        }
        if not self.has_words:
            about["tool"] = True
        texts = passages_of(self.text)
        tags = [""] * (len(texts) + 1)
        if self.speaker == "user":
            tags = tags_at(self.text, accumulate(map(len, texts), initial=0))
        passages = list[NewPassage]()
        for text, tags_around in zip(texts, pairwise(tags), strict=True):
            label = {**about, "tags": tags_around} if any(tags_around) else about
            passages.append(NewPassage(text=text, about=json.dumps(label)))
        return passages


def _messages(events: Iterable[object], about: dict[str, str]) -> Iterator[_SessionMessage]:
    """What was said; `about` is filled in."""
    number = 0
    speakers = Speakers()
    for event in events:
        if isinstance(event, SessionHead):
            about["folder"] = about.get("folder") or event.folder
        elif isinstance(event, MessageEvent):
            number += 1
            speaker = speakers.of(event.message)
            text, has_words = _message_text(event.message)
            if text.strip():
                yield _SessionMessage(
                    number=number,
                    speaker=str(speaker),
                    time=event.time,
                    text=text,
                    has_words=has_words,
                )
        elif isinstance(event, CompactionEvent) and event.summary.strip():
            number += 1
            text = mask(event.summary)
            yield _SessionMessage(number=number, speaker=str(SUMMARY), time=event.time, text=text)


def _message_text(message: Message) -> tuple[str, bool]:
    """What a message says, and whether that is words."""
    text = mask(message.text)
    has_words = any(text.strip() for text in texts_in(message))
    if not has_words and len(text) > RESULT_CHARS:
        text = f"{text[:RESULT_CHARS]}\n{transcript_mark(len(text) - RESULT_CHARS)}"
    return text, has_words


def _describe(db: Database, stretch: EntryStretch) -> Description:
    about = json.loads(stretch.source.about)
    first = json.loads(stretch.passages[0].about)
    last = json.loads(stretch.passages[-1].about)
    numbers = f"message {first['message']}"
    if last["message"] != first["message"]:
        numbers = f"messages {first['message']}-{last['message']}"
    folder = f" in {about['folder']}" if about.get("folder") else ""
    around = search_index.passages_in(
        db,
        stretch.source,
        stretch.passages[0].number - AROUND,
        stretch.passages[-1].number + AROUND,
    )
    name = PurePath(stretch.source.name).name
    return Description(
        where=f"{about.get('agent', 'agent')}{folder}, {name}, {numbers}",
        text=_text(stretch.passages),
        date=first["time"],
        original=_text(around),
    )


def _text(passages: Sequence[search_index.StoredPassage]) -> str:
    """Passages as they were said, each message under a line with its number, who and when."""
    blocks = list[str]()
    labeled = [(json.loads(passage.about), passage.body) for passage in passages]
    for number, group in groupby(labeled, key=lambda each: each[0]["message"]):
        rows = list(group)
        first, last = rows[0][0], rows[-1][0]
        when = f", {first['time'][:16].replace('T', ' ')}" if first["time"] else ""
        opening = gap_in_tags("", before="", after=first.get("tags", NO_TAGS)[0])
        words = quote_headings("".join([body for _, body in rows])).rstrip("\n")
        closing = gap_in_tags("", before=last.get("tags", NO_TAGS)[1], after="")
        heading = f"message {number}, {first['speaker']}{when}:\n"
        blocks.append(f"{heading}{opening}{words}\n{closing}".rstrip("\n"))
    return "\n\n".join(blocks) + "\n"
