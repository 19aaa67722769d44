"""A value with many fields is made by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import foreword

SOURCE = Path(foreword.__file__).parent
MOST_BY_PLACE = 4


def dataclasses_in(path: Path) -> Iterator[tuple[ast.ClassDef, str]]:
    """Every dataclass of a file, with how it is decorated."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            for decorator in map(ast.unparse, node.decorator_list):
                if decorator.startswith("dataclass"):
                    yield node, decorator


def fields_by_place(node: ast.ClassDef) -> list[str]:
    names = list[str]()
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign):
            if ast.unparse(statement.annotation) == "KW_ONLY":
                break
            names.append(ast.unparse(statement.target))
    return names


def test_no_dataclass_takes_more_than_four_values_by_their_place() -> None:
    seen = 0
    for path in SOURCE.rglob("*.py"):
        for node, decorator in dataclasses_in(path):
            seen += 1
            if "kw_only=True" not in decorator:
                assert len(fields_by_place(node)) <= MOST_BY_PLACE, f"{path}: {node.name}"
    assert seen > 300
