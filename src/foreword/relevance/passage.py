"""A passage: a stretch of text that is ranked as one, with what is known about where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What is ranked: a turn of a conversation, or a part of a document.

    Passages of one `session` are neighbours by their `position`, and one without a position has no
    neighbours. A document is a session of its own, its parts have positions. What a passage is
    called stands in `title`, `path` and `headings`; who said it in `speaker`, which is no content.
    """

    text: str
    session: str = ""
    position: int | None = None
    speaker: str = ""
    date: str = ""  # ISO 8601, a day or a moment
    title: str = ""
    path: str = ""
    headings: tuple[str, ...] = ()
    terms: tuple[str, ...] | None = None  # of its text, where an index has them already
