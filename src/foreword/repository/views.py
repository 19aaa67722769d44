"""What is written of a file that is not shown whole: its regions, its outline, or its path.

Every gap has a mark with the lines that are missing, so that the lines that follow have their
numbers; a line of an outline has its own. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.repository.definitions import Definition
from foreword.repository.regions import Region
from foreword.text.omission_mark import GAP, lines_mark, outline_mark

_TESTS = "tests: "
_LONGEST_LINE = 200  # characters of a line of an outline


def regions_text(lines: Sequence[str], regions: Sequence[Region], handle: str) -> str:
    """Regions in their order, with a mark in each gap; the first mark has the handle."""
    written: list[str] = []
    done = 0
    for region in regions:
        gap = lines[done : region.first - 1]
        if any(line.strip() for line in gap):
            mark = lines_mark(done + 1, region.first - 1, inside=region.inside, handle=handle)
            written.append(f"{mark}\n")
            handle = ""
        else:
            written += gap
        last = _last_text_line(lines, region)
        written += _with_break(lines[region.first - 1 : last])
        done = last
    if any(line.strip() for line in lines[done:]):
        written.append(lines_mark(done + 1, len(lines), handle=handle) + "\n")
    return "".join(written).rstrip("\n")


def outline_text(lines: Sequence[str], definitions: Sequence[Definition], handle: str) -> str:
    """The first lines of definitions, each with its number; one that goes on says so."""
    return "\n".join([outline_mark(handle), *[outline_line(lines, one) for one in definitions]])


def outline_line(lines: Sequence[str], one: Definition) -> str:
    """A definition in one line: the one that has its name, behind decorators."""
    for number in range(one.first, one.signature_last + 1):
        line = lines[number - 1].rstrip() if number <= len(lines) else ""
        if one.name in line:
            more = f" {GAP}" if number < one.signature_last else ""
            return f"{number}: {line[:_LONGEST_LINE]}{more}"
    return f"{one.first}: {one.name}"


def _last_text_line(lines: Sequence[str], region: Region) -> int:
    """The last line of a region that is not blank."""
    last = min(region.last, len(lines))
    while last > region.first and not lines[last - 1].strip():
        last -= 1
    return last


def paths_by_folder(paths: Sequence[str]) -> list[str]:
    """Paths by their folders, each folder where its first one is."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, []).append(name)
    lines = list[str]()
    for folder, names in folders.items():
        listed = " ".join(names)
        lines.append(f"{folder}/: {listed}" if folder else listed)
    return lines


def test_line(paths: Sequence[str]) -> str:
    """The line in front of them that names the tests to look at."""
    return f"{_TESTS}{' '.join(paths)}"


def paths_in(text: str) -> set[str]:
    """The paths that such lines name."""
    found: set[str] = set()
    for line in text.splitlines():
        if line.startswith(_TESTS):
            found.update(line.removeprefix(_TESTS).split(" "))
            continue
        folder, colon, names = line.partition("/: ")
        for name in (names if colon else line).split(" "):
            found.add(f"{folder}/{name}" if colon else name)
    return found


def _with_break(lines: Sequence[str]) -> list[str]:
    """Lines that all end in a line break: the last of a file may not."""
    if not lines or lines[-1].endswith("\n"):
        return list(lines)
    return [*lines[:-1], lines[-1] + "\n"]
