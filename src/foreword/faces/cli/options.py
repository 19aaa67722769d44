"""The options that several commands share, so that they are spelled and explained once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

import click

from foreword.errors import UsageError, did_you_mean
from foreword.faces.cli import command_input
from foreword.tokens import COUNTERS

Command = TypeVar("Command", bound=Callable[..., Any])


class WordChoice(click.Choice[str]):
    """One of a few words; a mistyped one gets a suggestion."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        problem = f"{value!r} is not one of {', '.join(self.choices)}"
        if guess := did_you_mean(str(value), self.choices):
            problem += f", did you mean {guess!r}?"
        return problem


class DependentOption(click.Option):
    """An option that has no effect without another one, and is an error without it."""

    def __init__(self, *args: Any, needs: str, **settings: Any) -> None:
        settings["help"] = f"{settings['help']}  [needs {needs}]"
        super().__init__(*args, **settings)
        self.needs = needs

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Return the value and the rest, or raise where the other option is not given."""
        needed = [param.name for param in ctx.command.params if self.needs in param.opts]
        if self.name in opts and not any(name in opts for name in needed):
            option = self.opts[0]
            raise UsageError(
                f"{option} has no effect without {self.needs}",
                hint=f"give {self.needs}, or leave {option} out",
            )
        return super().handle_parse_result(ctx, opts, args)


# of a panel or a flow: by which recipe documents are found and contexts are made
DOCUMENT_RECIPE = click.option(
    "--recipe",
    metavar="NAME|FILE",
    default="factory",
    show_default=True,
    help="By which recipe documents are found and contexts are made.",
)


def all_of(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator; the help has them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


# of a panel, on its own or in a flow: by what it judges
judging_options = all_of(
    click.option(
        "--fact",
        "facts",
        metavar="NAME=VALUE",
        multiple=True,
        help="What a condition of the profile asks about, as in ci_checks_passed=true; repeatable.",
    ),
    click.option(
        "--default-rules",
        is_flag=True,
        help="Let the built-in rules approve where the project has none of its own.",
    ),
)


def missing_model(problem: str) -> UsageError:
    """The error of a command that asks a model, and was told none."""
    return UsageError(
        problem,
        hint=(
            "--model anthropic:NAME or openai:NAME with its key in the environment; `--model test`"
            " needs no key"
        ),
    )


def read_facts(given: Iterable[str]) -> dict[str, object]:
    """`ci_checks_passed=true` as names and values; numbers and yes or no are what they look
    like."""
    facts: dict[str, object] = {}
    for fact in given:
        name, equals, text = fact.partition("=")
        if not equals or not name.strip():
            problem = f"--fact {fact!r} is not NAME=VALUE"
            raise UsageError(problem, hint="--fact ci_checks_passed=true")
        try:
            facts[name.strip()] = json.loads(text.strip())
        except ValueError:
            facts[name.strip()] = text.strip()
    return facts


def _read_words(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """What an option says, in words, in a file or on standard input."""
    return None if value is None else command_input.read_text_or_file(value)


def _read_dash(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Standard input for `-`; anything else is a file of the project, or words, as it is."""
    return command_input.read_text_or_file(value) if value == command_input.STDIN else value


