"""Pictures as numbers: where the lines of a chart run, for a template to draw.

Coordinates are hundredths of the drawing, from the left and from the top, so a drawing fits any
width without a style of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from foreword.operations.conversation_operations import Compression
from foreword.session.limits import Limits

HEADROOM = 1.12  # of the height above what is drawn, so that no line touches the frame
LEAST_HEADROOM = 1.02  # above the largest call, where that is past all limits
MOST_LEVELS = 5  # thin lines: more of them would hide the areas
APART = 0.08  # of the height: what is nearer to a limit is not drawn
NEAR = 0.5  # of the first limit: from there on the limits are in the picture
# Of the width, for one call: the first few stand at the left as columns and leave room for what is
# to come. One call over the whole width would look like a history without change.
WIDEST = 8.0


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
    top = _top(calls, limits)
    totals = [0] * len(calls)  # of the parts that are drawn so far
    layers = list[ChartArea]()
    for name in _part_names(calls):
        below = totals
        totals = list[int]()
        for low, call in zip(below, calls, strict=True):
            totals.append(low + call["parts"].get(name, 0))
        layers.append(ChartArea(name, _area(totals, below, top)))
    marks = {"warning": limits.warn_at, "compression": limits.compress_at}
    return Growth(
        layers=tuple(layers),
        edge=_line(totals, top),
        slots=tuple(_slots(calls)),
        limits=tuple(_limit_lines(marks, top)),
        levels=tuple(_level_lines(marks, top)),
        events=tuple(_compression_lines(calls, made)),
    )


def _top(calls: Sequence[Mapping[str, Any]], limits: Limits) -> float:
    """The size at the upper edge: the limits are in the picture once a call comes near them."""
    most = max((call["total_tokens"] for call in calls), default=0)
    is_near = most >= NEAR * limits.warn_at
    highest = limits.compress_at if is_near else max(1, most)
    return max(highest * HEADROOM, most * LEAST_HEADROOM)


def _part_names(calls: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of all parts, in the order in which they first came."""
    names = dict[str, None]()
    for call in calls:
        names.update(dict.fromkeys(call["parts"]))
    return list(names)


def _slots(calls: Sequence[Mapping[str, Any]]) -> Iterator[Slot]:
    for place, call in enumerate(calls):
        yield Slot(_x_percent(place, len(calls)), round(_slot_width(len(calls)), 3), call)


def _limit_lines(marks: Mapping[str, int], top: float) -> Iterator[ChartLine]:
    for name, value in marks.items():
        if value <= top:
            yield ChartLine(_y_percent(value, top), name, value)


def _level_lines(marks: Mapping[str, int], top: float) -> Iterator[ChartLine]:
    for level in _levels(top):
        if all(abs(level - value) > APART * top for value in marks.values()):
            yield ChartLine(_y_percent(level, top), "", level)


def _compression_lines(
    calls: Sequence[Mapping[str, Any]], made: Sequence[Compression]
) -> Iterator[ChartLine]:
    """Where compressions fall between the calls, by their times."""
    for compression in made:
        if not calls or compression.undone or compression.created < calls[0]["created"]:
            continue
        earlier = sum(call["created"] < compression.created for call in calls)
        left = _x_percent(earlier, len(calls))
        yield ChartLine(left, str(compression.number), compression.number)


def _levels(top: float) -> list[int]:
    """Round numbers to draw thin lines at: at most five steps of 1, 2 or 5."""
    step = _level_step(top)
    return list(range(step, int(top) + 1, step))


def _level_step(top: float) -> int:
    for power in count():
        for digit in (1, 2, 5):
            step: int = digit * 10**power
            if top / step <= MOST_LEVELS:
                return step
    raise AssertionError  # the powers never end


def _area(above: Sequence[int], below: Sequence[int], top: float) -> str:
    back = " L ".join(reversed(_points(below, top)))
    return f"{_line(above, top)} L {back} Z" if above else ""


def _line(levels: Sequence[int], top: float) -> str:
    return "M " + " L ".join(_points(levels, top)) if levels else ""


def _points(levels: Sequence[int], top: float) -> list[str]:
    """Every level in the middle of its slot, and the first and the last out to its edges."""
    heights = [_y_percent(level, top) for level in levels]
    points = [(0.0, heights[0])]
    for place, height in enumerate(heights):
        points.append((_x_percent(place + 0.5, len(levels)), height))
    points.append((_x_percent(len(levels), len(levels)), heights[-1]))
    return [f"{x:g} {y:g}" for x, y in points]


def _x_percent(place: float, count: int) -> float:
    return round(place * _slot_width(count), 3)


def _slot_width(count: int) -> float:
    return min(100 / max(1, count), WIDEST)


def _y_percent(level: float, top: float) -> float:
    return round(100 - 100 * level / top, 3)
