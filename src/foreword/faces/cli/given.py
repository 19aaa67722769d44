"""What a command is given as `FILE` or `-`: its bytes, or the JSON in it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from foreword.errors import BadSource
from foreword.faces.cli import screen

STDIN = "-"


def named(name: str) -> str:
    """What errors call it."""
    return "standard input" if name == STDIN else name


def read_bytes(name: str) -> bytes:
    """The bytes of a file or of standard input."""
    try:
        if name == STDIN:
            screen.say_reading()
            return sys.stdin.buffer.read()
        return Path(name).read_bytes()
    except IsADirectoryError:
        raise BadSource(name, "is a folder, not a file", hint=f"name its files, as in {name.rstrip('/')}/*") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        raise BadSource(name, f"can't be read: {why}", hint="check the name") from None


def read_text(name: str) -> str:
    """The text of a file or of standard input, without a byte order mark."""
    try:
        return read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadSource(named(name), "not UTF-8", hint="save it as UTF-8") from None


def read_json(name: str, hint: str) -> Any:
    """The JSON in a file or in standard input; `hint` says what it should have been."""
    text = read_text(name)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadSource(
            named(name), f"not JSON: {error.msg}", line=error.lineno, column=error.colno, hint=hint
        ) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or thousands of brackets
        raise BadSource(named(name), f"not usable JSON: {error}", hint=hint) from None
