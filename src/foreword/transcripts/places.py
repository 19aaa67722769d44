"""The sessions of coding agents that are in files and below folders.

A session is a file, but for opencode's, which are rows of a database: those are read without
writing a byte, and each is one document. Nothing is opened here but that database.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foreword.transcripts.reader import SessionFile, open_session, session_of_document

ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
DATABASE = "opencode.db"
MOST_DEPTH = 12  # folders below a given one; agents use six


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlace:
    """A session that may be there: a file, or a row of opencode's database."""

    path: Path
    row: str = ""  # the id of a session in a database
    size: int = 0
    changed: float = 0.0

    @property
    def name(self) -> str:
        """What people call it by."""
        return self.row or self.path.name

    @contextmanager
    def open(self, progress: Callable[[int], None] | None = None) -> Iterator[SessionFile | None]:
        """The session, open; nothing where there is none in it."""
        if not self.row:
            with open_session(self.path, progress) as session:
                yield session
            return
        yield session_of_document(_document(self.path, self.row))


def places_in(paths: Iterable[Path]) -> list[SessionPlace]:
    """The sessions that may be in files or below folders, path by path."""
    places = list[SessionPlace]()
    for path in paths:
        places += places_below(path)
    return places


def places_below(path: Path) -> list[SessionPlace]:
    """The sessions that may be in a file or below a folder, the newest last."""
    found = list[SessionPlace]()
    for file in [path] if path.is_file() else _files(path):
        if file.name == DATABASE:
            found += _rows(file)
        elif file.name.endswith(ENDINGS) or path.is_file():
            about = file.stat()
            found.append(SessionPlace(path=file, size=about.st_size, changed=about.st_mtime))
    return sorted(found, key=lambda place: (place.changed, str(place.path)))


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder that may be sessions; subagents have files of their own, and are
    left out."""
    depth = len(folder.parts)
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(folders) if len(Path(place).parts) - depth < MOST_DEPTH else []
        for name in sorted(names):
            path = Path(place, name)
            is_session = name.endswith(ENDINGS) and not name.startswith("agent-")
            if (is_session or name == DATABASE) and path.is_file():
                yield path


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _rows(path: Path) -> list[SessionPlace]:
    """The sessions in opencode's database; none where it is another kind of database."""
    places = list[SessionPlace]()
    try:
        with closing(_connect(path)) as database:
            for row, changed in database.execute("SELECT id, time_updated FROM session"):
                places.append(SessionPlace(path=path, row=row, changed=changed / 1000))
    except sqlite3.Error:
        return []
    return places


def _document(path: Path, session: str) -> Mapping[str, Any]:
    """A session of the database as `opencode export` would write it."""
    with closing(_connect(path)) as database:
        (directory,) = database.execute(
            "SELECT directory FROM session WHERE id = ?", (session,)
        ).fetchone()
        parts = dict[str, list[Any]]()
        asked = "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id"
        for message, data in database.execute(asked, (session,)):
            parts.setdefault(message, []).append(json.loads(data))
        messages = list[dict[str, Any]]()
        asked = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for message, data in database.execute(asked, (session,)):
            messages.append({"info": json.loads(data), "parts": parts.get(message, [])})
    return {"info": {"id": session, "directory": directory}, "messages": messages}
