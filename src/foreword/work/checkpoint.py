"""A checkpoint: what a task needs to go on after its conversation is gone.

The value itself, the name it is kept under, what has changed since it was written, and how a model
reads it. Pure: `task_checkpoints` writes and reads the files; the shape of a file is in
`checkpoint_schema`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import quote, unquote

from foreword.errors import UsageError
from foreword.pattern import lazy_pattern
from foreword.secrets.masking import hide, mask
from foreword.sources.git_status import GitStatus
from foreword.text.quantity import quantity

FORMAT = 1  # of the file, for programs that read it
# Of a file, in bytes. Most file systems take 255; the rest is for the ending of a temporary file.
LONGEST_NAME = 240
SHORT = 12  # characters of a commit or a digest, as git abbreviates them in large repositories
_BETWEEN = "-phase-"
_END = ".json"
_INVISIBLE = lazy_pattern("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One checkpoint. Time, number, git and the one before it are filled in where it is written."""

    task: str
    phase: str
    objective: str = ""
    flow: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    decisions: Sequence[Mapping[str, Any]] = ()  # {what, why}
    findings: Sequence[Any] = ()
    # name -> {title, handle, digest, tokens}
    artifacts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    done: Sequence[str] = ()
    pending: Sequence[str] = ()
    tiers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # tier -> {digest, tokens}
    git: GitStatus = field(default_factory=GitStatus)
    written_at: str = ""
    sequence: int = 0
    previous: str | None = None
    # fields of somebody else's, kept as they are
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is known by: `FEAT-1-phase-2`."""
        return file_name(self.task, self.phase).removesuffix(_END)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentState:
    """How things are now, to compare a checkpoint with."""

    git: GitStatus = field(default_factory=GitStatus)
    # commits that HEAD has more and fewer; `None` where git can't tell
    apart: tuple[int, int] | None = None
    files: Mapping[str, str] = field(default_factory=dict)  # artifact -> what became of its file
    tiers: Mapping[str, Mapping[str, Any]] | None = None
    newer: str = ""  # the name of a newer checkpoint


# --- the name -------------------------------------------------------------------------------------


def file_name(task: str, phase: str) -> str:
    """The name of its file, another for every task and phase; what could mean something to a
    file system is escaped."""
    try:
        # The phase is what stands behind the last `-phase-`, so it may not have one of its own.
        escaped_phase = _escape(phase).replace("phase-", "phase%2D")
        name = f"{_escape(task)}{_BETWEEN}{escaped_phase}{_END}"
    except UnicodeEncodeError:
        raise UsageError(
            f"{task!r}, phase {phase!r}: half a character can't be in a name"
        ) from None
    if not task or not phase:
        raise UsageError(
            "a checkpoint needs the name of its task and of its phase",
            hint="for example FEAT-1 and 2",
        )
    if len(name) > LONGEST_NAME:
        raise UsageError(
            f"task {task[:40]!r}..., phase {phase[:40]!r}: the name of their file would have"
            f" {len(name)} characters",
            hint=f"at most {LONGEST_NAME}; letters other than a-z count several times",
        )
    return name


def named_by(file: str) -> tuple[str, str] | None:
    """The task and the phase that a file name stands for, or nothing where it is no
    checkpoint's."""
    escaped_task, between, escaped_phase = file.removesuffix(_END).rpartition(_BETWEEN)
    if not between or not escaped_task or not escaped_phase:
        return None
    task = unquote(escaped_task, errors="replace")
    phase = unquote(escaped_phase, errors="replace")
    try:
        return (task, phase) if file_name(task, phase) == file else None
    except UsageError:
        return None


def _escape(name: str) -> str:
    escaped = quote(name, safe="")
    return "%2E" + escaped[1:] if escaped.startswith(".") else escaped


# --- to and from JSON -----------------------------------------------------------------------------

_FIELDS = tuple(field.name for field in fields(Checkpoint) if field.name != "extra")
KNOWN = ("format", *_FIELDS)
_LISTS = ("decisions", "findings", "done", "pending")
_REFERENCE_FIELDS = ("handle", "digest", "path", "tokens")  # of an artifact


