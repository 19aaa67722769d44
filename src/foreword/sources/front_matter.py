"""Split a Markdown text into its YAML front matter and its body.

Never raises: front matter that lies is reported as a problem and the whole text is the body. Only
plain data is read (no tags of other types, no aliases that make a bomb), and dates stay as written.
What the fields mean is for the caller.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from foreword.pattern import lazy_pattern

# Of front matter: fields by name need a hundredth of it; more is data in the wrong place.
LARGEST_CHARS = 65_536
# of a whole file: a second to read; 12 MB took three minutes and 800 MB
LARGEST_YAML_CHARS = 200_000

_OPENING = lazy_pattern(r"---[ \t]*(?:\r\n?|\n)")
_CLOSING = lazy_pattern(r"^(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)", re.MULTILINE)
_FIELD = lazy_pattern(r"\s*(?:#[^\n]*\n\s*)*[\w-]+[ \t]*:")
# Levels of lists and mappings within each other: people write three or four; a thousand of them
# would use up the stack.
_DEEPEST = 20
MOST_NODES = 10_000  # with every alias written out; a long profile has a thousand


def front_matter(text: str) -> tuple[dict[str, object], str, str]:
    """The fields, the body, and what is wrong with the front matter, if anything."""
    opening = _OPENING.match(text)
    if not opening:
        return {}, text, ""
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        return {}, text, "front matter opened with --- and never closed"
    block = text[opening.end() : closing.start()]
    if len(block) > LARGEST_CHARS:
        return {}, text, f"front matter longer than {LARGEST_CHARS:,} characters"
    fields, problem = mapping(block, "front matter", first_line=2)
    return fields, text if problem else text[closing.end() :], problem


def without_front_matter(text: str) -> str:
    """The body alone: front matter that is not valid YAML, as with a colon in a description, is
    still none of it."""
    _, body, problem = front_matter(text)
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if problem and opening else None
    if opening and closing and _FIELD.match(text, opening.end()):
        return text[closing.end() :]
    return body


def mapping(block: str, what: str = "it", first_line: int = 1) -> tuple[dict[str, object], str]:
    """A YAML text as names and values, and what is wrong with it, if anything."""
    import yaml

    if len(block) > LARGEST_YAML_CHARS:
        return {}, f"{what} has more than {LARGEST_YAML_CHARS:,} characters: not looked into"
    try:
        problem = _unsafe(block, what)
        loaded = None if problem else yaml.load(block, _loader())
    except yaml.MarkedYAMLError as error:
        return {}, f"{what} is not valid YAML: {_error_line(error, first_line)}"
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        return {}, f"{what} is not valid YAML: {error}".splitlines()[0]
    if not problem and not isinstance(loaded, dict | None):
        problem = f"{what} must be a mapping of names to values, not {_type_name(loaded)}"
    if problem:
        return {}, problem
    return {str(key): value for key, value in (loaded or {}).items()}, ""


def _unsafe(block: str, what: str) -> str:
    """What makes it costly or unsafe to load: aliases that make bombs, and deep nesting."""
    import yaml

    from foreword.recipe.yaml_size import find_trap

    trap = find_trap(yaml.parse(block, _loader()), most_nodes=MOST_NODES, deepest=_DEEPEST)
    return f"{what} is not read: {trap[0]}" if trap is not None else ""


def repeated_key(block: str) -> str:
    """A name that one mapping of a YAML text has twice, so that the first would be lost; nothing
    where each is there once."""
    import yaml

    open_nodes = [yaml.compose(block, _loader())]
    while open_nodes:
        node = open_nodes.pop()
        members = node.value if isinstance(node, yaml.CollectionNode) else ()
        seen = set[str]()
        for member in members:
            key, value = member if isinstance(member, tuple) else (None, member)
            open_nodes.append(value)
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    return f"{key.value!r} is there twice (line {key.start_mark.line + 1})"
                seen.add(key.value)
    return ""


def line_of(block: str, place: Sequence[str | int]) -> int:
    """The line of a YAML text where a value stands, by the names and numbers that lead to it; the
    last line on the way that is there."""
    import yaml

    node = yaml.compose(block, _loader())
    line = 1
    for step in place:
        pairs = list[tuple[Any, Any]]()
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == step]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            pairs = [(value, value) for value in node.value[step : step + 1]]
        for key, value in pairs:
            line = key.start_mark.line + 1
            node = value
    return line


@cache
def _loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("FrontMatterLoader", (base,), {})
    loader.add_constructor("tag:yaml.org,2002:timestamp", base.construct_scalar)
    return loader


def _error_line(error: Any, first_line: int) -> str:
    """A YAML error on one line, counted from the top of the file."""
    mark = error.problem_mark or error.context_mark
    where = f" (line {mark.line + first_line})" if mark else ""
    return f"{error.problem or error.context}{where}"


def _type_name(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "plain text"
    return "a single value"
