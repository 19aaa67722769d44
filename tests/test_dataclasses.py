"""A value with many fields is made by their names, and quickly."""

from __future__ import annotations

import ast
import copy
import dataclasses
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import foreword
from foreword.dataclass import dataclass

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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """As the standard library makes it."""

    name: str
    numbers: tuple[float, ...] = ()
    note: str = dataclasses.field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    """The same, as this package makes it."""

    name: str
    numbers: tuple[float, ...] = ()
    note: str = dataclasses.field(default="", compare=False, repr=False)


@dataclass
class Changing:
    """One that may be changed, with a way of its own to be printed."""

    name: str

    def __repr__(self) -> str:
        return "own"


VALUES: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    name=st.sampled_from(["", "a", "b"]),
    numbers=st.sampled_from([(), (1.0,), (2.0, 3.0)]),
    note=st.sampled_from(["", "x"]),
)


@given(VALUES, VALUES)
def test_a_quick_dataclass_is_compared_hashed_and_printed_as_the_usual(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    quick, usual = Quick(**first), Usual(**first)
    assert (quick == Quick(**second)) == (usual == Usual(**second))
    assert hash(quick) == hash(usual)
    assert repr(quick) == repr(usual).replace("Usual", "Quick")
    other: object = usual
    assert quick != other
    assert copy.copy(quick) == quick == pickle.loads(pickle.dumps(quick))
    assert dataclasses.replace(quick, name="c").name == "c"


def test_a_quick_dataclass_can_not_be_changed_where_it_is_frozen() -> None:
    value = Quick(name="a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.name = "b"  # type: ignore[misc]
    changing = Changing("a")
    changing.name = "b"
    assert changing == Changing("b")
    assert repr(changing) == "own"
    assert Changing.__hash__ is None
