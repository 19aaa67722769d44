"""Draw a report as a table for a terminal: a bar for each section, and under it what was left out
and why.

Plain text, readable without colour; faces may colour it and say how wide it may be. Nothing that
came in can forge a line or an escape. Long lists are cut, and say so: the JSON has all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from foreword.pattern import lazy_pattern
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.engine.report import Omission, Report, Row

WIDTH = 100  # columns, where nobody says how wide the terminal is
BAR = 20  # columns of a bar, with eighths of one: one part in 160 of the budget still shows
SHORTEST_BAR = 8  # below this, bars of different sections look the same
NO_BAR_BELOW = 80  # columns of a terminal: names need the room of the bar
NO_TARGET_BELOW = 60  # columns: with the target gone, too, the figures still fit
LONGEST_LIST = 30  # lines of each list: one screen; the JSON has all of it
MOST_ROWS = 4  # of one tag, before they are shown as one
EIGHTHS = " ▏▎▍▌▋▊▉█"
OVER = "  over its target"
WINDOW = 16  # what `of a window of 200,000` needs beyond the column of targets
LONGEST_NAME = 44  # columns of a name where the terminal is wide enough
LONGEST_WHAT = 60  # columns of what was left out: most paths of a project whole
_CONTROL = lazy_pattern("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def draw(report: Report, width: int | None = None) -> str:
    """The whole table, for a terminal of that many columns; without a terminal, the status and the
    reasons for what was left out are whole, however long."""
    reason_width = width
    width = width or WIDTH
    absent: list[str] = []
    for one in report.absent:
        source = f"{one.source}: " if one.source else ""
        absent.append(f"{one.tag}: {source}{one.reason}")
    checks: list[str] = []
    for check in report.checks:
        result = "ok  " if check.holds else "FAIL"
        checks.append(f"{result} {check.claim} ({check.detail})")
    parts = [
        _heading(report, width),
        _sections(report, width, reason_width),
        _cost(report),
        _omissions(report.omissions, width, reason_width),
        _lines("not there", absent),
        _lines("self-check", checks),
        _lines("warnings", report.warnings),
    ]
    return "\n\n".join([part for part in parts if part])


def _cost(report: Report) -> str:
    """What it costs to send, where a price is known."""
    cost = report.cost
    if cost is None:
        return ""
    by_price = f"by the price of {cost['model']} in {cost['date']}"
    cached = ""
    if cost["input"] != cost["input_without_cache"]:
        cached = f"; {cost['input_without_cache']:.4f} without a prompt cache"
    return printable(f"cost {cost['input']:.4f} {cost['currency']} to send, {by_price}{cached}")


def printable(text: str) -> str:
    """The text on one line, without characters that steer a terminal."""
    return _CONTROL.sub(lambda found: " " if found[0] in "\t\n\r\u2028\u2029" else "\ufffd", text)


def bar(part: float, width: int = BAR) -> str:
    """A bar for a part of 1, to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    whole, rest = divmod(eighths, 8)
    end = EIGHTHS[rest] if rest else ""
    return ("█" * whole + end).ljust(width)


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
    profile = [f"{kind.replace('_', ' ')} {name}" for kind, name in report.profile.items()]
    counter = f"counted by {report.scale.counter.describe()}"
    parts = [part for part in (report.recipe, ", ".join(profile), counter) if part]
    return cut_to(printable(" · ".join(parts)), width)


