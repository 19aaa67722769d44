"""`foreword director nodes`, `test` and `run`: a workflow's nodes, one of them tried, all of
them run."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from foreword.engine.report_table import cut_to, printable
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.browser_choice import BrowserChoice, browser_options
from foreword.faces.cli.command_input import existing_workflow
from foreword.faces.cli.director import AS_JSON, LINE_COLUMNS, finish, open_director
from foreword.faces.cli.interrupt import INTERRUPTED, stoppable
from foreword.faces.cli.options import ONLY_JSON, store_options
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.operations.node_operations import Result
    from foreword.plan.node_tree import Node, Tree
    from foreword.secrets.known_values import KnownValues
    from foreword.session.workflow_state import WorkflowState

BESIDE_STEP = 20  # columns of a step's line that are mark and seconds
EMPTY_PAGE = "about:blank"
MARKS = {"success": "ok", "failed": "failed", "running": "running", "stopped": "stopped"}
COLOURS = {"success": "green", "failed": "red", "running": "cyan", "stopped": "yellow"}


@click.command()
@click.argument("workflow")
@AS_JSON
@store_options
def nodes(workflow: str, as_json: bool, db: str | None, root: str) -> None:
    """Show the nodes of a workflow, and how each went the last time.

    \b
    Examples:
      foreword director nodes letters
      foreword director nodes letters --format json
    """
    from foreword.director.node_tools import read_tree
    from foreword.operations.node_operations import newest_results

    with existing_workflow(db, root, workflow) as state:
        tree = read_tree(state)
        newest = newest_results(state)
        secrets = state.secrets()
    if as_json:
        screen.show_json([_node_as_json(node, newest, secrets) for node in tree.read()])
        return
    if not tree.nodes:
        screen.say(f"{workflow!r} has no nodes yet")
    for node in tree.read():
        result = newest.get(str(node["id"]))
        error = str(result.output.get("error") or "") if result else ""
        click.echo(_node_line(tree, node, error, secrets))


def _node_as_json(node: Node, newest: Mapping[str, Result], secrets: KnownValues) -> object:
    """A node with its last result, or null where it has none."""
    result = newest.get(str(node["id"]))
    last = {"run": result.run, "status": result.status, **result.output} if result else None
    return secrets.value({**node, "last": last})


@click.command()
@click.argument("workflow")
@click.argument("node")
@ONLY_JSON
@browser_options
@store_options
def test(
    workflow: str,
    node: str,
    browser: BrowserChoice,
    db: str | None,
    root: str,
) -> None:
    """Try one node in a browser.

    It works on the page as it stands. A browser that is started here stands on an empty page:
    --attach to one that `foreword browser start` runs, and bring it to where the node begins.

    \b
    Examples:
      foreword director test letters node1
      foreword director test letters node4 --attach http://127.0.0.1:9222
    """
    existing_workflow(db, root, workflow).close()
    with open_director(db, workflow, root=root, browser=browser) as director:
        outcome = director.call("test_single_node", {"node": node})
    if outcome.failed and browser.attach is None and f'"{EMPTY_PAGE}"' in outcome.text:
        screen.show_hint(
            "its own browser stands on an empty page; --attach to one that stands where the node"
            " begins"
        )
    finish(outcome)


@click.command()
@click.argument("workflow")
@click.option(
    "--resume", is_flag=True, help="Go on with the last run, at the node where it stopped."
)
@click.option(
    "--again",
    metavar="NODE",
    help="Go on; do this step again, which may have happened before.",
)
@click.option(
    "--skip", metavar="NODE", help="Go on; take this step for done, and do not do it again."
)
@click.option(
    "--timeout-seconds",
    type=click.FloatRange(min=1),
    metavar="N",
    help="How long it may take; it can be resumed then.  [default: 14400]",
)
@AS_JSON
@browser_options
@store_options
def run(
    workflow: str,
    timeout_seconds: float | None,
    resume: bool,
    again: str | None,
    skip: str | None,
    as_json: bool,
    browser: BrowserChoice,
    db: str | None,
    root: str,
) -> None:
    """Run a workflow in a browser.

    It stops at the first node that fails. With --resume a run that failed, was stopped or was
    killed goes on there, signed in as it was; what is done is not done again. Where a click may
    have happened, and nobody knows, it stops and asks: look at the site, then say --skip NODE if it
    has happened, --again NODE if not.

    \b
    Examples:
      foreword director run letters
      foreword director run letters --resume --show
      foreword director run letters --skip node11
    """
    from foreword.director import runner

    with existing_workflow(db, root, workflow) as state:
        _check_nodes(state)
        run_to_resume = _run_to_resume(state, bool(resume or again or skip))
        is_decided = run_to_resume is None or bool(again or skip)
        only_asks = not is_decided and runner.unclear_step_of(state, str(run_to_resume)) is not None
    with (
        open_director(db, workflow, root=root, browser=browser) as director,
        stoppable() as cancel,
    ):
        # A question needs no browser, which takes seconds to start.
        started = None if only_asks else director.tool_context(cancel=cancel).browser_or_none
        done = runner.run_workflow(
            director.session,
            started,
            resume=run_to_resume,
            again=again,
            skip=skip,
            seconds=timeout_seconds or runner.RUN_SECONDS,
            keep_login=browser.keep_login,
            on_step=_StepPrinter(director.session),
            cancel=cancel,
        )
    _finish_run(done, as_json, workflow)


def _check_nodes(state: WorkflowState) -> None:
    from foreword.director.node_tools import read_tree

    if not read_tree(state).nodes:
        name = state.workflow.name
        hint = (
            f"`foreword director chat {quote(name)}` builds some, `foreword director call"
            f" {quote(name)} create_node` makes one"
        )
        raise UsageError(f"{name!r} has no nodes yet", hint=hint)


def _run_to_resume(state: WorkflowState, resume: bool) -> str | None:
    """The run to go on with; where it was not asked for, a word that there is one, whose browser
    is then nobody's any more."""
    from foreword.director import browser_files, runner

    unfinished = runner.unfinished_run(state)
    if resume and unfinished is None:
        raise UsageError("there is no run to go on with", hint="leave --resume away to begin one")
    if unfinished is not None and not resume:
        screen.say(
            f"beginning anew; {unfinished} did not come to its end (--resume goes on with it)"
        )
        browser_files.forget(state)
    return unfinished if resume else None


