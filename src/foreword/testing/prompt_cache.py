"""How much of a request a provider would read from its cache: what an earlier request to the same
model began with.

In whole tools and messages, in the order in which providers read them: tools, system prompt,
messages. Anthropic keeps only what stands in front of a mark (`cache_control`); others keep all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from foreword.testing.replies import count_request

# of a request: what the model reads, in the order in which providers read it
PIECES = ("tools", "system", "systemInstruction", "instructions", "messages", "input", "contents")
MARK = "cache_control"


@dataclass(slots=True)
class PromptCache:
    """What a provider keeps of the requests it had: every beginning of each, as a digest, so that a
    request costs its own length however many came before it."""

    _beginnings: set[bytes] = field(default_factory=set)

    def take(self, body: Mapping[str, Any], *, marked_only: bool = False) -> int:
        """The tokens of the longest beginning that an earlier request had as well; then this one is
        kept, with `marked_only` up to its last mark."""
        cached = 0
        is_known = True
        beginnings = list[bytes]()
        kept = 0
        digest = blake2b(json.dumps(body.get("model")).encode())
        for name, value in _pieces(body):
            digest.update(json.dumps([name, without_marks(value)], sort_keys=True).encode())
            beginnings.append(digest.digest())
            is_known = is_known and beginnings[-1] in self._beginnings
            cached += count_request({name: [value]}) if is_known else 0
            if not marked_only or MARK in json.dumps(value):
                kept = len(beginnings)
        self._beginnings.update(beginnings[:kept])
        return cached


def _pieces(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What a model reads, piece by piece."""
    for name in PIECES:
        value = body.get(name)
        if isinstance(value, list):
            for member in value:
                yield name, member
        elif value:
            yield name, value


def without_marks(value: Any) -> Any:
    """A mark says what to keep, and is no part of what is read."""
    if isinstance(value, Mapping):
        return {name: without_marks(inner) for name, inner in value.items() if name != MARK}
    if isinstance(value, list | tuple):
        return [without_marks(inner) for inner in value]
    return value
