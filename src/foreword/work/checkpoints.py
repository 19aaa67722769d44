"""Checkpoints of a task: written to a file and to the store, read back with what has changed since.

Both copies are the same; where they are not (a crash between the two, a file from a colleague), the
one with the higher number is used and a line says so. A copy that is damaged gives way to the
other, and a checkpoint that has no good copy to the one before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foreword.errors import CheckpointDamaged, UnknownName, UsageError
from foreword.session.workflow_state import checked_name
from foreword.sources import files, git_status
from foreword.sources.project_root import project_root
from foreword.store import checkpoint_files, workflows
from foreword.store import checkpoints as kept
from foreword.store.checkpoint_files import FOLDER
from foreword.store.database import Database, stamp
from foreword.store.paths import FOLDER as STORE_FOLDER
from foreword.work.checkpoint import (
    Checkpoint,
    CurrentState,
    as_data,
    as_json,
    changes_since,
    file_name,
    named_by,
)
from foreword.work.checkpoint_schema import Damage, prepare_checkpoint, read_checkpoint

FILE, STORE = "file", "store"
OURS = (FOLDER, STORE_FOLDER)  # what we write ourselves is no change to the project

Tiers = Mapping[str, Mapping[str, Any]]
Copies = dict[str, Checkpoint | Damage]  # by where they are
Copy = tuple[str, tuple[str, str], Checkpoint | Damage]  # where, of which task and phase, what


@dataclass(frozen=True, slots=True)
class RestoredCheckpoint:
    """A checkpoint that was read back: what has changed since, and whether it came from the file or
    the store.

    `notes` are those of the changes that tell of copies which can't be used or differ.
    """

    checkpoint: Checkpoint
    changes: tuple[str, ...]
    source: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEntry:
    """One checkpoint in a list of them: without a `checkpoint` it can't be used, and `problem`
    says why."""

    task: str
    phase: str
    sources: tuple[str, ...]  # where it is, the one to use first
    checkpoint: Checkpoint | None
    notes: tuple[str, ...] = ()
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
    given = prepare_checkpoint(checkpoint)
    name = file_name(checked_name(given.task, "task"), checked_name(given.phase, "phase"))
    given = replace(given, git=git_status.git_status(folder, OURS))
    with _turn(db, given.task), checkpoint_files.open_folder(folder) as place:
        _refuse_another(folder, name, given)
        made = _numbered(folder, db, given)
        path = place.put(name, _limited(as_json(made)))
        if db is not None:
            kept.keep(db, workflows.ensure(db, made.task).id, made.phase, as_data(made))
    return path


def read(
    root: str | Path, db: Database | None, task: str, phase: str, *, tiers: Tiers | None = None
) -> RestoredCheckpoint:
    """The checkpoint of one phase; `CheckpointDamaged` names the nearest that can be used.

    `tiers` are those loaded now, to compare with; if not told, what a task of that name would load.
    """
    folder = project_root(root)
    found = _of_task(folder, db, task)
    wanted = next((one for one in found if one.phase == phase), None)
    if wanted is None:
        raise UnknownName(
            "phase", phase, [one.phase for one in found], where=f"among the checkpoints of {task!r}"
        )
    if wanted.checkpoint is None:
        raise _damaged(wanted, found)
    newer = found[-1].name if found[-1].sequence > wanted.sequence else ""
    return _restored(folder, wanted, wanted.checkpoint, tiers, newer=newer)


def newest(
    root: str | Path, db: Database | None, task: str, *, tiers: Tiers | None = None
) -> RestoredCheckpoint:
    """The newest checkpoint of a task that can be used; a line tells of those that can't."""
    folder = project_root(root)
    found = _of_task(folder, db, task)
    last = found[-1]
    if last.checkpoint is None:
        raise _damaged(last, found)
    bad = [
        f"checkpoint {one.name} can't be used ({one.problem}), so this is the newest"
        for one in found
        if one.problem
    ]
    return _restored(folder, last, last.checkpoint, tiers, notes=bad)


