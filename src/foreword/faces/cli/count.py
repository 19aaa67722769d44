"""`foreword count`: tokens per file and in all."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from foreword.engine.table import printable
from foreword.errors import BadSource
from foreword.faces.cli.file_argument import read_bytes
from foreword.tokens import COUNTERS, why_underestimated

LARGE_BYTES = 20_000_000


@click.command()
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option(
    "--counter", metavar="|".join(COUNTERS), help="How tokens are counted.  [default: estimate]"
)
@click.option("--model", metavar="NAME", help="Count as this model would.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def count(files: tuple[str, ...], counter: str | None, model: str | None, form: str) -> None:
    """Count the tokens of files or of stdin.

    One line for each file and one for all.

    \b
    Examples:
      foreword count README.md docs/*.md --counter o200k
      git diff | foreword count --model gpt-4o
    """
    from foreword.recipe.budget import choose_counter

    chosen = choose_counter(counter, model)
    counted: list[tuple[str, int]] = []
    for name in _in_turn(files or ("-",)):
        try:
            text = _text(name)
            counted.append((name, chosen.count(text)))
        except MemoryError:
            raise BadSource(
                name, "too large for the memory that is left", hint="count it in parts"
            ) from None
        if chosen.name == "estimate" and (why := why_underestimated(text)):
            click.echo(
                f"warning: {printable(name)}: {why}: the estimate is too low; use --counter o200k",
                err=True,
            )
    total = sum(tokens for _, tokens in counted)
    if form == "json":
        rows = [{"file": name, "tokens": tokens} for name, tokens in counted]
        click.echo(
            json.dumps(
                {
                    "files": rows,
                    "total_tokens": total,
                    "counter": chosen.name,
                    "exact": chosen.exact,
                },
                indent=2,
            )
        )
        return
    for name, tokens in counted:
        click.echo(f"{tokens:>10,}  {printable(name)}")
    if len(counted) > 1:
        click.echo(f"{total:>10,}  total")
    click.echo(f"counted by {chosen.describe()}", err=True)


def _in_turn(names: tuple[str, ...]) -> Iterator[str]:
    with click.progressbar(names, label="counting", file=sys.stderr, hidden=_quick(names)) as bar:
        yield from bar


def _quick(names: tuple[str, ...]) -> bool:
    sizes = (Path(name).stat().st_size for name in names if name != "-" and Path(name).is_file())
    return sum(sizes) < LARGE_BYTES


def _text(name: str) -> str:
    from foreword.sources.files import decode

    try:
        return decode(read_bytes(name))[0]
    except UnicodeDecodeError:
        raise BadSource(name, "is binary, not text", hint="count text files only") from None
