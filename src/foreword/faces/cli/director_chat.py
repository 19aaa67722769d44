"""`foreword director chat`: talk with a workflow's director at a terminal, or say one thing from
a script. What is seen of a turn is `director_events`' business.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import click

from foreword.errors import ForewordError, UsageError
from foreword.extras import extra
from foreword.faces.cli import command_input, screen
from foreword.faces.cli.browser_choice import DIRECTOR_MODEL, WINDOW, BrowserChoice, browser_options
from foreword.faces.cli.director import open_director
from foreword.faces.cli.interrupt import INTERRUPTED, stoppable
from foreword.faces.cli.options import store_options

if TYPE_CHECKING:
    from foreword.director import Director, TurnResult
    from foreword.faces.cli.director_events import EventPrinter

NO_MODEL = (
    "--model anthropic:NAME or openai:NAME with its key in the environment,"
    " openai:NAME@http://127.0.0.1:8080/v1 for a server of your own, or FOREWORD_DIRECTOR_MODEL;"
    " without one, `foreword director tools` lists what you can call by hand"
)


@click.command()
@click.argument("workflow")
@DIRECTOR_MODEL
@WINDOW
@click.option(
    "--recipe",
    metavar="NAME|PATH",
    help="How its context is ordered: workflow reads plan and tabs before the conversation,"
    " workflow-cached after it, for prompt caches.  [default: as before, at first workflow-cached]",
)
@click.option(
    "--say", "message", metavar="TEXT|-", help="Say this one thing; the answer is on stdout."
)
@click.option(
    "--timeout-seconds",
    type=click.FloatRange(min=1),
    metavar="N",
    help="For one answer of the model.  [default: 120]",
)
@click.option("--verbose", is_flag=True, help="Show every call and its result whole.")
@browser_options
@store_options
def chat(
    workflow: str,
    model: str | None,
    window: int | None,
    recipe: str | None,
    message: str | None,
    timeout_seconds: float | None,
    verbose: bool,
    browser: BrowserChoice,
    db: str | None,
    root: str,
) -> None:
    """Talk with the director of a workflow.

    Its words come as they are written; each thing it does is one line with its outcome. Ctrl-C
    stops what it is doing, ctrl-D ends the chat. Everything is kept: a chat that was killed goes on
    where it was. Passwords belong into variables (`foreword variable set`), never into the chat.

    \b
    Examples:
      foreword director chat letters --model anthropic:claude-sonnet-5-5 --origin https://example.com
      foreword director chat letters --model openai:qwen3@http://127.0.0.1:8080/v1 --window 32000 --show
      foreword director chat letters --model openai:gpt-5 --say "Run it, and tell me what failed."
    """  # noqa: E501 - commands to copy stay on one line
    from foreword.director.director_resources import MODEL_SECONDS
    from foreword.faces.cli.director_events import EventPrinter
    from foreword.models.model_names import find_model

    if not model:
        raise UsageError("a director needs a model to talk with", hint=NO_MODEL)
    with extra("browser,models"):  # both at once, before anything is made
        import_module("playwright.async_api")
        import_module("pydantic_ai")
    find_model(model)
    if message == command_input.STDIN:
        message = command_input.read_text(message)
    if message is not None and not message.strip():
        raise UsageError(
            "there is nothing to say", hint='for example --say "Run it, and tell me what failed."'
        )
    printer = EventPrinter(verbose=verbose, quiet=message is not None)
    with (
        open_director(
            db,
            workflow,
            root=root,
            browser=browser,
            model=model,
            model_seconds=timeout_seconds or MODEL_SECONDS,
            window=window,
            recipe=recipe,
        ) as director,
        director.alone(),
    ):
        if message is not None:
            _say_once(director, message, printer)
        else:
            _talk(director, printer)
            _say_order(director)


def _say_order(director: Director) -> None:
    """Say what it cost to have the state in front of the conversation, and the recipe without
    that cost."""
    from foreword.faces.cli.session_usage import order_words

    order = director.session.usage()["state_in_front"]
    if order is not None:
        screen.say(f"{order['tokens']:,} {order_words(order)}; --recipe {order['instead']}")


def _say_once(director: Director, message: str, printer: EventPrinter) -> None:
    from foreword.director.turn_lock import is_waiting

    if is_waiting(director.session):
        screen.say("the last turn did not come to its end; what it left open is marked as unknown")
    turn = _run_turn(partial(director.say, message), printer)
    if turn.text:
        screen.show(turn.text)
    if turn.stopped or turn.unfinished:
        raise click.exceptions.Exit(INTERRUPTED if turn.stopped else 1)


def _talk(director: Director, printer: EventPrinter) -> None:
    """Turn by turn, until there is nothing more to read."""
    from foreword.director.turn_lock import is_waiting

    name = director.session.workflow.name
    model = director.resources.model
    screen.say(f"{name}, directed by {model} (ctrl-C stops a turn, ctrl-D ends)")
    if is_waiting(director.session):
        screen.say("the last turn did not come to its end: going on with it")
        _show_turn(director, director.go_on, printer)
    for line in _typed_lines():
        if line.strip():
            _show_turn(director, partial(director.say, line), printer)
        elif is_waiting(director.session):
            _show_turn(director, director.go_on, printer)


def _show_turn(director: Director, turn: Callable[..., TurnResult], printer: EventPrinter) -> None:
    """One turn; what goes wrong in it ends the turn, and the chat only where nobody is there to
    see it."""
    from foreword.faces.cli.director_events import window_line

    try:
        _run_turn(turn, printer)
    except ForewordError as error:
        if not screen.is_terminal(sys.stdin):
            raise
        printer.end()
        screen.show_error(error.message, error.command_hint or "an empty line tries it again")
    screen.say(screen.paint(window_line(director.session), dim=True))


def _run_turn(turn: Callable[..., TurnResult], printer: EventPrinter) -> TurnResult:
    with stoppable() as cancel:
        try:
            return turn(on_event=printer, cancel=cancel)
        finally:
            printer.end()


def _typed_lines() -> Iterator[str]:
    """What the user types, line by line; two ctrl-C at the prompt end it as ctrl-D does."""
    if not screen.is_terminal(sys.stdin):
        yield from sys.stdin
        return
    with suppress(ImportError):
        import readline  # noqa: F401 - arrow keys and a history, for `input`
    interrupted = False
    while True:
        try:
            yield input("> ")
            interrupted = False
        except EOFError:
            click.echo(err=True)
            return
        except KeyboardInterrupt:
            click.echo(err=True)
            if interrupted:
                return
            interrupted = True
            screen.say("ctrl-C again, or ctrl-D, ends the chat")
