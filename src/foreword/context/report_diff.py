"""What changed from one report to another, section by section: those that changed most first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SectionDifference:
    """A section in both reports, in tokens; 0 where it is not in one."""

    tag: str
    before: int
    after: int

    @property
    def change(self) -> int:
        """By how many tokens it grew; less than 0 where it shrank."""
        return self.after - self.before

    @property
    def word(self) -> str:
        """What became of it: same, grew, shrank, appeared, went."""
        if not self.change:
            return "same"
        if not self.before or not self.after:
            return "went" if self.before else "appeared"
        return "grew" if self.change > 0 else "shrank"


def sections(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[SectionDifference]:
    """Every section of either report."""
    old, new = _sizes(before), _sizes(after)
    each = [SectionDifference(tag, old[tag], new[tag]) for tag in dict.fromkeys([*new, *old])]
    return sorted(each, key=lambda one: -abs(one.change))


def notes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What else is different: the budget, and how tokens were counted."""
    old, new = before["budget_tokens"], after["budget_tokens"]
    counters = before.get("counter"), after.get("counter")
    counted = f"counted by {counters[0]}, then by {counters[1]}: sizes do not compare"
    return [
        *([f"budget {old:,} -> {new:,}"] if old != new else []),
        *([counted] if counters[0] != counters[1] else []),
    ]


def _sizes(report: Mapping[str, Any]) -> Counter[str]:
    sizes = Counter[str]()
    for section in report.get("sections", ()):
        match section:
            case {"tag": str(tag), "tokens": int(tokens)}:
                sizes[tag] += tokens
    return sizes
