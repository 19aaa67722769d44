"""What keeping a message costs, next to `sqlite3` of the standard library with the same promise to the disk."""

import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.chatter import conversation
from benchmarks.session_ours import neutral
from foreword.shapes import to_record
from foreword.store import messages, workflows
from foreword.store.sqlite import Sqlite

ROUNDS = 25
PER_ROUND = 60

TABLE = """
CREATE TABLE messages (
    conversation INTEGER, seq INTEGER, kind TEXT, pinned INTEGER, tokens INTEGER, running INTEGER, created TEXT,
    message TEXT, PRIMARY KEY (conversation, seq)
)
"""


def compare_appends() -> tuple[float, float]:
    """Messages kept in a second, by Foreword's store and by plain `sqlite3`; medians of rounds in turns."""
    said = [neutral(one) for one in conversation(PER_ROUND, 1)[0]][:PER_ROUND]
    records = [to_record(message) for message in said]
    rates = list[tuple[float, float]]()
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Sqlite(Path(folder, "ours.db")), _plain(Path(folder, "plain.db"))
        talk = messages.ensure(ours, workflows.ensure(ours, "bench").id, "main", "o200k").id
        for turn in range(ROUNDS):
            began = time.perf_counter()
            for message in said:
                messages.append(ours, talk, [(message, 100, False)])
            halfway = time.perf_counter()
            for place, record in enumerate(records):
                row = (1, turn * PER_ROUND + place, "conversation", 0, 100, 100 * place, "2026-01-01T00:00:00", record)
                plain.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            rates.append((PER_ROUND / (halfway - began), PER_ROUND / (time.perf_counter() - halfway)))
        ours.close()
        plain.close()
    return statistics.median(rate for rate, _ in rates), statistics.median(rate for _, rate in rates)


def _plain(path: Path) -> sqlite3.Connection:
    """Every INSERT is a commit, and every commit is on the disk before it returns."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = full")
    connection.execute(TABLE)
    return connection
