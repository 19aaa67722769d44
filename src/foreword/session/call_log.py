"""The log of a session's calls: a line for each, and what calls and answers come to and cost.

Pure; the lines are kept by `store.reports`, the newest first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foreword.engine.report import Report
from foreword.prices import AnswerUsage, cost_of_answers, cost_of_calls, cost_of_reading_anew
from foreword.session.call_tools import TOOLS
from foreword.session.session_options import STATE_RECIPE
from foreword.store.cuts import FIRST as FIRST
from foreword.store.cuts import Cut

STATE_CHANGED = "the state changed"

Log = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Reuse:
    """How the beginning of a call compares with the call before."""

    tokens: int  # of the beginning that is the same
    total_tokens: int
    broken_by: str  # the reason of the cut; nothing where the call only grew

    @property
    def share(self) -> float:
        """The share that is reused."""
        return self.tokens / self.total_tokens if self.total_tokens else 0.0


def line(
    report: Report,
    reuse: Reuse,
    *,
    call: int,
    messages: int,
    image_tokens: int,
    milliseconds: float,
) -> dict[str, Any]:
    """The line of a call."""
    return {
        "call": call,
        "recipe": report.recipe,
        "total_tokens": report.total_tokens,
        "budget_tokens": report.budget_tokens,
        "used": round(report.total_tokens / report.budget_tokens, 4),
        "tool_tokens": -dict(report.budget.steps).get(TOOLS, 0),
        "parts": report.tokens_by_tag(),
        "messages": messages,
        "image_tokens": image_tokens,
        "reused_tokens": reuse.tokens,
        "reuse": round(reuse.share, 4),
        "prefix_break": reuse.broken_by,
        "milliseconds": round(milliseconds, 2),
    }


def figures(
    log: Log, answers: Sequence[tuple[int, AnswerUsage]], model: str | None
) -> dict[str, Any]:
    """What the calls and the answers of a session come to, and the log for a reader; `answers` are
    sums by model, so many of each."""
    return {
        "cost": cost_of_calls(model, log),
        "answers": _answer_sums(answers, model) if answers else None,
        "state_in_front": _state_in_front(log, model),
        **_averages(log),
        "log": list(log),
    }


def _averages(log: Log) -> dict[str, Any]:
    """The averages of the calls; of what is reused without the first call, which had nothing to
    reuse yet."""
    used = 0.0
    total = 0
    reused = 0
    breaks = 0
    for one in log:
        used += one["used"]
        if one["prefix_break"] != FIRST:
            total += one["total_tokens"]
            reused += one["reused_tokens"]
            breaks += bool(one["prefix_break"])
    return {
        "calls": len(log),
        "reuse": round(reused / total, 4) if total else None,
        "used": round(used / len(log), 4) if log else None,
        "breaks": breaks,
    }


def _answer_sums(answers: Sequence[tuple[int, AnswerUsage]], model: str | None) -> dict[str, Any]:
    """What the answers cost that said so; one that names no model is of this one."""
    sums: dict[str, Any] = {
        "count": 0,
        "models": [],
        "input_tokens": 0,
        "cached_tokens": 0,
        "written_tokens": 0,
        "output_tokens": 0,
    }
    for count, usage in answers:
        sums["count"] += count
        sums["models"].append(usage.model or model or "unknown")
        sums["input_tokens"] += usage.input_tokens
        sums["cached_tokens"] += usage.cached_tokens
        sums["written_tokens"] += usage.written_tokens + usage.written_hour_tokens
        sums["output_tokens"] += usage.output_tokens
    return sums | cost_of_answers(answers, model)


def _state_in_front(log: Log, model: str | None) -> dict[str, Any] | None:
    """What it costs that the recipe writes the state anew in front of the history, where it does:
    in how many calls the state has changed, and how many tokens were read anew for that."""
    calls = 0
    tokens = 0
    for place, call in enumerate(log[:-1]):
        if call["prefix_break"] == STATE_CHANGED:
            calls += 1
            had_before = min(call["total_tokens"], log[place + 1]["total_tokens"])
            tokens += max(0, had_before - call["reused_tokens"])
    if not calls:
        return None
    return {
        "calls": calls,
        "tokens": tokens,
        "cost": cost_of_reading_anew(model, tokens),
        "instead": STATE_RECIPE,
    }


def cut_line(cut: Cut, model: str | None) -> dict[str, Any]:
    """What a reader is told of a cut."""
    return {
        "number": cut.number,
        "created": cut.created,
        "call": cut.call,
        "reason": cut.reason,
        "detail": cut.detail,
        "total_tokens": cut.total_tokens,
        "omitted_messages": cut.omitted_messages,
        "omitted_tokens": cut.omitted_tokens,
        "reread_tokens": cut.reread_tokens,
        "thinking": cut.thinking,
        "cost": cost_of_reading_anew(model, cut.reread_tokens),
    }
