"""Contexts by a recipe: assemble one, ask why something is in it, recall what was cut, look a
document up."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from foreword.faces.http.endpoint import ApiRequest, Endpoint, Nothing
from foreword.faces.http.request_parsing import RequestInput, Tokens, example
from foreword.operations import operations
from foreword.operations.fitted_values import ANSWER_TOKENS
from foreword.sources.library import RECIPE
from foreword.store.database import LARGEST_NUMBER

MATERIAL = {
    "recipe": "package",
    "purpose": "handoff",
    "source": {
        "items": [{"kind": "decision", "title": "Use UTC", "text": "All times are kept in UTC."}]
    },
}
LONGEST = 1_000  # characters of a name or a question: errors repeat them, and none is as long


class ContextBody(RequestInput):
    """What to assemble, and for whom."""

    model_config = example({**MATERIAL, "budget": 2000})

    recipe: str = Field(
        max_length=LONGEST, description="The name of a recipe: built in, or the project's own."
    )
    root: str | None = Field(
        None, max_length=LONGEST, description="One of the projects that the server was given."
    )
    agent: str | None = Field(None, max_length=LONGEST)
    skill: str | None = Field(None, max_length=LONGEST)
    purpose: str | None = Field(None, max_length=LONGEST)
    phase: Annotated[str, Field(max_length=LONGEST)] | int | None = Field(
        None, description="Which phase it is for."
    )
    workflow: str | None = Field(
        None, max_length=LONGEST, description="The workflow that the phase is of."
    )
    task: str | None = Field(
        None, max_length=LONGEST, description="The task file, a path inside the root."
    )
    source: dict[str, Any] | list[Any] | str | None = Field(
        None, description="Your own material, or a path to it."
    )
    budget: Tokens | None = Field(None, description="The most tokens the context may have.")
    window: Tokens | None = Field(None, description="The model's window in tokens.")
    model: str | None = Field(
        None, max_length=LONGEST, description="Picks window, counter and margin."
    )
    counter: str | None = Field(None, max_length=LONGEST, description="How tokens are counted.")
    strict: bool = Field(False, description="A tier 0 over its limit is an error.")

    def options(self) -> dict[str, Any]:
        """What it asks for, as `assemble` takes it."""
        return self.model_dump(exclude={"recipe", "root", "about"}, exclude_none=True)


class Question(ContextBody):
    """A context, and what to explain of it."""

    model_config = example({**MATERIAL, "about": "Use UTC"})

    about: str = Field(
        max_length=LONGEST, description="A tag, a title, a path, the name of a file, or a handle."
    )


class LookupBody(RequestInput):
    """What to look up."""

    model_config = example({"wanted": "how are releases made?", "budget": 2000})

    wanted: str = Field(max_length=LONGEST, description="A document's name or path, or a question.")
    kind: str = Field("", max_length=LONGEST, description="Only documents of this kind.")
    root: str | None = Field(
        None, max_length=LONGEST, description="One of the projects that the server was given."
    )
    recipe: str = Field(RECIPE, max_length=LONGEST, description="Says which documents there are.")
    budget: Tokens | None = Field(None, description="The most tokens the answer may have.")
    counter: str | None = Field(None, max_length=LONGEST, description="How tokens are counted.")


class OriginalPart(RequestInput):
    """Which part of an original."""

    offset: int = Field(0, ge=0, le=LARGEST_NUMBER, description="From which character on.")
    budget: Tokens = Field(ANSWER_TOKENS, description="The most tokens of a page.")


class Fit(RequestInput):
    """How large an answer may be."""

    budget: Tokens | None = Field(
        None, description="The most tokens; without it, the value is whole."
    )


class OmissionAnswer(BaseModel):
    """Something that was left out."""

    what: str
    tokens: int
    reason: str
    handle: str


class Context(BaseModel):
    """A context, with the largest of its omissions."""

    model_config = ConfigDict(title="Context")

    text: str
    tokens: int
    budget_tokens: int
    left_out: int
    omissions: list[OmissionAnswer]
    warnings: list[str]
    report: int = Field(description="The number of its report.")


class Reason(BaseModel):
    """The answer to why."""

    text: str
    met: bool = Field(description="False where there is no such context at all.")


class Original(BaseModel):
    """A page of something that was cut."""

    text: str
    offset: int
    total_chars: int
    next_offset: int | None = None
    warnings: list[str]


def assemble(request: ApiRequest[Nothing, ContextBody]) -> dict[str, Any]:
    """Assemble a context by a recipe, within a budget."""
    body = request.body
    with request.app_state.store() as db:
        root = request.app_state.root(body.root)
        return operations.assemble_context(db, root, body.recipe, **body.options())


def why(request: ApiRequest[Nothing, Question]) -> dict[str, Any]:
    """Say whether something is in a context, in which form, and why."""
    body = request.body
    root = request.app_state.root(body.root)
    return operations.why(root, recipe=body.recipe, about=body.about, **body.options())


def recall(request: ApiRequest[OriginalPart, None]) -> dict[str, Any]:
    """Give back the original of something that was cut, page by page."""
    query = request.query
    with request.app_state.store() as db:
        return operations.recall(
            db, request.path["handle"], offset=query.offset, budget=query.budget
        )


def lookup(request: ApiRequest[Nothing, LookupBody]) -> dict[str, Any]:
    """Look up a document of the project by its name, or by what it is about."""
    body = request.body
    with request.app_state.store() as db:
        return operations.lookup(
            db,
            request.app_state.root(body.root),
            wanted=body.wanted,
            kind=body.kind,
            budget=body.budget,
            counter=body.counter,
            recipe=body.recipe,
        )


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/v1/assemble",
        run=assemble,
        answer=Context,
        body=ContextBody,
        problems=(404, 422),
        lane="computing",
    ),
    Endpoint(
        method="POST",
        path="/v1/why",
        run=why,
        answer=Reason,
        body=Question,
        problems=(404, 422),
        lane="computing",
    ),
    Endpoint(
        method="GET", path="/v1/recall/{handle}", run=recall, answer=Original, query=OriginalPart
    ),
    Endpoint(
        method="POST",
        path="/v1/lookup",
        run=lookup,
        answer=Context,
        body=LookupBody,
        problems=(404, 422),
        lane="computing",
    ),
)
