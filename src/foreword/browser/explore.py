"""What there is to use on a page, ranked against an instruction, without a model.

The page is read once in each frame (`explore.js`, `dom.js`); every selector that is given out was
tried and leads to exactly its element. Values of fields that hold secrets are hidden.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foreword.browser import page_script
from foreword.browser.dom import Dom, is_secret_field, read
from foreword.browser.page_script import READ_SECONDS
from foreword.secrets.masking import HIDDEN, mask
from foreword.text import relevance

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

MOST_ELEMENTS = 40
MOST_FRAMES = 20
MOST_SIMILAR = 3
MOST_TOLD = 12
ROWS_SHOWN = 3


@dataclass(slots=True)
class Exploration:
    """What one frame shows."""

    frame: Frame
    prefix: str  # the way into it: `frame=... >> `
    facts: dict[str, Any]
    inside: list[Exploration] = field(default_factory=list)


async def explore_page(page: Page, instruction: str, limit: int = MOST_ELEMENTS) -> dict[str, Any]:
    """Elements with selectors, best first; headings, alerts, forms and rows that are alike."""
    frames = _flat(await _seen(page.main_frame, "", MOST_FRAMES))
    elements = [
        (frame, at, one) for frame in frames for at, one in enumerate(frame.facts["elements"])
    ]
    order = _chosen([one for *_, one in elements], instruction)[: max(1, limit)]
    shown = await asyncio.gather(*(_element(*elements[at]) for at in order))
    rows = await asyncio.gather(
        *(_rows(frame, row) for frame in frames for row in frame.facts["rows"][:MOST_TOLD])
    )
    more = len(elements) - len(order) + sum(frame.facts["passed"] for frame in frames)
    told = {
        "headings": _told(frames, "headings"),
        "alerts": _told(frames, "alerts"),
        "forms": [form for frame in frames for form in frame.facts["forms"]][:MOST_TOLD],
        "rows": [row for row in rows if row],
    }
    return {
        **{name: value for name, value in told.items() if value},
        "elements": shown,
        **({"more": f"{more:,} more elements"} if more else {}),
    }


async def similar(page: Page, selector: str) -> list[str]:
    """Selectors of elements that a selector without a match may have meant."""
    from playwright.async_api import Error

    words = " ".join(re.findall(r"[^\W_]+", selector.partition("=")[2] or selector)) or selector
    try:
        found = await asyncio.wait_for(explore_page(page, words, 60), READ_SECONDS)
    except (Error, TimeoutError):
        return []
    told = [f"{one['role']} {one['name']} {one['selector']}" for one in found["elements"]]
    scores = [_alike(words, text) for text in told]
    best = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    return [found["elements"][at]["selector"] for at in best if scores[at] > 0][:MOST_SIMILAR]


async def dom_of(page: Page) -> Dom:
    """The elements of a page and of the frames in it."""
    return await _dom(page.main_frame, MOST_FRAMES)


async def _dom(frame: Frame, most: int) -> Dom:
    from playwright.async_api import Error

    children = await asyncio.wait_for(page_script.frames(frame, max(0, most)), READ_SECONDS)
    raw = await _read(frame, "dom")
    inside = []
    for child in children:
        try:
            inside.append(await _dom(child, most - len(children)) if child else Dom(None))
        except (Error, TimeoutError):
            inside.append(Dom(None))
    return Dom(read(raw["tree"], inside), raw["left"] + sum(one.unread for one in inside))


async def _seen(frame: Frame, prefix: str, most: int) -> Exploration:
    from playwright.async_api import Error

    children = await asyncio.wait_for(page_script.frames(frame, max(0, most)), READ_SECONDS)
    facts = await _read(frame, "explore")
    seen = Exploration(frame, prefix, facts)
    for at, one in enumerate(facts["elements"]):
        child = children[one["frame"]] if one["frame"] >= 0 else None
        if child:
            try:
                selector = await _selector(seen, at, one)
                seen.inside.append(
                    await _seen(child, f"{prefix}frame={selector} >> ", most - len(children))
                )
            except (Error, TimeoutError):
                continue
    return seen


async def _read(frame: Frame, what: str) -> dict[str, Any]:
    """What the reader says of a frame, within its time."""
    found: dict[str, Any] = await asyncio.wait_for(
        page_script.read(frame, what, seconds=2 * READ_SECONDS), READ_SECONDS
    )
    return found


def _flat(seen: Exploration) -> list[Exploration]:
    return [seen, *(deeper for inside in seen.inside for deeper in _flat(inside))]


def _chosen(elements: Sequence[dict[str, Any]], instruction: str) -> list[int]:
    """Numbers of the elements, the most telling for the instruction first, the others as they stand
    on the page.

    Of rows that are alike the first few will do, unless the instruction speaks of another.
    """
    passages = [
        f"{one['fact']['role']} {one['fact']['name']} {' '.join(one['about'])} {_row(one)}"
        for one in elements
    ]
    scores = relevance.rank(passages, instruction)
    told = [
        at
        for at, one in enumerate(elements)
        if scores[at] or not one["row"] or one["row"]["number"] < ROWS_SHOWN
    ]
    return sorted(told, key=lambda at: (-scores[at], at))


def _row(one: dict[str, Any]) -> str:
    return str(one["row"]["text"]) if one["row"] else ""


async def _element(seen: Exploration, at: int, one: dict[str, Any]) -> dict[str, Any]:
    fact = dict(one["fact"])
    field_id, name, autocomplete = one["about"]
    about = {
        "type": fact.get("type"),
        "id": field_id,
        "name": name,
        "autocomplete": autocomplete,
        "label": fact["name"],
    }
    if fact.get("value") and is_secret_field(about):
        fact["value"] = HIDDEN
    shown = {key: mask(value) if isinstance(value, str) else value for key, value in fact.items()}
    row = {"row": mask(_row(one))} if _row(one) not in ("", fact["name"]) else {}
    return {"selector": seen.prefix + await _selector(seen, at, one), **shown, **row}


async def _selector(seen: Exploration, at: int, one: dict[str, Any]) -> str:
    """The first selector that leads to this element alone."""
    from playwright.async_api import Error

    for selector in one["tries"]:
        try:
            if await page_script.is_alone(seen.frame, selector, at):
                return str(selector)
        except Error:
            continue
    return str(one["tries"][-1]) if one["tries"] else ""


async def _rows(seen: Exploration, row: dict[str, Any]) -> dict[str, Any] | None:
    """Rows that are alike, with how many the selector really finds and the parts of the first
    one."""
    from playwright.async_api import Error

    try:
        count = await seen.frame.locator(row["selector"]).count()
    except Error:
        return None
    if not count:
        return None
    cells = [{"selector": selector, "text": mask(text)} for selector, text in row["cells"]]
    told = {"rows": count, "selector": seen.prefix + row["selector"], "like": mask(row["like"])}
    return {**told, "cells": cells} if cells else told


def _told(frames: Sequence[Exploration], what: str) -> list[str]:
    return [mask(text) for frame in frames for text in frame.facts[what] if text][:MOST_TOLD]


def _alike(words: str, text: str) -> float:
    """How much of the wanted words a text has, whole or nearly."""
    from difflib import get_close_matches

    known = re.findall(r"[^\W_]+", text.lower())
    wanted = [word for word in words.lower().split() if len(word) > 1]
    return sum(
        1.0 if word in known else 0.6 if get_close_matches(word, known, 1, 0.75) else 0.0
        for word in wanted
    )
