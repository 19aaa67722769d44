"""Where nodes stand: numbered from top to bottom, whatever was created, moved and deleted
before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import UnknownName, UsageError
from foreword.plan.node_tree import MOST_DEEP, Tree, highest_number, number_of
from tests.corpus import rows


def node(name: str, kind: str = "click", position: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": name, "position": position, "type": kind, "config": {}, **more}


def places(tree: Tree) -> list[tuple[str, int, str, str]]:
    """Id, position, parent and branch of every node."""
    return [
        (one["id"], one["position"], one.get("parent", ""), one.get("branch", ""))
        for one in tree.in_order()
    ]


def ids(nodes: Iterable[Mapping[str, Any]]) -> list[str]:
    return [str(one["id"]) for one in nodes]


@pytest.fixture
def tree() -> Tree:
    """a, a loop with b and a condition with c and, on its other way, d; then e."""
    made = Tree([])
    for name, kind, place in (
        ("a", "click", {}),
        ("loop", "loop", {}),
        ("b", "type", {"parent": "loop"}),
        ("if", "condition", {"parent": "loop"}),
        ("c", "click", {"parent": "if"}),
        ("d", "click", {"parent": "if", "branch": "else"}),
        ("e", "click", {}),
    ):
        made.put(node(name, kind), **place)
    return made


def test_positions_count_the_whole_tree_in_the_order_of_reading(tree: Tree) -> None:
    expected = [
        ("a", 1, "", ""),
        ("loop", 2, "", ""),
        ("b", 3, "loop", ""),
        ("if", 4, "loop", ""),
        ("c", 5, "if", ""),
        ("d", 6, "if", "else"),
        ("e", 7, "", ""),
    ]
    assert places(tree) == expected
    assert places(Tree(reversed(tree.in_order()))) == expected
    assert ids(tree.ancestors("d")) == ["loop", "if"]


def test_a_node_moves_with_all_that_is_inside_it(tree: Tree) -> None:
    tree.put(tree.nodes["if"], after="a")
    assert ids(tree.in_order()) == ["a", "if", "c", "d", "loop", "b", "e"]
    tree.put(tree.nodes["e"], after="start", parent="if", branch="else")
    assert ids(tree.in_order()) == ["a", "if", "c", "e", "d", "loop", "b"]
    tree.put(tree.nodes["d"], parent="top")
    assert places(tree)[-1] == ("d", 7, "", "")
    tree.put(tree.nodes["a"], parent="loop")
    assert ids(tree.in_order()) == ["if", "c", "e", "loop", "b", "a", "d"]
    tree.put(tree.nodes["e"], branch="then")
    assert ids(tree.in_order()) == ["if", "c", "e", "loop", "b", "a", "d"]
    assert ids(tree.drop("if")) == ["if", "c", "e"]


@pytest.mark.parametrize(("name", "place", "message"), rows("nodes/no_places.jsonl"))
def test_a_place_that_is_none_is_refused(
    tree: Tree, name: str, place: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        tree.put(tree.nodes[name], **place)


def test_nodes_from_elsewhere_stand_at_the_top_and_keep_what_they_have() -> None:
    nodes = [
        node("x", "browser_action", 5, parent="group 1"),
        node("y", "click", 2, parent="x"),
        node("p", "loop", 3, parent="q"),
        node("q", "loop", 4, parent="p"),
        node("r", "code", 9, parent={"odd": 1}),
    ]
    assert [(n["id"], n["position"], n.get("parent")) for n in Tree(nodes).in_order()] == [
        ("y", 1, None),
        ("p", 2, None),
        ("q", 3, None),
        ("x", 4, "group 1"),
        ("r", 5, {"odd": 1}),
    ]


def test_nodes_are_not_nested_without_end() -> None:
    tree = Tree([])
    for number in range(MOST_DEEP + 1):
        tree.put(node(f"n{number}", "loop"), parent=f"n{number - 1}" if number else None)
    with pytest.raises(UsageError, match="inside of more than 20 nodes"):
        tree.put(node("deeper"), parent=f"n{MOST_DEEP}")


def test_numbers_are_read_out_of_ids_and_names_of_variables() -> None:
    assert number_of("node7") == 7
    assert number_of("node_12") == 12
    assert number_of("node3.emails") == 3
    for name in ("nodes", "node7x", "x"):
        assert number_of(name) == 0
    assert highest_number(["node3.emails", "node12", "other"]) == 12
    assert highest_number([]) == 0
    assert Tree([node("node5")]).get(5)["id"] == "node5"
    with pytest.raises(UnknownName):
        Tree([]).get("node1")


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9), st.integers(0, 9), st.sampled_from(["after", "into", "drop", "top"])
        ),
        max_size=40,
    )
)
def test_whatever_happens_every_node_is_read_once_and_is_there_again(
    moves: list[tuple[int, int, str]],
) -> None:
    tree = Tree([])
    kinds = ["click", "loop", "condition"]
    for number in range(10):
        tree.put(node(f"n{number}", kinds[number % 3]))
    for one, other, move in moves:
        name = f"n{one}"
        target = f"n{other}"
        if name not in tree.nodes or target not in tree.nodes:
            continue
        with suppress(UsageError):
            if move == "drop":
                tree.drop(name)
            elif move == "after":
                tree.put(tree.nodes[name], after=target)
            elif move == "into":
                tree.put(tree.nodes[name], parent=target)
            else:
                tree.put(tree.nodes[name], parent="top")
        assert sorted(ids(tree.read())) == sorted(tree.nodes)
        assert [node["position"] for node in tree.in_order()] == list(range(1, len(tree.nodes) + 1))
        assert Tree(tree.in_order()).in_order() == tree.in_order()
