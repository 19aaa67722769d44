"""The lines of a conversation that could stand in its summary, each with what it is and what it
weighs.

The authors' own words. Prose comes from the user and the assistant; of results only errors, and
lines whose names were used again later; an error is joined by the line that tells its fix.
Repetitions become one. Which of the lines go in is decided in `choice`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foreword.session.summary.facts import WEIGHTS, Kind, is_filler, kind_of
from foreword.session.summary.name_weights import Mention, literals
from foreword.session.summary.remarks import TASK, Remark, Voice
from foreword.session.summary.summary_text import (
    FIX,
    LONGEST_LINE,
    PART_OF,
    EarlierSummary,
    bare,
    shorten_line,
    split,
)
from foreword.text.words import STOP_WORDS, words

SAME = 0.7  # of the words of two lines, for one to repeat the other
FROM_BEFORE = 1.5  # the advantage of what an earlier summary found worth keeping
PASTED, OWN = 2_500, 400  # characters: a message of so many is pasted, but for so many at its ends
PASTED_SHARE = 0.4
SAID_AGAIN = 0.15  # what a wish or a decision weighs more for each time it was repeated
FEW, MANY = 4, 400  # lines of one result: at first, and where there is room for more
REACH = 16  # messages from an error to its fix

_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_NUMBERED = re.compile(r"^\s*\d+[\u2192|:\t]\s?")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_CODE = re.compile(
    r"[;{}]\s*$|^\s*(?:[)}\]]|[+-]\s*\w+.*[({;]$)|\w+\([^)]*\)\s*\{|:=|=>|</?\w+>|^\S+ ="
    r" |\w\([\"'&]"
)
_RULE = re.compile(r"[\s|:=+*_-]*")
_COMMAND = re.compile(r"command|cmd|script|url", re.IGNORECASE)
_BREAKS = (", ", "; ", ",", " ")
_USERS = {"user", "said", "call"}
_DEFINES = re.compile(
    r"(?:[+-]\s*)?(?:export |public |private |async |static |pub |default )*"
    r"(?:func|def|class|type|interface|struct|fn|function|module|CREATE TABLE)\s+[\w(]"
)
_SETTLED = re.compile(r"complete|done|fail|cancel|skip", re.IGNORECASE)
_NUMBER = re.compile(r"\d")


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


def lines(
    said: Sequence[Remark],
    found: Mapping[str, Mention],
    earlier: EarlierSummary,
    length: int,
    most: int = FEW,
) -> list[CandidateLine]:
    """Every line worth considering, oldest first, none twice; at most so many of one result."""
    before = [
        _line(text, kind, at - len(earlier.lines), length, FROM_BEFORE)
        for at, (kind, text) in enumerate(earlier.lines)
    ]
    latest = max((remark.at for remark in said if remark.key.startswith(TASK)), default=0)
    now = [
        line
        for remark in said
        if not _is_past(remark, latest)
        for line in _of_remark(remark, found, length, most)
    ]
    return _distinct([*before, *_with_fixes(now)])


def _of_remark(
    remark: Remark, found: Mapping[str, Mention], length: int, most: int
) -> Iterable[CandidateLine]:
    match remark.voice:
        case "user" | "said":
            return _prose(remark, length)
        case "result":
            return _printed(remark, found, length, most)
        case "edit" if most > FEW:
            return _printed(remark, found, length, most)
        case "call" if remark.key.startswith(TASK):
            status = remark.key.removeprefix(TASK)
            kind: Kind = "done" if _SETTLED.match(status) else "open"
            return [_line(f"[{status}] {shorten_line(remark.text)}", kind, remark.at, length)]
        case "call" if _COMMAND.fullmatch(remark.key):
            return [_line(shorten_line(remark.text), "command", remark.at, length)]
        case _:
            return []


def _is_past(remark: Remark, latest: int) -> bool:
    """Whether a remark is from a list of tasks that a later one has replaced."""
    return remark.key.startswith(TASK) and remark.at < latest


def _prose(remark: Remark, length: int) -> Iterator[CandidateLine]:
    """What a person or the assistant said, without code, announcements and pleasantries."""
    fenced, seen, size = False, 0, len(remark.text)
    for row in remark.text.splitlines():
        seen += len(row) + 1
        if _FENCE.match(row):
            fenced = not fenced
        if fenced or _RULE.fullmatch(row[:400]):
            continue
        # A user who sends pages has pasted them: only how they begin and end is in the user's own
        # words.
        pasted = remark.voice == "user" and size > PASTED and OWN < seen < size - OWN
        voice: Voice = "said" if pasted else remark.voice
        for text in split(row):
            if _says_something(text, voice == "user"):
                kind = kind_of(text, voice) if not _CODE.search(text) else "other"
                names = literals(text)
                share = (1.0 if names else _fullness(text)) * (PASTED_SHARE if pasted else 1.0)
                yield _line(text, kind, remark.at, length, share, names)


def _fullness(text: str) -> float:
    """How much of a statement a line is that names nothing: a few words are hardly one."""
    return min(1.0, 0.2 + len(_LETTERS.findall(text[:200])) / 10)


def _says_something(text: str, by_user: bool) -> bool:
    few = len(_LETTERS.findall(text[:200])) < (2 if by_user else 4)
    return not (few or text.endswith(":") or (is_filler(text) and not (by_user and len(text) > 40)))


def _printed(
    remark: Remark, found: Mapping[str, Mention], length: int, most: int
) -> list[CandidateLine]:
    """Of what a tool printed or a call wrote: errors, lines whose names somebody used
    afterwards, then any others."""
    kept: list[tuple[float, CandidateLine]] = []
    for row in remark.text.splitlines():
        for text in _chunks(_NUMBERED.sub("", row)):
            if len(_LETTERS.findall(text)) < 3:
                continue
            code = remark.voice != "result" or _NUMBERED.match(row) or _CODE.search(text)
            kind = kind_of(text, "result") if not code else "other"
            names = literals(text)
            used = _used_again(names, remark.at, found) if kind == "other" else 0.0
            used += 0.5 * (_DEFINES.match(text) is not None)
            rank = 2.0 + remark.failed if kind == "error" else used + 0.1 * bool(names)
            share = 1.0 if kind == "error" else min(1.0, 0.4 * used + 0.1)
            kept.append(
                (rank, _line(text, "finding" if used else kind, remark.at, length, share, names))
            )
    best = sorted(range(len(kept)), key=lambda at: (-kept[at][0], at))[:most]
    return [kept[at][1] for at in sorted(best) if kept[at][0] >= 1.0 or most > FEW]


def _chunks(row: str) -> list[str]:
    """A printed line, in pieces where it is too long to read at a glance."""
    row = " ".join(bare(row).split()) if len(row) <= LONGEST_LINE else row
    chunks = []
    while len(row) > LONGEST_LINE:
        end = (
            max(row.rfind(mark, LONGEST_LINE // 2, LONGEST_LINE) for mark in _BREAKS) + 1
            or LONGEST_LINE
        )
        chunks.append(row[:end].strip())
        row = row[end:]
    return [*chunks, row.strip()]


def _used_again(names: Iterable[str], at: int, found: Mapping[str, Mention]) -> float:
    """How many of these names were first seen there and used by a later call or reply, or by the
    user."""
    return sum(
        1.0
        for name in names
        if (mention := found.get(name))
        and mention.first == at < mention.last
        and mention.voices & _USERS
    )


def _with_fixes(now: Sequence[CandidateLine]) -> list[CandidateLine]:
    """The lines, each error joined by the first line soon after it that tells its fix."""
    taken: set[int] = set()
    joined = list(now)
    for at, line in enumerate(now):
        if line.kind != "error":
            continue
        fix = next(
            (
                place
                for place in _soon_after(now, at)
                if place not in taken and _tells(now[place], line)
            ),
            None,
        )
        if fix is not None:
            taken.add(fix)
            text = f"{line.text}\n{FIX}{now[fix].text}"
            names = tuple(dict.fromkeys((*line.names, *now[fix].names)))
            joined[at] = replace(
                line, text=text, kind="fix", weight=line.weight + now[fix].weight, names=names
            )
    return [line for at, line in enumerate(joined) if at not in taken]


def _soon_after(now: Sequence[CandidateLine], at: int) -> Iterator[int]:
    for place in range(at + 1, min(len(now), at + 60)):
        if now[place].at > now[at].at + REACH:
            return
        yield place


def _tells(line: CandidateLine, error: CandidateLine) -> bool:
    if line.kind != "fix" or line.at == error.at:
        return False
    return (
        bool(set(line.names) & set(error.names))
        or len(_content(line.text) & _content(error.text)) >= 2
    )


def _line(
    text: str,
    kind: Kind,
    at: int,
    length: int,
    share: float = 1.0,
    names: tuple[str, ...] | None = None,
) -> CandidateLine:
    weight = WEIGHTS[kind]
    age = 0.5 ** ((length - max(at, 0)) / weight.half_life) if at >= 0 else 0.3
    held = weight.base * share * (weight.lasting + (1 - weight.lasting) * age)
    return CandidateLine(
        text=text, kind=kind, at=at, weight=held, names=literals(text) if names is None else names
    )


def _distinct(found: Sequence[CandidateLine]) -> list[CandidateLine]:
    """The lines with repetitions left out: the newest wording stays, at the place of the oldest
    if that is to last."""
    bags = [_content(line.text) for line in found]
    spread = Counter(word for bag in bags for word in bag)
    seen: dict[tuple[str, ...], int] = {}
    kept: dict[int, CandidateLine] = {}
    for at in range(len(found) - 1, -1, -1):
        line, bag = found[at], bags[at]
        key = tuple(sorted(bag, key=lambda word: (spread[word], word))[:3])
        newer = seen.setdefault(key, at)
        if newer == at or not _repeats(line, bag, found[newer], bags[newer]):
            kept[at] = line
        elif line.is_lasting:
            kept[at] = replace(kept.pop(newer), at=line.at, kind=line.kind, weight=line.weight)
            seen[key] = at
        else:
            kept[newer] = _said_again(kept[newer], line)
    return [kept[at] for at in sorted(kept)]


def _repeats(
    line: CandidateLine, bag: frozenset[str], other: CandidateLine, others: frozenset[str]
) -> bool:
    numbers = {word for word in bag ^ others if _NUMBER.search(word)}
    return (
        not numbers
        and set(line.names) <= set(other.names)
        and len(bag & others) >= SAME * len(bag | others)
    )


def _said_again(line: CandidateLine, older: CandidateLine) -> CandidateLine:
    again = SAID_AGAIN if PART_OF[line.kind] in ("user", "decisions") else 0.0
    return replace(line, weight=max(line.weight, older.weight) + again)


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if word not in STOP_WORDS) or frozenset([text])
