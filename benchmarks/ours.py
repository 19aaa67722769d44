"""Foreword in the benchmarks: the engine alone, as a caller with its own sections uses it.

`cold` knows nothing when it starts; `prepare` has seen everything once and is timed with one
section changed.
"""

from collections.abc import Callable

from benchmarks.material import Section as Material
from foreword.engine.pipeline import Request, assemble
from foreword.section import Budget, Rank, Rule, Section, Share
from foreword.text import narrow
from foreword.tokens import new_counter

TAG = "section"
RULE = Rule(forms=("full", "excerpt", "gone"), cap=Share("whole", 0.5))  # `max: 50%` in a recipe


def _sections(material: list[Material]) -> list[Section]:
    return [
        Section(tag=TAG, text=text, rule=RULE, rank=Rank(priority), title=name)
        for name, text, priority in material
    ]


def cold(material: list[Material], budget: int) -> str:
    """Everything from nothing: sections made, measured, fitted, written, billed."""
    narrow.whole_layout.cache_clear()
    request = Request(budget=Budget(budget, budget), counter=new_counter("o200k"))
    return assemble(_sections(material), request).text


def prepare(material: list[Material], budget: int) -> Callable[[], str]:
    """Assemble once; each call of what is returned does it again with one section changed."""
    request = Request(budget=Budget(budget, budget), counter=new_counter("o200k"))
    sections, turn = _sections(material), 0
    assemble(sections, request)

    def again() -> str:
        nonlocal turn
        turn += 1
        changed = sections[0]
        sections[0] = Section(
            tag=TAG,
            text=f"{material[0][1]} Changed {turn} times.",
            rule=RULE,
            rank=changed.rank,
            title=changed.title,
        )
        return assemble(sections, request).text

    return again
