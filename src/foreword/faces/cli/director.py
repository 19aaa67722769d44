"""`foreword director`: build workflows that work in a browser, with a model or by hand.

Here the group, the list of its tools and a call by hand; the others have their modules.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from foreword.engine.table import cut_to, printable
from foreword.errors import UnknownName, UsageError
from foreword.faces.cli import file_argument, screen
from foreword.faces.cli.browser_choice import browser_from_options, browser_options
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import store_options

if TYPE_CHECKING:
    from foreword.director.tool import DirectorTool
    from foreword.director.tool_calls import Outcome

MODULES = {
    "chat": "director_chat",
    "demo": "director_demo",
    "site": "director_site",
    "tools": "director",
    "call": "director",
    "nodes": "director_nodes",
    "test": "director_nodes",
    "run": "director_nodes",
}
JSON_HINT = """for example '{"node": "node1"}'; - reads it from standard input"""
AS_JSON = click.option("--json", "as_json", is_flag=True, help="The same for programs.")


@click.group(cls=Commands, modules=MODULES)
def director() -> None:
    """Build browser workflows by talking about them.

    You say what is wanted; a model plans, explores, builds nodes and tests them in a real browser.
    Without a model the same tools are yours to call.

    \b
    Examples:
      foreword director demo
      foreword director chat letters --model anthropic:claude-sonnet-4-5 --origin https://example.com
      foreword director run letters
    """


@click.command()
@AS_JSON
def tools(as_json: bool) -> None:
    """List what a director can do.

    \b
    Examples:
      foreword director tools
      foreword director tools --json
    """
    from foreword.director.tools import TOOLS

    if as_json:
        return screen.show_json([_described(tool) for tool in TOOLS.values()])
    width = max(map(len, TOOLS))
    for tool in TOOLS.values():
        click.echo(cut_to(f"{tool.name:<{width}}  {_takes(tool)}", 119))
        click.echo(cut_to(f"{'':<{width}}    {_first_sentence(tool.about)}", 119))
    return None


@click.command()
@click.argument("workflow")
@click.argument("tool")
@click.argument("arguments", metavar="[JSON|-]", default="{}")
@browser_options
@store_options
def call(
    workflow: str,
    tool: str,
    arguments: str,
    origins: tuple[str, ...],
    assets: tuple[str, ...],
    program: str | None,
    attach: str | None,
    show: bool,
    db: str | None,
    root: str,
) -> None:
    """Call a tool by hand.

    The result is JSON on stdout; where the tool failed, it is in `error` and the exit code is 1.
    What you do is in the conversation, so that a director knows of it. A browser that is started
    here ends with the command: start one with `foreword browser start` and --attach to it where
    several calls are to share their tabs.

    \b
    Examples:
      foreword director call letters get_current_plan
      foreword director call letters create_node '{"type": "navigate", "config": {"url": "http://127.0.0.1:8000/"},
        "description": "open the list"}'
      foreword director call letters debug_navigate '{"url": "http://127.0.0.1:8000/", "reason": "look"}'
        --attach http://127.0.0.1:9222
    """
    from foreword.director.tools import TOOLS

    if tool not in TOOLS:
        raise UnknownName("tool", tool[:80], TOOLS)
    read, browser = (
        _arguments(arguments),
        browser_from_options(origins, program, attach, show, assets),
    )
    from foreword.faces.cli.director_session import open_director

    with open_director(db, workflow, root, browser) as directing:
        outcome = directing.call(tool, read)
    finish(outcome)


def finish(outcome: Outcome) -> None:
    """What came of a call, on stdout; a failure is the exit code, too."""
    screen.show_json(
        {"error": outcome.text}
        if outcome.failed and not _is_json(outcome.text)
        else _value(outcome.text)
    )
    if outcome.failed:
        raise click.exceptions.Exit(1)


def _arguments(written: str) -> dict[str, Any]:
    read = (
        file_argument.read_json(written, JSON_HINT)
        if written == file_argument.STDIN
        else _parsed(written)
    )
    if not isinstance(read, dict):
        raise UsageError(
            "the arguments are no JSON object, a name and a value for each", hint=JSON_HINT
        )
    return read


def _parsed(written: str) -> Any:
    try:
        return json.loads(written)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the arguments are not JSON: {error}", hint=JSON_HINT) from None


def _is_json(text: str) -> bool:
    return isinstance(_value(text), dict) and "text" not in _value(text)


def _value(text: str) -> Any:
    """What a tool told: JSON, or JSON and below it a text."""
    about, _, rest = text.partition("\n")
    try:
        value = json.loads(about)
    except ValueError:
        return {"text": text}
    return {**value, "text": rest} if rest and isinstance(value, dict) else value


def _described(tool: DirectorTool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.about, "parameters": tool.schema}


def _takes(tool: DirectorTool) -> str:
    return ", ".join(name if name in tool.needs else f"{name}?" for name in tool.takes)


def _first_sentence(text: str) -> str:
    return printable(text.split(". ")[0].removesuffix("."))
