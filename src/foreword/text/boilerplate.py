"""What nobody reads first: badges, link definitions, tables of contents, licences, credits.

It stays in a smaller form only where everything else does. What is most of a text is none of this:
a page about licences is read for its licences.
"""

from __future__ import annotations

import re

from foreword.pattern import lazy_pattern
from foreword.text.pieces import Layout, Piece

# Titles of the end of a book, and of what stands in front of one.
_TITLES = (
    r"sources?|references?|bibliography|citations?|further reading|see also|credits"
    r"|acknowledge?ments?|licen[cs](?:e|es|ing)|copyright(?: (?:and|&) license)?"
    r"|change ?log|revision history|contributors|sponsors|backers"
    r"|(?:table of )?contents|on this page"
)
_TITLE = lazy_pattern(rf"[\W\d_]*(?:{_TITLES})[\W_]*\Z", re.IGNORECASE)
_IMAGE = r"!\[[^\[\]]*\](?:\([^()\s]*(?:\s[^()]*)?\)|\[[^\[\]]*\])"
_DECORATION = lazy_pattern(
    rf"""(?:
    \[\s*(?:{_IMAGE}\s*)+\](?:\([^()]*\)|\[[^\[\]]*\])       # a picture that is a link
    | {_IMAGE.replace(" ", "[ ]")}
    | ^[ ]{{0,3}}\[(?!\^)[^\[\]\n]+\]:[ \t]*\S+[^\n]*$       # where a link leads
    | ^[ \t]*(?:[-*+]|\d+[.)])[ \t]+\[[^\n]*\]\(\#[^()\n]*\)[ \t]*$   # a line of contents
    | ^import[ ][^\n]*['"][ \t]*;?[ \t]*$ | ^export[ ](?:const|default)\b[^\n]*$   # of MDX
    | <!--.*?--> | </?[A-Za-z][^<>]*>
    )""",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_LINK = lazy_pattern(r"\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])")
# The same in reStructuredText: a picture, which may be defined for use in a row, and contents.
_DIRECTIVE = lazy_pattern(r"\s*\.\. (?:\|[^|\n]+\| )?(?:image|contents)::")
_WORD = lazy_pattern(r"\w")
_DECORATED_KINDS = ("paragraph", "item", "html", "quote")
# Characters of a row of badges: thirty with long addresses.
_LONGEST = 6_000
# Of the characters of a text: what is more is what the text is about.
_MOST = 0.5


def decoration(layout: Layout) -> set[int]:
    """The pieces that are nothing but badges, pictures, definitions or lines of contents."""
    return _unless_most(
        layout, {at for at, piece in enumerate(layout.pieces) if _is_decoration(piece)}
    )


def boilerplate(layout: Layout) -> set[int]:
    """Decoration, and the pieces that stand under a title such as `Sources`."""
    under: set[int] = set()
    for at, piece in enumerate(layout.pieces):
        is_title = piece.kind == "heading" and _TITLE.match(piece.text) is not None
        if is_title or not under.isdisjoint(layout.needs[at]):
            under.add(at)
    return _unless_most(layout, under) | decoration(layout)


def _is_decoration(piece: Piece) -> bool:
    if piece.kind == "code":
        return _DIRECTIVE.match(piece.text) is not None
    if piece.kind not in _DECORATED_KINDS or len(piece.text) > _LONGEST:
        return False
    if not _WORD.search(piece.text):
        return False
    rest = _DECORATION.sub("", piece.text)
    if "![" in piece.text:
        rest = _LINK.sub("", rest)  # to a translation, in a row of badges
    return _WORD.search(rest) is None


def _unless_most(layout: Layout, places: set[int]) -> set[int]:
    chars = sum(len(layout.pieces[at].text) for at in places)
    whole = sum(len(piece.text) for piece in layout.pieces)
    return places if chars <= _MOST * whole else set()
