"""What is done on every application: looked at, and worked on by a workflow whose process is killed
in the middle of a form that is being sent."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep

from foreword import tokens
from foreword.browser import Browser, Rules
from foreword.director import node_tools
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results, node_runs, node_steps
from tests.browser.accessibility import ALL, controls_seen, missing
from tests.sites.application import Application, Node
from tests.sites.slow_proxy import SlowProxy
from tests.sites.small_applications import PASSWORD

WORKFLOW = "job"
# An answer that is held back so long is still under way when the process is killed, and later than
# the 5 s that a click has.
SLOW_SECONDS = 7.0
PATIENCE_SECONDS = 240.0
_UNDER_WAY = re.compile(r"(node\S+) was under way")


@dataclass(slots=True, kw_only=True)
class Figures:
    """What was measured on one application."""

    name: str
    seen: int = 0  # controls in Playwright's snapshots
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    selectors: int = 0
    lasting: int = 0  # of them those that lead to one element after a reload
    lost: list[str] = field(default_factory=list)  # the others
    numbered: int = 0  # of them those that count elements
    explored_tokens: int = 0  # of a look with an instruction, over all pages
    snapshot_tokens: int = 0  # of Playwright's own snapshots for models, over the same pages
    looks: int = 0
    steps: int = 0
    lives: int = 0
    seconds: float = 0.0


@contextmanager
def signed_in(application: Application, folder: Path) -> Iterator[Browser]:
    """A browser in which somebody has signed in."""
    origins = (f"http://127.0.0.1:{application.port}",)
    rules = Rules(origins=origins, action_seconds=20, page_seconds=30)
    with Browser.start(rules, folder=folder) as browser:
        perform(browser, application, application.login)
        yield browser


def perform(browser: Browser, application: Application, nodes: Sequence[Node]) -> None:
    """Do what nodes without a loop say."""
    for kind, config, _ in nodes:
        if kind == "navigate":
            address = f"http://127.0.0.1:{application.port}"
            browser.navigate(config["url"].replace("{{site}}", address))
        elif kind == "type":
            text = config["text"].replace("{{creds.password}}", PASSWORD)
            browser.type(config["selector"], text)
        elif kind == "click":
            browser.click(config["selector"])
        else:
            assert kind == "wait", kind
            browser.wait(**config)


def look(application: Application, folder: Path) -> Figures:
    """Look at the pages of an application as Playwright and we do."""
    figures = Figures(name=application.name)
    count = tokens.counter("o200k").count
    with signed_in(application, folder) as browser:
        for page in application.pages:
            before: list[Node] = [("navigate", {"url": "{{site}}" + page.path}, {}), *page.before]
            if page.ready:
                before.append(("wait", {"selector": page.ready}, {}))
            perform(browser, application, before)
            found = browser.explore("everything", limit=ALL)
            figures.seen += sum(controls_seen(browser).values())
            figures.missing += missing(browser)
            asked = browser.explore(page.instruction)
            figures.explored_tokens += count(json.dumps(asked, ensure_ascii=False))
            figures.snapshot_tokens += count(_snapshot_for_models(browser))
            figures.looks += 1
            perform(browser, application, before)
            again = browser.explore("everything", limit=ALL)  # once it is complete again
            kinds = {(element["role"], element["name"]) for element in again["elements"]}
            for element in found["elements"]:
                selector = element["selector"]
                if (element["role"], element["name"]) not in kinds:
                    continue  # a message that has gone, a time that has passed
                figures.selectors += 1
                figures.numbered += ":nth-of-type(" in selector or " >> nth=" in selector
                is_there = browser.extract(selector, many=True)["count"] == 1
                figures.lasting += is_there
                if not is_there:
                    figures.lost.append(selector)
    return figures


def _snapshot_for_models(browser: Browser) -> str:
    """Playwright's snapshot with a reference for each element, as its MCP server gives it."""
    chromium = browser._chromium
    assert chromium is not None
    page = chromium.tabs.by_name(None).page
    return browser._thread.run(page.aria_snapshot(mode="ai"), 60)


