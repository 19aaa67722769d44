"""From an address to an open database: `sqlite:///path` or `postgresql://user@host/name`.

Without an address it is `FOREWORD_DB`, else the root's own store in the user's data directory
(`locations`). Where that can't be written, a store in memory takes its place, with a warning.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

from foreword.errors import StoreError, UnknownHandle, UsageError, did_you_mean
from foreword.store import locations
from foreword.store.database import Database

VARIABLE = "FOREWORD_DB"
SCHEMES = ("sqlite", "postgresql", "postgres")
BEGINS = "a database address begins with sqlite:/// or postgresql://"
EXAMPLES = "for example sqlite:///state.db or postgresql://user@localhost/name"


def open_database(url: str | None, root: Path, *, create: bool = True) -> Database:
    """Return the database of that address; without `create` its file has to exist already.

    A store that can't be written is opened to be read: the first change is an error.
    """
    url = url or os.environ.get(VARIABLE)
    try:
        place = place_of(url, root)
        if not isinstance(place, Path):
            from foreword.store.postgres import Postgres

            return Postgres(place)
        if not os.path.exists(place):  # noqa: PTH110 - never raises
            _prepare(place, None if url else root, create=create)
        elif not url:
            locations.note_first_commit(root)
    except locations.NoDataDirectory as error:
        return _memory_store(error.message)
    from foreword.store.sqlite import Sqlite

    db = Sqlite(place, read_only=locations.is_read_only(place))
    if url:
        locations.remember(place)
    return db


def _prepare(place: Path, root: Path | None, *, create: bool) -> None:
    """See to the directory of a new store: that of a root is made, another has to exist."""
    if not create:
        offer = locations.adoption_offer(root) if root else ""
        raise UsageError(
            f"no store yet: there is no {place}",
            hint=offer or "`foreword session new NAME` makes one, or name another with --db",
        )
    offer = locations.register(root) if root else ""
    if offer:
        _warn(offer)


def open_to_keep(root: Path, url: str | None = None) -> Database:
    """Return the store for originals and reports: in memory where the root's own can't be
    written."""
    db = open_database(url, root)
    if not db.read_only or url or os.environ.get(VARIABLE):
        return db
    db.close()
    return _memory_store(f"{db.name} is read-only")


@contextmanager
def open_store(root: Path, url: str | None = None) -> Iterator[Database]:
    """Open the store for originals and reports, and close it."""
    with closing(open_to_keep(root, url)) as db:
        yield db


def open_to_read(url: str | None, root: Path) -> Database | None:
    """Return the database of that address as it is, or None where its file does not exist yet;
    makes none."""
    try:
        place = place_of(url, root)
    except locations.NoDataDirectory:
        return None
    if not isinstance(place, Path):
        return open_database(url, root)
    from foreword.store.sqlite import Sqlite

    return Sqlite(place, read_only=True) if locations.is_there(place) else None


def store_exists(url: str | None, root: Path) -> bool:
    """Return whether there is a store at that address; a server's is made when it is opened."""
    try:
        place = place_of(url, root)
    except locations.NoDataDirectory:
        return False
    return not isinstance(place, Path) or os.path.exists(place)  # noqa: PTH110 - never raises


def recall(handle: str, root: Path, url: str | None = None) -> bytes:
    """Return the original under a handle, from the root's store or any other this user has.

    Raises `UnknownHandle` where no store has one, or several originals begin so.
    """
    from foreword.store import originals

    if not originals.is_handle(handle):
        raise UnknownHandle(handle, str(root), matches=0)
    is_ambiguous = False
    for db in _databases_to_search(root, url):
        with closing(db):
            try:
                found = originals.find(db, handle)
                if len(found) == 1:
                    whole_handle, packed = found[0]
                    return originals.read(db, whole_handle, packed)
            except StoreError:  # another store may have it unharmed
                continue
            is_ambiguous = is_ambiguous or len(found) > 1
    raise UnknownHandle(handle, str(root), matches=2 if is_ambiguous else 0)


def _databases_to_search(root: Path, url: str | None) -> Iterator[Database]:
    """Each store that may hold an original, the one that is named first; others that can't be
    read are passed over."""
    from foreword.store.sqlite import Sqlite

    named = open_to_read(url, root) if url or os.environ.get(VARIABLE) else None
    if named:
        yield named
    for path in locations.known_files(root):
        try:
            db = Sqlite(path, read_only=True)
        except StoreError:
            continue
        yield db


def place_of(url: str | None, root: Path) -> Path | str:
    """Return the file that an address leads to, or the address itself where it is a server's."""
    url = url or os.environ.get(VARIABLE)
    if not url:
        return locations.state_path(root)
    if not isinstance(url, str):  # a path, most likely
        raise UsageError(BEGINS, hint=f"for the file {url} it is sqlite:///{url}")
    scheme, colon, rest = url.partition("://")
    if scheme == "sqlite" and colon:
        return file_of(rest)
    if scheme in SCHEMES and colon:
        return url
    guess = did_you_mean(scheme, SCHEMES) if colon else ""
    what = f"{scheme}:// is no database we know" if colon else BEGINS
    raise UsageError(what + (f", did you mean {guess}://?" if guess else ""), hint=EXAMPLES)


def file_of(rest: str) -> Path:
    """Return the file of `sqlite:///state.db` (from here) or `sqlite:////srv/state.db` (from the
    top)."""
    path = rest.removeprefix("/")
    if not rest.startswith("/") or not path or path.endswith("/") or "\0" in path:
        # it may have been meant for a server, with a password
        shown = rest if "@" not in rest else "..."
        raise UsageError(f"sqlite://{shown} names no file", hint=EXAMPLES)
    return Path(os.path.expanduser(path))  # noqa: PTH111 - never raises


def _memory_store(problem: str) -> Database:
    from foreword.store.sqlite import Sqlite

    _warn(f"nothing is kept: {problem}; --db or FOREWORD_DB names another store")
    return Sqlite.in_memory()


@cache
def _warn(line: str) -> None:
    """Write a line to standard error, once, unless the program that uses us has its own log."""
    import logging  # not for the start of every command

    logging.getLogger("foreword.store").warning("%s", line)
