"""Where this user's data is: a directory for each project, in the user's data directory.

`stores/NAME` holds the store of a project (`state.db`), its flows, the files of its runs, its
browsers and its server's token. `projects` has a small file for each root, which says the name of
its store and the first commit of its repository, and one for each database file that was named with
an address, so that `recall` finds an original from anywhere. Only this user writes here.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote

from foreword.errors import StoreError, UnknownName
from foreword.pattern import lazy_pattern
from foreword.store import private

FILE = "state.db"
STORES, PROJECTS = "stores", "projects"
_DIGEST_DIGITS = 16  # 64 bits: the roots of one user do not meet by chance
_BESIDE = ("-wal", "-shm", "-journal")  # the files SQLite keeps next to its own
_LONGEST_NAME = 40  # characters of a directory's name in the name of its store
_NOT_IN_NAME = lazy_pattern("[^a-zA-Z0-9]")
# A repository of a million commits is walked in some 8 s; without an answer, no store is offered.
_GIT_SECONDS = 5.0
# of a home that is missing or read-only
_NOT_OURS = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRecord:
    """What is known about one root, or about a database file that was named (`root` is empty)."""

    root: str
    store: str  # a name below `stores`, or the path of the file
    first_commit: str = ""  # of the repository in the root; empty where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreEntry:
    """One store in the data directory, and the roots of the projects that use it."""

    name: str
    path: Path
    roots: tuple[str, ...]
    first_commits: frozenset[str]


class NoDataDirectory(StoreError):
    """The user's data directory does not exist and can't be made."""

    def __init__(self, problem: object) -> None:
        super().__init__(
            f"there is no data directory: {problem}",
            hint="set HOME, or name a store with --db or FOREWORD_DB",
        )


def data_directory() -> Path:
    """Return the user's data directory for Foreword; raise `NoDataDirectory` without a home."""
    from platformdirs import user_data_path  # 5 ms: not for those who name their database

    return _user_directory(user_data_path)


def cache_folder() -> Path:
    """Return the user's cache directory for Foreword; raise `NoDataDirectory` without a home."""
    from platformdirs import user_cache_path

    return _user_directory(user_cache_path)


def _user_directory(path_of: Callable[[str], Path]) -> Path:
    try:
        return path_of("foreword")
    except RuntimeError as error:
        raise NoDataDirectory(error) from None


def project_directory(root: Path) -> Path:
    """Return the directory of all that is kept for a root, whether it exists or not."""
    record = _read(_record_path(root))
    name = record.store if record else _default_name(root)
    return data_directory() / STORES / name


def state_path(root: Path) -> Path:
    """Return the store of a root, whether it exists or not."""
    return project_directory(root) / FILE


def make_directory(path: Path) -> Path:
    """Make a directory of ours and return it; raise `StoreError` where that can't be done."""
    try:
        private.make_folder(path)
    except OSError as error:
        raise StoreError(
            f"{path} can't be used: {error.strerror or error}", hint="check the directory above it"
        ) from None
    return path


def is_known(root: Path) -> bool:
    """Return whether something was kept for a root."""
    with suppress(NoDataDirectory):
        return os.path.exists(_record_path(root))  # noqa: PTH110 - never raises
    return False


def register(root: Path) -> str:
    """Make the directory of a root's new store, and note its first commit.

    Returns the line that names another store of the same repository, empty where there is none.
    Raises `NoDataDirectory` where the home is missing or read-only, `StoreError` on a full disk.
    """
    try:
        offer = adoption_offer(root)
        if not is_known(root):
            _write_for(root, _default_name(root))
        private.make_folder(project_directory(root))
    except OSError as error:
        if error.errno in _NOT_OURS:
            raise NoDataDirectory(error) from None
        raise StoreError(
            f"no store can be made for {root}: {error}", hint="check the disk"
        ) from None
    return offer


def note_first_commit(root: Path) -> None:
    """Note the first commit of a repository that had none when its store was made."""
    record = _read(_record_path(root))
    if record is not None and not record.first_commit and _first_commit(root):
        with suppress(OSError):
            _write_for(root, record.store)


def remember(path: Path) -> None:
    """Note a database file that was named, so that `recall` finds what is in it."""
    with suppress(OSError, NoDataDirectory):
        record = _record_path(path)
        if not record.exists():
            _write(record, ProjectRecord(root="", store=_text(path)))


