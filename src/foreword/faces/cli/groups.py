"""Groups of commands: each command is imported when it is asked for, and a mistyped name gets a
suggestion."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from foreword.errors import did_you_mean


class Commands(click.Group):
    """A group whose commands may be in other modules of this package, named in `modules`."""

    def __init__(
        self, *args: Any, modules: Mapping[str, str] | None = None, **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.modules = dict(modules or {})

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
