"""The shapes of nodes: of any node, and of the configuration of each type that can be run.

Loaded where a node is checked or described; the rest of `plan` works on plain mappings. What is
done on a page is in `page_action_shape`; which types there are, and what else must hold of them, is
said by `node`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from foreword.pattern import lazy_pattern
from foreword.plan import page_action_shape, templates
from foreword.plan.condition import OPERATORS
from foreword.plan.page_action_shape import NodeConfig, Variable
from foreword.plan.validation import (
    FilledText,
    Identity,
    Shape,
    Text,
    Whole,
    one_of,
    wrong_kind,
)

_NAME = lazy_pattern(r"[^\W\d]\w{0,99}")  # of a loop's variable


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


def _list_or_template(value: object) -> object:
    if not isinstance(value, list | tuple) and not templates.is_template(value):
        raise wrong_kind("a list or a template that is one")
    return value


class ConditionConfig(NodeConfig):
    """Do one thing or another: the nodes inside, or those on the other side."""

    left: Any = Field(description="What is compared, such as {{node7.total}}.")
    operator: Annotated[str, one_of(OPERATORS)] = Field(
        description="How.", json_schema_extra={"enum": list(OPERATORS)}
    )
    right: Any = Field(None, description="With what; empty and not_empty need nothing.")


class LoopConfig(NodeConfig):
    """Do the nodes inside for each element of a list."""

    over: Annotated[Any, BeforeValidator(_list_or_template)] = Field(
        description="The list, such as {{node7.rows}}."
    )
    name: Annotated[str, Strict(), AfterValidator(_one_word)] = Field(
        alias="as", description="What each is called inside: as row, {{row.name}}."
    )
    most: Annotated[int, Strict(), Field(ge=1)] | None = Field(
        None, description="How many at most."
    )


class VariableConfig(NodeConfig):
    """Set a variable."""

    variable: Variable = Field(description="Its name.")
    value: Any = Field(description="A text, a template, or any JSON.")


CONFIGS: dict[str, type[NodeConfig]] = {
    "navigate": page_action_shape.NavigateConfig,
    "click": page_action_shape.ClickConfig,
    "press": page_action_shape.PressConfig,
    "type": page_action_shape.TypeConfig,
    "wait": page_action_shape.WaitConfig,
    "extract": page_action_shape.ExtractConfig,
    "condition": ConditionConfig,
    "loop": LoopConfig,
    "set_variable": VariableConfig,
}