def adoption_offer(root: Path) -> str:
    """Return the line that names the stores which begin with this root's first commit."""
    stores = [entry for entry in stores_in_use() if entry.first_commits]
    commit = _first_commit(root) if stores else ""
    own = project_directory(root).name
    names = [entry.name for entry in stores if commit in entry.first_commits and entry.name != own]
    if not names:
        return ""
    return (
        f"{root} has no store yet; of the same first commit: {', '.join(names)};"
        f" `foreword store adopt {names[0]} --root {quote(str(root))}` uses it here, too"
    )


def adopt(root: Path, name: str) -> StoreEntry:
    """Use a store for one more root; the roots that have it keep it. Returns the store."""
    entries = {entry.name: entry for entry in stores_in_use()}
    if name not in entries:
        raise UnknownName("store", name, entries, where=f"in {data_directory() / STORES}")
    _write_for(root, name)
    return entries[name]


def stores_in_use() -> list[StoreEntry]:
    """Return every store in the data directory with its roots, in the order of their names."""
    records = list(_records())
    entries = []
    for path in sorted((data_directory() / STORES).glob(f"*/{FILE}")):
        own = [record for record in records if record.store == path.parent.name]
        entry = StoreEntry(
            name=path.parent.name,
            path=path,
            roots=tuple(sorted(record.root for record in own)),
            first_commits=frozenset(record.first_commit for record in own) - {""},
        )
        entries.append(entry)
    return entries


def known_files(root: Path) -> list[Path]:
    """Return the database files that may hold an original, the root's own first; those that were
    named and are gone are forgotten."""
    try:
        files = [state_path(root), *(entry.path for entry in stores_in_use())]
        for record in _records():
            path = Path(record.store)
            if not record.root and path.is_file():
                files.append(path)
            elif not record.root:
                _record_path(path).unlink(missing_ok=True)
    except (OSError, NoDataDirectory):
        return []
    return [path for path in dict.fromkeys(files) if path.is_file()]


def files_beside(path: Path) -> list[Path]:
    """Return the files that SQLite keeps next to its own, whether they exist or not."""
    return [path.with_name(path.name + end) for end in _BESIDE]


def is_there(path: Path) -> bool:
    """Return whether there is a store; a writer that was stopped early leaves an empty file."""
    try:
        return bool(path.stat().st_size)
    except OSError:
        return False


def is_read_only(path: Path) -> bool:
    """Return whether a store exists and is not meant to be written."""
    return is_there(path) and not (_is_writable(path.parent) and _is_writable(path))


def _is_writable(path: Path) -> bool:
    """Return whether a path is meant to be written: its mode counts even for the superuser."""
    try:
        return bool(path.stat().st_mode & 0o222) and os.access(path, os.W_OK)
    except OSError:
        return False


# --- records --------------------------------------------------------------------------------------


def _records() -> Iterator[ProjectRecord]:
    for path in sorted((data_directory() / PROJECTS).glob("*.json")):
        record = _read(path)
        if record is not None:
            yield record


def _record_path(path: Path) -> Path:
    return data_directory() / PROJECTS / f"{_digest(path)}.json"


def _read(path: Path) -> ProjectRecord | None:
    try:
        return ProjectRecord(**json.loads(path.read_bytes()))
    except OSError:
        return None
    except (ValueError, TypeError):
        raise StoreError(
            f"{path} is damaged", hint="remove it, then name the store: `foreword store adopt`"
        ) from None


def _write_for(root: Path, store: str) -> None:
    """Write the record of a root."""
    record = ProjectRecord(root=_text(root), store=store, first_commit=_first_commit(root))
    _write(_record_path(root), record)


def _write(path: Path, record: ProjectRecord) -> None:
    """Write a record, whole or not at all."""
    private.make_folder(path.parent)
    private.write_file(path, json.dumps(asdict(record)))


def _default_name(root: Path) -> str:
    name = _NOT_IN_NAME.sub("-", root.resolve().name)[:_LONGEST_NAME].strip("-")
    return f"{name or 'root'}-{_digest(root)}"


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:_DIGEST_DIGITS]


def _text(path: Path) -> str:
    return str(path.resolve())


def _first_commit(root: Path) -> str:
    """Return the first commit of the repository in a root; empty where git can't tell."""
    if not (root / ".git").exists():
        return ""
    from foreword.sources import git_command

    words = ["rev-list", "--max-parents=0", "HEAD"]
    try:
        output = git_command.run(words, root, timeout_seconds=_GIT_SECONDS, output_bytes=65_536)
    except (OSError, ValueError):
        return ""
    commits = output.stdout.decode("ascii", "replace").split()
    return commits[-1] if output.exit_code == 0 and commits else ""
