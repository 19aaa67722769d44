"""What a director says and does, on a terminal: its words as they come, and a line for each call
with its outcome."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from foreword.engine.table import bar, cut_to, printable
from foreword.faces.cli import screen

if TYPE_CHECKING:
    from foreword.session.session import Session

BAR = 20
LEAST_OUTCOME = 30  # columns
CLEAR = "\r\x1b[2K"


class EventPrinter:
    """Shows the events of a director; give it to `say` as `on_event`.

    With `quiet` the words before a call go to stderr and the answer is left to the caller, for
    scripts.
    """

    def __init__(self, *, verbose: bool = False, quiet: bool = False) -> None:
        self.verbose, self.quiet = verbose, quiet
        self._arguments: dict[str, Any] = {}  # of the calls that are under way
        self._said = ""  # of the reply that is coming
        # the call whose beginning is the last thing on the screen, and that beginning
        self._begun = self._line = ""

    def __call__(self, event: Mapping[str, Any]) -> None:
        match event["type"]:
            case "text":
                self._text(str(event["text"]))
            case "call":
                self._call(event)
            case "step":
                self._step(event)
            case "result":
                self._result(event)
            case "warning":
                self._below()
                screen.warn(str(event["text"]))
            case "done":
                self.end()

    def end(self) -> None:
        """Leave the screen at the beginning of a line."""
        self._below()
        self._said = ""

    def _text(self, text: str) -> None:
        if not text:
            if self._said:
                self._below()
                screen.say("(the connection broke; it begins again)")
            self._said = ""
            return
        if not self._said:
            self._below()
        self._said += text
        if not self.quiet:
            click.echo(_lines(text), nl=False)
            sys.stdout.flush()

    def _call(self, event: Mapping[str, Any]) -> None:
        self._below()
        self._arguments[_key(event)] = event["arguments"]
        if self.quiet and self._said.strip():
            screen.say(self._said.strip())
        self._said = ""
        if screen.is_terminal(sys.stderr) and not self.verbose:
            self._begun = _key(event)
            self._line = self._head(event)
            click.echo(self._line, nl=False, err=True)

    def _step(self, event: Mapping[str, Any]) -> None:
        """How far a run is, behind the call that began it."""
        if self._begun:
            click.echo(f"{CLEAR}{self._line}  {printable(str(event['key']))}", nl=False, err=True)

    def _result(self, event: Mapping[str, Any]) -> None:
        is_last = self._begun == _key(event)
        self._below(again=is_last)
        head = self._head(event)
        self._arguments.pop(_key(event), None)
        room = max(LEAST_OUTCOME, screen.columns(sys.stderr) - len(head) - 10)
        mark = (
            screen.paint("failed", fg="red") if event["failed"] else screen.paint("ok", fg="green")
        )
        short = "" if self.verbose else cut_to(outcome(str(event["text"])), room)
        click.echo(f"{head}  {mark}  {short}".rstrip(), err=True)
        if self.verbose:
            for line in str(event["text"]).splitlines():
                screen.say(f"      {line}")

    def _head(self, event: Mapping[str, Any]) -> str:
        """The call: whole where everything is wanted, else as much as half a line holds."""
        scout = f"  {event['scout']} " if event.get("scout") else ""
        arguments = self._arguments.get(_key(event), event.get("arguments"))
        whole = (
            json.dumps(arguments, ensure_ascii=False)
            if self.verbose
            else ", ".join(brief(arguments))
        )
        line = printable(f"  {scout}{event['name']}({whole})")
        return (
            line
            if self.verbose
            else _shut(line, max(LEAST_OUTCOME, screen.columns(sys.stderr) * 3 // 5))
        )

    def _below(self, *, again: bool = False) -> None:
        """Go to a line of its own; `again`: the last one is written anew."""
        if self._begun:
            click.echo(CLEAR if again else "", nl=not again, err=True)
            self._begun = ""
        elif self._said and not self.quiet and not self._said.endswith("\n"):
            click.echo()
            self._said += "\n"


def outcome(text: str) -> str:
    """What a result says, on one line: what went wrong, or the values of it."""
    first, _, rest = text.partition("\n")
    try:
        value = json.loads(first)
    except ValueError:
        return printable(" ".join(text.split())).removeprefix("failed: ")
    if isinstance(value, dict) and value.get("error"):
        return printable(" ".join(str(value["error"]).split()))
    return printable(", ".join([*brief(value), *rest.split("\n")[:1]])).strip(", ")


def brief(value: object, name: str = "") -> Iterator[str]:
    """The words and numbers inside a value, in their order; a number with its name, where it has
    one."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from brief(member, str(key))
    elif isinstance(value, list):
        for member in value:
            yield from brief(member)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{name} {value}".strip()
    elif isinstance(value, str) and value.strip():
        yield " ".join(value.split())


def window(session: Session) -> str:
    """How full the window is, on one line."""
    size, most = session.size_tokens, session.limits.window
    return f"window {bar(size / most, BAR)} {size:,} of {most:,} tokens"


def _key(event: Mapping[str, Any]) -> str:
    return f"{event.get('scout', '')}/{event['id']}"


def _shut(line: str, width: int) -> str:
    """A call that is cut still ends with its bracket."""
    return line if len(line) <= width else cut_to(line, width - 1) + ")"


def _lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
