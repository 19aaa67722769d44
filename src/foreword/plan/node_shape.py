"""The shapes of nodes: of any node, and of the configuration of each type that can be run.

Loaded where a node is checked or described; the rest of `plan` works on plain mappings. What is
done on a page is in `page_action_shape`; which types there are, and what else must hold of them, is
said by `node`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, Strict

from foreword.pattern import lazy_pattern
from foreword.plan import page_action_shape
from foreword.plan.condition_operators import OPERATORS
from foreword.plan.page_action_shape import NodeConfig, Variable, list_or_template, words
from foreword.plan.validation import (
    DataShape,
    FilledText,
    Flag,
    Identity,
    Text,
    Whole,
    one_of,
    wrong_kind,
)

_NAME = lazy_pattern(r"[^\W\d]\w{0,99}")  # of a loop's variable


class NodeShape(DataShape):
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


class Comparison(NodeConfig):
    """Something that holds or not: two values, or what is on the page."""

    left: Any = Field(None, description="What is compared, such as {{node7.total}}.")
    operator: Annotated[str, one_of(OPERATORS)] | None = words(OPERATORS, "How it is compared.")
    right: Any = Field(None, description="With what; empty and not_empty need nothing.")
    present: FilledText | None = Field(
        None, description="Or: a selector, of something that is on the page."
    )
    absent: FilledText | None = Field(
        None, description="Or: a selector, of something that is not on the page."
    )


class ConditionConfig(Comparison):
    """Do one thing or another: the nodes inside, or those on the other side."""


class LoopConfig(NodeConfig):
    """Do the nodes inside again and again: for each of a list, page by page, while or until
    something holds."""

    over: Annotated[Any, BeforeValidator(list_or_template)] = Field(
        None, description="For each element of this list, such as {{node7.rows}}."
    )
    name: Annotated[str, Strict(), AfterValidator(_one_word)] | None = Field(
        None,
        alias="as",
        description="What each is called inside: as row, {{row.name}}; else the turn's number.",
    )
    next_page: FilledText | None = Field(
        None,
        alias="next",
        description="Or: page by page; this is clicked after each turn, until it is not there.",
    )
    while_holds: Comparison | None = Field(
        None, alias="while", description="Or: as long as this holds, asked before each turn."
    )
    until_holds: Comparison | None = Field(
        None, alias="until", description="Or: until this holds, asked after each turn."
    )
    most: Annotated[int, Strict(), Field(ge=1)] | None = Field(
        None, description="How many turns at most; without it, 1,000."
    )


class BreakConfig(NodeConfig):
    """Leave the loop that it stands in."""


class VariableConfig(NodeConfig):
    """Set a variable."""

    variable: Variable = Field(description="Its name.")
    value: Any = Field(description="A text, a template, or any JSON.")
    append: Flag | None = Field(
        None, description="Add it to the list that the variable holds; of a list, its elements."
    )


CONFIGS: dict[str, type[NodeConfig]] = {
    "navigate": page_action_shape.NavigateConfig,
    "click": page_action_shape.ClickConfig,
    "type": page_action_shape.TypeConfig,
    "press": page_action_shape.PressConfig,
    "select": page_action_shape.SelectConfig,
    "hover": page_action_shape.HoverConfig,
    "drag": page_action_shape.DragConfig,
    "scroll": page_action_shape.ScrollConfig,
    "wait": page_action_shape.WaitConfig,
    "extract": page_action_shape.ExtractConfig,
    "upload": page_action_shape.UploadConfig,
    "download": page_action_shape.DownloadConfig,
    "screenshot": page_action_shape.ScreenshotConfig,
    "back": page_action_shape.BackConfig,
    "reload": page_action_shape.ReloadConfig,
    "http_login": page_action_shape.HttpLoginConfig,
    "condition": ConditionConfig,
    "loop": LoopConfig,
    "break": BreakConfig,
    "set_variable": VariableConfig,
}
