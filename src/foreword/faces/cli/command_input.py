"""What a command is given by name: a file or `-` for standard input, and a workflow.

A file's bytes, text or JSON are read here, with one wording for all that can be wrong with it. A
workflow that is written to is made where there is none, and the user is told; one that is read
must be there. How options are spelled is in `options`.
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.errors import BadSource, did_you_mean
from foreword.faces.cli import screen
from foreword.json_object import without_repeats
from foreword.regular_file import (
    MISSING,
    Unusable,
    read_argument,
    read_argument_beginning,
    read_stream,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foreword.operations.operation import Answer, Given, Operation
    from foreword.session.session import Session
    from foreword.session.workflow_state import WorkflowState

STDIN = "-"
# A task is a few pages in every context; a file past this is data, or a mistaken name.
LARGEST_WORDS_BYTES = 1024 * 1024
WORDS_SUFFIXES = (".md", ".txt", ".markdown")
_WORDS_HINT = "say in a few pages what is to be done"
LARGEST_BYTES = 1024**3  # `count` takes 5 s and 2.1 GB for as much; at double, 3 GB are not enough


def display_name(name: str) -> str:
    """What errors call it."""
    return "standard input" if name == STDIN else name


def read_bytes(name: str) -> bytes:
    """The bytes of a file, of a pipe that the user names, or of standard input."""
    try:
        if name != STDIN:
            return read_argument(Path(name), LARGEST_BYTES)
        screen.say_reading()
        return read_stream(sys.stdin.buffer, LARGEST_BYTES)
    except Unusable as unusable:
        raise _unusable_file(name, unusable.reason) from None


def _unusable_file(name: str, reason: str) -> BadSource:
    if reason == "a folder":
        hint = f"name its files, as in {name.rstrip('/')}/*"
        return BadSource(name, "is a folder, not a file", hint=hint)
    problem = "there is no such file" if reason == MISSING else f"can't be read: {reason}"
    return BadSource(display_name(name), problem, hint="check the name")


def read_stdin() -> bytes:
    """The bytes of standard input."""
    return read_bytes(STDIN)


def read_text(name: str) -> str:
    """The text of a file or of standard input, without a byte order mark."""
    try:
        return read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadSource(display_name(name), "not UTF-8", hint="save it as UTF-8") from None


def read_text_or_file(words: str) -> str:
    """The task or whatever else may be said in words: standard input, what is in a file of that
    name, or the words themselves."""
    if words == STDIN:
        return read_stdin().decode("utf-8", "replace")
    try:
        path = Path(words)
        if not path.is_file() and not path.is_fifo():
            _refuse_missing_file(words)
            return words
        raw = read_argument_beginning(path, LARGEST_WORDS_BYTES + 1)
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return words
    except Unusable as unusable:
        raise BadSource(words, unusable.reason, hint=_WORDS_HINT) from None
    if len(raw) > LARGEST_WORDS_BYTES:
        raise BadSource(words, "is larger than 1 MB", hint=_WORDS_HINT)
    return raw.decode("utf-8", "replace")


def _refuse_missing_file(words: str) -> None:
    """Words that can only be meant as a file are not the words: there is a typo in its name."""
    is_one_word = len(words.split()) == 1
    if is_one_word and ("/" in words or words.lower().endswith(WORDS_SUFFIXES)):
        raise BadSource(
            words,
            "there is no such file",
            hint="name a file that says what is to be done, or say it",
        )


def read_json(name: str, hint: str) -> Any:
    """The JSON in a file or in standard input; `hint` says what it should have been."""
    text = read_text(name)
    try:
        return json.loads(text, object_pairs_hook=without_repeats)
    except json.JSONDecodeError as error:
        raise BadSource(
            display_name(name),
            f"not JSON: {error.msg}",
            line=error.lineno,
            column=error.colno,
            hint=hint,
        ) from None
    except RecursionError:
        raise BadSource(
            display_name(name), "not usable JSON: nested too deeply", hint=hint
        ) from None
    except ValueError as error:  # a number of thousands of digits, or a key that is there twice
        raise BadSource(display_name(name), f"not usable JSON: {error}", hint=hint) from None


def existing_session(db: str | None, root: str, name: str) -> Session:
    """The session of that name; an error with suggestions where there is none."""
    from foreword.session.session import Session

    return Session.open(db, name, root=root, create=False)


def existing_workflow(db: str | None, root: str, name: str) -> WorkflowState:
    """The workflow of that name; an error with suggestions where there is none, and no file
    where there is no store."""
    from foreword.session.workflow_state import WorkflowState

    return WorkflowState.open(db, name, root=root, create=False)


def workflow_to_write(db: str | None, root: str, name: str) -> WorkflowState:
    """The workflow of that name, made where there is none."""
    from foreword.session.workflow_state import WorkflowState

    state = WorkflowState.open(db, name, root=root)
    say_if_new(state)
    return state


def answer_on(
    operation: Operation[WorkflowState, Given, Answer],
    workflow: str,
    given: Mapping[str, Any],
    *,
    db: str | None,
    root: str,
    expected: bool = False,
) -> Answer:
    """What an operation answers on a workflow; one that makes it where there is none does so,
    unless it is `expected` to be there."""

    @contextmanager
    def open_workflow() -> Iterator[WorkflowState]:
        makes = operation.makes_workflow and not expected
        opening = workflow_to_write if makes else existing_workflow
        with opening(db, root, workflow) as state:
            yield state

    return operation.answer(open_workflow(), given)


def say_if_new(state: WorkflowState) -> None:
    """A workflow that was made just now may be a mistyped one: say so, with the name it is near
    to."""
    from foreword.operations import workflow_list

    if not state.is_new:
        return
    name = state.workflow.name
    screen.say(f"made workflow {name!r} in {state.db.name}")
    others = [other for other in workflow_list.names(state.db) if other != name]
    near = did_you_mean(name, others)
    if near:
        screen.say(f"note: there is a workflow {near!r} already; did you mean that one?")
