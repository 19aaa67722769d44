"""`foreword demo`: the main job on a built-in sample, with no key and no network."""

from __future__ import annotations

import click


@click.command()
def demo() -> None:
    """Show all three recipes on a built-in sample project, at a roomy and at a tight budget."""
    from foreword.faces.cli.demo import run

    run(click.echo)