@dataclass(frozen=True, slots=True)
class _Columns:
    """How wide the name and the bar are; the bar shrinks first, then the name."""

    name: int
    bar: int
    whole: int  # the terminal

    @classmethod
    def fitting(cls, rows: Sequence[Row], width: int) -> _Columns:
        groups = [_group_name(row.target_group) for row in rows if row.over_target]
        names = ["section", *groups, *[_name(row) for row in rows]]
        name = max(map(len, names))
        mark = len(OVER) if any(row.over_target for row in rows) else 0
        others = len(cls(name=0, bar=0, whole=width).line("", tokens=0, share=0.0))
        bar = 0
        if width >= NO_BAR_BELOW:
            bar = max(SHORTEST_BAR, min(BAR, width - others - mark - name))
        behind = max(bar + mark, WINDOW) if width >= NO_TARGET_BELOW else 0
        return cls(name=max(10, min(name, width - others - behind)), bar=bar, whole=width)

    def line(
        self,
        name: str,
        *,
        tokens: int,
        share: float | None,
        form: str = "",
        target: str = "",
        rest: str = "",
    ) -> str:
        percent = "" if share is None else f"{share:.1%}"
        start = f"{shorten_name(name, self.name):<{self.name}}  {form:<9} {tokens:>8,} {percent:>6}"
        return f"{start}  {target:<7} {rest}" if self.whole >= NO_TARGET_BELOW else start

    def bar_for(self, part: float) -> str:
        return bar(part, self.bar) if self.bar else ""


def _sections(report: Report, width: int, reason_width: int | None) -> str:
    present: list[Row] = []
    for _, same_tag in groupby(report.sections, key=lambda row: row.tag):
        present += _merged_rows(list(same_tag))
    listed = present[:LONGEST_LIST]
    columns = _Columns.fitting(listed, width)
    head = f"{'section':<{columns.name}}  {'form':<9} {'tokens':>8} {'share':>6}"
    lines = [f"{head}  target" if width >= NO_TARGET_BELOW else head]
    lines += [_row(row, columns, report.budget_tokens) for row in listed]
    if len(present) > len(listed):
        lines.append(f"… and {len(present) - len(listed)} more")
    if report.rest and report.rest[0] >= 0:
        target, tokens = report.rest
        lines.append(columns.line("rest", tokens=tokens, share=None, target=f"{target:,}"))
    lines += _group_lines(report, columns)
    empty = columns.line("", tokens=0, share=0.0)
    lines.append("─" * min(width, len(empty) + columns.bar))
    lines += _totals(report, columns)
    status = f"{'status':<{columns.name}}  {_status(report)}"
    if reason_width is not None:
        status = cut_to(status, reason_width)
    lines = [*[cut_to(line, width) for line in lines], status]
    return "\n".join(lines + _budget_steps(report))


def _totals(report: Report, columns: _Columns) -> list[str]:
    total = report.total_tokens
    budget = report.budget_tokens
    window = report.budget.window_tokens
    origin = f"of a window of {window:,}" if report.budget.has_window else "as given"
    lines = [
        columns.line(
            "total", tokens=total, share=total / window, rest=columns.bar_for(total / budget)
        ),
        columns.line("budget", tokens=budget, share=budget / window, target=origin),
    ]
    if not report.budget.has_window and window != budget:
        # no window was named, and the recipe's targets are shares of one
        meaning = f"of what the budget is {budget / window:.0%} of, as the targets are"
        lines.append(f"{'share':<{columns.name}}  {meaning}")
    return lines


def _merged_rows(rows: list[Row]) -> list[Row]:
    """The rows under one pair of tags that are in, as one row where they are many."""
    present = [row for row in rows if row.form != "gone"]
    if len(present) <= MOST_ROWS:
        return present
    forms = {row.form for row in present}
    merged = replace(
        present[0],
        title=f"{len(present)} of {len(rows)}",
        form=forms.pop() if len(forms) == 1 else "mixed",
        tokens=sum(row.tokens for row in present),
        share=sum(row.share for row in present),
    )
    return [merged]


def _row(row: Row, columns: _Columns, budget: int) -> str:
    mark = _over_mark(row)
    return columns.line(
        _name(row, columns.name),
        form=row.form,
        tokens=row.tokens,
        share=row.share,
        target=row.target,
        rest=columns.bar_for(row.tokens / budget) + mark,
    )


