"""How much of a call a prompt cache could take from the call before.

A cache matches exact beginnings. So the text is looked at in stretches (system prompt, plan ...,
history): those that are the same as in the last call count as reused, up to the first that is not,
which is the reason of the break.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

FIRST = "first call"


@dataclass(frozen=True, slots=True)
class Reuse:
    """How the beginning of a call compares with the call before."""

    tokens: int  # of the beginning that is the same
    # in front of the parts that are always fresh, where they come last; else all
    stable_tokens: int
    broken_by: str  # nothing where the call only grew

    @property
    def share(self) -> float:
        """The share that is reused."""
        return self.tokens / self.stable_tokens if self.stable_tokens else 0.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the text that stays or changes as one."""

    name: str
    text: str
    tokens: int
    is_history: bool = False


class Digests:
    """The digests of texts by name; of one that only grew since it was last asked for, only the
    rest is read."""

    def __init__(self) -> None:
        self._last = dict[str, tuple[str, blake2b]]()  # by name: a text, and what has read it

    def of(self, name: str, text: str) -> str:
        """The digest of a text."""
        before, reader = self._last.get(name) or ("", blake2b(digest_size=12))
        if not text.startswith(before):
            before, reader = "", blake2b(digest_size=12)
        if len(text) > len(before):
            reader = reader.copy()
            reader.update(text[len(before) :].encode("utf-8", "surrogatepass"))
        self._last[name] = (text, reader)
        return reader.hexdigest()

    def of_beginning(self, name: str, text: str, length: int) -> str:
        """The digest of so many characters of a text."""
        before, reader = self._last.get(name) or ("", None)
        # mostly the text of the last call, which need not be taken out of the one of now
        if reader is not None and len(before) == length and text.startswith(before):
            return reader.hexdigest()
        return self.of(name, text[:length])


def fingerprint(stretches: Sequence[Stretch], digests: Digests) -> list[list[object]]:
    """Each stretch by its name, its length and a digest of its text."""
    prefix = list[list[object]]()
    for stretch in stretches:
        digest = digests.of(stretch.name, stretch.text)
        prefix.append([stretch.name, len(stretch.text), digest])
    return prefix


def compare(
    stretches: Sequence[Stretch],
    before: Sequence[Sequence[Any]] | None,
    reason: str,
    digests: Digests,
) -> Reuse:
    """The reuse of a call after one with that fingerprint; `reason` is why its history was cut,
    if it was."""
    last = max(place for place, stretch in enumerate(stretches) if stretch.is_history)
    stable = stretches[: last + 1]
    stable_tokens = sum(stretch.tokens for stretch in stable)
    if before is None:
        return Reuse(0, stable_tokens, FIRST)
    reused = 0
    for place, stretch in enumerate(stable):
        name, length, digest = before[place] if place < len(before) else ("", 0, "")
        is_prefix = name == stretch.name and length <= len(stretch.text)
        if not is_prefix or digests.of_beginning(name, stretch.text, length) != digest:
            return Reuse(reused, stable_tokens, _break_reason(stretch, reason))
        if len(stretch.text) == length:
            reused += stretch.tokens
            continue
        # it has grown: the beginning is reused, and where others follow, they have moved
        reused += round(stretch.tokens * length / len(stretch.text))
        if place < last:
            return Reuse(reused, stable_tokens, _break_reason(stretch, reason))
    return Reuse(reused, stable_tokens, "")


def is_extension(
    stretches: Sequence[Stretch], before: Sequence[Sequence[Any]] | None, reuse: Reuse
) -> bool:
    """Return whether a call begins with all of the call before: nothing of it changed, and neither
    has a part behind the history, which moves with every message."""
    if before is None or reuse.broken_by:
        return False
    return stretches[-1].is_history and len(before) == len(stretches)


def _break_reason(stretch: Stretch, reason: str) -> str:
    return reason if reason and stretch.is_history else f"{stretch.name} changed"
