"""What is done on every application: looked at, and worked on by a workflow whose process is killed
in the middle of a form that is being sent."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from foreword import tokens
from foreword.browser import Browser
from foreword.director import node_tools
from foreword.session.workflow_state import WorkflowState
from foreword.store import node_results, node_runs, node_steps
from tests.browser.accessibility import ALL, controls_in, controls_seen
from tests.browser.working import counts
from tests.sites.application import Application, Node, opening, waiting
from tests.sites.slow_proxy import SlowProxy
from tests.sites.small_applications import PASSWORD
from tests.warm_process import ForkedCommand

WORKFLOW = "job"
# An answer that is held back so long is still under way when the process is killed, and later than
# the 5 s that a click has.
SLOW_SECONDS = 7.0
PATIENCE_SECONDS = 240.0
PAGE_SECONDS = 60.0  # for a page on a busy machine, of which JupyterLab's takes longest
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
    questions: list[str] = field(default_factory=list)  # steps that a resumed run asked about
    seconds: float = 0.0


def perform(browser: Browser, application: Application, nodes: Sequence[Node]) -> None:
    """Do what nodes without a loop say."""
    for kind, config, _ in nodes:
        given = json.dumps(config)
        given = given.replace("{{site}}", application.address)
        given = given.replace("{{creds.password}}", PASSWORD)
        browser.perform(kind, json.loads(given))


def sign_in(browser: Browser, application: Application) -> None:
    """Sign in to an application in a browser that knows nothing of it."""
    browser.navigate("about:blank")
    chromium = browser._chromium
    assert chromium is not None

    async def forget() -> None:
        await chromium.context.clear_cookies()
        session = chromium.tabs.by_name(None).session
        assert session is not None
        everything = {"origin": application.address, "storageTypes": "all"}
        await session.send("Storage.clearDataForOrigin", everything)

    browser._thread.run(forget(), PATIENCE_SECONDS)
    perform(browser, application, application.login)


def look(application: Application, browser: Browser, figures: Figures) -> None:
    """Look at the pages of an application as Playwright and we do."""
    count = tokens.counter("o200k").count
    sign_in(browser, application)
    for page in application.pages:
        before: list[Node] = [opening(page.path), *page.before]
        if page.ready:
            before.append(waiting(page.ready))
        perform(browser, application, before)
        found, seen = _found_and_seen(browser)
        figures.seen += sum(seen.values())
        figures.missing += seen - controls_in(found)
        asked = browser.explore(page.instruction)
        figures.explored_tokens += count(json.dumps(asked, ensure_ascii=False))
        figures.snapshot_tokens += count(_snapshot_for_models(browser))
        figures.looks += 1
        perform(browser, application, before)
        again = browser.explore("everything", limit=ALL)["elements"]  # once it is complete again
        kinds = {(element["role"], element["name"]) for element in again}
        # Not those of a message that has gone, or of a time that has passed.
        selectors = [one["selector"] for one in found if (one["role"], one["name"]) in kinds]
        figures.selectors += len(selectors)
        for selector, elements in zip(selectors, counts(browser, selectors), strict=True):
            figures.numbered += ":nth-of-type(" in selector or " >> nth=" in selector
            figures.lasting += elements == 1
            if elements != 1:
                figures.lost.append(selector)


def _found_and_seen(browser: Browser) -> tuple[list[dict[str, Any]], Counter[tuple[str, str]]]:
    """What exploring gives and what Playwright's snapshot has, of a page that did not change
    meanwhile: JupyterLab goes on drawing itself for seconds."""
    seen = controls_seen(browser)
    end = monotonic() + PATIENCE_SECONDS
    while monotonic() < end:
        found = browser.explore("everything", limit=ALL)["elements"]
        before, seen = seen, controls_seen(browser)
        if seen == before:
            return found, seen
    raise AssertionError("the page never stops changing")


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
    before = application.effects()
    names = [row["name"] for row in application.rows]
    expected = list(application.expected())
    process = _start(folder, "run", WORKFLOW)
    _wait_for_effects(application, process, names[0])
    proxy.seconds = SLOW_SECONDS
    _wait_for_effects(application, process, names[1])
    process.kill()
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
        figures.questions.append(question[1])
        turn = int(re.findall(r"\[(\d+)\]", question[1])[-1])
        has_happened = application.effects()[names[turn]] > 0
        options = ["--skip" if has_happened else "--again", question[1]]
    assert done.returncode == 0, out + err
    figures.seconds = monotonic() - began
    with WorkflowState.open(None, WORKFLOW, root=folder) as state:
        [run] = node_runs.runs_of(state.db, state.workflow.id)
        assert run.status == "success"
        results = node_results.of_run(state.db, state.workflow.id, run.run)
        figures.steps = len(node_steps.of_run(state.db, state.workflow.id, run.run))
        assert PASSWORD not in str(results)
        variables = state.get_workflow_variables()
        nodes = node_tools.read_tree(state).nodes
    assert application.effects() - before == Counter(names)
    [listed] = [value for name, value in variables.items() if name.endswith(".names")]
    if application.is_ordered:
        assert listed == expected
    assert sorted(listed) == sorted(expected)
    assert proxy.holds
    # The page that the second form leads to was still to come when the process was killed.
    if application.sends_by_page:
        last = list(nodes)[-1]
        assert len(figures.questions) == 1
        assert figures.questions[0].endswith(f"[1]/{last}")


def _start(folder: Path, *args: str) -> ForkedCommand:
    return ForkedCommand(
        ["director", *args, "--root", folder, "--page-seconds", str(PAGE_SECONDS)],
        folder=folder,
        environment={**os.environ, "NO_COLOR": "1", "HOME": str(folder)},
    )


def _wait_for_effects(application: Application, process: ForkedCommand, name: str) -> None:
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
        "  steps  lives  asked  seconds  tokens/look  snapshot"
    )
    lines = [head]
    for row in rows:
        found = row.seen - sum(row.missing.values())
        looks = max(1, row.looks)
        lines.append(
            f"{row.name:<12}  {row.looks:>5}  {row.seen:>8}  {found:>5}  {row.selectors:>9}"
            f"  {row.lasting:>12}  {row.numbered:>9}  {row.steps:>5}  {row.lives:>5}"
            f"  {len(row.questions):>5}  {row.seconds:>7.0f}  {row.explored_tokens // looks:>11,}"
            f"  {row.snapshot_tokens // looks:>8,}"
        )
    return "\n".join(lines)
