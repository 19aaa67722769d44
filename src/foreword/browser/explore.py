"""What there is to use on a page, ranked against an instruction, without a model.

Every frame is read once (`frame_content`); every selector that is given out was tried and leads to
exactly its element. Values of fields that hold secrets are hidden. A page that is still loading is
waited for, not for long, and said to be.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from foreword.browser.dom import is_secret_field
from foreword.browser.element_ranking import ranking
from foreword.browser.frame_content import FrameContent, frame_contents
from foreword.browser.page_script import READ_SECONDS
from foreword.secrets.masking import HIDDEN, mask

if TYPE_CHECKING:
    from playwright.async_api import Page

# A model reads all of a result: 40 elements hold what most forms and lists have to use, and the
# result says how many more there are. The caller may ask for another number.
MOST_ELEMENTS = 40
MOST_SIMILAR = 3  # selectors in an error, to choose from at a glance
# Elements among which `similar` looks: more than a result has, since nobody reads them.
SIMILAR_AMONG = 60
MOST_LISTED = 12  # headings, alerts, forms and kinds of rows in a result
# How long a page that says it is loading is waited for, and how often it is looked at. JupyterLab
# shows its splash for 2 to 4 s here; at double, a page that always spins costs too much.
LOADING_SECONDS = 4.0
LOOK_AGAIN_SECONDS = 0.25
# Until a page with scripts is this old, it is looked at until it stays the same so many times: what
# it shows at first is often an empty frame, as of Streamlit, which fills it a second later.
YOUNG_SECONDS = 3.0
SAME_LOOKS = 2
CLOSE_MATCH = 0.75  # of difflib's ratio: lets one letter of four be another one
CLOSE_SCORE = 0.6  # of a word that is close, where the word itself counts 1


async def explore_page(page: Page, instruction: str, limit: int) -> dict[str, Any]:
    """Elements with selectors, best first; headings, alerts, forms and rows that are alike."""
    frames = await _ready_frames(page)
    elements = _all_elements(frames)
    order = ranking(elements, instruction, limit)
    best = await _element_results(frames, [elements[at] for at in order])
    left_out = len(elements) - len(order) + sum(frame.facts["passed"] for frame in frames)
    result: dict[str, Any] = {}
    if frames[0].facts["busy"]:
        result["loading"] = f"the page is still loading: {frames[0].facts['busy']}"
    covers = [mask(frame.facts["cover"]) for frame in frames if frame.facts["cover"]]
    if covers:
        result["covered"] = covers[0]
    lists = {
        "headings": _texts(frames, "headings"),
        "alerts": _texts(frames, "alerts"),
        "errors": _texts(frames, "errors"),
        "forms": _forms(frames),
        "rows": await _all_rows(frames),
    }
    result |= {name: values for name, values in lists.items() if values}
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


async def _ready_frames(page: Page) -> list[FrameContent]:
    """What a page shows when it says no longer that it is loading and, if it is new, stays the
    same; or when its time is over."""
    clock = asyncio.get_running_loop().time
    end = clock() + LOADING_SECONDS
    frames = await frame_contents(page)
    same = 0
    while clock() < end:
        facts = frames[0].facts
        is_new = (facts["age"] or YOUNG_SECONDS) < YOUNG_SECONDS
        if not facts["busy"] and (same >= SAME_LOOKS or not is_new):
            break
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
        before = _shape(frames)
        frames = await frame_contents(page)
        same = same + 1 if _shape(frames) == before else 0
    return frames


def _shape(frames: Sequence[FrameContent]) -> list[tuple[str, str]]:
    """Role and name of everything on a page."""
    shape = []
    for frame in frames:
        for element in frame.facts["elements"]:
            shape.append((element["fact"]["role"], element["fact"]["name"]))
    return shape


def _all_elements(frames: Sequence[FrameContent]) -> list[dict[str, Any]]:
    """The elements of all frames, each with the number of its frame and its own in it."""
    elements = []
    for number, frame in enumerate(frames):
        for at, element in enumerate(frame.facts["elements"]):
            form = (number, element["form"]) if element["form"] >= 0 else None
            elements.append({**element, "form": form, "frame_number": number, "at": at})
    return elements


async def _element_results(
    frames: Sequence[FrameContent], elements: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Elements as a result tells of them, in the same order; one that is gone meanwhile is not
    among them."""
    places = _places(elements)
    numbers: list[list[int]] = [[] for _ in frames]
    for element in elements:
        numbers[element["frame_number"]].append(element["at"])
    asking = [frame.selectors(wanted) for frame, wanted in zip(frames, numbers, strict=True)]
    answers = await asyncio.gather(*asking)
    selectors: dict[tuple[int, int], str] = {}
    for number, (wanted, found) in enumerate(zip(numbers, answers, strict=True)):
        for at, selector in zip(wanted, found, strict=True):
            selectors[number, at] = selector
    results = []
    for element, place in zip(elements, places, strict=True):
        selector = selectors[element["frame_number"], element["at"]]
        if selector:
            results.append({"selector": selector, **_element_result(element, place)})
    return results


