"""Where sentences end, and which lines are sentences of their own.

Rules of thumb for text that people and programs write, in one pass and without a dictionary: a dot
in an abbreviation, a number, a file name, code or brackets ends nothing; a line break ends
something only where the author did not just run out of width. When in doubt the sentence goes on:
too long reads better than torn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from foreword.pattern import lazy_pattern

# Both patterns begin with one of a few characters and only then look around: such a beginning is
# searched for many times faster than one that is tried at every place.
_STOP = lazy_pattern(
    r"""[.!?\u3002\uff01\uff1f\uff1b\uff61\u0964\u0965\u061f\u06d4\u0589\u1362\u17d4\r\n](?:
    # a Western stop, or one of Hindi, Arabic, Urdu, Armenian, Amharic or Khmer; closing quotes or
    # markup, white space
    (?<=[.!?\u0964\u0965\u061f\u06d4\u0589\u1362\u17d4])(?<![.!?]{2})
     [.!?]*+(?>(?:["'\u201d\u2019)\]*_`]|[\x20\xa0\u202f]?\xbb)*)\s++
    # a CJK stop needs no white space
    |(?<=[\u3002\uff01\uff1f\uff1b\uff61])
     [\u3002\uff01\uff1f\uff1b\uff61]*["'\u201d\u2019\u300d\u300f\uff09\u3011]*\s*
    # a line that opens with a bold label or a table cell stands alone
    |(?<=[\r\n])(?:(?<=\r)\n)?[ \t]*
     (?=\||\*\*[^*\r\n]{1,80}(?:[:.!?]\*\*|\*\*[ \t]*(?:[:\u2013\u2014-]|[\r\n]|\Z)))
    )""",
    re.VERBOSE,
)
_CLOSED = lazy_pattern(
    r"[`(\[*](?:"
    r"(?<=`)(?<!``)(?P<more>`*+)[^`]{1,200}+`(?P=more)"  # code
    r"|(?<=\()[^()]{0,300}(?:\([^()]{0,80}\)[^()]{0,80}){0,3}\)"
    r"|(?<=\[)[^\[\]]{0,200}\]"
    # emphasis; longer than that it is two signs that have nothing to do with each other. That of
    # `_` is not looked for: names in code are full of them, and few write sentences between two.
    r"|(?<=\*)(?<![\w*\\]\*)(?=[^\s*])[^*]{1,400}+(?<=[^\s\\])\*(?![\w*])"
    r")"
)
_ABBREVIATIONS = tuple(
    "vs cf approx incl excl resp al mr mrs ms dr prof st viz jr sr inc ltd max min".split()
)
_ABBREVIATED = lazy_pattern(
    rf"""(?:^|[\s(\[*_"'/\u2013-])(?:
        (?i:{"|".join(_ABBREVIATIONS)})
        |(?:[^\W\d_]\.)*[^\W\d_]      # initials, U.S.
    )\.$""",
    re.VERBOSE,
)
_BEFORE_NUMBER = lazy_pattern(r"(?:^|[\s(\[])(?i:no|fig|figs|p|pp|vol|ch|sec|eq|art|tab|ver|ca)\.$")
_NUMBERED = lazy_pattern(r"\s*(?:[-*+>#]\s*)*[\d.]+\.\s*$")
_BREAK = lazy_pattern(r"(?:\r\n?|\n)(?:[ \t]*(?:\r\n?|\n))*")
# An item, a number, a row of a table, a command, a title: no part of a sentence above it.
_BEGINS_ENTRY = lazy_pattern(r"(?:[-*+\u2022$#]|\(?\w{1,3}[.)])[ \t]|[|#]|[\[(<]?\d+[-:/]\d")
# Of the widest line: who breaks lines by hand leaves some room. To join two lines of a list does no
# harm, to tear a sentence does.
_FILLED = 0.8
_SHORT = 400  # characters: a run of lines without a full stop that stays together, as one sentence
# Characters of the widest line: nobody breaks lines so early, and lines of Chinese that are broken
# at a margin have as many. Shorter ones are a list.
_NARROWEST = 36

# Characters. No reader would call more of them a sentence: a longer one falls into its lines, and a
# line into chunks.
LONGEST_UNIT = 1200


def sentences(text: str) -> list[str]:
    """The sentences of a text with the white space after them; `e.g.`, `1.2`, `a.b` and `(see p.
    2)` do not end one."""
    found: list[str] = []
    start = 0
    all_closed = _CLOSED.finditer(text)
    closed = next(all_closed, None)
    for stop in _STOP.finditer(text):
        at, end = stop.span()
        if end == len(text) or not _ends_sentence(text, start, at, end):
            continue
        while closed is not None and closed.end() <= at:
            closed = next(all_closed, None)
        if closed is None or closed.start() >= at or not _is_inside(closed, stop):
            found.append(text[start:end])
            start = end
    if start < len(text):
        found.append(text[start:])
    return found


def sentence_lines(text: str) -> Iterator[str]:
    """Runs of whole lines that are whole sentences, as few lines to each as that takes."""
    run = ""
    for sentence in sentences(text):
        run += sentence
        if sentence.rstrip(" \t").endswith(("\n", "\r")):
            yield run
            run = ""
    if run:
        yield run


def unwrapped_lines(text: str, *, short: int = _SHORT) -> list[str]:
    """The lines of a long run without a full stop, those together that were only wrapped at the
    right margin."""
    if len(text) <= short or not _BREAK.search(text.rstrip()):
        return [text]
    # The indent of what stands behind the text is no line of it.
    last = len(text.rstrip(" \t"))
    edges = [0, *[match.end() for match in _BREAK.finditer(text) if match.end() < last]]
    if len(edges) == 1:
        return [text]
    rows = [text[start:end] for start, end in pairwise([*edges, len(text)]) if start < end]
    width = max(len(row.rstrip()) for row in rows)
    if width < _NARROWEST:
        return rows
    runs = [[rows[0]]]
    for row, following in pairwise(rows):
        if _is_wrapped(row, following, width):
            runs[-1].append(following)
        else:
            runs.append([following])
    found: list[str] = []
    for run in runs:
        joined = "".join(run)
        if len(joined) <= LONGEST_UNIT:
            found.append(joined)
        else:
            found += run
    return found


def _is_wrapped(row: str, following: str, width: int) -> bool:
    """Whether a line goes on in the next: that begins in lower case, or its first word did not
    fit the width."""
    opening = following.lstrip(" \t>")
    if opening[:1].islower():
        return True
    left = _FILLED * width - len(row.rstrip())
    if left > len(opening) or not opening.strip():
        return False
    first_word, *others = opening.split(maxsplit=1)
    if not others and len(first_word) > _NARROWEST and not first_word[:1].isalpha():
        return False  # a line of a hex dump
    return 1 + len(first_word) > left and not _BEGINS_ENTRY.match(opening)


def _ends_sentence(text: str, start: int, at: int, end: int) -> bool:
    """Whether the sentence that begins at `start` ends with the stop from `at` to `end`."""
    if text[at] not in ".!?":
        return True
    if at == start:
        return False  # `.. note::` of reStructuredText, `... and so on`
    following = text[end]
    if following.islower() or (text[at] == "." and text[at - 1 : at].isspace()):
        return False  # `test_lid ... FAILED` is one line
    last_word = text[max(start, at - 12) : at + 1]
    if _ABBREVIATED.search(last_word):
        return False
    if following.isdigit() and _BEFORE_NUMBER.search(last_word):
        return False
    # Most sentences begin with a letter, and a numbered line never does.
    return text[start].isalpha() or not _NUMBERED.match(text[start : at + 1][:40])


def _is_inside(closed: re.Match[str], stop: re.Match[str]) -> bool:
    """Whether a stop in code, brackets or emphasis is one of theirs; the one that ends what is in
    them ends the sentence too."""
    in_code = closed[0].startswith("`")
    return in_code or closed.end() > stop.start() + len(stop[0].rstrip())
