"""Divide what has no blocks inside: lines into sentences, endless lines into chunks.

A part never ends inside code, emphasis or brackets that it opened. Where sentences end is in
`sentences`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from foreword.pattern import lazy_pattern
from foreword.text.sentences import LONGEST_UNIT, sentence_lines, sentences, unwrapped_lines

_LINE = lazy_pattern(r"[^\r\n]*(?:(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))*|\Z)")
_ZERO_WIDTH_JOINER = "\u200d"
_JOINERS = _ZERO_WIDTH_JOINER + "\ufe0e\ufe0f"
_LONGEST_CLUSTER = 8  # characters that make one, as a family of four does; after that it is torn
# Each begins with a character of its own: so the next is found without a try at every place.
_PAIRS = lazy_pattern(r"\*\*|__|~~|``*")
# Characters of a part of an endless line (base64, a table without line breaks): as much as a line
# of text. Half of it would be crumbs, double would not fit the smallest rooms.
CHUNK_CHARS = 120
# Characters that sentences of a line are joined up to: "Yes." says nothing by itself.
SHORT_CHARS = 40
# Characters that lines of prose are joined up to: shorter ones would each cost a mark.
JOINED_CHARS = 120


def lines(text: str) -> list[str]:
    """The lines of a text, each with the blank lines behind it."""
    return [line for line in _LINE.findall(text) if line]


def rows_of(text: str) -> list[str]:
    """The lines of a text as parsers of code count them, each with its line break."""
    rows = [f"{row}\n" for row in text.split("\n")]
    last = rows.pop()[:-1]
    return [*rows, last] if last else rows


def line_units(text: str) -> list[str]:
    """Runs of whole lines that are whole sentences as well."""
    whole: list[str] = []
    for run in sentence_lines(text):
        whole += unwrapped_lines(run)
    return list(join_small(join_unclosed(whole), JOINED_CHARS))


def line_parts(text: str) -> list[tuple[str, bool]]:
    """The sentences of a line, or of lines that were only wrapped, and of an endless one chunks;
    with whether each begins in the middle of something."""
    parts: list[tuple[str, bool]] = []
    whole = sentences(text)
    if len(whole) == 1:
        whole = unwrapped_lines(text, short=0)  # a list of names has no full stop
    for sentence in join_small(join_unclosed(whole), SHORT_CHARS):
        if len(sentence) <= LONGEST_UNIT:
            parts.append((sentence, False))
            continue
        for line in lines(sentence):
            for index, chunk in enumerate(chunks(line, CHUNK_CHARS)):
                parts.append((chunk, index > 0))
    return parts


def join_unclosed(parts: Iterable[str]) -> list[str]:
    """The parts, those joined that only together close the emphasis or the code they open."""
    found: list[str] = []
    run = ""
    for part in parts:
        run += part
        if _is_balanced(run) or len(run) > LONGEST_UNIT:
            found.append(run)
            run = ""
    if run:
        found.append(run)
    return found


def _is_balanced(text: str) -> bool:
    """Whether every sign that opens something stands there twice."""
    odd: set[str] = set()
    for found in _PAIRS.findall(text):
        odd ^= {found}
    return not odd


def join_small(parts: Iterable[str], enough: int) -> Iterator[str]:
    """The parts, neighbours joined as long as they are not longer than `enough` together."""
    joined = ""
    for part in parts:
        # White space alone is the indent of what follows.
        if joined.strip() and len(joined) + len(part) > enough:
            yield joined
            joined = ""
        joined += part
    if joined:
        yield joined


def chunks(text: str, largest: int) -> Iterator[str]:
    """Parts of at most so many characters, cut after white space where there is any."""
    start = 0
    while len(text) - start > largest:
        end = _break_before(text, start, start + largest)
        yield text[start:end]
        start = end
    yield text[start:]


def _break_before(text: str, start: int, end: int) -> int:
    """The last good place to break in the second half of a chunk: after white space, else after
    a sign that ends a member or a statement, else between whole characters."""
    window = text[(start + end) // 2 : end]
    if not window.isalnum():
        last_break = re.search(r"\s\S*\Z", window) or re.search(r"[;,}\])>|][^;,}\])>|]*\Z", window)
        if last_break:
            return end - len(window) + last_break.start() + 1
    for place in range(end, max(start + 1, end - _LONGEST_CLUSTER), -1):
        if not _belongs_to_the_one_before(text, place):
            return place
    return end


def _belongs_to_the_one_before(text: str, place: int) -> bool:
    """Whether a character is an accent, or part of an emoji made of several."""
    char = text[place]
    if unicodedata.combining(char) or char in _JOINERS:
        return True
    return text[place - 1] == _ZERO_WIDTH_JOINER
