"""A checkpoint: what a task needs to go on after its conversation is gone.

The value itself, the name it is kept under, what has changed since it was written, and how a model
reads it. Pure: where checkpoints are kept is `store`'s business, putting the two together
`runtime`'s. What a file of one must look like is told by `checkpoint_schema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import quote, unquote

from foreword.errors import UsageError
from foreword.secrets.masking import hide, mask
from foreword.sources.git_status import GitStatus

FORMAT = 1
LONGEST_NAME = 240  # of a file, in bytes; most file systems take 255
SHORT = 12  # of a commit or a digest, as people read it
_BETWEEN, _END = "-phase-", ".json"
_UNSEEN = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


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
    """How things stand now, to compare a checkpoint with."""

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
        name = _escaped(task) + _BETWEEN + _escaped(phase).replace("phase-", "phase%2D") + _END
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
    task, between, phase = file.removesuffix(_END).rpartition(_BETWEEN)
    if not between or not task or not phase:
        return None
    found = unquote(task, errors="replace"), unquote(phase, errors="replace")
    try:
        return found if file_name(*found) == file else None
    except UsageError:
        return None


def _escaped(name: str) -> str:
    escaped = quote(name, safe="")
    return "%2E" + escaped[1:] if escaped.startswith(".") else escaped


# --- to and from JSON -----------------------------------------------------------------------------

KNOWN = ("format", *(one.name for one in fields(Checkpoint) if one.name != "extra"))
_LISTS = ("decisions", "findings", "done", "pending")
_LEADS = ("handle", "digest", "path", "tokens")  # to an artifact


def as_data(checkpoint: Checkpoint) -> dict[str, Any]:
    """The checkpoint as its file has it."""
    known = {name: getattr(checkpoint, name) for name in KNOWN[1:]}
    known |= {name: list(known[name]) for name in _LISTS}
    git = {
        "branch": checkpoint.git.branch,
        "head": checkpoint.git.head,
        "dirty": checkpoint.git.dirty,
    }
    return {"format": FORMAT, **known, "git": git} | {
        n: v for n, v in checkpoint.extra.items() if n not in KNOWN
    }


def from_data(data: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint of data that has its shape."""
    known = {name: data[name] for name in KNOWN[1:] if name in data}
    known |= {name: tuple(known[name]) for name in _LISTS if name in known}
    git = data.get("git") or {}
    extra = {name: value for name, value in data.items() if name not in KNOWN}
    known["git"] = GitStatus(git.get("branch"), git.get("head"), git.get("dirty"))
    return Checkpoint(**known, extra=extra)


