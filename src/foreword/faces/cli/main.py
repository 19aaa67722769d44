"""The command group, and the one place where an error becomes an exit code.

Exit codes: 0 fine, 1 the request can't be met, 2 wrong use. `COMMANDS` says in which module beside
this one each command is, since that module is imported only when the command is asked for. A
command reads its options, calls a room of the package and shows the answer; it decides nothing.
"""

from __future__ import annotations

import errno
import io
import os
import sys

import click

from foreword import __version__
from foreword.errors import (
    BadNode,
    BadPlan,
    BrowserFailed,
    CheckpointDamaged,
    EssentialsTooLarge,
    ForewordError,
    ModelFailed,
    PlanConflict,
    StoreError,
    TierTooLarge,
    UnknownHandle,
    UsageError,
)
from foreword.faces.cli.groups import Commands

EXIT_CODES: dict[type[ForewordError], int] = {
    UsageError: 2,
    EssentialsTooLarge: 1,
    TierTooLarge: 1,
    UnknownHandle: 1,
    StoreError: 1,
    PlanConflict: 1,
    CheckpointDamaged: 1,
    ModelFailed: 1,
    BrowserFailed: 1,
}
TRACE = "FOREWORD_TRACE"
# Characters of an error that is not ours: a library's message may hold a whole response or query,
# and the line is to stay one that a person reads.
LONGEST_FOREIGN_ERROR = 200
# In the order of the help, under its headings.
HEADINGS = {
    "Contexts": {
        "assemble": "assemble",
        "why": "assemble",
        "fit": "assemble",
        "recall": "lookup",
        "lookup": "lookup",
        "search": "search",
        "report": "report",
        "recipe": "recipes",
        "recipes": "recipes",
        "count": "count",
        "lint": "lint",
    },
    "Conversations": {
        "session": "session",
        "plan": "plan",
        "variable": "variable",
        "store": "store",
    },
    "Agents": {
        "panel": "panel",
        "flow": "flow",
        "checkpoint": "checkpoint",
        "worker": "worker",
    },
    "Coding agents": {
        "init": "init",
        "autopsy": "autopsy",
        "handoff": "handoff",
        "hook": "hook",
        "statusline": "hook",
    },
    "Browser": {
        "director": "director",
        "browser": "browser",
    },
    "Serving": {
        "serve": "serve",
        "mcp": "mcp",
        "demo": "demo",
    },
}
COMMANDS: dict[str, str] = {}
for _commands in HEADINGS.values():
    COMMANDS |= _commands


@click.group(
    cls=Commands,
    modules=COMMANDS,
    headings=HEADINGS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="foreword", message="%(prog)s %(version)s")
def cli() -> None:
    """Everything a model reads before it writes.

    Foreword assembles the context of a model call from a project's own material, inside a hard
    token budget, and says what it left out, why, and how to get it back.

    \b
    Examples:
      foreword demo
      foreword assemble director --agent builder --budget 12000
      foreword why director --agent builder --budget 3000 --about recent_changes
      foreword recall fw_3f9c01d7ab52e8
      foreword search "why did we drop the retry loop"
      foreword assemble factory --phase 3a --task .plans/014-quiet-hours.md
      foreword flow run feature --task "quiet hours" --model test
      foreword panel run code-review --diff main..feature --model test
      foreword director demo
      foreword lint
      foreword autopsy
      foreword handoff --from claude --to codex
      foreword session import demo talk.jsonl
      foreword session context demo --format anthropic
    """


def run() -> None:
    """Run the command line and turn whatever goes wrong into one clear line and an exit code."""
    try:
        _prepare_streams()
        sys.exit(cli.main(standalone_mode=False, prog_name="foreword"))
    except click.exceptions.NoArgsIsHelpError as bare:
        click.echo(bare.format_message())
        sys.exit(0)
    except click.ClickException as wrong:
        context = wrong.ctx if isinstance(wrong, click.UsageError) else None
        command = context.command_path if context else "foreword"
        _show_error(wrong.format_message(), hint=f"`{command} --help` shows how it is used")
        sys.exit(wrong.exit_code)
    except (BadPlan, BadNode) as bad:
        from foreword.faces.cli import screen

        screen.show_problems(bad.where, bad.problems, bad.command_hint)
        sys.exit(exit_code(bad))
    except ForewordError as error:
        _show_error(error.message, hint=error.command_hint)
        sys.exit(exit_code(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        _drop_output()  # the reader has left; say nothing more
        sys.exit(141)
    except UnicodeError as error:
        _drop_output()
        _show_error(
            f"text that can't be written or read here: {error}", hint="try it with PYTHONUTF8=1"
        )
        sys.exit(1)
    except OSError as error:
        _drop_output()
        what = f"{error.filename!s}: " if error.filename is not None else "can't write the output: "
        _show_error(
            f"{what}{error.strerror or error}", hint="check the disk and where the output goes"
        )
        sys.exit(1)
    except Exception as error:
        if os.environ.get(TRACE):
            raise
        _drop_output()
        error.__traceback__ = None  # lets go of what was in memory when it ran out
        message, hint = _unforeseen_error(error)
        _show_error(message, hint=hint)
        sys.exit(1)


def _show_error(message: str, hint: str) -> None:
    """One line for what happened, one for what to do; most runs need neither, nor the screen."""
    from foreword.faces.cli import screen

    screen.show_error(message, hint)


def _unforeseen_error(error: Exception) -> tuple[str, str]:
    """The message and the hint for an error that has no class of ours."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this", "give it less to read, or more memory"
    if isinstance(error, RecursionError):
        return "what was given is nested too deeply", "give it something flatter"
    lines = str(error).splitlines() or [""]
    summary = f"{type(error).__name__}: {lines[0][:LONGEST_FOREIGN_ERROR]}".rstrip(": ")
    return (
        f"an error that we did not foresee: {summary}",
        f"{TRACE}=1 shows where it came from; please report it",
    )


def _prepare_streams() -> None:
    """Output must have somewhere to go; file names that are not UTF-8 come out as they went in."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(), "utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")


def _drop_output() -> None:
    """What is still in the buffer goes nowhere, so that leaving does not fail on it once more."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_code(error: ForewordError) -> int:
    """The exit code of an error, by the nearest class that has one."""
    for kind in type(error).__mro__:
        if kind in EXIT_CODES:
            return EXIT_CODES[kind]
    raise KeyError(type(error))  # `EXIT_CODES` is complete; a test goes through all errors
