"""Shorten a huge result of a tool, in the tool's own shape: the same fields, some of their texts
cut, with a handle.

Claude Code takes a replacement for any tool, but only in the shape the tool itself answers in; of
most tools that shape is documented nowhere. So only those are touched whose texts we know, and a
result of a file that was read never is: its lines have numbers, and edits rely on them. What the
agent saves to a file itself, and would show two kilobytes of, is cut to about as much; where the
event has only its beginning, the whole is read from that file. The original is kept before anything
is answered. Codex takes no replacement.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from foreword.coding_agents.hook_events import HookEvent
from foreword.errors import ForewordError
from foreword.text.omission_mark import RECALL, cut_mark

if TYPE_CHECKING:
    from pathlib import Path

    from foreword.tokens import Counter

# A result beyond it is cut: 1.5% of a window of 200,000. The user sets another with `--budget`.
BUDGET_TOKENS = 3_000
# The most for a result that the agent saves to a file: without a replacement it shows two kilobytes
# of it, about 500 tokens. Half would hold little more than the marks of a cut.
SAVED_TOKENS = 1_000
# Bytes at the default budget: what is smaller is not even counted, however dense it is.
SMALL_BYTES = 8_000
MOST_BYTES_OF_CHAR = 4  # in UTF-8
TEXTS: Mapping[str, tuple[str, ...]] = {
    "Bash": ("stdout", "stderr"),
    "Grep": ("content",),
    "WebFetch": ("result",),
}
OF_MCP = "mcp__"
OURS = "mcp__foreword__"
# Fields that say where the agent has saved a result that is too long for it. An answer without them
# is taken as it is.
SAVED_PATH = "persistedOutputPath"
SAVED_TEXT = "stdout"  # what is in that file
SAVED = (SAVED_PATH, "persistedOutputSize")
LARGEST_SAVED = 32 * 1024 * 1024  # bytes of such a file that are read; its end is what is kept
# Characters from which on Claude Code saves a result to a file, ours too.
SAVED_CHARS = 30_000
MOST_CHARS = 28_000
LONGEST_QUERY = 2_000  # characters of the tool's input; a file's content may be in it

Place = tuple[str | int, ...]


def may_be_large(event: HookEvent, budget_tokens: int) -> bool:
    """Whether the result may be over its budget; cheap, and right about what it calls small."""
    found = texts_of(event)
    if found and saved_path(event):
        return True
    small = SMALL_BYTES * budget_tokens // BUDGET_TOKENS
    chars = sum(map(len, found.values()))
    if MOST_BYTES_OF_CHAR * chars <= small:
        return False
    return sum(len(text.encode("utf-8", "replace")) for text in found.values()) > small


def texts_of(event: HookEvent) -> dict[Place, str]:
    """The texts of a result that may be cut, by where they are in it; none where the result is
    left alone."""
    response = event.tool_response
    if event.tool.startswith(OF_MCP):
        return {} if event.tool.startswith(OURS) else _mcp_texts(response)
    if event.tool not in TEXTS or not isinstance(response, dict) or _is_spoken_for(event, response):
        return {}
    texts: dict[Place, str] = {}
    for name in TEXTS[event.tool]:
        text = response.get(name)
        if isinstance(text, str):
            texts[(name,)] = text
    return texts


def saved_path(event: HookEvent) -> str:
    """Where the agent has saved the whole result; empty where it has not."""
    response = event.tool_response
    path = response.get(SAVED_PATH) if isinstance(response, dict) else None
    return path if isinstance(path, str) else ""


def _is_spoken_for(event: HookEvent, response: Mapping[str, Any]) -> bool:
    """Whether a result is an image, or is what we were asked to bring back."""
    if response.get("isImage"):
        return True
    command = event.tool_input.get("command")
    return isinstance(command, str) and RECALL in command


def _mcp_texts(response: Any) -> dict[Place, str]:
    """A text, a list of content blocks, or an object that holds one of them and nothing
    structured besides."""
    if isinstance(response, dict) and not response.get("structuredContent"):
        blocks = _block_texts(response.get("content"))
        return {("content", *place): text for place, text in blocks.items()}
    return _block_texts(response)


def _block_texts(content: Any) -> dict[Place, str]:
    if isinstance(content, str):
        return {(): content}
    texts: dict[Place, str] = {}
    if isinstance(content, list):
        for index, block in enumerate(content):
            is_text = isinstance(block, dict) and block.get("type") == "text"
            if is_text and isinstance(block.get("text"), str):
                texts[(index, "text")] = block["text"]
    return texts


def shorten_result(event: HookEvent, root: Path, budget_tokens: int) -> dict[str, Any] | None:
    """The answer that replaces a result over its budget; nothing where it is within it."""
    from foreword import tokens
    from foreword.store import originals
    from foreword.store.urls import open_database

    counter = tokens.counter()
    found = _whole_texts(event, root)
    sizes = {place: counter.measure(text) for place, text in found.items()}
    saved = saved_path(event)
    note = f"\n[the whole output is in {saved}, too]" if saved else ""
    is_saved = bool(saved) or sum(map(len, found.values())) > SAVED_CHARS
    room = min(budget_tokens, SAVED_TOKENS) if is_saved else budget_tokens
    rooms = _rooms(sizes, max(0, room - counter.measure(note)))
    too_long = set[Place]()
    for place, text in found.items():
        if is_saved and len(text) > MOST_CHARS:
            rooms[place] = min(rooms[place], sizes[place] * MOST_CHARS // len(text))
        if sizes[place] > rooms[place]:
            too_long.add(place)
    if not too_long:
        return None
    updated = copy.deepcopy(event.tool_response)
    left = room
    with closing(open_database(None, root)) as db:
        for place, text in found.items():
            shorter = text
            if place in too_long:
                handle = originals.keep(db, text.encode("utf-8", "surrogatepass"))
                shorter = _excerpt(
                    text, rooms[place], counter=counter, handle=handle, query=_query(event)
                )
            if place == (SAVED_TEXT,):
                shorter += note
            left -= counter.measure(shorter)
            updated = _replace_text(updated, place, shorter)
    if left < 0:
        return None  # so many texts that their marks alone are too much
    if isinstance(updated, dict):
        for name in SAVED:
            updated.pop(name, None)
    return {"updatedToolOutput": updated}


def _whole_texts(event: HookEvent, root: Path) -> dict[Place, str]:
    """The texts of a result, whole where the agent has saved one and gives only its beginning."""
    texts = texts_of(event)
    path = saved_path(event)
    if path and (SAVED_TEXT,) in texts:
        from foreword.coding_agents import trusted_files

        try:
            raw = trusted_files.tail(trusted_files.real_path_of(path, root), LARGEST_SAVED)
        except ForewordError:
            return texts  # it is gone, or may not be read: the beginning is all there is
        texts[(SAVED_TEXT,)] = raw.decode("utf-8", "replace")
    return texts


def _rooms(sizes: Mapping[Place, int], room: int) -> dict[Place, int]:
    """Room for each text: the small ones as they are, the large ones an equal share of what is
    left."""
    rooms = dict[Place, int]()
    smallest_first = sorted(sizes, key=lambda place: sizes[place])
    for index, place in enumerate(smallest_first):
        waiting = len(smallest_first) - index
        rooms[place] = min(sizes[place], room // waiting)
        room -= rooms[place]
    return rooms


def _excerpt(text: str, room: int, *, counter: Counter, handle: str, query: str) -> str:
    from foreword.text import cut

    def mark(lines: int, units: int) -> str:
        return cut_mark(tokens=counter.tokens(units), handle=handle, lines=lines)

    def escaped_size(part: str) -> int:
        return counter.measure(json.dumps(part, ensure_ascii=False))

    inner = _long_member(text)
    if inner is None:
        shorter = cut.excerpt(text, room, counter.measure, mark, query=query)
        return mark(0, counter.measure(text)) if shorter is None else shorter
    values, name = inner
    whole = values[name]
    room -= counter.measure(json.dumps({**values, name: ""}, ensure_ascii=False))
    shorter = cut.excerpt(whole, max(1, room), escaped_size, mark, query=query)
    values[name] = mark(0, counter.measure(whole)) if shorter is None else shorter
    return json.dumps(values, ensure_ascii=False)


def _long_member(text: str) -> tuple[dict[str, Any], str] | None:
    """Of a text that is a JSON object, the object and the name of the text that makes most of it:
    a typed answer of an MCP server comes so, with all of its lines in one."""
    if not text.startswith("{"):
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    if not texts:
        return None
    longest = max(texts, key=lambda name: len(texts[name]))
    return (values, longest) if len(texts[longest]) > len(text) // 2 else None


def _replace_text(value: Any, place: Place, text: str) -> Any:
    """Put another text at a place in a value; returns the value."""
    if not place:
        return text
    inner = value
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = text
    return value


def _query(event: HookEvent) -> str:
    """What was asked for: lines that answer it are kept first."""
    words = [value for value in event.tool_input.values() if isinstance(value, str)]
    return " ".join(words)[:LONGEST_QUERY]
