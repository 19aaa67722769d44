"""`foreword session append` and `foreword session import`: what was said goes in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from foreword.errors import BadSource, UsageError
from foreword.faces.cli import screen, waiting
from foreword.faces.cli.given import STDIN, named, read_bytes, read_json
from foreword.faces.cli.options import store_options
from foreword.message import KINDS, Kind, Message

if TYPE_CHECKING:
    from collections import Counter

    from foreword.runtime.session import Session

ROLES = ("user", "assistant", "system")
SHAPE = 'a message is JSON such as {"role": "user", "content": "..."}, in the shape of Anthropic or OpenAI'


@click.command()
@click.argument("name")
@click.argument("file", metavar="[FILE|-]", required=False)
@click.option("--text", metavar="TEXT", help="The words of the message, instead of a file.")
@click.option("--role", type=click.Choice(ROLES), help="Who says the text.  [default: user]")
@click.option("--kind", type=click.Choice(KINDS), help="What it is, if it is more than conversation.")
@click.option("--pin", is_flag=True, help="Never leave it out.")
@store_options
def append(
    name: str, file: str | None, text: str | None, role: str | None, kind: Kind | None, pin: bool, db: str | None,
    root: str,
) -> None:  # fmt: skip
    """Add one message to a session.

    FILE has it as JSON, in the shape of Anthropic or OpenAI; without a file and --text, it is read from standard
    input. Prints the number of the message. Where the context has grown too large, its history is compressed.

    \b
    Examples:
      foreword session append demo --text "Build me a workflow"
      foreword session append demo answer.json
      curl -s ... | jq '.choices[0].message' | foreword session append demo -
    """
    message = _message(file, text, role)
    with _open(db, root, name) as session:
        added = session.append(message, kind=kind, pinned=pin)
        limit = session.limits.compress_at
    click.echo(f"message {added.seq}")
    screen.say(f"{added.tokens:,} tokens; the context has {added.size_tokens:,} of {limit:,}")
    for warning in added.warnings:
        screen.warn(warning)
    if added.compaction and added.compaction.applied:
        before, after = added.compaction.tokens_before, added.compaction.tokens_after
        screen.say(f"the history was compressed from {before:,} to {after:,} tokens")


def _message(file: str | None, text: str | None, role: str | None) -> Message:
    from foreword.shapes import read_message

    if text is not None and file is not None:
        raise UsageError(f"give --text or a file, not both (the file is {file!r})")
    if text is not None:
        return read_message({"role": role or "user", "content": text})
    if role is not None:
        raise UsageError("--role goes with --text; a message in a file has its own")
    file = file or STDIN
    return read_message(read_json(file, SHAPE), named(file))


@click.command("import")
@click.argument("file", metavar="FILE|-")
@click.option("--workflow", metavar="NAME", required=True, help="Whose session it becomes part of.")
@store_options
def import_transcript(file: str, workflow: str, db: str | None, root: str) -> None:
    """Add a recorded conversation to a session.

    A list of messages or a request as JSON, or one JSON object on each line (.jsonl), in the shape of Anthropic,
    OpenAI or pydantic-ai; or a transcript of Claude Code or Codex CLI. The whole file is checked first: where it is
    wrong, nothing is imported. Nothing is compressed on the way.

    \b
    Examples:
      foreword session import talk.jsonl --workflow demo
      foreword session import request.json --workflow demo --db sqlite:///state.db
    """
    transcript = _Transcript(file)
    with waiting.patience(f"checking {named(file)}"):
        total, skipped = transcript.check()
    with _open(db, root, workflow) as session:
        tokens = _import(session, transcript, total)
    screen.say(f"imported {total:,} {'message' if total == 1 else 'messages'}, {tokens:,} tokens")
    if skipped:
        left_out = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in skipped.most_common())
        screen.say(f"left out, since they are no messages: {left_out}")


class _Transcript:
    """A file that is read twice: once to check it, once to import it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._bytes = None if Path(file).is_file() else read_bytes(file)  # a pipe can be read once only

    def check(self) -> tuple[int, Counter[str]]:
        """How many messages there are, and what else; an error where one is wrong."""
        from foreword.shapes import read_transcript

        with self._open() as opened:
            transcript = read_transcript(opened, named(self.file))
            count = sum(1 for _ in transcript)
        if not count:
            raise BadSource(
                named(self.file), "no messages in it", hint="`foreword session import --help` says what is read"
            )
        return count, transcript.skipped

    def messages(self) -> Iterator[Message]:
        """The messages, one after another."""
        from foreword.shapes import read_transcript

        with self._open() as opened:
            yield from read_transcript(opened, named(self.file))

    def _open(self) -> BinaryIO:
        if self._bytes is not None:
            return BytesIO(self._bytes)
        try:
            return Path(self.file).open("rb")
        except OSError as error:
            raise BadSource(self.file, f"can't be read: {error.strerror}", hint="check the name") from None


def _import(session: Session, transcript: _Transcript, total: int) -> int:
    """Add all messages; returns their tokens."""
    from foreword.store.messages import up_to

    before = up_to(session.db, session.conversation.id).running
    imported = 0
    try:
        with waiting.progress(f"importing {total:,} messages", total) as done:

            def count(so_far: int) -> None:
                nonlocal imported
                imported = so_far
                done(so_far)

            session.extend(transcript.messages(), count)
    except KeyboardInterrupt:
        screen.say(f"{imported:,} of {total:,} messages were imported")
        raise
    return up_to(session.db, session.conversation.id).running - before


@contextmanager
def _open(db: str | None, root: str, name: str) -> Iterator[Session]:
    """The session of that name, made where there is none."""
    from foreword.faces.cli.workflows import say_if_made
    from foreword.runtime.session import Session

    with Session.open(db, name, root=root) as session:
        say_if_made(session)
        yield session
