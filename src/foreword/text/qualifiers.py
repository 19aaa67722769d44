"""Words by which a sentence takes back, or turns round, what stands beside it.

"You may push at any time. Except on Fridays." says the opposite without its second sentence, and a
list below "Never run these" does so without that line. A few English words, and no grammar: where a
word is missing here, its sentence is cut as any other.
"""

from __future__ import annotations

import re

from foreword.pattern import lazy_pattern

_OPENERS = (
    r"except|exceptions?|unless|but|however|otherwise|nevertheless|that said",
    r"(?:this|that|these|it)(?: rule)? (?:does|do|is|are) not",
)
# These narrow the sentence before them where they stand on its line; elsewhere they begin a rule of
# its own ("- Only maintainers merge.").
_INSIDE_OPENERS = r"only|not"
_OPENS = lazy_pattern(
    r"\s*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*[*_\"'“‘(\[]*"
    rf"(?:{'|'.join(_OPENERS)})(?!\w)",
    re.IGNORECASE,
)
_OPENS_INSIDE = lazy_pattern(rf"\s*[*_(]*(?:{_INSIDE_OPENERS})(?!\w)", re.IGNORECASE)
_NEGATES = lazy_pattern(
    r"(?<!\w)(?:not|never|no|none|\w+n['’]t|cannot|avoid|forbidden|without|unless|except|wrong|bad"
    r"|following|below)(?!\w)",
    re.IGNORECASE,
)


def opens_exception(text: str, *, inside_line: bool = False) -> bool:
    """Whether a sentence takes back something of the one before it; `inside_line` says that both
    are on one line."""
    if _OPENS.match(text):
        return True
    return inside_line and _OPENS_INSIDE.match(text) is not None


def turns_list(text: str) -> bool:
    """Whether a line says of what is listed below it what the list alone does not say."""
    return _NEGATES.search(text) is not None
