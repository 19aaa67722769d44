"""The nodes that can be run: which types there are, and what each is configured with.

A workflow may hold nodes of any other type, from elsewhere; those are shown and not run. What a
type does is the business of `director.node_turn`; where nodes stand, that of `node_tree`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foreword import aliases
from foreword.errors import BadNode
from foreword.plan import condition_operators, templates
from foreword.plan.value_words import depth_problems, not_one_of, value_in_words
from foreword.secrets.placeholders import HIDDEN

# Of a loop that does not say how many it may have: a list that is longer than meant is noticed
# before it has clicked its way through a mailbox.
MOST_TURNS = 1_000
BRANCHES = ("then", "else")
BROWSER_ACTION = "browser_action"  # a type whose `action` names the type that is meant
NEXT = "/next"  # how the key of a step ends that leads a loop to the next page


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """What is known of a type of node, beside the shape of its configuration (`node_shape`)."""

    one_of: tuple[str, ...] = ()  # fields of which exactly one is given
    in_browser: bool = True
    acts: bool = False  # may change something for good, so that it is never repeated unasked
    loads: bool = False  # may load another page, on which nothing is typed yet
    fills: bool = False  # a field, which is empty again once its page is loaded anew
    holds: bool = False  # other nodes


_COMPARISONS = ("operator", "present", "absent")
TYPES: dict[str, Type] = {
    "navigate": Type(loads=True),
    "click": Type(acts=True, loads=True),
    "type": Type(fills=True),
    "press": Type(acts=True, loads=True),
    "select": Type(fills=True),
    "hover": Type(),
    "drag": Type(acts=True, loads=True),
    "scroll": Type(),
    "wait": Type(one_of=("selector", "gone", "text", "url", "quiet", "seconds")),
    "extract": Type(),
    "upload": Type(acts=True),
    "download": Type(acts=True, loads=True),
    "screenshot": Type(),
    "back": Type(loads=True),
    "reload": Type(loads=True),
    "http_login": Type(),
    "condition": Type(one_of=_COMPARISONS, in_browser=False, holds=True),
    "loop": Type(one_of=("over", "next", "while", "until"), in_browser=False, holds=True),
    "break": Type(in_browser=False),
    "set_variable": Type(in_browser=False),
}
# a number that a template gives is written out in these
_TEXT_FIELDS = (
    "url selector text keys dialog_text tab to gone present absent next username password"
).split()
# null is a value in these, and no value in all others
_NULLABLE_FIELDS = ("left", "right", "value")


def holds_nodes(kind: object) -> bool:
    """Whether nodes of a type have others inside them."""
    return str(kind) in TYPES and TYPES[str(kind)].holds


def named_type(kind: object, config: object) -> tuple[object, object]:
    """Return a node's type and configuration; those of a browser action are the ones that its
    `action` names."""
    if kind != BROWSER_ACTION or not isinstance(config, Mapping):
        return kind, config
    action = str(config.get("action"))
    if action not in TYPES:
        return kind, config
    return action, {name: config[name] for name in config if name != "action"}


def own_names(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with the fields of its type that it has under other names alone
    under their own; every other key stays."""
    from foreword.plan import node_shape, validation  # pydantic, for those who check alone

    fields = validation.field_names(node_shape.CONFIGS[kind]) if kind in TYPES else ()
    keys = aliases.other_keys(config, fields)
    own = {key: field for field, key in keys.items() if field not in config}
    return {own.get(key, key): value for key, value in config.items()}


