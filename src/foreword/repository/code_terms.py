"""The terms that files and tasks are compared by: words, identifiers, and the words inside those.

A term is in lower case and without its commonest endings, so that `decorators` finds `decorator`.
Pure.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import lru_cache

from foreword.pattern import lazy_pattern

IN_FILE_NAME = "//"
IN_FOLDER = "/"
_NEAREST_FOLDERS = 3  # the ones above them are the same for most files
LONGEST_TERM = 80  # characters: what is longer is data
_IDENTIFIER = lazy_pattern(r"[^\W\d]\w+")
_PART = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
# Python's and other languages' own words: in nearly every file.
_SYNTAX = frozenset(
    "self def return import from class if else elif for while try except finally raise with not and"
    " or in is none true false pass lambda yield assert del global nonlocal break continue async"
    " await function const let var new this null void public private protected static int str bool"
    " float len print type object the to of it be as an at by on that which are was this can use"
    " used when will has have".split()
)


def term_counts(text: str) -> Counter[str]:
    """How often each term is in a text."""
    found: Counter[str] = Counter()
    for name, count in Counter(_IDENTIFIER.findall(text)).items():
        for term in terms_of_name(name):
            found[term] += count
    return found


@lru_cache(maxsize=200_000)
def terms_of_name(name: str) -> tuple[str, ...]:
    """An identifier or word as terms: whole, and the words inside it."""
    if len(name) > LONGEST_TERM:
        return ()
    whole = name.lower().strip("_")
    if whole in _SYNTAX or len(whole) < 2:
        return ()
    inside = _PART.findall(name)
    if len(inside) < 2:
        return (stem(whole),)
    terms = [whole]
    for part in inside:
        word = part.lower()
        if len(word) > 1 and word not in _SYNTAX:
            terms.append(stem(word))
    return tuple(dict.fromkeys(terms))


def terms_of_path(path: str) -> list[str]:
    """The terms of a path: those of the file's name behind two slashes, those of the nearest
    folders behind one, so that they are not taken for words of the text."""
    *folders, name = path.rpartition(".")[0].split("/")
    found = [IN_FILE_NAME + term for term in terms_of_name(name)]
    for folder in folders[-_NEAREST_FOLDERS:]:
        found += [IN_FOLDER + term for term in terms_of_name(folder)]
    return list(dict.fromkeys(found))


def stem(word: str) -> str:
    """A word without the endings that most change nothing."""
    if len(word) < 5:
        return word[:-1] if len(word) == 4 and word.endswith("s") and word[-2] not in "su" else word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word


_ENDINGS = (
    ("ies", "y"),
    ("sses", "ss"),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("ers", "er"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
    ("ly", ""),
    ("e", ""),
)


@lru_cache(maxsize=500_000)
def term_number(term: str) -> int:
    """A number for a term, the same in every process; among a million terms two share one with a
    chance of a few in a thousand, which costs a little noise."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=6).digest())