def checkpoint_entries(
    root: str | Path, db: Database | None, task: str | None = None
) -> list[CheckpointEntry]:
    """The checkpoints of one task or of all, each task's in the order they were written, damaged
    ones first."""
    folder = project_root(root)
    return _found(folder, db) if task is None else _of_task(folder, db, task)


# --- writing --------------------------------------------------------------------------------------


def _turn(db: Database | None, task: str) -> AbstractContextManager[None]:
    return nullcontext() if db is None else db.transaction(f"foreword: checkpoints {task}")


def _numbered(root: Path, db: Database | None, given: Checkpoint) -> Checkpoint:
    before = [one.checkpoint for one in _found(root, db, given.task) if one.checkpoint]
    others = [one.name for one in before if one.phase != given.phase]
    number = max((one.sequence for one in before), default=0) + 1
    return replace(
        given, written_at=stamp(), sequence=number, previous=others[-1] if others else None
    )


def _refuse_another(root: Path, name: str, given: Checkpoint) -> None:
    """Where a file system takes `FEAT-1` and `feat-1` for the same, the second may not replace
    the first."""
    there = _from_file(root, name)
    if isinstance(there, Checkpoint) and (there.task, there.phase) != (given.task, given.phase):
        raise UsageError(
            f"{FOLDER}/{name} holds phase {there.phase!r} of task {there.task!r} already",
            hint="give the task another name, or move the file away",
        )


def _limited(content: bytes) -> bytes:
    if len(content) > files.LARGEST_BYTES:
        raise UsageError(
            f"the checkpoint would have {len(content):,} bytes, more than {files.LARGEST_BYTES:,}",
            hint="keep references to large things in it, not the things",
        )
    return content


# --- finding --------------------------------------------------------------------------------------


def _of_task(root: Path, db: Database | None, task: str) -> list[CheckpointEntry]:
    file_name(checked_name(task, "task"), "1")  # or an error that says what a name may be
    found = _found(root, db, task)
    if not found:
        raise UnknownName("task", task, _tasks(root, db), where=f"among the checkpoints in {root}")
    return found


def _tasks(root: Path, db: Database | None) -> list[str]:
    in_files = [found[0] for found in map(named_by, checkpoint_files.names(root)) if found]
    return sorted({*in_files, *(kept.workflows_with(db) if db is not None else ())})


def _found(root: Path, db: Database | None, task: str | None = None) -> list[CheckpointEntry]:
    """The checkpoints of a task, or of every one, the newest of each last."""
    copies: dict[tuple[str, str], Copies] = {}
    for place, name, copy in (*_in_files(root, task), *_in_store(db, task)):
        copies.setdefault(name, {})[place] = _claimed(copy, *name)
    chosen = (_chosen(*name, each) for name, each in copies.items())
    return sorted(chosen, key=lambda one: (one.task, one.sequence))


def _in_files(root: Path, task: str | None) -> Iterator[Copy]:
    for file in checkpoint_files.names(root):
        name = named_by(file)
        copy = _from_file(root, file) if name and task in (None, name[0]) else None
        if name and copy:
            yield FILE, name, copy


def _in_store(db: Database | None, task: str | None) -> Iterator[Copy]:
    if db is None:
        return
    only = workflows.find(db, task) if task is not None else None
    wanted = kept.workflows_with(db) if task is None else {task: only.id} if only else {}
    for name, workflow in wanted.items():
        for phase, text in kept.texts(db, workflow).items():
            yield STORE, (name, phase), read_checkpoint(text)


def _from_file(root: Path, name: str) -> Checkpoint | Damage | None:
    """The checkpoint in a file, what is wrong with it, or nothing where there is no file."""
    if (root / FOLDER / name).is_symlink():
        return Damage("it is a symbolic link, so it is not used")
    found = files.read(root, f"{FOLDER}/{name}")
    if isinstance(found, files.File):
        return read_checkpoint(found.raw)
    return Damage(f"it is {found.reason}") if found.reason != "missing" else None


