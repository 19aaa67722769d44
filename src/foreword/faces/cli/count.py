"""`foreword count`: tokens per file and in all."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from foreword.engine.report_table import printable
from foreword.errors import BadSource
from foreword.faces.cli.command_input import STDIN, read_bytes
from foreword.faces.cli.options import form_option
from foreword.tokens import COUNTERS, DEFAULT_COUNTER, Counter, estimate_error, new_counter

# From here on a progress bar is worth its line: with less, counting is over before it is read.
LARGE_BYTES = 20_000_000


@click.command()
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option(
    "--counter", metavar="|".join(COUNTERS), help="How tokens are counted.  [default: o200k]"
)
@click.option("--model", metavar="NAME", help="Count as this model would.")
@form_option("text", "json")
def count(files: tuple[str, ...], counter: str | None, model: str | None, form: str) -> None:
    """Count the tokens of files or of stdin.

    One line for each file and one for all.

    \b
    Examples:
      foreword count README.md docs/*.md
      git diff | foreword count --model gpt-5
    """
    from foreword.recipe.budget import choose_counter

    chosen = choose_counter(counter, model)
    counted = list[tuple[str, int]]()
    for name in _with_progress(files or (STDIN,)):
        counted.append((name, _tokens(name, chosen)))
    if form == "json":
        _show_json(counted, chosen)
        return
    for name, tokens in counted:
        click.echo(f"{tokens:>10,}  {printable(name)}")
    if len(counted) > 1:
        click.echo(f"{_total(counted):>10,}  total")
    click.echo(f"counted by {chosen.describe()}", err=True)


def _show_json(counted: Sequence[tuple[str, int]], counter: Counter) -> None:
    value = {
        "files": [{"file": name, "tokens": tokens} for name, tokens in counted],
        "total_tokens": _total(counted),
        "counter": counter.name,
        "exact": counter.exact,
    }
    click.echo(json.dumps(value, indent=2))


def _total(counted: Sequence[tuple[str, int]]) -> int:
    return sum(tokens for _, tokens in counted)


def _with_progress(names: tuple[str, ...]) -> Iterator[str]:
    with click.progressbar(
        names, label="counting", file=sys.stderr, hidden=_are_small(names)
    ) as bar:
        yield from bar


def _are_small(names: tuple[str, ...]) -> bool:
    total_bytes = 0
    for name in names:
        if name != STDIN and Path(name).is_file():
            total_bytes += Path(name).stat().st_size
    return total_bytes < LARGE_BYTES


def _tokens(name: str, counter: Counter) -> int:
    """The tokens of one file; a warning says how far an estimate is from what is exact."""
    try:
        text = _text(name)
        tokens = counter.count(text)
        if counter.name == "estimate":
            error = estimate_error(tokens, new_counter(DEFAULT_COUNTER).count(text))
            click.echo(f"warning: {printable(name)}: {error}", err=True)
    except MemoryError:
        raise BadSource(
            name, "too large for the memory that is left", hint="count it in parts"
        ) from None
    return tokens


def _text(name: str) -> str:
    from foreword.sources.files import decode

    try:
        return decode(read_bytes(name))[0]
    except UnicodeDecodeError:
        raise BadSource(name, "is binary, not text", hint="count text files only") from None
