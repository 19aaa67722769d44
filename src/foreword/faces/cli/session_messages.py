"""`foreword session append` and `foreword session import`: what was said goes in."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from foreword.engine.report_table import shorten_name
from foreword.errors import BadSource, UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.command_input import (
    STDIN,
    display_name,
    read_bytes,
    read_json,
    say_if_new,
)
from foreword.faces.cli.options import DependentOption, WordChoice, json_option, store_options
from foreword.messages.message import KINDS, Kind, Message
from foreword.messages.parts import Text
from foreword.secrets.masking import mask
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.session.session import Session

LONGEST_WORDS = 60  # characters of what was taken for a file, in an error and its hint
ROLES = ("user", "assistant", "system")
SHAPE = (
    'a message is JSON such as {"role": "user", "content": "..."}, in the shape of Anthropic,'
    " OpenAI, Gemini, LangChain or LlamaIndex"
)


@click.command()
@click.argument("name")
@click.argument("file", metavar="[FILE|-]", required=False)
@click.option("--text", metavar="TEXT", help="The words of the message, instead of a file.")
@click.option(
    "--role",
    cls=DependentOption,
    needs="--text",
    type=WordChoice(ROLES),
    help="Who says the text; a message in a file has its own.  [default: user]",
)
@click.option("--kind", type=WordChoice(KINDS), help="What it is, if it is more than conversation.")
@click.option("--pin", is_flag=True, help="Never leave it out.")
@json_option()
@store_options
def append(
    name: str,
    file: str | None,
    text: str | None,
    role: str | None,
    kind: Kind | None,
    pin: bool,
    as_json: bool,
    db: str | None,
    root: str,
) -> None:
    """Add one message, or one answer of a provider, to a session.

    FILE has it as JSON, in the shape of a provider (Anthropic, OpenAI, Gemini, Bedrock, Ollama) or
    a framework (LangChain, LlamaIndex, pydantic-ai, Vercel's AI SDK); without a file and --text, it
    is read from standard input. It is read whole or refused. Prints the number of the message.
    Where the context has grown too large, its history is compressed. A list of messages is for
    `session import`.

    \b
    Examples:
      foreword session append demo --text "Build me a workflow"
      foreword session append demo answer.json
      curl -s ... | foreword session append demo -
    """
    message = _message(name, file, text, role)
    with _open(db, root, name) as session:
        added = session.append(message, kind=kind, pinned=pin)
        limit = session.limits.compress_at
    if as_json:
        screen.show_json(asdict(added))
    else:
        click.echo(f"message {added.seq}")
    screen.say(f"{added.tokens:,} tokens; the context has {added.size_tokens:,} of {limit:,}")
    for warning in added.warnings:
        screen.warn(warning)
    if added.compaction and added.compaction.applied:
        before = added.compaction.tokens_before
        after = added.compaction.tokens_after
        screen.say(f"the history was compressed from {before:,} to {after:,} tokens")


def _refuse_words(name: str, file: str) -> None:
    """Whoever gives words in place of a file is told how to give them."""
    with suppress(OSError, ValueError):  # a name that no file can have
        if file == STDIN or Path(file).exists():
            return
    words = mask(shorten_name(file, LONGEST_WORDS))
    command = shlex.join(["foreword", "session", "append", name, "--text", words])
    raise BadSource(words, "there is no such file", hint=f"words go with --text: `{command}`")


def _message(name: str, file: str | None, text: str | None, role: str | None) -> object:
    """The message to append, or the dict of an answer with its messages inside."""
    from foreword.messages.objects import holds_messages
    from foreword.messages.shapes import read_message

    if text is not None and file is not None:
        raise UsageError(f"give --text or a file, not both (the file is {file!r})")
    if text is not None:
        message = read_message({"role": role or "user", "content": text})
    else:
        _refuse_words(name, file or STDIN)
        value = read_json(file or STDIN, SHAPE)
        if holds_messages(value):
            return value
        message = read_message(value, display_name(file or STDIN))
    if not _says_something(message):
        raise UsageError(
            "the message is empty", hint=SHAPE if text is None else 'for example --text "Build it"'
        )
    return message


def _says_something(message: Message) -> bool:
    """Whether there is more in it than blank text."""
    for part in message.parts:
        if not isinstance(part, Text) or part.text.strip():
            return True
    return False


@click.command("import")
@click.argument("name")
@click.argument("file", metavar="FILE|-")
@json_option()
@store_options
def import_transcript(name: str, file: str, as_json: bool, db: str | None, root: str) -> None:
    """Add a recorded conversation to a session.

    A list of messages or a request as JSON, or one JSON object on each line (.jsonl), in the shape
    of a provider (Anthropic, OpenAI, Gemini, Bedrock, Ollama) or a framework (LangChain,
    LlamaIndex, pydantic-ai, Vercel's AI SDK); or a session of Claude Code, Codex CLI, Gemini CLI or
    opencode. All of it is imported or nothing: what is not understood is named by its path. What
    was imported before is not imported again, so a file that has grown adds only what is new.
    Nothing is compressed on the way.

    \b
    Examples:
      foreword session import demo talk.jsonl
      foreword session import demo request.json --db sqlite:///state.db
    """
    from foreword.transcripts.import_marks import THERE

    transcript = _Transcript(file)
    with screen.patience(f"checking {display_name(file)}"):
        total = transcript.check()
    with _open(db, root, name) as session:
        imported, tokens, skipped = _import(session, transcript, total)
    if as_json:
        screen.show_json({"imported": imported, "tokens": tokens, "left_out": dict(skipped)})
    _say_imported(imported, tokens, skipped.pop(THERE, 0))
    _say_skipped(skipped)


def _say_imported(imported: int, tokens: int, there: int) -> None:
    if there:
        screen.say(f"{imported:,} imported, {there:,} are there already")
    else:
        screen.say(f"imported {quantity(imported, 'message')}, {tokens:,} tokens")


def _say_skipped(skipped: Counter[str]) -> None:
    """What was not imported, by the reason; takes from the counter what has a line of its own."""
    from foreword.transcripts.events import REWOUND
    from foreword.transcripts.import_file import REWOUND_SINCE

    if rewound := skipped.pop(REWOUND, 0):
        screen.say(f"{rewound:,} on branches that were rewound, left out")
    if since := skipped.pop(REWOUND_SINCE, 0):
        screen.say(
            f"{since:,} on branches that were rewound after they had been imported; they stay"
        )
    kinds = [f"{count:,} {kind.replace('_', ' ')}" for kind, count in skipped.most_common()]
    if kinds:
        screen.say(f"left out, since they are no messages: {', '.join(kinds)}")


class _Transcript:
    """A file that is read twice: once to check it, once to import it."""

    def __init__(self, file: str) -> None:
        self.file = file
        # a pipe can be read once only
        self._bytes = None if Path(file).is_file() else read_bytes(file)

    def check(self) -> int:
        """How many messages there are; an error where one is wrong."""
        from foreword.transcripts.import_file import read_transcript

        with self._open() as opened:
            count = sum(1 for _ in read_transcript(opened, display_name(self.file)))
        if not count:
            raise BadSource(
                display_name(self.file),
                "no messages in it",
                hint="`foreword session import --help` says what is read",
            )
        return count

    def new(self, session: Session, skipped: Counter[str]) -> Iterator[Message]:
        """The messages that the session does not have, one after another; the others and what is
        none are counted.

        What it has is looked up when the first is wanted, so that nobody can import the same file
        meanwhile.
        """
        from foreword.operations.conversation_operations import imported_marks
        from foreword.transcripts.import_file import read_transcript

        with self._open() as opened:
            known = imported_marks(session)
            transcript = read_transcript(opened, display_name(self.file), known)
            yield from transcript
            skipped.update(transcript.skipped)

    def _open(self) -> BinaryIO:
        if self._bytes is not None:
            return BytesIO(self._bytes)
        try:
            return Path(self.file).open("rb")
        except OSError as error:
            raise BadSource(
                self.file, f"can't be read: {error.strerror}", hint="check the name"
            ) from None


def _import(session: Session, transcript: _Transcript, total: int) -> tuple[int, int, Counter[str]]:
    """Add what is new; returns how many messages and tokens that is, and what was left out."""
    from foreword.operations.conversation_operations import history_tokens

    skipped = Counter[str]()
    notes = list[str]()
    before = history_tokens(session)
    try:
        with screen.progress(f"importing {total:,} messages", total) as advance:
            count = session.extend(transcript.new(session, skipped), advance, notes.append)
    except BaseException:
        screen.say("nothing was imported")
        raise
    for note in notes:
        screen.say(note)
    return count, history_tokens(session) - before, skipped


@contextmanager
def _open(db: str | None, root: str, name: str) -> Iterator[Session]:
    """The session of that name, made where there is none."""
    from foreword.session.session import Session

    with Session.open(db, name, root=root) as session:
        say_if_new(session)
        yield session
