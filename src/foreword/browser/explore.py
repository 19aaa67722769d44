"""What there is to use on a page, ranked against an instruction, without a model.

The page is read once in each frame (`explore.js`, `dom.js`); every selector that is given out was
tried and leads to exactly its element. Values of fields that hold secrets are hidden.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from foreword.browser import page_script
from foreword.browser.dom import Dom, is_secret_field, read
from foreword.browser.page_script import READ_SECONDS
from foreword.secrets.masking import HIDDEN, mask
from foreword.text import relevance

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page

# A model reads all of a result: 40 elements hold what most forms and lists have to use, and the
# result says how many more there are. The caller may ask for another number.
MOST_ELEMENTS = 40
MOST_FRAMES = 20  # in a page; a frame has what is left of it, since each is read by itself
MOST_SIMILAR = 3  # selectors in an error, to choose from at a glance
# Elements among which `similar` looks: more than a result has, since nobody reads them.
SIMILAR_AMONG = 60
MOST_LISTED = 12  # headings, alerts, forms and kinds of rows in a result
FIRST_ROWS = 3  # of rows that are alike, those that are elements of the result unasked
CLOSE_MATCH = 0.75  # of difflib's ratio: lets one letter of four be another one
CLOSE_SCORE = 0.6  # of a word that is close, where the word itself counts 1


@dataclass(slots=True)
class FrameContent:
    """What one frame shows."""

    frame: Frame
    prefix: str  # the way into it: `frame=... >> `
    facts: dict[str, Any]
    inside: list[FrameContent] = field(default_factory=list)


async def explore_page(page: Page, instruction: str, limit: int = MOST_ELEMENTS) -> dict[str, Any]:
    """Elements with selectors, best first; headings, alerts, forms and rows that are alike."""
    frames = _with_inner_frames(await _read_frame(page.main_frame, "", MOST_FRAMES))
    elements: list[tuple[FrameContent, int, dict[str, Any]]] = []
    for frame in frames:
        for index, element in enumerate(frame.facts["elements"]):
            elements.append((frame, index, element))
    ranking = _ranking([element for _, _, element in elements], instruction)[: max(1, limit)]
    best = await asyncio.gather(*(_element_result(*elements[at]) for at in ranking))
    left_out = len(elements) - len(ranking) + sum(frame.facts["passed"] for frame in frames)
    lists = {
        "headings": _texts(frames, "headings"),
        "alerts": _texts(frames, "alerts"),
        "forms": _forms(frames),
        "rows": await _all_rows(frames),
    }
    result: dict[str, Any] = {name: values for name, values in lists.items() if values}
    result["elements"] = best
    if left_out:
        result["more"] = f"{left_out:,} more elements"
    return result


async def similar(page: Page, selector: str) -> list[str]:
    """Selectors of elements that a selector without a match may have meant."""
    from playwright.async_api import Error

    words = " ".join(_words(selector.partition("=")[2] or selector)) or selector
    try:
        found = await asyncio.wait_for(explore_page(page, words, SIMILAR_AMONG), READ_SECONDS)
    except (Error, TimeoutError):
        return []
    scored = []
    for element in found["elements"]:
        text = f"{element['role']} {element['name']} {element['selector']}"
        score = _similarity(words, text)
        if score > 0:
            scored.append((score, element["selector"]))
    scored.sort(key=lambda pair: -pair[0])
    return [selector for _, selector in scored[:MOST_SIMILAR]]


async def dom_of(page: Page) -> Dom:
    """The elements of a page and of the frames in it."""
    return await _dom(page.main_frame, MOST_FRAMES)


async def _dom(frame: Frame, most: int) -> Dom:
    from playwright.async_api import Error

    children = await asyncio.wait_for(page_script.frames(frame, max(0, most)), READ_SECONDS)
    raw = await _read(frame, "dom")
    inside = []
    for child in children:
        dom = Dom(None)
        with suppress(Error, TimeoutError):
            if child:
                dom = await _dom(child, most - len(children))
        inside.append(dom)
    return Dom(read(raw["tree"], inside), raw["left"] + sum(dom.unread for dom in inside))


async def _read_frame(frame: Frame, prefix: str, most: int) -> FrameContent:
    """What a frame shows, and the frames in it, at most so many; one that does not answer is left
    out."""
    from playwright.async_api import Error

    children = await asyncio.wait_for(page_script.frames(frame, max(0, most)), READ_SECONDS)
    facts = await _read(frame, "explore")
    content = FrameContent(frame, prefix, facts)
    for index, element in enumerate(facts["elements"]):
        child = children[element["frame"]] if element["frame"] >= 0 else None
        if child is None:
            continue
        with suppress(Error, TimeoutError):
            selector = await _selector(content, index, element)
            inner_prefix = f"{prefix}frame={selector} >> "
            inner = await _read_frame(child, inner_prefix, most - len(children))
            content.inside.append(inner)
    return content


async def _read(frame: Frame, what: str) -> dict[str, Any]:
    """What the reader says of a frame, within its time."""
    found: dict[str, Any] = await asyncio.wait_for(
        page_script.read(frame, what, seconds=2 * READ_SECONDS), READ_SECONDS
    )
    return found


def _with_inner_frames(content: FrameContent) -> list[FrameContent]:
    frames = [content]
    for inner in content.inside:
        frames.extend(_with_inner_frames(inner))
    return frames


def _ranking(elements: Sequence[dict[str, Any]], instruction: str) -> list[int]:
    """Numbers of the elements, the most telling for the instruction first, the others as they stand
    on the page.

    Of rows that are alike the first few will do, unless the instruction speaks of another.
    """
    passages = []
    for element in elements:
        fact = element["fact"]
        about = " ".join(element["about"])
        passages.append(f"{fact['role']} {fact['name']} {about} {_row_text(element)}")
    scores = relevance.rank(passages, instruction)
    numbers = []
    for number, element in enumerate(elements):
        row = element["row"]
        if scores[number] or not row or row["number"] < FIRST_ROWS:
            numbers.append(number)
    return sorted(numbers, key=lambda number: (-scores[number], number))


def _row_text(element: dict[str, Any]) -> str:
    return str(element["row"]["text"]) if element["row"] else ""


async def _element_result(
    content: FrameContent, index: int, element: dict[str, Any]
) -> dict[str, Any]:
    """An element as a result tells of it, without secrets."""
    fact = dict(element["fact"])
    field_id, name, autocomplete = element["about"]
    about = {
        "type": fact.get("type"),
        "id": field_id,
        "name": name,
        "autocomplete": autocomplete,
        "label": fact["name"],
    }
    if fact.get("value") and is_secret_field(about):
        fact["value"] = HIDDEN
    result: dict[str, Any] = {"selector": content.prefix + await _selector(content, index, element)}
    for key, value in fact.items():
        result[key] = mask(value) if isinstance(value, str) else value
    row = _row_text(element)
    if row not in ("", fact["name"]):
        result["row"] = mask(row)
    return result


async def _selector(content: FrameContent, index: int, element: dict[str, Any]) -> str:
    """The first selector that leads to this element alone."""
    from playwright.async_api import Error

    for selector in element["tries"]:
        with suppress(Error):
            if await page_script.is_alone(content.frame, selector, index):
                return str(selector)
    return str(element["tries"][-1]) if element["tries"] else ""


async def _all_rows(frames: Sequence[FrameContent]) -> list[dict[str, Any]]:
    """The kinds of rows that are on a page, those of each frame at once."""
    reading = []
    for frame in frames:
        reading += [_rows(frame, row) for row in frame.facts["rows"][:MOST_LISTED]]
    found = await asyncio.gather(*reading)
    return [rows for rows in found if rows is not None]


async def _rows(content: FrameContent, row: dict[str, Any]) -> dict[str, Any] | None:
    """Rows that are alike, with how many the selector really finds and the parts of the first
    one."""
    from playwright.async_api import Error

    try:
        count = await content.frame.locator(row["selector"]).count()
    except Error:
        return None
    if not count:
        return None
    selector = content.prefix + row["selector"]
    result: dict[str, Any] = {"rows": count, "selector": selector, "like": mask(row["like"])}
    cells = [{"selector": cell, "text": mask(text)} for cell, text in row["cells"]]
    if cells:
        result["cells"] = cells
    return result


def _texts(frames: Sequence[FrameContent], kind: str) -> list[str]:
    texts = []
    for frame in frames:
        texts += [mask(text) for text in frame.facts[kind] if text]
    return texts[:MOST_LISTED]


def _forms(frames: Sequence[FrameContent]) -> list[dict[str, Any]]:
    forms = []
    for frame in frames:
        forms += frame.facts["forms"]
    return forms[:MOST_LISTED]


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def _similarity(words: str, text: str) -> float:
    """How many of the wanted words a text has, whole or nearly."""
    from difflib import get_close_matches

    present = _words(text.lower())
    score = 0.0
    for word in words.lower().split():
        if len(word) < 2:
            continue
        if word in present:
            score += 1
        elif get_close_matches(word, present, n=1, cutoff=CLOSE_MATCH):
            score += CLOSE_SCORE
    return score
