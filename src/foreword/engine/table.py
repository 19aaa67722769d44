"""Draw a report as a table for a terminal: a bar for each section, and under it what was left out
and why.

Plain text, readable without colour; faces may colour it and say how wide it may be. Nothing that
came in can forge a line or an escape. Long lists are cut, and say so: the JSON has all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foreword.engine.report import Omission, Report, Row

WIDTH = 100
BAR, SHORTEST_BAR = 20, 8
NO_BAR_BELOW, NO_TARGET_BELOW = 80, 60
LONGEST_LIST = 30
MOST_ROWS = 4  # of one tag, before they are shown as one
EIGHTHS = " ▏▎▍▌▋▊▉█"
OVER = "  over its target"
WINDOW = 16  # what `of a window of 200,000` needs beyond the column of targets
LONGEST_NAME = 44
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def draw(report: Report, width: int = WIDTH) -> str:
    """The whole table, for a terminal of that many columns."""
    parts = [
        _heading(report, width),
        _sections(report, width),
        _omissions(report.omissions, width),
        _lines(
            "not there",
            (
                f"{a.tag}: {a.source}: {a.reason}" if a.source else f"{a.tag}: {a.reason}"
                for a in report.absent
            ),
        ),
        _lines(
            "self-check",
            (f"{'ok  ' if c.holds else 'FAIL'} {c.claim} ({c.detail})" for c in report.checks),
        ),
        _lines("warnings", report.warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def printable(text: str) -> str:
    """The text on one line, without characters that steer a terminal."""
    return _CONTROL.sub(lambda found: " " if found[0] in "\t\n\r\u2028\u2029" else "\ufffd", text)


def bar(part: float, width: int = BAR) -> str:
    """A bar for a part of 1, to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (EIGHTHS[rest] if rest else "")).ljust(width)


def shorten_name(name: str, width: int) -> str:
    """A name that fits a column; of a path the end tells more than the beginning."""
    flat = " ".join(printable(name).split())
    if len(flat) <= width:
        return flat
    return "…" + flat[-(width - 1) :] if "/" in flat else flat[: width - 1] + "…"


def cut_to(line: str, width: int) -> str:
    """A line of at most so many columns."""
    line = line.rstrip()
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def _heading(report: Report, width: int) -> str:
    asked = ", ".join(f"{kind.replace('_', ' ')} {name}" for kind, name in report.profile.items())
    parts = (report.recipe, asked, f"counted by {report.scale.counter.describe()}")
    return cut_to(printable(" · ".join(part for part in parts if part)), width)


@dataclass(frozen=True, slots=True)
class _Columns:
    """How wide the name and the bar are; the bar shrinks first, then the name."""

    name: int
    bar: int
    whole: int  # the terminal

    @classmethod
    def fitting(cls, rows: Sequence[Row], width: int) -> _Columns:
        name = max([len("section"), *(len(_name(row)) for row in rows)])
        mark = len(OVER) if any(row.over_target for row in rows) else 0
        others = len(cls(0, 0, width).line("", "", 0, 0.0, ""))
        room = (
            max(SHORTEST_BAR, min(BAR, width - others - mark - name))
            if width >= NO_BAR_BELOW
            else 0
        )
        behind = max(room + mark, WINDOW) if width >= NO_TARGET_BELOW else 0
        return cls(max(10, min(name, width - others - behind)), room, width)

    def line(
        self, name: str, form: str, tokens: int, share: float | None, target: str, rest: str = ""
    ) -> str:
        percent = "" if share is None else f"{share:.1%}"
        start = f"{shorten_name(name, self.name):<{self.name}}  {form:<9} {tokens:>8,} {percent:>6}"
        return f"{start}  {target:<7} {rest}" if self.whole >= NO_TARGET_BELOW else start

    def bar_for(self, part: float) -> str:
        return bar(part, self.bar) if self.bar else ""


