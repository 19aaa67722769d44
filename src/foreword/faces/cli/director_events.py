"""What a director says and does, on a terminal: its words as they come, and a line for each call
with its outcome. `director chat` and `director demo` show their turns with it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from foreword.engine.report_table import bar, cut_to, printable
from foreword.faces.cli import screen

if TYPE_CHECKING:
    from foreword.session.session import Session

BAR = 20  # columns
LEAST_OUTCOME = 30  # columns for a call, and for its outcome, however narrow the terminal is
BESIDE_OUTCOME = 10  # columns of `failed` and the gaps around it
CLEAR = "\r\x1b[2K"


class EventPrinter:
    """Shows the events of a director; give it to `say` as `on_event`.

    With `quiet` the words before a call go to stderr and the answer is left to the caller, for
    scripts.
    """

    def __init__(self, *, verbose: bool = False, quiet: bool = False) -> None:
        self.verbose = verbose
        self.quiet = quiet
        self._arguments: dict[str, Any] = {}  # of the calls that are under way
        self._reply = ""  # as much of it as has come
        # the call whose beginning is the last thing on the screen, and that beginning
        self._open_call = ""
        self._open_line = ""

    def __call__(self, event: Mapping[str, Any]) -> None:
        match event["type"]:
            case "text":
                self._show_text(str(event["text"]))
            case "call":
                self._show_call(event)
            case "step":
                self._show_step(event)
            case "result":
                self._show_result(event)
            case "warning":
                self._start_line()
                screen.warn(str(event["text"]))
            case "done":
                self.end()

    def end(self) -> None:
        """Leave the screen at the beginning of a line."""
        self._start_line()
        self._reply = ""

    def _show_text(self, text: str) -> None:
        if not text:
            if self._reply:
                self._start_line()
                screen.say("(the connection broke; it begins again)")
            self._reply = ""
            return
        if not self._reply:
            self._start_line()
        self._reply += text
        if not self.quiet:
            click.echo(_printable_lines(text), nl=False)
            sys.stdout.flush()

    def _show_call(self, event: Mapping[str, Any]) -> None:
        self._start_line()
        self._arguments[_key(event)] = event["arguments"]
        if self.quiet and self._reply.strip():
            screen.say(self._reply.strip())
        self._reply = ""
        if screen.is_terminal(sys.stderr) and not self.verbose:
            self._open_call = _key(event)
            self._open_line = self._call_text(event)
            click.echo(self._open_line, nl=False, err=True)

    def _show_step(self, event: Mapping[str, Any]) -> None:
        """How far a run is, behind the call that began it."""
        if self._open_call:
            step = printable(str(event["key"]))
            click.echo(f"{CLEAR}{self._open_line}  {step}", nl=False, err=True)

    def _show_result(self, event: Mapping[str, Any]) -> None:
        is_last = self._open_call == _key(event)
        self._start_line(again=is_last)
        call = self._call_text(event)
        self._arguments.pop(_key(event), None)
        if event["failed"]:
            mark = screen.paint("failed", fg="red")
        else:
            mark = screen.paint("ok", fg="green")
        text = str(event["text"])
        if self.verbose:
            click.echo(f"{call}  {mark}", err=True)
            for line in text.splitlines():
                screen.say(f"      {line}")
        else:
            room = screen.columns(sys.stderr) - len(call) - BESIDE_OUTCOME
            short = cut_to(outcome_line(text), max(LEAST_OUTCOME, room))
            click.echo(f"{call}  {mark}  {short}".rstrip(), err=True)

    def _call_text(self, event: Mapping[str, Any]) -> str:
        """The call: whole where everything is wanted, else as much of it as leaves room for its
        outcome."""
        scout = f"  {event['scout']} " if event.get("scout") else ""
        arguments = self._arguments.get(_key(event), event.get("arguments"))
        if self.verbose:
            everything = json.dumps(arguments, ensure_ascii=False)
            return printable(f"  {scout}{event['name']}({everything})")
        words = ", ".join(words_in(arguments))
        call = printable(f"  {scout}{event['name']}({words})")
        # three fifths of the line: what was asked matters more than how it went
        return _cut_call(call, max(LEAST_OUTCOME, screen.columns(sys.stderr) * 3 // 5))

    def _start_line(self, *, again: bool = False) -> None:
        """Go to the beginning of a line; `again`: of the last one, which is written anew."""
        if self._open_call:
            click.echo(CLEAR if again else "", nl=not again, err=True)
            self._open_call = ""
        elif self._reply and not self.quiet and not self._reply.endswith("\n"):
            click.echo()
            self._reply += "\n"


def outcome_line(text: str) -> str:
    """What a result says, on one line: what went wrong, or the values of it."""
    first, _, rest = text.partition("\n")
    try:
        value = json.loads(first)
    except ValueError:
        return printable(" ".join(text.split())).removeprefix("failed: ")
    if isinstance(value, dict) and value.get("error"):
        return printable(" ".join(str(value["error"]).split()))
    next_line = rest.partition("\n")[0]
    return printable(", ".join([*words_in(value), next_line])).strip(", ")


def words_in(value: object, name: str = "") -> Iterator[str]:
    """The words and numbers inside a value, in their order; a number with its name, where it has
    one."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from words_in(member, str(key))
    elif isinstance(value, list):
        for member in value:
            yield from words_in(member)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{name} {value}".strip()
    elif isinstance(value, str) and value.strip():
        yield " ".join(value.split())


def window_line(session: Session) -> str:
    """How full the window is, on one line."""
    size = session.size_tokens()
    most = session.limits.denominator
    return f"window {bar(size / most, BAR)} {size:,} of {most:,} tokens"


def _key(event: Mapping[str, Any]) -> str:
    return f"{event.get('scout', '')}/{event['id']}"


def _cut_call(call: str, width: int) -> str:
    """A call that is cut still ends with its bracket."""
    return call if len(call) <= width else cut_to(call, width - 1) + ")"


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
