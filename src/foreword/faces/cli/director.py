"""`foreword director`: build workflows that work in a browser, with a model or by hand.

Here the group, the list of its tools, a call by hand, and what the commands of the group share: a
director for the length of a command, and its outcome on stdout. `MODULES` says where the others
are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from foreword.engine.report_table import cut_to, printable
from foreword.errors import UnknownName, UsageError
from foreword.faces.cli import command_input, screen
from foreword.faces.cli.browser_choice import BrowserChoice, browser_options
from foreword.faces.cli.command_input import say_if_new
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import ONLY_JSON, json_option, store_options

if TYPE_CHECKING:
    from foreword.browser import Rules
    from foreword.director import Director
    from foreword.director.tool import DirectorTool
    from foreword.director.tool_calls import Outcome
    from foreword.session.workflow_state import WorkflowState

MODULES = {
    "chat": "director_chat",
    "demo": "director_demo",
    "tools": "director",
    "call": "director",
    "nodes": "director_nodes",
    "test": "director_nodes",
    "run": "director_nodes",
    "export": "director_files",
    "import": "director_files",
}
LINE_COLUMNS = 119  # of a line of a list, also in a pipe; what is longer is cut
LONGEST_NAME = 80  # characters of an unknown tool's name in the error
JSON_HINT = """for example '{"node": "node1"}'; - reads it from standard input"""
AS_JSON = json_option()


@click.group(cls=Commands, modules=MODULES)
def director() -> None:
    """Build browser workflows by talking about them.

    You say what is wanted; a model plans, explores, builds nodes and tests them in a real browser.
    Without a model the same tools are yours to call.

    \b
    Examples:
      foreword director demo
      foreword director chat letters --model anthropic:claude-sonnet-5-5 --origin https://example.com
      foreword director run letters
    """


@click.command()
@AS_JSON
def tools(as_json: bool) -> None:
    """List what a director can do.

    \b
    Examples:
      foreword director tools
      foreword director tools --format json
    """
    from foreword.director.tool_table import TOOLS

    if as_json:
        screen.show_json([_tool_as_json(tool) for tool in TOOLS.values()])
        return
    width = max(map(len, TOOLS))
    for tool in TOOLS.values():
        click.echo(cut_to(f"{tool.name:<{width}}  {_parameters(tool)}", LINE_COLUMNS))
        click.echo(cut_to(f"{'':<{width}}    {_first_sentence(tool.about)}", LINE_COLUMNS))


@click.command()
@click.argument("workflow")
@click.argument("tool")
@click.argument("arguments", metavar="[JSON|-]", default="{}")
@ONLY_JSON
@browser_options
@store_options
def call(
    workflow: str,
    tool: str,
    arguments: str,
    browser: BrowserChoice,
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
    """  # noqa: E501 - commands to copy stay on one line
    from foreword.director.tool_table import TOOLS

    if tool not in TOOLS:
        raise UnknownName("tool", tool[:LONGEST_NAME], TOOLS)
    values = _arguments(arguments)
    with open_director(db, workflow, root=root, browser=browser) as opened:
        outcome = opened.call(tool, values)
    finish(outcome)


@contextmanager
def open_director(
    db: str | None,
    workflow: str,
    *,
    root: str,
    browser: BrowserChoice,
    model: str | None = None,
    **session: Any,
) -> Iterator[Director]:
    """A workflow's director; what it started is closed behind it."""
    from foreword.director import Director
    from foreword.sources.project_root import project_root

    folder = project_root(root)
    with (
        browser.browser_or_starter(folder) as browser_or_starter,
        Director.open(
            db,
            workflow,
            root=folder,
            model=model,
            browser=browser_or_starter,
            keep_login=browser.keep_login,
            **session,
        ) as director,
    ):
        say_if_new(director.session)
        shown = _say_blocked(director.session, browser.rules, ())
        try:
            yield director
        finally:
            director.resources.remember_blocked_origins()
            _say_blocked(director.session, browser.rules, shown)


def _say_blocked(state: WorkflowState, rules: Rules, shown: Collection[str]) -> list[str]:
    """Say what pages of this workflow could not load, and how to allow it; a line that was shown
    before is not repeated."""
    from foreword.director import assets

    lines = []
    for one in assets.origins_to_offer(state, rules):
        kinds = ", ".join(one.kinds)
        lines.append(f"blocked: {kinds} of {one.origin}; {one.option} lets them through")
    for line in lines:
        if line not in shown:
            screen.say(line)
    return lines


def finish(outcome: Outcome) -> None:
    """What came of a call, on stdout; a failure is the exit code, too."""
    value = _outcome_value(outcome.text)
    is_json = isinstance(value, dict) and "text" not in value
    if outcome.failed and not is_json:
        value = {"error": outcome.text}
    screen.show_json(value)
    if outcome.failed:
        raise click.exceptions.Exit(1)


def _outcome_value(text: str) -> Any:
    """The value of a tool's outcome, which is JSON, or JSON and below it a text."""
    first_line, _, rest = text.partition("\n")
    try:
        value = json.loads(first_line)
    except ValueError:
        return {"text": text}
    return {**value, "text": rest} if rest and isinstance(value, dict) else value


def _arguments(text: str) -> dict[str, Any]:
    if text == command_input.STDIN:
        values = command_input.read_json(text, JSON_HINT)
    else:
        values = _parse_json(text)
    if not isinstance(values, dict):
        raise UsageError(
            "the arguments are no JSON object, a name and a value for each", hint=JSON_HINT
        )
    return values


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the arguments are not JSON: {error}", hint=JSON_HINT) from None


def _tool_as_json(tool: DirectorTool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.about, "parameters": tool.schema}


def _parameters(tool: DirectorTool) -> str:
    """The names of what a tool takes; a question mark behind those that may be left away."""
    needed = tool.needs
    names = [name if name in needed else f"{name}?" for name in tool.parameters]
    return ", ".join(names)


def _first_sentence(text: str) -> str:
    return printable(text.split(". ")[0].removesuffix("."))
