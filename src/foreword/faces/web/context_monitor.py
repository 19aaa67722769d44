"""The context monitor: how full the window is, how it grew, what a prompt cache could reuse, and
compressions.

Its chart is numbers for a template to draw: hundredths of the drawing, from the left and from the
top, so that it fits any width without a style of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from starlette.responses import Response

from foreword.errors import UnknownName, UsageError
from foreword.faces.web import addresses, header
from foreword.faces.web.rendering import page, shares
from foreword.faces.web.text_pages import page_of_text
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.operations.call_size import call_with_tools
from foreword.operations.conversation_operations import (
    hide_secrets,
    newest_compression,
)
from foreword.session.call_log import FIRST
from foreword.session.limits import Limits
from foreword.session.session import Session

CALLS = 200  # in the chart: more are narrower than a pixel on a phone
LISTED = 12  # in the table
# Of the next call: a conversation that is larger than this has parts that are not in it. The two
# are counted apart, line ends between parts included, and never differ by so much otherwise.
SAME_SIZE = 1.01
HEADROOM = 1.12  # of the height above what is drawn, so that no line touches the frame
LEAST_HEADROOM = 1.02  # above the largest call, where that is past all limits
MOST_LEVELS = 5  # thin lines: more of them would hide the areas
APART = 8.0  # hundredths of the height: a line of text takes as much on a phone
NEAR = 0.5  # of the first limit: from there on the limits are in the picture
# Of the width, for one call: the first few stand at the left as columns and leave room for what is
# to come. One call over the whole width would look like a history without change.
WIDEST = 8.0


def show(request: ViewRequest) -> Response:
    """The monitor of one session."""
    with request.session() as session:
        return page("monitor.html", **_monitor(session, request), preview=None, target="")


def preview(request: ViewRequest) -> Response:
    """The monitor with what a compression would do; nothing is changed."""
    target = request.text("to").strip()
    with request.session() as session:
        made = session.compress(to=target or None, preview=True)
        return page("monitor.html", **_monitor(session, request), preview=made, target=target)


def compress(request: ViewRequest) -> Response:
    """Compress, and show what has become of it."""
    with request.session() as session:
        made = session.compress(to=request.text("to").strip() or None)
        outcome = "compressed" if made.applied else "nothing"
        talk = session.conversation.name
        return go_to(addresses.session(request.workflow, conversation=talk, said=outcome))


def undo(request: ViewRequest) -> Response:
    """Take back the compression that the button belongs to, if it is still the newest."""
    number = request.number("number", 0)
    with request.session() as session:
        newest = newest_compression(session.compressions())
        if newest is None or newest.number != number:
            raise UsageError(
                f"compression {number} is not the newest any more", hint="look at the list again"
            )
        session.undo()
        talk = session.conversation.name
        return go_to(addresses.session(request.workflow, conversation=talk, said="undone"))


def summary(request: ViewRequest) -> Response:
    """The summary of one compression, in pages."""
    number = request.path_param("number")
    with request.session() as session:
        made = {compression.number: compression for compression in session.compressions()}
        if number not in made:
            raise UnknownName(
                "compression", str(number), map(str, made), where=f"of {request.workflow!r}"
            )
        address = addresses.session(
            request.workflow, f"compressions/{number}", conversation=session.conversation.name
        )
        found = hide_secrets(made[number], session.secrets())
        text = page_of_text(found.summary, request.number("page", 1))
        return page(
            "original.html",
            **header.of(session, "monitor", request.conversations),
            title=f"Compression {number}",
            text=text,
            name=f"The summary of compression {number}",
            address=address,
        )


def _monitor(session: Session, request: ViewRequest) -> dict[str, Any]:
    now = session.overview(CALLS)
    usage = {**now.usage, "log": [call_with_tools(call) for call in now.usage["log"]]}
    made = now.compressions
    report = now.package.report if now.package else None
    whole = max(session.limits.denominator, sum(now.next_parts.values()))
    return {
        **header.of(session, "monitor", request.conversations),
        "title": session.workflow.name,
        "usage": usage,
        "limits": session.limits,
        "report": report,
        "is_due": now.is_compression_due,
        "next_tokens": now.next_tokens,
        "is_more": usage["size_tokens"] > SAME_SIZE * now.next_tokens,
        "problem": now.problem,
        "bars": shares(now.next_parts, whole),
        "whole": whole,
        "growth": growth(usage["log"], usage["cuts"], session.limits),
        "cuts": list(reversed(usage["cuts"]))[:LISTED],
        "compressions": list(reversed(made)),
        "newest": newest_compression(made),
        "calls": usage["log"][:LISTED],
        "first": FIRST,
        "most_calls": CALLS,
        "agent_usage": request.app_state.settings.agent_usage.get(session.workflow.name),
        "outcome": request.text("said"),
    }


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
    levels: tuple[ChartLine, ...]  # each with a label
    labels: tuple[ChartLine, ...]  # of limits and levels, none over another
    events: tuple[ChartLine, ...]  # cuts


def growth(
    log: Sequence[Mapping[str, Any]], cuts: Sequence[Mapping[str, Any]], limits: Limits
) -> Growth:
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
    lines = tuple(_limit_lines(limits, top))
    labels = _labels([*lines, *_level_lines(top)])
    return Growth(
        layers=tuple(layers),
        edge=_line(totals, top),
        slots=tuple(_slots(calls)),
        limits=lines,
        levels=tuple(label for label in labels if label.name == "level"),
        labels=tuple(labels),
        events=tuple(_cut_lines(calls, cuts)),
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


def _limit_lines(limits: Limits, top: float) -> Iterator[ChartLine]:
    for name, value in (("compression", limits.compress_at), ("warning", limits.warn_at)):
        if value <= top:
            yield ChartLine(_y_percent(value, top), name, value)


def _level_lines(top: float) -> Iterator[ChartLine]:
    for level in _levels(top):
        yield ChartLine(_y_percent(level, top), "level", level)


def _labels(lines: Iterable[ChartLine]) -> list[ChartLine]:
    """The lines that have room for a label beside the labels of those before them."""
    labels = list[ChartLine]()
    for line in lines:
        if all(abs(line.at - label.at) > APART for label in labels):
            labels.append(line)
    return labels


def _cut_lines(
    calls: Sequence[Mapping[str, Any]], cuts: Sequence[Mapping[str, Any]]
) -> Iterator[ChartLine]:
    """The calls that began with a cut, but for the first of all."""
    places = {call["call"]: place for place, call in enumerate(calls)}
    for cut in cuts:
        if cut["call"] in places and cut["reason"] != FIRST:
            left = _x_percent(places[cut["call"]], len(calls))
            yield ChartLine(left, cut["reason"], cut["number"])


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
