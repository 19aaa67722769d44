"""Long texts in pages: a piece at a time, cut at the end of a line where there is one."""

from __future__ import annotations

from dataclasses import dataclass

PAGE_CHARS = 12_000  # a few screens: read at once, and drawn at once by a browser


@dataclass(frozen=True, slots=True)
class TextPage:
    """One page of a text."""

    text: str
    place: int  # from 1
    pages: int


def page_of_text(text: str, place: int, size: int = PAGE_CHARS) -> TextPage:
    """A page of a text; one that is not there is the nearest that is. All pages joined are the
    text."""
    pages = max(1, -(-len(text) // size))
    place = min(max(1, place), pages)
    begin = _line_end(text, (place - 1) * size)
    end = _line_end(text, place * size)
    return TextPage(text[begin:end], place, pages)


def _line_end(text: str, near: int) -> int:
    """The end of the line in which a place is, unless that is far away."""
    if near <= 0 or near >= len(text):
        return min(max(near, 0), len(text))
    found = text.find("\n", near, near + PAGE_CHARS // 4)
    return found + 1 if found >= 0 else near