def as_data(checkpoint: Checkpoint) -> dict[str, Any]:
    """The checkpoint as its file has it."""
    data: dict[str, Any] = {"format": FORMAT}
    for name in _FIELDS:
        value = getattr(checkpoint, name)
        data[name] = list(value) if name in _LISTS else value
    data["git"] = {
        "branch": checkpoint.git.branch,
        "head": checkpoint.git.head,
        "dirty": checkpoint.git.dirty,
    }
    extra = {name: value for name, value in checkpoint.extra.items() if name not in KNOWN}
    return data | extra


def from_data(data: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint of data that has its shape."""
    values: dict[str, Any] = {}
    for name in _FIELDS:
        if name in data:
            values[name] = tuple(data[name]) if name in _LISTS else data[name]
    git = data.get("git") or {}
    values["git"] = GitStatus(
        branch=git.get("branch"), head=git.get("head"), dirty=git.get("dirty")
    )
    extra = {name: value for name, value in data.items() if name not in KNOWN}
    return Checkpoint(**values, extra=extra)


def as_json(checkpoint: Checkpoint) -> bytes:
    """The bytes of its file; half characters, which JSON can say and UTF-8 can not, stay
    escaped."""
    text = json.dumps(as_data(checkpoint), ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def without_secrets(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with every secret hidden in what people and models have put in."""
    free_form: dict[str, Any] = {
        "state": hide(checkpoint.state),
        "decisions": hide(checkpoint.decisions),
        "findings": hide(checkpoint.findings),
        "extra": hide(checkpoint.extra),
    }
    return replace(
        checkpoint,
        objective=mask(checkpoint.objective),
        artifacts={name: _hide_title(about) for name, about in checkpoint.artifacts.items()},
        done=[mask(step) for step in checkpoint.done],
        pending=[mask(step) for step in checkpoint.pending],
        **free_form,
    )


def _hide_title(artifact: Mapping[str, Any]) -> dict[str, Any]:
    """What leads to an artifact is not searched for secrets: a handle that was hidden would lead
    nowhere."""
    reference = {name: artifact[name] for name in _REFERENCE_FIELDS if name in artifact}
    others = {name: value for name, value in artifact.items() if name not in _REFERENCE_FIELDS}
    hidden = hide(others)
    assert isinstance(hidden, dict)
    return hidden | reference


# --- what has changed since -----------------------------------------------------------------------


def changes_since(checkpoint: Checkpoint, now: CurrentState) -> tuple[str, ...]:
    """What is no longer as the checkpoint says, each in one line."""
    lines: list[str] = []
    if now.newer:
        lines.append(f"there is a newer checkpoint: {now.newer}")
    if checkpoint.git.head or checkpoint.git.branch:
        lines += _git_changes(checkpoint.git, now)
    lines += [f"artifact {name}: {change}" for name, change in now.files.items()]
    if now.tiers is not None:
        lines += _tier_changes(checkpoint.tiers, now.tiers)
    return tuple(lines)


def _git_changes(then: GitStatus, now: CurrentState) -> Iterator[str]:
    git = now.git
    if git == GitStatus():
        yield "there is no git repository any more"
        return
    if git.branch != then.branch:
        yield (
            f"the branch is {git.branch or 'none (a commit is checked out)'}, it was"
            f" {then.branch or 'none'}"
        )
    if git.head != then.head:
        distance = _commits_in_words(now.apart)
        yield f"HEAD is {_short(git.head)}, it was {_short(then.head)}: {distance}"
    elif then.dirty and git.dirty is False:
        yield "the changes that were not committed then are gone"
    if git.dirty and then.dirty is False:
        yield "there are changes that are not committed"


def _commits_in_words(apart: tuple[int, int] | None) -> str:
    if apart is None:
        return "that commit is not in this repository"
    ahead, behind = apart
    parts = []
    if ahead:
        parts.append(f"{quantity(ahead, 'commit')} ahead")
    if behind:
        parts.append(f"{quantity(behind, 'commit')} behind")
    return ", ".join(parts) or "the same history"


def _tier_changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for tier in dict.fromkeys([*then, *now]):
        if tier not in now:
            yield f"tier {tier} was loaded then and is not now"
        elif tier not in then:
            yield f"tier {tier} was not loaded then and is now"
        else:
            before = then[tier].get("digest")
            after = now[tier].get("digest")
            if before != after:
                yield f"tier {tier} reads differently: {_short(after)}, it was {_short(before)}"


def _short(digest: str | None) -> str:
    return (digest or "none")[:SHORT]


# --- as a model reads it --------------------------------------------------------------------------


def as_text(checkpoint: Checkpoint, changes: Iterable[str] = ()) -> str:
    """All a model needs to go on, in a fixed order and no longer than it has to be; every value
    stays on its line."""
    masked = without_secrets(checkpoint)
    task = f"{masked.task} (flow {masked.flow})" if masked.flow else masked.task
    number = f"{masked.sequence}, written {masked.written_at}" if masked.sequence else ""
    artifacts = [_artifact_line(name, about) for name, about in masked.artifacts.items()]
    lines = [
        *_line("task", task),
        *_line("objective", masked.objective),
        *_line("phase", masked.phase),
        *_line("checkpoint", number),
        *_line("git", _git_line(masked.git)),
        *_block("changed since", map(_one_line, changes)),
        *_line("done", ", ".join(map(_one_line, masked.done))),
        *_line("pending", ", ".join(map(_one_line, masked.pending))),
        *_line("next", _next_phase(masked)),
        *_block("decisions", map(_decision_line, masked.decisions)),
        *_block("findings", map(_one_line, masked.findings)),
        *_block("artifacts", artifacts),
        *_block("state", _member_lines(masked.state)),
        *_block("more", _member_lines(masked.extra)),
        "",
    ]
    return "\n".join(lines)


def as_plain_text(checkpoint: Checkpoint) -> str:
    """Every field for a person, as it was written: nothing is compared and nothing worked out."""
    masked = without_secrets(checkpoint)
    lines = [f"{masked.name}, as it was written"]
    for name, value in as_data(masked).items():
        if value not in (None, "", [], {}):
            lines += _field_lines(name, value)
    return "\n".join([*lines, ""])


def _field_lines(name: str, value: object) -> list[str]:
    """A field on its line, or one line for each of its members."""
    if isinstance(value, Mapping):
        return _block(_one_line(name), _member_lines(value))
    if isinstance(value, list):
        return _block(_one_line(name), map(_one_line, value))
    return [f"{_one_line(name)}: {_one_line(value)}"]


def _next_phase(checkpoint: Checkpoint) -> str:
    """The phase to go on with: this one where it is not done, else the first that is pending."""
    if checkpoint.phase in checkpoint.pending:
        return checkpoint.phase
    return checkpoint.pending[0] if checkpoint.pending else ""


def _line(name: str, value: str) -> list[str]:
    return [f"{name}: {_one_line(value)}"] if value else []


def _block(name: str, lines: Iterable[str]) -> list[str]:
    items = [f"- {line}" for line in lines]
    return [f"{name}:", *items] if items else []


def _member_lines(values: Mapping[str, Any]) -> list[str]:
    return [f"{_one_line(name)}: {_one_line(value)}" for name, value in values.items()]


def _one_line(value: object) -> str:
    """A text on one line as it is, anything else as compact JSON, so that no value can forge a
    line."""
    if isinstance(value, str) and value.isprintable():
        return value
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _git_line(git: GitStatus) -> str:
    if git == GitStatus():
        return ""
    changes = ", with changes not committed" if git.dirty else ""
    return f"{git.branch or 'no branch'} at {_short(git.head)}{changes}"


def _decision_line(decision: Mapping[str, Any]) -> str:
    what = _one_line(decision.get("what", ""))
    why = decision.get("why", "")
    return f"{what} (why: {_one_line(why)})" if why else what


def _artifact_line(name: str, about: Mapping[str, Any]) -> str:
    size = f"{about['tokens']:,} tokens" if about.get("tokens") is not None else ""
    parts = (about.get("title"), about.get("path"), about.get("handle"), size)
    description = ", ".join(_one_line(part) for part in parts if part)
    return f"[{_one_line(name)}] {description}".rstrip()
