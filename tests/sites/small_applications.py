"""Two applications that are small enough for `make test`: Datasette and SQLite Web, each over a
table of plants."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.sites.application import (
    SMALL,
    Application,
    Page,
    Rows,
    clicking,
    finish,
    free_port,
    opening,
    running,
    typing,
)

PASSWORD = "rosebud-7"
PLANTS = 250
ON_A_PAGE = 50
NEW: Rows = (
    {"name": "Sea holly", "height": "60", "note": "by the pier"},
    {"name": "Thrift", "height": "20", "note": 'pink, "cushions"'},
    {"name": "Marram grass", "height": "120", "note": "holds the dune"},
)
NAMES = [f"Plant {number}" for number in range(1, PLANTS + 1)]
_CONFIGURATION = """\
plugins:
  datasette-auth-passwords:
    ada_password_hash: "{password_hash}"
    actors: {{ada: {{id: ada}}}}
permissions:
  insert-row: {{id: ada}}
"""


def _make_table(file: Path) -> None:
    rows = [(name, number * 3 % 97) for number, name in enumerate(NAMES, 1)]
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT, height INT, note TEXT)")
        db.executemany("INSERT INTO plants (name, height) VALUES (?, ?)", rows)


def _inserted(file: Path) -> Counter[str]:
    with closing(sqlite3.connect(file)) as db:
        found = db.execute("SELECT name FROM plants WHERE id > ?", (PLANTS,))
        return Counter([name for (name,) in found])


def _names_read(results: Mapping[str, Any]) -> list[str]:
    """What a loop with an extraction has read, turn by turn."""
    names: list[str] = []
    for result in results.values():
        found = result.output.get("result", {}).get("found") or []
        names += [row["name"] for row in found]
    return names


@contextmanager
def datasette(folder: Path) -> Iterator[Application]:
    """Datasette with passwords: pages of a table by `_next`, rows inserted in a dialog."""
    file = folder / "data.db"
    _make_table(file)
    program = SMALL / "datasette"
    code = (
        "import sys; from datasette_auth_passwords.utils import hash_password;"
        f" print(hash_password({PASSWORD!r}))"
    )
    password_hash = finish([SMALL / "python", "-c", code], folder).strip()
    (folder / "datasette.yaml").write_text(_CONFIGURATION.format(password_hash=password_hash))
    port = free_port()
    serving: list[str | Path] = [
        program,
        "serve",
        file,
        "-c",
        folder / "datasette.yaml",
        "-p",
        str(port),
    ]
    with running(serving, folder, port):
        login = [
            opening("/-/login"),
            typing('role=textbox[name="Username"]', "ada"),
            typing('role=textbox[name="Password"]', "{{creds.password}}"),
            clicking('role=button[name="Log in"]'),
        ]
        starts = [number * ON_A_PAGE for number in range(PLANTS // ON_A_PAGE)]
        table = f"/data/plants?_size={ON_A_PAGE}"
        reading = {
            "selector": "table.rows-and-columns > tbody > tr",
            "variable": "plants",
            "many": True,
            "fields": {"name": "td.col-name"},
        }
        yield Application(
            name="datasette",
            port=port,
            login=login,
            listing=[
                ("loop", {"over": starts, "as": "after"}, {}),
                ("navigate", {"url": "{{site}}" + table + "&_next={{after}}"}, {"inside": True}),
                ("extract", reading, {"inside": True}),
            ],
            form=[
                opening(table),
                clicking('button[data-table-action="insert-row"]'),
                typing('role=textbox[name="name"]', "{{row.name}}"),
                typing('role=textbox[name="height"]', "{{row.height}}"),
                typing('role=textbox[name="note"]', "{{row.note}}"),
                clicking('#row-edit-dialog >> role=button[name="Insert row"]'),
            ],
            rows=NEW,
            pages=[
                Page(path="/data", instruction="open the table of plants"),
                Page(path=table, instruction="insert a plant, or go to the next page"),
                Page(path="/data/plants/7", instruction="edit this row"),
            ],
            effects=lambda: _inserted(file),
            listed=_names_read,
            expected=NAMES,
        )


@contextmanager
def sqlite_web(folder: Path) -> Iterator[Application]:
    """SQLite Web with a password: pages by number, rows inserted by a form of its own page."""
    file = folder / "data.db"
    _make_table(file)
    port = free_port()
    serving: list[str | Path] = [
        SMALL / "sqlite_web",
        "-H",
        "127.0.0.1",
        "-p",
        str(port),
        "-x",
        "-P",
        file,
    ]
    with running(serving, folder, port, SQLITE_WEB_PASSWORD=PASSWORD):
        reading = {
            "selector": "tbody > tr",
            "variable": "plants",
            "many": True,
            "fields": {"name": "td:nth-child(3)"},
        }
        pages = [number + 1 for number in range(PLANTS // ON_A_PAGE)]
        yield Application(
            name="sqlite-web",
            port=port,
            login=[
                opening("/login/"),
                typing('role=textbox[name="Password"]', "{{creds.password}}"),
                clicking('role=button[name="Login"]'),
            ],
            listing=[
                ("loop", {"over": pages, "as": "page"}, {}),
                (
                    "navigate",
                    {"url": "{{site}}/plants/content/?page={{page}}"},
                    {"inside": True},
                ),
                ("extract", reading, {"inside": True}),
            ],
            form=[
                opening("/plants/insert/"),
                typing('role=textbox[name="name"]', "{{row.name}}"),
                typing('role=textbox[name="height"]', "{{row.height}}"),
                typing('role=textbox[name="note"]', "{{row.note}}"),
                clicking('role=button[name="Insert"]'),
            ],
            rows=NEW,
            pages=[
                Page(path="/plants/", instruction="see the content of the table"),
                Page(path="/plants/content/", instruction="the next page of rows"),
                Page(path="/plants/insert/", instruction="save the new row"),
            ],
            effects=lambda: _inserted(file),
            listed=_names_read,
            expected=NAMES,
        )
