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
        metadata=description("One file under the root, no glob; `{names}` are filled in."),
    )
    files: Names | None = field(
        default=None,
        metadata=description("Files and globs, or `task_type` for those of the task's type."),
    )
    git: Literal["log"] | None = field(
        default=None, metadata=description("`log`: the newest commits in plain language.")
    )
    text: str | None = field(
        default=None,
        metadata=description(
            "A text of the recipe's own; `{names}` from `locate` and `values` are filled in."
        ),
    )
    items: Names | None = field(
        default=None,
        metadata=description(
            "Items of these kinds from the source; `*` for all kinds that no other section takes."
        ),
    )
    state: str | None = field(
        default=None, metadata=description("A key of the JSON source, with dots for depth.")
    )
    anchors: Literal[True] | None = field(
        default=None,
        metadata=description("`true`: what the other sections' files mark as `ANCHOR`."),
    )
    document: str | None = field(
        default=None,
        metadata=description("Documents of this kind (see `documents`); `named` says which."),
    )

    repository: Literal["files", "paths"] | None = field(
        default=None,
        metadata=description(
            "`files`: the files and regions of the code base that the task is "
            "about; `paths`: the next ones by path."
        ),
    )

    # which part of it, and how it is written
    named: str = field(
        default="",
        metadata=description(
            "Which documents: names or paths with commas between them, "
            "`{names}` filled in; `newest` for the one changed last, `none` for"
            " none."
        ),
    )
    fields: Names = field(
        default=(),
        metadata=description(
            "Of a YAML file, only these fields: names with dots for depth, or globs."
        ),
    )
    phase: str | None = field(
        default=None,
        metadata=description(
            "Of a workflow, only this phase: between `PHASE` marks or under its"
            " `## Phase N` heading."
        ),
    )
    folder: str = field(default="", metadata=description("Put in front of every name in `files`."))
    or_folder: str = field(
        default="",
        metadata=description("Where one of the `files` is read from that is not in `folder`."),
    )
    leave_out: Names = field(
        default=(),
        metadata=description(
            "File names (globs) or commits (regular expressions) that do not count."
        ),
    )
    pick: Many | None = field(
        default=None, metadata=description("Only so many files, those most relevant to the task.")
    )
    order: Literal["newest", "relevance"] = field(
        default="newest",
        metadata=description(
            "Of items: `newest`, or `relevance` for those first that the task is about."
        ),
    )
    entries: Many = field(default=20, metadata=description("How many commits."))
    heading: Names | None = field(
        default=None,
        metadata=description(
            "Only what stands under this heading of the file, or under those that stand in for it."
        ),
    )
    beside: Names = field(
        default=(),
        metadata=description(
            "Files and globs in the folder of `file` that are read in addition, whole."
        ),
    )
    without: Names | None = field(
        default=None, metadata=description("The file without what stands under these headings.")
    )
    where: dict[str, Names] = field(
        default_factory=dict,
        metadata=description(
            "Of a list in the source, only members whose fields have these values."
        ),
    )
    having: Names = field(
        default=(),
        metadata=description("Of a list, only members that have something in these fields."),
    )
    last: Many | None = field(
        default=None, metadata=description("Of a list, only the last so many.")
    )
    keep: Literal["first", "last"] = field(
        default="last",
        metadata=description(
            "Of a list that does not fit, which end of it stays: `first` or `last`."
        ),
    )
    wanted: Names = field(
        default=(),
        metadata=description(
            "Of a list, fields that every member should have; a warning names one without."
        ),
    )
    named_in: str | None = field(
        default=None,
        metadata=description("Of a list, only members that another list of the source names."),
    )
    each: str | None = field(
        default=None,
        metadata=description(
            "How a member is written; a line with a blank that has no value is "
            "left out; `{name!}` takes an empty value, too."
        ),
    )
    before: str = field(
        default="", metadata=description("Written in front of it, inside the tags, in every form.")
    )
    after: str = field(
        default="", metadata=description("Written behind it, inside the tags, in every form.")
    )
    show: Literal["plan", "snapshot", "variables", "browser", "conversation"] | None = field(
        default=None,
        metadata=description(
            "How a value of `state` is written: `plan`, `snapshot`, "
            "`variables`, `browser` or `conversation`; secrets in it are "
            "hidden."
        ),
    )
    inject: bool = field(
        default=False,
        metadata=description("Run the commands in the text, as far as `--allow-command` says."),
    )

    follows: str | None = field(
        default=None,
        metadata=description("The section it stands behind, for a recipe that extends another."),
    )

    # how it behaves
    essential: bool = field(
        default=False,
        metadata=description("Never cut; goes with neither `max` nor other `forms` than `full`."),
    )
    required: bool = field(
        default=False, metadata=description("An error where there is nothing to read.")
    )
    forms: tuple[Form, ...] | None = field(
        default=None,
        metadata=description(
            "What it may become, in order; without it `[full, excerpt, reference, gone]`."
        ),
    )
    tier: int = field(
        default=1,
        metadata={"ge": 0, "le": 9, **description("0 to 9; room goes to lower tiers first.")},
    )
    target: ShareField | None = field(
        default=None,
        metadata=description("Tokens or a share of the window; shown, never enforced."),
    )
    target_group: str = field(
        default="", metadata=description("A name: sections of one group share one target.")
    )
    max: ShareField | None = field(
        default=None, metadata=description("Tokens or a share of the budget; never more than this.")
    )
    min: ShareField | None = field(
        default=None,
        metadata=description(
            "Tokens or a share of the budget; kept for a section that may be "
            "cut and is never lost; without it 100 tokens."
        ),
    )
    stands_in_for: str | None = field(
        default=None, metadata=description("Comes in only where that other section can't be whole.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(RecipePart):
    """What one agent, skill, purpose or phase reads."""

    about: str = field(default="", metadata=description("One line."))
    agent: str | None = field(
        default=None, metadata=description("Of a skill: the agent whose sections it starts from.")
    )
    sections: tuple[str, ...] | None = field(
        default=None, metadata=description("The tags it reads.")
    )
    add: tuple[str, ...] = field(
        default=(), metadata=description("Tags that it reads beside them.")
    )
    without: tuple[str, ...] = field(
        default=(), metadata=description("Tags that it does not read after all.")
    )
    required: tuple[str, ...] = field(
        default=(), metadata=description("Tags that must have something to read.")
    )
    optional: tuple[str, ...] = field(
        default=(),
        metadata=description(
            "Tags that need not have something to read after all, whatever the agent says."
        ),
    )
    change: dict[str, dict[str, Any]] = field(
        default_factory=dict,
        metadata=description(
            "Other values for the fields of a section; `null` takes a limit "
            "such as `max` or `pick` away."
        ),
    )
    gives_way: tuple[str | tuple[str, ...], ...] | None = field(
        default=None, metadata=description("Its own order.")
    )
    values: Texts = field(default_factory=dict, metadata=description("Fills `{names}`."))
    when_given: dict[Literal["step"], str] = field(
        default_factory=dict,
        metadata=description(
            "By `step`: added to `{instructions}` where the request names one "
            "with `--step`; `{step_text}` is what its file says."
        ),
    )
    split: Split | None = field(
        default=None,
        metadata=description(
            "Shares of tier 1, 2, 3, as in `50/30/20`; what a tier does not use goes to the next."
        ),
    )
    tiers: dict[int, Names] = field(
        default_factory=dict,
        metadata=description("The kinds of item in each tier; items of tier 1 are essential."),
    )
    leave_out: dict[str, str] = field(
        default_factory=dict, metadata=description("Kinds of item that never come in, and why.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSpec(RecipePart):
    """How large the package may be where nobody says."""

    share: WindowShare | None = field(default=None, metadata=description("Of the model's window."))
    tokens: Many | None = field(
        default=None, metadata=description("So many tokens, whatever the window.")
    )
    less: dict[str, Reserve] = field(
        default_factory=dict, metadata=description("Kept free for other things, by name.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NameLine(RecipePart):
    """A line such as `**Current step:** Name` in a file."""

    file: str = dataclasses.field(metadata=description("The file with the line."))
    field: str = dataclasses.field(metadata=description("What stands before the colon."))
    within: str | None = dataclasses.field(
        default=None, metadata=description("A field that names the folder above.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Locate(RecipePart):
    """How an input that was not given is found."""

    above_task: str | None = field(
        default=None,
        metadata=description("The nearest folder above the task that holds a file of this name."),
    )
    among: str | None = field(
        default=None, metadata=description("A glob; each match is a candidate.")
    )
    named_in: NameLine | None = field(
        default=None,
        metadata=description(
            "A `file` with a line such as `**Current step:** Reserve a shelf`; "
            "`field` is what stands before the colon, `within` a field that "
            "names the folder above."
        ),
    )
    leave_out: Names = field(
        default=(), metadata=description("File names that do not count, such as `*.done.md`.")
    )
    ticked_in: str | None = field(
        default=None,
        metadata=description(
            "A file in a folder above the matches: what is ticked off in its lists and tables by"
            " name does not count."
        ),
    )
    pending: str | None = field(
        default=None,
        metadata=description("A candidate counts only while this glob below it has a match."),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskType(RecipePart):
    """Words that tell the kind of a task, and the files that kind needs."""

    words: tuple[str, ...] = field(
        default=(), metadata=description("Words in a task that tell its kind.")
    )
    files: tuple[str, ...] = field(
        default=(), metadata=description("The files that this kind of task needs.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLimits(RecipePart):
    """What a command in a text may cost. Which ones may run is for the user to say, never for a
    recipe."""

    # the same as those of `sources.commands.Policy`, which says why
    timeout_seconds: float = field(
        default=5.0, metadata={"gt": 0, "le": 600, **description("How long a command may run.")}
    )
    output_bytes: Many = field(
        default=65_536, metadata=description("How much of its output is read.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossSessions(RecipePart):
    """Which kinds of item come back in the next session; the others are read anew or not at all."""

    persist: tuple[str, ...] = field(
        default=(), metadata=description("Kinds that always come back.")
    )
    persist_if_validated: tuple[str, ...] = field(
        default=(), metadata=description("Kinds of which those come back that were validated.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileValue(RecipePart):
    """A value out of a YAML file of the project, for {blanks}: the first of these places that
    has one."""

    file: Names = field(
        metadata=description("The file, or several of which the first that has a value counts.")
    )
    at: Names = field(metadata=description("Keys, with dots for depth."))
    default: str = field(default="", metadata=description("The value where none of them has one."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(RecipePart):
    """How large a document of a kind should be; past `error` it is an error, not a warning."""

    tokens: Many = field(metadata=description("Past these there is a warning."))
    error: Many | None = field(default=None, metadata=description("Past these there is an error."))


@dataclass(frozen=True, slots=True, kw_only=True)
class LintException(RecipePart):
    """A problem that is there on purpose."""

    file: str = field(metadata=description("A glob from the root."))
    code: str = field(default="*", metadata=description("The code of the problem, or * for all."))
    reason: str = field(metadata={"min_length": 1, **description("Why it is there on purpose.")})


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSpec(RecipePart):
    """What authors are held to."""

    limits: dict[str, Limit] = field(
        default_factory=dict, metadata=description("By kind of document, or `phase`.")
    )
    exceptions: tuple[LintException, ...] = field(
        default=(), metadata=description("Problems that are there on purpose.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRule(RecipePart):
    """When an item no longer counts."""

    kinds: tuple[str, ...] = field(default=(), metadata=description("Kinds of item."))
    statuses: tuple[str, ...] = field(
        default=(), metadata=description("Statuses with which they no longer count.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeSpec(RecipePart):
    """A recipe: sections in reading order, who reads which, and what gives way first."""

    name: str = field(metadata=description("What it is called."))
    about: str = field(default="", metadata=description("One line for `foreword recipe list`."))
    extends: str | None = field(
        default=None, metadata=description("The recipe this one is laid over.")
    )
    needs: tuple[
        Literal["agent", "skill", "agent or skill", "purpose", "phase", "source", "task"], ...
    ] = field(
        default=(),
        metadata=description(
            "What a request must name: `agent`, `skill`, `agent or skill`, "
            "`purpose`, `phase`, `source`, `task`."
        ),
    )
    budget: BudgetSpec = field(
        default=BudgetSpec(share=Share("whole", 0.3)),
        metadata=description(
            "`share` of the window or `tokens`, `less` what stays free, by name; without it"
            " `share: 30%`."
        ),
    )
    folder: str = field(
        default="",
        metadata=description(
            "The folder of a project it is about: without it there is an error and no context."
        ),
    )
    sections: dict[str, SectionSpec] = field(
        metadata={
            "min_length": 1,
            **description(
                "The sections by tag, in reading order; a tag is lower-case "
                "letters, digits and underscores."
            ),
        }
    )
    gives_way: tuple[str | tuple[str, ...], ...] = field(
        default=(),
        metadata=description(
            "Tags from the first to give way to the last; an inner list shares a rank."
        ),
    )
    agents: dict[str, Profile] = field(
        default_factory=dict, metadata=description("The sections that an agent reads, by its name.")
    )
    skills: dict[str, Profile] = field(
        default_factory=dict, metadata=description("The same for a skill.")
    )
    other_skills: Profile | None = field(
        default=None,
        metadata=description(
            "What a skill reads that is in no table but has a file (`skill_file`)."
        ),
    )
    purposes: dict[str, Profile] = field(
        default_factory=dict, metadata=description("The same for a purpose.")
    )
    default_purpose: str | None = field(
        default=None, metadata=description("The purpose where none is asked for.")
    )
    phases: dict[str, Profile] = field(
        default_factory=dict, metadata=description("The same for a phase.")
    )
    skill_file: Names = field(
        default=(),
        metadata=description("Where a skill's own instructions may be; `{skill}` is filled in."),
    )
    locate: dict[str, Locate] = field(
        default_factory=dict,
        metadata=description(
            "How `{step}`, `{task}` and the like are found when they are not given."
        ),
    )
    tiers: dict[TierNumber, Many] = field(
        default_factory=dict,
        metadata=description(
            "Hard limits by tier, in tokens; tier 0 is never cut, and takes "
            "what it has too much from the last one."
        ),
    )
    within: tuple[str, ...] = field(
        default=("",),
        metadata=description(
            "Folders that the documents, and the files of `read` and of sections, may lie in."
        ),
    )
    documents: dict[str, Names] = field(
        default_factory=dict,
        metadata=description(
            "Kinds of document and the globs where they lie; one that fits two "
            "is of the first kind."
        ),
    )
    on_demand: tuple[str, ...] = field(
        default=(), metadata=description("Kinds of document that `foreword lookup` finds.")
    )
    read: dict[str, FileValue] = field(
        default_factory=dict,
        metadata=description(
            "Values for `{names}` out of YAML files of the project: `file`, the"
            " keys `at` which to look, a `default`."
        ),
    )
    lint: LintSpec = field(
        default=LintSpec(),
        metadata=description(
            "What `foreword lint` holds authors to: `limits` by kind, and "
            "`exceptions` with `file`, `code` and `reason`."
        ),
    )
    task_types: dict[str, TaskType] = field(
        default_factory=dict,
        metadata=description(
            "`words` that tell the kind of a task and the `files` that kind "
            "needs (`files: task_type`)."
        ),
    )
    commands: CommandLimits = field(
        default=CommandLimits(),
        metadata=description("What a command may cost: `timeout_seconds`, `output_bytes`."),
    )
    across_sessions: AcrossSessions = field(
        default=AcrossSessions(),
        metadata=description(
            "Which kinds of item `--carry` keeps: `persist`, `persist_if_validated`."
        ),
    )
    ended: EndRule = field(
        default=EndRule(),
        metadata=description(
            "`kinds` of item that no longer count once they have one of these `statuses`."
        ),
    )
    self_check: bool = field(
        default=False,
        metadata=description("End the report with checks worked out from the package."),
    )


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
