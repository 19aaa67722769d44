"""Make a message safe: nothing in any of its parts reads as a boundary tag.

The same that `Scale.safe` does to a text, for messages as a provider gets them.

Pure. Only the `<` of a forgery becomes `&lt;`; all else stays byte for byte, the JSON of a call's
arguments as well. A thought that its provider has signed or encrypted stays whole: the provider
refuses one of which a byte has changed.
"""

from __future__ import annotations

import json
import re

from foreword.messages.blocks import data_beside_words, rewrite
from foreword.messages.message import Message
from foreword.pattern import lazy_pattern
from foreword.text.boundary_pattern import BoundaryPattern

_STRING = lazy_pattern(r'"(?>(?:[^"\\]|\\.)*)"', re.DOTALL)  # of JSON, quotes and all
_ESCAPED = lazy_pattern(r"\\u003c", re.IGNORECASE)  # how JSON may write a `<`


def escape_boundaries(message: Message, pattern: BoundaryPattern) -> Message:
    """The message with the `<` of every forged boundary made harmless; the same object where
    there is none."""

    def escape_text(text: object) -> object:
        return pattern.escape(text) if isinstance(text, str) and "<" in text else text

    def escape_arguments(text: object) -> object:
        return _escape_json(text, pattern) if isinstance(text, str) else text

    return rewrite(message, escape_text, escape_arguments)


def data_to_send(message: Message, pattern: BoundaryPattern) -> str:
    """What goes along besides the words of a message, nothing in it a boundary tag; most messages
    have none."""
    data = data_beside_words(message)
    if "<" not in data and not _ESCAPED.search(data):
        return data
    return data_beside_words(escape_boundaries(message, pattern))


def _escape_json(text: str, pattern: BoundaryPattern) -> str:
    """A JSON text whose strings, names as well, are safe once they are read; what is no JSON is
    safe as it stands."""
    if "<" not in text and not _ESCAPED.search(text):
        return text

    def escape_string(found: re.Match[str]) -> str:
        try:
            value = json.loads(found[0], strict=False)
        except ValueError:
            return found[0]
        # With its closing quote: nothing is joined to a string in JSON, so a `<` at its end is no
        # beginning of a tag.
        harmless = pattern.escape(f'{value}"')[:-1]
        return found[0] if harmless == value else json.dumps(harmless, ensure_ascii=False)

    return pattern.escape(_STRING.sub(escape_string, text))
