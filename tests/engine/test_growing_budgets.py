"""What a larger budget changes: nothing that ranks high becomes smaller for something that ranks
low.

Between two budgets the first rank, in the order of keeping, whose size differs is larger at the
larger one; equals share, so that what one could not use in a smaller room may be another's. Where
tiers have shares, who is in comes before how large anyone is, the newest first.
"""

from __future__ import annotations

from collections import Counter as Tally
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.engine.outline import outline_of
from foreword.engine.pipeline import Request, assemble
from foreword.engine.report import Report
from foreword.section import Budget, Form, Rank, Rule, Section, Tiers
from foreword.tokens import counter
from tests.examples import examples

FORMS: tuple[Form, ...] = ("full", "summary", "excerpt", "reference", "gone")
# Characters by which a form may be smaller: figures in its marks have fewer digits.
DIGITS = 24
# Of a rank: equals that share more room may each fill their half a little worse.
TRADED = 0.05
MATERIAL = {
    "notes.md": "# {n} notes\n\n"
    "Boats over {n} m book a berth by radio; never after dark. The office opens at six.\n\n"
    "## Tides\n\n- High water at 04:{n}, because of the spring tide\n- `berth_{n}` must be set\n\n",
    "berth.py": "class Berth{n}:\n    boats: int = {n}\n\n    def free(self, at: int) -> bool:\n"
    "        if at < {n}:\n            raise ValueError(at)\n        return at > self.boats\n\n\n",
    "harbour.log": "2026-05-{n} 06:00:01 INFO berth {n} taken by boat a{n}\n"
    "2026-05-{n} 06:00:07 ERROR no answer from buoy {n}, tried three times\n",
    "tides.csv": "{n},04:12,spring,buoy-{n}\n",
    "page.html": "<p>Berth {n} is closed. Boats wait outside until the tide turns.</p>\n",
}


def text_of(kind: str, times: int) -> str:
    return "".join([MATERIAL[kind].replace("{n}", str(10 + n)) for n in range(times)])


@st.composite
def material(draw: st.DrawFn) -> list[Section]:
    """Three to seven sections of different kinds, ranks and ages, each under its own tag."""
    found: list[Section] = []
    for place in range(draw(st.integers(3, 7))):
        kind = draw(st.sampled_from(sorted(MATERIAL)))
        found.append(
            Section(
                tag=f"part_{place}",
                text=text_of(kind, draw(st.integers(1, 30))),
                rule=Rule(tier=draw(st.integers(1, 3)), forms=FORMS),
                rank=Rank(draw(st.integers(0, 4))),
                title=kind,
                source=kind,
                recency=draw(st.integers(0, 3)),
            )
        )
    return found


def report_at(budget: int, sections: list[Section], tiers: Tiers) -> Report:
    request = Request(
        budget=Budget(budget, budget),
        counter=counter("estimate"),
        task="which berth is free",
        tags=tuple([section.tag for section in sections]),
        tiers=tiers,
    )
    return assemble(sections, request).report


def sizes(sections: list[Section], report: Report, tiers: Tiers) -> list[tuple[str, int]]:
    """How large each rank is, in the order of keeping."""
    order = list(outline_of(sections).order)
    if tiers.limits:
        order.sort(key=lambda index: -sections[index].rank.group)
    units = Tally[str]()
    for index in order:
        section = sections[index]
        choice = report.decided.get(index)
        units[f"tier {section.rule.tier}, {section.rank}"] += choice.units if choice else 0
    return list(units.items())


@pytest.mark.parametrize(
    "tiers", [Tiers(), Tiers({1: 0.5, 2: 0.3, 3: 0.2}), Tiers(limits={1: 400, 2: 600})]
)
# Below some 200 tokens one form more or less is most of the room, and chance decides.
@given(sections=material(), start=st.integers(200, 600))
@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_first_section_that_a_larger_budget_changes_becomes_larger(
    tiers: Tiers, sections: list[Section], start: int
) -> None:
    budgets = [int(start * 1.35**step) for step in range(12)]
    steps = [sizes(sections, report_at(budget, sections, tiers), tiers) for budget in budgets]
    for smaller, larger in combinations(steps, 2):
        for (name, before), (_, now) in zip(smaller, larger, strict=True):
            if abs(before - now) > max(DIGITS, TRADED * before):
                assert now > before, f"{name}: {before} then {now}"
                break
