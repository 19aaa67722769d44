"""Read the head of a request as the standard has it, and not more kindly: what two readers may
understand differently is how one request is hidden inside another.

h11 takes lines that end without a carriage return, and such as are folded; others in front of us
may not.
"""

from __future__ import annotations

from h11 import LocalProtocolError
from h11._receivebuffer import ReceiveBuffer

from foreword.pattern import lazy_pattern

LONGEST_CHUNK_HEAD = 256  # bytes: a size, and an extension that nobody uses
_ENDS_ODDLY = lazy_pattern(rb"(?<!\r)\n|\n[ \t]")


class StrictBuffer(ReceiveBuffer):
    """h11's buffer; lines end with CR LF, none is folded, and what stands before a chunk is
    short."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        before = bytes(self)
        lines = super().maybe_extract_lines()
        if lines is not None and _ENDS_ODDLY.search(before, 0, len(before) - len(self)):
            raise LocalProtocolError("a line of the head does not end with CR LF, or is folded")
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        line = super().maybe_extract_next_line()
        head = bytes(self) if line is None else line[:-2]
        if len(head) > LONGEST_CHUNK_HEAD or b"\n" in head:
            raise LocalProtocolError("the head of a chunk is too long, or does not end with CR LF")
        return line
