"""The shape of a recipe, for validation and for editors (`foreword recipe schema`).

Plain values: pydantic, which takes longer to load than most commands take, checks a recipe that is
not built in and describes all of them (`validate`); the built-in ones are valid, which tests hold,
and are read by `valid_data`. The engine never sees these values, `selection` and `context` turn
them into sections and rules.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from foreword.dataclass import dataclass
from foreword.recipe.field_types import (
    PERCENT_SCHEMA,
    Many,
    Names,
    Reserve,
    ShareField,
    Split,
    TierNumber,
    WindowShare,
)
from foreword.section import Form, Share

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Texts = dict[str, str]
Part = TypeVar("Part", bound="RecipePart")


class RecipePart:
    """A part of a recipe: unknown fields are errors."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}


def description(text: str) -> dict[str, str]:
    """What the schema says about a field."""
    return {"description": text}


def validate(part: type[Part], data: object) -> Part:
    """A part of a recipe that comes from outside; pydantic's error where it is none."""
    hashable: Any = part
    validated: Part = _validator(hashable).validate_python(data)
    return validated


@cache
def _validator(part: type[object]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(part)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpec(RecipePart):
    """One section: where its text comes from, and how it behaves when room is short."""

    # where from: one of these
    file: str | None = field(
        default=None,
        metadata=description("A file under the root; {step}, {task} and the like are filled in."),
    )
    files: Names | None = field(
        default=None,
        metadata=description("Files or globs below `folder`, or `task_type` for the table's."),
    )
    git: Literal["log"] | None = field(
        default=None, metadata=description("The git log, newest first, in plain language.")
    )
    text: str | None = field(
        default=None, metadata=description("A text of the recipe's own; {names} are filled in.")
    )
    items: Names | None = field(
        default=None,
        metadata=description("Items of these kinds out of the source (`*`: all others)."),
    )
    state: str | None = field(
        default=None, metadata=description("A key of the JSON source, with dots for depth.")
    )
    anchors: Literal[True] | None = field(
        default=None, metadata=description("What the other sections mark as ANCHOR.")
    )
    document: str | None = field(
        default=None,
        metadata=description("Documents of this kind (see `documents`), as `named` says."),
    )

    repository: Literal["files", "paths"] | None = field(
        default=None,
        metadata=description(
            "The code base below the root: the files and regions that the task is about, or the"
            " paths of the next ones."
        ),
    )

    # which part of it, and how it is written
    named: str = field(
        default="",
        metadata=description(
            "Which documents: names, with {blanks}; newest is the one changed last."
        ),
    )
    fields: Names = field(
        default=(), metadata=description("Of a YAML file: only these fields, by name or glob.")
    )
    phase: str | None = field(
        default=None,
        metadata=description("Only this phase of a workflow, by marks or headings."),
    )
    folder: str = field(default="", metadata=description("Where `files` are."))
    or_folder: str = field(
        default="", metadata=description("Where one of them is that is not there.")
    )
    leave_out: Names = field(
        default=(),
        metadata=description("Files (globs) or commits (regular expressions) to leave out."),
    )
    pick: Many | None = field(
        default=None, metadata=description("Only the so many files most relevant to the task.")
    )
    order: Literal["newest", "relevance"] = field(
        default="newest",
        metadata=description(
            "Which items of a kind come first: the newest, or those the task is about."
        ),
    )
    entries: Many = field(default=20, metadata=description("How many commits."))
    heading: Names | None = field(
        default=None,
        metadata=description(
            "Only what stands under this heading, or under those that stand in for it."
        ),
    )
    without: Names | None = field(
        default=None, metadata=description("All but what stands under these headings.")
    )
    where: dict[str, Names] = field(
        default_factory=dict,
        metadata=description("Only members whose fields have these values."),
    )
    having: Names = field(
        default=(), metadata=description("Only members that have something in these fields.")
    )
    last: Many | None = field(default=None, metadata=description("Only the last so many members."))
    keep: Literal["first", "last"] = field(
        default="last", metadata=description("Which members stay where not all of them fit.")
    )
    wanted: Names = field(
        default=(),
        metadata=description("Fields that every member should have; a note names one without."),
    )
    named_in: str | None = field(
        default=None,
        metadata=description("Only members whose name occurs in this list of the source."),
    )
    each: str | None = field(
        default=None,
        metadata=description("How each member is written; a line without a value is left out."),
    )
    before: str = field(default="", metadata=description("Written in front, in every form."))
    after: str = field(default="", metadata=description("Written behind, in every form."))
    show: Literal["plan", "snapshot", "variables", "browser", "conversation"] | None = field(
        default=None,
        metadata=description("How a value of `state` is written; secrets in it are hidden."),
    )
    inject: bool = field(
        default=False,
        metadata=description("Run !`commands` in the text, as far as the user allows."),
    )

    follows: str | None = field(
        default=None,
        metadata=description("Stands behind that section, for recipes that extend."),
    )

    # how it behaves
    essential: bool = field(default=False, metadata=description("Never cut."))
    required: bool = field(
        default=False, metadata=description("An error where there is nothing to read.")
    )
    forms: tuple[Form, ...] | None = field(
        default=None, metadata=description("What it may become, in order.")
    )
    tier: int = field(default=1, metadata={"ge": 0, "le": 9})
    target: ShareField | None = field(
        default=None,
        metadata=description("Of the window, or tokens: only shown, never enforced."),
    )
    target_group: str = field(
        default="",
        metadata=description("Sections of one group share their target, as they are one thing."),
    )
    max: ShareField | None = field(
        default=None, metadata=description("Of the budget, or tokens: never more than this.")
    )
    min: ShareField | None = field(
        default=None,
        metadata=description(
            "Of the budget, or tokens: kept for one that may be cut and never lost."
        ),
    )
    stands_in_for: str | None = field(
        default=None, metadata=description("Comes in only where that section can't be whole.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(RecipePart):
    """What one agent, skill, purpose or phase reads."""

    about: str = ""
    agent: str | None = field(
        default=None, metadata=description("The agent whose sections a skill starts from.")
    )
    sections: tuple[str, ...] | None = field(
        default=None, metadata=description("What it reads; the recipe's order rules.")
    )
    add: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = field(
        default=(), metadata=description("Not missed after all, whatever the agent says.")
    )
    change: dict[str, dict[str, Any]] = field(
        default_factory=dict, metadata=description("Other values for a section's fields.")
    )
    gives_way: tuple[str | tuple[str, ...], ...] | None = None
    values: Texts = field(
        default_factory=dict, metadata=description("Fills {names} in the sections.")
    )
    when_given: dict[Literal["step"], str] = field(
        default_factory=dict,
        metadata=description(
            "Added to {instructions} where the request names a step; {step} is its folder,"
            " {step_text} what its file says."
        ),
    )
    split: Split | None = field(
        default=None, metadata=description("Shares of tier 1, 2, 3, as in 50/30/20.")
    )
    tiers: dict[int, Names] = field(
        default_factory=dict, metadata=description("The kinds of item in each tier.")
    )
    leave_out: dict[str, str] = field(
        default_factory=dict, metadata=description("Kinds that never come in, and why.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSpec(RecipePart):
    """How large the package may be where nobody says."""

    share: WindowShare | None = field(default=None, metadata=description("Of the model's window."))
    tokens: Many | None = None
    less: dict[str, Reserve] = field(
        default_factory=dict, metadata=description("Kept free for other things, by name.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NameLine(RecipePart):
    """A line such as `**Current step:** Name` in a file."""

    file: str
    field: str
    within: str | None = dataclasses.field(
        default=None, metadata=description("A field that names the folder above.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Locate(RecipePart):
    """How an input that was not given is found."""

    above_task: str | None = field(
        default=None,
        metadata=description("The nearest folder above the task that holds this file."),
    )
    among: str | None = field(
        default=None, metadata=description("A glob; each match is a candidate.")
    )
    named_in: NameLine | None = None
    leave_out: Names = field(
        default=(), metadata=description("Globs of file names that do not count.")
    )
    pending: str | None = field(
        default=None,
        metadata=description("A candidate counts only while this glob below it has a match."),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskType(RecipePart):
    """Words that tell the kind of a task, and the files that kind needs."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLimits(RecipePart):
    """What a command in a text may cost. Which ones may run is for the user to say, never for a
    recipe."""

    # the same as those of `sources.commands.Policy`, which says why
    timeout_seconds: float = field(default=5.0, metadata={"gt": 0, "le": 600})
    output_bytes: Many = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossSessions(RecipePart):
    """Which kinds of item come back in the next session; the others are read anew or not at all."""

    persist: tuple[str, ...] = ()
    persist_if_validated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileValue(RecipePart):
    """A value out of a YAML file of the project, for {blanks}: the first of these places that
    has one."""

    file: Names
    at: Names = field(metadata=description("Keys, with dots for depth."))
    default: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(RecipePart):
    """How large a document of a kind should be; past `error` it is an error, not a warning."""

    tokens: Many
    error: Many | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LintException(RecipePart):
    """A problem that is there on purpose."""

    file: str = field(metadata=description("A glob from the root."))
    code: str = field(default="*", metadata=description("The code of the problem, or * for all."))
    reason: str = field(metadata={"min_length": 1})


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSpec(RecipePart):
    """What authors are held to."""

    limits: dict[str, Limit] = field(
        default_factory=dict, metadata=description("By kind of document, or `phase`.")
    )
    exceptions: tuple[LintException, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRule(RecipePart):
    """When an item no longer counts."""

    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeSpec(RecipePart):
    """A recipe: sections in reading order, who reads which, and what gives way first."""

    name: str
    about: str = ""
    extends: str | None = None
    needs: tuple[
        Literal["agent", "skill", "agent or skill", "purpose", "phase", "source", "task"], ...
    ] = ()
    budget: BudgetSpec = BudgetSpec(share=Share("whole", 0.3))
    folder: str = field(
        default="",
        metadata=description("The folder of a project it is about; without it, an error."),
    )
    sections: dict[str, SectionSpec] = field(metadata={"min_length": 1})
    gives_way: tuple[str | tuple[str, ...], ...] = field(
        default=(), metadata=description("First to last; a list inside shares a rank.")
    )
    agents: dict[str, Profile] = field(default_factory=dict)
    skills: dict[str, Profile] = field(default_factory=dict)
    other_skills: Profile | None = field(
        default=None, metadata=description("For a skill in no table that has a file.")
    )
    purposes: dict[str, Profile] = field(default_factory=dict)
    default_purpose: str | None = field(
        default=None, metadata=description("Where none is asked for.")
    )
    phases: dict[str, Profile] = field(default_factory=dict)
    skill_file: Names = field(
        default=(),
        metadata=description("Where a skill's own instructions may be; {skill} is filled in."),
    )
    locate: dict[str, Locate] = field(default_factory=dict)
    tiers: dict[TierNumber, Many] = field(
        default_factory=dict,
        metadata=description(
            "Hard limits in tokens; tier 0 is never cut and takes its room from the last."
        ),
    )
    within: tuple[str, ...] = field(
        default=("",), metadata=description("Folders that documents may lie in.")
    )
    documents: dict[str, Names] = field(
        default_factory=dict, metadata=description("Kinds of document, and where they lie.")
    )
    on_demand: tuple[str, ...] = field(
        default=(), metadata=description("Kinds that are never loaded, only looked up.")
    )
    read: dict[str, FileValue] = field(
        default_factory=dict, metadata=description("Values out of the project's YAML files.")
    )
    lint: LintSpec = LintSpec()
    task_types: dict[str, TaskType] = field(default_factory=dict)
    commands: CommandLimits = CommandLimits()
    across_sessions: AcrossSessions = AcrossSessions()
    ended: EndRule = EndRule()
    self_check: bool = False


PROFILES = {"agent": "agents", "skill": "skills", "purpose": "purposes", "phase": "phases"}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a recipe file."""
    schema: dict[str, Any] = _validator(RecipeSpec).json_schema(by_alias=True)
    schema["description"] = RecipeSpec.__doc__
    for part in RecipePart.__subclasses__():
        if part.__name__ in schema["$defs"]:
            schema["$defs"][part.__name__]["description"] = inspect.getdoc(part)
    share = {
        "anyOf": [
            {"type": "integer", "exclusiveMinimum": 0},
            {"type": "string", "pattern": PERCENT_SCHEMA},
        ]
    }
    schema["$defs"]["Share"] = share
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Foreword recipe",
        **schema,
    }
