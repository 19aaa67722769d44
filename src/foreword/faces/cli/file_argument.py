"""What a command is given as `FILE` or `-`: its bytes, or the JSON in it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from foreword.errors import BadSource
from foreword.faces.cli import screen
from foreword.regular_file import MISSING, Unusable, read_argument, read_stream

STDIN = "-"
LARGEST_BYTES = 1024**3  # `count` takes 5 s and 2.1 GB for as much; at double, 3 GB are not enough


def display_name(name: str) -> str:
    """What errors call it."""
    return "standard input" if name == STDIN else name


def read_bytes(name: str) -> bytes:
    """The bytes of a file, of a pipe that the user names, or of standard input."""
    try:
        return _stdin_bytes() if name == STDIN else read_argument(Path(name), LARGEST_BYTES)
    except Unusable as unusable:
        if unusable.reason == "a folder":
            hint = f"name its files, as in {name.rstrip('/')}/*"
            raise BadSource(name, "is a folder, not a file", hint=hint) from None
        why = (
            "there is no such file"
            if unusable.reason == MISSING
            else f"can't be read: {unusable.reason}"
        )
        raise BadSource(display_name(name), why, hint="check the name") from None


def _stdin_bytes() -> bytes:
    screen.say_reading()
    return read_stream(sys.stdin.buffer, LARGEST_BYTES)


def read_text(name: str) -> str:
    """The text of a file or of standard input, without a byte order mark."""
    try:
        return read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadSource(display_name(name), "not UTF-8", hint="save it as UTF-8") from None


def read_json(name: str, hint: str) -> Any:
    """The JSON in a file or in standard input; `hint` says what it should have been."""
    text = read_text(name)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadSource(
            display_name(name),
            f"not JSON: {error.msg}",
            line=error.lineno,
            column=error.colno,
            hint=hint,
        ) from None
    except (
        ValueError,
        RecursionError,
    ) as error:  # a number of thousands of digits, or thousands of brackets
        raise BadSource(display_name(name), f"not usable JSON: {error}", hint=hint) from None
