"""Which elements of a page an instruction is about: by their words, by what they mean, and by the
form they are in.

Pure. What is read is what `explore.js` says of the elements of all frames, in the order in which
they stand on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foreword.browser.meanings import with_meanings
from foreword.text import relevance

FIRST_ROWS = 3  # of rows that are alike, those whose elements are told unasked on a long page
# Of the best score in a form, for everything in that form: who asks for the login wants its fields,
# and at half of this a word that is elsewhere by chance comes before them.
FORM_SHARE = 0.5
# Of the score of what an element is in, beside its own: a heading speaks of everything below it.
AROUND_SHARE = 0.3
# Of a score, for what can't be clicked on as it is: it comes after what can, and is not lost.
HIDDEN_SHARE = 0.3


def ranking(elements: Sequence[dict[str, Any]], instruction: str, limit: int) -> list[int]:
    """Numbers of at most so many elements, the most telling for the instruction first, the others
    as they stand on the page.

    Where not all can be told, the first few rows that are alike will do, unless the instruction
    speaks of another.
    """
    scores = _with_forms(elements, _scores(elements, instruction))
    numbers = range(len(elements))
    if len(elements) > limit:
        numbers_told = [at for at in numbers if scores[at] or not _is_later_row(elements[at])]
    else:
        numbers_told = list(numbers)

    def place(at: int) -> tuple[float, bool, bool, int]:
        element = elements[at]
        return -scores[at], "covered" in element["fact"], _is_later_row(element), at

    return sorted(numbers_told, key=place)[: max(1, limit)]


def _scores(elements: Sequence[dict[str, Any]], instruction: str) -> list[float]:
    """How much the words of each element, and of what it is in, have to do with the instruction."""
    query = with_meanings(instruction)
    own = relevance.rank([with_meanings(_own_words(element)) for element in elements], query)
    around = relevance.rank([with_meanings(_words_around(element)) for element in elements], query)
    return [mine + AROUND_SHARE * theirs for mine, theirs in zip(own, around, strict=True)]


def _own_words(element: dict[str, Any]) -> str:
    fact = element["fact"]
    row = element["row"]["text"] if element["row"] else ""
    return " ".join([fact["role"], fact["name"], fact.get("near", ""), *element["about"], row])


def _words_around(element: dict[str, Any]) -> str:
    inside = [name for _, name in element["inside"]]
    return " ".join([*inside, element["heading"]])


def _with_forms(elements: Sequence[dict[str, Any]], scores: Sequence[float]) -> list[float]:
    """The scores, with a share of the best in its form for each element, and less for what nobody
    can click on."""
    best: dict[tuple[int, int], float] = {}
    for element, score in zip(elements, scores, strict=True):
        form = element["form"]
        if form is not None:
            best[form] = max(best.get(form, 0.0), score)
    shared = []
    for element, score in zip(elements, scores, strict=True):
        form = element["form"]
        if form is not None:
            score += FORM_SHARE * best[form]
        fact = element["fact"]
        if fact.get("visible") is False or fact.get("covered"):
            score *= HIDDEN_SHARE
        shared.append(score)
    return shared


def _is_later_row(element: dict[str, Any]) -> bool:
    """Whether it stands in a row that is like others before it; an entry of a menu does not."""
    row = element["row"]
    return bool(row) and not row["menu"] and row["number"] >= FIRST_ROWS
