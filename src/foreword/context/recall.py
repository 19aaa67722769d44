"""Bring back what was cut from a context: `foreword.recall`, whole or in pages.

Which store holds an original is `store.urls`' business; a page ends with a line that says
where the next one begins.
"""

from __future__ import annotations

from pathlib import Path

from foreword import tokens
from foreword.errors import UsageError
from foreword.recipe.budget import whole_number
from foreword.store import urls

CHARS_PER_TOKEN = 4  # to begin with; a page is counted before it is given
NEXT_PAGE = "\n[characters {start:,} to {end:,} of {total:,}; offset={end} goes on]"
MARK_TOKENS = 32  # that line has at most so many, with numbers of ten digits


def recall(
    handle: str,
    root: str | Path = ".",
    *,
    url: str | None = None,
    offset: int = 0,
    budget: int | str | None = None,
) -> str:
    """The whole original of anything that was cut, in this or any earlier process.

    With a `budget` it is a page of at most so many tokens from the character `offset` on, and its
    last line says where the next one begins. `url` names the store, as of `Session.open`. Bytes
    that are not UTF-8 come back as surrogate escapes, so that encoding them again gives the same
    bytes.
    """
    original = urls.recall(handle, Path(root), url)
    text = original.decode("utf-8", "surrogateescape")
    most = whole_number(budget, "budget")
    if most is None:
        return text[checked_offset(offset, text) :]
    return marked_page(text, offset, most)


def marked_page(text: str, offset: int, budget: int) -> str:
    """A page, its mark included, of at most so many tokens."""
    start = checked_offset(offset, text)
    rest = text[start:]
    if tokens.counter().count(rest) <= budget:
        return rest
    part = page(text, start, max(1, budget - MARK_TOKENS))
    return part + NEXT_PAGE.format(start=start, end=start + len(part), total=len(text))


def checked_offset(offset: int, text: str) -> int:
    """The place in a text where a page begins; an error where it has no such place."""
    if not 0 <= offset <= len(text):
        raise UsageError(
            f"offset {offset:,} is outside of the original's {len(text):,} characters",
            hint="begin at 0",
        )
    return offset


def page(text: str, offset: int, budget: int) -> str:
    """As much of a text as has at most so many tokens, up to the end of a line where that is not
    far."""
    counter = tokens.counter()
    size = min(len(text) - offset, budget * CHARS_PER_TOKEN)
    while size > 1:
        count = counter.count(text[offset : offset + size])
        if count <= budget:
            break
        size = max(1, min(size - 1, size * budget // count))
    if offset + size < len(text):
        line_end = text.rfind("\n", offset + size // 2, offset + size)
        if line_end >= 0:
            size = line_end + 1 - offset
    return text[offset : offset + size]
