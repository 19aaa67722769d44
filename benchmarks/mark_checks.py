"""Whether the marks of a smaller form say the truth about what is missing.

For `form_checks`: a mark that counts is held to the lines and hunks of the original between the
stretches around it, and the mark of the whole to all that is in no stretch.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_COUNT = re.compile(r"(?P<number>[\d,]+) (?P<unit>lines?|hunks?)\b")
_WHOLE = re.compile(r"\[\.\.\. (?P<lines>[\d,]+) lines?, (?P<units>[\d,]+) tokens left out: ")


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
    # White space around a mark belongs to what is kept, or to what is not.
    if not len("".join(missing.split())) <= units <= 1.01 * len(missing) + 2 * len(gaps):
        yield "wrong count of the whole", f"{units} units, {len(missing)} are missing"
    for gap, (fewest, most_said) in zip(gaps, said, strict=True):
        yield from _wrong_counts_of_gap(text, gap, fewest, most_said)


def _wrong_counts_of_gap(text: str, gap: Gap, fewest: int, most: int) -> Iterator[tuple[str, str]]:
    marks = _WHOLE.sub("", gap.marks)
    for found in _COUNT.finditer(marks):
        number = _number(found["number"])
        if found["unit"].startswith("line") and not fewest <= number <= most:
            yield "wrong count of lines", f"{found[0]}, {fewest} to {most} are missing"
        # Hunks of a file that is missing are not counted beside it.
        if found["unit"].startswith("hunk") and "file" not in marks and "commit" not in marks:
            hunks = len(re.findall(r"^@@ ", text[gap.start : gap.end], re.MULTILINE))
            if hunks != number:
                yield "wrong count of hunks", f"{found[0]}, {hunks} are missing"


def _lines_between(text: str, gap: Gap) -> tuple[int, int]:
    """The lines that say something between two offsets: those that are whole there, and with
    them those of which a part is."""
    rows = [row for row in text[gap.start : gap.end].splitlines() if row.strip()]
    before = text[text.rfind("\n", 0, gap.start) + 1 : gap.start]
    end = text.find("\n", gap.end)
    behind = text[gap.end : end if end >= 0 else None]
    parts = bool(before.strip()) + bool(behind.strip())
    return max(0, len(rows) - parts), len(rows)


def _number(figures: str) -> int:
    return int(figures.replace(",", ""))
