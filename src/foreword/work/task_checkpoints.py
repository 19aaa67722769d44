"""Checkpoints of a task: each is one file, read back with what has changed since it was written.

The store holds no copy, only when each was written, for those who listen to changes. A checkpoint
that is damaged gives way to the one before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foreword.errors import CheckpointDamaged, ForewordError, UnknownName, UsageError
from foreword.session.workflow_state import checked_name
from foreword.sources import files, git_status
from foreword.sources.project_root import project_root
from foreword.store import checkpoint_files, checkpoints, originals, urls, workflows
from foreword.store.artifacts import Artifact
from foreword.store.checkpoint_files import FOLDER
from foreword.store.database import Database, stamp
from foreword.work.checkpoint import (
    Checkpoint,
    CurrentState,
    as_json,
    changes_since,
    file_name,
    named_by,
)
from foreword.work.checkpoint_schema import Damage, prepare_checkpoint, read_checkpoint

OURS = (FOLDER,)  # what we write ourselves is no change to the project

Tiers = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RestoredCheckpoint:
    """A checkpoint that was read back, and what has changed since.

    `notes` are those of the changes that name checkpoints which can't be used and handles that
    lead nowhere.
    """

    checkpoint: Checkpoint
    changes: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEntry:
    """One checkpoint in a list of them: without a `checkpoint` it can't be used, and `problem`
    says why."""

    task: str
    phase: str
    checkpoint: Checkpoint | None
    problem: str = ""

    @property
    def name(self) -> str:
        """What it is known by: `FEAT-1-phase-2`."""
        return Checkpoint(task=self.task, phase=self.phase).name

    @property
    def sequence(self) -> int:
        """Its number among the checkpoints of its task; 0 where it can't be read."""
        return self.checkpoint.sequence if self.checkpoint else 0


def write(root: str | Path, db: Database | None, checkpoint: Checkpoint) -> Path:
    """Keep a checkpoint, whole or not at all, with its time, its number and where git stands;
    returns its file."""
    folder = project_root(root)
    prepared = prepare_checkpoint(checkpoint)
    name = file_name(checked_name(prepared.task, "task"), checked_name(prepared.phase, "phase"))
    prepared = replace(prepared, git=git_status.git_status(folder, OURS))
    with _lock(db, prepared.task), checkpoint_files.open_folder(folder) as place:
        _refuse_another(folder, name, prepared)
        content = as_json(_add_number(folder, prepared))
        _refuse_too_large(content)
        path = place.put(name, content)
        if db is not None:
            workflow = workflows.ensure(db, prepared.task).id
            checkpoints.note_written(db, workflow, prepared.phase, list(prepared.done))
    return path


def read(
    root: str | Path, db: Database | None, task: str, phase: str, *, tiers: Tiers | None = None
) -> RestoredCheckpoint:
    """The checkpoint of one phase; `CheckpointDamaged` names the nearest that can be used.

    `tiers` are those loaded now, to compare with; without them, what a task of that name would
    load.
    """
    folder = project_root(root)
    entries = _entries_of(folder, task)
    wanted = next((entry for entry in entries if entry.phase == phase), None)
    if wanted is None:
        phases = [entry.phase for entry in entries]
        raise UnknownName("phase", phase, phases, where=f"among the checkpoints of {task!r}")
    if wanted.checkpoint is None:
        raise _damaged_error(wanted, entries)
    last = entries[-1]
    newer = last.name if last.sequence > wanted.sequence else ""
    return _restore(folder, db, wanted.checkpoint, tiers, newer=newer)


def newest(
    root: str | Path, db: Database | None, task: str, *, tiers: Tiers | None = None, flow: str = ""
) -> RestoredCheckpoint:
    """Return the newest checkpoint of a task that can be used; a line tells of those that can't.

    `flow` is that of the task, for a file that names none.
    """
    folder = project_root(root)
    entries = _entries_of(folder, task)
    last = entries[-1]
    if last.checkpoint is None:
        raise _damaged_error(last, entries)
    notes: list[str] = []
    for entry in entries:
        if entry.problem:
            notes.append(
                f"checkpoint {entry.name} can't be used ({entry.problem}), so this is the newest"
            )
    checkpoint = replace(last.checkpoint, flow=last.checkpoint.flow or flow)
    return _restore(folder, db, checkpoint, tiers, notes=notes)


