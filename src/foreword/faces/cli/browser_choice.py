"""Which browser a command works in: one that it starts when it is first needed, or one that is
running already. `foreword browser start` runs one to be shared; that is `browser`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from foreword.errors import BadBudget, UsageError
from foreword.faces.cli.options import Command, all_of

if TYPE_CHECKING:
    from foreword.browser import Browser, Rules

ORIGIN = click.option(
    "--origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help=(
        "What may be opened: https://example.com, loopback, or * for all; repeatable.  [default:"
        " loopback]"
    ),
)
ASSETS = click.option(
    "--assets",
    metavar="ORIGIN",
    multiple=True,
    help="Where pages may also load pictures, scripts, styles, fonts and media from; repeatable.",
)
PROGRAM = click.option(
    "--browser", "program", metavar="PATH", help="The Chromium to start; else the system's."
)
ATTACH = click.option(
    "--attach", metavar="ADDRESS", help="One that is running, as in http://127.0.0.1:9222."
)
SHOW = click.option("--show", is_flag=True, help="Start it with a window.")
KEEP_LOGIN = click.option(
    "--keep-login",
    is_flag=True,
    help="Stay signed in: keep the cookies of this workflow, and begin with them.",
)
ACTION_SECONDS = click.option(
    "--action-seconds",
    type=click.FloatRange(min=0.1, max=600),
    metavar="N",
    help="For an element to be there and ready.  [default: 5]",
)
PAGE_SECONDS = click.option(
    "--page-seconds",
    type=click.FloatRange(min=0.1, max=600),
    metavar="N",
    help="For a page to load.  [default: 20]",
)
SMALLEST_WINDOW = 8_000  # tokens; instructions, tools, plan and tabs take half of it


def _window_size(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """The size of a model's window. One that is too small, as 32 for 32k, would sum up the whole
    conversation."""
    from foreword.recipe.budget import whole_number

    size = whole_number(text, "window")
    if size is not None and size < SMALLEST_WINDOW:
        problem = (
            f"a director can't work in a window of {size:,} tokens, it needs {SMALLEST_WINDOW:,} at"
            " least"
        )
        raise BadBudget(size, "window", problem=problem, hint="for example --window 32000, or 32k")
    return size


DIRECTOR_MODEL = click.option(
    "--model",
    metavar="NAME",
    envvar="FOREWORD_DIRECTOR_MODEL",
    show_envvar=True,
    help="Who directs, as in anthropic:claude-sonnet-5-5 or openai:NAME@http://127.0.0.1:8080/v1.",
)
WINDOW = click.option(
    "--window",
    metavar="N",
    callback=_window_size,
    help="The model's window in tokens.  [default: 200000]",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserChoice:
    """The browser that a command was asked to use."""

    rules: Rules
    program: str | None
    attach: str | None
    show: bool
    keep_login: bool = False

    @contextmanager
    def browser_or_starter(
        self, root: Path
    ) -> Iterator[Browser | Callable[[Path | None], Browser]]:
        """What a director is given: a browser that is attached now, or a function that starts
        one."""
        from foreword.browser import Browser

        if self.attach is None:
            yield lambda restore: self._start(root, restore)
            return
        with Browser.attach(self.attach, self.rules) as browser:
            yield browser

    def _start(self, root: Path, restore: Path | None) -> Browser:
        from foreword.browser import Browser

        folder = profiles_folder(root)
        return Browser.start(
            self.rules, path=self.program, headless=not self.show, folder=folder, restore=restore
        )


_BROWSER_OPTIONS = {
    "origins": ORIGIN,
    "assets": ASSETS,
    "program": PROGRAM,
    "attach": ATTACH,
    "show": SHOW,
    "keep_login": KEEP_LOGIN,
    "action_seconds": ACTION_SECONDS,
    "page_seconds": PAGE_SECONDS,
}


def browser_options(command: Command) -> Command:
    """The options that say which browser, what it may open and how long it may take; the command
    is given them as one `browser`."""
    return _with_browser(command, tuple(_BROWSER_OPTIONS))


def server_browser_options(command: Command) -> Command:
    """The options of `browser_options` for a server, whose browsers have no window."""
    return _with_browser(command, tuple(name for name in _BROWSER_OPTIONS if name != "show"))


def _with_browser(command: Command, names: tuple[str, ...]) -> Command:
    @wraps(command)
    def with_browser(**given: Any) -> Any:
        chosen = {name: given.pop(name) for name in names}
        return command(browser=browser_from_options(**chosen), **given)

    options = all_of(*[_BROWSER_OPTIONS[name] for name in names])
    return cast("Command", options(with_browser))


def browser_from_options(
    *,
    origins: tuple[str, ...] = (),
    assets: tuple[str, ...] = (),
    program: str | None = None,
    attach: str | None = None,
    show: bool = False,
    keep_login: bool = False,
    action_seconds: float | None = None,
    page_seconds: float | None = None,
) -> BrowserChoice:
    """The browser that these options ask for; what can't be is said before anything begins."""
    from foreword.browser.profile_folders import program as find_program

    if attach is not None and (program is not None or show):
        raise UsageError(
            "--attach takes a browser as it is", hint="leave --browser and --show away"
        )
    if attach is not None and keep_login:
        raise UsageError("--attach takes a browser as it is", hint="it stays signed in by itself")
    if program is not None:
        find_program(program)
    rules = browser_rules(origins, assets)
    if action_seconds is not None:
        rules = replace(rules, action_seconds=action_seconds)
    if page_seconds is not None:
        rules = replace(rules, page_seconds=page_seconds)
    return BrowserChoice(
        rules=rules,
        program=program,
        attach=attach,
        show=show,
        keep_login=keep_login,
    )


def browser_rules(origins: tuple[str, ...], assets: tuple[str, ...]) -> Rules:
    """What these options allow a browser."""
    from foreword.browser import Rules

    return Rules(origins=origins or Rules().origins, assets=assets)


def profiles_folder(root: Path) -> Path:
    """The folder for the profiles of browsers that are started here."""
    from foreword.director import browser_files

    return browser_files.profiles_folder(root)
