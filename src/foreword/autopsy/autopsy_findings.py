"""What an autopsy finds, as plain values: of a compaction, of a session, of all sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

BEGINNING = "before the user's first words"  # a turn that is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Something that was used again behind a compaction and was not in the summary."""

    text: str
    kind: str  # path, name, number or command
    restored: bool  # whether Foreword would have had it at the same size
    found_again: bool  # whether a tool brought it back before it was used


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    """A file that was read before a compaction and read again behind it."""

    path: str
    times: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFinding:
    """One compaction."""

    number: int
    time: str
    trigger: str
    tokens_before: int
    summary_tokens: int
    needed: int  # names that were used again behind it, up to the next one
    kept: int  # of those, in the summary
    foreword_kept: int  # of those, in what Foreword makes of the same messages at the same size
    losses: tuple[Loss, ...]
    invented: tuple[str, ...]  # what the summary says and nothing before it says
    claims: int  # names, numbers, commands and quotations in the summary
    reread: tuple[Reread, ...]

    @property
    def lost(self) -> int:
        """How many names were needed and were not in the summary."""
        return self.needed - self.kept

    @property
    def reread_tokens(self) -> int:
        """What reading again cost."""
        return sum(one.tokens for one in self.reread)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBreak:
    """A call that had to read anew what a cache might have held."""

    time: str
    reason: str
    tokens: int  # that were read anew
    cost: float | None = None  # in dollars above what a cache would have cost, where it is known


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFinding:
    """One session: its compactions, what filled its window, where its cache broke."""

    agent: str
    name: str
    folder: str
    messages: int
    calls: int
    prompt_tokens: int  # of all calls
    cached_tokens: int  # of those, read from a cache
    compactions: tuple[CompactionFinding, ...]
    fill: tuple[tuple[str, int], ...]  # what came into the window, by source, in tokens
    largest: tuple[tuple[str, int], ...]  # the turns that brought most, in tokens
    cache_breaks: tuple[CacheBreak, ...]
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The figures of several sessions, added up."""

    sessions: int = 0
    agents: dict[str, int] = field(default_factory=dict)
    compactions: int = 0
    needed: int = 0
    kept: int = 0
    foreword_kept: int = 0
    invented: int = 0
    claims: int = 0
    reread_files: int = 0
    reread_tokens: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    broken_tokens: int = 0
    broken_cost: float | None = None  # of those breaks whose model has a known price
    cache_breaks: int = 0
    breaks_by_reason: dict[str, int] = field(default_factory=dict)
    fill: tuple[tuple[str, int], ...] = ()
    skipped: int = 0  # lines that could not be read


def total(sessions: Iterable[SessionFinding]) -> Totals:
    """All sessions together."""
    sums = Counter[str]()  # by the fields of `Totals`
    agents = Counter[str]()
    fill = Counter[str]()
    reasons = Counter[str]()
    costs = list[float]()
    for session in sessions:
        sums["sessions"] += 1
        agents[session.agent] += 1
        sums["prompt_tokens"] += session.prompt_tokens
        sums["cached_tokens"] += session.cached_tokens
        sums["skipped"] += session.skipped
        for source, tokens in session.fill:
            fill[source] += tokens
        for compaction in session.compactions:
            sums["compactions"] += 1
            sums["needed"] += compaction.needed
            sums["kept"] += compaction.kept
            sums["foreword_kept"] += compaction.foreword_kept
            sums["invented"] += len(compaction.invented)
            sums["claims"] += compaction.claims
            sums["reread_files"] += len(compaction.reread)
            sums["reread_tokens"] += compaction.reread_tokens
        for cache_break in session.cache_breaks:
            sums["cache_breaks"] += 1
            sums["broken_tokens"] += cache_break.tokens
            reasons[cache_break.reason] += cache_break.tokens
            if cache_break.cost is not None:
                costs.append(cache_break.cost)
    return Totals(
        **sums,
        agents=dict(agents),
        broken_cost=round(sum(costs), 4) if costs else None,
        breaks_by_reason=dict(reasons.most_common()),
        fill=tuple(fill.most_common()),
    )


def as_data(sessions: Iterable[SessionFinding]) -> dict[str, Any]:
    """Everything, as JSON has it."""
    sessions = list(sessions)
    found = []
    for session in sessions:
        values = asdict(session)
        values["fill"] = dict(session.fill)
        values["largest"] = [{"what": what, "tokens": tokens} for what, tokens in session.largest]
        found.append(values)
    totals = asdict(total(sessions))
    totals["fill"] = dict(totals["fill"])
    return {"total": totals, "sessions": found}
