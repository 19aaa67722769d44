"""Find what a parser would take for one of some tags, opening or closing, in any case.

Between the letters of a tag there may be characters that show as nothing. One regular expression
for all of that takes 0.2 s to compile, so the expression only finds candidates and decides the
plain ones; the few with such characters in them, or at the end of a text, are read letter by
letter. What only looks like a tag is found by `lookalikes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from foreword.pattern import lazy_pattern

HARMLESS = "&lt;"
UNSEEN = (  # characters that show as nothing: controls, formats, fillers
    r"\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_BLANKS = rf"[\s{UNSEEN}]*+"
_LEAD = f"{_BLANKS}(?>(?:/{_BLANKS})*)"  # between the `<` and the name
_NAME = r"\w.:\-"  # what a name goes on with, as inside of `[]`
_UNCLEAR_NAME = lazy_pattern(f"[{_NAME}{UNSEEN}]*+")
_UNSEEN_CHARACTERS = lazy_pattern(f"[{UNSEEN}]+")


class BoundaryPattern:
    """Finds the `<` of anything that reads as one of these tags.

    A `<` at the end of a text counts, too, where what is joined to it later could make it one.
    """

    def __init__(self, tags: Set[str]) -> None:
        self._tags = sorted(tag.casefold() for tag in tags)
        names = "|".join([re.escape(tag) for tag in sorted(tags)])
        self._candidate = re.compile(
            rf"<(?={_LEAD}(?:(?:{names})(?![{_NAME}{UNSEEN}])"
            rf"|(?P<unclear>[{_NAME}]*+(?:[{UNSEEN}]|\Z))))",
            re.IGNORECASE,
        )

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every `<` of a tag, in order."""
        for found in self._candidate.finditer(text):
            if self._is_tag(found):
                yield found

    def search(self, text: str) -> re.Match[str] | None:
        """The first `<` of a tag."""
        return next(self.finditer(text), None)

    def match(self, text: str, at: int) -> re.Match[str] | None:
        """The `<` at this place, if it is a tag's."""
        found = self._candidate.match(text, at)
        return found if found and self._is_tag(found) else None

    def escape(self, text: str) -> str:
        """The text with every such `<` made harmless; all else stays byte for byte."""
        return self._candidate.sub(self._harmless, text)

    def _harmless(self, found: re.Match[str]) -> str:
        return HARMLESS if self._is_tag(found) else found[0]

    def _is_tag(self, found: re.Match[str]) -> bool:
        """Whether a candidate is one, without what does not show in its name."""
        if found["unclear"] is None:
            return True
        rest = _UNCLEAR_NAME.match(found.string, found.start("unclear"))
        assert rest  # it matches everything, nothing as well
        name = _UNSEEN_CHARACTERS.sub("", rest[0]).casefold()
        if rest.end() < len(found.string):
            return name in self._tags
        return any(tag.startswith(name) for tag in self._tags)