def _element_result(element: dict[str, Any], place: str) -> dict[str, Any]:
    """An element as a result tells of it, without secrets."""
    fact = dict(element["fact"])
    field_id, name, autocomplete = element["about"]
    about = {
        "type": fact.get("type"),
        "id": field_id,
        "name": name,
        "autocomplete": autocomplete,
        "label": fact["name"] or fact.get("near", ""),
    }
    # What a list shows is one of the page's own words, and never typed.
    if fact.get("value") and "options" not in fact and is_secret_field(about):
        fact["value"] = HIDDEN
    result: dict[str, Any] = {}
    for key, value in fact.items():
        result[key] = mask(value) if isinstance(value, str) else value
    row = element["row"]["text"] if element["row"] and not element["row"]["menu"] else ""
    if row not in ("", fact["name"]):
        result["row"] = mask(row)
    elif place:
        result["in"] = mask(place)
    return result


def _places(elements: Sequence[dict[str, Any]]) -> list[str]:
    """For elements that share their role and name with others, what tells them apart: the place
    that each is in, or the heading before it."""
    levels: list[list[str]] = []
    for element in elements:
        named = [f"{role} {name}" for role, name in element["inside"]]
        levels.append([*named, element["heading"]])
    keys = [(element["fact"]["role"], element["fact"]["name"]) for element in elements]
    counts = Counter(keys)
    places = []
    for key, own, element in zip(keys, levels, elements, strict=True):
        if element["alone"] and counts[key] == 1:
            places.append("")
            continue
        others = [found for other, found in zip(keys, levels, strict=True) if other == key]
        places.append(_distinctive(own, others))
    return places


def _distinctive(own: Sequence[str], others: Sequence[Sequence[str]]) -> str:
    """The nearest place that the fewest others are in as well."""
    best = ""
    fewest = len(others) + 1
    for place in own:
        sharing = sum(place in other for other in others)
        if place and sharing < fewest:
            best = place
            fewest = sharing
    return best


async def _all_rows(frames: Sequence[FrameContent]) -> list[dict[str, Any]]:
    """The kinds of rows that are on a page, tables and lists before menus, those of each frame at
    once."""
    reading = []
    for frame in frames:
        kinds = sorted(frame.facts["rows"], key=lambda row: row["menu"])
        reading += [_rows(frame, row) for row in kinds[:MOST_LISTED]]
    found = await asyncio.gather(*reading)
    return [rows for rows in found if rows is not None][:MOST_LISTED]


async def _rows(content: FrameContent, row: Mapping[str, Any]) -> dict[str, Any] | None:
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
    cells = []
    for cell_selector, text, *column in row["cells"]:
        cell = {"selector": cell_selector, "text": mask(text)}
        cells.append({"column": mask(column[0]), **cell} if column else cell)
    if cells and not row["menu"]:
        result["cells"] = cells
    return result


def _texts(frames: Sequence[FrameContent], kind: str) -> list[str]:
    texts = []
    for frame in frames:
        texts += [mask(text) for text in frame.facts[kind] if text]
    return list(dict.fromkeys(texts))[:MOST_LISTED]


def _forms(frames: Sequence[FrameContent]) -> list[dict[str, Any]]:
    forms = []
    for frame in frames:
        for form in frame.facts["forms"]:
            if form["fields"] or form["name"]:
                told = {"selector": frame.prefix + form["selector"], "fields": form["fields"]}
                forms.append({"name": mask(form["name"]), **told} if form["name"] else told)
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
