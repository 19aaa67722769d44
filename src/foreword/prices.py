"""What the tokens of a model cost, as its provider said at a date.

Data beside the code (`data/prices.json`), never looked up while something runs: a model that is
not in it has no price, and whoever asks says "unknown" instead of a guess. Prices are those of the
provider's own interface, without discounts and surcharges. What writing to a cache costs is in what
answers cost (`cost_of_answers`), and not in what calls cost to send.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

# A version or a date may follow a name in the table (claude-sonnet-4-20250514, gpt-5-2025-08-07,
# claude-sonnet-4-5@20250929), and so may what a cloud adds; another name (gpt-5-pro) is another
# model.
_REST = r"(?:[-@.]?(?:v?\d[\d.:-]*|latest))?(?:[-@:]v?\d+(?::\d+)?)?$"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerUsage:
    """What an answer cost, in tokens, as its provider counted."""

    answer: str  # its id, or nothing
    model: str
    input_tokens: int
    cached_tokens: int = 0  # of the input: from a cache
    written_tokens: int = 0  # of the input: into a cache, for minutes
    written_hour_tokens: int = 0  # of the input: into a cache, for an hour
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Of a million tokens."""

    input: float
    cached: float  # input that a prompt cache has
    output: float
    currency: str
    date: str  # the month in which the provider asked this
    # input that goes into a cache, for minutes and for an hour, where that has a price of its own
    written: float | None = None
    written_hour: float | None = None

    def of_input(self, tokens: int, cached_tokens: int = 0) -> float:
        """What so many tokens cost to send, so many of them from a cache."""
        return ((tokens - cached_tokens) * self.input + cached_tokens * self.cached) / _table().unit

    def of_answers(self, usage: AnswerUsage) -> tuple[float, float]:
        """What answers cost, the input and the output."""
        through_cache = usage.cached_tokens + usage.written_tokens + usage.written_hour_tokens
        sent = max(0, usage.input_tokens - through_cache) * self.input
        sent += usage.cached_tokens * self.cached
        sent += usage.written_tokens * (self.written or self.input)
        sent += usage.written_hour_tokens * (self.written_hour or self.written or self.input)
        return sent / _table().unit, usage.output_tokens * self.output / _table().unit


@dataclass(frozen=True, slots=True)
class _Table:
    """The known prices by the name of the model, and of how many tokens they are."""

    unit: int
    prices: Mapping[str, Price]


@cache
def _table() -> _Table:
    text = resources.files("foreword").joinpath("data/prices.json").read_text("utf-8")
    data = json.loads(text)
    prices = dict[str, Price]()
    for name, price in data["models"].items():
        prices[name] = Price(**price, currency=data["currency"])
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
            again = min(before["total_tokens"], tokens) - reused
            breaks += price.of_input(max(0, again)) - price.of_input(max(0, again), max(0, again))
    return {
        "model": model,
        "currency": price.currency,
        "date": price.date,
        "input": round(total, 6),
        "input_without_cache": round(uncached, 6),
        "breaks": round(breaks, 6),
    }


def cost_of_answers(
    answers: Sequence[tuple[int, AnswerUsage]], usual_model: str | None
) -> dict[str, Any]:
    """What answers cost by the counts of their providers, so many of each model; one that names no
    model is of the usual one. Those without a price are counted apart."""
    sent = 0.0
    received = 0.0
    unpriced = 0
    prices = list[Price]()
    for count, usage in answers:
        price = price_of(usage.model or usual_model or "")
        if price is None:
            unpriced += count
            continue
        of_input, of_output = price.of_answers(usage)
        sent += of_input
        received += of_output
        prices.append(price)
    if not prices:
        return {"cost": None, "unpriced": unpriced}
    cost = {
        "currency": prices[0].currency,
        "date": min(price.date for price in prices),
        "input": round(sent, 6),
        "output": round(received, 6),
        "total": round(sent + received, 6),
    }
    return {"cost": cost, "unpriced": unpriced}
