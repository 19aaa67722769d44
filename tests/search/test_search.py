"""`foreword search`: sessions, documents, artifacts and the sessions of coding agents at once."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import foreword
from foreword import Session
from foreword.coding_agents.agents import AGENTS
from foreword.demos import samples
from foreword.errors import BadRequest
from foreword.faces.mcp.server_state import ServerState
from foreword.faces.mcp.tools import TOOLS as MCP_TOOLS
from foreword.faces.serving.app_state import AppState, Settings
from foreword.search import transcript_search
from foreword.search.search import search, search_store
from foreword.store import artifacts
from foreword.store.urls import open_database, recall
from foreword.tokens import counter
from foreword.transcripts.places import places_below
from tests.command import foreword as run
from tests.store.databases import KINDS, new_url

REPOSITORY = Path(__file__).parents[2]
KEY = "sk-ant-" + "a1" * 20


def claude_line(number: int, role: str, text: str) -> str:
    return json.dumps(
        {
            "type": role,
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": "s1",
            "cwd": "/home/ada/importer",
            "timestamp": f"2026-03-0{1 + number % 9}T10:00:00.000Z",
            "message": {"role": role, "content": text},
        }
    )


def write_transcript(path: Path, texts: list[str]) -> None:
    lines = list[str]()
    for number, text in enumerate(texts):
        lines.append(claude_line(number, "assistant" if number % 2 else "user", text))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "retries.md").write_text("# Retries\n\nThe retry loop hid the real error.\n")
    (root / "docs" / "tea.md").write_text("# Tea\n\nTea is warm.\n")
    items = {"items": [{"title": "Bill", "text": "The retry loop doubled the bill. " * 9}]}
    (root / "items.json").write_text(json.dumps(items))
    return root


def readme_question() -> str:
    found = re.search(r'foreword search "([^"]+)"', (REPOSITORY / "README.md").read_text())
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("material", "answer"),
    [("documents", "because it hid the real error"), ("sample", "would have hidden it")],
)
def test_the_first_hit_answers_the_question_of_the_readme(
    tmp_path: Path, material: str, answer: str
) -> None:
    root = tmp_path / "project"
    if material == "sample":
        samples.lay_out(root)
    else:
        shutil.copytree(REPOSITORY / "docs", root / "docs")
        for path in REPOSITORY.glob("*.md"):
            shutil.copy(path, root)
    with closing(open_database(None, root)) as db:
        found = search(readme_question(), db=db, root=root)
    assert answer in found.hits[0].text
    first = f"({found.hits[0].handle})"
    assert first in found.package.text.split("\n")[1]


def test_a_document_that_asks_the_same_question_comes_after_one_that_answers_it(
    project: Path,
) -> None:
    asks = 'Run `search "why did we drop the retry loop"`. Why did we drop the retry loop? ' * 4
    (project / "docs" / "commands.md").write_text(f"# Search\n\n{asks}\n")
    question = "why did we drop the retry loop"
    with closing(open_database(None, project)) as db:
        found = search(question, db=db, root=project)
        assert found.hits[0].where in ("docs/retries.md", "items.json")
        for path in ("docs/retries.md", "items.json"):
            (project / path).unlink()
        found = search(question, db=db, root=project)
    assert [hit.where for hit in found.hits] == ["docs/commands.md"]


def test_what_foreword_writes_itself_is_not_found(project: Path) -> None:
    agents = [option for agent in AGENTS for option in ("--for", agent)]
    (project / "AGENTS.md").write_text("# Rules\n\nThe glaze is never poured into the sink.\n")
    assert run("init", *agents, "--yes", "--root", project, cwd=project).code == 0
    foreword.fit("tea " * 400, budget=60, question="foreword assemble coding recall", root=project)
    written = (
        "at the start of a task run foreword assemble coding, hook timeout command mcp settings"
    )
    with closing(open_database(None, project)) as db:
        found = search(written, db=db, root=project)
        rules = search("where is glaze poured", db=db, root=project)
    assert "foreword" not in found.package.text
    assert [hit.where for hit in rules.hits] == ["AGENTS.md"]
    assert "foreword assemble" not in rules.package.text


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_said_written_and_handed_on_is_found_together(
    kind: str, project: Path, tmp_path: Path
) -> None:
    url = new_url(kind, tmp_path)
    with Session.open(url, "importer", root=project) as session:
        session.append({"role": "user", "content": "Drop the retry loop on Monday."})
    db = open_database(url, project)
    artifacts.keep(
        db, run="r", name="FEAT-1", phase="1", title="Plan", text="No retry loop.", tokens=4
    )
    found = search("why did we drop the retry loop", db=db, root=project, budget=900)
    where = {hit.where for hit in found.hits}
    assert {"session importer, message 1", "docs/retries.md", "items.json"} <= where
    assert "artifact FEAT-1 of r, assistant phase 1" in where
    assert "docs/tea.md" not in where
    assert found.package.report.total_tokens <= 900
    for hit in found.hits:
        assert b"retry loop" in recall(hit.handle, project, url)
    told = search_store(db, "retry loop", budget=300, counter=counter("o200k"))
    assert "Drop the retry loop on Monday." in told
    assert "hid the real error" not in told
    db.close()


def test_only_what_is_new_is_read_again(project: Path) -> None:
    db = open_database(None, project)
    assert search("retry loop", db=db, root=project).hits
    path = project / "docs" / "retries.md"
    about = path.stat()
    path.write_text("# Retries\n\nThe RETRY LOOP hid the real error.\n")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))  # as if it had not changed
    assert "The retry loop hid" in search("retry loop", db=db, root=project).package.text
    os.utime(path)
    assert "The RETRY LOOP hid" in search("retry loop", db=db, root=project).package.text
    path.unlink()
    assert "hid the real error" not in search("retry loop", db=db, root=project).package.text
    db.close()


def test_sessions_of_coding_agents_are_found_and_grow_and_their_secrets_are_hidden(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    texts = ["Why is the bill double?", f"The retry loop. The key is {KEY}.", "Drop it.", "Done."]
    write_transcript(folder / "s1.jsonl", texts)
    (folder / "other.jsonl").write_text('{"no": "session"}\n')
    found = search("retry loop", db=None, sessions=places_below(folder))
    (hit,) = found.hits
    assert hit.where.startswith("claude-code in /home/ada/importer, s1.jsonl, messages 1-")
    assert "The retry loop." in hit.text
    assert KEY not in found.package.text
    assert KEY not in recall(hit.handle, tmp_path).decode()
    with closing(transcript_search.open_index()) as index:
        bodies = index.rows("SELECT body FROM search_entries")
        assert len(bodies) == 4
        assert KEY not in str(bodies)
    write_transcript(folder / "s1.jsonl", [*texts, "And the heron?", "The heron stands."])
    assert (
        "The heron stands." in search("heron", db=None, sessions=places_below(folder)).package.text
    )
    with closing(transcript_search.open_index()) as index:
        assert len(index.rows("SELECT body FROM search_entries")) == 6


def test_the_command_prints_hits_or_json_and_says_what_is_wrong(project: Path) -> None:
    ran = run("search", "retry loop", "--json", "--quiet", cwd=project)
    assert ran.code == 0
    answer = json.loads(ran.out)
    assert {hit["where"] for hit in answer["hits"]} >= {"docs/retries.md"}
    assert all(hit["handle"].startswith("fw_") for hit in answer["hits"])
    handle = answer["hits"][0]["handle"]
    assert "retry loop" in run("recall", handle, cwd=project).out
    nothing = run("search", "zebra", cwd=project).err
    assert "nothing about it was found" in nothing
    assert "within budget: nothing came in" in nothing
    assert "as given" in nothing
    assert "in none of it: zebra" in run("search", "retry the zebra", cwd=project).err
    assert "in none of it" not in run("search", "retries and loops", cwd=project).err
    assert run("search", " ", cwd=project).code == 2
    assert run("search", "retry", "docs", cwd=project).code == 2


def test_a_session_is_recalled_at_the_command_line(project: Path) -> None:
    with foreword.Session.open(root=project, workflow="talk") as session:
        session.append({"role": "user", "content": "The heron stands in the pond."})
    ran = run(
        "session", "recall", "talk", "where does the heron stand", "--format", "json", cwd=project
    )
    assert ran.code == 0
    assert "The heron stands in the pond." in json.loads(ran.out)["text"]
    assert run("session", "recall", "nobody", "heron", cwd=project).code == 2


def test_an_agent_recalls_by_a_question_or_by_a_handle(project: Path) -> None:
    with foreword.Session.open(root=project, workflow="talk") as session:
        session.append({"role": "user", "content": "The heron stands in the pond."})
    app_state = AppState(Settings(root=project))
    server = ServerState(app_state, "talk")
    answer = MCP_TOOLS["recall"].call(server, {"question": "where does the heron stand"})
    assert "The heron stands in the pond." in answer["text"]
    handle = answer["text"].split("(")[1].split(")")[0]
    assert "heron" in MCP_TOOLS["recall"].call(server, {"handle": handle})["text"]
    with pytest.raises(BadRequest, match="handle: missing"):
        MCP_TOOLS["recall"].call(server, {})
    app_state.close()
