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
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

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
from foreword.recipe.positions import CODE, FILES, MESSAGES, PART, POSITIONS, all_but
from foreword.section import Form, Share

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Texts = dict[str, str]
AnyPart = TypeVar("AnyPart", bound="RecipePart")


class RecipePart:
    """A part of a recipe: unknown fields are errors."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}


def description(text: str) -> dict[str, str]:
    """What the schema says about a field."""
    return {"description": text}


def setting(
    text: str,
    *,
    of: tuple[str, ...] = POSITIONS,
    needs: str = "",
    excluded_by: tuple[str, ...] = (),
    **default: Any,
) -> Any:
    """A field of a recipe that need not be given, what the schema says about it, and where it has
    an effect: in sections at the positions `of`, beside the field that it `needs`, without those
    that it is `excluded_by`."""
    if of != POSITIONS:
        text = f"{text} Only with {', '.join([f'`{position}`' for position in of])}."
    effect = {"of": of, "needs": needs, "excluded_by": excluded_by}
    return field(metadata={**description(text), **effect}, **default)


def validate(part: type[AnyPart], data: object) -> AnyPart:
    """A part of a recipe that comes from outside; pydantic's error where it is none."""
    hashable: Any = part
    validated: AnyPart = _validator(hashable).validate_python(data)
    return validated


