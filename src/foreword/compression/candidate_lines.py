"""The lines of a conversation that a summary could take, each with its speaker and its weight.

Near-duplicates share one weight: it belongs to the template of the line, and is earned once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from foreword.compression.remarks import Remark
from foreword.compression.statements import Statement, states
from foreword.compression.summary_text import (
    LONGEST_LINE,
    TAGS,
    Part,
    SummaryLine,
    printed_lines,
    prose_lines,
)
from foreword.compression.worth import NameFinder, content_words, template
from foreword.pattern import lazy_pattern

# What a line weighs by itself, by who said it; names and words come on top.
WEIGHTS = {"user": 1.5, "assistant": 0.6, "call": 0.3, "edit": 0.15, "printed": 0.15}
# More for a statement, by who made it: a rule of the user, what the user decided or tried in plain
# words, what the assistant decided. The first of each kind outweighs what names the most, the
# second has half of that: a pasted page of rules pushes nothing else out.
STATEMENTS: Sequence[tuple[Part, Statement, float]] = (
    ("user", "constraint", 400.0),
    ("user", "decision", 300.0),
    ("assistant", "decision", 200.0),
)
# Characters of a statement: longer ones take the room of names, 2 of 100 without a limit, and are
# weighed as any other line.
LONGEST_STATEMENT = 160
HALF_LIFE = 40  # messages
LASTING = 0.3  # the share that age can't take
FROM_BEFORE = 2.0  # the advantage of what an earlier summary kept, for the oldest of its lines
# Words of a line that says something: the user says "yes", and a command is often two words.
LEAST_WORDS = {"user": 1, "call": 2, "assistant": 3, "edit": 3, "printed": 3}

_LETTERS = lazy_pattern(r"[^\W\d_]{2,}|[\u3040-\u9fff\uac00-\ud7af]")
_TRUST: tuple[Part, ...] = tuple(TAGS)


@dataclass(slots=True, kw_only=True)
class CandidateLine:
    """A line that could go in; what comes from an earlier summary has a place below 0."""

    text: str
    part: Part
    at: int
    weight: float
    names: tuple[str, ...]
    words: frozenset[str] = frozenset()
    template: object = ""


def find_lines(
    said: Sequence[Remark], earlier: Sequence[SummaryLine], length: int, names_in: NameFinder
) -> list[CandidateLine]:
    """Return every line worth considering, oldest first, none twice: of two equal lines that of the
    speaker who is trusted more, then the newer one."""
    found: dict[str, CandidateLine] = {}
    for at, line in enumerate(earlier):
        if not _says_something(line.text, LEAST_WORDS["user"]):
            continue
        seniority = 1 - at / len(earlier)
        weight = WEIGHTS[line.part] * LASTING * (1 + seniority) * FROM_BEFORE
        made = CandidateLine(
            text=line.text,
            part=line.part,
            at=at - len(earlier),
            weight=weight,
            names=names_in(line.text),
        )
        _add(found, made)
    for remark in said:
        age = LASTING + (1 - LASTING) * 0.5 ** ((length - remark.at) / HALF_LIFE)
        for text, row in _texts(remark):
            weight = WEIGHTS[remark.voice] * age
            made = CandidateLine(
                text=text,
                part=remark.part,
                at=remark.at,
                weight=weight,
                names=tuple([name for name in names_in(row) if name in text]),
            )
            _add(found, made)
    lines = sorted(found.values(), key=lambda line: line.at)
    _set_words(lines)
    _add_statements(lines)
    return lines


def _texts(remark: Remark) -> Iterable[tuple[str, str]]:
    """Return the lines of a remark, and the row that each is from."""
    if remark.task:
        task = f"[{remark.task}] {' '.join(remark.text.split())[:LONGEST_LINE]}"
        yield task, task
        return
    is_said = remark.voice in ("user", "assistant")
    for row in remark.text.splitlines():
        for text in prose_lines(row) if is_said else printed_lines(row):
            if _says_something(text, LEAST_WORDS[remark.voice]):
                yield text, row


def _says_something(text: str, least: int) -> bool:
    """Return whether a line has enough words; in a script without blanks every character is one."""
    if len(text.split()) < least and text.isascii():
        return False
    return len(_LETTERS.findall(text[:200])) >= least


def _add_statements(lines: Sequence[CandidateLine]) -> None:
    """Add to the weight of statements: the oldest of an earlier summary and the newest since."""
    earlier = [line for line in lines if line.at < 0]
    since = [line for line in reversed(lines) if line.at >= 0]
    for group in (earlier, since):
        for part, statement, more in STATEMENTS:
            rank = 0
            for line in group:
                is_short = len(line.text) <= LONGEST_STATEMENT
                if line.part == part and is_short and states(statement, line.text):
                    line.weight += more * 0.5**rank
                    rank += 1


def _add(found: dict[str, CandidateLine], line: CandidateLine) -> None:
    known = found.get(line.text)
    if known is None:
        found[line.text] = line
    elif known.at < 0 and known.part == line.part:
        known.weight = max(known.weight, line.weight)  # it keeps its old place
    elif _TRUST.index(line.part) <= _TRUST.index(known.part):
        found[line.text] = line


def _set_words(lines: Sequence[CandidateLine]) -> None:
    """Set the words of what was said, and the template of every line."""
    for line in lines:
        if line.part in ("user", "assistant"):
            line.words = content_words(line.text)
        line.template = line.words or template(line.text)
