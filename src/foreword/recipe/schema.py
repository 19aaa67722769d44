"""The shape of a recipe, for validation and for editors (`foreword recipe schema`).

Outside data only: the engine never sees these models, `selection` and `context` turn them into
sections and rules. Where a recipe file is found and how errors get their line is `load`'s business;
what pydantic complains about is put into words by `validation_errors`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from foreword.pattern import lazy_pattern
from foreword.section import Form, Share

# Of tokens, bytes or anything else that is counted: above any window there is, and small enough
# that arithmetic with it stays exact.
LARGEST_AMOUNT = 10**12

PERCENT = lazy_pattern(
    r"^(?:(?P<low>\d+(?:\.\d+)?)\s*-\s*)?(?P<high>\d+(?:\.\d+)?)\s*%(?P<left> of what is left)?$"
)
# the same for JSON Schema, whose expressions have no names
PERCENT_SCHEMA = r"^(\d+(\.\d+)?\s*-\s*)?\d+(\.\d+)?\s*%( of what is left)?$"


def read_share(value: object) -> object:
    """`30%`, `5-10%`, `50% of what is left` or a number of tokens; anything else is for pydantic
    to refuse."""
    if isinstance(value, Share):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        if value > LARGEST_AMOUNT:
            raise ValueError(f"must be at most {LARGEST_AMOUNT:,} tokens")
        return Share("tokens", float(value))
    found = PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(
            "must be tokens (500), a share (30%), a range (5-10%) or '50% of what is left'"
        )
    low = float(found["low"] or 0)
    high = float(found["high"])
    if high > 100:
        raise ValueError("must be at most 100%")
    if high == 0:
        raise ValueError("must be more than 0%")
    if low > high:
        raise ValueError("must be a range from less to more")
    return Share("left" if found["left"] else "whole", value=high / 100, low=low / 100)


def _of_window(share: Share | None) -> Share | None:
    if share is not None and share.of != "whole":
        raise ValueError("must be a share of the window, as in 30%; a number goes to budget.tokens")
    return share


def _adds_up(split: str | None) -> str | None:
    if split is not None and not any(int(part) for part in split.split("/")):
        raise ValueError("must give at least one tier a share, as in 50/30/20")
    return split


ShareField = Annotated[
    Share,
    BeforeValidator(read_share),
    Field(json_schema_extra={"examples": ["5-10%", "30%", 500]}),
]
Names = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Texts = dict[str, str]
Many = Annotated[int, Field(gt=0, le=LARGEST_AMOUNT)]


class RecipePart(BaseModel):
    """A part of a recipe: unknown fields are errors."""

    # Built with the recipe that it is a part of: building each of them by itself as well takes
    # twice as long.
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)


class SectionSpec(RecipePart):
    """One section: where its text comes from, and how it behaves when room is short."""

    # where from: one of these
    file: str | None = Field(
        default=None,
        description="A file under the root; {step}, {task} and the like are filled in.",
    )
    files: Names | None = Field(
        default=None, description="Files or globs below `folder`, or `task_type` for the table's."
    )
    git: Literal["log"] | None = Field(
        default=None, description="The git log, newest first, in plain language."
    )
    text: str | None = Field(
        default=None, description="A text of the recipe's own; {names} are filled in."
    )
    items: Names | None = Field(
        default=None, description="Items of these kinds out of the source (`*`: all others)."
    )
    state: str | None = Field(
        default=None, description="A key of the JSON source, with dots for depth."
    )
    anchors: Literal[True] | None = Field(
        default=None, description="What the other sections mark as ANCHOR."
    )
    document: str | None = Field(
        default=None, description="Documents of this kind (see `documents`), as `named` says."
    )

    # which part of it, and how it is written
    named: str = Field(
        default="",
        description="Which documents: names, with {blanks}; newest is the one changed last.",
    )
    fields: Names = Field(
        default=(), description="Of a YAML file: only these fields, by name or glob."
    )
    phase: str | None = Field(
        default=None, description="Only this phase of a workflow, by marks or headings."
    )
    folder: str = Field(default="", description="Where `files` are.")
    or_folder: str = Field(default="", description="Where one of them is that is not there.")
    leave_out: Names = Field(
        default=(), description="Files (globs) or commits (regular expressions) to leave out."
    )
    pick: Many | None = Field(
        default=None, description="Only the so many files most relevant to the task."
    )
    entries: Many = Field(default=20, description="How many commits.")
    heading: Names | None = Field(
        default=None,
        description="Only what stands under this heading, or under those that stand in for it.",
    )
    without: Names | None = Field(
        default=None, description="All but what stands under these headings."
    )
    where: dict[str, Names] = Field(
        default_factory=dict, description="Only members whose fields have these values."
    )
    having: Names = Field(
        default=(), description="Only members that have something in these fields."
    )
    last: Many | None = Field(default=None, description="Only the last so many members.")
    keep: Literal["first", "last"] = Field(
        default="last", description="Which members stay where not all of them fit."
    )
    wanted: Names = Field(
        default=(), description="Fields that every member should have; a note names one without."
    )
    named_in: str | None = Field(
        default=None, description="Only members whose name occurs in this list of the source."
    )
    each: str | None = Field(
        default=None, description="How each member is written; a line without a value is left out."
    )
    before: str = Field(default="", description="Written in front, in every form.")
    after: str = Field(default="", description="Written behind, in every form.")
    show: Literal["plan", "snapshot", "variables", "browser", "conversation"] | None = Field(
        default=None, description="How a value of `state` is written; secrets in it are hidden."
    )
    inject: bool = Field(
        default=False, description="Run !`commands` in the text, as far as the user allows."
    )

    follows: str | None = Field(
        default=None, description="Stands behind that section, for recipes that extend."
    )

    # how it behaves
    essential: bool = Field(default=False, description="Never cut.")
    required: bool = Field(default=False, description="An error where there is nothing to read.")
    forms: tuple[Form, ...] | None = Field(
        default=None, description="What it may become, in order."
    )
    tier: int = Field(default=1, ge=0, le=9)
    target: ShareField | None = Field(
        default=None, description="Of the window, or tokens: only shown, never enforced."
    )
    target_group: str = Field(
        default="", description="Sections of one group share their target, as they are one thing."
    )
    max: ShareField | None = Field(
        default=None, description="Of the budget, or tokens: never more than this."
    )
    min: ShareField | None = Field(
        default=None,
        description="Of the budget, or tokens: kept for one that may be cut and never lost.",
    )
    stands_in_for: str | None = Field(
        default=None, description="Comes in only where that section can't be whole."
    )


class Profile(RecipePart):
    """What one agent, skill, purpose or phase reads."""

    about: str = ""
    agent: str | None = Field(
        default=None, description="The agent whose sections a skill starts from."
    )
    sections: tuple[str, ...] | None = Field(
        default=None, description="What it reads; the recipe's order rules."
    )
    add: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = Field(
        default=(), description="Not missed after all, whatever the agent says."
    )
    change: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Other values for a section's fields."
    )
    gives_way: tuple[str | tuple[str, ...], ...] | None = None
    values: Texts = Field(default_factory=dict, description="Fills {names} in the sections.")
    when_given: dict[Literal["step"], str] = Field(
        default_factory=dict,
        description="Added to {instructions} where the request names a step; {step} is its folder,"
        " {step_text} what its file says.",
    )
    split: Annotated[str | None, AfterValidator(_adds_up)] = Field(
        default=None,
        pattern=r"^[0-9]{1,9}(/[0-9]{1,9}){1,8}$",
        description="Shares of tier 1, 2, 3, as in 50/30/20.",
    )
    tiers: dict[int, Names] = Field(
        default_factory=dict, description="The kinds of item in each tier."
    )
    leave_out: dict[str, str] = Field(
        default_factory=dict, description="Kinds that never come in, and why."
    )


class BudgetSpec(RecipePart):
    """How large the package may be where nobody says."""

    share: Annotated[ShareField | None, AfterValidator(_of_window)] = Field(
        default=None, description="Of the model's window."
    )
    tokens: Many | None = None
    less: dict[str, Annotated[int, Field(ge=0, le=LARGEST_AMOUNT)]] = Field(
        default_factory=dict, description="Kept free for other things, by name."
    )


class NameLine(RecipePart):
    """A line such as `**Current step:** Name` in a file."""

    file: str
    field: str
    within: str | None = Field(default=None, description="A field that names the folder above.")


class Locate(RecipePart):
    """How an input that was not given is found."""

    above_task: str | None = Field(
        default=None, description="The nearest folder above the task that holds this file."
    )
    among: str | None = Field(default=None, description="A glob; each match is a candidate.")
    named_in: NameLine | None = None
    leave_out: Names = Field(default=(), description="Globs of file names that do not count.")
    pending: str | None = Field(
        default=None, description="A candidate counts only while this glob below it has a match."
    )


class TaskType(RecipePart):
    """Words that tell the kind of a task, and the files that kind needs."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class CommandLimits(RecipePart):
    """What a command in a text may cost. Which ones may run is for the user to say, never for a
    recipe."""

    # the same as those of `sources.commands.Policy`, which says why
    timeout_seconds: float = Field(default=5.0, gt=0, le=600)
    output_bytes: Many = 65_536


