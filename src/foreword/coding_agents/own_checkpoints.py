"""Which checkpoint files a hook wrote on this machine, by a digest in the user's own directory.

A project may bring a file under the same name: what such a file says is the file's, whoever it
names as the speaker.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from foreword.coding_agents.trusted_files import LARGEST_BYTES, tail
from foreword.store import private
from foreword.store.checkpoint_files import FOLDER
from foreword.store.locations import cache_folder
from foreword.work.checkpoint import Checkpoint, file_name


def remember(root: Path, checkpoint: Checkpoint) -> None:
    """Note that the file of a checkpoint is as a hook has written it."""
    note = _note_of(root, checkpoint)
    private.make_folder(note.parent)
    private.write_file(note, _digest(root, checkpoint))


def is_own(root: Path, checkpoint: Checkpoint) -> bool:
    """Return whether the file of a checkpoint is as a hook wrote it."""
    note = _note_of(root, checkpoint)
    return note.is_file() and note.read_text("utf-8") == _digest(root, checkpoint)


def _path_of(root: Path, checkpoint: Checkpoint) -> Path:
    return root / FOLDER / file_name(checkpoint.task, checkpoint.phase)


def _digest(root: Path, checkpoint: Checkpoint) -> str:
    return sha256(tail(_path_of(root, checkpoint), LARGEST_BYTES)).hexdigest()


def _note_of(root: Path, checkpoint: Checkpoint) -> Path:
    path = _path_of(root.resolve(), checkpoint)
    name = sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()
    return cache_folder() / "checkpoints" / f"{name}.txt"
