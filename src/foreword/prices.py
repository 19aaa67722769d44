"""What the tokens of a model cost, as its provider said at a date.

Data beside the code (`data/prices.json`), never looked up while something runs: a model that is
not in it has no price, and whoever asks says "unknown" instead of a guess. Prices are those of the
provider's own interface, without discounts, surcharges, or what writing to a cache costs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from foreword.dataclass import dataclass

# A version or a date may follow a name in the table (claude-sonnet-4-20250514, gpt-5-2025-08-07,
# claude-sonnet-4-5@20250929), and so may what a cloud adds; another name (gpt-5-pro) is another
# model.
_REST = r"(?:[-@.]?(?:v?\d[\d.:-]*|latest))?(?:[-@:]v?\d+(?::\d+)?)?$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Of a million tokens."""

    input: float
    cached: float  # input that a prompt cache has
    output: float
    currency: str
    date: str  # the month in which the provider asked this

    def of_input(self, tokens: int, cached_tokens: int = 0) -> float:
        """What so many tokens cost to send, so many of them from a cache."""
        return ((tokens - cached_tokens) * self.input + cached_tokens * self.cached) / _table().unit


@dataclass(frozen=True, slots=True)
class _Table:
    """The known prices by the name of the model, and of how many tokens they are."""

    unit: int
    prices: Mapping[str, Price]


@cache
def _table() -> _Table:
    text = resources.files("foreword").joinpath("data/prices.json").read_text("utf-8")
    data = json.loads(text)
    prices = {
        name: Price(**price, currency=data["currency"]) for name, price in data["models"].items()
    }
    return _Table(int(data["tokens"]), prices)


@cache
def price_of(model: str) -> Price | None:
    """The price of a model by its name, with or without its provider, its version or a date in it;
    nothing where it is not known, as with a server of one's own (`NAME@http://...`)."""
    if "@http" in model:
        return None
    name = model.lower().rpartition("/")[2]
    longest = ""
    for known in _table().prices:
        is_it = re.search(rf"(?:^|[^a-z0-9]){re.escape(known)}{_REST}", name)
        if is_it and len(known) > len(longest):
            longest = known
    return _table().prices[longest] if longest else None


def cost_of_call(model: str | None, tokens: int, cached_tokens: int = 0) -> dict[str, Any] | None:
    """What one call costs to send, so many of its tokens from a prompt cache; nothing without a
    price."""
    price = price_of(model) if model else None
    if price is None:
        return None
    return {
        "model": model,
        "currency": price.currency,
        "date": price.date,
        "input": round(price.of_input(tokens, cached_tokens), 6),
        "input_without_cache": round(price.of_input(tokens), 6),
    }


def cost_of_reading_anew(model: str | None, tokens: int) -> float | None:
    """What tokens cost that a cache could have had, above what they would have cost from it."""
    price = price_of(model) if model else None
    if price is None:
        return None
    return round(price.of_input(tokens) - price.of_input(tokens, tokens), 6)


def cost_of_calls(model: str | None, log: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What the calls of a usage log (the newest first) cost to send where a prompt cache takes all
    that it could, without one, and what breaks of the beginning cost; nothing without a price.

    A break costs what the call before had in common with this one's place and had to be sent
    anew at the full price.
    """
    price = price_of(model) if model else None
    if price is None:
        return None
    total = 0.0
    uncached = 0.0
    breaks = 0.0
    for place, call in enumerate(log):
        tokens = call["total_tokens"]
        reused = call["reused_tokens"]
        total += price.of_input(tokens, reused)
        uncached += price.of_input(tokens)
        before = log[place + 1] if place + 1 < len(log) else None
        if call["prefix_break"] and before is not None:
            again = min(before["stable_tokens"], call["stable_tokens"]) - reused
            breaks += price.of_input(max(0, again)) - price.of_input(max(0, again), max(0, again))
    return {
        "model": model,
        "currency": price.currency,
        "date": price.date,
        "input": round(total, 6),
        "input_without_cache": round(uncached, 6),
        "breaks": round(breaks, 6),
    }
