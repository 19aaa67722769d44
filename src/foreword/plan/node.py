"""The nodes that can be run: which types there are, and what each is configured with.

A workflow may hold nodes of any other type, from elsewhere; those are shown and not run. What a
type does is the business of `director.node_turn`; where nodes stand, that of `node_tree`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from foreword.errors import BadNode, did_you_mean
from foreword.pattern import lazy_pattern
from foreword.plan import condition, shape_check, templates, value_schema
from foreword.plan.shape_check import Rule, value_in_words
from foreword.secrets.placeholders import HIDDEN

# Of one node: longer than any page takes to load, and no run is stuck for ever.
LONGEST_WAIT_SECONDS = 600
# Of a loop that does not say how many it may have: a list that is longer than meant is noticed
# before it has clicked its way through a mailbox.
MOST_TURNS = 1_000
BRANCHES = ("then", "else")
_NAME = lazy_pattern(r"[^\W\d]\w{0,99}")  # of a loop's variable
# Behind the node's own name, `node7.`, it has to fit the 200 characters of a variable's name.
_VARIABLE = lazy_pattern(r"[^\x00-\x1f\x7f{}\[\]\"']{1,180}")


def _or_template(rule: Rule) -> Rule:
    def either(value: object, path: str) -> Iterator[str]:
        if not templates.is_template(value):
            yield from rule(value, path)

    return either


def _seconds(value: object, path: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{path}: must be a number of seconds, not {value_in_words(value)}"
    elif not 0 < value <= LONGEST_WAIT_SECONDS:
        limit = f"more than 0 and at most {LONGEST_WAIT_SECONDS}"
        yield f"{path}: must be {limit}, not {value_in_words(value)}"


def _count(value: object, path: str) -> Iterator[str]:
    yield from shape_check.number(value, path)
    if isinstance(value, int) and not isinstance(value, bool) and value < 1:
        yield f"{path}: must be at least 1, not {value}"


def _name(value: object, path: str) -> Iterator[str]:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        yield f"{path}: must be one word of letters, digits and _, not {value_in_words(value)}"


def _variable(value: object, path: str) -> Iterator[str]:
    if not isinstance(value, str) or not value.strip() or not _VARIABLE.fullmatch(value):
        shape = "a name of up to 180 characters without brackets or quotes"
        yield f"{path}: must be {shape}, not {value_in_words(value)}"


def _list(value: object, path: str) -> Iterator[str]:
    if not isinstance(value, list | tuple):
        yield f"{path}: must be a list or a template that is one, not {value_in_words(value)}"


def _fields(value: object, path: str) -> Iterator[str]:
    yield from shape_check.mapping(value, path)
    if not isinstance(value, Mapping):
        return
    if not value:
        yield f"{path}: must name at least one field"
    for name, extracted in value.items():
        place = f"{path}.{name}"
        if isinstance(extracted, str):
            yield from shape_check.filled_text(extracted, place)
        elif isinstance(extracted, Mapping):
            yield from shape_check.fields({}, _FIELD)(extracted, place)
            yield from _unknown_fields(extracted, tuple(_FIELD), place)
            if not any(extracted.get(key) for key in _FIELD):
                yield f"{place}: must have a selector, an attribute, or both"
        else:
            shape = "a selector, or a mapping with selector and attribute"
            yield f"{place}: must be {shape}, not {value_in_words(extracted)}"


_FIELD: dict[str, Rule] = {
    "selector": shape_check.filled_text,
    "attribute": shape_check.filled_text,
}
_TAB: dict[str, Rule] = {"tab": shape_check.filled_text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """What a type of node is configured with."""

    needed: Mapping[str, Rule]
    optional: Mapping[str, Rule] = field(default_factory=dict)
    one_of: tuple[str, ...] = ()  # fields of which exactly one is given
    in_browser: bool = True
    holds: bool = False  # other nodes

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of all its fields."""
        return (*self.needed, *self.optional)


