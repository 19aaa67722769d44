"""What an operation is: a function whose types say what it takes and gives, and what it works on.

The faces are made from it: MCP tools, the director's tools, HTTP endpoints with their description,
commands. So is the one way in which what a caller sent is read: a face parses its own wire, and
`Operation.read` says what is wrong with the rest, in the same words everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema

from foreword import aliases
from foreword.errors import BadRequest
from foreword.operations.fitted_values import encodable_answer
from foreword.plan import validation
from foreword.recipe.field_types import LARGEST_AMOUNT
from foreword.store.database import LARGEST_NUMBER, Database

# What an operation works on, which a face opens for it: the store, the store and the project's
# folder, one workflow, or one conversation of it.
Scope = Literal["store", "project", "workflow", "conversation"]
# Whether it changes nothing, adds something, or puts something in the place of what was there.
# What goes into the store besides is a report, and originals to recall.
Access = Literal["reads", "adds", "replaces"]

LONGEST_REASON = 10_000  # characters: a reason is read by people, in a list
LONGEST_NAME = 1_000  # characters of a name or a question: errors repeat them, none is as long


class OperationInput(BaseModel):
    """What an operation takes: these fields under any of their names, each of its own type, and no
    others."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _rename(cls, given: object) -> object:
        return aliases.rename(given, cls.model_fields) if isinstance(given, Mapping) else given


class NoInput(OperationInput):
    """Nothing."""


def example(value: dict[str, Any]) -> ConfigDict:
    """The configuration of an input that has an example; descriptions show it, and so do
    refusals."""
    return ConfigDict(json_schema_extra={"examples": [value]})


Target = TypeVar("Target")
Given = TypeVar("Given", bound=OperationInput)
Answer = TypeVar("Answer")

Reason = Annotated[
    str, Field(max_length=LONGEST_REASON, description="Why; secrets in it are hidden.")
]
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
Version = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
# How many tokens; what is none is refused where it is used, in the words that it has everywhere.
Tokens = Annotated[
    int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LARGEST_AMOUNT})
]


@dataclass(frozen=True, slots=True)
class DescribedBy:
    """Of a field that is a mapping here and has that shape: it is checked where it is used, which
    knows the words for it."""

    shape: type[BaseModel]

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        self.shape.model_rebuild()
        return handler(self.shape.__pydantic_core_schema__)


@dataclass(frozen=True, slots=True)
class Project:
    """What operations of scope `project` work on; who only reads does without a store."""

    root: Path
    db: Database | None

    @property
    def store(self) -> Database:
        """The store, for those who keep something."""
        assert self.db is not None
        return self.db


@dataclass(frozen=True, kw_only=True)
class Operation(Generic[Target, Given, Answer]):
    """One operation: its function, whose name, docstring and types describe it."""

    run: Callable[[Target, Given], Answer]
    scope: Scope
    access: Access = "reads"
    makes_workflow: bool = False  # where there is none of that name
    is_slow: bool = False  # computes long and writes little
    keeps_report: bool = False  # though it only reads: there must be a store

    @property
    def name(self) -> str:
        """What it is called in every face that has names."""
        return self.run.__name__

    @property
    def about(self) -> str:
        """What it is for."""
        return " ".join((self.run.__doc__ or "").split())

    @property
    def lane(self) -> Literal["reading", "writing", "computing"]:
        """Whose threads do it in a server, so that the quick do not wait for the slow."""
        if self.is_slow:
            return "computing"
        return "reading" if self.access == "reads" else "writing"

    @cached_property
    def takes(self) -> type[Given]:
        """The model of what a caller sends."""
        hints = get_type_hints(self.run, include_extras=True)
        taken: type[Given] = hints["given"]
        return taken

    @cached_property
    def gives(self) -> Any:
        """The type of its answer."""
        return get_type_hints(self.run, include_extras=True)["return"]

    @cached_property
    def _answers(self) -> TypeAdapter[Answer]:
        return TypeAdapter(self.gives)

    def read(self, given: Mapping[str, Any]) -> Given:
        """What a caller sent, or `BadRequest` with everything that is wrong with it."""
        return read_input(self.takes, given)

    def to_data(self, answer: Answer) -> dict[str, Any]:
        """An answer as JSON that can be encoded."""
        return encodable_answer(self._answers.dump_python(answer))

    def answer(self, opening: AbstractContextManager[Target], given: Mapping[str, Any]) -> Answer:
        """Its answer, on what is opened for it; what a caller sent is read before."""
        valid = self.read(given)
        with opening as target:
            return self.run(target, valid)

    def perform(
        self, opening: AbstractContextManager[Target], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The same from JSON to JSON."""
        return self.to_data(self.answer(opening, given))


AnyOperation = Operation[Any, Any, Any]


def read_input(shape: type[Given], given: object) -> Given:
    """The input as its shape has it, or `BadRequest` with everything that is wrong with it."""
    try:
        return shape.model_validate(given)
    except ValidationError as error:
        problems = validation.problem_lines(error, shape, whole="input")
        raise BadRequest(problems, hint=input_hint(shape)) from None


def input_hint(shape: type[BaseModel]) -> str:
    """What to send instead: the example of a shape, else the names that are needed."""
    shown = input_example(shape)
    if shown is not None:
        return f"for example {json.dumps(shown)}"
    needed = [name for name, field in shape.model_fields.items() if field.is_required()]
    return f"needed: {', '.join(needed)}" if needed else f"known: {', '.join(shape.model_fields)}"


def input_example(shape: type[BaseModel]) -> dict[str, Any] | None:
    """The example of a shape, if it has one."""
    extra = shape.model_config.get("json_schema_extra")
    if not isinstance(extra, dict):
        return None
    examples = extra["examples"]
    assert isinstance(examples, list)
    shown = examples[0]
    assert isinstance(shown, dict)
    return shown
