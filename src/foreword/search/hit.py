"""What a search found, and the answer that is made of it.

An answer is a package like any other: within its budget, boundaries that can't be forged, a bill,
and a handle for each hit and for whatever was cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foreword.engine.package import Package
from foreword.engine.pipeline import Request, assemble
from foreword.errors import BadBudget
from foreword.section import Budget, Rank, Rule, Section
from foreword.tokens import Counter

# Full where it fits; else what has most to do with the question, then whole lines of it. A mere
# reference would say nothing: what is not in is in the report.
_RULE = Rule(tier=3, forms=("full", "relevant", "excerpt", "gone"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A stretch of something that is about the question."""

    kind: str  # of what it is from: session, transcript, document, artifact
    where: str  # in words: `session demo, messages 4-6`
    text: str
    score: int
    handle: str  # what `recall` brings it back by
    original: bytes | None = None  # to be kept under the handle; none where the store has it anyway
    date: str = ""
    gap: str = ""  # the mark for what is left out in front of it

    def section(self, place: int) -> Section:
        """The hit as a section of an answer; the higher its place, the sooner it gives way."""
        dated = f", {self.date[:10]}" if self.date else ""
        gap = f"{self.gap}\n" if self.gap else ""
        return Section(
            tag=self.kind,
            text=self.text,
            rule=_RULE,
            rank=Rank(order=-place),
            title=self.where,
            source=self.where,
            kind=self.kind,
            before=f"{gap}# {self.where}{dated} ({self.handle})\n",
        )


def answer(
    hits: Sequence[Hit],
    *,
    question: str,
    budget: int,
    counter: Counter,
    recipe: str,
    notes: Sequence[str] = (),
) -> Package:
    """The hits in the order they stand in, those with less to do with the question shortened or
    left out where there is no room for all."""
    by_score = sorted(range(len(hits)), key=lambda at: (-hits[at].score, at))
    places = {at: place for place, at in enumerate(by_score)}
    sections = [hit.section(places[at]) for at, hit in enumerate(hits)]
    request = Request(
        budget=Budget(budget, window_tokens=budget, has_window=False),
        counter=counter,
        recipe=recipe,
        task=question,
        notes=tuple(notes),
    )
    package = assemble(sections, request)
    if hits and not package.text.strip():
        best = hits[by_score[0]]
        raise BadBudget(
            budget,
            problem=f"nothing of {best.where} fits {budget:,} tokens",
            hint="give a larger --budget",
        )
    return package
