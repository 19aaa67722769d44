"""Whether the marks of a smaller form say the truth about what is missing.

For `form_checks`: a mark that counts is held to the lines and hunks of the original between the
stretches around it, and the mark of the whole to all that is in no stretch.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_COUNT = re.compile(r"(?P<number>[\d,]+) (?P<unit>lines?|hunks?)\b")
_MARK = re.compile(r"\[\.\.\.[^\[\]\n]*\]")
_WHOLE = re.compile(
    r"\[\.\.\. (?P<lines>[\d,]+) lines?, (?P<units>[\d,]+) tokens left out: [^\[\]\n]*\]"
)


@dataclass(frozen=True, slots=True)
class Gap:
    """What stands in a form between two stretches, and which offsets it stands for."""

    marks: str
    start: int
    end: int


def wrong_counts(text: str, gaps: Sequence[Gap], form: str) -> Iterator[tuple[str, str]]:
    """Marks whose figures are not so."""
    whole = _WHOLE.search(form)
    if whole is None:
        yield "no mark of the whole", form[-90:]
        return
    said = [_lines_between(text, gap) for gap in gaps]
    least = sum(fewest for fewest, _ in said)
    lines = _number(whole["lines"])
    missing = "".join([text[gap.start : gap.end] for gap in gaps])
    most = missing.count("\n") + len(gaps) + 1
    if not least <= lines <= most:
        yield "wrong count of the whole", f"{lines} lines, {least} to {most} are missing"
    units = _number(whole["units"])
    # White space around a mark, and the indent behind it, belongs to what is kept, or to what is
    # not.
    around = sum(2 + _indent_at(text, gap.end) for gap in gaps)
    if not len("".join(missing.split())) - len(gaps) <= units <= 1.01 * len(missing) + around:
        yield "wrong count of the whole", f"{units} units, {len(missing)} are missing"
    for gap, (fewest, most_said) in zip(gaps, said, strict=True):
        yield from _wrong_counts_of_gap(text, gap, fewest, most_said)


def _wrong_counts_of_gap(text: str, gap: Gap, fewest: int, most: int) -> Iterator[tuple[str, str]]:
    marks = _MARK.findall(_WHOLE.sub("", gap.marks))
    counts = Counter[str]()
    for found in _COUNT.finditer(" ".join(marks)):
        counts[found["unit"].rstrip("s")] += _number(found["number"])
    # Beside a mark without a figure, or one that counts something else, lines are not all of it.
    is_all = marks and all(" line" in mark for mark in marks)
    if counts["line"] > most or (is_all and counts["line"] < fewest):
        yield "wrong count of lines", f"{counts['line']} lines, {fewest} to {most} are missing"
    # Hunks of a file that is missing are not counted beside it.
    if counts["hunk"] and "file" not in gap.marks and "commit" not in gap.marks:
        hunks = len(re.findall(r"^@@ ", text[gap.start : gap.end], re.MULTILINE))
        if hunks != counts["hunk"]:
            yield "wrong count of hunks", f"{counts['hunk']} hunks, {hunks} are missing"


def _lines_between(text: str, gap: Gap) -> tuple[int, int]:
    """The lines that say something between two offsets: those that are whole there, and with
    them those of which a part is."""
    rows = [row for row in text[gap.start : gap.end].splitlines() if row.strip()]
    before = text[text.rfind("\n", 0, gap.start) + 1 : gap.start]
    end = text.find("\n", gap.end)
    behind = text[gap.end : end if end >= 0 else None]
    parts = bool(before.strip()) + bool(behind.strip())
    return max(0, len(rows) - parts), len(rows)


def _indent_at(text: str, at: int) -> int:
    behind = text[at : at + 200]
    return len(behind) - len(behind.lstrip(" \t"))


def _number(figures: str) -> int:
    return int(figures.replace(",", ""))
