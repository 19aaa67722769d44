"""What it is worth to mention each name and each word of a conversation.

A name is worth much when it was used lately, often, and by more than one voice: what a tool printed
once is rarely asked for again, what the user said and a call then used nearly always is. Words are
worth something where people talk and name nothing. `coverage` adds these values up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p

from foreword.compression.remarks import Remark, Voice
from foreword.pattern import lazy_pattern
from foreword.text.words import STOP_WORDS, words

# What one mention weighs by who made it: what the user says or a call uses is asked for again, what
# a tool printed hardly ever, and there is much of it.
MENTION: Mapping[Voice, float] = {
    "user": 3.0,
    "assistant": 2.0,
    "call": 3.0,
    "edit": 1.5,
    "printed": 0.15,
}
HALF_LIFE = 10  # messages: work moves on, and the names of the last few steps are needed most
# What is left of a mention's weight however long ago it was: 0.04 and 0.07 are as good.
FLOOR = 0.05
BEFORE = 0.3  # what a mention in an earlier summary weighs: a tenth of one by the user
# Names of one template (`test_1` ... `test_4000`) that count: of those that were only printed one,
# of those that somebody wrote or used so many. Without a limit ten compressions of messages full of
# such names lose a decision; on real sessions no figure moves by more than 0.1.
PRINTED_FAMILY = 1
USED_FAMILY = 20
SURPLUS = 1e-6  # what a used name beyond them is worth: it fills room that nothing else takes
ASKED = 0.5
MOST_ASKED = 8  # the rarest words of a question: a pasted page is no question
# What a word is worth where nobody names anything; a number twelve times that. In sessions of
# coding agents words take room from names (-3 points at full worth), so it is scaled by the share
# of lines that name nothing, to the eighth power.
WORD = 0.02
NUMBER = 0.1
TALK_POWER = 8

NameFinder = Callable[[str], tuple[str, ...]]

_CHANGING = lazy_pattern(r"[0-9a-f]*\d[0-9a-f]*")


@dataclass(slots=True)
class Mention:
    """How much one name was mentioned, and by whom."""

    weight: float = 0.0
    voices: set[Voice] = field(default_factory=set)


def name_values(
    said: Sequence[Remark], length: int, names_in: NameFinder, before: Iterable[str] = ()
) -> dict[str, float]:
    """Return what each name is worth in a conversation of so many messages, about 1 for the
    likeliest; `before` are names of an earlier summary."""
    mentions: dict[str, Mention] = {}
    for remark in said:
        weight = MENTION[remark.voice] * (FLOOR + 0.5 ** ((length - remark.at) / HALF_LIFE))
        named = dict[str, None]()
        for row in remark.text.splitlines():
            named.update(dict.fromkeys(names_in(row)))
        for name in named:
            mention = mentions.setdefault(name, Mention())
            mention.weight += weight
            mention.voices.add(remark.voice)
    for name in before:
        mention = mentions.setdefault(name, Mention())
        mention.weight += BEFORE
        mention.voices.add("assistant")
    values = {name: log1p(each.weight) * len(each.voices) for name, each in mentions.items()}
    top = sorted(values.values())[-10:]
    scale = sum(top) / len(top) if top else 1.0
    values = {name: value / scale for name, value in values.items()}
    return _without_surplus(values, mentions)


def template(text: str) -> str:
    """Return a text with its numbers and hex ids taken out: what one template makes is alike."""
    return _CHANGING.sub("#", text)


def _without_surplus(
    values: Mapping[str, float], mentions: Mapping[str, Mention]
) -> dict[str, float]:
    """Return the values without the surplus of each family of names, or with little for it."""
    counts: dict[str, int] = {}
    kept = dict[str, float]()
    for name in sorted(values, key=lambda name: -values[name]):
        family = template(name)
        counts[family] = counts.get(family, 0) + (family != name)
        if mentions[name].voices != {"printed"}:
            kept[name] = values[name] * (1.0 if counts[family] <= USED_FAMILY else SURPLUS)
        elif counts[family] <= PRINTED_FAMILY:
            kept[name] = values[name]
    return kept


def word_values(
    bags: Sequence[frozenset[str]], naming: Sequence[bool], question: Iterable[str]
) -> dict[str, float]:
    """Return what each word is worth, by the words of each line that was said and whether the line
    names something."""
    counts: dict[str, int] = {}
    for bag in bags:
        for word in bag:
            counts[word] = counts.get(word, 0) + 1
    talk = (1 - sum(naming) / max(1, len(naming))) ** TALK_POWER
    values = dict[str, float]()
    for word, count in counts.items():
        is_number = any(char.isdigit() for char in word)
        values[word] = talk * (NUMBER if is_number else WORD / count**0.5)
    asked = [word for word in question if word in counts]
    for word in sorted(asked, key=lambda word: (counts[word], word))[:MOST_ASKED]:
        values[word] += ASKED / counts[word] ** 0.5
    return values


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that say something."""
    return frozenset(word for word in words(text) if word not in STOP_WORDS)
