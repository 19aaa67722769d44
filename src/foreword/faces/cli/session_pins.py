"""`foreword session why`, `cut`, `pin` and `unpin`: what the next call has and why, where calls
began anew, and what stays in every one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from foreword.faces.cli import screen
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
    """Say what is in the next call, in which form, and why; and where calls began anew.

    Between two cuts each call is the call before with more after it. A cut has a reason, and a
    provider reads what comes after the common beginning again. Nothing is changed.

    \b
    Examples:
      foreword session why demo
      foreword session why demo --about conversation_history --budget 4000
    """
    with existing_session(db, root, name) as session:
        answer = session.why(about, budget=budget)
        cuts = session.cuts() if about is None else []
    if as_json:
        screen.show_json({"text": answer.text, "met": answer.met, "cuts": cuts})
    else:
        screen.show(answer.text)
        screen.show_lines(_cut_lines(cuts))
    if not answer.met:
        raise click.exceptions.Exit(1)


def _cut_lines(cuts: Sequence[Mapping[str, Any]]) -> list[str]:
    """A table of the cuts, the newest first."""
    if not cuts:
        return []
    head = f"{'cut':>4} {'call':>6}  {'when (UTC)':<19} {'omitted':>8} {'read again':>10}"
    lines = ["", f"{head} {'thinking':>8} {'cost':>8}  reason"]
    for cut in reversed(cuts):
        cost = "-" if cut["cost"] is None else f"{cut['cost']:.4f}"
        reason = ": ".join(filter(None, (cut["reason"], cut["detail"])))
        lines.append(
            f"{cut['number']:>4} {cut['call']:>6,}  {cut['created'][:19]}"
            f" {cut['omitted_messages']:>8,} {cut['reread_tokens']:>10,} {cut['thinking']:>8,}"
            f" {cost:>8}  {reason}"
        )
    return lines


@click.command()
@click.argument("name")
@click.option("--phase", metavar="PHASE", default="", help="The phase that is entered.")
@click.option("--why", "reason", metavar="TEXT", default="", help="Any other reason.")
@json_option()
@store_options
def cut(name: str, phase: str, reason: str, as_json: bool, db: str | None, root: str) -> None:
    """Have the next call begin anew: the state whole, nothing of before but what is in it.

    \b
    Examples:
      foreword session cut demo --phase Glazing
      foreword session cut demo --why "another model from here on"
    """
    with existing_session(db, root, name) as session:
        session.cut(why=reason, phase=phase)
    screen.say(f"the next call of {name!r} begins with a cut")
    if as_json:
        screen.show_json({"name": name, "phase": phase, "why": reason})


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
