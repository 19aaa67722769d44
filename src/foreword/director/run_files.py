"""Files of a workflow's runs: a folder for each run, and which files may be handed to a page.

What comes from pages is kept in the user's data directory, beside the store of the project. To a
page go files of the project that are not hidden, and those that came from pages; links are followed
and then checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from foreword.director.browser_files import workflow_digest
from foreword.errors import UsageError
from foreword.session.workflow_state import WorkflowState
from foreword.store.locations import make_directory, project_directory

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
        return self._base / FILES / self.workflow

    @property
    def _base(self) -> Path:
        return project_directory(self.root)

    def folder(self) -> Path:
        """The folder for new files, made where it is not there yet."""
        return make_directory(self._workflow_folder / self.run)

    def name_of(self, path: str) -> str:
        """How a file is called by nodes: `files/WORKFLOW/RUN/NAME`."""
        return Path(path).relative_to(self._base).as_posix()

    def find_file(self, name: str) -> Path:
        """A file that came from a page in any run of the workflow."""
        try:
            real = (self._base / name).resolve(strict=True)
        except (OSError, ValueError):
            real = self._base
        if not real.is_file() or not real.is_relative_to(self._workflow_folder.resolve()):
            raise UsageError(f"no file {name[:200]!r} was kept by this workflow")
        return real

    def find_all(self, names: Iterable[str]) -> list[str]:
        """The files of these names; an error for one that may not be handed to a page."""
        return [str(self._find(name)) for name in names]

    def _find(self, name: str) -> Path:
        """A file that came from a page, else one of the project."""
        try:
            real = self.find_file(name)
        except UsageError:
            real = self._project_file(name)
        size = real.stat().st_size
        if size > LARGEST_UPLOAD_BYTES:
            raise UsageError(f"{name[:200]!r} is too large: {size:,} bytes")
        return real

    def _project_file(self, name: str) -> Path:
        root = self.root.resolve()
        try:
            real = (root / name).resolve(strict=True)
        except (OSError, ValueError):
            raise UsageError(
                f"there is no file {name[:200]!r}", hint=f"paths begin at {self.root}"
            ) from None
        parts = real.relative_to(root).parts if real.is_relative_to(root) else (".",)
        if not real.is_file() or any(part.startswith(".") for part in parts):
            raise UsageError(
                f"{name[:200]!r} is not given to a page",
                hint="it must be a file of the project that is not hidden, or a download",
            )
        return real


def files_of(state: WorkflowState, run: str = TEST, root: Path | None = None) -> RunFiles:
    """The files of a run, or of tests; `root` is that of the project, where the state has none."""
    folder = state.root if root is None else root
    return RunFiles(folder.resolve(), f"workflow-{workflow_digest(state)}", run)