def checkpoint_entries(root: str | Path, task: str | None = None) -> list[CheckpointEntry]:
    """The checkpoints of one task or of all, each task's in the order they were written, damaged
    ones first."""
    folder = project_root(root)
    return _find_entries(folder) if task is None else _entries_of(folder, task)


def checkpoint_entry(root: str | Path, task: str, phase: str) -> CheckpointEntry | None:
    """The checkpoint of one phase, if there is one."""
    name = file_name(task, phase)
    content = _file_content(project_root(root), name)
    if content is None:
        return None
    found = content if isinstance(content, Damage) else read_checkpoint(content)
    if isinstance(found, Checkpoint) and (found.task, found.phase) != (task, phase):
        found = Damage(f"it is of task {found.task!r}, phase {found.phase!r}")
    if isinstance(found, Damage):
        problem = f"{FOLDER}/{name}: {found.reason}"
        return CheckpointEntry(task=task, phase=phase, checkpoint=None, problem=problem)
    return CheckpointEntry(task=task, phase=phase, checkpoint=found)


# --- writing --------------------------------------------------------------------------------------


def artifact_fields(artifacts: Iterable[Artifact]) -> dict[str, dict[str, Any]]:
    """Artifacts as a checkpoint has them: what leads to each, by its name."""
    by_name = {}
    for artifact in artifacts:
        by_name[artifact.name] = {
            "title": artifact.title,
            "handle": artifact.handle,
            "tokens": artifact.tokens,
        }
    return by_name


def _lock(db: Database | None, task: str) -> AbstractContextManager[None]:
    """Two that write a checkpoint of one task do it one after the other, or get the same number."""
    return nullcontext() if db is None else db.transaction(f"foreword: checkpoints {task}")


