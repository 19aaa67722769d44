"""The shapes of nodes: of any node, and of the configuration of each type that can be run.

Loaded where a node is checked or described; the rest of `plan` works on plain mappings. Which types
there are, and what else must hold of them, is said by `node`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, Strict, WrapValidator
from pydantic import ValidatorFunctionWrapHandler as Handler

from foreword.pattern import lazy_pattern
from foreword.plan import templates
from foreword.plan.condition import OPERATORS
from foreword.plan.validation import (
    FilledText,
    Flag,
    Identity,
    Shape,
    Text,
    Whole,
    one_of,
    wrong_kind,
    wrong_word,
)
from foreword.plan.value_schema import TYPES

# Of one node: longer than any page takes to load, and no run is stuck for ever.
LONGEST_WAIT_SECONDS = 600
DIALOG_ANSWERS = ("accept", "dismiss")
_NAME = lazy_pattern(r"[^\W\d]\w{0,99}")  # of a loop's variable
# Behind the node's own name, `node7.`, it has to fit the 200 characters of a variable's name.
_VARIABLE = lazy_pattern(r"[^\x00-\x1f\x7f{}\[\]\"']{1,180}")


class NodeShape(Shape):
    """A node of a workflow, of whatever type; fields that are not named here are kept."""

    id: Identity
    position: Whole
    type: FilledText
    config: dict[Any, Any] | None = None
    description: Text | None = None
    relationships: list[Any] | dict[Any, Any] | None = None
    status: Text | None = None


def _one_word(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise wrong_kind("one word of letters, digits and _")
    return text


def _variable_name(text: object) -> object:
    if not isinstance(text, str) or not text.strip() or not _VARIABLE.fullmatch(text):
        raise wrong_kind("a name of up to 180 characters without brackets or quotes")
    return text


def _unless_template(value: object, check: Handler) -> object:
    return value if templates.is_template(value) else check(value)


def _list_or_template(value: object) -> object:
    if not isinstance(value, list | tuple) and not templates.is_template(value):
        raise wrong_kind("a list or a template that is one")
    return value


def _field_source(value: object) -> object:
    if isinstance(value, str):
        return {"selector": value}
    if not isinstance(value, Mapping):
        raise wrong_kind("a selector, or a mapping with selector and attribute")
    if not value:
        raise wrong_kind("a mapping with a selector, an attribute, or both")
    return value


def _type_names(value: object) -> object:
    names = value if isinstance(value, list | tuple) else [value]
    for name in names:
        if name is not None and name not in TYPES:
            raise wrong_word(name, tuple(TYPES))
    return value


Variable = Annotated[str, BeforeValidator(_variable_name)]
Limit = Annotated[float, Strict()]


class NodeConfig(Shape):
    """What a node is configured with."""

    model_config = ConfigDict(extra="forbid")


class SchemaShape(NodeConfig):
    """What an extracted value should look like. A keyword that is not known is a problem: it would
    be believed to hold."""

    type: Annotated[Any, BeforeValidator(_type_names)] = None
    properties: dict[str, SchemaShape] | None = None
    required: list[Text] | None = None
    additionalProperties: Flag | None = None  # noqa: N815 - the words of JSON Schema
    items: SchemaShape | None = None
    enum: list[Any] | None = None
    const: Any = None
    minItems: Limit | None = None  # noqa: N815
    maxItems: Limit | None = None  # noqa: N815
    minLength: Limit | None = None  # noqa: N815
    maxLength: Limit | None = None  # noqa: N815
    minimum: Limit | None = None
    maximum: Limit | None = None
    title: Any = None
    description: Any = None
    default: Any = None
    examples: Any = None
    dialect: Any = Field(None, alias="$schema")
    id: Any = Field(None, alias="$id")
    comment: Any = Field(None, alias="$comment")


class NavigateConfig(NodeConfig):
    """An address to open."""

    url: FilledText
    tab: FilledText | None = None


class DialogConfig(NodeConfig):
    """What is answered where the page asks something meanwhile; without it, no."""

    dialog: Annotated[str, one_of(DIALOG_ANSWERS)] | None = None
    dialog_text: Text | None = None  # for a question that wants a text


class ClickConfig(DialogConfig):
    """Something to click."""

    selector: FilledText
    tab: FilledText | None = None


class PressConfig(DialogConfig):
    """Keys to press, on an element or where the page has its focus."""

    keys: FilledText
    selector: FilledText | None = None
    tab: FilledText | None = None


class TypeConfig(NodeConfig):
    """A text to type."""

    selector: FilledText
    text: Text
    tab: FilledText | None = None


class WaitConfig(NodeConfig):
    """What to wait for."""

    selector: FilledText | None = None
    url: FilledText | None = None
    seconds: Annotated[
        float | None,
        Strict(),
        Field(gt=0, le=LONGEST_WAIT_SECONDS),
        WrapValidator(_unless_template),
    ] = None
    tab: FilledText | None = None


class FieldSource(NodeConfig):
    """Where a field of what is extracted comes from."""

    selector: FilledText | None = None
    attribute: FilledText | None = None


class ExtractConfig(NodeConfig):
    """What to extract, and the variable that it goes into."""

    selector: FilledText
    variable: Variable
    many: Flag | None = None
    fields: (
        Annotated[
            dict[str, Annotated[FieldSource, BeforeValidator(_field_source)]], Field(min_length=1)
        ]
        | None
    ) = None
    value_schema: SchemaShape | None = Field(None, alias="schema")
    tab: FilledText | None = None


class ConditionConfig(NodeConfig):
    """What is compared with what."""

    left: Any
    operator: Annotated[str, one_of(OPERATORS)]
    right: Any = None


class LoopConfig(NodeConfig):
    """What is gone through, and the name of what is at hand."""

    over: Annotated[Any, BeforeValidator(_list_or_template)]
    name: Annotated[str, Strict(), AfterValidator(_one_word)] = Field(alias="as")
    most: Annotated[int, Strict(), Field(ge=1)] | None = None


class VariableConfig(NodeConfig):
    """A variable, and its value."""

    variable: Variable
    value: Any


CONFIGS: dict[str, type[NodeConfig]] = {
    "navigate": NavigateConfig,
    "click": ClickConfig,
    "press": PressConfig,
    "type": TypeConfig,
    "wait": WaitConfig,
    "extract": ExtractConfig,
    "condition": ConditionConfig,
    "loop": LoopConfig,
    "set_variable": VariableConfig,
}
