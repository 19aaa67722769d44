"""What a flow is run with: a value inside a process, JSON on the way to another and on the disk.

Running it is the business of `graph` and `phase`; how far it is, that of `flow_status`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from foreword.plan.flow import Flow
from foreword.section import Section
from foreword.sources.library import RECIPE

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# For one phase: an agent that writes a whole document and looks things up on the way.
TIMEOUT_SECONDS = 600.0
ATTEMPTS = 3  # a provider that is overloaded answers the second or third time


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a flow is run with; all of it travels to whoever runs it."""

    run: str
    task: str
    objective: str
    model: str
    flow: Flow
    diff: str = ""
    diff_source: str = ""
    stop_at_gates: bool = False
    timeout_seconds: float = TIMEOUT_SECONDS
    attempts: int = ATTEMPTS
    recipe: str = RECIPE
    default_rules: bool = False  # whether the built-in rules of a panel may approve
    facts: Mapping[str, Any] = field(default_factory=dict)  # for the conditions of the profile
    # tier 1 as it was when the attempt began; None until then
    tier_1: tuple[Section, ...] | None = None


def to_json(order: Order) -> dict[str, Any]:
    """An order as it travels."""
    data: dict[str, Any] = _adapter().dump_python(order, mode="json")
    return data


def from_json(data: object) -> Order | None:
    """The order that travelled; nothing where it is none: somebody may have meddled with it."""
    from pydantic import ValidationError

    try:
        return _adapter().validate_python(data)
    except ValidationError:
        return None


@cache
def _adapter() -> TypeAdapter[Order]:
    from pydantic import TypeAdapter

    return TypeAdapter(Order)
