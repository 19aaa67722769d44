"""`foreword session why`, `pin` and `unpin`: what the next call has and why, and what stays in
every one."""

from __future__ import annotations

import click

from foreword.faces.cli import screen
from foreword.faces.cli.assemble import show_explanation
from foreword.faces.cli.command_input import existing_session
from foreword.faces.cli.options import json_option, store_options


@click.command()
@click.argument("name")
@click.option("--about", metavar="ABOUT", help="A tag or a handle; without it, everything.")
@click.option("--budget", metavar="N", help="The most tokens the context may have.")
@json_option()
@store_options
def why(
    name: str, about: str | None, budget: str | None, as_json: bool, db: str | None, root: str
) -> None:
    """Say what is in the next call, in which form, and why.

    Nothing is changed.

    \b
    Examples:
      foreword session why demo
      foreword session why demo --about conversation_history --budget 4000
    """
    with existing_session(db, root, name) as session:
        answer = session.why(about, budget=budget)
    show_explanation(answer, as_json)


@click.command()
@click.argument("name")
@click.argument("number", type=click.IntRange(min=1))
@json_option()
@store_options
def pin(name: str, number: int, as_json: bool, db: str | None, root: str) -> None:
    """Keep a message in every call from now on.

    \b
    Examples:
      foreword session pin demo 3
    """
    with existing_session(db, root, name) as session:
        session.pin(number)
    screen.say(f"message {number} stays in every call")
    if as_json:
        screen.show_json({"number": number, "pinned": True})


@click.command()
@click.argument("name")
@click.argument("number", type=click.IntRange(min=1))
@json_option()
@store_options
def unpin(name: str, number: int, as_json: bool, db: str | None, root: str) -> None:
    """Take a pin back: the message may be left out again.

    \b
    Examples:
      foreword session unpin demo 3
    """
    with existing_session(db, root, name) as session:
        session.unpin(number)
    screen.say(f"message {number} may be left out again")
    if as_json:
        screen.show_json({"number": number, "pinned": False})
