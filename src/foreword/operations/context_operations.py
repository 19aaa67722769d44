"""Contexts by a recipe: assemble one, say why something is in it, recall what was cut, look a
document up; and material of the caller's own, by a question.

The caller's word never decides which root or store that is, and a path in it stays inside the root.
Commands are never a caller's to allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from foreword.context import assemble, explain
from foreword.context import lookup as documents
from foreword.context.blanks import is_words
from foreword.errors import BadSource, OutsideRoot, UsageError
from foreword.operations.fitted_values import (
    ANSWER_TOKENS,
    ContextAnswer,
    OriginalPage,
    original_page,
    save_and_answer,
)
from foreword.operations.operation import (
    Name,
    Operation,
    OperationInput,
    Project,
    Tokens,
    example,
)
from foreword.recipe.budget import whole_number
from foreword.sources.library import RECIPE
from foreword.sources.source_argument import may_be_text
from foreword.store.database import LARGEST_NUMBER, Database

LONGEST_PATH = 4_096  # characters: no file system takes more
MATERIAL = {
    "recipe": "package",
    "purpose": "handoff",
    "source": {
        "items": [{"kind": "decision", "title": "Use UTC", "text": "All times are kept in UTC."}]
    },
}


class ContextRequest(OperationInput):
    """What to assemble, and for whom."""

    model_config = example({**MATERIAL, "budget": 2000})

    recipe: Name = Field(description="The name of a recipe: built in, or the project's own.")
    agent: Name | None = None
    skill: Name | None = None
    purpose: Name | None = None
    phase: Name | int | None = Field(None, description="Which phase it is for.")
    workflow: Name | None = Field(None, description="The workflow that the phase is of.")
    task: str | None = Field(None, description="The task: a path inside the root, or words.")
    step: Name | None = Field(None, description="The folder of the step that it is for.")
    instructions: str | None = Field(
        None, description="What the agent should mind, beside its own instructions."
    )
    source: dict[str, Any] | list[Any] | str | None = Field(
        None, description="Your own material: items, texts, or a path to them."
    )
    budget: Tokens | None = Field(None, description="The most tokens the context may have.")
    window: Tokens | None = Field(None, description="The model's window in tokens.")
    system_prompt_tokens: Tokens | None = Field(
        None, description="Kept free of the window for a system prompt."
    )
    reserve: Tokens | None = Field(None, description="Kept free of the window for the answer.")
    tool_overhead: Tokens | None = Field(None, description="Kept free of the window for tools.")
    model: Name | None = Field(None, description="Picks window, counter and margin.")
    counter: Name | None = Field(None, description="How tokens are counted.")
    strict: bool | None = Field(False, description="A tier 0 over its limit is an error.")


class ContextQuestion(ContextRequest):
    """A context, and what to explain of it."""

    model_config = example({**MATERIAL, "about": "Use UTC"})

    about: Name = Field(description="A tag, a title, a path, the name of a file, or a handle.")


class DocumentRequest(OperationInput):
    """What to look up."""

    model_config = example({"wanted": "how are releases made?", "budget": 2000})

    wanted: Name = Field(description="A document's name or path, or a question.")
    kind: Name | None = Field(
        "", description="Only documents of this kind: policy, schema, doc, persona ..."
    )
    recipe: Name | None = Field(RECIPE, description="Says which documents there are.")
    budget: Tokens | None = Field(None, description="The most tokens the answer may have.")
    counter: Name | None = Field(None, description="How tokens are counted.")


class MaterialRequest(OperationInput):
    """What to fit, and to which question."""

    model_config = example(
        {
            "material": ["Painted the fence.", "We dropped the retry loop: it hid the error."],
            "question": "why did we drop the retry loop?",
            "budget": 500,
        }
    )

    material: str | dict[str, Any] | list[str | dict[str, Any]] = Field(
        description="A text, a message or an item, or a list of these; never a path."
    )
    question: str | None = Field(None, description="What it should answer.")
    budget: Tokens = Field(description="The most tokens it may have.")
    counter: Name | None = Field(None, description="How tokens are counted.")


class OriginalPart(OperationInput):
    """Which part of an original."""

    handle: Name
    offset: int | None = Field(0, ge=0, le=LARGEST_NUMBER, description="From which character on.")
    budget: Tokens | None = Field(ANSWER_TOKENS, description="The most tokens of a page.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextExplanation:
    """The answer to why."""

    text: str
    met: Annotated[bool, Field(description="False where there is no such context at all.")]


def assemble_context(project: Project, given: ContextRequest) -> ContextAnswer:
    """Assemble a context from the project by a recipe (director, package, phases, factory,
    repository or its own), within a budget of tokens. source: a path in it, or the data."""
    package = assemble.assemble(
        recipe_inside(project.root, given.recipe),
        root=project.root,
        **_assemble_arguments(project.root, given),
        save=False,
    )
    return save_and_answer(project.store, package)


def why(project: Project, given: ContextQuestion) -> ContextExplanation:
    """Say whether something (a tag, a path, a handle) is in a context, in which form, and why."""
    answer = explain.why(
        recipe_inside(project.root, given.recipe),
        given.about,
        root=project.root,
        **_assemble_arguments(project.root, given),
    )
    return ContextExplanation(text=answer.text, met=answer.met)


def recall(db: Database, given: OriginalPart) -> OriginalPage:
    """Give back the original behind a handle (fw_...), a page of budget tokens from offset on;
    next_offset continues."""
    budget = whole_number(given.budget, "budget")
    return original_page(db, given.handle, given.offset or 0, budget or ANSWER_TOKENS)


def lookup(project: Project, given: DocumentRequest) -> ContextAnswer:
    """Look up documents of the project by name, path or question; kind: policy, schema, doc,
    persona ..."""
    package = documents.lookup(
        given.wanted,
        root=project.root,
        kind=given.kind or "",
        budget=given.budget,
        counter=given.counter,
        recipe=recipe_inside(project.root, given.recipe or RECIPE),
        index=project.store,
        save=False,
    )
    return save_and_answer(project.store, package)


def fit(project: Project, given: MaterialRequest) -> ContextAnswer:
    """Fit texts, messages or items to a question, within a budget of tokens: in their order, with a
    mark in every gap and a handle for what was left out."""
    from foreword.questions.fit_material import fit as fit_material  # not for all who assemble

    package = fit_material(
        given.material,
        budget=given.budget,
        question=given.question,
        counter=given.counter,
        save=False,
    )
    return save_and_answer(project.store, package)


ASSEMBLE_CONTEXT = Operation(run=assemble_context, scope="project", is_slow=True, keeps_report=True)
WHY = Operation(run=why, scope="project", is_slow=True)
RECALL = Operation(run=recall, scope="store")
LOOKUP = Operation(run=lookup, scope="project", is_slow=True, keeps_report=True)
FIT = Operation(run=fit, scope="project", is_slow=True, keeps_report=True)


def _assemble_arguments(root: Path, given: ContextRequest) -> dict[str, Any]:
    """What `assemble` is asked for, with its paths inside the root."""
    asked = given.model_dump(exclude={"recipe", "about"}, exclude_none=True)
    if "task" in asked and not is_words(root, asked["task"]):
        asked["task"] = inside(root, asked["task"]).relative_to(root).as_posix()
    if "step" in asked:
        asked["step"] = inside(root, asked["step"]).relative_to(root).as_posix()
    if isinstance(asked.get("source"), str):
        asked["source"] = _source(root, asked["source"])
    return asked


def _source(root: Path, source: str) -> Path | list[str]:
    """Return the path inside the root that a source names, or a list of the source as a text.

    What is outside of the root is not looked for: the answer must not tell whether it exists.
    """
    if may_be_text(source) and not _is_path(root, source):
        return [source]
    path = inside(root, source)
    if path.is_fifo():  # the user may name a pipe; a caller must not make us wait
        raise BadSource(str(path), "a pipe, not a file or a folder")
    return path


def _is_path(root: Path, source: str) -> bool:
    if "\n" not in source.strip() and source.startswith(("/", "~", "..")):
        return True
    try:
        return inside(root, source).exists()
    except (OutsideRoot, UsageError, OSError):  # too long for a name
        return False


def recipe_inside(root: Path, recipe: str) -> str:
    """A recipe by its name, or by a path inside the root: who sends a request is not the user."""
    return str(inside(root, recipe)) if recipe.endswith((".yaml", ".yml")) else recipe


def inside(root: Path, path: str | Path) -> Path:
    """Where a path that a caller named leads, seen from the root; an error where that is outside
    of it."""
    if len(str(path)) > LONGEST_PATH:
        raise UsageError(
            f"a path of {len(str(path)):,} characters is too long", hint=f"at most {LONGEST_PATH:,}"
        )
    try:
        real = (root / path).resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL, a loop of links
        raise OutsideRoot(str(path)[:200], str(root)) from None
    if not real.is_relative_to(root):
        raise OutsideRoot(str(path)[:200], str(root))
    return real
