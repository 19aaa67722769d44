"""A summary that Foreword did not write, checked against what is kept of the conversation.

By a model that was asked for it, or one that came in with a client's history or a transcript: the
same path. What is proven by nothing is marked, or struck where there is no room for marks; names
that it misses are added from the messages. Looks nothing up itself: the caller gives the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from foreword.compression import prompt
from foreword.compression.attribution import UNPROVEN
from foreword.compression.check import (
    Evidence,
    check_against,
    evidence_of,
    mark_unproven,
    strike_unproven,
)
from foreword.compression.extract import summarize
from foreword.compression.remarks import is_summary
from foreword.messages.message import Message, edit, texts_in
from foreword.messages.parts import Text
from foreword.tokens import Counter

MOST_NAMED = 8  # of what is unproven in a note; the marks in the text tell the rest
LEAST_ADDED_TOKENS = 40  # a heading and a few names take as much
JOINED_TOKENS = 4  # by which a summary and its heading may come to more than each by itself
# Of a summary that came in, for the names that it misses. The agents' own have 500 to 4,000 tokens:
# a fifth of that is some fifty names. Half of it is a dozen; double would be most of what the next
# compression has to shorten again.
ADDED_SHARE = 0.2
LEAST_ADDED_ROOM = 150  # a dozen paths and names, however short the summary is
ADDED = "[Added by Foreword: names from the kept messages that this summary misses]"
NOT_CHECKED = (
    "a summary that came in stands for messages that are not kept here, and was not checked"
)


@dataclass(frozen=True, slots=True)
class CheckedSummary:
    """A summary with its marks and additions, and notes on them."""

    text: str
    notes: tuple[str, ...] = ()


def mark_or_strike(
    summary: str, evidence: Evidence, *, counter: Counter, room: int | None = None
) -> CheckedSummary:
    """The summary with what is nowhere in the evidence marked, or its lines struck where marks
    would not fit a room."""
    found = check_against(summary, evidence)
    if not found.unproven:
        return CheckedSummary(summary)
    text = mark_unproven(summary, found)
    done = "marked"
    if room is not None and counter.count(text) > room:
        text = strike_unproven(summary, found)
        done = "struck"
    named = ", ".join(found.names[:MOST_NAMED])
    note = (
        f"{len(found.names):,} names, numbers or quotations of the summary are nowhere in the"
        f" history and were {done}: {named}"
    )
    return CheckedSummary(text, (note,))


def with_missing_names(
    made: CheckedSummary,
    names_in: Callable[[int], str],
    *,
    room: int,
    counter: Counter,
    heading: str = "",
) -> CheckedSummary:
    """The summary with the names that it misses behind it, as far as there is room; `names_in`
    writes them within so many tokens."""
    left = room - counter.count(made.text) - counter.count(heading) - JOINED_TOKENS
    if left < LEAST_ADDED_TOKENS:
        return made
    names = names_in(left)
    if not names:
        return made
    blocks = [made.text.rstrip(), heading, names] if heading else [made.text.rstrip(), names]
    note = "names that the summary misses were added from the history"
    return CheckedSummary("\n\n".join(blocks), (*made.notes, note))


def check_incoming(
    message: Message, known: Sequence[Message], *, also: Iterable[str], counter: Counter
) -> tuple[Message, tuple[str, ...]]:
    """A summary that came in as a message, checked against the messages that were kept before it
    and other texts that hold; its own words all stay."""
    if not known:
        return message, (NOT_CHECKED,)
    place, part = max(_texts(message), key=lambda each: len(each[1].text))
    size = counter.count(part.text)
    stands_for = sum(counter.count(each.text) for each in known)
    notes = list[str]()
    least = prompt.least_tokens(stands_for)
    if size < least:
        notes.append(
            f"the summary that came in has {size:,} tokens, too few to stand for {stands_for:,}"
        )
    evidence = evidence_of(known, also)
    marked = mark_or_strike(part.text, evidence, counter=counter)

    def names_in(room: int) -> str:
        return summarize(known, room, counter, beside=part.text, only_names=True)

    added = max(round(ADDED_SHARE * size), least, LEAST_ADDED_ROOM)
    room = counter.count(marked.text) + counter.count(ADDED) + added
    made = with_missing_names(marked, names_in, room=room, counter=counter, heading=ADDED)
    parts = list(message.parts)
    parts[place] = edit(part, text=made.text)
    return edit(message, parts=tuple(parts)), (*notes, *made.notes)


def as_it_came(message: Message) -> Message:
    """A summary without the marks and additions that a check has put in; any other message as it
    is."""
    if not is_summary(message):
        return message
    parts = list(message.parts)
    for place, part in _texts(message):
        own, _, _ = part.text.partition(f"\n\n{ADDED}")
        parts[place] = edit(part, text=own.replace(f" {UNPROVEN}", ""))
    return edit(message, parts=tuple(parts))


def is_checkable(message: Message) -> bool:
    """Whether a message is a summary with words in it that nobody has checked yet."""
    if not is_summary(message):
        return False
    words = "\n".join(texts_in(message))
    return bool(words.strip()) and ADDED not in words


def _texts(message: Message) -> list[tuple[int, Text]]:
    return [(place, part) for place, part in enumerate(message.parts) if isinstance(part, Text)]