def _add_number(root: Path, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with its time, its number, and the name of the one before it."""
    entries = _find_entries(root, checkpoint.task)
    number = entries[-1].sequence + 1 if entries else 1
    previous = None
    for entry in entries:
        if entry.checkpoint is not None and entry.phase != checkpoint.phase:
            previous = entry.name
    return replace(checkpoint, written_at=stamp(), sequence=number, previous=previous)


def _refuse_another(root: Path, name: str, checkpoint: Checkpoint) -> None:
    """Where a file system takes `FEAT-1` and `feat-1` for the same, the second may not replace
    the first."""
    content = _file_content(root, name)
    there = read_checkpoint(content) if isinstance(content, bytes) else None
    if not isinstance(there, Checkpoint):
        return
    if (there.task, there.phase) != (checkpoint.task, checkpoint.phase):
        raise UsageError(
            f"{FOLDER}/{name} holds phase {there.phase!r} of task {there.task!r} already",
            hint="give the task another name, or move the file away",
        )


def _refuse_too_large(content: bytes) -> None:
    if len(content) > files.LARGEST_BYTES:
        raise UsageError(
            f"the checkpoint would have {len(content):,} bytes, more than {files.LARGEST_BYTES:,}",
            hint="keep references to large things in it, not the things",
        )


# --- finding --------------------------------------------------------------------------------------


def _entries_of(root: Path, task: str) -> list[CheckpointEntry]:
    file_name(checked_name(task, "task"), "1")  # or an error that says what a name may be
    entries = _find_entries(root, task)
    if not entries:
        tasks = sorted({known for known, _ in _names(root)})
        raise UnknownName("task", task, tasks, where=f"among the checkpoints in {root}")
    return entries


def _find_entries(root: Path, task: str | None = None) -> list[CheckpointEntry]:
    """The checkpoints of a task, or of every one, the newest of each last."""
    entries = list[CheckpointEntry]()
    for known, phase in _names(root):
        entry = checkpoint_entry(root, known, phase) if task in (None, known) else None
        if entry is not None:
            entries.append(entry)
    return sorted(entries, key=lambda entry: (entry.task, entry.sequence))


def _names(root: Path) -> Iterator[tuple[str, str]]:
    """The task and the phase of every checkpoint, by the names of the files."""
    for file in checkpoint_files.names(root):
        name = named_by(file)
        if name is not None:
            yield name


def _file_content(root: Path, name: str) -> bytes | Damage | None:
    """What a file says, why it can't be read, or nothing where there is no file."""
    if (root / FOLDER / name).is_symlink():
        return Damage("it is a symbolic link, so it is not used")
    found = files.read(root, f"{FOLDER}/{name}")
    if isinstance(found, files.File):
        return found.raw
    return Damage(f"it is {found.reason}") if found.reason != "missing" else None


def _damaged_error(wanted: CheckpointEntry, entries: list[CheckpointEntry]) -> CheckpointDamaged:
    """The error for one that can't be used, with the last before it, or else the first that can be.

    Its own number can't be read, so what came after it is known by who names it as the one before.
    """
    usable = [entry.checkpoint for entry in entries if entry.checkpoint]
    earlier = usable
    followers = [one.sequence for one in usable if one.previous == wanted.name]
    if followers:
        earlier = [one for one in usable if one.sequence < min(followers)]
    nearest = None
    if earlier:
        nearest = earlier[-1].phase
    elif usable:
        nearest = usable[0].phase
    return CheckpointDamaged(wanted.name, wanted.problem, task=wanted.task, before=nearest)


# --- comparing ------------------------------------------------------------------------------------


def _restore(
    root: Path,
    db: Database | None,
    checkpoint: Checkpoint,
    tiers: Tiers | None,
    *,
    newer: str = "",
    notes: Sequence[str] = (),
) -> RestoredCheckpoint:
    git = git_status.git_status(root, OURS)
    checkpoint, unrecorded = _without_claims(db, checkpoint)
    apart = None
    if git.head != checkpoint.git.head:
        apart = git_status.commits_apart(root, checkpoint.git.head)
    if tiers is None and checkpoint.tiers:
        # the way from a request to a context, which few need here
        from foreword.work.tier_digests import lasting_now

        tiers = lasting_now(root, checkpoint)
    now = CurrentState(
        git=git, apart=apart, files=_changed_files(root, checkpoint), tiers=tiers, newer=newer
    )
    all_notes = (*notes, *unrecorded, *_lost_handles(root, db, checkpoint))
    return RestoredCheckpoint(
        checkpoint=checkpoint,
        changes=(*all_notes, *changes_since(checkpoint, now)),
        notes=all_notes,
    )


def _without_claims(
    db: Database | None, checkpoint: Checkpoint
) -> tuple[Checkpoint, tuple[str, ...]]:
    """Return a checkpoint in which a phase of a flow is done only if the store has a record of it:
    anybody may have written the file. A line names the others, for a person to decide."""
    if not checkpoint.flow:
        return checkpoint, ()
    passed = checkpoints.done_at(db, checkpoint.task, checkpoint.phase) if db else set()
    claims = [phase for phase in checkpoint.done if phase not in passed]
    if not claims:
        return checkpoint, ()
    done = [phase for phase in checkpoint.done if phase in passed]
    line = (
        f"only the file says that the gate of {', '.join(claims)} was passed, no run in this store:"
        " a person has to decide"
    )
    return replace(checkpoint, done=done, pending=[*claims, *checkpoint.pending]), (line,)


def _lost_handles(root: Path, db: Database | None, checkpoint: Checkpoint) -> Iterator[str]:
    """Which artifacts can't be had any more: their handles lead into a store that is gone."""
    lost = []
    for name, about in checkpoint.artifacts.items():
        handle = str(about.get("handle") or "")
        if handle and not _is_kept(root, db, handle):
            lost.append(f"{name} ({handle})")
    if lost:
        where = db.name if db is not None else "this project, which has no store"
        yield (
            f"these handles lead nowhere, since nothing is kept under them in {where}:"
            f" {', '.join(lost)}"
        )


def _is_kept(root: Path, db: Database | None, handle: str) -> bool:
    if db is not None and originals.find(db, handle):
        return True
    try:
        return bool(urls.recall(handle, root))
    except ForewordError:
        return False


def _changed_files(root: Path, checkpoint: Checkpoint) -> dict[str, str]:
    """What became of the files that artifacts name, where it is not what it was."""
    changes = {}
    for name, about in checkpoint.artifacts.items():
        path = about.get("path")
        if not path:
            continue
        digest = about.get("digest")
        file = files.read(root, path)
        if isinstance(file, files.Skip):
            changes[name] = f"{file.path} is {file.reason}"
        elif digest and digest != hashlib.sha256(file.raw).hexdigest():
            changes[name] = f"{file.path} has changed"
    return changes
