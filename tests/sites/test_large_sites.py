"""What people do on pages, each on an application that nobody here wrote, told by its own data; and
a real small model as the director. `make sites` runs this (FOREWORD_SITES=1)."""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from foreword.browser import Browser
from foreword.director import node_tools, runner
from foreword.errors import BrowserFailed
from foreword.session.workflow_state import WorkflowState
from foreword.store.locations import project_directory
from foreword.testing import Reply, fake_provider
from tests.director.scenes import calls, open_director, spoken_in
from tests.local_model import local_model
from tests.sites.application import DRAW_SECONDS, Application
from tests.sites.conftest import Applications
from tests.sites.large_applications import SHELVES
from tests.sites.scenario import sign_in
from tests.sites.small_applications import PASSWORD

Step = tuple[str, dict[str, Any]]
LATER = {"timeout": DRAW_SECONDS}


class Workflow:
    """Builds a workflow on an application and runs it."""

    def __init__(self, folder: Path, browser: Browser) -> None:
        self.folder = folder
        self.browser = browser

    def run(self, application: Application, *steps: Step) -> dict[str, Any]:
        """Run these nodes, as somebody who is signed in; the variables that they have set."""
        sign_in(self.browser, application)
        with WorkflowState.open(None, application.name, root=self.folder) as state:
            state.set_variable("site", application.address, "where it is")
            state.set_variable("creds", {"name": "ada", "password": PASSWORD}, "to sign in")
            for kind, config in steps:
                node_tools.create_node(state, kind, config)
            return self.run_again(state)

    def run_again(self, state: WorkflowState) -> dict[str, Any]:
        """Run a workflow as it is."""
        result = runner.run_workflow(state, self.browser, keep_login=True)
        assert result["status"] == "success", result["error"]
        return state.get_workflow_variables()

    def kept_file(self, name: str) -> Path:
        """A file that came from a page, by the name that nodes have for it."""
        return project_directory(self.folder) / name


@pytest.fixture
def workflow(tmp_path: Path, site_browser: Browser) -> Workflow:
    return Workflow(tmp_path, site_browser)


def _rows(file: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(file, timeout=30)) as db:
        return db.execute(query).fetchall()


