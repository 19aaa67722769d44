"""`foreword demo`: the main job on a built-in sample, with no key and no network."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from foreword.errors import UsageError
from foreword.faces.cli import screen


@click.command()
@click.option(
    "--sample", type=click.Choice(["kilnbook", "factory"]), default="kilnbook", show_default=True,
    help="A planned project with its notes and a conversation, or one with personas, panels and workflows.",
)  # fmt: skip
@click.option("--keep", metavar="DIR", help="Lay the sample out in this new or empty folder, and leave it there.")
def demo(sample: str, keep: str | None) -> None:
    """Show recipes at work on a sample.

    Each of them at a roomy and at a tight budget. With --keep the sample stays, to try commands on.

    \b
    Examples:
      foreword demo
      foreword demo --sample factory --keep tidepool
    """
    from foreword.faces.cli.demo import run

    if keep is not None and not _is_free(Path(keep)):
        raise UsageError(f"{keep} is not an empty folder", hint="name a folder that does not exist yet")
    run(click.echo, screen.columns(sys.stdout), None if keep is None else Path(keep), sample)


def _is_free(folder: Path) -> bool:
    return (folder.is_dir() and not any(folder.iterdir())) if folder.exists() else not folder.is_symlink()
