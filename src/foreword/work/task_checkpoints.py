"""Checkpoints of a task: written to a file and to the store, read back with what has changed since.

Both copies are the same; where they are not (a crash between the two, a file from a colleague), the
one with the higher number is used and a line says so. A copy that is damaged gives way to the
other, and a checkpoint that has no good copy to the one before it.
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
from foreword.store import checkpoint_files, originals, project_stores, workflows
from foreword.store import checkpoints as rows
from foreword.store.artifacts import Artifact
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

FILE = "file"
STORE = "store"
OURS = (FOLDER, STORE_FOLDER)  # what we write ourselves is no change to the project

Tiers = Mapping[str, Mapping[str, Any]]
Copies = dict[str, Checkpoint | Damage]  # by where they are
# Texts whose checkpoints are known by task, phase and number: a flow has a dozen, and some hundred
# bytes each cost less than reading one again.
_MOST_LABELS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Label:
    """Which checkpoint a text is."""

    task: str
    phase: str
    sequence: int


_labels: dict[bytes, _Label | None] = {}  # by the digest of the text


@dataclass(frozen=True, slots=True)
class _Text:
    """One copy of a checkpoint as it is written: where, under the name of which task and phase."""

    place: str
    name: tuple[str, str]
    text: str | bytes | Damage


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
    prepared = prepare_checkpoint(checkpoint)
    name = file_name(checked_name(prepared.task, "task"), checked_name(prepared.phase, "phase"))
    prepared = replace(prepared, git=git_status.git_status(folder, OURS))
    with _lock(db, prepared.task), checkpoint_files.open_folder(folder) as place:
        _refuse_another(folder, name, prepared)
        numbered = _add_number(folder, db, prepared)
        content = as_json(numbered)
        _refuse_too_large(content)
        path = place.put(name, content)
        _remember_label(content, numbered)
        if db is not None:
            workflow = workflows.ensure(db, numbered.task)
            written = rows.keep(db, workflow.id, numbered.phase, as_data(numbered))
            _remember_label(written, numbered)
    return path


def read(
    root: str | Path, db: Database | None, task: str, phase: str, *, tiers: Tiers | None = None
) -> RestoredCheckpoint:
    """The checkpoint of one phase; `CheckpointDamaged` names the nearest that can be used.

    `tiers` are those loaded now, to compare with; without them, what a task of that name would
    load.
    """
    folder = project_root(root)
    entries = _entries_of(folder, db, task)
    wanted = next((entry for entry in entries if entry.phase == phase), None)
    if wanted is None:
        phases = [entry.phase for entry in entries]
        raise UnknownName("phase", phase, phases, where=f"among the checkpoints of {task!r}")
    if wanted.checkpoint is None:
        raise _damaged_error(wanted, entries)
    last = entries[-1]
    newer = last.name if last.sequence > wanted.sequence else ""
    return _restore(folder, db, wanted, wanted.checkpoint, tiers, newer=newer)


def newest(
    root: str | Path, db: Database | None, task: str, *, tiers: Tiers | None = None
) -> RestoredCheckpoint:
    """The newest checkpoint of a task that can be used; a line tells of those that can't."""
    folder = project_root(root)
    entries = _entries_of(folder, db, task)
    last = entries[-1]
    if last.checkpoint is None:
        raise _damaged_error(last, entries)
    notes: list[str] = []
    for entry in entries:
        if entry.problem:
            notes.append(
                f"checkpoint {entry.name} can't be used ({entry.problem}), so this is the newest"
            )
    return _restore(folder, db, last, last.checkpoint, tiers, notes=notes)


def checkpoint_entries(
    root: str | Path, db: Database | None, task: str | None = None
) -> list[CheckpointEntry]:
    """The checkpoints of one task or of all, each task's in the order they were written, damaged
    ones first."""
    folder = project_root(root)
    return _find_entries(folder, db) if task is None else _entries_of(folder, db, task)


def checkpoint_entry(
    root: str | Path, db: Database | None, task: str, phase: str
) -> CheckpointEntry | None:
    """The checkpoint of one phase, if there is one."""
    copies: Copies = {}
    in_file = _file_text(project_root(root), file_name(task, phase))
    if in_file is not None:
        copies[FILE] = _read_copy(in_file, task, phase)
    in_store = rows.text(db, task, phase) if db is not None else None
    if in_store is not None:
        copies[STORE] = _read_copy(in_store, task, phase)
    return _choose_copy(task, phase, copies) if copies else None


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


