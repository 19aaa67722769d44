"""Where the nodes of a workflow stand: one list to read from top to bottom, some nodes inside loops
and conditions.

A node inside another has `parent`, and `branch` where that is the other way of a condition.
`position` counts all of them in the order of reading. A parent that is not there, or that holds
nothing, is none: such nodes stand at the top.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foreword.errors import UnknownName, UsageError
from foreword.plan.node import BRANCHES, TYPES

Node = dict[str, Any]
START, TOP = "start", "top"
MOST_DEEP = 20  # nodes around a node
_NUMBER = re.compile(r"node[_-]?(\d{1,15})(?=\.|$)")


class Tree:
    """The nodes of a workflow, by their places."""

    def __init__(self, nodes: Iterable[Mapping[str, Any]]) -> None:
        ordered = sorted(nodes, key=lambda node: (node["position"], node["id"]))
        self.nodes: dict[str, Node] = {str(node["id"]): dict(node) for node in ordered}
        self._places = {name: self._place(name) for name in self.nodes}

    def children(self, parent: str = "", branch: str = "") -> list[Node]:
        """The nodes that stand in one place, in their order; of a condition, those of one
        branch."""
        return [
            self.nodes[name] for name, place in self._places.items() if place == (parent, branch)
        ]

    def read(self, parent: str = "") -> Iterator[Node]:
        """All nodes inside a place, from top to bottom."""
        for branch in self.branches(parent):
            for node in self.children(parent, branch):
                yield node
                yield from self.read(str(node["id"]))

    def around(self, name: str) -> list[Node]:
        """The nodes that a node is inside of, the outermost first."""
        parent, _ = self._places[name]
        return [*self.around(parent), self.nodes[parent]] if parent else []

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
        place, behind = self._wanted(after, parent, branch, self._places.get(name))
        inside = (
            [name, *(str(one["id"]) for one in self.read(name))] if name in self.nodes else [name]
        )
        if place[0] in inside or behind in inside:
            raise UsageError(
                f"{name} can't stand inside or behind itself", hint="name another place"
            )
        self.nodes.setdefault(name, node)
        self._places.pop(name, None)
        names = list(self._places)
        at = len(names) if behind is None else names.index(behind) + 1 if behind else 0
        self._places = {
            one: self._places.get(one, place) for one in [*names[:at], name, *names[at:]]
        }
        if max(len(self.around(one)) for one in inside) > MOST_DEEP:
            raise UsageError(
                f"{name} would be inside of more than {MOST_DEEP} nodes", hint="name another place"
            )

    def drop(self, name: str) -> list[Node]:
        """Remove a node with all that is inside it; returns them."""
        gone = [self.nodes[name], *self.read(name)]
        for node in gone:
            del self.nodes[str(node["id"])], self._places[str(node["id"])]
        return gone

    def numbered(self) -> list[Node]:
        """Every node with its position, its parent and its branch as they are now, from top to
        bottom."""
        return [self._written(node, number) for number, node in enumerate(self.read(), 1)]

    def _written(self, node: Node, number: int) -> Node:
        parent, branch = self._places[str(node["id"])]
        if not parent and str(node.get("parent") or "") not in self.nodes:
            return {**node, "position": number}  # of somewhere else, and left as it is
        rest = {key: value for key, value in node.items() if key not in ("parent", "branch")}
        inside = (
            {"parent": parent} | ({"branch": branch} if branch == BRANCHES[1] else {})
            if parent
            else {}
        )
        return {**rest, "position": number, **inside}

    def _place(self, name: str) -> tuple[str, str]:
        """Where a node says that it stands; at the top where that can't be, or where nodes are
        inside each other."""
        node = self.nodes[name]
        parent = str(node.get("parent") or "")
        above, seen = parent, {name}
        while above in self.nodes and above not in seen:
            seen.add(above)
            above = str(self.nodes[above].get("parent") or "")
        lost = parent not in self.nodes or above in seen or len(seen) > MOST_DEEP + 1
        if lost or not _holds(self.nodes[parent]):
            return "", ""
        return parent, self._branch(parent, node.get("branch"))

    def _branch(self, parent: str, branch: object) -> str:
        known = self.branches(parent)
        return str(branch) if branch in known else known[0]

    def _wanted(
        self, after: object, parent: object, branch: object, now: tuple[str, str] | None
    ) -> tuple[tuple[str, str], str | None]:
        """The place that is meant, and the node to stand behind: nothing for the last place, a
        blank for the first."""
        if after not in (None, START):
            behind = str(self.get(after)["id"])
            place = self._places[behind]
            if (parent is not None and self._holder(parent) != place[0]) or (
                branch and branch != (place[1] or branch)
            ):
                raise UsageError(
                    f"{behind} does not stand there",
                    hint="give after alone, or a node of that place",
                )
            self._refuse_branch(place[0], branch)
            return place, behind
        holder = self._holder(parent) if parent is not None else now[0] if now else ""
        self._refuse_branch(holder, branch)
        kept = now[1] if now and now[0] == holder else None
        return (holder, self._branch(holder, branch or kept)), "" if after == START else None

    def _holder(self, parent: object) -> str:
        if parent in (TOP, ""):
            return ""
        found = self.get(parent, "parent")
        if not _holds(found):
            raise UsageError(
                f"{found['id']} is of type {found['type']}, which holds no other nodes",
                hint="a parent is a condition or a loop",
            )
        return str(found["id"])

    def _refuse_branch(self, parent: str, branch: object) -> None:
        known = self.branches(parent)
        if branch is not None and branch not in known:
            what = (
                f"{parent} is no condition"
                if parent and known == ("",)
                else "there is no condition around it"
            )
            told = f"one of {', '.join(BRANCHES)}" if known == BRANCHES else f"left away: {what}"
            raise UsageError(f"branch must be {told}, not {str(branch)[:40]!r}")


def number_of(name: str) -> int:
    """The number in the id of a node, or in the name of a variable of it; 0 where there is none."""
    found = _NUMBER.match(name)
    return int(found[1]) if found else 0


def highest(names: Sequence[str]) -> int:
    """The highest number in any of these."""
    return max(map(number_of, names), default=0)


def _holds(node: Mapping[str, Any]) -> bool:
    return str(node["type"]) in TYPES and TYPES[str(node["type"])].holds
