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
    # no token is less than a byte
    return sum(len(_encode(text)) for text in found.values()) > budget_tokens


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
    """The answer that replaces a result over its budget; nothing where it is within it.

    Of so many texts that their marks alone are too much, one excerpt of all is put in the place of
    the first, and the others are empty: the result keeps its shape.
    """
    from foreword import tokens
    from foreword.store import originals
    from foreword.store.urls import open_database

    counter = tokens.counter()
    found = _whole_texts(event, root)
    saved = saved_path(event)
    note = f"\n[the whole output is in {saved}, too]" if saved else ""
    is_saved = bool(saved) or sum(map(len, found.values())) > SAVED_CHARS
    room = min(budget_tokens, SAVED_TOKENS) if is_saved else budget_tokens
    room = max(0, room - counter.measure(note))
    most_chars = MOST_CHARS if is_saved else None

    def shorten(texts: Mapping[Place, str]) -> tuple[dict[Place, str], list[str]]:
        return _shorten(texts, room, most_chars, counter=counter, query=_query(event))

    def size(texts: Mapping[Place, str]) -> int:
        return sum(map(counter.measure, texts.values()))

    shorter, cut = shorten(found)
    if cut and size(shorter) > room:
        first, *others = found
        shorter, cut = shorten({first: "\n".join(filter(None, found.values()))})
        shorter |= dict.fromkeys(others, "")
    if not cut or size(shorter) >= size(found):
        return None
    with closing(open_database(None, root)) as db:
        for text in cut:
            originals.keep(db, _encode(text))
    updated = copy.deepcopy(event.tool_response)
    for place, text in shorter.items():
        updated = _replace_text(updated, place, text + note if place == (SAVED_TEXT,) else text)
    if isinstance(updated, dict):
        for name in SAVED:
            updated.pop(name, None)
    return {"updatedToolOutput": updated}


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


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


def _shorten(
    texts: Mapping[Place, str], room: int, most_chars: int | None, *, counter: Counter, query: str
) -> tuple[dict[Place, str], list[str]]:
    """The texts, those cut that are larger than their share of the room, and which were cut."""
    sizes = {place: counter.measure(text) for place, text in texts.items()}
    rooms = _rooms(sizes, room)
    shorter = dict(texts)
    cut = list[str]()
    for place, text in texts.items():
        if most_chars and len(text) > most_chars:
            rooms[place] = min(rooms[place], sizes[place] * most_chars // len(text))
        if sizes[place] > rooms[place]:
            cut.append(text)
            shorter[place] = _excerpt(text, rooms[place], counter=counter, query=query)
    return shorter, cut


def _excerpt(text: str, room: int, *, counter: Counter, query: str) -> str:
    from foreword.section import handle_of
    from foreword.text import cut

    handle = handle_of(_encode(text))

    def mark(lines: int, units: int) -> str:
        return cut_mark(tokens=counter.tokens(units), handle=handle, lines=lines)

    def escaped_size(part: str) -> int:
        return counter.measure(json.dumps(part, ensure_ascii=False))

    inner = _long_member(text)
    if inner is not None:
        values, name = inner
        whole = values[name]
        others = counter.measure(json.dumps({**values, name: ""}, ensure_ascii=False))
        shorter = cut.excerpt(whole, max(1, room - others), escaped_size, mark, query=query)
        values[name] = mark(0, counter.measure(whole)) if shorter is None else shorter
        written = json.dumps(values, ensure_ascii=False)
        if counter.measure(written) <= room:
            return written
    shorter = cut.excerpt(text, room, counter.measure, mark, query=query)
    return mark(0, counter.measure(text)) if shorter is None else shorter


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