def _add_number(root: Path, db: Database | None, checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with its time, its number, and the name of the one before it."""
    number = 1
    previous: _Label | None = None
    for text in _texts(root, db, checkpoint.task):
        label = None if isinstance(text.text, Damage) else _label(text.text)
        if label is None or (label.task, label.phase) != text.name:
            continue
        number = max(number, label.sequence + 1)
        is_later = previous is None or label.sequence >= previous.sequence
        if label.phase != checkpoint.phase and is_later:
            previous = label
    name = None
    if previous is not None:
        name = Checkpoint(task=previous.task, phase=previous.phase).name
    return replace(checkpoint, written_at=stamp(), sequence=number, previous=name)


def _refuse_another(root: Path, name: str, checkpoint: Checkpoint) -> None:
    """Where a file system takes `FEAT-1` and `feat-1` for the same, the second may not replace
    the first."""
    text = _file_text(root, name)
    there = None if text is None or isinstance(text, Damage) else _label(text)
    if there is not None and (there.task, there.phase) != (checkpoint.task, checkpoint.phase):
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


def _entries_of(root: Path, db: Database | None, task: str) -> list[CheckpointEntry]:
    file_name(checked_name(task, "task"), "1")  # or an error that says what a name may be
    entries = _find_entries(root, db, task)
    if not entries:
        raise UnknownName("task", task, _tasks(root, db), where=f"among the checkpoints in {root}")
    return entries


def _tasks(root: Path, db: Database | None) -> list[str]:
    tasks: set[str] = set()
    for file in checkpoint_files.names(root):
        name = named_by(file)
        if name is not None:
            task, _ = name
            tasks.add(task)
    if db is not None:
        tasks.update(rows.workflows_with(db))
    return sorted(tasks)


def _find_entries(
    root: Path, db: Database | None, task: str | None = None
) -> list[CheckpointEntry]:
    """The checkpoints of a task, or of every one, the newest of each last."""
    copies: dict[tuple[str, str], Copies] = {}
    for text in _texts(root, db, task):
        copies.setdefault(text.name, {})[text.place] = _read_copy(text.text, *text.name)
    entries = [_choose_copy(*name, by_place) for name, by_place in copies.items()]
    return sorted(entries, key=lambda entry: (entry.task, entry.sequence))


def _texts(root: Path, db: Database | None, task: str | None) -> Iterator[_Text]:
    """The copies of a task's checkpoints, or of all, as they are written: the files first."""
    for file in checkpoint_files.names(root):
        name = named_by(file)
        if name is None or task not in (None, name[0]):
            continue
        text = _file_text(root, file)
        if text is not None:
            yield _Text(FILE, name, text)
    if db is None:
        return
    for found, workflow in _workflows(db, task).items():
        for phase, written in rows.texts(db, workflow).items():
            yield _Text(STORE, (found, phase), written)


def _workflows(db: Database, task: str | None) -> Mapping[str, int]:
    """The numbers of the workflows that may have checkpoints, by name."""
    if task is None:
        return rows.workflows_with(db)
    workflow = workflows.find(db, task)
    return {task: workflow.id} if workflow else {}


def _file_text(root: Path, name: str) -> bytes | Damage | None:
    """What a file says, why it can't be read, or nothing where there is no file."""
    if (root / FOLDER / name).is_symlink():
        return Damage("it is a symbolic link, so it is not used")
    found = files.read(root, f"{FOLDER}/{name}")
    if isinstance(found, files.File):
        return found.raw
    return Damage(f"it is {found.reason}") if found.reason != "missing" else None


def _read_copy(text: str | bytes | Damage, task: str, phase: str) -> Checkpoint | Damage:
    """The checkpoint that is kept under a name, which has to be what the name says."""
    if isinstance(text, Damage):
        return text
    copy = read_checkpoint(text)
    _remember_label(text, copy)
    if isinstance(copy, Checkpoint) and (copy.task, copy.phase) != (task, phase):
        return Damage(f"it is of task {copy.task!r}, phase {copy.phase!r}")
    return copy


def _label(text: str | bytes) -> _Label | None:
    """Which checkpoint a text is, or nothing where it is none; a text that this process has read
    or written is not read again for that."""
    digest = _digest(text)
    if digest not in _labels:
        _remember_label(text, read_checkpoint(text))
    return _labels[digest]


def _remember_label(text: str | bytes, copy: Checkpoint | Damage) -> None:
    label = None
    if isinstance(copy, Checkpoint):
        label = _Label(task=copy.task, phase=copy.phase, sequence=copy.sequence)
    if len(_labels) >= _MOST_LABELS:
        _labels.clear()
    _labels[_digest(text)] = label


def _digest(text: str | bytes) -> bytes:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(data).digest()


def _choose_copy(task: str, phase: str, copies: Copies) -> CheckpointEntry:
    """Of file and store the newer one that can be used, with a note where they are not the same."""
    usable: dict[str, Checkpoint] = {}
    problems: list[str] = []
    for place, copy in copies.items():
        if isinstance(copy, Checkpoint):
            usable[place] = copy
        else:
            where = f"{FOLDER}/{file_name(task, phase)}" if place == FILE else place
            problems.append(f"{where}: {copy.reason}")
    if not usable:
        return CheckpointEntry(
            task=task,
            phase=phase,
            sources=tuple(copies),
            checkpoint=None,
            problem="; ".join(problems),
        )
    # the newest first; of equals the file, whose name comes first in the alphabet, too
    places = sorted(usable, key=lambda place: (-usable[place].sequence, place))
    source = places[0]
    best = usable[source]
    notes: list[str] = []
    for problem in problems:
        notes.append(f"a copy of {best.name} can't be used ({problem}): taken from the {source}")
    if any(copy != best for copy in usable.values()):
        numbers = ", ".join(f"{place} has number {usable[place].sequence}" for place in places)
        notes.append(f"file and store differ in {best.name} ({numbers}): taken from the {source}")
    return CheckpointEntry(
        task=task, phase=phase, sources=tuple(places), checkpoint=best, notes=tuple(notes)
    )


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
    entry: CheckpointEntry,
    checkpoint: Checkpoint,
    tiers: Tiers | None,
    *,
    newer: str = "",
    notes: Sequence[str] = (),
) -> RestoredCheckpoint:
    git = git_status.git_status(root, OURS)
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
    all_notes = (*notes, *entry.notes, *_lost_handles(root, db, checkpoint))
    return RestoredCheckpoint(
        checkpoint=checkpoint,
        changes=(*all_notes, *changes_since(checkpoint, now)),
        source=entry.sources[0],
        notes=all_notes,
    )


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
        return bool(project_stores.recall(handle, root))
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
