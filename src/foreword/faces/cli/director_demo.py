"""`foreword director demo`: a director at work on a site of our own. No key, no network.

The model is played by rule (`demos.scripted_model`). Everything else is real: Chromium,
the site's server, the model's wire format, the store, the run. The figures at the end are counted
in what was sent and kept.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from foreword.demos.temporary_project import temporary_project
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.browser_choice import PROGRAM, SHOW, browser_from_options
from foreword.faces.cli.director import open_director
from foreword.faces.cli.interrupt import stoppable
from foreword.store.locations import register, state_path

if TYPE_CHECKING:
    from foreword.demos.site import Site
    from foreword.director import Director, TurnResult
    from foreword.faces.cli.director_events import EventPrinter
    from foreword.testing import FakeProvider

WORKFLOW = "letters"
MOST_CALLS = 10_000  # of the usage log: far more than the script makes, so all of them
WIDEST = 100  # columns of a paragraph, however wide the terminal is
INTRO = """\
A site with a login, a list of three pages and a form is served at {url}. The director's model is \
played by rule and asked over HTTP as any other would be; the browser, the store and the run are \
real."""
NEXT = (
    "in a window: --show; to look at afterwards: --keep DIR; with a model of yours:"
    " docs/director.md"
)


@click.command()
@SHOW
@click.option(
    "--keep",
    metavar="DIR",
    help="Keep the workflow in this new or empty folder, to look at afterwards.",
)
@click.option("--verbose", is_flag=True, help="Show every call and its result whole.")
@PROGRAM
def demo(show: bool, keep: str | None, verbose: bool, program: str | None) -> None:
    """Watch a director build a workflow and run it.

    From nothing: a plan, a scout, nodes tested one by one, a selector that fails and is repaired,
    and a run that reads fifteen letters from a list and registers each with a form.

    \b
    Examples:
      foreword director demo
      foreword director demo --show
      foreword director demo --keep harbour && foreword director nodes letters --root harbour
    """
    browser = browser_from_options(program=program, show=show)
    from foreword.demos.scripted_model import scripted_model
    from foreword.demos.site import site as serve_site
    from foreword.faces.cli.director_events import EventPrinter
    from foreword.testing import fake_provider

    with (
        _folder(keep) as root,
        serve_site() as served,
        fake_provider(scripted_model(served.url)) as provider,
    ):
        _say(INTRO.format(url=served.url))
        began = monotonic()
        register(root)  # a database of its own, whatever FOREWORD_DB says
        with open_director(
            f"sqlite:///{state_path(root)}",
            WORKFLOW,
            root=str(root),
            browser=browser,
            model=provider.openai,
        ) as director:
            # started now: what is wrong with it is said before anything else
            director.resources.browser().tabs()
            turn = _play(director, EventPrinter(verbose=verbose))
            figures = _figures(director, turn, served, provider)
        _table({**figures, "seconds": f"{monotonic() - began:.0f}"})
        screen.say(NEXT if keep is None else _next_commands(keep))
        if figures["rows registered"] != _wanted_rows():
            raise click.exceptions.Exit(1)


def _next_commands(keep: str) -> str:
    nodes = f"foreword director nodes {WORKFLOW} --root {keep}"
    serve = f"foreword serve --root {keep}"
    return f"`{nodes}` shows what was built, `{serve}` has it on a page"


def _play(director: Director, printer: EventPrinter) -> TurnResult:
    """What the user does: a secret, and one sentence."""
    from foreword.demos.scripted_model import TASK
    from foreword.demos.site import site_pages
    from foreword.faces.cli.director_events import window_line

    director.session.set_variable(
        "creds", {"name": site_pages.NAME, "password": site_pages.PASSWORD}, "to sign in with"
    )
    _say("You have set the variable creds (its password is hidden from everybody), and say:")
    _say(TASK, indent="  > ")

    def show_event(event: dict[str, Any]) -> None:
        printer(event)
        if event["type"] == "result" and event["name"] == "update_plan":
            screen.say(screen.paint(window_line(director.session), dim=True))

    with stoppable() as cancel:
        turn = director.say(TASK, on_event=show_event, cancel=cancel)
    if turn.stopped:
        raise KeyboardInterrupt
    return turn


def _figures(
    director: Director, turn: TurnResult, served: Site, provider: FakeProvider
) -> dict[str, str]:
    """The figures that the demo prints, counted in the store and in the requests that were sent."""
    from foreword.demos.site import site_pages
    from foreword.director.node_tools import read_tree
    from foreword.operations.call_size import call_with_tools
    from foreword.testing import prefix_breaks
    from foreword.testing.state_reader import STATE_TAGS, state_in

    session = director.session
    sent = provider.requests
    nodes = read_tree(session).nodes.values()
    log = session.usage(MOST_CALLS)["log"]
    passed = sum(node.get("status") == "success" for node in nodes)
    own = [body for body in sent if "current_plan" in state_in(body)]
    complete = sum(state_in(body).keys() == set(STATE_TAGS) for body in own)
    appended = len(own) - len(prefix_breaks(own))
    largest = max(call_with_tools(line)["total_tokens"] for line in log)
    leaking = sum(site_pages.PASSWORD in json.dumps(body) for body in sent)
    return {
        "plan versions": str(len(session.plan_history())),
        "nodes": f"{len(nodes)}, {passed} of them passed",
        "variables": str(len(session.get_workflow_variables())),
        "calls of tools": f"{turn.calls} by the director",
        "requests": f"{len(sent)}, {len(sent) - len(own)} of them by its scout",
        "six parts": f"in {complete} of {len(own)} requests",
        "append to the one before": f"{appended} of {len(own)} requests",
        "largest context": f"{largest:,} of {session.limits.denominator:,} tokens",
        "password sent": f"in {leaking} of {len(sent)} requests",
        "rows registered": f"{len(served.sent)} of {len(site_pages.ROWS)}",
    }


def _wanted_rows() -> str:
    from foreword.demos.site import site_pages

    return f"{len(site_pages.ROWS)} of {len(site_pages.ROWS)}"


def _table(figures: Mapping[str, str]) -> None:
    width = max(map(len, figures))
    click.echo()
    for name, value in figures.items():
        click.echo(f"  {name:<{width}}  {value}")


def _say(text: str, indent: str = "") -> None:
    width = min(WIDEST, screen.columns(sys.stdout))
    paragraph = click.wrap_text(
        text, width, initial_indent=indent, subsequent_indent=" " * len(indent)
    )
    click.echo("\n" + paragraph)


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    if keep is None:
        with temporary_project() as folder:
            yield folder
        return
    folder = Path(keep)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except (OSError, ValueError):
        is_empty = False
    if not is_empty:
        raise UsageError(
            f"{keep} is not an empty folder", hint="name a folder that does not exist yet"
        )
    yield folder.resolve()
