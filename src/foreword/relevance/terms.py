"""The terms of a text: its words without their endings, and what it names, each as one term.

A term has only letters, digits and `_` in it, so that any full-text index can keep it as it is.
"""

from __future__ import annotations

from functools import lru_cache

from foreword.pattern import lazy_pattern
from foreword.relevance.passage import Passage
from foreword.text.names import LONGEST_NAME, is_literal, names, parts
from foreword.text.words import STOP_WORDS, words

# What transcripts note beside the words: `{vocalsound}`, `<laugh>`, `[inaudible]`.
_NOISE = lazy_pattern(r"\{[a-z]{2,20}\}|<[a-z]{2,20}>|\[(?:inaudible|laughter|crosstalk|music)\]")
_NOT_TERM = lazy_pattern(r"[\W_]+")
# A word with one of these in it may be a name of several parts; all others are read as words.
_NAME_SIGN = lazy_pattern(r"[`/_.\d#]|[a-z][A-Z]|[A-Z]{2}")


def terms(text: str) -> list[str]:
    """What a text is found by, in order: its words but for little ones, and its names as wholes."""
    found = [stem(word) for word in content_words(text)]
    if _NAME_SIGN.search(text):
        for name in names(text):
            found += name_terms(name)
    return found


def content_words(text: str) -> list[str]:
    """The words of a text in lower case, but for little ones and what transcripts note."""
    return [word for word in words(_NOISE.sub(" ", text)) if word not in STOP_WORDS]


def passage_terms(passage: Passage) -> tuple[str, ...]:
    """The terms of a passage's text, read once or taken as they come."""
    if passage.terms is not None:
        return passage.terms
    return _remembered_terms(passage.text)


@lru_cache(maxsize=4_096)
def _remembered_terms(text: str) -> tuple[str, ...]:
    # A question is often followed by another about the same conversation.
    return tuple(terms(text))


def name_terms(name: str) -> list[str]:
    """A name as one term, and the words inside it that are no words of the text by themselves."""
    found: list[str] = []
    inside = [part.lower() for part in parts(name)]
    if is_literal(name) and len(inside) > 1:
        found.append(whole_name(name))
    # `snake_case` is two words already; `camelCase` is one.
    known = {*words(name), *STOP_WORDS}
    for word in inside:
        if len(word) > 1 and word not in known:
            found.append(stem(word))
    return found


def whole_name(name: str) -> str:
    """A name as one term: `src/app/main.py` is `src_app_main_py`."""
    return _NOT_TERM.sub("_", name.lower()).strip("_")[:LONGEST_NAME]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without the commonest endings of English: `cancelled`, `cancels` and `cancelling` are
    one. Words with digits or of other alphabets stay."""
    word = word.replace("\u2019", "'").removesuffix("'s").replace("'", "")
    if not word.isascii() or not word.isalpha():
        return word
    word = _without_plural(word)
    for ending in _ENDINGS:
        if len(word) > len(ending) + 3 and word.endswith(ending):
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] not in "ls":
                word = word[:-1]
            break
    return word


# In this order; only the first that fits is taken off.
_ENDINGS = ("ing", "ed", "ly", "ment", "tion", "er", "e")


def _without_plural(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