class AcrossSessions(RecipePart):
    """Which kinds of item come back in the next session; the others are read anew or not at all."""

    persist: tuple[str, ...] = ()
    persist_if_validated: tuple[str, ...] = ()


class FileValue(RecipePart):
    """A value out of a YAML file of the project, for {blanks}: the first of these places that
    has one."""

    file: Names
    at: Names = Field(description="Keys, with dots for depth.")
    default: str = ""


class Limit(RecipePart):
    """How large a document of a kind should be; past `error` it is an error, not a warning."""

    tokens: Many
    error: Many | None = None


class LintException(RecipePart):
    """A problem that is there on purpose."""

    file: str = Field(description="A glob from the root.")
    code: str = Field(default="*", description="The code of the problem, or * for all.")
    reason: str = Field(min_length=1)


class LintSpec(RecipePart):
    """What authors are held to."""

    limits: dict[str, Limit] = Field(
        default_factory=dict, description="By kind of document, or `phase`."
    )
    exceptions: tuple[LintException, ...] = ()


class EndRule(RecipePart):
    """When an item no longer counts."""

    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()


class RecipeSpec(RecipePart):
    """A recipe: sections in reading order, who reads which, and what gives way first."""

    name: str
    about: str = ""
    extends: str | None = None
    needs: tuple[
        Literal["agent", "skill", "agent or skill", "purpose", "phase", "source", "task"], ...
    ] = ()
    budget: BudgetSpec = BudgetSpec.model_construct(share=Share("whole", 0.3))
    folder: str = Field(
        default="", description="The folder of a project it is about; without it, an error."
    )
    sections: dict[str, SectionSpec] = Field(min_length=1)
    gives_way: tuple[str | tuple[str, ...], ...] = Field(
        default=(), description="First to last; a list inside shares a rank."
    )
    agents: dict[str, Profile] = Field(default_factory=dict)
    skills: dict[str, Profile] = Field(default_factory=dict)
    other_skills: Profile | None = Field(
        default=None, description="For a skill in no table that has a file."
    )
    purposes: dict[str, Profile] = Field(default_factory=dict)
    default_purpose: str | None = Field(default=None, description="Where none is asked for.")
    phases: dict[str, Profile] = Field(default_factory=dict)
    skill_file: Names = Field(
        default=(), description="Where a skill's own instructions may be; {skill} is filled in."
    )
    locate: dict[str, Locate] = Field(default_factory=dict)
    tiers: dict[Annotated[int, Field(ge=0, le=9)], Many] = Field(
        default_factory=dict,
        description="Hard limits in tokens; tier 0 is never cut and takes its room from the last.",
    )
    within: tuple[str, ...] = Field(default=("",), description="Folders that documents may lie in.")
    documents: dict[str, Names] = Field(
        default_factory=dict, description="Kinds of document, and where they lie."
    )
    on_demand: tuple[str, ...] = Field(
        default=(), description="Kinds that are never loaded, only looked up."
    )
    read: dict[str, FileValue] = Field(
        default_factory=dict, description="Values out of the project's YAML files."
    )
    lint: LintSpec = LintSpec.model_construct()
    task_types: dict[str, TaskType] = Field(default_factory=dict)
    commands: CommandLimits = CommandLimits.model_construct()
    across_sessions: AcrossSessions = AcrossSessions.model_construct()
    ended: EndRule = EndRule.model_construct()
    self_check: bool = False


PROFILES = {"agent": "agents", "skill": "skills", "purpose": "purposes", "phase": "phases"}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a recipe file."""
    schema = RecipeSpec.model_json_schema(by_alias=True)
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
