"""The marks that stand in a text for what was left out of it.

Every one is written here, so that a reader, a model and `self_check` can rely on how they look:
in brackets, with how much is missing where that is known, and with the way to get it back.
"""

from __future__ import annotations

GAP = "[...]"  # one more place where something is missing, of a text that has its mark elsewhere
CUT_START = "[... "  # of the mark of a cut, which stands on a line of its own
RECALL = "foreword recall"  # the command that brings back what a handle stands for
BINARY_LEFT_OUT = "(binary data left out)"
CHECKPOINT_CUT = "[... cut: `foreword checkpoint list` names it]"


def cut_mark(*, tokens: int, handle: str, lines: int = 0, recall: str = RECALL) -> str:
    """For the lines and tokens that a cut took out; `recall` is how the reader asks for them."""
    what = f"{lines:,} lines, " if lines > 1 else ""
    return f"{CUT_START}{what}{tokens:,} tokens left out: {recall} {handle}]"


def missing_mark(what: str, handle: str, purpose: str = "") -> str:
    """For whole messages, entries or sections; `purpose` is what the handle is good for."""
    return f"[{what} left out: {RECALL} {handle}{f' {purpose}' if purpose else ''}]"


def reference_mark(name: str, *, tokens: int, handle: str) -> str:
    """In place of a whole section; without a name where the line before has said it."""
    return f"[{f'{name} ' if name else ''}left out, {tokens:,} tokens: {RECALL} {handle}]"


def lines_mark(first: int, last: int, *, inside: str = "", handle: str = "") -> str:
    """For lines of a file, by their numbers, and what the lines that follow are inside of."""
    what = f"lines {first}-{last}" if last > first else f"line {first}"
    within = f"; in {inside}" if inside else ""
    whole = f"; whole: {RECALL} {handle}" if handle else ""
    return f"{CUT_START}{what}{within}{whole}]"


def outline_mark(handle: str) -> str:
    """In front of the outline of a file, whose lines have their numbers."""
    return f"{CUT_START}outline; whole: {RECALL} {handle}]"


def too_large_mark(what: str) -> str:
    """For a part of a message that is no text and does not fit."""
    return f"[left out, too large: {what}]"


def diff_mark(what: str) -> str:
    """For files, hunks and lines of a diff; the reader has the change itself."""
    return f"{CUT_START}{what} left out]\n"


def look_up_mark(tokens: int) -> str:
    """For what an answer to a lookup had no room for."""
    return f"[about {tokens:,} tokens left out: look it up again with another `about`]"


def transcript_mark(characters: int) -> str:
    """For the end of a long result in a coding agent's session, whose file has it."""
    return f"{CUT_START}{characters:,} more characters in the session's file]"
