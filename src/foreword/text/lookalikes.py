"""Find words that look like a tag and are none.

Other brackets, letters of other alphabets, characters that show nothing: a parser tells `‹task›`
or `<tаsk>` (with a Cyrillic а) from `<task>`; a model may not. They are found, never changed: an
author may mean them. What a parser would take for the tag itself is `engine.render`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from itertools import islice
from unicodedata import normalize

from foreword.pattern import lazy_pattern
from foreword.text.boundary_pattern import UNSEEN, BoundaryPattern

# What Unicode lists as confusable with `<`, angle brackets of other kinds, and how HTML, JSON and
# addresses write `<`.
_BRACKETS = "‹＜﹤⟨〈〈❬❮❰⦑⧼˂ᐸᚲ≺𝈶"
_WRITTEN_OUT = r"(?<=&)(?:lt|#0*60|#x0*3c);|(?<=\\)(?:u00|x)3c|(?<=%)3c"
# Without one of these no text has a candidate, whatever the tags. To compile the pattern for those
# takes 5 ms, as much as reading a dozen documents.
_SIGNS = ("&l", "&L", "&#", "\\u0", "\\U0", "\\x3", "\\X3", "%3")
_ANY_BRACKET = lazy_pattern(f"[{_BRACKETS}]")
_MARKS = (  # accents and points, which NFKD sets apart from their letters
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    r"\u3099\u309a\ufe20-\ufe2f"
)
# One letter for all that may be taken for it. Letters with accents, of mathematics, in circles or
# of double width are Unicode's own business (NFKD).
_ALIKE = {
    "a": "аαɑᴀ",
    "b": "ьвβʙ",
    "c": "сϲᴄ",
    "d": "ԁɗᴅ",
    "e": "еєεᴇҽ",
    "f": "ꜰƒϝ",
    "g": "ɡցɢ",
    "h": "һհʜн",
    "j": "јϳᴊ",
    "k": "кκᴋ",
    "l": "iіıɪιӏʟ1|!ǀ",
    "m": "мᴍ",
    "n": "пηոɴ",
    "o": "оοօᴏσ0",
    "p": "рρᴘ",
    "q": "ԛգ",
    "r": "гʀᴦ",
    "s": "ѕꜱƽ5",
    "t": "тτᴛ",
    "u": "υսᴜцʋ",
    "v": "νѵᴠ",
    "w": "ԝωᴡѡ",
    "x": "хχ",
    "y": "уγʏү",
    "z": "ᴢʐ",
    "_": "-‐‑‒–—−ー‗¯",
    ">": "ᐳᚳ˃≻",
}
_SLASHES = "⁄∕╱⟋⧸／"
_NOT_SHOWN = lazy_pattern(f"[{UNSEEN}{_MARKS}]")
_LEAD = lazy_pattern(rf"[\s/{_SLASHES}{UNSEEN}{_MARKS}]*+")


def _skeleton_table() -> dict[int, str]:
    """For `str.translate`: every odd letter with the one it may be taken for."""
    table: dict[int, str] = {}
    for letter, others in _ALIKE.items():
        table.update(dict.fromkeys(map(ord, others), letter))
    return table


_SKELETON = _skeleton_table()
# the same where all is plain
_ASCII = {"l": "[li1|!]", "i": "[li1|!]", "o": "[o0]", "s": "[s5]", "_": "[_ -]"}
# characters behind a `<` among which an odd one has to stand: the longest tag of a recipe has 22
_NEXT = 60
_STRETCH = 16  # characters for a letter of a name, at most: accents, and what shows nothing
_LONGEST_SHOWN = 40  # characters of what was found that a warning repeats
# candidates of one text; a text with more of them is made to take time, not to be read (25 ms)
_MOST = 10_000
_ENDS = r"(?![\w.:-])"


@dataclass(frozen=True, slots=True)
class Lookalike:
    """What looks like a tag in a text, and how many such things there are."""

    tag: str
    found: str
    count: int = 1

    def with_more(self, count: int) -> Lookalike:
        """The same, with so many more of the kind."""
        return replace(self, count=self.count + count)


def may_hold_one(text: str) -> bool:
    """Whether a text has any sign that could begin a look-alike."""
    if "<" in text:
        return True
    # Most texts end here: it is asked for every section and for every message of a conversation.
    if not text.isascii() and _ANY_BRACKET.search(text):
        return True
    if "&" not in text and "\\" not in text and "%" not in text:
        return False
    return any(sign in text for sign in _SIGNS)


class Finder:
    """Finds what looks like one of some tags, in one pass over a text."""

    def __init__(self, tags: Set[str], real: BoundaryPattern) -> None:
        """`real` finds what is a tag."""
        self._tags = {_skeleton(tag).replace("_", " "): tag for tag in tags}
        names = "|".join([re.escape(_skeleton(tag)).replace("_", "[_ ]") for tag in tags])
        self._name = lazy_pattern(rf"({names}){_ENDS}")
        self._initials = {name[0] for name in self._tags}
        self._candidate = lazy_pattern(_candidates(tags), re.IGNORECASE)
        self._plain_candidate = lazy_pattern(_plain_candidates(tags))
        self._longest = _STRETCH * max(map(len, tags), default=0)
        self._real = real

    def find(self, text: str) -> Lookalike | None:
        """The first that there is, with the number of all."""
        found = list(self._all(text))
        return found[0].with_more(len(found) - 1) if found else None

    def _all(self, text: str) -> Iterator[Lookalike]:
        if text.isascii():  # then in lower case everything stays in its place
            candidates = self._plain_candidate.finditer(text.lower())
        else:
            candidates = self._candidate.finditer(text)
        for candidate in islice(candidates, _MOST):
            start = candidate.start()
            lead = _LEAD.match(text, candidate.end())
            at = lead.end() if lead else candidate.end()
            if _fold(text[at : at + 1])[:1] not in self._initials:  # most end here
                continue
            name = self._name.match(_fold(text[at : at + self._longest]))
            if name and not self._real.match(text, start):
                tag = self._tags[name[1].replace("_", " ")]
                yield Lookalike(tag, _first_line(text[start : at + name.end()]))


def _candidates(tags: Set[str]) -> str:
    """A pattern for what may begin a look-alike: an odd bracket, or a `<` in front of odd
    letters."""
    plain, first = _spellings(tags)
    # Both cases are listed and case is not ignored, since that takes 6 ms over so wide a range.
    odd_bracket = (
        rf"(?:(?<=[{_BRACKETS}])|{_WRITTEN_OUT})"
        rf"(?-i:(?=[\x00-\x20/\x7f]*+[{first}\x80-\U0010ffff]))"
    )
    odd_letters = rf"(?<=<)(?:(?=[^<>\n]{{0,{_NEXT}}}[^\x00-\x7f])|(?=[\s/]*+(?:{plain}){_ENDS}))"
    # one character first: that is searched for quickly
    return rf"[<&%\\{_BRACKETS}](?:{odd_bracket}|{odd_letters})"


def _plain_candidates(tags: Set[str]) -> str:
    """The same for a text that is all ASCII and in lower case; compiled in a tenth of the time."""
    plain, first = _spellings({tag.lower() for tag in tags})
    odd_bracket = rf"(?:{_WRITTEN_OUT})(?=[\x00-\x20/\x7f]*+[{first}])"
    return rf"[<&%\\](?:{odd_bracket}|(?<=<)(?=[\s/]*+(?:{plain}){_ENDS}))"


def _spellings(tags: Set[str]) -> tuple[str, str]:
    """The tags as ASCII may write them, and the letters that they begin with, as inside of `[]`."""
    initials: set[str] = set()
    spellings: list[str] = []
    for tag in sorted(tags):
        letters = [_ASCII.get(letter, re.escape(letter)) for letter in tag]
        spellings.append("".join(letters))
        initials.add(_ASCII.get(tag[0], tag[0]).strip("[]"))
    initial_letters = "".join(sorted(initials))
    return "|".join(spellings), re.escape(initial_letters.lower() + initial_letters.upper())


def _first_line(text: str) -> str:
    """What was found, as a warning repeats it."""
    return text[:_LONGEST_SHOWN].splitlines()[0]


def _fold(text: str) -> str:
    """A text as the eye takes it: one letter for all that look alike, nothing that does not
    show."""
    return _skeleton(_NOT_SHOWN.sub("", normalize("NFKD", text)))


def _skeleton(text: str) -> str:
    """The text with one letter for all that look alike."""
    return text.casefold().translate(_SKELETON)
