"""What a tool of a director is: a name, a description, what it takes, and what it does.

The tools themselves are in `tool_table` and `debug_tools`; what they work on is a `ToolContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from foreword import aliases
from foreword.director.tool_context import ToolContext
from foreword.messages.message import Kind
from foreword.models import ToolSpec
from foreword.operations.operation import OperationInput, read_input
from foreword.operations.tool_schema import input_schema

Arguments = dict[str, Any]
Answer = Mapping[str, Any]
Run = Callable[[ToolContext, Arguments], Answer]
# Characters of a text that is not kept as a value: a question or a selector is shorter, and a model
# that sends a whole file in one is told so.
LONGEST_TEXT = 100_000
ToolText = Annotated[str, Field(max_length=LONGEST_TEXT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorTool:
    """One tool."""

    name: str
    about: str
    run: Run
    takes: type[OperationInput]
    kind: Kind = "conversation"  # of the message that tells its result
    reads: bool = False  # whether it changes nothing

    @property
    def schema(self) -> dict[str, Any]:
        """What it takes, as JSON Schema."""
        return {**input_schema(self.takes), "additionalProperties": False}

    @property
    def parameters(self) -> dict[str, Any]:
        """The schemas of its arguments, by their names."""
        parameters: dict[str, Any] = self.schema["properties"]
        return parameters

    @property
    def needs(self) -> tuple[str, ...]:
        """The arguments that must be given."""
        return tuple(self.schema.get("required", ()))

    def read(self, arguments: object) -> Arguments:
        """The arguments that were given, or `BadRequest`; null stands for one that was not, unless
        it is a value."""
        read_input(self.takes, arguments)
        assert isinstance(arguments, dict)
        given = Arguments()
        for name, value in aliases.rename(arguments, self.takes.model_fields).items():
            if value is not None or name in self.needs:
                given[name] = value
        return given

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        return ToolSpec(self.name, self.about, self.schema)

    @property
    def is_debugging(self) -> bool:
        """Whether its failure stops what was to follow in the same reply: the page is not where
        that needs it."""
        return self.name.startswith("debug_")
