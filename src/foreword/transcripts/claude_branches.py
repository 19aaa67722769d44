"""Lines of Claude Code's transcripts as a tree: which of them lead to the last one, and which were
rewound.

Only the whole file shows it. What a line says is read in `claude_code`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from foreword.transcripts.events import Line

# Lines that are looked at ahead for the one that a line follows. In real sessions it stands within
# ten; the same number bounds what a stream has in memory.
FARTHEST = 200
QUEUE = "queue-operation"  # the type of a line about words that wait for the agent


def with_rewound(lines: Sequence[Line]) -> Iterator[tuple[Line, bool]]:
    """Yield every line, and whether it was rewound. What was typed in mid-turn is a line, which
    goes the way of the one before it."""
    numbers = {id(value): number for number, value in lines}
    values = list(in_order(value for _, value in lines))
    rewound = _rewound_names(values)
    number = 0
    is_rewound = False
    for value in with_mid_turn_words(values):
        if id(value) in numbers:  # else it is made of what the queue says
            number = numbers[id(value)]
            is_rewound = uuid_of(value) in rewound
        yield (number, value), is_rewound


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
    begins a turn and has a line of its own.

    The agent takes it in together with the results that it is waiting for, and the queue says so
    before they are written: the words stand behind them, since nothing parts a call from its
    results.
    """
    queue = deque[str]()
    taken = list[Mapping[str, Any]]()  # lines that wait for the results in front of them
    count = 0
    reply = ""  # the name of the newest, which may be written in several lines
    for value in values:
        if value.get("type") == QUEUE:
            operation = value.get("operation")
            words = ""
            if operation == "enqueue":
                queue.append(str(value.get("content") or ""))
            elif operation not in ("dequeue", "remove"):
                queue.clear()  # the user took back what was waiting
            elif queue:
                words = queue.popleft()
            if words and operation == "remove":
                count += 1
                taken.append(_user_line(words, value, count))
                continue
        elif value.get("type") in ("user", "assistant") and not _result_ids(value):
            if not reply or reply_id(value) != reply:
                yield from taken
                taken.clear()
            reply = reply_id(value)
        yield value
    yield from taken


def _user_line(words: str, removal: Mapping[str, Any], count: int) -> Mapping[str, Any]:
    """A line of the user's with a name that is the same whenever the file is read."""
    time = str(removal.get("timestamp", ""))
    return {
        "type": "user",
        "uuid": f"{removal.get('sessionId', '')} {time} {count}",
        "timestamp": time,
        "message": {"role": "user", "content": words},
    }


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
