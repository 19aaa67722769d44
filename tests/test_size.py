"""`make size` counts code as its docstring says, and every package belongs to a room."""

from __future__ import annotations

import ast

from benchmarks.size import SOURCE, code_lines, pattern_count, read_rooms, room_of, table

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


def test_every_module_belongs_to_a_room_and_the_longest_path_wins() -> None:
    rooms = read_rooms()
    for path in SOURCE.rglob("*.py"):
        assert room_of(path.relative_to(SOURCE).as_posix(), rooms) is not None, path
    room = room_of("compression/extract.py", rooms)
    other = room_of("session/session.py", rooms)
    assert room is not None
    assert other is not None
    assert (room.name, other.name) == ("compression", "sessions")
    assert room_of("elsewhere/module.py", rooms) is None
    assert table(rooms).splitlines()[-1].startswith("all ")
