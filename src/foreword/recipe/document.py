"""Read one recipe file as data whose lines are known, however it is written.

What would make reading endless or deep (bombs of aliases, a thousand brackets) is told by the
events of the file, before any of it is built. What the data means is the business of `schema` and
`checks`.
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

from foreword import regular_file
from foreword.errors import RecipeError
from foreword.recipe.schema import RecipeSpec

BUILTIN = Path(__file__).parent / "builtin"
LARGEST_BYTES = 1_000_000
MOST_EVENTS = 20_000
MOST_NODES = 50_000  # with every alias written out
DEEPEST = 50
LONGEST_NUMBER = 400
# 1:1:1 is a number in YAML, and a long one takes minutes to work out
NUMBER = re.compile(r"[-+0-9:_.]+")

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeFile:
    """One recipe file: its text, its data, and the nodes that know the lines."""

    path: str
    within: Path  # the folder that it was read in; the files that it extends are read there, too
    text: str
    data: dict[str, Any]
    node: Node


def read_layer(path: Path, within: Path | None) -> RecipeFile:
    """One file as data with line numbers; built-in ones are read once.

    `within` is the folder that it must lie in, whatever links say. A file without one is the user's
    own choice: wherever it lies, what it extends is read in the same folder.
    """
    return _builtin_layer(path) if path.parent == BUILTIN else _read_layer(path, within)


@cache
def _builtin_layer(path: Path) -> RecipeFile:
    return _read_layer(path, BUILTIN)


def _read_layer(path: Path, within: Path | None) -> RecipeFile:
    text = _text(path, within)
    try:
        _refuse_unsafe(path, text)
        node, data = _loaded(path, text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        problem = _without_quotes(error.problem or error.context or "")
        raise RecipeError(
            str(path), f"not valid YAML: {problem}", line=line, column=column
        ) from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise RecipeError(str(path), f"not valid YAML: {_without_quotes(str(error))}") from None
    if not isinstance(data, dict) or node is None:
        raise RecipeError(str(path), "a recipe is a mapping with name and sections", line=1)
    return RecipeFile(
        path=str(path), within=within or path.resolve().parent, text=text, data=data, node=node
    )


def _text(path: Path, within: Path | None) -> str:
    """The text of a file; told apart from the YAML in it, which may be anything."""
    try:
        if within is None:
            raw = regular_file.read_anywhere(path, LARGEST_BYTES)
        else:
            raw = regular_file.read_inside(within, str(path.absolute()), LARGEST_BYTES)
        return raw.decode("utf-8-sig")
    except regular_file.Unusable as unusable:
        raise RecipeError(
            str(path), _told(unusable.reason, within), hint=_HINTS.get(unusable.reason, "")
        ) from None
    except UnicodeDecodeError:
        raise RecipeError(str(path), "can't be read: not UTF-8") from None


_HINTS = {
    regular_file.OUTSIDE: (
        "put the recipe itself into the project, or name its own path on the command line"
    )
}


def _told(reason: str, within: Path | None) -> str:
    if reason == regular_file.OUTSIDE:
        return f"leads outside the root {within}"
    return f"can't be read: {reason}"


def _without_quotes(problem: str) -> str:
    """What YAML says is wrong, without what it quotes: the file may be no recipe."""
    return _QUOTED.sub("...", problem.split("\n")[0])


_QUOTED = re.compile(r"['\"].*['\"]")


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _loaded(path: Path, text: str) -> tuple[Node | None, Any]:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        if not _has_a_known_field(node):  # before anything of it is told: it may be anything
            raise _unsafe(path, "not a recipe: it has no field that recipes have", node.start_mark)
        for key in _repeated(node):  # before merge keys are resolved, which repeats them lawfully
            raise _unsafe(path, f"{key.value!r} is there twice", key.start_mark)
        return node, loader.construct_document(node)
    finally:
        loader.dispose()


def _has_a_known_field(node: Node) -> bool:
    """Whether a mapping might be a recipe; what is no mapping is told elsewhere."""
    if not isinstance(node, MappingNode):
        return True
    return any(
        isinstance(key, ScalarNode) and key.value in RecipeSpec.model_fields
        for key, _ in node.value
    )


def _repeated(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, MappingNode):
        seen = set()
        for key, value in node.value:
            if isinstance(key, ScalarNode):
                if key.value in seen:
                    yield key
                seen.add(key.value)
            yield from _repeated(value)


# --- what must not be built -----------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """A list or mapping that has begun: its anchor, and what it holds so far with every alias
    written out."""

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
            raise _unsafe(
                path, f"more than {MOST_EVENTS:,} values, which is no recipe", event.start_mark
            )
        if isinstance(event, yaml.CollectionStartEvent):
            within.append(_Open(event.anchor))
        elif isinstance(event, yaml.CollectionEndEvent):
            done = within.pop()
            sizes |= {done.anchor: (done.nodes, done.height)} if done.anchor else {}
            within[-1].take(done.nodes, done.height)
        elif isinstance(event, yaml.ScalarEvent):
            if len(event.value) > LONGEST_NUMBER and NUMBER.fullmatch(event.value):
                raise _unsafe(
                    path, f"a number of more than {LONGEST_NUMBER} digits", event.start_mark
                )
            sizes |= {event.anchor: (1, 1)} if event.anchor else {}
            within[-1].take(1, 1)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in (part.anchor for part in within):
                raise _unsafe(
                    path, f"*{event.anchor} stands inside its own anchor", event.start_mark
                )
            within[-1].take(*sizes.get(event.anchor or "", (1, 1)))
        if len(within) - 1 + within[-1].height - 1 > DEEPEST:
            raise _unsafe(path, f"nested more than {DEEPEST} levels deep", event.start_mark)
        if within[-1].nodes > MOST_NODES:
            raise _unsafe(
                path, f"aliases make it more than {MOST_NODES:,} values", event.start_mark
            )


def _unsafe(path: Path, problem: str, mark: Any) -> RecipeError:
    return RecipeError(str(path), problem, line=mark.line + 1, column=mark.column + 1)


# --- where things are -----------------------------------------------------------------------------


def problem_at(chain: list[RecipeFile], place: Place, message: str, hint: str = "") -> RecipeError:
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
