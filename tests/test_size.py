"""`make size` counts code as its docstring says, and every package belongs to a room."""

from __future__ import annotations

import ast

import pytest

from benchmarks import size
from benchmarks.size import code_lines, measure, pattern_count, room_of, table

SAMPLE = '''"""A module."""

import re  # a comment beside code counts as code

# a comment does not
NAME = re.compile(
    r"\\w+"
)


def name() -> str:
    """A docstring of
    two lines."""
    return """text of
two lines"""
'''


def test_blank_lines_comments_and_docstrings_are_no_code() -> None:
    tree = ast.parse(SAMPLE)
    assert code_lines(SAMPLE, tree) == 7
    assert pattern_count(tree) == 1


def test_every_module_belongs_to_one_room_and_the_longest_path_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(size, "code_lines", lambda text, tree: 1)  # to count takes seconds
    rooms = measure()  # raises for a module that is in none
    assert all(room.code for room in rooms if room.paths)
    room = room_of("session/summary/compress.py", rooms)
    other = room_of("session/session.py", rooms)
    assert room is not None
    assert other is not None
    assert (room.name, other.name) == ("compression", "sessions")
    assert room_of("elsewhere/module.py", rooms) is None
    assert table(rooms).splitlines()[-1].startswith("all ")
