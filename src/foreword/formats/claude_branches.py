"""Lines of Claude Code's transcripts as a tree: which of them lead to the last one, and which were
rewound.

Only the whole file shows it. What a line says is read in `transcripts`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

# Lines that are looked at ahead for the one that a line follows. In real sessions it stands within
# ten; the same number bounds what a stream has in memory.
FARTHEST = 200
Line = tuple[int, Mapping[str, Any]]  # its number, and its object


def with_rewound(lines: Iterator[Line]) -> Iterator[tuple[Line, bool]]:
    """Every line, and whether it was rewound; from the first that follows another one on, all
    are read before."""
    for line in lines:
        if "parentUuid" in line[1]:
            rest = _numbered_in_order([line, *lines])
            rewound = _rewound_names([value for _, value in rest])
            for number, value in rest:
                yield (number, value), uuid_of(value) in rewound
            return
        yield line, False


def in_order(values: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The lines, none before the one it follows: results that come back at once are sometimes
    written before the calls they answer.

    A line waits for the one it follows only if that one stands close behind it.
    """
    names = set[str]()
    waiting = dict[str, list[Mapping[str, Any]]]()  # lines by the name of the one they follow
    held = deque[Mapping[str, Any]]()
    ahead = deque[Mapping[str, Any]]()
    coming = set[str]()
    source = iter(values)
    while True:
        while len(ahead) < FARTHEST and (line := next(source, None)) is not None:
            ahead.append(line)
            coming.add(uuid_of(line))
        if not ahead:
            break
        line = ahead.popleft()
        parent = str(line.get("parentUuid") or "")
        if parent and parent not in names and parent in coming:
            waiting.setdefault(parent, []).append(line)
            continue
        held.append(line)
        while held:
            line = held.popleft()
            yield line
            name = uuid_of(line)
            names.add(name)
            coming.discard(name)
            held.extend(waiting.pop(name, ()))
    for lines in waiting.values():  # they follow each other in a circle
        yield from lines


def with_mid_turn_words(values: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The lines, with what a user typed in the middle of a turn as a line of the user's where the
    agent took it in: of that only the queue tells (`enqueue`, then `remove`). What is dequeued
    begins a turn and has a line of its own."""
    queue = deque[str]()
    for value in values:
        if value.get("type") != "queue-operation":
            yield value
        elif value.get("operation") == "enqueue":
            queue.append(str(value.get("content") or ""))
        elif value.get("operation") not in ("dequeue", "remove"):
            queue.clear()  # the user took back what was waiting
        elif queue:
            words = queue.popleft()
            if words and value["operation"] == "remove":
                message = {"role": "user", "content": words}
                yield {"type": "user", "timestamp": value.get("timestamp", ""), "message": message}


def _numbered_in_order(lines: Sequence[Line]) -> list[Line]:
    numbers = {id(value): number for number, value in lines}
    return [(numbers[id(value)], value) for value in in_order(value for _, value in lines)]


def _rewound_names(values: Iterable[Mapping[str, Any]]) -> set[str]:
    """The names of the lines that branch off from those that lead to the last one.

    Several calls of one reply are lines of their own, and each result follows its own call: these
    are no branches.
    """
    lines = {uuid_of(value): value for value in values if not value.get("isSidechain")}
    lines.pop("", None)
    current = _names_to_last(lines)
    replies = {reply_id(lines[name]) for name in current} - {""}
    current |= {name for name, value in lines.items() if reply_id(value) in replies}
    calls = set[str]()
    results = set[str]()
    for name in current:
        calls |= _call_ids(lines[name])
        results |= _result_ids(lines[name])
    missing = calls - results
    current |= {name for name, value in lines.items() if missing & _result_ids(value)}
    rewound = set[str]()
    for name, value in lines.items():  # what a line follows stands before it
        parent = _parent_uuid(value)
        if name not in current and (parent in rewound or parent in current):
            rewound.add(name)
    return rewound


def _names_to_last(lines: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The names of the last line and of all that lead to it."""
    names = set[str]()
    name = list(lines)[-1] if lines else ""
    while name in lines and name not in names:
        names.add(name)
        name = _parent_uuid(lines[name])
    return names


def uuid_of(value: Mapping[str, Any]) -> str:
    """The name of a line; nothing where it has none."""
    return str(value.get("uuid") or "")


def _parent_uuid(value: Mapping[str, Any]) -> str:
    return str(value.get("parentUuid") or value.get("logicalParentUuid") or "")


def reply_id(value: Mapping[str, Any]) -> str:
    """The name of the reply that a line is a piece of."""
    message = value.get("message")
    return str(message.get("id") or "") if isinstance(message, Mapping) else ""


def _call_ids(value: Mapping[str, Any]) -> set[str]:
    return {str(block.get("id")) for block in _blocks(value, "tool_use")}


def _result_ids(value: Mapping[str, Any]) -> set[str]:
    return {str(block.get("tool_use_id")) for block in _blocks(value, "tool_result")}


def _blocks(value: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    """The blocks of that type in the message of a line."""
    message = value.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list):
        return
    for block in content:
        if isinstance(block, Mapping) and block.get("type") == kind:
            yield block
