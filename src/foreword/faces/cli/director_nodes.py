"""`foreword director nodes`, `test` and `run`: a workflow's nodes, one of them tried, all of
them run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from foreword.engine.table import cut_to, printable
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.browser_choice import browser_from_options, browser_options
from foreword.faces.cli.director import AS_JSON, finish
from foreword.faces.cli.interrupt import INTERRUPTED, stoppable
from foreword.faces.cli.options import store_options

if TYPE_CHECKING:
    from foreword.plan.node_tree import Node, Tree
    from foreword.secrets.known_values import KnownValues
    from foreword.session.workflow_state import WorkflowState

LINE = 119
EMPTY = "about:blank"
MARKS = {"success": "ok", "failed": "failed", "running": "running"}
COLOURS = {"success": "green", "failed": "red", "running": "cyan"}


@click.command()
@click.argument("workflow")
@AS_JSON
@store_options
def nodes(workflow: str, as_json: bool, db: str | None, root: str) -> None:
    """Show the nodes of a workflow, and how each went the last time.

    \b
    Examples:
      foreword director nodes letters
      foreword director nodes letters --json
    """
    from foreword.director.node_tools import read
    from foreword.faces.cli.workflow_argument import existing_workflow
    from foreword.store import node_results

    with existing_workflow(db, root, workflow) as state:
        tree, newest = read(state), node_results.newest(state.db, state.workflow.id)
        secrets = state.secrets()
    if as_json:
        last = {
            name: {"run": one.run, "status": one.status, **one.told} for name, one in newest.items()
        }
        return screen.show_json(
            [secrets.value({**node, "last": last.get(str(node["id"]))}) for node in tree.read()]
        )
    if not tree.nodes:
        return screen.say(f"{workflow!r} has no nodes yet")
    for node in tree.read():
        told = newest[str(node["id"])].told if str(node["id"]) in newest else {}
        click.echo(_line(tree, node, str(told.get("error") or ""), secrets))
    return None


@click.command()
@click.argument("workflow")
@click.argument("node")
@browser_options
@store_options
def test(
    workflow: str,
    node: str,
    origins: tuple[str, ...],
    assets: tuple[str, ...],
    program: str | None,
    attach: str | None,
    show: bool,
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
    from foreword.faces.cli.director_session import open_director
    from foreword.faces.cli.workflow_argument import existing_workflow

    browser = browser_from_options(origins, program, attach, show, assets)
    existing_workflow(db, root, workflow).close()
    with open_director(db, workflow, root, browser) as director:
        outcome = director.call("test_single_node", {"node": node})
    if outcome.failed and attach is None and f'"{EMPTY}"' in outcome.text:
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
@AS_JSON
@browser_options
@store_options
def run(
    workflow: str,
    resume: bool,
    as_json: bool,
    origins: tuple[str, ...],
    assets: tuple[str, ...],
    program: str | None,
    attach: str | None,
    show: bool,
    db: str | None,
    root: str,
) -> None:
    """Run a workflow in a browser.

    It stops at the first node that fails. With --resume a run that failed, was stopped or was
    killed goes on there, signed in as it was; what is done is not done again.

    \b
    Examples:
      foreword director run letters
      foreword director run letters --resume --show
    """
    from foreword.director import runner
    from foreword.faces.cli.director_session import open_director
    from foreword.faces.cli.workflow_argument import existing_workflow

    browser = browser_from_options(origins, program, attach, show, assets)
    with existing_workflow(db, root, workflow) as state:
        _check_nodes(state)
        before = _before(state, resume)
    with open_director(db, workflow, root, browser) as director, stoppable() as cancel:
        steps, director.desk.cancel = _Steps(director.session), cancel
        done = runner.run_workflow(
            director.session,
            director.desk.browser_or_none,
            resume=before,
            on_step=steps,
            cancel=cancel,
        )
    _finish(done, as_json, workflow)


def _check_nodes(state: WorkflowState) -> None:
    from foreword.director.node_tools import read

    if not read(state).nodes:
        name = state.workflow.name
        hint = (
            f"`foreword director chat {name}` builds some, `foreword director call {name}"
            " create_node` makes one"
        )
        raise UsageError(f"{name!r} has no nodes yet", hint=hint)


def _before(state: WorkflowState, resume: bool) -> str | None:
    """The run to go on with; where it was not asked for, a word that there is one."""
    from foreword.director import runner

    before = runner.unfinished_run(state)
    if resume and before is None:
        raise UsageError("there is no run to go on with", hint="leave --resume away to begin one")
    if before is not None and not resume:
        screen.say(f"beginning anew; {before} did not come to its end (--resume goes on with it)")
    return before if resume else None


class _Steps:
    """A line for each turn of a node, when it is over."""

    def __init__(self, state: WorkflowState) -> None:
        from foreword.director.node_tools import read

        self.tree, self.secrets = read(state), state.secrets()

    def __call__(self, step: dict[str, Any]) -> None:
        if step["status"] == "running":
            return
        node = self.tree.nodes.get(str(step["node"]), {})
        mark = screen.paint(f"{MARKS[step['status']]:<6}", fg=COLOURS[step["status"]])
        key, about = printable(str(step["key"])), printable(_about(node, self.secrets))
        told = printable(f"{key}  {about}  {step.get('error', '')}").rstrip()
        click.echo(
            f"  {mark} {float(step.get('seconds') or 0):5.1f} s  {cut_to(told, LINE - 20)}",
            err=True,
        )


def _finish(done: dict[str, Any], as_json: bool, workflow: str) -> None:
    if as_json:
        screen.show_json(done)
    else:
        before = f", {done['done_before']} done before" if done.get("done_before") else ""
        steps = f"{len(done['steps'])} step{'' if len(done['steps']) == 1 else 's'}"
        click.echo(f"{done['run']}  {done['status']}  {steps} in {done['seconds']:.1f} s{before}")
    for note in done.get("notes", ()):
        screen.warn(str(note))
    if done["status"] == "success":
        return
    where = done.get("failed_at") or done.get("stopped_at")
    why = f": {done['error']}" if done.get("error") else ""
    hint = f"`foreword director run {workflow} --resume` goes on there; what is done stays done"
    screen.show_error(f"{done['status']} at {where}{why}", hint)
    raise click.exceptions.Exit(1 if done["status"] == "failed" else INTERRUPTED)


def _line(tree: Tree, node: Node, error: str, secrets: KnownValues) -> str:
    name, status = str(node["id"]), str(node.get("status") or "")
    indent = "  " * len(tree.around(name))
    other = "else: " if node.get("branch") == "else" else ""
    mark = screen.paint(f"{MARKS.get(status, '-'):<7}", fg=COLOURS.get(status, "white"))
    why = f"  {secrets.text(error)}" if status == "failed" and error else ""
    return f"{mark} " + cut_to(
        printable(f"{indent}{other}{name}  {node['type']}  {_about(node, secrets)}{why}"), LINE
    )


def _about(node: Node, secrets: KnownValues) -> str:
    """What a node does: its author's words, or ours; without secrets."""
    from foreword.plan.node_sentences import sentence

    return secrets.text(str(node.get("description") or sentence(node)))
