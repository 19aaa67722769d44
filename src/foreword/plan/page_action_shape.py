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
from foreword.plan.validation import (
    DataShape,
    FilledText,
    Flag,
    Text,
    one_of,
    wrong_kind,
    wrong_word,
)
from foreword.plan.value_schema import TYPES

# Of one node: longer than any page takes to load, and no run is stuck for ever.
LONGEST_WAIT_SECONDS = 600
DIALOG_ANSWERS = ("accept", "dismiss")
BUTTONS = ("left", "right", "middle")
SCROLL_ENDS = ("top", "bottom", "end")
ON_FAILURE = ("stop", "go_on")
MOST_RETRIES = 10  # of one node: what has failed eleven times fails the twelfth time, too
# Behind the node's own name, `node7.`, it has to fit the 200 characters of a variable's name.
_VARIABLE = lazy_pattern(r"[^\x00-\x1f\x7f{}\[\]\"']{1,180}")


def _variable_name(text: object) -> object:
    if not isinstance(text, str) or not text.strip() or not _VARIABLE.fullmatch(text):
        raise wrong_kind("a name of up to 180 characters without brackets or quotes")
    return text


def _unless_template(value: object, check: Handler) -> object:
    return value if templates.is_template(value) else check(value)


def list_or_template(value: object) -> object:
    """The check of a field that is a list, or a template that becomes one."""
    if not isinstance(value, list | tuple) and not templates.is_template(value):
        raise wrong_kind("a list or a template that is one")
    return value


def words(options: tuple[str, ...], description: str) -> Any:
    """The description of a field that is one of a few words."""
    return Field(None, description=description, json_schema_extra={"enum": list(options)})


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


class NodeConfig(DataShape):
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
    """What is done in a tab."""

    tab: FilledText | None = Field(
        None, description="The name of the tab; without it, the workflow's own."
    )
    timeout: Seconds | None = Field(
        None, description="How many seconds it may take; without it, the browser's own limits."
    )
    retries: Annotated[int, Strict(), Field(ge=0, le=MOST_RETRIES)] | None = Field(
        None, description="How often it is tried again when it fails, unless it may have happened."
    )
    on_failure: Annotated[str, one_of(ON_FAILURE)] | None = words(
        ON_FAILURE, "Whether the run stops when it fails, or goes on; without it, it stops."
    )


class NavigateConfig(TabConfig):
    """Open an address."""

    url: FilledText = Field(description="The address, with http:// or https://.")


class BackConfig(TabConfig):
    """Go back to the page before."""


class ReloadConfig(TabConfig):
    """Load the page again."""


class DialogConfig(TabConfig):
    """What is answered where the page asks something meanwhile; without it, no."""

    dialog: Annotated[str, one_of(DIALOG_ANSWERS)] | None = words(
        DIALOG_ANSWERS, "The answer to what the page asks by it; without it, dismiss."
    )
    dialog_text: Text | None = Field(
        None, description="What is typed into a question that wants a text."
    )


class ClickedConfig(DialogConfig):
    """What is clicked."""

    selector: FilledText = Field(description="What is clicked.")
    row: Text | None = Field(
        None,
        description="The text of its row, as inspect_tab shows it; no other row is clicked.",
    )


class ClickConfig(ClickedConfig):
    """Click an element."""

    button: Annotated[str, one_of(BUTTONS)] | None = words(BUTTONS, "Of the mouse; else left.")
    double: Flag | None = Field(None, description="Twice, as a double click.")


class HoverConfig(TabConfig):
    """Move the mouse over an element."""

    selector: FilledText = Field(description="Over what.")


class DragConfig(DialogConfig):
    """Drag an element onto another one."""

    selector: FilledText = Field(description="What is dragged.")
    to: FilledText = Field(description="Onto what, as a selector.")


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
    slowly: Flag | None = Field(
        None, description="Key by key behind what is there, for fields that watch the keys."
    )


class SelectConfig(TabConfig):
    """Choose from a list, one or several."""

    selector: FilledText = Field(description="The list.")
    choices: Annotated[list[Text], BeforeValidator(list_or_template)] | FilledText = Field(
        description="Labels or values, all that are to be chosen.",
        json_schema_extra={"format": "lines"},
    )


class ScrollConfig(TabConfig):
    """Scroll to an element, to an end, or until nothing more comes."""

    selector: FilledText | None = Field(
        None, description="What is brought into view; with `to`, what is scrolled."
    )
    to: Annotated[str, one_of(SCROLL_ENDS)] | None = words(
        SCROLL_ENDS, "end: down again and again, until nothing more comes."
    )


class UploadConfig(TabConfig):
    """Give files to a field, from the project or from what was downloaded."""

    selector: FilledText = Field(description="The field, or the button that asks for files.")
    files: Annotated[list[Text], BeforeValidator(list_or_template)] | FilledText = Field(
        description="Paths inside the project, or of downloads of this workflow.",
        json_schema_extra={"format": "lines"},
    )


class DownloadConfig(ClickedConfig):
    """Click an element and keep the file that comes."""

    variable: Variable = Field(description="The name of the file's path: node7.NAME.")


class ScreenshotConfig(TabConfig):
    """Keep a picture of the page, or of an element; fields of secrets are covered."""

    selector: FilledText | None = Field(None, description="An element; without it, what is seen.")
    whole: Flag | None = Field(None, description="All of the page, and not what is seen of it.")
    variable: Variable | None = Field(None, description="The name of the file's path: node7.NAME.")


class HttpLoginConfig(TabConfig):
    """Answer a site that asks for a name and password before its pages (HTTP authentication)."""

    url: FilledText = Field(description="An address of the site; all of its origin is meant.")
    username: Text = Field(description="The name, such as {{creds.name}}.")
    password: Text = Field(description="The password, such as {{creds.password}}.")


class WaitConfig(TabConfig):
    """Wait until something is there, or gone, or some seconds."""

    selector: FilledText | None = Field(None, description="Until this is there.")
    gone: FilledText | None = Field(None, description="Until this is gone.")
    text: FilledText | None = Field(None, description="Until the page says this.")
    url: FilledText | None = Field(
        None, description="Until the address has this in it; * stands for anything."
    )
    quiet: Flag | None = Field(None, description="Until the page loads nothing more.")
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
    append: Flag | None = Field(
        None,
        description="Add to what it has read in this run, as in a loop over pages.",
    )
    fields: (
        Annotated[
            dict[str, Annotated[FieldSource, BeforeValidator(_field_source)]], Field(min_length=1)
        ]
        | None
    ) = Field(None, description="What is read of each; without it, its text.")
    value_schema: SchemaShape | None = Field(
        None, alias="schema", description="What it must look like, as JSON Schema."
    )
