"""A problem in an instruction file, as every check reports it.

A plain value; `foreword lint` writes it as a line or as JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from foreword.errors import name_list

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What is wrong, and where: `file` is relative to the root."""

    file: str
    line: int
    code: str
    severity: Severity
    message: str
    fixable: bool = False
    column: int = 0
    excused: str = ""  # the reason, where the recipe has an exception for it


def warning(file: str, line: int, code: str, message: str) -> Problem:
    """A problem that costs something and stops nothing."""
    return Problem(file=file, line=line, code=code, severity="warning", message=message)


def error(file: str, line: int, code: str, message: str) -> Problem:
    """A problem that keeps something from working."""
    return Problem(file=file, line=line, code=code, severity="error", message=message)


def shared_name(file: str, line: int, name: str, paths: Sequence[str]) -> Problem:
    """A name that several files have, so that none of them would be loaded."""
    message = f"{name!r} is the name of {len(paths):,} files, say which: {name_list(paths)}"
    return error(file, line, code="shared-name", message=message)


def shut_folder(folder: str, reason: str) -> Problem:
    """A folder that can't be looked into, so that what is in it counts as missing."""
    return error(folder, 1, code="unreadable-folder", message=f"{reason}: left out")