def _sections(report: Report, width: int) -> str:
    rows = [
        row
        for _, rows in groupby(report.sections, key=lambda row: row.tag)
        for row in _together(list(rows))
    ]
    present = [row for row in rows if row.form != "gone"]
    shown = present[:LONGEST_LIST]
    columns = _Columns.fitting(shown, width)
    head = f"{'section':<{columns.name}}  {'form':<9} {'tokens':>8} {'share':>6}"
    lines = [f"{head}  target" if width >= NO_TARGET_BELOW else head]
    lines += [_row(row, columns, report.budget_tokens) for row in shown]
    if len(present) > len(shown):
        lines.append(f"… and {len(present) - len(shown)} more")
    if report.rest and report.rest[0] >= 0:
        lines.append(columns.line("rest", "", report.rest[1], None, f"{report.rest[0]:,}"))
    lines.append("─" * min(width, len(columns.line("", "", 0, 0.0, "")) + columns.bar))
    return "\n".join(
        [cut_to(line, width) for line in (*lines, *_totals(report, columns))]
        + _budget_steps(report)
    )


def _totals(report: Report, columns: _Columns) -> list[str]:
    total, budget, window = report.total_tokens, report.budget_tokens, report.budget.window_tokens
    return [
        columns.line("total", "", total, total / window, "", columns.bar_for(total / budget)),
        columns.line("budget", "", budget, budget / window, f"of a window of {window:,}"),
        f"{'status':<{columns.name}}  {_status(report)}",
    ]


def _together(rows: list[Row]) -> list[Row]:
    """The rows under one pair of tags, as one row where they are many."""
    present = [row for row in rows if row.form != "gone"]
    if len(present) <= MOST_ROWS:
        return present
    forms = {row.form for row in present}
    tokens, share = sum(row.tokens for row in present), sum(row.share for row in present)
    form = forms.pop() if len(forms) == 1 else "mixed"
    return [
        replace(
            present[0],
            title=f"{len(present)} of {len(rows)}",
            form=form,
            tokens=tokens,
            share=share,
        )
    ]


def _row(row: Row, columns: _Columns, budget: int) -> str:
    mark = OVER if row.over_target else ""
    rest = columns.bar_for(row.tokens / budget) + mark
    return columns.line(_name(row, columns.name), row.form, row.tokens, row.share, row.target, rest)


def _name(row: Row, width: int = LONGEST_NAME) -> str:
    """The tag, and of the title what there is room for."""
    tag = printable(row.tag)
    if not row.title or row.title == row.tag or width < len(tag) + 6:
        return cut_to(tag, width)
    return f"{tag}: {shorten_name(row.title, width - len(tag) - 2)}"


def _status(report: Report) -> str:
    short = " and ".join(report.shortcomings)
    if report.status == "within":
        return f"within budget, but {short}" if short else "within budget: everything is in, whole"
    left_out = f"trimmed: {report.omitted_tokens:,} of {report.original_tokens:,} tokens left out"
    return f"{left_out}, and {short}" if short else left_out


def _budget_steps(report: Report) -> list[str]:
    if not any(tokens < 0 for _, tokens in report.budget.steps):
        return []
    return [
        "",
        "budget: "
        + ", ".join(f"{printable(what)} {abs(tokens):,}" for what, tokens in report.budget.steps),
    ]


def _omissions(omissions: Sequence[Omission], width: int) -> str:
    """What was left out; where the lines are too long the names are shortened first, then the
    reasons."""
    if not omissions:
        return ""
    shown = omissions[:LONGEST_LIST]
    others = len(f"  {0:>8,}    {shown[0].handle}  ") + max(
        len(omission.reason) for omission in shown
    )
    least = 28 if width >= NO_BAR_BELOW else 12 if width >= 50 else 6
    name = min(
        60,
        max(least, width - others),
        max(len(shorten_name(omission.what, 60)) for omission in shown),
    )
    lines = [
        f"  {omission.tokens:>8,}  {shorten_name(omission.what, name):<{name}}  {omission.handle}  "
        + printable(omission.reason)
        for omission in shown
    ]
    if len(omissions) > len(shown):
        rest = omissions[len(shown) :]
        lines.append(f"  {sum(o.tokens for o in rest):>8,}  … and {len(rest):,} more")
    title = "left out (foreword recall HANDLE brings it back)"
    return "\n".join([cut_to(line, width) for line in (title, *lines)])


def _lines(title: str, lines: Iterable[str]) -> str:
    listed = list(lines)
    if not listed:
        return ""
    shown = [f"  {printable(line)}" for line in listed[:LONGEST_LIST]]
    if len(listed) > LONGEST_LIST:
        shown.append(f"  … and {len(listed) - LONGEST_LIST} more")
    return "\n".join([title, *shown])
