"""The shape of a checkpoint's file, for validation and for other programs (`foreword checkpoint
schema`).

Outside data only: inside there is `checkpoint.Checkpoint`. Fields that the shape does not know are
kept as they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field

from foreword.errors import BadCheckpoint
from foreword.plan import validation
from foreword.plan.value_words import depth_problems, value_in_words
from foreword.work.checkpoint import FORMAT, KNOWN, Checkpoint, as_data, from_data, without_secrets

LARGEST = 2**53  # of a number, so that any reader of JSON can hold it
MOST_PROBLEMS = 3  # in one message: a file of another kind has as many as the shape has fields
CONTENT = ("content", "text", "body")  # what an artifact must not carry


class CheckpointPart(BaseModel):
    """A part of a checkpoint: what it does not know, it keeps."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, defer_build=True)


class DecisionSpec(CheckpointPart):
    """Something that was decided, and why."""

    what: str
    why: str = ""


class ArtifactSpec(CheckpointPart):
    """A reference to what a phase has made; never its content."""

    title: str = ""
    handle: str | None = Field(default=None, description="What `foreword recall` takes.")
    digest: str | None = Field(default=None, description="SHA-256 of its bytes, in hex.")
    path: str | None = Field(default=None, description="Its file, relative to the project's root.")
    tokens: int | None = Field(default=None, ge=0, le=LARGEST)


class TierSpec(CheckpointPart):
    """What was loaded of one tier."""

    digest: str
    tokens: int = Field(default=0, ge=0, le=LARGEST)
    recipe: str = Field(default="", description="What it was loaded by.")


class GitSpec(CheckpointPart):
    """Where the repository stood; null where there was none."""

    branch: str | None = None
    head: str | None = Field(default=None, pattern="^[0-9a-f]{40,64}$")
    dirty: bool | None = Field(
        default=None, description="Whether there were changes that were not committed."
    )


class CheckpointSpec(CheckpointPart):
    """Where a task stood at the end of a phase, and all it needs to go on."""

    format: Literal[1]
    task: str = Field(min_length=1)
    phase: str = Field(min_length=1)
    objective: str = ""
    flow: str = Field(
        default="", description="The workflow that the phase is one of: its name or its file."
    )
    state: dict[str, Any] = Field(description="Whatever the task keeps.")
    decisions: list[DecisionSpec] = []
    findings: list[Any] = []
    artifacts: dict[str, ArtifactSpec] = {}
    done: list[str] = Field(default=[], description="Phases or steps.")
    pending: list[str] = Field(default=[], description="Phases or steps.")
    tiers: dict[str, TierSpec] = Field(default={}, description="What was loaded, by tier.")
    git: GitSpec = GitSpec()
    written_at: str
    sequence: int = Field(
        ge=1, le=LARGEST, description="1 for the first checkpoint of a task, then one more each."
    )
    previous: str | None = Field(default=None, description="The name of the checkpoint before it.")


@dataclass(frozen=True, slots=True)
class Damage:
    """Why something is no checkpoint that can be used."""

    reason: str


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a checkpoint's file."""
    schema = CheckpointSpec.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Foreword checkpoint",
    }


def read_checkpoint(text: str | bytes) -> Checkpoint | Damage:
    """The checkpoint in a text, or what is wrong with it."""
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
        data = json.loads(decoded, parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        return Damage("it is not UTF-8")
    except json.JSONDecodeError as error:
        return Damage(f"it is not JSON: {error.msg} (line {error.lineno}, column {error.colno})")
    # NaN, a number of thousands of digits, or thousands of brackets
    except (ValueError, RecursionError) as error:
        return Damage(f"it is not usable JSON: {error}")
    problems = _problems(data)
    if problems:
        reason = "; ".join(problems[:MOST_PROBLEMS])
        if len(problems) > MOST_PROBLEMS:
            reason += f" and {len(problems) - MOST_PROBLEMS} more"
        return Damage(reason)
    return from_data(data)


def prepare_checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint of a caller's as it may be kept: checked, made of plain JSON, secrets hidden."""
    data = {**as_data(checkpoint), "sequence": 1}  # time and number are still to come
    problems = list[str]()
    for name in checkpoint.extra:
        if name in KNOWN:
            problems.append(f"extra.{name}: the checkpoint has a field of that name")
    problems += depth_problems(data)
    if not problems:
        data = _as_plain_json(data)
        problems = [*_problems(data), *_content_problems(data.get("artifacts"))]
    if problems:
        raise BadCheckpoint(problems)
    return without_secrets(from_data(data))


def _as_plain_json(data: Mapping[str, Any]) -> dict[str, Any]:
    try:
        plain = json.loads(json.dumps(data, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadCheckpoint([f"it can't be kept as JSON: {error}"]) from None
    assert isinstance(plain, dict)
    return plain


def _problems(data: object) -> list[str]:
    if not isinstance(data, dict):
        return [f"it must be a mapping, not {value_in_words(data)}"]
    format_number = data.get("format")
    if isinstance(format_number, int) and format_number > FORMAT:
        return [
            f"it was written by a newer Foreword (format {format_number}, this one knows {FORMAT})"
        ]
    too_deep = depth_problems(data)
    if too_deep:
        return too_deep
    return validation.problems(CheckpointSpec, data)


def _content_problems(artifacts: object) -> list[str]:
    if not isinstance(artifacts, dict):
        return []
    problems = []
    for name, about in artifacts.items():
        if not isinstance(about, dict):
            continue
        for member in CONTENT:
            if member in about:
                reason = "an artifact is a reference, so its content stays where it is"
                problems.append(f"artifacts.{name}.{member}: {reason}")
    return problems


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
