"""How much of a request a provider would read from its cache: what an earlier request to the same
model began with.

In whole tools and messages, in the order in which providers read them: tools, system prompt,
messages. Anthropic keeps only what stands in front of a mark (`cache_control`); others keep all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from foreword.testing.replies import count_request

# in the order in which providers read them
PIECES = ("tools", "system", "systemInstruction", "instructions", "messages", "input", "contents")
MARK = "cache_control"


def cached_tokens(
    body: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], *, marked_only: bool = False
) -> int:
    """The tokens of the longest beginning that some earlier request had as well; with
    `marked_only`, what an earlier request marked to be kept."""
    pieces = _pieces(body)
    longest = 0
    for other in earlier:
        if other.get("model") != body.get("model"):
            continue
        common = _common(pieces, _kept_pieces(other) if marked_only else _pieces(other))
        longest = max(longest, common)
    return sum(count_request({name: [value]}) for name, value in pieces[:longest])


def _pieces(body: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What a model reads, piece by piece."""
    pieces = list[tuple[str, Any]]()
    for name in PIECES:
        value = body.get(name)
        if isinstance(value, list):
            pieces += [(name, member) for member in value]
        elif value:
            pieces.append((name, value))
    return pieces


def _kept_pieces(body: Mapping[str, Any]) -> list[tuple[str, Any]]:
    pieces = _pieces(body)
    while pieces and MARK not in json.dumps(pieces[-1][1]):
        pieces.pop()
    return pieces


def _common(pieces: Sequence[tuple[str, Any]], others: Sequence[tuple[str, Any]]) -> int:
    for place, (piece, other) in enumerate(zip(pieces, others, strict=False)):
        if _without_marks(piece) != _without_marks(other):
            return place
    return min(len(pieces), len(others))


def _without_marks(value: Any) -> Any:
    """A mark says what to keep, and is no part of what is read."""
    if isinstance(value, Mapping):
        return {name: _without_marks(inner) for name, inner in value.items() if name != MARK}
    if isinstance(value, list | tuple):
        return [_without_marks(inner) for inner in value]
    return value
