"""When a conversation is warned about, when it is compressed, and to what: tokens, or shares of
the window."""

from __future__ import annotations

from dataclasses import dataclass

from foreword import tokens
from foreword.errors import BadBudget
from foreword.pattern import lazy_pattern
from foreword.recipe.budget import whole_number

# Shares of the window, of 200,000 tokens: 160,000, 180,000 and 20,000. The tenth above COMPRESS is
# room for the model's answer; between WARN and COMPRESS a user may still compress in their own way.
# A smaller TARGET makes compressions rarer and forgets more with each.
WARN = "80%"
COMPRESS = "90%"
TARGET = "10%"
# The same of a budget that is smaller than that share of the window: it is warned about a little
# before it is full, and compressed to so much that contexts use four fifths of it on average.
WARN_OF_BUDGET = 8 / 9
TARGET_OF_BUDGET = 0.64
_SHARE = lazy_pattern(r"\s*(\d{1,3}(?:\.\d+)?)\s*%\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes of a whole context, in tokens."""

    window: int
    budget: int | None  # where one was given
    warn_at: int
    compress_at: int
    compress_to: int

    @property
    def denominator(self) -> int:
        """What a size is shown as a share of."""
        return denominator(self.budget, self.window)


def denominator(budget: int | None, window: int) -> int:
    """What a size is shown as a share of: the budget where there is one, else the window."""
    return budget or window


def limits_for(
    window: object = None,
    *,
    budget: object = None,
    warn_at: object = None,
    compress_at: object = None,
    compress_to: object = None,
) -> Limits:
    """The limits that were given, and for the others the usual shares of the window, or of the
    budget where that is less."""
    size = whole_number(window, "window")
    if not size:
        size = tokens.default_window()
    most = whole_number(budget, "budget")
    full = _tokens(compress_at, default=COMPRESS, window=size, name="compress-at")
    if compress_at is None:
        full = min(full, most or size)
    warning = _tokens(warn_at, default=WARN, window=size, name="warn-at")
    if warn_at is None:
        warning = min(warning, max(1, round(WARN_OF_BUDGET * full)))
    target = _tokens(compress_to, default=TARGET, window=size, name="compress-to")
    if compress_to is None:
        target = min(target, max(1, round(TARGET_OF_BUDGET * full)))
    limits = Limits(window=size, budget=most, warn_at=warning, compress_at=full, compress_to=target)
    if limits.compress_to >= limits.compress_at:
        raise BadBudget(
            limits.compress_to,
            "compress-to",
            problem=(
                f"compressing at {limits.compress_at:,} tokens to {limits.compress_to:,} makes"
                " nothing smaller"
            ),
            hint="compress later, or to less",
        )
    return limits


def _tokens(value: object, *, default: str, window: int, name: str) -> int:
    if value is None:
        value = default
    percent = _SHARE.fullmatch(value) if isinstance(value, str) else None
    if percent is None:
        return whole_number(value, name) or 0
    share = float(percent[1])
    if not 0 < share <= 100:
        raise BadBudget(
            value, name, problem=f"{name} must be more than 0% and at most 100%, not {value!r}"
        )
    return max(1, round(window * share / 100))
