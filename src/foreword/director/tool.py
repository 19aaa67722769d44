"""What a tool of a director is: a name, a description, what it takes, and what it does.

The tools themselves are in `tools` and `debug_tools`; what they work on is a `ToolContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from foreword.director.tool_context import ToolContext
from foreword.message import Kind
from foreword.models import ToolSpec

Arguments = dict[str, Any]
Answer = Mapping[str, Any]
Run = Callable[[ToolContext, Arguments], Answer]
TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}
OBJECT = {"type": "object"}
ANY = {"description": "Any JSON."}
REASON = {"reason": TEXT}


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorTool:
    """One tool."""

    name: str
    about: str
    run: Run
    takes: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    kind: Kind = "conversation"  # of the message that tells its result
    reads: bool = False  # whether it changes nothing

    @property
    def schema(self) -> dict[str, Any]:
        """What it takes, as JSON Schema."""
        schema: dict[str, Any] = {"type": "object", "properties": dict(self.takes)}
        if self.needs:
            schema["required"] = list(self.needs)
        schema["additionalProperties"] = False
        return schema

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        return ToolSpec(self.name, self.about, self.schema)

    @property
    def is_debugging(self) -> bool:
        """Whether its failure stops what was to follow in the same reply: the page is not where
        that needs it."""
        return self.name.startswith("debug_")
