"""Compare a smaller form with its original, line by line.

Independent of how forms are made: it only looks at lines. A line of the form is the author's where
it stands in the original behind the line before it, directly unless a mark is between.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.text.sentences import sentences

# What stands in front of a member or a statement, and what it ends with.
_OPENS_MEMBER = tuple('[{,";}>')
_ENDS_MEMBER = tuple(']},";{<>')
_ESCAPED_BREAK = "\\n"  # of a line in a string, as JSON writes it
# A mark with what may stand around it: the quotes of a JSON member, the sign of a comment, the
# quotes that close a docstring.
_MARK = lazy_pattern(
    r"""
    (?:\#[ ])?"?
    \[(?:\.\.\.|[^\[\]\n]*left[ ]out)[^\[\]\n]*\]
    (?:"(?!"")(?::[ ]null)?,?|"{3}|'{3})?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCheck:
    """How many lines a form has, and what they are."""

    lines: int
    parts: int  # whole sentences or members of a line, with a mark where the others stood
    torn: int  # parts that begin or end inside of a sentence
    foreign: int  # not the author's, or not in their place


def check_lines(original: str, form: str) -> LineCheck:
    """What the lines of a form are beside those of its original."""
    checker = _Checker(original.splitlines())
    kinds = Counter([checker.kind_of(line) for line in form.splitlines() if line.strip()])
    return LineCheck(
        lines=kinds.total() - kinds["mark"],
        parts=kinds["part"] + kinds["torn"],
        torn=kinds["torn"],
        foreign=kinds["foreign"],
    )


class _Checker:
    """Walks through a form; a line may stand in the original several times, so all its places are
    kept until the next line decides."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = [line.rstrip() for line in lines if line.strip()]
        self._places: dict[str, list[int]] = {}
        for at, line in enumerate(self._lines):
            self._places.setdefault(line, []).append(at)
        self._before = {-1}
        self._is_marked = False

    def kind_of(self, line: str) -> str:
        """Whether a line is the author's, a mark, part of a line, torn out of one, or foreign."""
        bare = line.rstrip()
        if bare in self._places:
            found = self._following(bare)
            self._is_marked = False
            if found:
                self._before = found
                return "line"
        rest = [part.strip() for part in _MARK.split(line) if part.strip()]
        has_mark = _MARK.search(line) is not None
        self._is_marked = has_mark
        if has_mark and not rest:
            return "mark"
        holders = self._holders(rest)
        if bare in self._places or not holders:
            return "foreign"
        self._before = holders
        self._is_marked = True  # what follows a part of a line is never beside it
        line_of_author = self._lines[min(holders)]
        return "part" if all(_is_whole(part, line_of_author) for part in rest) else "torn"

    def _following(self, line: str) -> set[int]:
        places = self._places[line]
        if not self._is_marked:
            return {at for at in places if at - 1 in self._before}
        return set(places[bisect_right(places, min(self._before)) :])

    def _holders(self, parts: Sequence[str]) -> set[int]:
        """The lines from here on that hold all of these parts."""
        first = max(0, min(self._before))
        found: set[int] = set()
        for at in range(first, len(self._lines)):
            if all(part in self._lines[at] for part in parts):
                found.add(at)
        return found


def _is_whole(part: str, line: str) -> bool:
    """Whether a part of a line is made of whole sentences, or of whole members of a list."""
    start = line.find(part)
    end = start + len(part)
    ends = {0, len(line)}
    at = 0
    for sentence in sentences(line):
        at += len(sentence)
        ends |= {at, at - len(sentence) + len(sentence.rstrip())}
    before = line[:start].rstrip()
    begins_member = not before or before[-1] in _OPENS_MEMBER or before.endswith(_ESCAPED_BREAK)
    ends_member = (
        part.endswith(_ESCAPED_BREAK)
        or part[-1] in _ENDS_MEMBER
        or line[end : end + 1] in _ENDS_MEMBER
    )
    return (start in ends or begins_member) and (end in ends or ends_member)
