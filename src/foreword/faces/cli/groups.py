"""Groups of commands: each command is imported when it is asked for, and a mistyped name gets a
suggestion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import click

from foreword.errors import did_you_mean

SHORT_HELP = 80  # characters; the terminal folds what is too long for it


class Commands(click.Group):
    """A group whose commands may be in other modules of this package, named in `modules`."""

    def __init__(
        self,
        *args: Any,
        modules: Mapping[str, str] | None = None,
        headings: Mapping[str, Iterable[str]] | None = None,
        **attributes: Any,
    ) -> None:
        """`headings` has the names of commands by the heading that the help shows them under."""
        super().__init__(*args, **attributes)
        self.modules = dict(modules or {})
        self.headings = headings

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        if self.headings is None:
            super().format_commands(context, formatter)
            return
        # every list as wide as the widest, so that they stand below each other as one
        width = max(map(len, self.modules))
        for heading, names in self.headings.items():
            rows = list[tuple[str, str]]()
            for name in names:
                command = self.get_command(context, name)
                if command is not None:
                    rows.append((f"{name:<{width}}", command.get_short_help_str(SHORT_HELP)))
            with formatter.section(heading):
                formatter.write_dl(rows)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(dict.fromkeys([*self.modules, *self.commands]))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.modules:
            return self.commands.get(name)
        module = import_module(f"foreword.faces.cli.{self.modules[name]}")
        for member in vars(module).values():
            if isinstance(member, click.Command) and member.name == name:
                return member
        raise LookupError(f"{module.__name__} has no command {name!r}")

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(context)
        if args and args[0] not in known and not args[0].startswith("-"):
            problem = f"unknown command {args[0]!r}"
            if guess := did_you_mean(args[0], known):
                problem += f", did you mean {guess!r}?"
            raise click.UsageError(problem, context)
        return super().resolve_command(context, args)
