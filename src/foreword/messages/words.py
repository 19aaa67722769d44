"""The words in a block that nobody here reads: what reaches a model of another provider."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foreword.pattern import lazy_pattern

_DATA_URL = "data:"
_SPACE = lazy_pattern(r"\s")
# From this length on, text without a space is data: base64 of the smallest picture has more, and
# the longest words, paths and links that people write have fewer.
SHORTEST_DATA = 400
# Fields about a block rather than of it, where they hold a single word.
_NOT_WORDS = frozenset(
    ("type", "role", "status", "signature", "mimetype", "mediatype", "format", "blocktype", "kind")
)


def words_in(value: object) -> str:
    """All words in a block that nobody here reads, one a line: no ids, no data."""
    return "\n".join(_words(value))


def _words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip() and not is_data(value):
            yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            if not _is_about(str(name), value):
                yield from _words(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _words(member)


def _is_about(name: str, value: Mapping[str, Any]) -> bool:
    """Whether a field of a block is about it: its type, an id, bytes in base64."""
    plain_name = name.replace("_", "").replace("-", "").lower()
    if plain_name in ("cachecontrol", "base64") or plain_name.startswith("encrypted"):
        return True
    if plain_name in ("data", "bytes") and (value.get("type") == "base64" or "format" in value):
        return True
    field = value[name]
    is_word = isinstance(field, str) and not _SPACE.search(field)
    is_named = plain_name in _NOT_WORDS or plain_name == "id" or name.endswith(("_id", "Id"))
    return is_word and is_named


def is_data(text: str) -> bool:
    """Whether a text is bytes in base64 rather than words."""
    if text.startswith(_DATA_URL):
        return True
    return len(text) >= SHORTEST_DATA and text.isascii() and _SPACE.search(text) is None
