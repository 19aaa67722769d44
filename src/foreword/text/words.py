"""Words in a text: the vocabulary that ranking and weighing share.

Names are in `names`. Nothing here knows about scores; those are in `relevance` and `weight`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

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

_CJK = lazy_pattern(
    "[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f]+"
)
# All of these, and others: most texts that are not ASCII have dashes, arrows and accents, and to
# compile the pattern above takes 2 ms, as it does for any that names a range of so many.
_MAY_BE_CJK = lazy_pattern("[^\\x00-\\u303f]")
_WORD = lazy_pattern(r"[^\W_]+(?:['\u2019][^\W\d_]+)?")


def words(text: str) -> list[str]:
    """The words of a text in lower case, in order; runs of CJK as overlapping pairs of
    characters."""
    return _WORD.findall(bigrams(text).lower())


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
