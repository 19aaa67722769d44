"""How large a call is, as every view shows it: with its tools, and as a share of one figure.

A report is about the text that was assembled. The definitions of the tools are sent beside it and
take their part of the same budget, so a view shows them as one more section.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.session import limits
from foreword.session.call_tools import TOOLS, TOOLS_PART
from foreword.session.session_options import COMPRESSED_AT


def with_tools(report: Mapping[str, Any]) -> dict[str, Any]:
    """The report with the tools as its first section, in its total and in its budget."""
    tokens = -_budget_steps(report).get(TOOLS, 0)
    if not tokens:
        return dict(report)
    section = {
        "tag": TOOLS_PART,
        "form": "full",
        "tokens": tokens,
        "original_tokens": tokens,
        "essential": True,
    }
    return {
        **report,
        "total_tokens": report["total_tokens"] + tokens,
        "budget_tokens": report["budget_tokens"] + tokens,
        "sections": [section, *report.get("sections", ())],
    }


def denominator(report: Mapping[str, Any]) -> int:
    """What the sizes of a report with its tools are shares of. The budget of a session that was
    opened without one is the size at which it is compressed: it stands for the window."""
    budget = None if COMPRESSED_AT in _budget_steps(report) else report["budget_tokens"]
    return limits.denominator(budget, report.get("window_tokens") or 1)


def call_with_tools(call: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the usage log with the tools as its first part and in its total."""
    tokens = call.get("tool_tokens", 0)
    if not tokens:
        return dict(call)
    total_tokens = call["total_tokens"] + tokens
    return {**call, "total_tokens": total_tokens, "parts": {TOOLS_PART: tokens, **call["parts"]}}


def _budget_steps(report: Mapping[str, Any]) -> dict[str, int]:
    return {step["what"]: step["tokens"] for step in report.get("budget_calculation", ())}
