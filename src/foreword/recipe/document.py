"""Read one recipe file as data whose lines are known, however it is written.

What would make reading endless or deep (bombs of aliases, a thousand brackets) is told by the events of the file,
before any of it is built. What the data means is the business of `schema` and `checks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from foreword.errors import RecipeError

BUILTIN = Path(__file__).parent / "builtin"
LARGEST_BYTES = 1_000_000
MOST_EVENTS = 20_000
MOST_NODES = 50_000  # with every alias written out
DEEPEST = 50
LONGEST_NUMBER = 400
NUMBER = re.compile(r"[-+0-9:_.]+")  # 1:1:1 is a number in YAML, and a long one takes minutes to work out

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """One recipe file: its data, and the nodes that know the lines."""

    path: str
    data: dict[str, Any]
    node: Node


def read_layer(path: Path) -> Layer:
    """One file as data with line numbers; built-in ones are read once."""
    return _builtin_layer(path) if path.parent == BUILTIN else _read_layer(path)


@cache
def _builtin_layer(path: Path) -> Layer:
    return _read_layer(path)


def _read_layer(path: Path) -> Layer:
    try:
        text = _text(path)
        _refuse_unsafe(path, text)
        node, data = _loaded(path, text)
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError(str(path), f"can't be read: {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise RecipeError(str(path), f"not valid YAML: {error.problem}", line=line, column=column) from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise RecipeError(str(path), f"not valid YAML: {error}") from None
    if not isinstance(data, dict) or node is None:
        raise RecipeError(str(path), "a recipe is a mapping with name and sections", line=1)
    return Layer(str(path), data, node)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        raw = file.read(LARGEST_BYTES + 1)
    if len(raw) > LARGEST_BYTES:
        raise RecipeError(str(path), f"larger than {LARGEST_BYTES:,} bytes, which is no recipe")
    return raw.decode("utf-8-sig")


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _loaded(path: Path, text: str) -> tuple[Node | None, Any]:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        for key in _repeated(node):  # before merge keys are resolved, which repeats them lawfully
            raise _unsafe(path, f"{key.value!r} is there twice", key.start_mark)
        return node, loader.construct_document(node)
    finally:
        loader.dispose()


def _repeated(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, MappingNode):
        seen = set()
        for key, value in node.value:
            if isinstance(key, ScalarNode):
                if key.value in seen:
                    yield key
                seen.add(key.value)
            yield from _repeated(value)


# --- what must not be built ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """A list or mapping that has begun: its anchor, and what it holds so far with every alias written out."""

    anchor: str | None
    nodes: int = 1
    height: int = 1

    def take(self, nodes: int, height: int) -> None:
        self.nodes += nodes
        self.height = max(self.height, height + 1)


def _refuse_unsafe(path: Path, text: str) -> None:
    """Walk the events alone, which costs little, and stop at what would cost much."""
    whole, sizes = _Open(None), dict[str, tuple[int, int]]()
    within = [whole]
    for count, event in enumerate(yaml.parse(text, _Loader)):
        if count > MOST_EVENTS:
            raise _unsafe(path, f"more than {MOST_EVENTS:,} values, which is no recipe", event.start_mark)
        if isinstance(event, yaml.CollectionStartEvent):
            within.append(_Open(event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            done = within.pop()
            sizes |= {done.anchor: (done.nodes, done.height)} if done.anchor else {}
            within[-1].take(done.nodes, done.height)
        elif isinstance(event, yaml.ScalarEvent):
            if len(event.value) > LONGEST_NUMBER and NUMBER.fullmatch(event.value):
                raise _unsafe(path, f"a number of more than {LONGEST_NUMBER} digits", event.start_mark)
            sizes |= {event.anchor: (1, 1)} if event.anchor else {}
            within[-1].take(1, 1)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in (part.anchor for part in within):
                raise _unsafe(path, f"*{event.anchor} stands inside its own anchor", event.start_mark)
            within[-1].take(*sizes.get(event.anchor or "", (1, 1)))
        if len(within) - 1 + within[-1].height - 1 > DEEPEST:
            raise _unsafe(path, f"nested more than {DEEPEST} levels deep", event.start_mark)
        if within[-1].nodes > MOST_NODES:
            raise _unsafe(path, f"aliases make it more than {MOST_NODES:,} values", event.start_mark)


def _unsafe(path: Path, problem: str, mark: Any) -> RecipeError:
    return RecipeError(str(path), problem, line=mark.line + 1, column=mark.column + 1)


# --- where things are ------------------------------------------------------------------------------------------


def problem_at(chain: list[Layer], place: Place, message: str, hint: str = "") -> RecipeError:
    """The error at the deepest node of the place that any file of the chain has."""
    best, depth = (chain[0].path, 1, 1), -1
    for layer in chain:
        node, reached = _node_at(layer.node, place)
        if reached > depth:
            mark = node.start_mark
            best, depth = (layer.path, mark.line + 1, mark.column + 1), reached
    path, line, column = best
    return RecipeError(path, message, line=line, column=column, hint=hint)


def _node_at(node: Node, place: Place) -> tuple[Node, int]:
    shown = node
    for depth, step in enumerate(place):
        found: Node | None = None
        if isinstance(node, MappingNode):
            for key, value in node.value:
                if isinstance(key, ScalarNode) and key.value == str(step):
                    shown, found = key, value
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            shown = found = node.value[step]
        if found is None:
            return shown, depth
        node = found
    return shown, len(place)
