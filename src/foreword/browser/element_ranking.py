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
# Of its own score, for the button that sends a form: who wants to save or to log in means it, and
# not the link of the same words that leads to the form. At 1 the link comes first on Wagtail.
SUBMIT_WEIGHT = 2.0
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
    """How much the words of each element, of its row and of what it is in, have to do with the
    instruction. A later row counts only where its own words do: "Select row" is in all of them."""
    query = with_meanings(instruction)
    own = _ranks([with_meanings(_own_words(element)) for element in elements], query)
    rows = _ranks([_row_text(element) for element in elements], instruction)
    around = _ranks([with_meanings(_words_around(element)) for element in elements], query)
    scores = []
    for at, element in enumerate(elements):
        if _is_later_row(element) and not rows[at]:
            scores.append(0.0)
        else:
            weight = SUBMIT_WEIGHT if element["sends"] else 1.0
            scores.append(weight * own[at] + rows[at] + AROUND_SHARE * around[at])
    return scores


def _ranks(passages: Sequence[str], query: str) -> list[float]:
    # What stands beside something on a page need have nothing to do with it.
    return relevance.rank(passages, query, neighbours=False)


def _own_words(element: dict[str, Any]) -> str:
    fact = element["fact"]
    return " ".join([fact["role"], fact["name"], fact.get("near", ""), *element["about"]])


def _row_text(element: dict[str, Any]) -> str:
    return str(element["row"]["text"]) if element["row"] and not element["row"]["menu"] else ""


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
