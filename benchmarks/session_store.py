"""What keeping a message costs, next to `sqlite3` of the standard library with the same promise
to the disk."""

import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.chatter import conversation
from benchmarks.session_ours import neutral
from foreword.messages.record import to_record
from foreword.store import messages, workflows
from foreword.store.sqlite import Sqlite

MESSAGES = 1_500

TABLE = """
CREATE TABLE messages (
    conversation INTEGER, seq INTEGER, kind TEXT, pinned INTEGER, tokens INTEGER,
    running INTEGER, created TEXT, message TEXT, PRIMARY KEY (conversation, seq)
)
"""


def compare_appends() -> tuple[float, float]:
    """Messages kept in a second, by Foreword's store and by plain `sqlite3`; medians of single
    ones, in turns."""
    said = [neutral(one) for one in conversation(MESSAGES, 1)[0]][:MESSAGES]
    times = list[tuple[float, float]]()
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Sqlite(Path(folder, "ours.db")), _plain(Path(folder, "plain.db"))
        talk = messages.ensure(ours, workflows.ensure(ours, "bench").id, "main", "o200k").id
        for place, message in enumerate(said):
            row = (
                1,
                place,
                "conversation",
                0,
                100,
                100 * place,
                "2026-01-01T00:00:00",
                to_record(message),
            )
            began = time.perf_counter()
            messages.append(ours, talk, [(message, 100, False)])
            halfway = time.perf_counter()
            plain.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            times.append((halfway - began, time.perf_counter() - halfway))
        ours.close()
        plain.close()
    return 1 / statistics.median(ours for ours, _ in times), 1 / statistics.median(
        plain for _, plain in times
    )


def _plain(path: Path) -> sqlite3.Connection:
    """Every INSERT is a commit, and every commit is on the disk before it returns."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = full")
    connection.execute(TABLE)
    return connection
