"""Stations and their readings, in SQLite."""

import sqlite3


def open_stations(path: str) -> sqlite3.Connection:
    """Open the database of stations."""
    return sqlite3.connect(path, isolation_level=None)


def readings(db: sqlite3.Connection, station: str) -> list[tuple[str, float]]:
    """The readings of a station, the oldest first."""
    return db.execute(
        "SELECT at_utc, height_m FROM readings WHERE station = ? ORDER BY at_utc", (station,)
    ).fetchall()
