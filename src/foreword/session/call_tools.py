"""The tools that go with the calls of a conversation: what they take, and how a model is told of
them.

One rule for both ways to name them: those of `Session.open` go with every call, those of
`context(tools=)` stand in their place from that call on. They are kept free of the budget, they
count towards the limits, and a summary is asked for with them, as a provider's cache needs it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from foreword.errors import EssentialsTooLarge, UsageError
from foreword.models import ToolSpec
from foreword.section import Budget
from foreword.tokens import Counter

# What providers call the JSON Schema of a function's arguments.
_PARAMETERS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_DECLARATIONS = ("functionDeclarations", "function_declarations")  # Gemini's tool of many functions
_FUNCTION_TYPES = (None, "function", "custom")
TOOLS = "tools"  # the step of a budget that they are
TOOLS_PART = "tool_definitions"  # the part of a call that they are
NOT_KNOWN = "the tools of the last call are not known here"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTools:
    """The tools of a call: what they take, and what tells them from others."""

    tokens: int = 0
    digest: str = ""  # nothing where there are none
    specs: tuple[ToolSpec, ...] = ()
    problem: str = ""  # why a model can't be told of them here
    is_known: bool = True  # else only what they took the last time


def read_tools(tools: Iterable[object], counter: Counter) -> CallTools:
    """Tools as a provider takes them (dicts, or the objects of an SDK) or as `ToolSpec`s."""
    definitions = [_definition(tool) for tool in tools]
    if not definitions:
        return CallTools()
    try:
        tokens = counter.count(json.dumps(definitions, ensure_ascii=False))
        specs, is_known = _specs(definitions)
        compared = [_definition(spec) for spec in specs] if is_known else definitions
        written = json.dumps(compared, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"the tools can't be counted: {error}",
            hint="give their definitions as the provider takes them: a list of dicts",
        ) from None
    return CallTools(
        tokens=tokens,
        digest=blake2b(written.encode(), digest_size=12).hexdigest(),
        specs=tuple(specs) if is_known else (),
        problem="" if is_known else "not all tools are functions with a name and parameters",
    )


def less_tools(budget: Budget, tool_tokens: int) -> Budget:
    """The budget without what tools take of it."""
    if not tool_tokens:
        return budget
    left = budget.tokens - tool_tokens
    if left <= 0:
        sizes = {TOOLS: tool_tokens}
        raise EssentialsTooLarge(needed=tool_tokens + 1, budget=budget.tokens, sections=sizes)
    steps = (*budget.steps[:-1], (TOOLS, -tool_tokens), ("budget", left))
    return replace(budget, tokens=left, steps=steps)


def _definition(tool: object) -> object:
    if isinstance(tool, ToolSpec):
        return {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        }
    dump = getattr(tool, "model_dump", None)
    return dump(exclude_none=True) if dump else tool


def _specs(definitions: Iterable[object]) -> tuple[list[ToolSpec], bool]:
    """The functions among the tools, and whether all of them are."""
    specs = list[ToolSpec]()
    is_known = True
    for tool in definitions:
        for function in _functions(tool):
            spec = _spec(function)
            if spec is None:
                is_known = False
            else:
                specs.append(spec)
    return specs, is_known


def _functions(tool: object) -> Iterator[object]:
    """The functions that a definition holds: itself, the one inside it, or many."""
    if isinstance(tool, Mapping):
        for name in _DECLARATIONS:
            if isinstance(tool.get(name), Sequence):
                yield from tool[name]
                return
        inner = tool.get("function")
        yield inner if isinstance(inner, Mapping) else tool
    else:
        yield tool


def _spec(function: object) -> ToolSpec | None:
    if not isinstance(function, Mapping) or function.get("type") not in _FUNCTION_TYPES:
        return None
    name: Any = function.get("name")
    if not isinstance(name, str):
        return None
    for field in _PARAMETERS:
        parameters = function.get(field)
        if isinstance(parameters, Mapping):
            description = str(function.get("description") or "")
            return ToolSpec(name=name, description=description, parameters=parameters)
    return None
