"""What a provider would refuse, found before it is sent: rules of Anthropic's and OpenAI's message
formats.

Each check returns the problems it finds, in words, so that a failing test names what is wrong with
which message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import foreword

MOST_BREAKPOINTS = 4  # that Anthropic takes in one request
Shaped = Mapping[str, Any]


def problems(package: foreword.Package) -> list[str]:
    """Every reason for which either provider would refuse the package."""
    found = list[str]()
    for problem in anthropic_problems(package.to_anthropic()):
        found.append(f"anthropic: {problem}")
    for problem in openai_problems(package.to_openai()):
        found.append(f"openai: {problem}")
    return found


def anthropic_problems(request: Shaped) -> Iterator[str]:
    """Why Anthropic would refuse a request."""
    messages = request["messages"]
    blocks = list(request["system"])
    for message in messages:
        blocks += message["content"]
    yield from _breakpoint_problems(blocks)
    if not messages:
        yield "there is no message"
    yield from _turn_problems([message["role"] for message in messages])
    for at, message in enumerate(messages):
        for problem in _block_problems(message):
            yield f"message {at} {problem}"
        asked = _calls(message)
        if len(set(asked)) < len(asked):
            yield f"message {at} uses an id twice"
        answered = _results(messages[at + 1]) if at + 1 < len(messages) else []
        if sorted(asked) != sorted(answered):
            yield f"message {at} asks {asked}, the next answers {answered}"
    if messages and _results(messages[0]):
        yield f"message 0 answers {_results(messages[0])}, which nobody asked"


def _turn_problems(roles: Sequence[str]) -> Iterator[str]:
    """The user begins, and they take turns; the system speaks behind the user, and in front of
    the assistant or at the end."""
    for at, role in enumerate(roles):
        before = roles[at - 1] if at else ""
        after = roles[at + 1] if at + 1 < len(roles) else "assistant"
        if role == "system":
            if before != "user" or after != "assistant":
                yield f"message {at} is the system's, between {before} and {after}"
        elif role == "assistant":
            if before not in ("user", "system"):
                yield f"message {at} is the assistant's, behind {before}"
        elif role != "user" or before not in ("", "assistant"):
            yield f"message {at} is the {role}'s, behind {before}"


def _block_problems(message: Shaped) -> Iterator[str]:
    if not message["content"]:
        yield "is empty"
    kinds = [block["type"] for block in message["content"]]
    for block in message["content"]:
        if block["type"] == "text" and not block["text"].strip():
            yield "has an empty text"
    results = [place for place, kind in enumerate(kinds) if kind == "tool_result"]
    if results != list(range(len(results))):
        yield "has something in front of its results"
    if kinds and message["role"] == "assistant" and "thinking" in kinds[-1]:
        yield "ends with a thought"


def _breakpoint_problems(blocks: Sequence[Shaped]) -> Iterator[str]:
    everything = list(blocks)
    for block in blocks:
        if isinstance(block.get("content"), list):
            everything += block["content"]
    marked = [block for block in everything if "cache_control" in block]
    if len(marked) > MOST_BREAKPOINTS:
        yield f"{len(marked)} cache breakpoints"
    if any("thinking" in block["type"] for block in marked):
        yield "a cache breakpoint on a thought"


def _calls(message: Shaped) -> list[str]:
    return [block["id"] for block in message["content"] if block["type"] == "tool_use"]


def _results(message: Shaped) -> list[str]:
    return [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]


def openai_problems(messages: Sequence[Shaped]) -> Iterator[str]:
    """Why OpenAI would refuse a list of messages."""
    waiting: list[str] = []
    for at, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield (
                    f"message {at} answers {message['tool_call_id']!r}, which nobody asked right"
                    " before"
                )
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"message {at} stands between a call and its result ({waiting})"
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        if message["content"] in (None, []) and not waiting:
            yield f"message {at} is empty"
    if waiting:
        yield f"the last calls have no results: {waiting}"
