"""How much a YAML text would hold once it is built, told by its events alone.

A few lines of aliases stand for billions of values, and a thousand brackets use up the stack. The
events show both before anything is built, at little cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from foreword.pattern import lazy_pattern

LONGEST_NUMBER = 400  # digits
# 1:1:1 is a number in YAML, and a long one takes minutes to work out
NUMBER = lazy_pattern(r"[-+0-9:_.]+")


@dataclass(slots=True)
class _OpenNode:
    """A list or mapping that has begun: its anchor, and what it holds so far with every alias
    written out."""

    anchor: str | None
    nodes: int = 1
    height: int = 1

    def take(self, nodes: int, height: int) -> None:
        self.nodes += nodes
        self.height = max(self.height, height + 1)


def find_trap(
    events: Iterable[yaml.Event], *, most_nodes: int, deepest: int
) -> tuple[str, Any] | None:
    """What would make a text endless, huge or deep, and where; None where nothing would."""
    sizes = dict[str, tuple[int, int]]()  # by anchor: its nodes and its height
    open_nodes = [_OpenNode(None)]
    for event in events:
        problem = _follow(event, open_nodes, sizes)
        innermost = open_nodes[-1]
        if not problem and len(open_nodes) - 1 + innermost.height - 1 > deepest:
            problem = f"nested more than {deepest} levels deep"
        if not problem and innermost.nodes > most_nodes:
            problem = f"aliases make it more than {most_nodes:,} values"
        if problem:
            return problem, event.start_mark
    return None


def _follow(
    event: yaml.Event, open_nodes: list[_OpenNode], sizes: dict[str, tuple[int, int]]
) -> str:
    """Count one event into the node that is open; what is wrong with it by itself, if anything."""
    if isinstance(event, yaml.CollectionStartEvent):
        open_nodes.append(_OpenNode(event.anchor))
    elif isinstance(event, yaml.CollectionEndEvent):
        closed = open_nodes.pop()
        if closed.anchor:
            sizes[closed.anchor] = (closed.nodes, closed.height)
        open_nodes[-1].take(closed.nodes, closed.height)
    elif isinstance(event, yaml.ScalarEvent):
        if len(event.value) > LONGEST_NUMBER and NUMBER.fullmatch(event.value):
            return f"a number of more than {LONGEST_NUMBER} digits"
        if event.anchor:
            sizes[event.anchor] = (1, 1)
        open_nodes[-1].take(1, 1)
    elif isinstance(event, yaml.AliasEvent):
        if any(node.anchor == event.anchor for node in open_nodes):
            return f"*{event.anchor} stands inside its own anchor"
        nodes, height = sizes.get(event.anchor or "", (1, 1))
        open_nodes[-1].take(nodes, height)
    return ""
