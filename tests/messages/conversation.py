"""Conversations to try shapes with: neutral ones, and the pieces that all providers share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from foreword.messages import anthropic, openai_chat
from foreword.messages.fields import FieldPath
from foreword.messages.message import Message, edit, keep, relabel
from foreword.messages.parts import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from foreword.messages.shapes import TABLE


def from_anthropic(value: Any, where: str = "messages") -> tuple[Message, ...]:
    """The messages of a request to Anthropic, or of a list, read in its shape."""
    messages = list[Message]()
    if isinstance(value, Mapping):
        if value.get("system"):
            system = {"role": "system", "content": value["system"]}
            messages.append(
                relabel(
                    anthropic.read_message(system, FieldPath(where, "system")), kind="system_prompt"
                )
            )
        value = value.get("messages")
    listed = FieldPath(where, "messages").each(value)
    return (*messages, *[anthropic.read_message(*each) for each in listed])


def from_openai(value: Any, where: str = "messages") -> tuple[Message, ...]:
    """The messages of a request to OpenAI's chat API, or of a list, read in its shape."""
    value = value.get("messages") if isinstance(value, Mapping) else value
    listed = FieldPath(where, "messages").each(value)
    return tuple([openai_chat.read_message(*each) for each in listed])


WRITERS = {shape.SHAPE: shape.write for shape in TABLE}

# what every provider takes
SENT = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXT = st.text(SENT, max_size=9)
ARGUMENTS = TEXT.filter(lambda text: not any(odd in text for odd in ("NaN", "Infinity", "\\u")))
NUMBERS = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(SENT, max_size=5)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(SENT, max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
OBJECTS = st.dictionaries(
    st.text(SENT, max_size=5), SCALARS | st.lists(SCALARS, max_size=2), max_size=2
)
WORDS = st.text(SENT, min_size=1, max_size=12).filter(str.strip)
BASE64 = st.sampled_from(["iVBORw0KGgo=", "//79+w==", "AAAA"])
NAMES = st.sampled_from(["read", "run_tests", "search"])


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any of these fields, or none."""
    return st.fixed_dictionaries({}, optional=fields)


def block(
    kind: str, more: st.SearchStrategy[dict[str, Any]] | None = None, **fields: Any
) -> st.SearchStrategy[Any]:
    """A dict of this type with these fields, and perhaps more."""
    strategies: dict[str, st.SearchStrategy[Any]] = {"type": st.just(kind)}
    for name, field in fields.items():
        strategies[name] = field if isinstance(field, st.SearchStrategy) else st.just(field)
    own = st.fixed_dictionaries(strategies)
    others = more if more is not None else st.just({})
    return st.builds(lambda one, other: {**one, **other}, own, others)


@st.composite
def conversations(
    draw: st.DrawFn, turn: Callable[[st.DrawFn, list[str], bool], list[Any]]
) -> list[Any]:
    """Turns of a conversation in which every call is answered; `turn` writes one, given the ids
    of its calls."""
    talk = list[Any]()
    number = 0
    turns = draw(st.lists(st.integers(0, 3), max_size=4))
    for at, calls in enumerate(turns):
        ids = [f"call_{number + each}" for each in range(calls)]
        number += calls
        talk += turn(draw, ids, at == len(turns) - 1)
    return talk


def neutral_turn(draw: st.DrawFn, ids: list[str], last: bool) -> list[Message]:
    """One turn without anything a provider might not have."""
    asked = Message("user", (Text(draw(WORDS)),))
    calls = list[Part]()
    for call_id in ids:
        arguments = json.dumps(draw(OBJECTS), ensure_ascii=False)
        calls.append(ToolCall(call_id, draw(NAMES), arguments))
    said: list[Part] = [Text(draw(WORDS))] if not calls or draw(st.booleans()) else []
    results = list[Message]()
    for call_id in draw(st.permutations(ids)):
        results.append(Message("tool", (ToolResult(call_id, draw(TEXT)),)))
    return [asked, Message("assistant", (*said, *calls)), *results]


NEUTRAL = conversations(neutral_turn)

ANY_TEXT = st.text(st.characters(), max_size=12)  # lone surrogates, too
SHAPES = st.sampled_from(["anthropic", "openai", "responses", "pydantic_ai"])


def messages_of(
    shapes: st.SearchStrategy[str], texts: st.SearchStrategy[str]
) -> st.SearchStrategy[Message]:
    """Messages that make no sense, with the JSON of these shapes."""

    def kept(parts: st.SearchStrategy[Part]) -> st.SearchStrategy[Part]:
        return parts | st.builds(
            lambda part, shape, raw: keep(edit(part), shape, raw), parts, shapes, OBJECTS
        )

    ids = st.sampled_from(["a", "b", ""])
    images = kept(st.builds(Image, media_type=st.just("image/png"), data=BASE64))
    opaques = kept(st.builds(Opaque, name=texts))
    rest = st.lists(images | opaques, max_size=2).map(tuple)
    thoughts = st.builds(
        Thinking, text=texts, signature=texts, redacted=st.booleans(), shape=shapes
    )
    results = st.builds(ToolResult, id=ids, text=texts, failed=st.booleans(), rest=rest)
    parts = st.one_of(
        kept(st.builds(Text, texts)),
        images,
        kept(thoughts),
        opaques,
        kept(st.builds(ToolCall, id=ids, name=texts, arguments=texts)),
        kept(results),
    )
    return st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        parts=st.lists(parts, max_size=4).map(tuple),
        kind=st.sampled_from(["conversation", "plan", "execution_result", "summary"]),
        tokens=st.none() | st.integers(0, 10**6),
    )


MESSAGES = messages_of(SHAPES, ANY_TEXT)
FOREIGN = st.lists(messages_of(st.just("elsewhere"), st.text(max_size=5)), max_size=4)
