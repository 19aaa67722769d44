"""An outline of code under way, in whichever language: its lines, and those that are in a piece.

Comments are pieces of their own: one that stands apart (a license) goes before any code does, and
of a long one above a definition the first line that says something stays with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from foreword.pattern import lazy_pattern
from foreword.text.pieces import LayoutBuilder, Over

# Lines of fields that a class always brings along: past that it is a table, and may be elided.
MOST_FIELD_LINES = 40
# Lines of fields, or of imports, that stay or go together: half of what is always brought along, so
# that a longer table of them loses parts and is not lost whole.
FIELD_RUN = MOST_FIELD_LINES // 2
# Lines of a comment that stays or goes whole: a mark for less would hardly be shorter.
_SHORT_COMMENT = 3
_APART = 3  # the rank of a comment with a blank line behind it: below the bodies of functions
_OPENS = lazy_pattern(r"\W*\Z")
_CLOSES = lazy_pattern(r"[^\n]*\*/\s*\Z")


@dataclass(slots=True)
class CodeOutline:
    """All lines up to `done` are in a piece of the builder."""

    rows: list[str]
    builder: LayoutBuilder
    over: Over
    done: int = 0

    def take(self, last: int) -> str:
        """The lines that are in no piece yet, up to a line number."""
        text = "".join(self.rows[self.done : last])
        self.done = max(self.done, last)
        return text

    def bring_fields(self, header: Sequence[int], fields: Sequence[int]) -> None:
        """Let what is declared bring its fields along, unless they are a table, or the whole room
        is too small for both."""
        pieces = [self.builder.pieces[at] for at in (*header[-1:], *fields)]
        text = "".join([piece.text for piece in pieces])
        lines = text.count("\n")
        if header and lines <= MOST_FIELD_LINES and not self.over(pieces[0].start, text):
            self.builder.require(header[-1], fields)
            self.builder.pieces[header[-1]] = replace(pieces[0], divisible=True)

    def add_comments(
        self, first: int, is_comment: Callable[[int], bool], needs: Sequence[int]
    ) -> list[int]:
        """Add what stands in front of the line `first` and is nothing but comments; returns what
        the definition there brings along."""
        above = first
        # A blank line may stand inside a comment.
        while above > self.done and (self.rows[above - 1].strip() or is_comment(above - 1)):
            above -= 1
        if self._is_only_comments(self.done, above, is_comment):
            # With blank lines alone a mark would not know how far to indent.
            self.builder.add(self.take(above), "code", needs=needs, rank=_APART)
        last = self.done
        while last < first and is_comment(last):
            last += 1
        if self.done < above or last - self.done <= _SHORT_COMMENT:
            return []
        # What stands in front may be several: of each, what opens also closes.
        *earlier, final = self._comment_starts(self.done, last)
        for start in (*earlier[1:], final) if earlier else ():
            self.builder.add(self.take(start), "code", needs=needs, rank=2)
        return self._add_long_comment(last, needs) if last - final > _SHORT_COMMENT else []

    def _comment_starts(self, first: int, last: int) -> list[int]:
        """The lines from `first` up to `last` that begin a comment: lines with a sign in front of
        each are one."""
        starts = [first]
        is_open = False
        was_block = False
        for at in range(first, last):
            row = self.rows[at].strip("\ufeff \t\r\n")
            if is_open:
                is_open = "*/" not in row
                continue
            is_block = row.startswith("/*")
            if at > first and (is_block or was_block):
                starts.append(at)
            is_open = is_block and "*/" not in row
            was_block = is_block
        return starts

    def _is_only_comments(self, start: int, end: int, is_comment: Callable[[int], bool]) -> bool:
        said = [row for row in range(start, end) if self.rows[row].strip()]
        return bool(said) and all(is_comment(row) for row in said)

    def _add_long_comment(self, last: int, needs: Sequence[int]) -> list[int]:
        says_nothing = _OPENS.match(self.rows[self.done]) is not None
        opening = self.builder.add(
            self.take(self.done + 1 + says_nothing), "code", needs=needs, rank=1
        )
        closes = _CLOSES.match(self.rows[last - 1]) is not None
        self.builder.add(self.take(last - closes), "code", needs=opening, rank=2)
        closing = self.builder.add(self.take(last), "closing", needs=opening, rank=2)
        self.builder.require(opening[0], closing)
        return opening
