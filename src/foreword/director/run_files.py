"""Files of a workflow's runs: a folder for each run, and which files may be handed to a page.

What comes from pages is kept under `.foreword/files`, out of git's sight. To a page go files of the
project that are not hidden, and those that came from pages; a project may come from a stranger, so
no link is followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from foreword.director.browser_files import workflow_digest
from foreword.errors import StoreError, UsageError
from foreword.session.workflow_state import WorkflowState
from foreword.store.paths import FOLDER, make_hidden

FILES = "files"
TEST = "test"  # the folder of nodes that were tested, and of debug actions
LARGEST_UPLOAD_BYTES = 200 * 1024 * 1024  # the same as of a download


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one run of a workflow."""

    root: Path
    workflow: str  # what its folder is called
    run: str

    @property
    def _workflow_folder(self) -> Path:
        return self.root / FOLDER / FILES / self.workflow

    def folder(self) -> Path:
        """The folder for new files, made where it is not there yet."""
        path = self._workflow_folder / self.run
        for folder in (path.parent.parent.parent, path.parent.parent, path.parent, path):
            if folder.is_symlink():
                raise StoreError(f"{folder} is a symbolic link, so it is not used")
            try:
                make_hidden(folder)
            except OSError as error:
                raise StoreError(f"{folder} can't be used: {error.strerror}") from None
        return path

    def name_of(self, path: str) -> str:
        """How a file is called by nodes: its path from the root of the project."""
        return Path(path).relative_to(self.root).as_posix()

    def find_file(self, name: str) -> Path:
        """A file that came from a page in any run of the workflow."""
        try:
            real = (self.root / name).resolve(strict=True)
        except (OSError, ValueError):
            real = self.root
        if not real.is_file() or not real.is_relative_to(self._workflow_folder.resolve()):
            raise UsageError(f"no file {name[:200]!r} was kept by this workflow")
        return real

    def find_all(self, names: Iterable[str]) -> list[str]:
        """The files of these names; an error for one that may not be handed to a page."""
        return [str(self._find(name)) for name in names]

    def _find(self, name: str) -> Path:
        path = self.root / name
        try:
            real = path.resolve(strict=True)
            size = real.stat().st_size
        except OSError:
            raise UsageError(
                f"there is no file {name[:200]!r}", hint=f"paths begin at {self.root}"
            ) from None
        root = self.root.resolve()
        is_inside = real.is_relative_to(root)
        is_download = real.is_relative_to(self._workflow_folder.resolve())
        parts = real.relative_to(root).parts if is_inside else ()
        is_hidden = any(part.startswith(".") for part in parts)
        if not is_inside or not real.is_file() or (is_hidden and not is_download):
            raise UsageError(
                f"{name[:200]!r} is not given to a page",
                hint="it must be a file of the project that is not hidden, or a download",
            )
        if size > LARGEST_UPLOAD_BYTES:
            raise UsageError(f"{name[:200]!r} is too large: {size:,} bytes")
        return real


def files_of(state: WorkflowState, run: str = TEST, root: Path | None = None) -> RunFiles:
    """The files of a run, or of tests; `root` is that of the project, where the state has none."""
    folder = state.root if root is None else root
    return RunFiles(folder.resolve(), f"workflow-{workflow_digest(state)}", run)