def as_json(checkpoint: Checkpoint) -> bytes:
    """The bytes of its file; half characters, which JSON can say and UTF-8 can not, stay
    escaped."""
    text = json.dumps(as_data(checkpoint), ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def without_secrets(checkpoint: Checkpoint) -> Checkpoint:
    """The same with every secret hidden in what people and models have put in."""
    data: dict[str, Any] = {
        name: hide(getattr(checkpoint, name))
        for name in ("state", "decisions", "findings", "extra")
    }
    return replace(
        checkpoint,
        objective=mask(checkpoint.objective),
        artifacts={name: _reference(about) for name, about in checkpoint.artifacts.items()},
        done=[mask(one) for one in checkpoint.done],
        pending=[mask(one) for one in checkpoint.pending],
        **data,
    )


def _reference(about: Mapping[str, Any]) -> dict[str, Any]:
    """What leads to an artifact is not searched for secrets: a handle that was hidden would lead
    nowhere."""
    shown = hide({name: value for name, value in about.items() if name not in _LEADS})
    assert isinstance(shown, dict)
    return shown | {name: about[name] for name in _LEADS if name in about}


# --- what has changed since -----------------------------------------------------------------------


def changes_since(checkpoint: Checkpoint, now: CurrentState) -> tuple[str, ...]:
    """What is no longer as the checkpoint says, each in one line."""
    newer = [f"there is a newer checkpoint: {now.newer}"] if now.newer else []
    moved = _moved(checkpoint.git, now) if checkpoint.git.head or checkpoint.git.branch else ()
    files = [f"artifact {name}: {became}" for name, became in now.files.items()]
    return (*newer, *moved, *files, *_reloaded(checkpoint.tiers, now.tiers))


def _moved(then: GitStatus, now: CurrentState) -> Iterator[str]:
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
        yield f"HEAD is {_short(git.head)}, it was {_short(then.head)}: {_apart(now.apart)}"
    elif then.dirty and git.dirty is False:
        yield "the changes that were not committed then are gone"
    if git.dirty and then.dirty is False:
        yield "there are changes that are not committed"


def _apart(apart: tuple[int, int] | None) -> str:
    if apart is None:
        return "that commit is not in this repository"
    told = [
        f"{count:,} {'commit' if count == 1 else 'commits'} {way}"
        for count, way in zip(apart, _WAYS, strict=True)
    ]
    return (
        ", ".join(one for one, count in zip(told, apart, strict=True) if count)
        or "the same history"
    )


_WAYS = ("ahead", "behind")


def _reloaded(then: Mapping[str, Any], now: Mapping[str, Any] | None) -> Iterator[str]:
    for tier in dict.fromkeys([*then, *now]) if now is not None else ():
        before, after = (
            _short(side[tier].get("digest")) if tier in side else "" for side in (then, now or {})
        )
        if not (before and after):
            yield (
                f"tier {tier} was {'loaded' if before else 'not loaded'} then and is"
                f" {'' if after else 'not '}now"
            )
        elif then[tier].get("digest") != (now or {})[tier].get("digest"):
            yield f"tier {tier} reads differently: {after}, it was {before}"


def _short(digest: str | None) -> str:
    return (digest or "none")[:SHORT]


# --- as a model reads it --------------------------------------------------------------------------


def as_text(checkpoint: Checkpoint, changes: Iterable[str] = ()) -> str:
    """All a model needs to go on, in a fixed order and no longer than it has to be; every value
    stays on its line."""
    one = without_secrets(checkpoint)
    return "\n".join(
        [
            *_line("task", " ".join(filter(None, (one.task, one.flow and f"(flow {one.flow})")))),
            *_line("objective", one.objective),
            *_line("phase", one.phase),
            *_line(
                "checkpoint", f"{one.sequence}, written {one.written_at}" if one.sequence else ""
            ),
            *_line("git", _standing(one.git)),
            *_block("changed since", map(_told, changes)),
            *_line("done", ", ".join(map(_told, one.done))),
            *_line("pending", ", ".join(map(_told, one.pending))),
            *_line("next", _next(one)),
            *_block("decisions", map(_decision, one.decisions)),
            *_block("findings", map(_told, one.findings)),
            *_block("artifacts", (_artifact(name, about) for name, about in one.artifacts.items())),
            *_block(
                "state", (f"{_told(name)}: {_told(value)}" for name, value in one.state.items())
            ),
            *_block(
                "more", (f"{_told(name)}: {_told(value)}" for name, value in one.extra.items())
            ),
            "",
        ]
    )


def as_plain_text(checkpoint: Checkpoint) -> str:
    """Every field for a person, as it was written: nothing is compared and nothing worked out."""
    one = without_secrets(checkpoint)
    told = {name: value for name, value in as_data(one).items() if value not in (None, "", [], {})}
    lines = [line for name, value in told.items() for line in _field(name, value)]
    return "\n".join([f"{one.name}, as it was written", *lines, ""])


def _field(name: str, value: object) -> list[str]:
    """A field on its line, or one line for each of its members."""
    if isinstance(value, Mapping):
        return _block(
            _told(name), (f"{_told(key)}: {_told(member)}" for key, member in value.items())
        )
    return (
        _block(_told(name), map(_told, value))
        if isinstance(value, list)
        else [f"{_told(name)}: {_told(value)}"]
    )


def _next(one: Checkpoint) -> str:
    """The phase to go on with: this one where it is not done, else the first that is pending."""
    return one.phase if one.phase in one.pending else next(iter(one.pending), "")


def _line(name: str, value: str) -> list[str]:
    return [f"{name}: {_told(value)}"] if value else []


def _block(name: str, lines: Iterable[str]) -> list[str]:
    told = [f"- {line}" for line in lines]
    return [f"{name}:", *told] if told else []


def _told(value: object) -> str:
    """A text on one line as it is, anything else as compact JSON, so that no value can forge a
    line."""
    if isinstance(value, str) and value.isprintable():
        return value
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _standing(git: GitStatus) -> str:
    if git == GitStatus():
        return ""
    return (
        f"{git.branch or 'no branch'} at"
        f" {_short(git.head)}{', with changes not committed' if git.dirty else ''}"
    )


def _decision(decision: Mapping[str, Any]) -> str:
    what, why = decision.get("what", ""), decision.get("why", "")
    return _told(what) + (f" (why: {_told(why)})" if why else "")


def _artifact(name: str, about: Mapping[str, Any]) -> str:
    size = f"{about['tokens']:,} tokens" if about.get("tokens") is not None else ""
    parts = (about.get("title"), about.get("path"), about.get("handle"), size)
    return " ".join([f"[{_told(name)}]", ", ".join(_told(part) for part in parts if part)]).rstrip()
