"""The names in a text: paths, addresses, identifiers, selectors, codes, backticked terms.

A name is what people quote when they mean one thing. This is the one finder of names: rankings use
every name, summaries, plans and checks those that stand for one thing (`literals`). Nothing here
knows about scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foreword.pattern import lazy_pattern

# Characters: what is longer nobody types or quotes; a hash or a blob, not a name.
LONGEST_NAME = 100
LONGEST_PATH = 300  # the same for paths and addresses
SHORTEST_LITERAL = 4

# Each kind of name begins only where a run of its characters does and gives nothing back: a run is
# read once, however long it is. What is certainly none, most of a text, is passed over in one match
# without a group: tried for a name at every letter, it takes more than twice the time.
_NAME = lazy_pattern(
    r"""
    # plain words, numbers, blanks and punctuation
    (?>(?:
        [^\w`~@./\#-]++
        |(?<!\w)(?:[A-Z]?[a-z]++|\d++)(?![\w~@/-]|\.[\w~@./-])
        |(?<![~@./-])[~@./-]++(?!\w)
    )+)
    # what the author set in code type
    |`([^`\r\n]{1,80})`
    # src/app/main.py
    |(?<![\w~@./-])((?:[\w~@.-]*+/)+[\w.@-]*\w)
    # module.function, file.ext, 1.2.3
    |(?<!\w)(\w++(?>(?:\.\w++)+)(?:\(\))?)
    # snake_case
    |(?<!\w)(_*+[^\W_]++_\w++|_++[^\W_]\w*+)
    # camelCase, CamelCase
    |(?<![A-Za-z0-9_])([A-Z]*+[a-z]++[A-Z]\w*+)
    # e2e, FW-12
    |(?<!\w)(
        (?=[^\WA-Za-z]*+[A-Za-z])(?=[^\W\d]*+\d)\w++(?>(?:-\w++)*)
        |[A-Z]{2,}+(?!\w)(?>(?:-\w++)*)
        |[A-Z]-\d++
    )
    # an issue
    |(\#\d++)""",
    re.VERBOSE,
)
_PART = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD = lazy_pattern(r"[^\W_]")
_ADDRESS = lazy_pattern(r"\b[a-z][a-z+.-]{1,12}://[^\s\"'`<>)\]}|\\]{3,300}")
_LONG_PATH = lazy_pattern(r"(?<![\w~@./:-])(?:[\w~@.-]*+/)+[\w.@-]*\w")
_SYMBOL = lazy_pattern(
    r"""(?<![\w.\#@+-])(?:
        (?:role=)?[\w.\#-]*+\[[^\[\]\n]{1,120}=[^\[\]\n]{0,120}\]  # input[name="q"]
        |[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+                  # an address of mail
        |[A-Za-z][\w-]*\#[A-Za-z_][\w-]*|\#[A-Za-z_][\w-]*  # button#go
        |--[A-Za-z][\w-]+                                  # a flag
    )""",
    re.VERBOSE,
)
_SYMBOL_SIGNS = lazy_pattern(r"[@#\[]|--")
_MARKUP = lazy_pattern(r"</[\w:.-]+\s*>|&#?\w{1,8};")
_MEASURE = lazy_pattern(r"[\d.,:/_x-]+[a-z%]{0,2}", re.IGNORECASE)
_DIFF = lazy_pattern(r"[ab]/.*\.\w+$")


def names(text: str) -> list[str]:
    """The paths, identifiers, backticked terms and codes in a text, in order; what nobody would
    type is not one."""
    return list(_names(text))


def literals(text: str) -> tuple[str, ...]:
    """Return the names that stand for one thing, each once, in order; measures, markup and short
    acronyms are none."""
    return tuple(dict.fromkeys(_literals(text)))


def has_name(text: str) -> bool:
    """Whether a text names anything."""
    return next(_names(text), None) is not None


def is_literal(name: str) -> bool:
    """Whether a name stands for one thing; a short acronym (`CI`, `API`) is a word like others."""
    if name.isalpha() and name.isupper() and len(name) < 4:
        return False
    return _WORD.search(name) is not None


def parts(name: str) -> list[str]:
    """The words inside a CamelCase or snake_case name."""
    found = _PART.findall(name)
    return found if len(found) > 1 else []


def _names(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        if match.lastindex:
            name = match[match.lastindex]
            if len(name) <= LONGEST_NAME:
                yield name


def _literals(text: str) -> Iterator[str]:
    text = text.replace('\\"', '"')  # as JSON writes what is in quotes
    if "</" in text or "&" in text:
        text = _MARKUP.sub(" ", text)
    if "://" in text:
        for match in _ADDRESS.finditer(text):
            yield match[0].rstrip(".,;:")
    if "/" in text:
        for match in _LONG_PATH.finditer(text):
            if LONGEST_NAME < len(match[0]) <= LONGEST_PATH:
                yield match[0]
    if _SYMBOL_SIGNS.search(text):
        yield from _SYMBOL.findall(text)
        text = _SYMBOL.sub(" ", text)
    yield from filter(_is_telling, map(str.strip, _names(text)))


def _is_telling(name: str) -> bool:
    if len(name) < SHORTEST_LITERAL or name.startswith("//"):
        return False
    if name.isalpha() and name.isupper():
        return False
    return not _MEASURE.fullmatch(name) and not _DIFF.match(name) and is_literal(name)
