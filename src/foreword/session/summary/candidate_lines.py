"""The lines of a conversation that could stand in its summary, each with what it is and what it
weighs.

The authors' own words. Prose comes from the user and the assistant; of results only errors, and
lines whose names were used again later; an error is joined by the line that tells its fix.
Repetitions become one. Which of the lines go in is decided in `line_choice`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foreword.pattern import lazy_pattern
from foreword.session.summary.facts import WEIGHTS, Kind, is_filler, kind_of
from foreword.session.summary.name_weights import Mention, RowNames, literals
from foreword.session.summary.remarks import TASK, Remark, Voice
from foreword.session.summary.revisions import is_replaced, with_revisions
from foreword.session.summary.summary_text import (
    FENCE,
    FIX,
    LONGEST_LINE,
    PART_OF,
    EarlierSummary,
    bare,
    shorten_line,
    split,
)
from foreword.text.words import STOP_WORDS, bigrams, words

# Judgements on what a reader of a summary misses first; they order lines, and none of them decides
# alone.
SAME = 0.7  # of the words of two lines, for one to repeat the other: two wordings share about that
FROM_BEFORE = 1.5  # the advantage of what an earlier summary found worth keeping
# Characters: a user who sends more has pasted something, and only so many at either end are the
# user's own words. What is pasted weighs less than what is said.
PASTED = 2_500
OWN = 400
PASTED_SHARE = 0.4
REPETITION = 0.15  # what a wish or a decision weighs more for each time it was repeated
# Lines of one result, the best of it: a bound on work for outputs of thousands of lines, not tuned.
MANY = 400
# From an error to the line that tells its fix, in messages and in lines: further on, a fix is most
# likely that of another error.
REACH = 16
REACH_LINES = 60
LEAST_WORDS = 3  # of a printed line: what has fewer says nothing by itself
ENOUGH_CHARS = 120  # in which they are looked for at first: most lines have them there
RATHER_LONG = 40  # characters: a polite line of the user's that is longer says something, too
AGE_BEFORE = 0.3  # the age of what an earlier summary holds, as a share: old, but chosen once

_NUMBERED = lazy_pattern(r"^\s*\d+[\u2192|:\t]\s?")
_LETTERS = lazy_pattern(r"[^\W\d_]{2,}")
_CODE = lazy_pattern(
    r"[;{}]\s*$|^\s*(?:[)}\]]|[+-]\s*\w+.*[({;]$)|\w+\([^)]*\)\s*\{|:=|=>|</?\w+>|^\S+ = "
    r"|\w\([\"'&]"
)
_RULE = lazy_pattern(r"[\s|:=+*_-]*")
_COMMAND = lazy_pattern(r"command|cmd|script|url", re.IGNORECASE)
_BREAKS = (", ", "; ", ",", " ")
_USERS = {"user", "said", "call"}  # the voices that use a name, and not only print it
_DEFINES = lazy_pattern(
    r"(?:[+-]\s*)?(?:export |public |private |async |static |pub |default )*"
    r"(?:func|def|class|type|interface|struct|fn|function|module|CREATE TABLE)\s+[\w(]"
)
_FINISHED = lazy_pattern(r"complete|done|fail|cancel|skip", re.IGNORECASE)
_NUMBER = lazy_pattern(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateLine:
    """A line that could go in."""

    text: str
    kind: Kind
    at: int  # its message; what comes from an earlier summary has a place below 0
    weight: float
    names: tuple[str, ...]

    @property
    def is_lasting(self) -> bool:
        """Whether it comes from an earlier summary and should outlive this one."""
        return self.at < 0 and self.kind in ("constraint", "decision")


def find_lines(
    said: Sequence[Remark],
    found: Mapping[str, Mention],
    earlier: EarlierSummary,
    *,
    length: int,
    row_names: RowNames,
) -> list[CandidateLine]:
    """Every line worth considering, oldest first, none twice. The conversation has `length`
    messages."""
    before = list[CandidateLine]()
    for at, (kind, text) in enumerate(earlier.lines):
        if is_replaced(text):
            continue
        place = at - len(earlier.lines)
        before.append(_line(text, kind, at=place, length=length, share=FROM_BEFORE))
    latest_tasks = _place_of_latest_tasks(said)
    now = list[CandidateLine]()
    for remark in said:
        if remark.key.startswith(TASK) and remark.at < latest_tasks:
            continue  # from a list of tasks that a later one has replaced
        now += _remark_lines(remark, found, length=length, row_names=row_names)
    return with_revisions(_distinct([*before, *_with_fixes(now)]))


def _place_of_latest_tasks(said: Sequence[Remark]) -> int:
    return max((remark.at for remark in said if remark.key.startswith(TASK)), default=0)


def _remark_lines(
    remark: Remark, found: Mapping[str, Mention], *, length: int, row_names: RowNames
) -> Iterable[CandidateLine]:
    match remark.voice:
        case "user" | "said":
            return _prose_lines(remark, length, row_names)
        case "result" | "edit":
            return _printed_lines(remark, found, length=length, row_names=row_names)
        case "call" if remark.key.startswith(TASK):
            status = remark.key.removeprefix(TASK)
            kind: Kind = "done" if _FINISHED.match(status) else "open"
            text = f"[{status}] {shorten_line(remark.text)}"
            return [_line(text, kind, at=remark.at, length=length)]
        case "call" if _COMMAND.fullmatch(remark.key):
            return [_line(shorten_line(remark.text), "command", at=remark.at, length=length)]
        case _:
            return []


def _prose_lines(remark: Remark, length: int, row_names: RowNames) -> Iterator[CandidateLine]:
    """What a person or the assistant said, without code, announcements and pleasantries."""
    fenced = False
    position = 0
    size = len(remark.text)
    for row in remark.text.splitlines():
        position += len(row) + 1
        if FENCE.match(row):
            fenced = not fenced
        if fenced or _RULE.fullmatch(row[:400]):
            continue
        # A user who sends pages has pasted them: only how they begin and end is in the user's own
        # words.
        pasted = remark.voice == "user" and size > PASTED and OWN < position < size - OWN
        voice: Voice = "said" if pasted else remark.voice
        pieces = split(row)
        for text in pieces:
            if not _says_something(text, by_user=voice == "user"):
                continue
            kind = kind_of(text, voice) if not _CODE.search(text) else "other"
            names = _names_of_piece(text, len(pieces), row_names[row])
            share = 1.0 if names else _fullness(text)
            if pasted:
                share *= PASTED_SHARE
            yield _line(text, kind, at=remark.at, length=length, share=share, names=names)


def _names_of_piece(text: str, pieces: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """Of the names in a row, those in one of its pieces."""
    if pieces == 1:
        return names
    return tuple(name for name in names if name in text)


def _fullness(text: str) -> float:
    """How much of a statement a line is that names nothing: a few words are hardly one."""
    return min(1.0, 0.2 + _count_words(text[:200]) / 10)


def _says_something(text: str, *, by_user: bool) -> bool:
    least_words = 2 if by_user else 4
    if _count_words(text[:200]) < least_words or text.endswith(":"):
        return False
    return not is_filler(text) or (by_user and len(text) > RATHER_LONG)


def _count_words(text: str) -> int:
    """About how many words a text has: in Chinese and Japanese, where nothing parts them, pairs of
    characters stand for them. Without that a rule in Chinese is one word, and said nothing."""
    return len(_LETTERS.findall(text if text.isascii() else bigrams(text)))


def _printed_lines(
    remark: Remark, found: Mapping[str, Mention], *, length: int, row_names: RowNames
) -> list[CandidateLine]:
    """Of what a tool printed or a call wrote: errors, lines whose names somebody used
    afterwards, then any others."""
    lines = list[CandidateLine]()
    ranks = list[float]()
    for row in remark.text.splitlines():
        bare_row = _NUMBERED.sub("", row)
        is_code = remark.voice != "result" or bare_row is not row
        pieces = _chunks(bare_row)
        for text in pieces:
            if not _has_words(text):
                continue
            kind: Kind = "other" if is_code else kind_of(text, "result")
            if kind == "error" and _CODE.search(text):
                kind = "other"
            names = _names_of_piece(text, len(pieces), row_names[row])
            used = _used_again(names, remark.at, found) if kind == "other" else 0.0
            if _DEFINES.match(text):
                used += 0.5
            if kind == "error":
                rank = 2.0 + remark.failed
                share = 1.0
            else:
                rank = used + 0.1 * bool(names)
                share = min(1.0, 0.4 * used + 0.1)
            if used:
                kind = "finding"
            ranks.append(rank)
            lines.append(_line(text, kind, at=remark.at, length=length, share=share, names=names))
    if len(lines) <= MANY:
        return lines
    best = sorted(range(len(lines)), key=lambda place: (-ranks[place], place))[:MANY]
    return [lines[place] for place in sorted(best)]


def _has_words(text: str) -> bool:
    """Whether a printed line has three words at least."""
    if len(_LETTERS.findall(text, 0, ENOUGH_CHARS)) >= LEAST_WORDS:
        return True
    return len(text) > ENOUGH_CHARS and len(_LETTERS.findall(text)) >= LEAST_WORDS


def _chunks(row: str) -> list[str]:
    """A printed line, in pieces where it is too long to read at a glance."""
    row = " ".join(bare(row).split()) if len(row) <= LONGEST_LINE else row
    chunks = []
    while len(row) > LONGEST_LINE:
        last_break = max(row.rfind(mark, LONGEST_LINE // 2, LONGEST_LINE) for mark in _BREAKS)
        end = last_break + 1 if last_break >= 0 else LONGEST_LINE
        chunks.append(row[:end].strip())
        row = row[end:]
    return [*chunks, row.strip()]


def _used_again(names: Iterable[str], at: int, found: Mapping[str, Mention]) -> float:
    """How many of these names were first seen there and used by a later call or reply, or by the
    user."""
    count = 0.0
    for name in names:
        mention = found.get(name)
        if mention is None or mention.first != at or mention.last <= at:
            continue
        if mention.voices & _USERS:
            count += 1.0
    return count


def _with_fixes(now: Sequence[CandidateLine]) -> list[CandidateLine]:
    """The lines, each error joined by the first line soon after it that tells its fix."""
    used_fixes = set[int]()
    joined = list(now)
    for place, line in enumerate(now):
        if line.kind != "error":
            continue
        fix_place = _fix_place(now, place, used_fixes)
        if fix_place is not None:
            used_fixes.add(fix_place)
            joined[place] = _with_fix(line, now[fix_place])
    return [line for place, line in enumerate(joined) if place not in used_fixes]


def _fix_place(
    now: Sequence[CandidateLine], error_place: int, used_fixes: Container[int]
) -> int | None:
    error = now[error_place]
    for place in range(error_place + 1, min(len(now), error_place + REACH_LINES)):
        if now[place].at > error.at + REACH:
            return None
        if place not in used_fixes and _is_fix_of(now[place], error):
            return place
    return None


def _with_fix(error: CandidateLine, fix: CandidateLine) -> CandidateLine:
    return replace(
        error,
        text=f"{error.text}\n{FIX}{fix.text}",
        kind="fix",
        weight=error.weight + fix.weight,
        names=tuple(dict.fromkeys((*error.names, *fix.names))),
    )


def _is_fix_of(line: CandidateLine, error: CandidateLine) -> bool:
    if line.kind != "fix" or line.at == error.at:
        return False
    if set(line.names) & set(error.names):
        return True
    return len(_content(line.text) & _content(error.text)) >= 2


def _line(
    text: str,
    kind: Kind,
    *,
    at: int,
    length: int,
    share: float = 1.0,
    names: tuple[str, ...] | None = None,
) -> CandidateLine:
    """A line with what it weighs `length - at` messages later."""
    weight = WEIGHTS[kind]
    age = 0.5 ** ((length - at) / weight.half_life) if at >= 0 else AGE_BEFORE
    return CandidateLine(
        text=text,
        kind=kind,
        at=at,
        weight=weight.base * share * (weight.lasting + (1 - weight.lasting) * age),
        names=literals(text) if names is None else names,
    )


def _distinct(found: Sequence[CandidateLine]) -> list[CandidateLine]:
    """The lines with repetitions left out: the newest wording stays, at the place of the oldest
    if that is to last."""
    known = dict[str, frozenset[str]]()  # many lines are printed more than once
    bags = list[frozenset[str]]()
    frequencies = Counter[str]()
    for line in found:
        bag = known.get(line.text)
        if bag is None:
            bag = known[line.text] = _content(line.text)
        bags.append(bag)
        frequencies.update(bag)
    by_rarity = sorted(frequencies, key=lambda word: (frequencies[word], word))
    rarities = {word: rarity for rarity, word in enumerate(by_rarity)}
    place_by_key: dict[tuple[int, ...], int] = {}
    distinct: dict[int, CandidateLine] = {}
    for place in reversed(range(len(found))):
        line = found[place]
        # lines that repeat each other nearly always share their three rarest words
        key = tuple(sorted(map(rarities.__getitem__, bags[place]))[:3])
        newer = place_by_key.setdefault(key, place)
        is_new = newer == place or not _has_all_names(line, found[newer])
        if is_new or not _is_same_content(bags[place], bags[newer]):
            distinct[place] = line
        elif line.is_lasting:
            newest = distinct.pop(newer)
            distinct[place] = replace(newest, at=line.at, kind=line.kind, weight=line.weight)
            place_by_key[key] = place
        else:
            distinct[newer] = _with_repetition(distinct[newer], line)
    return [distinct[place] for place in sorted(distinct)]


def _has_all_names(line: CandidateLine, newer: CandidateLine) -> bool:
    return set(line.names) <= set(newer.names)


def _is_same_content(bag: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two lines share most of their words, and differ in no number."""
    if any(_NUMBER.search(word) for word in bag ^ other):
        return False
    return len(bag & other) >= SAME * len(bag | other)


def _with_repetition(line: CandidateLine, older: CandidateLine) -> CandidateLine:
    more = REPETITION if PART_OF[line.kind] in ("user", "decisions") else 0.0
    return replace(line, weight=max(line.weight, older.weight) + more)


def _content(text: str) -> frozenset[str]:
    content = frozenset(word for word in words(text) if word not in STOP_WORDS)
    return content or frozenset([text])
