"""Tier 1 as it was when a session began: settled once, so that a prompt cache keeps it.

A plan that is edited on the way, or a newer one, changes nothing until the next session. That it
did is told. Only whoever holds a session holds one of these (`work.task`, `work.order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foreword.context.inputs import ReadingResult
from foreword.section import Section

SESSION = 1  # the tier that lasts for a session
CHANGED = "changed since the session began, and as it was then"  # how the note begins


@dataclass(slots=True)
class SettledTier:
    """The sections of tier 1, from the first context of a session on."""

    sections: Sequence[Section] | None = None

    def settle(self, gathered: ReadingResult, order: Sequence[str]) -> None:
        """Put what was settled in place of what was read now; `order` is the tags as they are
        read. The first time, what was read is settled."""
        now = [section for section in gathered.sections if section.rule.tier == SESSION]
        if self.sections is None:
            self.sections = now
            return
        changed = _changed_sources(self.sections, now)
        if changed:
            gathered.notes.append(f"{CHANGED}: {', '.join(changed)}")
        others = [section for section in gathered.sections if section.rule.tier != SESSION]
        gathered.sections = sorted(
            [*others, *self.sections], key=lambda section: order.index(section.tag)
        )


def _changed_sources(before: Sequence[Section], now: Sequence[Section]) -> list[str]:
    """The files whose text is another one now, is gone, or has come."""
    texts_before = {(section.source, section.text) for section in before}
    texts_now = {(section.source, section.text) for section in now}
    return sorted({source for source, _ in texts_before ^ texts_now})
