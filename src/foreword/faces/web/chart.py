"""Pictures as numbers: where the lines of a chart run, for a template to draw.

Coordinates are hundredths of the drawing, from the left and from the top, so a drawing fits any
width without a style of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from foreword.operations.conversations import Compression
from foreword.session.limits import Limits

HEADROOM, MOST_LEVELS = 1.12, 5
APART = 0.08  # of the height: what is nearer to a limit is not drawn
NEAR = 0.5  # of the first limit: from there on the limits are in the picture


@dataclass(frozen=True, slots=True)
class ChartArea:
    """One part of every call, as an area."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one call."""

    left: float
    width: float
    call: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A level or a moment with its name."""

    at: float
    name: str
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The sizes of calls, the oldest first."""

    layers: tuple[ChartArea, ...]
    edge: str  # the line above all layers
    slots: tuple[Slot, ...]
    limits: tuple[ChartLine, ...]
    levels: tuple[ChartLine, ...]
    events: tuple[ChartLine, ...]  # compressions


def growth(log: Sequence[Mapping[str, Any]], made: Sequence[Compression], limits: Limits) -> Growth:
    """The picture of a usage log, whose newest call comes first."""
    calls = list(reversed(log))
    most = max((call["total_tokens"] for call in calls), default=0)
    top = (
        limits.compress_at * HEADROOM if most >= NEAR * limits.warn_at else max(1, most) * HEADROOM
    )
    top = max(top, most * 1.02)
    names = list(dict.fromkeys(name for call in calls for name in call["parts"]))
    below = [0] * len(calls)
    layers = list[ChartArea]()
    for name in names:
        above = [low + call["parts"].get(name, 0) for low, call in zip(below, calls, strict=True)]
        layers.append(ChartArea(name, _area(above, below, top)))
        below = above
    marks = [("warning", limits.warn_at), ("compression", limits.compress_at)]
    return Growth(
        layers=tuple(layers),
        edge=_run(below, top),
        slots=tuple(
            Slot(_left(place, len(calls)), round(100 / len(calls), 3), call)
            for place, call in enumerate(calls)
        ),
        limits=tuple(
            ChartLine(_down(value, top), name, value) for name, value in marks if value <= top
        ),
        levels=tuple(
            ChartLine(_down(level, top), "", level)
            for level in _levels(top)
            if all(abs(level - value) > APART * top for _, value in marks)
        ),
        events=tuple(_events(calls, made)),
    )


def _events(calls: Sequence[Mapping[str, Any]], made: Sequence[Compression]) -> list[ChartLine]:
    """Where compressions fall between the calls, by their times."""
    return [
        ChartLine(
            _left(sum(call["created"] < one.created for call in calls), len(calls)),
            str(one.number),
            one.number,
        )
        for one in made
        if calls and one.created >= calls[0]["created"] and not one.undone
    ]


def _levels(top: float) -> list[int]:
    """Round numbers to draw thin lines at: at most five steps of 1, 2 or 5."""
    steps = (digit * 10**power for power in count() for digit in (1, 2, 5))
    step = next(step for step in steps if top / step <= MOST_LEVELS)
    return list(range(step, int(top) + 1, step))


def _area(above: Sequence[int], below: Sequence[int], top: float) -> str:
    back = " L ".join(reversed(_points(below, top)))
    return f"{_run(above, top)} L {back} Z" if above else ""


def _run(levels: Sequence[int], top: float) -> str:
    return "M " + " L ".join(_points(levels, top)) if levels else ""


def _points(levels: Sequence[int], top: float) -> list[str]:
    """Every level in the middle of its slot, and the first and the last out to the edges."""
    middles = [
        (_left(place + 0.5, len(levels)), _down(level, top)) for place, level in enumerate(levels)
    ]
    ends = [(0.0, middles[0][1]), *middles, (100.0, middles[-1][1])]
    return [f"{x:g} {y:g}" for x, y in ends]


def _left(place: float, count: int) -> float:
    return round(100 * place / max(1, count), 3)


def _down(level: float, top: float) -> float:
    return round(100 - 100 * level / top, 3)
