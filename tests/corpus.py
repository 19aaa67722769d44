"""The corpora in `tests/data`: keys, attacks, messages and policies, one case on each line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pytest

DATA = Path(__file__).parent / "data"
Case = TypeVar("Case")


def text_of(name: str) -> str:
    """Return the text of a file in `tests/data`."""
    return (DATA / name).read_text("utf-8")


def tree(name: str) -> dict[str, str]:
    """Return the texts of all files in a folder of `tests/data`, by their paths in it."""
    folder = DATA / name
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def lines(name: str) -> list[str]:
    """Return the lines of a text file in `tests/data`."""
    return text_of(name).splitlines()


def rows(name: str) -> list[Any]:
    """Return the values of a `.jsonl` file in `tests/data`."""
    return [json.loads(line) for line in lines(name)]


def check_each(cases: Iterable[Case], check: Callable[[Case], None]) -> None:
    """Run a check on every case, and fail with a list of all cases that failed."""
    failed = list[str]()
    for case in cases:
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
            failed.append(f"{case!r}: {type(error).__name__}: {error}")
    assert not failed, "\n".join(failed)