AT_LEAST_ONE = click.IntRange(min=1)
SECONDS = click.FloatRange(min=0, min_open=True)
ROOT = click.option(
    "--root", metavar="DIR", default=".", show_default=True, help="The project's folder."
)
DB = click.option(
    "--db",
    metavar="URL",
    envvar="FOREWORD_DB",
    show_envvar=True,
    help="The store: sqlite:///FILE or postgresql://...; else the one of the root.",
)
# where things are kept
store_options = all_of(DB, ROOT)
# what to assemble
request_options = all_of(
    click.option(
        "--agent", metavar="NAME", help="Which agent it is for (director), or who speaks (factory)."
    ),
    click.option("--skill", metavar="NAME", help="Which skill loads it (director)."),
    click.option("--purpose", metavar="NAME", help="What the package is for (package)."),
    click.option(
        "--phase", metavar="NAME", help="Which phase it is for (phases, factory), as in 3a."
    ),
    click.option("--workflow", metavar="NAME", help="The workflow that the phase is of (factory)."),
    click.option(
        "--task",
        metavar="FILE|TEXT",
        callback=_read_dash,
        help="The task, a file or in words; without one, director takes the next pending one.",
    ),
    click.option("--step", metavar="DIR", help="The step that it is for (director)."),
    click.option(
        "--instructions",
        metavar="FILE|TEXT",
        callback=_read_words,
        help="What the agent should mind for this task, beside its own instructions (director).",
    ),
    click.option(
        "--source",
        metavar="FILE|-",
        help="Your own material: JSON, a folder of Markdown, or - for stdin.",
    ),
    DB,
    ROOT,
    click.option("--budget", metavar="N", help="The most tokens the context may have."),
    click.option("--window", metavar="N", help="The model's window in tokens."),
    click.option(
        "--system-prompt-tokens", metavar="N", help="Kept free of the window for a system prompt."
    ),
    click.option("--reserve", metavar="N", help="Kept free of the window for the answer."),
    click.option("--tool-overhead", metavar="N", help="Kept free of the window for tools."),
    click.option(
        "--model",
        metavar="NAME",
        help="Picks window, counter and margin, as in gpt-5 or claude-sonnet-5-5.",
    ),
    click.option("--counter", metavar="|".join(COUNTERS), help="How tokens are counted."),
    click.option(
        "--allow-command",
        "allow_commands",
        metavar="PREFIX",
        multiple=True,
        help="Let !`commands` that begin so run, as in 'git log'; repeatable. None runs otherwise. "
        "Git only reads; 'bash', 'env' or 'python' allow whatever they can start, as '*' does.",
    ),
    click.option(
        "--allow-shell",
        cls=DependentOption,
        needs="--allow-command",
        is_flag=True,
        help="Let !`commands` that are allowed in full use a shell.",
    ),
    click.option(
        "--strict", is_flag=True, help="Tier 0 over its limit is an error, not a warning (factory)."
    ),
    click.option(
        "--carry",
        metavar="NAME",
        help="Keep what persists under this name and bring it back (package).",
    ),
)


QUIET = click.option("--quiet", "-q", is_flag=True, help="No report on stderr.")


def form_option(*forms: str) -> Callable[[Command], Command]:
    """`--format` with these choices, the first where nobody says."""
    return click.option(
        "--format", "form", type=click.Choice(forms), default=forms[0], show_default=True
    )


def port_option(what: str, **settings: Any) -> Callable[[Command], Command]:
    """`--port`, where something listens."""
    numbers = click.IntRange(0, 65_535)
    return click.option("--port", metavar="N", type=numbers, default=0, help=what, **settings)


def timeout_option(default: float, what: str) -> Callable[[Command], Command]:
    """`--timeout-seconds` of a run that asks a model."""
    return click.option(
        "--timeout-seconds",
        metavar="N",
        type=SECONDS,
        default=default,
        show_default=True,
        help=what,
    )


def last_option(default: int, what: str, **settings: Any) -> Callable[[Command], Command]:
    """`--last`, how many of a list."""
    settings |= {"metavar": "N", "type": AT_LEAST_ONE, "default": default, "show_default": True}
    return click.option("--last", help=what, **settings)


def json_option(
    what: str = "The same for programs.", *, short: bool = False
) -> Callable[[Command], Command]:
    """Add `--format text|json`, which the command receives as `as_json`; with `short`, also
    `--json`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_format(*, form: str, in_short: bool = False, **given: Any) -> Any:
            return command(as_json=in_short or form == "json", **given)

        form = click.option(
            "--format",
            "form",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
            help=what,
        )
        if short:
            flag = click.option("--json", "in_short", is_flag=True, help="Short for --format json.")
            return cast("Command", form(flag(with_format)))
        return cast("Command", form(with_format))

    return decorate


# of a command whose output is always JSON: `--format json` is valid there as everywhere else
ONLY_JSON = click.option(
    "--format",
    type=click.Choice(["json"]),
    default="json",
    show_default=True,
    expose_value=False,
    help="The output is always JSON.",
)
