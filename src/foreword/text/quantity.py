"""A number of things in words: one rule for every message."""

from __future__ import annotations


def quantity(count: int, noun: str, plural: str = "") -> str:
    """`1 message`, `2,000 messages`; the plural where it is more than an s."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
