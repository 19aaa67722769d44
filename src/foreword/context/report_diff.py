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
    tags = dict.fromkeys([*new, *old])
    differences = [SectionDifference(tag, before=old[tag], after=new[tag]) for tag in tags]
    return sorted(differences, key=lambda difference: -abs(difference.change))


def notes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What else is different: the budget, and how tokens were counted."""
    found = list[str]()
    old_budget = before["budget_tokens"]
    new_budget = after["budget_tokens"]
    if old_budget != new_budget:
        found.append(f"budget {old_budget:,} -> {new_budget:,}")
    old_counter = before.get("counter")
    new_counter = after.get("counter")
    if old_counter != new_counter:
        found.append(f"counted by {old_counter}, then by {new_counter}: sizes do not compare")
    return found


def _sizes(report: Mapping[str, Any]) -> Counter[str]:
    sizes = Counter[str]()
    for section in report.get("sections", ()):
        match section:
            case {"tag": str(tag), "tokens": int(tokens)}:
                sizes[tag] += tokens
    return sizes