def _claimed(copy: Checkpoint | Damage, task: str, phase: str) -> Checkpoint | Damage:
    """What is kept under a name has to be what the name says."""
    if isinstance(copy, Checkpoint) and (copy.task, copy.phase) != (task, phase):
        return Damage(f"it is of task {copy.task!r}, phase {copy.phase!r}")
    return copy


def _chosen(task: str, phase: str, copies: Copies) -> CheckpointEntry:
    """Of file and store the newer one that can be used, with a note where they are not the same."""
    good = {place: copy for place, copy in copies.items() if isinstance(copy, Checkpoint)}
    file = f"{FOLDER}/{file_name(task, phase)}"
    bad = [
        f"{file if place == FILE else place}: {copy.reason}"
        for place, copy in copies.items()
        if isinstance(copy, Damage)
    ]
    if not good:
        return CheckpointEntry(
            task=task, phase=phase, sources=tuple(copies), checkpoint=None, problem="; ".join(bad)
        )
    places = sorted(good, key=lambda place: (-good[place].sequence, place))  # of equals the file
    best = good[places[0]]
    notes = [
        f"a copy of {best.name} can't be used ({one}): taken from the {places[0]}" for one in bad
    ]
    if any(copy != best for copy in good.values()):
        numbers = ", ".join(f"{place} has number {good[place].sequence}" for place in places)
        notes.append(
            f"file and store differ in {best.name} ({numbers}): taken from the {places[0]}"
        )
    return CheckpointEntry(
        task=task, phase=phase, sources=tuple(places), checkpoint=best, notes=tuple(notes)
    )


def _damaged(wanted: CheckpointEntry, found: list[CheckpointEntry]) -> CheckpointDamaged:
    """The error for one that can't be used, with the last before it, or else the first that can be.

    Its own number can't be read, so what came after it is told by who names it as the one before.
    """
    good = [one.checkpoint for one in found if one.checkpoint]
    after = min((one.sequence for one in good if one.previous == wanted.name), default=None)
    earlier = [one for one in good if after is None or one.sequence < after]
    nearest = next((one.phase for one in [*earlier[-1:], *good[:1]]), None)
    return CheckpointDamaged(wanted.name, wanted.problem, task=wanted.task, before=nearest)


# --- comparing ------------------------------------------------------------------------------------


def _restored(
    root: Path,
    one: CheckpointEntry,
    checkpoint: Checkpoint,
    tiers: Tiers | None,
    *,
    newer: str = "",
    notes: Sequence[str] = (),
) -> RestoredCheckpoint:
    git = git_status.git_status(root, OURS)
    apart = (
        git_status.commits_apart(root, checkpoint.git.head)
        if git.head != checkpoint.git.head
        else None
    )
    loaded = _loaded(root, checkpoint) if tiers is None and checkpoint.tiers else tiers
    now = CurrentState(
        git=git, apart=apart, files=dict(_became(root, checkpoint)), tiers=loaded, newer=newer
    )
    told = (*notes, *one.notes)
    return RestoredCheckpoint(
        checkpoint, (*told, *changes_since(checkpoint, now)), one.sources[0], told
    )


def _loaded(root: Path, checkpoint: Checkpoint) -> Tiers | None:
    from foreword.work.tier_digests import (
        lasting_now,  # the way from a request to a context, which few need here
    )

    return lasting_now(root, checkpoint)


def _became(root: Path, checkpoint: Checkpoint) -> Iterator[tuple[str, str]]:
    """What became of the files that artifacts name, where it is not what it was."""
    for name, about in checkpoint.artifacts.items():
        path, digest = about.get("path"), about.get("digest")
        found = files.read(root, path) if path else None
        if isinstance(found, files.Skip):
            yield name, f"{found.path} is {found.reason}"
        elif found and digest and digest != hashlib.sha256(found.raw).hexdigest():
            yield name, f"{found.path} has changed"