def _picture() -> bytes:
    """A green PNG of 8 by 8."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    lines = b"".join([b"\0" + b"\x10\x80\x40" * 8] * 8)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def test_files_go_into_jupyterlab_and_are_opened_and_copied_by_the_mouse_and_changed_by_keys(
    applications: Applications, workflow: Workflow
) -> None:
    application = applications.get("jupyterlab")
    (workflow.folder / "tides.md").write_text("low water 3:04\n")
    entry = '.jp-DirListing-item:has-text("tides.md")'
    try:
        workflow.run(
            application,
            ("navigate", {"url": "{{site}}/lab?reset"}),
            ("wait", {"selector": "text=notes12.txt", **LATER}),
            (
                "upload",
                {"selector": 'role=button[name="Upload Files"]', "files": ["tides.md"], **LATER},
            ),
            ("wait", {"selector": entry, **LATER}),
            ("click", {"selector": entry, "double": True}),
            ("wait", {"selector": '.cm-content:has-text("low water")', **LATER}),
            ("press", {"keys": "Control+End", "selector": ".cm-content"}),
            ("type", {"selector": ".cm-content", "text": "high water 9:12", "slowly": True}),
            ("press", {"keys": "Control+s"}),
            ("wait", {"gone": ".jp-mod-dirty", **LATER}),
            ("click", {"selector": entry, "button": "right"}),
            ("click", {"selector": '.lm-Menu-item:has-text("Duplicate")'}),
            ("wait", {"gone": ".lm-Menu"}),
            ("wait", {"selector": "text=tides-Copy1.md", **LATER}),
            ("click", {"selector": 'role=menuitem[name="File"]'}),
            ("hover", {"selector": '.lm-Menu-item:has-text("New") >> nth=0'}),
            ("wait", {"selector": '.lm-Menu-item:has-text("Markdown File")', **LATER}),
            ("press", {"keys": "Escape Escape"}),
        )
        changed = "low water 3:04\nhigh water 9:12"
        files = application.folder / "files"
        found = {file.name: file.read_text() for file in files.glob("tides*")}
        assert found == {"tides.md": changed, "tides-Copy1.md": changed}
    finally:
        for file in (application.folder / "files").glob("tides*"):
            file.unlink()


def test_a_node_is_dragged_into_a_flow_of_node_red_and_named_by_a_double_click(
    applications: Applications, workflow: Workflow
) -> None:
    application = applications.get("node-red")
    palette = '.red-ui-palette-node[data-palette-type="inject"]'
    workflow.run(
        application,
        ("navigate", {"url": "{{site}}/"}),
        ("wait", {"selector": palette, **LATER}),
        ("drag", {"selector": palette, "to": "#red-ui-workspace-chart"}),
        ("click", {"selector": ".red-ui-flow-node-group .red-ui-flow-node", "double": True}),
        ("wait", {"selector": "#node-input-name", **LATER}),
        ("type", {"selector": "#node-input-name", "text": "every tide"}),
        ("click", {"selector": "#node-dialog-ok"}),
        ("wait", {"gone": "#node-dialog-ok", **LATER}),
        ("click", {"selector": 'role=link[name="Deploy"]'}),
        ("wait", {"text": "Successfully deployed", **LATER}),
    )
    kept = json.loads((application.folder / "flows.json").read_text())
    assert [node["name"] for node in kept if node["type"] == "inject"] == ["every tide"]


def test_pages_of_node_red_behind_http_authentication_open_with_a_variable_and_not_without(
    applications: Applications, workflow: Workflow
) -> None:
    application = applications.get("node-red")
    with pytest.raises(BrowserFailed, match="asks for a name and password of its own") as caught:
        workflow.browser.navigate(f"{application.address}/public/tides.html")
    assert "http_login" in caught.value.hint
    login = {"username": "{{creds.name}}", "password": "{{creds.password}}"}
    variables = workflow.run(
        application,
        ("http_login", {"url": "{{site}}", **login}),
        ("navigate", {"url": "{{site}}/public/tides.html"}),
        ("extract", {"selector": "p", "variable": "tides"}),
    )
    assert variables["node3.tides"] == "Low water at 3:04."


def test_a_picture_goes_into_wagtail_and_a_group_gets_several_permissions(
    applications: Applications, workflow: Workflow
) -> None:
    application = applications.get("wagtail")
    (workflow.folder / "pier.png").write_bytes(_picture())
    chosen = ["Can add log entry", "Can view log entry"]
    choices = [f"Administration | log entry | {words}" for words in chosen]
    variables = workflow.run(
        application,
        ("navigate", {"url": "{{site}}/admin/images/add/"}),
        ("type", {"selector": 'role=textbox[name="Title*"]', "text": "The pier"}),
        ("upload", {"selector": 'role=button[name="File*"]', "files": ["pier.png"]}),
        ("click", {"selector": 'role=button[name="Upload"]'}),
        ("navigate", {"url": "{{site}}/django-admin/auth/group/add/"}),
        ("back", {}),
        ("extract", {"selector": "title", "variable": "behind"}),
        ("navigate", {"url": "{{site}}/django-admin/auth/group/add/"}),
        ("reload", {}),
        ("type", {"selector": "#id_name", "text": "Harbour"}),
        ("wait", {"selector": "#id_permissions_from", **LATER}),
        ("select", {"selector": "#id_permissions_from", "choices": choices}),
        ("screenshot", {"selector": "#content", "variable": "picture"}),
        ("click", {"selector": "#id_permissions_add"}),
        ("click", {"selector": 'role=button[name="Save"]'}),
    )
    file = application.folder / "db.sqlite3"
    assert _rows(file, "SELECT title, width FROM wagtailimages_image") == [("The pier", 8)]
    assert "mages" in variables["node7.behind"]
    picture = workflow.kept_file(variables["node13.picture"])
    assert picture.read_bytes().startswith(b"\x89PNG")
    permissions = _rows(
        file,
        "SELECT p.name FROM auth_group g JOIN auth_group_permissions gp ON gp.group_id = g.id"
        " JOIN auth_permission p ON p.id = gp.permission_id WHERE g.name = 'Harbour'",
    )
    assert sorted(name for (name,) in permissions) == sorted(chosen)


def test_rows_go_out_of_sqlite_web_as_a_file_and_into_it_again(
    applications: Applications, workflow: Workflow
) -> None:
    application = applications.get("sqlite-web")
    before = application.effects()
    (workflow.folder / "new.json").write_text('[{"name": "Samphire", "height": 25, "note": "x"}]')
    variables = workflow.run(
        application,
        ("navigate", {"url": "{{site}}/plants/export/"}),
        ("select", {"selector": 'role=combobox[name="Format"]', "choices": ["JSON"]}),
        ("download", {"selector": 'role=button[name="Export"]', "variable": "file"}),
        ("navigate", {"url": "{{site}}/plants/import/"}),
        ("upload", {"selector": 'role=button[name="Input file"]', "files": ["new.json"]}),
        ("click", {"selector": 'role=button[name="Import"]'}),
    )
    written = json.loads(workflow.kept_file(variables["node3.file"]).read_text())
    own = _rows(application.folder / "data.db", "SELECT id, name FROM plants ORDER BY id")
    assert [(row["id"], row["name"]) for row in written] == own[:-1]
    assert application.effects() - before == {"Samphire": 1}


def test_streamlit_is_clicked_given_a_file_and_scrolled_to_its_end(
    applications: Applications, workflow: Workflow
) -> None:
    application = applications.get("streamlit")
    (workflow.folder / "pier.png").write_bytes(_picture())
    workflow.run(
        application,
        ("navigate", {"url": "{{site}}/"}),
        ("wait", {"selector": f"text={SHELVES[-1]}", **LATER}),
        ("click", {"selector": ".st-key-count button", "timeout": 10}),
        ("upload", {"selector": '[data-testid="stFileUploader"] button', "files": ["pier.png"]}),
        ("wait", {"text": "pier.png", **LATER}),
        ("scroll", {"selector": '[data-testid="stMain"]', "to": "end"}),
    )


# SmolLM2 has been trained on so much context. It never calls a tool, as its template has none.
SMALL_WINDOW = 8_000
# In what it may write where it has to call one.
ADDRESS = {"type": "string", "pattern": "^http://127[.]0[.]0[.]1:[0-9]{4,5}/[a-z/]{0,30}$"}


def _tool_call(model: str, body: Mapping[str, Any], tool: str) -> Reply:
    """The call of a tool as the model writes its arguments: a grammar made from the tool's own
    schema keeps it to their shape, and what they say is the model's."""
    [given] = [one["function"] for one in body["tools"] if one["function"]["name"] == tool]
    required = {
        name: {"type": "string", "maxLength": 40} for name in given["parameters"]["required"]
    }
    schema = {
        "type": "object",
        "properties": {**required, "url": ADDRESS},
        "required": list(required),
        "additionalProperties": False,
    }
    # The whole of a director's instructions is more than it can follow; the tool's own are not.
    system = {"role": "system", "content": f"{tool}: {given['description']}"}
    wanted = {
        "messages": [system, spoken_in(body)[-1]],
        "response_format": {"type": "json_schema", "json_schema": {"name": tool, "schema": schema}},
        "max_tokens": 200,
    }
    address = model.partition("@")[2]
    request = Request(
        f"{address}/chat/completions",
        data=json.dumps(wanted).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=DRAW_SECONDS * 10) as answer:
        written = json.load(answer)["choices"][0]["message"]["content"]
    return calls(**{tool: json.loads(written)})


