"""`foreword recall`: what was cut, as it came in."""

from __future__ import annotations

from pathlib import Path

import click

from foreword.faces.cli import screen
from foreword.faces.cli.options import store_options


@click.command()
@click.argument("handle")
@store_options
def recall(handle: str, db: str | None, root: str) -> None:
    """Print the original of something that was cut.

    Byte for byte, in this project or any other of yours.

    \b
    Examples:
      foreword recall fw_3f9c01d7ab52e8
      foreword recall fw_3f9c01d7ab52e8 > original.md
    """
    from foreword.store import packages

    screen.show_bytes(packages.recall(handle, Path(root), db))
