"""The log of a session's calls: a line for each, and what calls and answers come to and cost.

Pure; the lines are kept by `store.reports`, the newest first, and how much of a call a prompt cache
could take is worked out in `cache_reuse`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foreword.engine.report import Report
from foreword.prices import AnswerUsage, cost_of_answers, cost_of_calls, cost_of_reading_anew
from foreword.session.cache_reuse import FIRST, Reuse
from foreword.session.call_tools import TOOLS
from foreword.session.session_options import STATE_RECIPE

HISTORY = "conversation_history"
# parts that change from call to call, which a recipe may read before the history or after it
STATE = ("current_plan", "workflow_snapshot", "workflow_variables", "browser_state")
# what only the next call reads
INTERNAL = ("compression", "prefix", "hidden", "revision", "tools", "thinking_from")

Log = Sequence[Mapping[str, Any]]


def line(
    report: Report, reuse: Reuse, *, messages: int, image_tokens: int, milliseconds: float
) -> dict[str, Any]:
    """The line of a call."""
    return {
        "recipe": report.recipe,
        "total_tokens": report.total_tokens,
        "budget_tokens": report.budget_tokens,
        "used": round(report.total_tokens / report.budget_tokens, 4),
        "tool_tokens": -dict(report.budget.steps).get(TOOLS, 0),
        "parts": report.tokens_by_tag(),
        "messages": messages,
        "image_tokens": image_tokens,
        "stable_tokens": reuse.stable_tokens,
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
        "log": [_without_internal(one) for one in log],
    }


def _averages(log: Log) -> dict[str, Any]:
    """The averages of the calls; of what is reused without the first call, which had nothing to
    reuse yet."""
    used = 0.0
    stable = 0
    reused = 0
    breaks = 0
    for one in log:
        used += one["used"]
        if one["prefix_break"] != FIRST:
            stable += one["stable_tokens"]
            reused += one["reused_tokens"]
            breaks += bool(one["prefix_break"])
    return {
        "calls": len(log),
        "reuse": round(reused / stable, 4) if stable else None,
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
    """What it costs that the recipe reads the state before the history, where it does: in how many
    calls the state has changed, and how many tokens of the history that the call before had, too,
    were read anew for that."""
    calls = 0
    tokens = 0
    for place, call in enumerate(log[:-1]):
        tag = call["prefix_break"].removesuffix(" changed")
        if tag in STATE and call["prefix_break"] != tag:
            calls += 1
            before = log[place + 1]["parts"].get(HISTORY, 0)
            tokens += min(before, call["parts"].get(HISTORY, 0))
    if not calls:
        return None
    return {
        "calls": calls,
        "tokens": tokens,
        "cost": cost_of_reading_anew(model, tokens),
        "instead": STATE_RECIPE,
    }


def _without_internal(one: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if name not in INTERNAL}