@cache
def _validator(part: type[object]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(part)


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpec(RecipePart):
    """One section: where its text comes from, and how it behaves when room is short."""

    # where from: one of these
    file: str | None = setting(
        "One file under the root, no glob; `{names}` are filled in.", default=None
    )
    files: Names | None = setting(
        "Files and globs, or `task_type` for those of the task's type.", default=None
    )
    git: Literal["log"] | None = setting(
        "`log`: the newest commits in plain language.", default=None
    )
    text: str | None = setting(
        "A text of the recipe's own; `{names}` from `locate` and `values` are filled in. Beside"
        " `state`, it is written where the source has none.",
        of=("text", "state", MESSAGES),
        default=None,
    )
    items: Names | None = setting(
        "Items of these kinds from the source; `*` for all kinds that no other section takes.",
        default=None,
    )
    state: str | None = setting("A key of the JSON source, with dots for depth.", default=None)
    anchors: Literal[True] | None = setting(
        "`true`: what the other sections' files mark as `ANCHOR`.", default=None
    )
    document: str | None = setting(
        "Documents of this kind (see `documents`); `named` says which.", default=None
    )

    repository: Literal["files", "paths"] | None = setting(
        "`files`: the files and regions of the code base that the task is "
        "about; `paths`: the next ones by path.",
        default=None,
    )

    # which part of it, and how it is written
    named: str = setting(
        "Which documents: names or paths with commas between them, "
        "`{names}` filled in; `newest` for the one changed last, `none` for"
        " none.",
        default="",
        of=("document",),
    )
    fields: Names = setting(
        "Of a YAML file, only these fields: names with dots for depth, or globs.",
        default=(),
        of=(*FILES, "document"),
    )
    phase: str | None = setting(
        "Of a workflow, only this phase: between `PHASE` marks or under its `## Phase N` heading.",
        default=None,
        of=("document",),
        excluded_by=("fields",),
    )
    folder: str = setting(
        "Put in front of every name in `files`.",
        default="",
        of=("files",),
    )
    or_folder: str = setting(
        "Where one of the `files` is read from that is not in `folder`.",
        default="",
        of=("files",),
    )
    leave_out: Names = setting(
        "File names (globs) or commits (regular expressions) that do not count.",
        default=(),
        of=("files", "git"),
    )
    pick: Many | None = setting(
        "Only so many files, those most relevant to the task.",
        default=None,
        of=("files",),
    )
    order: Literal["newest", "relevance"] = setting(
        "Of items: `newest`, or `relevance` for those first that the task is about.",
        default="newest",
        of=("items",),
    )
    entries: Many = setting(
        "How many commits.",
        default=20,
        of=("git",),
    )
    heading: Names | None = setting(
        "Only what stands under this heading of the file, or under those that stand in for it.",
        default=None,
        of=FILES,
        excluded_by=("fields",),
    )
    beside: Names = setting(
        "Files and globs in the folder of `file` that are read in addition, whole.",
        default=(),
        of=FILES,
    )
    without: Names | None = setting(
        "The file without what stands under these headings.",
        default=None,
        of=FILES,
        excluded_by=("fields", "heading"),
    )
    where: dict[str, Names] = setting(
        "Of a list in the source, only members whose fields have these values.",
        default_factory=dict,
        of=("state",),
    )
    having: Names = setting(
        "Of a list, only members that have something in these fields.",
        default=(),
        of=("state",),
    )
    last: Many | None = setting(
        "Of a list, only the last so many.",
        default=None,
        of=("state",),
    )
    keep: Literal["first", "last"] = setting(
        "Of a list that does not fit, which end of it stays: `first` or `last`.",
        default="last",
        of=("state", MESSAGES),
    )
    wanted: Names = setting(
        "Of a list, fields that every member should have; a warning names one without.",
        default=(),
        of=("state",),
        needs="each",
    )
    named_in: str | None = setting(
        "Of a list, only members that another list of the source names.",
        default=None,
        of=("state",),
    )
    each: str | None = setting(
        "How a member is written; a line with a blank that has no value is "
        "left out; `{name!}` takes an empty value, too.",
        default=None,
        of=("state",),
    )
    before: str = setting(
        "Written in front of it, inside the tags, in every form.",
        default="",
        of=all_but("anchors"),
    )
    after: str = setting(
        "Written behind it, inside the tags, in every form.",
        default="",
        of=all_but("anchors"),
    )
    show: Literal["plan", "snapshot", "variables", "browser", "conversation"] | None = setting(
        "How a value of `state` is written: `plan`, `snapshot`, "
        "`variables`, `browser` or `conversation`; secrets in it are "
        "hidden.",
        default=None,
        of=("state", PART, MESSAGES),
    )
    inject: bool = setting(
        "Run the commands in the text, as far as `--allow-command` says.",
        default=False,
        of=FILES,
    )

    follows: str | None = setting(
        "The section it stands behind, for a recipe that extends another.", default=None
    )

    # how it behaves
    essential: bool = setting(
        "Never cut; goes with neither `max` nor `forms`.",
        default=False,
        of=all_but("items"),
    )
    required: bool = setting(
        "An error where there is nothing to read.",
        default=False,
        of=all_but("anchors", PART),
    )
    forms: tuple[Form, ...] | None = setting(
        "What it may become, in order; without it `[full, excerpt, reference, gone]`.",
        default=None,
        excluded_by=("essential",),
    )
    tier: TierNumber = setting(
        "0 to 9; room goes to lower tiers first.", of=all_but("items"), default=1
    )
    target: ShareField | None = setting(
        "Tokens or a share of the window; shown, never enforced.", default=None
    )
    target_group: str = setting(
        "A name: sections of one group share one target.",
        default="",
        needs="target",
    )
    max: ShareField | None = setting(
        "Tokens or a share of the budget; never more than this.",
        default=None,
        excluded_by=("essential",),
    )
    min: ShareField | None = setting(
        "Tokens or a share of the budget; kept for a section that may be "
        "cut and is never lost; without it 100 tokens.",
        default=None,
        of=all_but(MESSAGES, CODE),
        excluded_by=("essential",),
    )
    stands_in_for: str | None = setting(
        "Comes in only where that other section can't be whole.",
        default=None,
        excluded_by=("essential",),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(RecipePart):
    """What one agent, skill, purpose or phase reads."""

    about: str = setting("One line.", default="")
    agent: str | None = setting(
        "Of a skill: the agent whose sections it starts from.", default=None
    )
    sections: tuple[str, ...] | None = setting("The tags it reads.", default=None)
    add: tuple[str, ...] = setting("Tags that it reads beside them.", default=())
    without: tuple[str, ...] = setting("Tags that it does not read after all.", default=())
    required: tuple[str | tuple[str, ...], ...] = setting(
        "Tags that must have something to read; of a list of tags, one of them.", default=()
    )
    optional: tuple[str, ...] = setting(
        "Tags that need not have something to read after all, whatever the agent says.", default=()
    )
    change: dict[str, dict[str, Any]] = setting(
        "Other values for the fields of a section; `null` takes a limit "
        "such as `max` or `pick` away.",
        default_factory=dict,
    )
    gives_way: tuple[str | tuple[str, ...], ...] | None = setting("Its own order.", default=None)
    values: Texts = setting("Fills `{names}`.", default_factory=dict)
    when_given: dict[Literal["step"], str] = setting(
        "By `step`: added to `{instructions}` where the request names one "
        "with `--step`; `{step_text}` is what its file says.",
        default_factory=dict,
    )
    split: Split | None = setting(
        "Shares of tier 1, 2, 3, as in `50/30/20`; what a tier does not use goes to the next.",
        default=None,
    )
    tiers: dict[int, Names] = setting(
        "The kinds of item in each tier; items of tier 1 are essential.", default_factory=dict
    )
    leave_out: dict[str, str] = setting(
        "Kinds of item that never come in, and why.", default_factory=dict
    )
    only_named: Names = setting(
        "Kinds of item that come in only where the task has their title or file name.", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSpec(RecipePart):
    """How large the package may be where nobody says."""

    share: WindowShare | None = setting("Of the model's window.", default=None)
    tokens: Many | None = setting("So many tokens, whatever the window.", default=None)
    less: dict[str, Reserve] = setting("Kept free for other things, by name.", default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameLine(RecipePart):
    """A line such as `**Current step:** Name` in a file."""

    file: str = dataclasses.field(metadata=description("The file with the line."))
    field: str = dataclasses.field(metadata=description("What stands before the colon."))
    within: str | None = setting("A field that names the folder above.", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Locate(RecipePart):
    """How an input that was not given is found."""

    above_task: str | None = setting(
        "The nearest folder above the task that holds a file of this name.", default=None
    )
    among: str | None = setting("A glob; each match is a candidate.", default=None)
    named_in: NameLine | None = setting(
        "A `file` with a line such as `**Current step:** Reserve a shelf`; "
        "`field` is what stands before the colon, `within` a field that "
        "names the folder above.",
        default=None,
    )
    leave_out: Names = setting("File names that do not count, such as `*.done.md`.", default=())
    ticked_in: str | None = setting(
        "A file in a folder above the matches: what is ticked off in its lists and tables by"
        " name does not count.",
        default=None,
    )
    pending: str | None = setting(
        "A candidate counts only while this glob below it has a match.", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskType(RecipePart):
    """Words that tell the kind of a task, and the files that kind needs."""

    words: tuple[str, ...] = setting("Words in a task that tell its kind.", default=())
    files: tuple[str, ...] = setting("The files that this kind of task needs.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLimits(RecipePart):
    """What a command in a text may cost. Which ones may run is for the user to say, never for a
    recipe."""

    # the same as those of `sources.commands.Policy`, which says why
    timeout_seconds: float = field(
        default=5.0, metadata={"gt": 0, "le": 600, **description("How long a command may run.")}
    )
    output_bytes: Many = setting("How much of its output is read.", default=65_536)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossSessions(RecipePart):
    """Which kinds of item come back in the next session; the others are read anew or not at all."""

    persist: tuple[str, ...] = setting("Kinds that always come back.", default=())
    persist_if_validated: tuple[str, ...] = setting(
        "Kinds of which those come back that were validated.", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileValue(RecipePart):
    """A value out of a YAML file of the project, for {blanks}: the first of these places that
    has one."""

    file: Names = field(
        metadata=description("The file, or several of which the first that has a value counts.")
    )
    at: Names = field(metadata=description("Keys, with dots for depth."))
    default: str = setting("The value where none of them has one.", default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(RecipePart):
    """How large a document of a kind should be; past `error` it is an error, not a warning."""

    tokens: Many = field(metadata=description("Past these there is a warning."))
    error: Many | None = setting("Past these there is an error.", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintException(RecipePart):
    """A problem that is there on purpose."""

    file: str = field(metadata=description("A glob from the root."))
    code: str = setting("The code of the problem, or * for all.", default="*")
    reason: str = field(metadata={"min_length": 1, **description("Why it is there on purpose.")})


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSpec(RecipePart):
    """What authors are held to."""

    limits: dict[str, Limit] = setting("By kind of document, or `phase`.", default_factory=dict)
    exceptions: tuple[LintException, ...] = setting(
        "Problems that are there on purpose.", default=()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRule(RecipePart):
    """When an item no longer counts."""

    kinds: tuple[str, ...] = setting("Kinds of item.", default=())
    statuses: tuple[str, ...] = setting("Statuses with which they no longer count.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeSpec(RecipePart):
    """A recipe: sections in reading order, who reads which, and what gives way first."""

    name: str = field(metadata=description("What it is called."))
    about: str = setting("One line for `foreword recipe list`.", default="")
    extends: str | None = setting("The recipe this one is laid over.", default=None)
    needs: tuple[
        Literal["agent", "skill", "agent or skill", "purpose", "phase", "source", "task"], ...
    ] = setting(
        "What a request must name: `agent`, `skill`, `agent or skill`, "
        "`purpose`, `phase`, `source`, `task`.",
        default=(),
    )
    budget: BudgetSpec = setting(
        "`share` of the window or `tokens`, `less` what stays free, by name; without it"
        " `share: 30%`.",
        default=BudgetSpec(share=Share("whole", 0.3)),
    )
    folder: str = setting(
        "The folder of a project it is about: without it there is an error and no context.",
        default="",
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
    gives_way: tuple[str | tuple[str, ...], ...] = setting(
        "Tags from the first to give way to the last; an inner list shares a rank.", default=()
    )
    agents: dict[str, Profile] = setting(
        "The sections that an agent reads, by its name.", default_factory=dict
    )
    skills: dict[str, Profile] = setting("The same for a skill.", default_factory=dict)
    other_skills: Profile | None = setting(
        "What a skill reads that is in no table but has a file (`skill_file`).", default=None
    )
    purposes: dict[str, Profile] = setting("The same for a purpose.", default_factory=dict)
    default_purpose: str | None = setting("The purpose where none is asked for.", default=None)
    phases: dict[str, Profile] = setting("The same for a phase.", default_factory=dict)
    skill_file: Names = setting(
        "Where a skill's own instructions may be; `{skill}` is filled in.", default=()
    )
    locate: dict[str, Locate] = setting(
        "How `{step}`, `{task}` and the like are found when they are not given.",
        default_factory=dict,
    )
    tiers: dict[TierNumber, Many] = setting(
        "Hard limits by tier, in tokens; tier 0 is never cut, and takes "
        "what it has too much from the last one.",
        default_factory=dict,
    )
    within: tuple[str, ...] = setting(
        "Folders that the documents, and the files of `read` and of sections, may lie in.",
        default=("",),
    )
    documents: dict[str, Names] = setting(
        "Kinds of document and the globs where they lie; one that fits two is of the first kind.",
        default_factory=dict,
    )
    on_demand: tuple[str, ...] = setting(
        "Kinds of document that `foreword lookup` finds.", default=()
    )
    read: dict[str, FileValue] = setting(
        "Values for `{names}` out of YAML files of the project: `file`, the"
        " keys `at` which to look, a `default`.",
        default_factory=dict,
    )
    lint: LintSpec = setting(
        "What `foreword lint` holds authors to: `limits` by kind, and "
        "`exceptions` with `file`, `code` and `reason`.",
        default=LintSpec(),
    )
    task_types: dict[str, TaskType] = setting(
        "`words` that tell the kind of a task and the `files` that kind "
        "needs (`files: task_type`).",
        default_factory=dict,
    )
    commands: CommandLimits = setting(
        "What a command may cost: `timeout_seconds`, `output_bytes`.", default=CommandLimits()
    )
    across_sessions: AcrossSessions = setting(
        "Which kinds of item `--carry` keeps: `persist`, `persist_if_validated`.",
        default=AcrossSessions(),
    )
    ended: EndRule = setting(
        "`kinds` of item that no longer count once they have one of these `statuses`.",
        default=EndRule(),
    )
    kind_names: dict[str, str] = setting(
        "Names of folders and files, in the singular, and the kind of item that is in them; a"
        " kind's own name need not be here.",
        default_factory=dict,
    )
    rebuild_state: bool = setting(
        "Of a conversation: write the state anew in front of the history in every call, instead of"
        " appending what changed.",
        default=False,
    )
    self_check: bool = setting(
        "End the report with checks worked out from the package.", default=False
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
