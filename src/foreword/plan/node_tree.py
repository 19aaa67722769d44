"""Where the nodes of a workflow stand: one list to read from top to bottom, some nodes inside loops
and conditions.

A node inside another has `parent`, and `branch` where that is the other way of a condition.
`position` counts all of them in the order of reading. A parent that is not there, or that holds
nothing, is none: such nodes stand at the top.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foreword.errors import UnknownName, UsageError
from foreword.pattern import lazy_pattern
from foreword.plan.node import BRANCHES, holds_nodes

Node = dict[str, Any]
START = "start"
TOP = "top"
# Nodes around a node: what a person can still follow, and far from where recursion would end.
MOST_DEEP = 20
_NUMBER = lazy_pattern(r"node[_-]?(\d{1,15})(?=\.|$)")


class Tree:
    """The nodes of a workflow, by their places."""

    def __init__(self, nodes: Iterable[Mapping[str, Any]]) -> None:
        ordered = sorted(nodes, key=lambda node: (node["position"], node["id"]))
        self.nodes: dict[str, Node] = {str(node["id"]): dict(node) for node in ordered}
        # parent and branch of every node, in the order of reading
        self._places = {name: self._place(name) for name in self.nodes}

    def children(self, parent: str = "", branch: str = "") -> list[Node]:
        """The nodes that stand in one place, in their order; of a condition, those of one
        branch."""
        wanted = (parent, branch)
        return [self.nodes[name] for name, place in self._places.items() if place == wanted]

    def read(self, parent: str = "") -> Iterator[Node]:
        """All nodes inside a place, from top to bottom."""
        for branch in self.branches(parent):
            for node in self.children(parent, branch):
                yield node
                yield from self.read(str(node["id"]))

    def ancestors(self, name: str) -> list[Node]:
        """The nodes that a node is inside of, the outermost first."""
        parent, _ = self._places[name]
        return [*self.ancestors(parent), self.nodes[parent]] if parent else []

    def get(self, name: object, what: str = "node") -> Node:
        """The node of that name, or an error that names those there are."""
        found = self.nodes.get(str(name)) or self.nodes.get(f"node{name}")
        if found is None:
            raise UnknownName(what, str(name)[:80], list(self.nodes))
        return found

    def branches(self, parent: str) -> tuple[str, ...]:
        """The places inside a node, or at the top."""
        if not parent:
            return ("",)
        return BRANCHES if self.nodes[parent]["type"] == "condition" else ("",)

    def put(
        self, node: Node, after: object = None, parent: object = None, branch: object = None
    ) -> None:
        """Put a node, with all that is inside it, somewhere else, or a new one somewhere."""
        name = str(node["id"])
        place, behind = self._target(after, parent, branch, self._places.get(name))
        moved = [name]
        if name in self.nodes:
            moved += [str(inner["id"]) for inner in self.read(name)]
        if place[0] in moved or behind in moved:
            raise UsageError(
                f"{name} can't stand inside or behind itself", hint="name another place"
            )
        self.nodes.setdefault(name, node)
        self._insert(name, place, behind)
        if max(len(self.ancestors(one)) for one in moved) > MOST_DEEP:
            raise UsageError(
                f"{name} would be inside of more than {MOST_DEEP} nodes", hint="name another place"
            )

    def _insert(self, name: str, place: tuple[str, str], behind: str | None) -> None:
        """Note where a node stands now: behind a node, in front of all (a blank) or behind all
        (nothing)."""
        self._places.pop(name, None)
        names = list(self._places)
        at = len(names)
        if behind is not None:
            at = names.index(behind) + 1 if behind else 0
        names.insert(at, name)
        self._places[name] = place
        self._places = {one: self._places[one] for one in names}

    def drop(self, name: str) -> list[Node]:
        """Remove a node with all that is inside it; returns them."""
        dropped = [self.nodes[name], *self.read(name)]
        for node in dropped:
            del self.nodes[str(node["id"])]
            del self._places[str(node["id"])]
        return dropped

    def in_order(self) -> list[Node]:
        """Every node with its position, its parent and its branch as they are now, from top to
        bottom."""
        return [self._with_place(node, number) for number, node in enumerate(self.read(), 1)]

    def _with_place(self, node: Node, position: int) -> Node:
        parent, branch = self._places[str(node["id"])]
        if not parent and str(node.get("parent") or "") not in self.nodes:
            return {**node, "position": position}  # of somewhere else, and left as it is
        written = {key: value for key, value in node.items() if key not in ("parent", "branch")}
        written["position"] = position
        if parent:
            written["parent"] = parent
        if parent and branch == BRANCHES[1]:
            written["branch"] = branch
        return written

    def _place(self, name: str) -> tuple[str, str]:
        """Where a node says that it stands; at the top where that can't be, or where nodes are
        inside each other."""
        node = self.nodes[name]
        parent = str(node.get("parent") or "")
        above = parent
        passed = {name}
        while above in self.nodes and above not in passed:
            passed.add(above)
            above = str(self.nodes[above].get("parent") or "")
        is_cycle = above in passed
        is_too_deep = len(passed) > MOST_DEEP + 1
        if parent not in self.nodes or is_cycle or is_too_deep:
            return "", ""
        if not holds_nodes(self.nodes[parent]["type"]):
            return "", ""
        return parent, self._branch(parent, node.get("branch"))

    def _branch(self, parent: str, branch: object) -> str:
        known = self.branches(parent)
        return str(branch) if branch in known else known[0]

    def _target(
        self, after: object, parent: object, branch: object, now: tuple[str, str] | None
    ) -> tuple[tuple[str, str], str | None]:
        """The place that is meant, and the node to stand behind: nothing for the last place, a
        blank for the first."""
        if after not in (None, START):
            return self._target_behind(after, parent, branch)
        old_parent, old_branch = now or ("", "")
        new_parent = old_parent if parent is None else self._parent_id(parent)
        self._refuse_branch(new_parent, branch)
        if not branch and now and old_parent == new_parent:
            branch = old_branch
        place = (new_parent, self._branch(new_parent, branch))
        return place, "" if after == START else None

    def _target_behind(
        self, after: object, parent: object, branch: object
    ) -> tuple[tuple[str, str], str]:
        behind = str(self.get(after)["id"])
        place = self._places[behind]
        its_parent, its_branch = place
        other_parent = parent is not None and self._parent_id(parent) != its_parent
        other_branch = branch and its_branch and branch != its_branch
        if other_parent or other_branch:
            raise UsageError(
                f"{behind} does not stand there",
                hint="give after alone, or a node of that place",
            )
        self._refuse_branch(its_parent, branch)
        return place, behind

    def _parent_id(self, parent: object) -> str:
        if parent in (TOP, ""):
            return ""
        found = self.get(parent, "parent")
        if not holds_nodes(found["type"]):
            raise UsageError(
                f"{found['id']} is of type {found['type']}, which holds no other nodes",
                hint="a parent is a condition or a loop",
            )
        return str(found["id"])

    def _refuse_branch(self, parent: str, branch: object) -> None:
        known = self.branches(parent)
        if branch is None or branch in known:
            return
        if known == BRANCHES:
            rule = f"one of {', '.join(BRANCHES)}"
        elif parent:
            rule = f"left away: {parent} is no condition"
        else:
            rule = "left away: there is no condition around it"
        raise UsageError(f"branch must be {rule}, not {str(branch)[:40]!r}")


def number_of(name: str) -> int:
    """The number in the id of a node, or in the name of a variable of it; 0 where there is none."""
    match = _NUMBER.match(name)
    return int(match[1]) if match else 0


def highest_number(names: Sequence[str]) -> int:
    """The highest number in any of these."""
    return max(map(number_of, names), default=0)
