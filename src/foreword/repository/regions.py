"""A file as regions that are ranked and shown whole: each line is in exactly one.

A function or method is a region, what stands around it (imports, fields of a class, statements)
another. A long one is divided at its blank lines. Text that defines nothing is divided the same
way. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foreword.repository.definitions import Definition

# Lines. A function of this length is about 600 tokens; of longer ones a task is mostly about a
# part. At 40, bodies that are read as one came apart (3 points of functions fewer on 102 issues);
# at 160 a region took a third of a small budget.
LONGEST = 80
_LEAST = 20  # lines of a part of a long region, so that it says something by itself


class Region(NamedTuple):
    """A run of lines, both ends included, and what it is part of.

    A tuple, since a task reads thousands of them.
    """

    first: int
    last: int
    name: str = ""  # qualified, of the definition it is (part of)
    is_beginning: bool = True  # of that definition; a part further down does not say its name

    @property
    def inside(self) -> str:
        """What a reader who sees only these lines is not told that they are in."""
        return self.name.rpartition(".")[0] if self.is_beginning else self.name


def regions_of(lines: Sequence[str], definitions: Sequence[Definition]) -> list[Region]:
    """The regions of a file, in order."""
    owners = [""] * (len(lines) + 2)
    starts = {1}
    beginnings = set[int]()
    for one in definitions:
        if one.kind == "value":
            continue
        last = min(one.last, len(lines))
        for line in range(one.first, last + 1):
            owners[line] = one.qualified_name
        beginnings.add(one.first)
        starts.add(last + 1)
    starts |= beginnings
    found: list[Region] = []
    begin = 1
    for line in range(2, len(lines) + 2):
        is_end = line > len(lines) or owners[line] != owners[begin] or line in starts
        if is_end and begin <= len(lines):
            is_beginning = begin in beginnings
            found += _divide(lines, begin, line - 1, name=owners[begin], is_beginning=is_beginning)
            begin = line
    return _without_blank(lines, found)


def _divide(
    lines: Sequence[str], first: int, last: int, *, name: str, is_beginning: bool
) -> list[Region]:
    """A run of lines in parts that are not too long, each from a blank line on where there is
    one."""
    found: list[Region] = []
    while last - first + 1 > LONGEST:
        cut = first + LONGEST
        for line in range(first + LONGEST, first + _LEAST, -1):
            if not lines[line - 1].strip():
                cut = line + 1
                break
        cut = min(cut, last)
        found.append(Region(first=first, last=cut - 1, name=name, is_beginning=is_beginning))
        first = cut
        is_beginning = False
    found.append(Region(first=first, last=last, name=name, is_beginning=is_beginning))
    return found


def _without_blank(lines: Sequence[str], regions: Sequence[Region]) -> list[Region]:
    """Regions of nothing but blank lines joined to the one in front."""
    found: list[Region] = []
    for region in regions:
        is_blank = not any(line.strip() for line in lines[region.first - 1 : region.last])
        if is_blank and found:
            found[-1] = found[-1]._replace(last=region.last)
        else:
            found.append(region)
    return found