def test_a_page_is_opened_by_a_call_whose_arguments_a_real_small_model_has_written(
    applications: Applications, site_browser: Browser, tmp_path: Path
) -> None:
    page = f"{applications.get('sqlite-web').address}/login/"
    with local_model(SMALL_WINDOW) as model:

        def reply(body: Mapping[str, Any]) -> Reply:
            if spoken_in(body)[-1]["role"] == "tool":
                return Reply("It is open.")
            return _tool_call(model, body, "debug_navigate")

        with (
            fake_provider(reply) as provider,
            open_director(tmp_path, provider.openai, browser=site_browser) as director,
        ):
            turn = director.say(f"Open the page {page} in the browser.")
    assert not turn.stopped
    assert [tab["url"] for tab in site_browser.tabs() if tab["active"]] == [page]


def test_a_real_small_model_takes_its_turns_beside_a_page_of_an_application(
    applications: Applications, site_browser: Browser, tmp_path: Path
) -> None:
    application = applications.get("sqlite-web")
    page = f"{application.address}/login/"
    with (
        local_model(SMALL_WINDOW) as model,
        open_director(
            tmp_path,
            model,
            browser=site_browser,
            window=SMALL_WINDOW,
            model_seconds=DRAW_SECONDS * 10,
        ) as director,
    ):
        looked = director.call("debug_navigate", {"url": page, "reason": "look"})
        assert not looked.failed, looked.text
        for said in ("Which page is open?", "Say it in three words."):
            turn = director.say(said)
            assert turn.text.strip()
            assert turn.input_tokens > 0
            assert turn.output_tokens > 0
            assert not turn.stopped
        context = director.session.context(browser=site_browser.tabs()).text
        assert page in context
        assert turn.text.strip()[:20] in context