TYPES: dict[str, Type] = {
    "navigate": Type(needed={"url": shape_check.filled_text}, optional=_TAB),
    "click": Type(needed={"selector": shape_check.filled_text}, optional=_TAB),
    "type": Type(
        needed={"selector": shape_check.filled_text, "text": shape_check.text}, optional=_TAB
    ),
    "wait": Type(
        needed={},
        optional={
            "selector": shape_check.filled_text,
            "url": shape_check.filled_text,
            "seconds": _or_template(_seconds),
            **_TAB,
        },
        one_of=("selector", "url", "seconds"),
    ),
    "extract": Type(
        needed={"selector": shape_check.filled_text, "variable": _variable},
        optional={
            "many": shape_check.yes_or_no,
            "fields": _fields,
            "schema": value_schema.problems,
            **_TAB,
        },
    ),
    "condition": Type(
        needed={"left": shape_check.anything, "operator": shape_check.one_of(condition.OPERATORS)},
        optional={"right": shape_check.anything},
        in_browser=False,
        holds=True,
    ),
    "loop": Type(
        needed={"over": _or_template(_list), "as": _name},
        optional={"most": _count},
        in_browser=False,
        holds=True,
    ),
    "set_variable": Type(
        needed={"variable": _variable, "value": shape_check.anything}, in_browser=False
    ),
}
# a number that a template gives is written out in these
_TEXT_FIELDS = ("url", "selector", "text", "tab")
# null is a value in these, and no value in all others
_NULLABLE_FIELDS = ("left", "right", "value")


def validate_node(
    kind: object, config: object, description: object = "", where: str = "node"
) -> dict[str, Any]:
    """The configuration of a node that can be run, or `BadNode` with every problem."""
    found = list(problems(kind, config, description))
    if found or not isinstance(config, Mapping):
        raise BadNode(found, where)
    return {name: value for name, value in config.items() if _is_given(name, value)}


def _is_given(name: object, value: object) -> bool:
    return value is not None or name in _NULLABLE_FIELDS


def problems(kind: object, config: object, description: object = "") -> Iterator[str]:
    """Why a node of this type can't be run, each with the path to it; nothing if it can."""
    yield from shape_check.one_of(tuple(TYPES))(kind, "type")
    yield from shape_check.text(description, "description")
    if not isinstance(config, Mapping):
        yield f"config: must be a mapping, not {value_in_words(config)}"
        return
    too_deep = list(shape_check.depth(config))
    yield from too_deep
    if too_deep or kind not in TYPES:
        return
    known = TYPES[str(kind)]
    yield from shape_check.fields(known.needed, known.optional)(config, "config")
    yield from _unknown_fields(config, known.fields, "config")
    yield from _choice_problems(known, config)
    if kind == "condition":
        yield from _operator_problems(config)
    # a pattern or an example in a schema may look like a template
    with_templates = {name: value for name, value in config.items() if name != "schema"}
    yield from templates.problems(with_templates, "config")
    for place, text in templates.texts(config, "config"):
        if HIDDEN in text:
            yield (
                f"{place}: {HIDDEN} stands for something that is not shown; leave the field away to"
                " keep what it has"
            )


def validate_filled(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration whose templates are filled, as it is carried out; `BadNode` where a value
    does not do."""
    filled = {}
    for name, value in config.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name in _TEXT_FIELDS and is_number:
            filled[name] = templates.value_as_text(value)
        else:
            filled[name] = value
    known = TYPES[kind]
    found = list(shape_check.fields(known.needed, known.optional)(filled, "config"))
    if found:
        raise BadNode(found)
    return filled


def _unknown_fields(
    config: Mapping[object, object], known: tuple[str, ...], path: str
) -> Iterator[str]:
    for name in config:
        if name not in known:
            guess = did_you_mean(str(name), known)
            instead = f"did you mean {guess!r}?" if guess else f"known: {', '.join(known)}"
            quoted = value_in_words(str(name))
            yield f"{path}.{quoted[1:-1]}: no such field, {instead}"


def _choice_problems(known: Type, config: Mapping[object, object]) -> Iterator[str]:
    given = [name for name in known.one_of if config.get(name) is not None]
    if known.one_of and len(given) != 1:
        yield f"config: must have exactly one of {', '.join(known.one_of)}"


def _operator_problems(config: Mapping[object, object]) -> Iterator[str]:
    operator = config.get("operator")
    if operator not in condition.OPERATORS:
        return
    if operator in condition.UNARY and "right" in config:
        yield f"config.right: {operator} looks at the left side alone"
    if operator not in condition.UNARY and "right" not in config:
        yield f"config.right: missing, {operator} compares with it"
