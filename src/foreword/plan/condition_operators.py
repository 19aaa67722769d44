"""Whether a condition holds: what the operators of a condition mean.

Pages have texts only, so a text that reads as a number is compared as one with a number or another
such text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

from foreword.errors import UsageError
from foreword.plan.templates import value_as_text
from foreword.plan.value_words import value_in_words

ORDERS = ("greater", "less", "at_least", "at_most")
UNARY = ("empty", "not_empty")
OPERATORS = ("equals", "not_equals", "contains", "not_contains", *ORDERS, *UNARY)


def holds(left: Any, operator: str, right: Any = None) -> bool:
    """Whether the operator holds between two values; `UsageError` where that can't be said."""
    if operator.startswith("not_"):
        return not holds(left, operator.removeprefix("not_"), right)
    if operator == "empty":
        return _is_empty(left)
    if operator == "equals":
        return _equal(left, right)
    if operator == "contains":
        return _contains(left, right)
    return _compare(left, operator, right)


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, Sized) and len(value) == 0)


def _compare(left: Any, operator: str, right: Any) -> bool:
    first = _number(left)
    second = _number(right)
    if first is None or second is None:
        both = f"{value_in_words(left)} and {value_in_words(right)}"
        raise UsageError(f"{both} can't be compared by {operator}", hint="both must be numbers")
    if operator == "greater":
        return first > second
    if operator == "less":
        return first < second
    if operator == "at_least":
        return first >= second
    return first <= second


def _equal(left: Any, right: Any) -> bool:
    if left == right and isinstance(left, bool) == isinstance(right, bool):
        return True
    first = _number(left)
    second = _number(right)
    if first is not None and second is not None:
        return first == second
    one_is_text = isinstance(left, str) != isinstance(right, str)
    return one_is_text and value_as_text(left) == value_as_text(right)


def _contains(whole: Any, part: Any) -> bool:
    if isinstance(whole, str):
        return value_as_text(part) in whole
    if isinstance(whole, list | tuple | Mapping):
        return any(_equal(member, part) for member in whole)
    raise UsageError(
        f"{value_in_words(whole)} can't contain anything",
        hint="contains is for texts, lists and mappings",
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
