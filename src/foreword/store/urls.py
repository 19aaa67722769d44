"""From an address to an open database: `sqlite:///path` or `postgresql://user@host/name`.

Without an address it is `FOREWORD_DB`, else the project's own file, `.foreword/state.db`.
"""

from __future__ import annotations

import os
from pathlib import Path

from foreword.errors import UsageError, did_you_mean
from foreword.store.database import Database
from foreword.store.paths import is_read_only, is_there, state_path, store_path

VARIABLE = "FOREWORD_DB"
SCHEMES = ("sqlite", "postgresql", "postgres")
BEGINS = "a database address begins with sqlite:/// or postgresql://"
EXAMPLES = "for example sqlite:///state.db or postgresql://user@localhost/name"


def open_database(url: str | None, root: Path, *, create: bool = True) -> Database:
    """The database of that address; without `create` its file has to be there already.

    A store that can't be written is opened to be read: the first change is an error.
    """
    place = place_of(url, root)
    if not isinstance(place, Path):
        from foreword.store.postgres import Postgres

        return Postgres(place)
    from foreword.store.sqlite import Sqlite

    if not create and not store_exists(url, root):
        raise UsageError(
            f"no store yet: there is no {place}",
            hint="`foreword session new NAME` makes one, or name another with --db",
        )
    return Sqlite(place, read_only=is_read_only(place))


def store_exists(url: str | None, root: Path) -> bool:
    """Whether there is a store at that address yet; a server's is made by whoever looks."""
    place = place_of(url, root)
    return not isinstance(place, Path) or os.path.exists(place)  # noqa: PTH110 - never raises


def open_to_read(url: str, root: Path) -> Database | None:
    """The database of that address as it is, or nothing where its file is still to be made;
    makes none."""
    place = place_of(url, root)
    if not isinstance(place, Path):
        return open_database(url, root)
    from foreword.store.sqlite import Sqlite

    return Sqlite(place, read_only=True) if is_there(place) else None


def place_of(url: str | None, root: Path) -> Path | str:
    """The file that an address leads to, or the address itself where it is a server's."""
    url = url or os.environ.get(VARIABLE)
    if not url:
        return state_path(root)
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


def store_note(root: Path) -> str:
    """Where originals and reports are kept, if that is neither under the root nor where the user
    said."""
    return "" if os.environ.get(VARIABLE) else store_path(root)[1]


def file_of(rest: str) -> Path:
    """The file of `sqlite:///state.db` (from here) or `sqlite:////srv/state.db` (from the top)."""
    path = rest.removeprefix("/")
    if not rest.startswith("/") or not path or path.endswith("/") or "\0" in path:
        # it may have been meant for a server, with a password
        shown = rest if "@" not in rest else "..."
        raise UsageError(f"sqlite://{shown} names no file", hint=EXAMPLES)
    return Path(os.path.expanduser(path))  # noqa: PTH111 - never raises
