"""Whether a condition holds: what the operators of a condition mean.

Pages have texts only, so a text that reads as a number is compared as one with a number or another
such text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

from foreword.errors import UsageError
from foreword.plan import shape_check
from foreword.plan.templates import value_as_text

ORDERS = ("greater", "less", "at_least", "at_most")
UNARY = ("empty", "not_empty")
OPERATORS = ("equals", "not_equals", "contains", "not_contains", *ORDERS, *UNARY)


def holds(left: Any, operator: str, right: Any = None) -> bool:
    """Whether the operator holds between two values; `UsageError` where that can't be said."""
    if operator.startswith("not_"):
        return not holds(left, operator.removeprefix("not_"), right)
    if operator == "empty":
        return left is None or (
            isinstance(left, Sized) and not (left.strip() if isinstance(left, str) else left)
        )
    if operator == "equals":
        return _equal(left, right)
    if operator == "contains":
        return _contains(left, right)
    first, second = _number(left), _number(right)
    if first is None or second is None:
        raise UsageError(
            f"{shape_check.value_in_words(left)} and {shape_check.value_in_words(right)} can't be compared by"
            f" {operator}",
            hint="both must be numbers",
        )
    return {"greater": first > second, "less": first < second, "at_least": first >= second}.get(
        operator, first <= second
    )


def _equal(left: Any, right: Any) -> bool:
    if left == right and isinstance(left, bool) == isinstance(right, bool):
        return True
    first, second = _number(left), _number(right)
    if first is not None and second is not None:
        return first == second
    return isinstance(left, str) != isinstance(right, str) and value_as_text(left) == value_as_text(
        right
    )


def _contains(whole: Any, part: Any) -> bool:
    if isinstance(whole, str):
        return value_as_text(part) in whole
    if isinstance(whole, list | tuple | Mapping):
        return any(_equal(one, part) for one in whole)
    raise UsageError(
        f"{shape_check.value_in_words(whole)} can't contain anything",
        hint="contains is for texts, lists and mappings",
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
