"""`foreword demo`: the main job on a built-in sample, with no key and no network."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from foreword.errors import UsageError
from foreword.faces.cli import screen


@click.command()
@click.option(
    "--sample",
    type=click.Choice(["kilnbook", "factory"]),
    default="kilnbook",
    show_default=True,
    help=(
        "A planned project with its notes and a conversation, or one with personas, panels and"
        " workflows."
    ),
)
@click.option(
    "--keep",
    metavar="DIR",
    help="Lay the sample out in this new or empty folder, and leave it there.",
)
@click.option(
    "--once",
    is_flag=True,
    envvar="FOREWORD_ONCE",
    show_envvar=True,
    help="End before the page is served.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65_535),
    default=0,
    help="Of the page; 0 picks a free one.",
)
def demo(sample: str, keep: str | None, once: bool, port: int) -> None:
    """Show recipes, a session and the page at work.

    Recipes on a sample at a roomy and at a tight budget; then a conversation that grows past its
    limits, and the page that shows it, until ctrl-C. With --keep the sample stays, to try commands
    on, and nothing is served.

    \b
    Examples:
      foreword demo
      foreword demo --once
      foreword demo --keep sample
      foreword demo --sample factory --keep tidepool
    """
    from foreword.faces.cli import demo_recipes as scenes

    if keep is not None and not _is_free(Path(keep)):
        raise UsageError(
            f"{keep} is not an empty folder", hint="name a folder that does not exist yet"
        )
    lasting = keep is None and sample == scenes.KILNBOOK
    scenes.run(
        click.echo,
        screen.columns(sys.stdout),
        None if keep is None else Path(keep),
        sample,
        then=_play if lasting else None,
        last=(lambda root: _serve(root, port)) if lasting and not once else None,
    )


def _play(root: Path) -> None:
    """A conversation grows past its limits."""
    from foreword.faces.cli import demo_recipes, demo_session

    width = min(screen.columns(sys.stdout), demo_recipes.WIDTH)
    click.echo("\n" + " 4. a session ".center(width, "─"))
    for line in demo_session.play(root):
        click.echo("\n" + demo_recipes.prose(line, width))


def _serve(root: Path, port: int) -> None:
    """The page on that conversation, until ctrl-C."""
    from foreword.faces.cli.demo_session import RECIPE

    try:
        from foreword.faces.http import server
        from foreword.faces.http.app_state import Settings
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("foreword"):
            raise
        screen.say("the page needs more: pip install 'foreword[serve]', then `foreword demo`")
        return
    listening = server.listen("127.0.0.1", port)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    said = f"\nThe page on that conversation, until ctrl-C:\n\n  {address}\n"
    server.run(Settings(root=root, recipe=RECIPE), listening, lambda: click.echo(said))


def _is_free(folder: Path) -> bool:
    return (
        (folder.is_dir() and not any(folder.iterdir()))
        if folder.exists()
        else not folder.is_symlink()
    )
