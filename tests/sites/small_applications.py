"""Two applications that are small enough for `make test`: Datasette and SQLite Web, each over a
table of plants."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.sites.application import (
    SMALL,
    Application,
    Page,
    Rows,
    clicking,
    finish,
    free_port,
    opening,
    paging,
    reading,
    running,
    typing,
)

PASSWORD = "rosebud-7"
PLANTS = {"datasette": 250, "sqlite-web": 60}  # 250 rows on 5 pages are 250 rows
ON_A_PAGE = {"datasette": 50, "sqlite-web": 20}
NEW: Rows = (
    {"name": "Sea holly", "height": "60", "note": "by the pier"},
    {"name": "Thrift", "height": "20", "note": 'pink, "cushions"'},
    {"name": "Marram grass", "height": "120", "note": "holds the dune"},
)
_CONFIGURATION = """\
plugins:
  datasette-auth-passwords:
    ada_password_hash: "{password_hash}"
    actors: {{ada: {{id: ada}}}}
permissions:
  insert-row: {{id: ada}}
"""


def _make_table(file: Path, plants: int) -> None:
    rows = [(f"Plant {number}", number * 3 % 97) for number in range(1, plants + 1)]
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT, height INT, note TEXT)")
        db.executemany("INSERT INTO plants (name, height) VALUES (?, ?)", rows)


def _new_names(file: Path, plants: int) -> Counter[str]:
    with closing(sqlite3.connect(file)) as db:
        found = db.execute("SELECT name FROM plants WHERE id > ?", (plants,))
        return Counter([name for (name,) in found])


def _names(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return [name for (name,) in db.execute("SELECT name FROM plants ORDER BY id")]


@contextmanager
def datasette(folder: Path) -> Iterator[Application]:
    """Datasette with passwords: pages of a table by `_next`, rows inserted in a dialog."""
    file = folder / "data.db"
    plants = PLANTS["datasette"]
    _make_table(file, plants)
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
        table = f"/data/plants?_size={ON_A_PAGE['datasette']}"
        yield Application(
            name="datasette",
            port=port,
            login=login,
            listing=[
                opening(table),
                paging('role=link[name="Next page"]'),
                reading("tbody td.col-name", append=True),
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
            effects=lambda: _new_names(file, plants),
            expected=lambda: _names(file),
            folder=folder,
        )


@contextmanager
def sqlite_web(folder: Path) -> Iterator[Application]:
    """SQLite Web with a password: pages by number, rows inserted by a form of its own page."""
    file = folder / "data.db"
    plants = PLANTS["sqlite-web"]
    _make_table(file, plants)
    port = free_port()
    serving: list[str | Path] = [
        SMALL / "sqlite_web",
        "-H",
        "127.0.0.1",
        "-p",
        str(port),
        "-x",
        "-P",
        "-R",
        str(ON_A_PAGE["sqlite-web"]),
        file,
    ]
    with running(serving, folder, port, SQLITE_WEB_PASSWORD=PASSWORD):
        yield Application(
            name="sqlite-web",
            port=port,
            login=[
                opening("/login/"),
                typing('role=textbox[name="Password"]', "{{creds.password}}"),
                clicking('role=button[name="Login"]'),
            ],
            listing=[
                opening("/plants/content/"),
                paging('li.page-item:has-text("\u203a") > a'),
                reading("tbody td:nth-child(3)", append=True),
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
            effects=lambda: _new_names(file, plants),
            expected=lambda: _names(file),
            sends_by_page=True,
            folder=folder,
        )
