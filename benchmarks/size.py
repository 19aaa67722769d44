"""`make size`: lines of code and regular expressions by room, beside the targets of `rooms.toml`.

A line of code is one that is not blank, a comment or part of a docstring. Nothing fails on these
figures; they are printed so that growth is seen.
"""

from __future__ import annotations

import ast
import io
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "foreword"
ROOMS = Path(__file__).with_name("rooms.toml")
# What people write by hand beside Python; fonts, licenses and tables of numbers are not counted.
OTHER_SUFFIXES = {".css", ".html", ".js", ".json", ".md", ".toml", ".yaml"}
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
RE_FUNCTIONS = set("compile search match fullmatch sub subn finditer findall split".split())


@dataclass(kw_only=True)
class Room:
    """Figures of a group of packages."""

    name: str
    paths: list[str]
    now: int
    target: int
    code: int = 0
    files: int = 0
    patterns: int = 0
    other: int = 0


def code_lines(text: str, tree: ast.Module) -> int:
    """Return the number of lines that hold code."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return len(lines)


def pattern_count(tree: ast.Module) -> int:
    """Return the number of calls that take a regular expression."""
    return sum(isinstance(node, ast.Call) and _takes_pattern(node.func) for node in ast.walk(tree))


def _takes_pattern(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id == "lazy_pattern"
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    return function.value.id == "re" and function.attr in RE_FUNCTIONS


def room_of(path: str, rooms: list[Room]) -> Room | None:
    """Return the room whose longest path matches `path` (relative to the package), or None."""
    names = [path, *(str(parent) for parent in Path(path).parents)]
    for name in names:
        for room in rooms:
            if name in room.paths and (name != "." or "/" not in path):
                return room
    return None


def read_rooms() -> list[Room]:
    """Return the rooms of `rooms.toml`, without figures."""
    return [Room(**room) for room in tomllib.loads(ROOMS.read_text("utf-8"))["room"]]


def measure(source: Path = SOURCE) -> list[Room]:
    """Return every room with its figures; raise ValueError for a file that is in no room."""
    rooms = read_rooms()
    for path in _files(source):
        relative = path.relative_to(source).as_posix()
        room = room_of(relative, rooms)
        if path.suffix != ".py":
            if room is not None:
                room.other += path.read_text("utf-8").count("\n")
            continue
        if room is None:
            raise ValueError(f"{relative} is in no room of {ROOMS.name}: add its package there")
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        room.code += code_lines(text, tree)
        room.patterns += pattern_count(tree)
        room.files += 1
    return rooms


def _files(source: Path) -> Iterator[Path]:
    for path in sorted(source.rglob("*")):
        if path.suffix == ".py" or path.suffix in OTHER_SUFFIXES:
            yield path


def table(rooms: list[Room]) -> str:
    """Return the figures as text, with a last line for all rooms."""
    total = Room(name="all", paths=[], now=0, target=0)
    for room in rooms:
        for figure in ("code", "files", "patterns", "other", "now", "target"):
            setattr(total, figure, getattr(total, figure) + getattr(room, figure))
    lines = [
        f"{'room':32} {'files':>6} {'code':>8} {'was':>8} {'target':>8} {'over by':>8}"
        f" {'patterns':>9} {'not Python':>11}"
    ]
    for room in [*rooms, total]:
        lines.append(
            f"{room.name:32} {room.files:>6} {room.code:>8,} {room.now:>8,} {room.target:>8,}"
            f" {max(0, room.code - room.target):>8,} {room.patterns:>9,} {room.other:>11,}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(measure()))