def fitting_fields(
    kind: object, config: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of a configuration that a node of this type can keep beside those that are
    given: known to it, of a value that it takes, and no alternative to one that is given."""
    from foreword.plan import node_shape, validation  # pydantic, for those who check alone

    if kind not in TYPES:
        return dict(config)
    known = validation.field_names(node_shape.CONFIGS[str(kind)])
    choices = TYPES[str(kind)].one_of
    is_chosen = any(given.get(name) is not None for name in choices)
    problems = _shape_problems(str(kind), config)
    fitting = {}
    for name, value in config.items():
        is_problem = any(problem.startswith(f"config.{name}") for problem in problems)
        if name in known and not is_problem and not (is_chosen and name in choices):
            fitting[name] = value
    return fitting


def validate_node(
    kind: object, config: object, description: object = "", where: str = "node"
) -> tuple[str, dict[str, Any]]:
    """Return the type and the configuration of a node that can be run; `BadNode` with every
    problem."""
    kind, config = named_type(kind, config)
    found = list(problems(kind, config, description))
    if found or not isinstance(config, Mapping):
        raise BadNode(found, where)
    named = own_names(str(kind), config)
    return str(kind), {name: named[name] for name in named if _is_given(name, named[name])}


def _is_given(name: object, value: object) -> bool:
    return value is not None or name in _NULLABLE_FIELDS


def problems(kind: object, config: object, description: object = "") -> Iterator[str]:
    """Why a node of this type can't be run, each with the path to it; nothing if it can."""
    if kind not in TYPES:
        yield f"type: {not_one_of(kind, tuple(TYPES))}"
    if not isinstance(description, str):
        yield f"description: must be text, not {value_in_words(description)}"
    if not isinstance(config, Mapping):
        yield f"config: must be a mapping, not {value_in_words(config)}"
        return
    too_deep = depth_problems(config)
    yield from too_deep
    if too_deep or kind not in TYPES:
        return
    config = own_names(str(kind), config)
    yield from _shape_problems(str(kind), config)
    yield from _choice_problems(TYPES[str(kind)], config)
    if kind == "condition":
        yield from _operator_problems(config, "config")
    if kind == "loop":
        yield from _loop_problems(config)
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
    found = _shape_problems(kind, filled)
    if found:
        raise BadNode(found)
    return filled


def _shape_problems(kind: str, config: Mapping[str, Any]) -> list[str]:
    from foreword.plan import node_shape, validation  # pydantic, for those who check alone

    return validation.problems(node_shape.CONFIGS[kind], config, ("config",))


def _choice_problems(known: Type, config: Mapping[Any, object]) -> Iterator[str]:
    yield from _one_of_problems(known.one_of, config, "config")


def _one_of_problems(
    names: Sequence[str], config: Mapping[Any, object], path: str
) -> Iterator[str]:
    given = [name for name in names if config.get(name) not in (None, False)]
    if names and len(given) != 1:
        yield f"{path}: must have exactly one of {', '.join(names)}"


def _operator_problems(config: Mapping[Any, object], path: str) -> Iterator[str]:
    operator = config.get("operator")
    if operator is None:
        for name in ("left", "right"):
            if name in config and config.get("present", config.get("absent")) is not None:
                yield f"{path}.{name}: is compared by an operator, and there is none"
    if operator not in condition_operators.OPERATORS:
        return
    if "left" not in config:
        yield f"{path}.left: missing"
    if operator in condition_operators.UNARY and "right" in config:
        yield f"{path}.right: {operator} looks at the left side alone"
    if operator not in condition_operators.UNARY and "right" not in config:
        yield f"{path}.right: missing, {operator} compares with it"


def _loop_problems(config: Mapping[Any, object]) -> Iterator[str]:
    if config.get("over") is not None and config.get("as") is None:
        yield "config.as: missing, each element of the list has a name"
    for name in ("while", "until"):
        comparison = config.get(name)
        if isinstance(comparison, Mapping):
            path = f"config.{name}"
            yield from _one_of_problems(_COMPARISONS, comparison, path)
            yield from _operator_problems(comparison, path)


def goes_on(node: Mapping[str, Any]) -> bool:
    """Whether a run goes on with the next node where this one fails."""
    return (node.get("config") or {}).get("on_failure") == "go_on"


def acts(node: Mapping[str, Any], key: str = "") -> bool:
    """Whether a step of a node may change something for good; of a loop over pages, the click
    that leads to the next (`key` is the step's)."""
    kind = str(node.get("type"))
    if kind == "loop":
        return key.endswith(NEXT)
    return kind in TYPES and TYPES[kind].acts