def build(application: Application, state: WorkflowState, port: int) -> None:
    """Make the workflow: sign in, read the list, send the form for each row."""
    state.set_variable("site", f"http://127.0.0.1:{port}", "where it is")
    state.set_variable("creds", {"password": PASSWORD}, "to sign in")
    state.set_variable("rows", list(application.rows), "what is to be entered")
    loop = ""
    for kind, config, place in [*application.login, *application.listing]:
        parent = {"parent": loop} if place.get("inside") else {}
        made = node_tools.create_node(state, kind, config, **parent)
        loop = str(made["id"]) if kind == "loop" else loop
    rows = node_tools.create_node(state, "loop", {"over": "{{rows}}", "as": "row"})
    for kind, config, _ in application.form:
        node_tools.create_node(state, kind, config, parent=str(rows["id"]))


def work(application: Application, proxy: SlowProxy, folder: Path, figures: Figures) -> None:
    """Run the workflow by the command, kill it while the second form is being sent, and go on until
    it is done; every effect is looked for in the application's own data."""
    with WorkflowState.open(None, WORKFLOW, root=folder) as state:
        build(application, state, proxy.port)
    began = monotonic()
    second = application.rows[1]["name"]
    process = _start(folder, "run", WORKFLOW)
    _wait_for_effects(application, process, application.rows[0]["name"])
    proxy.seconds = SLOW_SECONDS
    _wait_for_effects(application, process, second)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    figures.lives = 2
    options = ["--resume"]
    while True:
        done = _start(folder, "run", WORKFLOW, *options)
        out, err = done.communicate(timeout=PATIENCE_SECONDS)
        question = _UNDER_WAY.search(out + err)
        if question is None:
            break
        assert done.returncode == 1, err
        # Somebody looks at the application: the form of the turn in question has arrived.
        turn = int(re.findall(r"\[(\d+)\]", question[1])[-1])
        has_happened = application.effects()[application.rows[turn]["name"]] > 0
        options = ["--skip" if has_happened else "--again", question[1]]
    assert done.returncode == 0, out + err
    figures.seconds = monotonic() - began
    with WorkflowState.open(None, WORKFLOW, root=folder) as state:
        [run] = node_runs.runs_of(state.db, state.workflow.id)
        assert run.status == "success"
        results = node_results.of_run(state.db, state.workflow.id, run.run)
        figures.steps = len(node_steps.of_run(state.db, state.workflow.id, run.run))
        assert PASSWORD not in str(results)
    assert list(application.listed(results)) == list(application.expected)
    assert application.effects() == Counter([row["name"] for row in application.rows])


def _start(folder: Path, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "foreword", "director", *args, "--root", str(folder)]
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_for_effects(application: Application, process: subprocess.Popen[str], name: str) -> None:
    end = monotonic() + PATIENCE_SECONDS
    while not application.effects()[name]:
        if process.poll() is not None:
            _, err = process.communicate()
            raise AssertionError(f"ended before {name} was entered: {err[-3_000:]}")
        assert monotonic() < end, f"{name} was never entered"
        sleep(0.02)


def table(rows: Sequence[Figures]) -> str:
    """The figures of all applications as one table."""
    head = (
        "application   pages  controls  found  selectors  after reload  by number"
        "  steps  lives  seconds  tokens/look  snapshot"
    )
    lines = [head]
    for row in rows:
        found = row.seen - sum(row.missing.values())
        looks = max(1, row.looks)
        lines.append(
            f"{row.name:<12}  {row.looks:>5}  {row.seen:>8}  {found:>5}  {row.selectors:>9}"
            f"  {row.lasting:>12}  {row.numbered:>9}  {row.steps:>5}  {row.lives:>5}"
            f"  {row.seconds:>7.0f}  {row.explored_tokens // looks:>11,}"
            f"  {row.snapshot_tokens // looks:>8,}"
        )
    return "\n".join(lines)