def _over_mark(row: Row) -> str:
    return OVER if row.over_target and not row.target_group else ""


def _group_lines(report: Report, columns: _Columns) -> list[str]:
    """A line for each group of sections that is over the target they share."""
    lines = list[str]()
    over: dict[str, list[Row]] = {}
    for row in report.sections:
        if row.over_target and row.target_group:
            over.setdefault(row.target_group, []).append(row)
    for group, rows in over.items():
        line = columns.line(
            _group_name(group),
            tokens=sum(row.tokens for row in rows),
            share=sum(row.share for row in rows),
            target=rows[0].target,
            rest=" " * columns.bar + OVER,
        )
        lines.append(line)
    return lines


def _group_name(group: str) -> str:
    return f"{group}, together" if group else ""


def _name(row: Row, width: int = LONGEST_NAME) -> str:
    """The tag, and of the title what there is room for."""
    tag = printable(row.tag)
    if not row.title or row.title == row.tag or width < len(tag) + 6:
        return cut_to(tag, width)
    return f"{tag}: {shorten_name(row.title, width - len(tag) - 2)}"


def _status(report: Report) -> str:
    short = " and ".join(report.shortcomings)
    if report.status == "within":
        if short:
            return f"within budget, but {short}"
        if not report.came_in:
            return "within budget: nothing came in"
        unwanted = sum(bool(choice.section.rule.excluded) for choice in report.choices)
        if unwanted:
            sections = quantity(unwanted, "section")
            return f"within budget: whole, but for {sections} that the recipe leaves out"
        return "within budget: everything is in, whole"
    left_out = f"trimmed: {report.omitted_tokens:,} of {report.original_tokens:,} tokens left out"
    return f"{left_out}, and {short}" if short else left_out


def _budget_steps(report: Report) -> list[str]:
    if not any(tokens < 0 for _, tokens in report.budget.steps):
        return []
    steps = [f"{printable(what)} {abs(tokens):,}" for what, tokens in report.budget.steps]
    return ["", "budget: " + ", ".join(steps)]


def _omissions(omissions: Sequence[Omission], width: int, reason_width: int | None) -> str:
    """What was left out; where the lines are too long for a terminal the names are shortened
    first, then the reasons."""
    if not omissions:
        return ""
    listed = omissions[:LONGEST_LIST]
    name = _omission_columns(listed, width)
    lines = ["left out (foreword recall HANDLE brings it back)"]
    for omission in listed:
        what = shorten_name(omission.what, name)
        figures = f"  {omission.tokens:>8,}  {what:<{name}}  {omission.handle}  "
        lines.append(figures + printable(omission.reason))
    if len(omissions) > len(listed):
        rest = omissions[len(listed) :]
        tokens = sum(omission.tokens for omission in rest)
        lines.append(f"  {tokens:>8,}  … and {len(rest):,} more")
    if reason_width is not None:
        lines = [cut_to(line, reason_width) for line in lines]
    return "\n".join([line.rstrip() for line in lines])


def _omission_columns(omissions: Sequence[Omission], width: int) -> int:
    """How wide the names of what was left out are."""
    reason = max(len(omission.reason) for omission in omissions)
    others = len(f"  {0:>8,}    {omissions[0].handle}  ") + reason
    if width >= NO_BAR_BELOW:
        least = 28
    elif width >= 50:
        least = 12
    else:
        least = 6
    longest = max(len(shorten_name(omission.what, LONGEST_WHAT)) for omission in omissions)
    return min(LONGEST_WHAT, max(least, width - others), longest)


def _lines(title: str, lines: Iterable[str]) -> str:
    listed = list(lines)
    if not listed:
        return ""
    body = [f"  {printable(line)}" for line in listed[:LONGEST_LIST]]
    if len(listed) > LONGEST_LIST:
        body.append(f"  … and {len(listed) - LONGEST_LIST} more")
    return "\n".join([title, *body])
