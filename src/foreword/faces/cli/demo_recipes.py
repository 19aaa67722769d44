"""The first half of `foreword demo`: recipes on a built-in sample, each at a roomy and at a tight
budget, side by side.

The sample is copied into a temporary folder that is gone afterwards, or into one that stays.
Assembling and recalling go through `foreword.context`, as they do for everyone; here they are only
drawn. The scenes and their words are in `demo_scenes`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from textwrap import indent, wrap

from foreword.context.recall import recall
from foreword.demos.samples import KILNBOOK, lay_out
from foreword.demos.temporary_project import temporary_project
from foreword.engine.package import Package
from foreword.engine.report import Omission, Report, Row
from foreword.engine.report_table import bar, cut_to, printable, shorten_name
from foreword.faces.cli.demo_scenes import (
    INTRO,
    NEXT_COMMANDS,
    OUTRO,
    SAMPLE_COMMANDS,
    SAMPLE_STAYS,
    SCENES,
    WHAT,
    Scene,
)

WIDTH = 98  # columns; two tables side by side take as many
NARROWEST = 40  # columns; below it lines are longer than the terminal, not illegible
NAME = 21  # columns of a table, as the next three
FORM = 14
TOKENS = 7
BAR = 12
MOST_OMISSIONS = 6  # lines; the rest is one line together
LONGEST_OMISSION = 60  # columns of what was left out
GLIMPSE_BEFORE = 5  # lines of a context in front of its first cut
GLIMPSE_AFTER = 4  # lines behind it
RECALLED_LINES = 3  # of what is brought back


def run(
    echo: Callable[[str], None],
    width: int = WIDTH,
    *,
    keep: Path | None = None,
    sample: str = KILNBOOK,
    then: Callable[[Path], None] | None = None,
    last: Callable[[Path], None] | None = None,
) -> None:
    """Show all scenes on a fresh copy of a sample, line by line; the copy stays where it is to be
    kept.

    Where it does not, `then` goes on with it, and `last` after everything was said.
    """
    width = max(NARROWEST, min(width, WIDTH))
    if keep is not None:
        _show_scenes(echo, lay_out(keep, sample), sample=sample, width=width)
        folder_name = printable(str(keep))
        echo("\n" + prose(SAMPLE_STAYS.format(folder=folder_name), width) + "\n")
        change_folder = (f"cd {shlex.quote(folder_name)}", "", "")
        _list_commands(echo, [change_folder, *SAMPLE_COMMANDS[sample]], width)
        return
    with temporary_project() as folder:
        root = lay_out(folder / sample, sample)
        _show_scenes(echo, root, sample=sample, width=width)
        if then:
            then(root)
        echo("\n" + prose(OUTRO, width) + "\n")
        _list_commands(echo, NEXT_COMMANDS, width)
        if last:
            last(root)


def _show_scenes(echo: Callable[[str], None], root: Path, *, sample: str, width: int) -> None:
    echo(prose(WHAT + INTRO[sample], width))
    scenes = [scene for scene in SCENES if scene.sample == sample]
    for number, scene in enumerate(scenes, 1):
        for part in _scene_parts(scene, root, number=number, width=width):
            echo(f"\n{part}")


def _list_commands(
    echo: Callable[[str], None], commands: Sequence[tuple[str, str, str]], width: int
) -> None:
    """Commands to copy, whole, each with the extra that it needs, and with what it does where
    there is room for it."""
    longest = max(len(command) for command, _, _ in commands)
    for command, what, extra in commands:
        needs = f" (extra: {extra})" if extra else ""
        bare = f"  {command} {needs}".rstrip()
        lines = (f"  {command:<{longest}}  {what}{needs}".rstrip(), f"  {command}  {what}{needs}")
        echo(next((line for line in lines if len(line) <= width), bare))


# --- one scene ------------------------------------------------------------------------------------


def _scene_parts(scene: Scene, root: Path, *, number: int, width: int) -> Iterator[str]:
    roomy = scene.assemble(root, scene.roomy_tokens)
    tight = scene.assemble(root, scene.tight_tokens)
    for_room, by_rule = left_out(tight.report)
    yield cut_to(f" {number}. {scene.title} ".center(width, "─"), width)
    yield prose(scene.about, width)
    yield tables(roomy.report, tight.report, width)
    if for_room:
        yield omissions(for_room, by_rule, width)
        largest = max(for_room, key=lambda omission: omission.tokens)
        yield recall_example(largest, root, tight, width)
    excerpt = indent(glimpse(tight.text, width).rstrip("\n"), "  │ ", lambda line: True)
    yield "What the model reads, around the first cut:\n\n" + excerpt


def tables(roomy: Report, tight: Report, width: int = WIDTH) -> str:
    """Two reports section by section: side by side where there is room for it, else one after
    the other."""
    left = by_tag(roomy)
    right = by_tag(tight)
    most = max(total.tokens for total in (*left.values(), *right.values()))
    if width >= WIDTH:
        return _side_by_side((roomy, left), (tight, right), most)
    room = max(0, min(BAR, width - NAME - FORM - TOKENS - 4))
    first = _single_table("roomy", roomy, left, most=most, room=room)
    second = _single_table("tight", tight, right, most=most, room=room)
    return f"{first}\n\n{second}"


def _single_table(
    title: str, report: Report, totals: dict[str, TagTotal], *, most: int, room: int
) -> str:
    """One report as a table of its own, with bars of so many columns, or without."""
    name = NAME if room else NARROWEST - FORM - TOKENS - 2
    lines = [_title(title, report), f"{'section':<{name}}  {_head()}"]
    for tag, total in totals.items():
        lines.append(f"{shorten_name(tag, name):<{name}}  {_cell(total, most, room)}")
    bar_columns = 2 + room if room else 0
    lines.append("─" * (name + 2 + FORM + TOKENS + bar_columns))
    lines.append(f"{'total':<{name}}  {_total_cell(report)}")
    return "\n".join(line.rstrip() for line in lines)


def _side_by_side(
    roomy: tuple[Report, dict[str, TagTotal]], tight: tuple[Report, dict[str, TagTotal]], most: int
) -> str:
    left_report, left = roomy
    right_report, right = tight
    half = FORM + TOKENS + 2 + BAR

    def row(name: str, left_cell: str, right_cell: str) -> str:
        return f"{name:<{NAME}}  {left_cell:<{half}}  │ {right_cell}".rstrip()

    lines = [
        row("", _title("roomy", left_report), _title("tight", right_report)),
        row("section", _head(), _head()),
    ]
    for tag in dict.fromkeys((*left, *right)):
        cells = _cell(left.get(tag), most), _cell(right.get(tag), most)
        lines.append(row(shorten_name(tag, NAME), *cells))
    lines.append("─" * NAME + "──" + "─" * (half + 2) + "┼" + "─" * (half + 1))
    lines.append(row("total", _total_cell(left_report), _total_cell(right_report)))
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class TagTotal:
    """All sections of one tag together."""

    form: str
    tokens: int


def by_tag(report: Report) -> dict[str, TagTotal]:
    """The sections of a report by tag, in reading order, without those that are excluded
    whatever the room."""
    excluded = set()
    for choice in report.choices:
        if choice.section.rule.excluded:
            excluded.add((choice.section.tag, choice.section.title))
    rows = [row for row in report.sections if (row.tag, row.title) not in excluded]
    totals = dict[str, TagTotal]()
    for tag, group in groupby(rows, key=lambda row: row.tag):
        totals[tag] = _tag_total(list(group))
    return totals


def _tag_total(rows: Sequence[Row]) -> TagTotal:
    tokens = sum(row.tokens for row in rows)
    forms = [row.form for row in rows]
    if len(set(forms)) == 1:
        return TagTotal(forms[0], tokens)
    return TagTotal(f"{forms.count('full')} of {len(rows)} full", tokens)


def _cell(total: TagTotal | None, most: int, room: int = BAR) -> str:
    total = total or TagTotal(form="", tokens=0)
    tokens = f"{total.tokens:,}" if total.form else ""
    return f"{total.form:<{FORM}}{tokens:>{TOKENS}}  {bar(total.tokens / most, room)}"


def _total_cell(report: Report) -> str:
    return f"{'':<{FORM}}{report.total_tokens:>{TOKENS},}"


def _title(name: str, report: Report) -> str:
    return f"{name}: budget {report.budget_tokens:,} tokens"


def _head() -> str:
    return f"{'form':<{FORM}}{'tokens':>{TOKENS}}"


# --- what is missing, and how it comes back -------------------------------------------------------


def left_out(report: Report) -> tuple[list[Omission], list[Omission]]:
    """What was left out for want of room, and what the recipe leaves out whatever the room."""
    rules = {choice.section.rule.excluded for choice in report.choices} - {""}
    for_room = list[Omission]()
    by_rule = list[Omission]()
    for omission in report.omissions:
        (by_rule if omission.reason in rules else for_room).append(omission)
    return for_room, by_rule


def omissions(for_room: Sequence[Omission], by_rule: Sequence[Omission], width: int = WIDTH) -> str:
    """What the tight budget cost, the largest first."""
    largest = sorted(for_room, key=lambda omission: -omission.tokens)
    heading = "Left out at the tight budget (tokens, the handle that brings it back, what it is):"
    lines = [prose(heading, width), ""]
    room = min(LONGEST_OMISSION, width - 28)  # beside tokens and handle
    for omission in largest[:MOST_OMISSIONS]:
        what = shorten_name(omission.what, room)
        lines.append(f"{omission.tokens:>7,}  {omission.handle}  {what}")
    if rest := largest[MOST_OMISSIONS:]:
        lines.append(f"{_token_sum(rest):>7,}  … and {len(rest)} more")
    if by_rule:
        example = max(by_rule, key=lambda omission: omission.tokens)
        never = f"in {len(by_rule)} items the recipe never lets in; for one, {example.reason}"
        lines.append(cut_to(f"{_token_sum(by_rule):>7,}  {printable(never)}", width))
    return "\n".join(lines)


def _token_sum(omissions: Iterable[Omission]) -> int:
    return sum(omission.tokens for omission in omissions)


def recall_example(omission: Omission, root: Path, package: Package, width: int = WIDTH) -> str:
    """One omission brought back from the store, and whether it is the original."""
    original = recall(omission.handle, root)
    same = original.encode("utf-8", "surrogateescape") == package.originals[omission.handle]
    first = [line for line in original.splitlines() if line.strip()][:RECALLED_LINES]
    more = len(original.splitlines()) - len(first)
    verdict = "byte for byte the original" if same else "NOT the original"
    lines = [f"$ foreword recall {omission.handle}"]
    lines += [cut_to(f"  {printable(line)}", width) for line in first]
    lines.append(f"  ({more} more lines; {verdict})")
    return "\n".join(lines)


def glimpse(text: str, width: int) -> str:
    """A few lines of a context around the first mark for something left out, or its opening."""
    lines = text.splitlines()
    cut = GLIMPSE_BEFORE
    for number, line in enumerate(lines):
        if "foreword recall" in line:
            cut = number
            break
    excerpt = lines[max(0, cut - GLIMPSE_BEFORE) : cut + GLIMPSE_AFTER + 1]
    return "\n".join(cut_to(printable(line), width - 4) for line in excerpt)


def prose(text: str, width: int) -> str:
    """Paragraphs wrapped to a width."""
    paragraphs = ["\n".join(wrap(paragraph, width)) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraphs)
