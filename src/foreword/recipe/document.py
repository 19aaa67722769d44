"""Read one recipe file as data whose lines are known, however it is written.

What would make reading endless or deep (bombs of aliases, a thousand brackets) shows in the events
of the file, before any of it is built. What the data means is the business of `schema` and
`checks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from foreword import regular_file
from foreword.errors import RecipeError
from foreword.pattern import lazy_pattern
from foreword.recipe.schema import RecipeSpec
from foreword.recipe.yaml_size import find_trap

BUILTIN = Path(__file__).parent / "builtin"
# What a file may have to be read as a recipe. The built-in ones are the largest there are; these
# are far above them, and keep a file that is no recipe, or a trap, from taking time and memory.
LARGEST_BYTES = 1_000_000
MOST_EVENTS = 20_000
MOST_NODES = 50_000  # with every alias written out
DEEPEST = 50

_QUOTED = lazy_pattern(r"['\"].*['\"]")
_HINTS = {
    regular_file.OUTSIDE: (
        "put the recipe itself into the project, or name its own path on the command line"
    )
}
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
    text = _text(path, BUILTIN)
    node, data = _load(path, text)  # no trap: tests read every one as if it were a stranger's
    assert node is not None
    return RecipeFile(path=str(path), within=BUILTIN, text=text, data=data, node=node)


def _read_layer(path: Path, within: Path | None) -> RecipeFile:
    text = _text(path, within)
    return _layer(path, within or path.resolve().parent, text)


# A process uses a handful of recipes, of which a text that has changed is another one.
@lru_cache(maxsize=32)
def _layer(path: Path, within: Path, text: str) -> RecipeFile:
    """A file as data; the same text is read as YAML once."""
    try:
        _refuse_unsafe(path, text)
        node, data = _load(path, text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = _without_quotes(error.problem or error.context or "")
        raise RecipeError(
            str(path),
            f"not valid YAML: {problem}",
            line=mark.line + 1 if mark else 0,
            column=mark.column + 1 if mark else 0,
        ) from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise RecipeError(str(path), f"not valid YAML: {_without_quotes(str(error))}") from None
    if not isinstance(data, dict) or node is None:
        raise RecipeError(str(path), "a recipe is a mapping with name and sections", line=1)
    return RecipeFile(path=str(path), within=within, text=text, data=data, node=node)


def _text(path: Path, within: Path | None) -> str:
    """The text of a file; what the YAML in it is like shows later."""
    try:
        if within is None:
            raw = regular_file.read_anywhere(path, LARGEST_BYTES)
        else:
            raw = regular_file.read_inside(within, str(path.absolute()), LARGEST_BYTES)
        return raw.decode("utf-8-sig")
    except regular_file.Unusable as unusable:
        problem = _unusable_problem(unusable.reason, within)
        hint = _HINTS.get(unusable.reason, "")
        raise RecipeError(str(path), problem, hint=hint) from None
    except UnicodeDecodeError:
        raise RecipeError(str(path), "can't be read: not UTF-8") from None


def _unusable_problem(reason: str, within: Path | None) -> str:
    if reason == regular_file.OUTSIDE:
        return f"leads outside the root {within}"
    return f"can't be read: {reason}"


def _without_quotes(problem: str) -> str:
    """What YAML says is wrong, without what it quotes: the file may be no recipe."""
    return _QUOTED.sub("...", problem.split("\n")[0])


def _load(path: Path, text: str) -> tuple[Node | None, Any]:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, None
        if not _has_a_known_field(node):  # before anything of it is told: it may be anything
            raise _unsafe(path, "not a recipe: it has no field that recipes have", node.start_mark)
        for key in _repeated_keys(
            node
        ):  # before merge keys are resolved, which repeats them lawfully
            raise _unsafe(path, f"{key.value!r} is there twice", key.start_mark)
        return node, loader.construct_document(node)
    finally:
        loader.dispose()


def _has_a_known_field(node: Node) -> bool:
    """Whether a mapping might be a recipe; what is no mapping is refused elsewhere."""
    if not isinstance(node, MappingNode):
        return True
    keys = [key.value for key, _ in node.value if isinstance(key, ScalarNode)]
    return any(field.name in keys for field in fields(RecipeSpec))


def _repeated_keys(node: Node) -> Iterator[ScalarNode]:
    if isinstance(node, MappingNode):
        names = set()
        for key, value in node.value:
            if isinstance(key, ScalarNode):
                if key.value in names:
                    yield key
                names.add(key.value)
            yield from _repeated_keys(value)


# --- what must not be built -----------------------------------------------------------------------


def _refuse_unsafe(path: Path, text: str) -> None:
    """Walk the events alone, which costs little, and stop at what would cost much."""
    trap = find_trap(_events(path, text), most_nodes=MOST_NODES, deepest=DEEPEST)
    if trap is not None:
        raise _unsafe(path, *trap)


def _events(path: Path, text: str) -> Iterator[yaml.Event]:
    for count, event in enumerate(yaml.parse(text, _Loader)):
        if count > MOST_EVENTS:
            problem = f"more than {MOST_EVENTS:,} values, which is no recipe"
            raise _unsafe(path, problem, event.start_mark)
        yield event


def _unsafe(path: Path, problem: str, mark: Any) -> RecipeError:
    return RecipeError(str(path), problem, line=mark.line + 1, column=mark.column + 1)


# --- where things are -----------------------------------------------------------------------------


def problem_at(chain: list[RecipeFile], place: Place, message: str, hint: str = "") -> RecipeError:
    """The error at the deepest node of the place that any file of the chain has."""
    deepest = -1
    path = chain[0].path
    line = 1
    column = 1
    for layer in chain:
        node, depth = _node_at(layer.node, place)
        if depth > deepest:
            deepest = depth
            path = layer.path
            line = node.start_mark.line + 1
            column = node.start_mark.column + 1
    return RecipeError(path, message, line=line, column=column, hint=hint)


def _node_at(node: Node, place: Place) -> tuple[Node, int]:
    """The deepest node on the way to a place, as a key where it has one, and how deep it is."""
    deepest = node
    for depth, step in enumerate(place):
        found: Node | None = None
        if isinstance(node, MappingNode):
            for key, value in node.value:
                if isinstance(key, ScalarNode) and key.value == str(step):
                    deepest = key
                    found = value
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = node.value[step]
            deepest = node.value[step]
        if found is None:
            return deepest, depth
        node = found
    return deepest, len(place)
