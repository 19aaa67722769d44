"""Words and names in a text: the vocabulary that ranking and weighing share.

A name is what people quote when they mean one thing: a path, an identifier, a backticked term, an
error code. Nothing here knows about scores; those are in `relevance` and `weight`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from foreword.pattern import lazy_pattern

_LITTLE_WORDS = """
    a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing done down during each else etc few for from
    further get gets give given had has have having he her here hers him his how i if in into is it
    its just let like made make makes many may me might more most much must my need needs no nor not
    now of off on once one only or other our ours out over own per please s same say shall she
    should show so some such t take tell than that the their theirs them then there these they this
    those through to too under until up upon us use used using very was we were what when where
    whether which while who whom why will with within without would you your yours
"""
STOP_WORDS = frozenset(_LITTLE_WORDS.split())
# Characters: what is longer nobody types or quotes; a hash or a blob, not a name.
LONGEST_NAME = 100

_CJK = lazy_pattern(
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f]+"
)
# All of these, and others: most texts that are not ASCII have dashes, arrows and accents, and to
# compile the pattern above takes 2 ms, as it does for any that names a range of so many.
_MAY_BE_CJK = lazy_pattern("[^\\x00-\\u303f]")
_WORD = lazy_pattern(r"[^\W_]+(?:['\u2019][^\W\d_]+)?")
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
    )
    # an issue
    |(\#\d++)""",
    re.VERBOSE,
)
_PART = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words(text: str) -> list[str]:
    """The words of a text in lower case, in order; runs of CJK as overlapping pairs of
    characters."""
    return _WORD.findall(bigrams(text).lower())


def names(text: str) -> list[str]:
    """The paths, identifiers, backticked terms and codes in a text, in order; what nobody would
    type is not one."""
    return list(_names(text))


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


def bigrams(text: str) -> str:
    """The text with each run of CJK characters spelled as overlapping pairs, so that a part of
    it can be found."""
    if text.isascii() or not _MAY_BE_CJK.search(text):
        return text
    return _CJK.sub(lambda run: " " + " ".join(_pairs(run[0])) + " ", text)


def mentions(text: str, wanted: Iterable[str]) -> list[str]:
    """Which of the wanted words and phrases occur in the text as whole words, in any case,
    singular or with an `s`."""
    lowered = text.lower()
    return [phrase for phrase in wanted if _is_mentioned(phrase.lower().split(), lowered)]


def _names(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        if match.lastindex:
            name = match[match.lastindex]
            if len(name) <= LONGEST_NAME:
                yield name


def _is_mentioned(phrase: list[str], lowered: str) -> bool:
    if not phrase or phrase[0] not in lowered:
        return False
    pattern = r"[\s-]+".join(map(re.escape, phrase))
    return re.search(rf"(?<!\w){pattern}s?(?!\w)", lowered) is not None


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def occurs(text: str, name: str) -> bool:
    """Whether a name is in a text, and not inside a longer word."""
    at = text.find(name)
    while at >= 0:
        before = text[at - 1 : at]
        after = text[at + len(name) : at + len(name) + 1]
        if not _continues(before) and not _continues(after):
            return True
        at = text.find(name, at + 1)
    return False


def _continues(char: str) -> bool:
    return char.isalnum() or char == "_"
