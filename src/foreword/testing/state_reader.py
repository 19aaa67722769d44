"""Read the current state out of a request, as a model has to: the parts where they were last whole,
and the lines that have changed since.

`state_in` is for scripted models and for tests that no change is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

STATE_TAGS = ("current_plan", "workflow_snapshot", "workflow_variables", "browser_state")
CHANGES = "state_changes"
_BLOCK = re.compile(
    rf"^<({'|'.join((*STATE_TAGS, CHANGES))})>\n(.*?)\n?</\1>$", re.DOTALL | re.MULTILINE
)
_STEP = re.compile(r'\.?([A-Za-z_]\w*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')
_REMOVED = " removed"


def state_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the current state by tag: plan and snapshot as JSON (nodes by their ids), variables
    and tabs as lines; without the parts that a request does not have. None is a part that is not
    there yet, or that had no room whole."""
    state = dict[str, Any]()
    for text in _texts(body):
        for block in _BLOCK.finditer(text):
            if block[1] == CHANGES:
                _apply_changes(state, block[2])
            else:
                state[block[1]] = _whole(block[1], block[2])
    return state


def is_state(message: Mapping[str, Any]) -> bool:
    """Return whether a message of a request is a state, whole or changed."""
    texts = list(_texts({"messages": [message]}))
    return bool(texts) and all(_BLOCK.match(text) for text in texts)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name in ("system", "messages", "content", "parts", "text"):
            yield from _texts(value.get(name))
    elif isinstance(value, Sequence):
        for member in value:
            yield from _texts(member)


def _whole(tag: str, text: str) -> Any:
    if tag in ("workflow_variables", "browser_state"):
        return _lines(text.split("\n"))
    try:
        value = json.loads(text)
    except ValueError:  # a few words that there is none
        return None
    if tag == "workflow_snapshot":
        value["nodes"] = {node["id"]: node for node in value["nodes"]}
    return value


def _lines(lines: Sequence[str]) -> list[str]:
    """Return the lines that name something."""
    return [line for line in lines if line.startswith("- ")]


def _name(line: str) -> str:
    return line.partition(" = ")[0].removesuffix(" (Active)")


def _apply_changes(state: dict[str, Any], text: str) -> None:
    tag = ""
    for line in text.split("\n"):
        if line.removesuffix(":") in STATE_TAGS:
            tag = line.removesuffix(":")
        elif tag and state.get(tag) is None:
            continue
        elif tag in ("workflow_variables", "browser_state"):
            _apply_named_line(state[tag], line)
        elif tag:
            _apply_line(state, tag, line)


def _apply_named_line(known: list[str], line: str) -> None:
    verb, _, rest = line.partition(": ")
    if verb == "removed" and rest in known:
        known.remove(rest)
        return
    if verb == "added":
        known.append(rest)
        return
    same = [place for place, other in enumerate(known) if _name(other) == _name(line)]
    if len(same) == 1 and line.startswith("- "):
        known[same[0]] = line
    else:
        known += _lines([line])


def _apply_line(state: dict[str, Any], tag: str, line: str) -> None:
    place: Any = state
    key: Any = tag
    end = 0
    while step := _STEP.match(line, end):
        place = place[key]
        name, index, quoted = step.groups()
        key = name or (int(index) if index else json.loads(quoted))
        end = step.end()
    if line[end:] == _REMOVED:
        del place[key]
        return
    value = json.loads(line[end:].removeprefix(" = "))
    if isinstance(place, list) and key == len(place):
        place.append(value)
    else:
        place[key] = value
