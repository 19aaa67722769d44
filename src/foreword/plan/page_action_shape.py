"""What can be done on a page, and what each takes: described once, for nodes, debug actions, the
forms of the page and the documentation.

A class says what it does in its first line and what each field is in its description. Who does it
is `browser.page_actions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, Strict, WrapValidator
from pydantic import ValidatorFunctionWrapHandler as Handler

from foreword.pattern import lazy_pattern
from foreword.plan import templates
from foreword.plan.validation import FilledText, Flag, Shape, Text, one_of, wrong_kind, wrong_word
from foreword.plan.value_schema import TYPES

# Of one node: longer than any page takes to load, and no run is stuck for ever.
LONGEST_WAIT_SECONDS = 600
DIALOG_ANSWERS = ("accept", "dismiss")
# Behind the node's own name, `node7.`, it has to fit the 200 characters of a variable's name.
_VARIABLE = lazy_pattern(r"[^\x00-\x1f\x7f{}\[\]\"']{1,180}")


def _variable_name(text: object) -> object:
    if not isinstance(text, str) or not text.strip() or not _VARIABLE.fullmatch(text):
        raise wrong_kind("a name of up to 180 characters without brackets or quotes")
    return text


def _unless_template(value: object, check: Handler) -> object:
    return value if templates.is_template(value) else check(value)


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
Seconds = Annotated[
    float,
    Strict(),
    Field(gt=0, le=LONGEST_WAIT_SECONDS),
    WrapValidator(_unless_template),
]


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


class TabConfig(NodeConfig):
    """What is done on a page."""

    tab: FilledText | None = Field(
        None, description="The name of the tab; without it, the workflow's own."
    )


class NavigateConfig(TabConfig):
    """Open an address."""

    url: FilledText = Field(description="The address, with http:// or https://.")


class DialogConfig(TabConfig):
    """What is answered where the page asks something meanwhile; without it, no."""

    dialog: Annotated[str, one_of(DIALOG_ANSWERS)] | None = Field(
        None,
        description="The answer to what the page asks by it; without it, dismiss.",
        json_schema_extra={"enum": list(DIALOG_ANSWERS)},
    )
    dialog_text: Text | None = Field(
        None, description="What is typed into a question that wants a text."
    )


class ClickConfig(DialogConfig):
    """Click an element."""

    selector: FilledText = Field(description="What is clicked.")


class PressConfig(DialogConfig):
    """Press keys."""

    keys: FilledText = Field(
        description="Names of keys with spaces between: Enter, Control+a, Tab Tab Enter."
    )
    selector: FilledText | None = Field(
        None, description="Where; without it, where the page has its focus."
    )


class TypeConfig(TabConfig):
    """Type a text into a field, or choose from a list."""

    selector: FilledText = Field(description="The field or the list.")
    text: Text = Field(
        description="The text; {{creds.password}} for what a variable holds.",
        json_schema_extra={"format": "multiline"},
    )


class WaitConfig(TabConfig):
    """Wait for an element, an address, or some seconds."""

    selector: FilledText | None = Field(None, description="Until this is there.")
    url: FilledText | None = Field(
        None, description="Until the address has this in it; * stands for anything."
    )
    seconds: Seconds | None = Field(None, description="So many seconds.")


class FieldSource(NodeConfig):
    """Where a field of what is extracted comes from."""

    selector: FilledText | None = Field(None, description="Inside the element.")
    attribute: FilledText | None = Field(None, description="Of it, such as href; else its text.")


class ExtractConfig(TabConfig):
    """Read texts, or named fields, of an element or of all that match."""

    selector: FilledText = Field(description="The element, or each row.")
    variable: Variable = Field(
        description="The name of what is read: node7.NAME, for {{node7.NAME}} in later nodes."
    )
    many: Flag | None = Field(None, description="All that match, as a list.")
    fields: (
        Annotated[
            dict[str, Annotated[FieldSource, BeforeValidator(_field_source)]], Field(min_length=1)
        ]
        | None
    ) = Field(None, description="What is read of each; without it, its text.")
    value_schema: SchemaShape | None = Field(
        None, alias="schema", description="What it must look like, as JSON Schema."
    )
