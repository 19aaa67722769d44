"""What a summary claims that can be looked up: names, numbers, quotations, words of the user.

Only finds them, each with its line; whether they are true is `check`'s business. What
stands in a code block is looked at for names alone: nobody quotes or counts there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from foreword.pattern import lazy_pattern
from foreword.text.names import literals

ClaimKind = Literal["name", "number", "quote", "user"]

LEAST_QUOTE_WORDS = 3  # what is shorter in quotation marks is a name or irony, and no quotation
LEAST_DIGITS = 3  # a smaller number is counted by whoever writes it, and proves or refutes nothing
LONGEST_NAME = 200  # characters: of what is longer nobody repeats every letter
ATTRIBUTION_CHARS = 80  # in front of a quotation, for it to be said of the user's

_CODE = lazy_pattern(r"`([^`\n]{2,200})`")
_QUOTE = lazy_pattern(r'(?<![\w=(\[{:])"([^"\n]{8,600})"(?!\w)|\u201c([^\u201d\n]{8,600})\u201d')
_NUMBER = lazy_pattern(r"(?<![\w.,#:/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?%?(?![\w,:/]|\.\d|-\D)")
_USER = lazy_pattern(
    r"\b(?:the |by )?user(?:'s)?\b(?! (?:id|name|input|interface|edits?|lines?))", re.IGNORECASE
)
_USER_TITLE = lazy_pattern(
    r".{0,20}\buser(?:'s)? (?:messages|said|words|requests)\b", re.IGNORECASE
)
_TITLE = lazy_pattern(
    r"\s*(?:#{1,6}\s|\d{1,3}[.)]\s+[A-Z*][^.\n]{0,60}:\*{0,2}\s*$|\*\*[^*\n]+\*\*:?\s*$)"
)
PATH = lazy_pattern(r"(?:[\w~@.-]*/)+[\w.@-]*\w")
# a path by its beginning, its ending or its depth; `number/date/status` is three words
_FILE_LIKE = lazy_pattern(r"[/~.]|.*\.\w{1,8}$|(?:[^/]*/){3}")
_TAG = lazy_pattern(r"</?\w+>")
FENCE = lazy_pattern(r"[ \t]*(?:```|~~~)")
_WORD = lazy_pattern(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a line of a summary says exists, or was said."""

    kind: ClaimKind
    text: str
    line: int  # of the summary, from 1


def find_claims(summary: str) -> list[Claim]:
    """Everything in a summary that can be looked up, in order, each once a line."""
    found = dict[Claim, None]()
    fenced = False
    of_user = False
    for number, line in enumerate(summary.split("\n"), 1):
        if FENCE.match(line):
            fenced = not fenced
            continue
        if _TAG.fullmatch(line):
            continue
        if not fenced and _TITLE.match(line):
            of_user = _USER_TITLE.match(line) is not None
        for kind, text in _claims_in(line, fenced=fenced, of_user=of_user):
            found[Claim(kind, text, number)] = None
    return list(found)


def is_file_like(path: str) -> bool:
    """Whether words with slashes between them are a path, and not `number/date/status`."""
    return _FILE_LIKE.match(path) is not None


def _claims_in(line: str, *, fenced: bool, of_user: bool) -> Iterator[tuple[ClaimKind, str]]:
    rest = line
    if not fenced:
        for match in _QUOTE.finditer(line):
            quotation = match[1] or match[2]
            if len(_WORD.findall(quotation)) >= LEAST_QUOTE_WORDS and "`" not in quotation:
                before = line[max(0, match.start() - ATTRIBUTION_CHARS) : match.start()]
                yield "user" if of_user or _USER.search(before) else "quote", quotation
                rest = rest.replace(match[0], " ")
    for name in literals(rest):
        is_words = PATH.fullmatch(name) and not is_file_like(name)
        if not is_words and len(name) <= LONGEST_NAME:
            yield "name", name
    if not fenced:
        for match in _NUMBER.finditer(_CODE.sub(" ", rest)):
            if sum(char.isdigit() for char in match[0]) >= LEAST_DIGITS:
                yield "number", match[0]
