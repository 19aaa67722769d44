"""The page of `foreword session usage`: sizes with bars, then the calls, the newest first. Plain
text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from foreword.engine.table import bar, cut_to, printable
from foreword.session.cache_reuse import FIRST

BAR, CALL_BAR = 24, 12
LABEL = 13


def draw(used: Mapping[str, Any], width: int) -> str:
    """The whole page."""
    parts = [_heading(used), _size(used), _averages(used), _calls(used)]
    lines = "\n\n".join(part for part in parts if part).splitlines()
    return "\n".join(cut_to(printable(line), width) for line in lines)


def _heading(used: Mapping[str, Any]) -> str:
    compressed = used["compressions"]
    parts = [
        used["workflow"],
        _many(used["messages"], "message"),
        f"{used['history_tokens']:,} tokens of history",
        *([f"compressed {_times(compressed)}"] if compressed else []),
    ]
    return " · ".join(parts)


def _size(used: Mapping[str, Any]) -> str:
    size, warn, limit = used["size_tokens"], used["warn_at"], used["compress_at"]
    share = size / limit
    reached = "reached" if used["warning"] else "not reached"
    return "\n".join(
        [
            f"{'size now':<{LABEL}} {size:>9,}  {bar(share, BAR)}  {share:.1%} of {limit:,}",
            (
                f"{'warning at':<{LABEL}} {warn:>9,} "
                f" {'─' * round(BAR * min(1.0, warn / limit)):<{BAR}}  {reached}"
            ),
            (
                f"{'compressed at':<{LABEL}} {limit:>9,}  {'─' * BAR}  to about"
                f" {used['compress_to']:,}"
            ),
        ]
    )


def _averages(used: Mapping[str, Any]) -> str:
    if not used["calls"]:
        return f"no calls yet: `foreword session context {used['workflow']}` makes one"
    lines = [
        _average("prefix reuse", used["reuse"], "on average, the first call aside"),
        _average("budget used", used["used"], "on average"),
        f"{'breaks':<{LABEL}} {used['breaks']:>9,}  in {_many(used['calls'], 'call')}",
    ]
    reasons = Counter(
        call["prefix_break"] for call in used["log"] if call["prefix_break"] not in ("", FIRST)
    )
    return "\n".join(
        lines + [f"{'':<{LABEL}} {count:>9,}  {reason}" for reason, count in reasons.most_common()]
    )


def _average(name: str, share: float | None, what: str) -> str:
    if share is None:
        return f"{name:<{LABEL}} {'-':>9}  there was nothing to reuse yet"
    return f"{name:<{LABEL}} {share:>9.1%}  {bar(share, BAR)}  {what}"


def _calls(used: Mapping[str, Any]) -> str:
    if not used["log"]:
        return ""
    head = (
        f"{'report':>6}  {'when (UTC)':<19}  {'tokens':>9} {'of budget':>9}  {'':<{CALL_BAR}} "
        f" {'reused':>6}  broken by"
    )
    return "\n".join([head, *map(_call, used["log"])])


def _call(call: Mapping[str, Any]) -> str:
    when = call["created"][:19]
    reused = "-" if call["prefix_break"] == FIRST else f"{call['reuse']:.1%}"
    size = f"{call['total_tokens']:>9,} {call['used']:>9.1%}  {bar(call['used'], CALL_BAR)}"
    return f"{call['report']:>6}  {when}  {size}  {reused:>6}  {call['prefix_break'] or '-'}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
