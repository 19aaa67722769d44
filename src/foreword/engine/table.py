"""Draw a report as a table for a terminal: a bar for each section, and under it what was left out and why.

Plain text, readable without colour; faces may colour it. Long lists are cut, and say so: the JSON has all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foreword.engine.report import Omission, Report, Row

BAR = 20
LONGEST_LIST = 30
MOST_ROWS = 4  # of one tag, before they are shown as one
EIGHTHS = " ▏▎▍▌▋▊▉█"


def draw(report: Report) -> str:
    """The whole table."""
    parts = [
        _heading(report),
        _sections(report),
        _omissions(report.omissions),
        _lines(
            "not there",
            (f"{a.tag}: {a.source}: {a.reason}" if a.source else f"{a.tag}: {a.reason}" for a in report.absent),
        ),
        _lines("self-check", (f"{'ok  ' if c.holds else 'FAIL'} {c.claim} ({c.detail})" for c in report.checks)),
        _lines("warnings", report.warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def bar(part: float, width: int = BAR) -> str:
    """A bar for a part of 1, to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def shortened(name: str, width: int) -> str:
    """A name that fits a column; of a path the end tells more than the beginning."""
    flat = " ".join(name.split())
    if len(flat) <= width:
        return flat
    return "…" + flat[-(width - 1) :] if "/" in flat else flat[: width - 1] + "…"


def _heading(report: Report) -> str:
    asked = ", ".join(f"{kind.replace('_', ' ')} {name}" for kind, name in report.profile.items())
    return " · ".join(part for part in (report.recipe, asked, f"counted by {report.scale.counter.describe()}") if part)


def _sections(report: Report) -> str:
    rows = [row for _, rows in groupby(report.sections, key=lambda row: row.tag) for row in _together(list(rows))]
    shown = [row for row in rows if row.form != "gone"][:LONGEST_LIST]
    width = max([len("section"), *(len(_name(row)) for row in shown)])
    lines = [f"{'section':<{width}}  {'form':<9} {'tokens':>8} {'share':>6}  {'target':<7} "]
    lines += [_row(row, width, report.budget_tokens) for row in shown]
    hidden = sum(row.form != "gone" for row in rows) - len(shown)
    if hidden:
        lines.append(f"{'… and ' + str(hidden) + ' more':<{width}}")
    if report.rest:
        lines.append(f"{'rest':<{width}}  {'':<9} {report.rest[1]:>8,} {'':>6}  {report.rest[0]:<7,} ".rstrip())
    lines.append("─" * (width + 39 + BAR))
    total, budget, window = report.total_tokens, report.budget_tokens, report.budget.window_tokens
    lines.append(f"{'total':<{width}}  {'':<9} {total:>8,} {total / window:>6.1%}  {'':<7} {bar(total / budget)}")
    lines.append(f"{'budget':<{width}}  {'':<9} {budget:>8,} {budget / window:>6.1%}  of a window of {window:,}")
    lines.append(f"{'status':<{width}}  {_status(report)}")
    return "\n".join(lines + _budget_steps(report))


def _together(rows: list[Row]) -> list[Row]:
    """The rows under one pair of tags, as one row where they are many."""
    present = [row for row in rows if row.form != "gone"]
    if len(present) <= MOST_ROWS:
        return present
    forms = {row.form for row in present}
    tokens, share = sum(row.tokens for row in present), sum(row.share for row in present)
    form = forms.pop() if len(forms) == 1 else "mixed"
    return [replace(present[0], title=f"{len(present)} of {len(rows)}", form=form, tokens=tokens, share=share)]


def _row(row: Row, width: int, budget: int) -> str:
    mark = "  over its target" if row.over_target else ""
    line = (
        f"{_name(row):<{width}}  {row.form:<9} {row.tokens:>8,} {row.share:>6.1%}  {row.target:<7} "
        f"{bar(row.tokens / budget)}{mark}"
    )
    return line.rstrip()


def _name(row: Row) -> str:
    if not row.title or row.title == row.tag:
        return row.tag
    return f"{row.tag}: {shortened(row.title, max(12, 42 - len(row.tag)))}"


def _status(report: Report) -> str:
    if report.status == "within":
        return "within budget: everything is in, whole"
    return f"trimmed: {report.omitted_tokens:,} of {report.original_tokens:,} tokens left out"


def _budget_steps(report: Report) -> list[str]:
    if not any(tokens < 0 for _, tokens in report.budget.steps):
        return []
    return ["", "budget: " + ", ".join(f"{what} {tokens:,}" for what, tokens in report.budget.steps)]


def _omissions(omissions: Sequence[Omission]) -> str:
    if not omissions:
        return ""
    shown = omissions[:LONGEST_LIST]
    width = min(60, max(len(shortened(omission.what, 60)) for omission in shown))
    lines = [
        f"  {omission.tokens:>8,}  {shortened(omission.what, 60):<{width}}  {omission.handle}  {omission.reason}"
        for omission in shown
    ]
    if len(omissions) > len(shown):
        rest = omissions[len(shown) :]
        lines.append(f"  {sum(o.tokens for o in rest):>8,}  … and {len(rest):,} more")
    return "\n".join(["left out (foreword recall HANDLE brings it back)", *lines])


def _lines(title: str, lines: Iterable[str]) -> str:
    listed = list(lines)
    if not listed:
        return ""
    shown = [f"  {line}" for line in listed[:LONGEST_LIST]]
    if len(listed) > LONGEST_LIST:
        shown.append(f"  … and {len(listed) - LONGEST_LIST} more")
    return "\n".join([title, *shown])
