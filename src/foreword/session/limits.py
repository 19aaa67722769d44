"""When a conversation is warned about, when it is compressed, and to what: tokens, or shares of
the window."""

from __future__ import annotations

import re
from dataclasses import dataclass

from foreword import tokens
from foreword.errors import BadBudget
from foreword.recipe.budget import whole_number

WARN, COMPRESS, TARGET = "80%", "90%", "10%"  # of a window of 200,000: 160,000, 180,000 and 20,000
_SHARE = re.compile(r"\s*(\d{1,3}(?:\.\d+)?)\s*%\s*")


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of a whole context, in tokens."""

    window: int
    warn_at: int
    compress_at: int
    compress_to: int


def limits_for(
    window: object = None,
    model: str | None = None,
    warn_at: object = None,
    compress_at: object = None,
    compress_to: object = None,
) -> Limits:
    """The limits that were given, and for the others the usual shares of the window."""
    size = whole_number(window, "window") or (
        tokens.for_model(model)[0] if model else tokens.default_window()
    )
    limits = Limits(
        size,
        _tokens(WARN if warn_at is None else warn_at, size, "warn-at"),
        _tokens(COMPRESS if compress_at is None else compress_at, size, "compress-at"),
        _tokens(TARGET if compress_to is None else compress_to, size, "compress-to"),
    )
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


def _tokens(value: object, window: int, what: str) -> int:
    found = _SHARE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return whole_number(value, what) or 0
    share = float(found[1])
    if not 0 < share <= 100:
        raise BadBudget(
            value, what, problem=f"{what} must be more than 0% and at most 100%, not {value!r}"
        )
    return max(1, round(window * share / 100))