class _StepPrinter:
    """Writes a line for each turn of a node, when it is over."""

    def __init__(self, state: WorkflowState) -> None:
        from foreword.director.node_tools import read_tree

        self.tree = read_tree(state)
        self.secrets = state.secrets()

    def __call__(self, step: dict[str, Any]) -> None:
        if step["status"] == "running":
            return
        node = self.tree.nodes.get(str(step["node"]), {})
        mark = screen.paint(f"{MARKS[step['status']]:<6}", fg=COLOURS[step["status"]])
        seconds = float(step.get("seconds") or 0)
        key = printable(str(step["key"]))
        about = printable(_about(node, self.secrets))
        text = printable(f"{key}  {about}  {step.get('error', '')}").rstrip()
        text = cut_to(text, LINE_COLUMNS - BESIDE_STEP)
        click.echo(f"  {mark} {seconds:5.1f} s  {text}", err=True)


def _finish_run(done: dict[str, Any], as_json: bool, workflow: str) -> None:
    if as_json:
        screen.show_json(done)
    else:
        before = f", {done['done_before']} done before" if done.get("done_before") else ""
        steps = quantity(len(done["steps"]), "step")
        click.echo(f"{done['run']}  {done['status']}  {steps} in {done['seconds']:.1f} s{before}")
    for note in done.get("notes", ()):
        screen.warn(str(note))
    if done["status"] == "success":
        return
    where = done.get("failed_at") or done.get("stopped_at")
    why = f": {done['error']}" if done.get("error") else ""
    name = quote(workflow)
    hint = f"`foreword director run {name} --resume` goes on there; what is done stays done"
    if done.get("question"):
        why = f"{why}: {done['question']}"
        hint = (
            f"look at the site, then `foreword director run {name} --skip {done['key']}` if it"
            f" has happened, `--again {done['key']}` if not"
        )
    screen.show_error(f"{done['status']} at {where}{why}", hint)
    is_interrupted = done["status"] == "stopped" and not done.get("question")
    raise click.exceptions.Exit(INTERRUPTED if is_interrupted else 1)


def _node_line(tree: Tree, node: Node, error: str, secrets: KnownValues) -> str:
    name = str(node["id"])
    status = str(node.get("status") or "")
    mark = screen.paint(f"{MARKS.get(status, '-'):<7}", fg=COLOURS.get(status, "white"))
    indent = "  " * len(tree.ancestors(name))
    other = "else: " if node.get("branch") == "else" else ""
    reason = f"  {secrets.text(error)}" if status == "failed" and error else ""
    text = f"{indent}{other}{name}  {node['type']}  {_about(node, secrets)}{reason}"
    return f"{mark} {cut_to(printable(text), LINE_COLUMNS)}"


def _about(node: Node, secrets: KnownValues) -> str:
    """What a node does: its author's words, or ours; without secrets."""
    from foreword.plan.node_sentences import sentence

    return secrets.text(str(node.get("description") or sentence(node)))
