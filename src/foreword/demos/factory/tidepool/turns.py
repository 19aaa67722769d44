"""Find the next turn of the tide in the readings of a station."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Reading:
    """The height of the water at a minute."""

    at_utc: datetime
    height_m: float


@dataclass(frozen=True)
class Turn:
    """The minute at which the water is highest or lowest."""

    at_utc: datetime
    height_m: float
    high: bool


def turns(readings: Sequence[Reading]) -> list[Turn]:
    """The turns between the first and the last reading, the oldest first."""
    found = []
    for before, here, after in zip(readings, readings[1:], readings[2:], strict=False):
        if before.height_m < here.height_m >= after.height_m:
            found.append(Turn(here.at_utc, here.height_m, high=True))
        elif before.height_m > here.height_m <= after.height_m:
            found.append(Turn(here.at_utc, here.height_m, high=False))
    return found


def is_plausible(turn: Turn, lowest_m: float, highest_m: float, now_utc: datetime) -> bool:
    """Whether a forecast may be published: in range, and in the future."""
    return lowest_m <= turn.height_m <= highest_m and turn.at_utc > now_utc
