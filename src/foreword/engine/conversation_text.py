"""Write a stretch of a conversation once, so that the next call only has to put it beside what is
new.

Pure. A stretch is messages that belong together: a tool call with its results, or one message. What
is written here is what is counted; where a stretch is too large for its room, its longest words are
cut and leave a handle.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from foreword.engine.boundaries import escape_boundaries
from foreword.engine.render import Scale, turn_text
from foreword.engine.report import Omission
from foreword.message import (
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    carried,
    mend,
    part_text,
)
from foreword.section import Entry, handle_of
from foreword.text import cut
from foreword.text.lookalikes import Lookalike

LONGEST_ARGUMENT = 400  # characters of a value in a tool call that has to be shortened
LEAST_UNITS_TOKENS = 60
TRIES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationText:
    """A stretch as it stands in the text."""

    entry: Entry
    units: int
    images: int = 0
    carried: int = 0  # tokens of what goes along besides the words: documents, thoughts
    notes: tuple[str, ...] = ()  # what had to be mended
    cuts: tuple[Omission, ...] = ()
    originals: tuple[tuple[str, bytes], ...] = ()  # of what was cut, by handle
    forged: str = ""  # what read as a boundary tag and was made harmless
    cleaned: str = ""  # which characters had to be replaced
    alike: Lookalike | None = None  # what looks like a boundary tag


def write(
    messages: Sequence[Message], scale: Scale, tag: str, *, newest: bool = False
) -> ConversationText:
    """A stretch whole; in one that is not the newest, a call that was never answered is answered
    now."""
    more = [] if newest else [Message("user", ())]
    mended, notes = mend([*messages, *more])
    if not newest:
        mended = mended[:-1]
    own = replace(scale, forged={}, cleaned={}, alike={})
    text = "".join(
        f"{turn_text(message.role, own.safe(message.text, tag))}\n" for message in mended
    )
    images = sum(message.images for message in mended)
    beside = sum(
        scale.counter.count(carried(escape_boundaries(message, scale.pattern)))
        for message in mended
    )
    return ConversationText(
        entry=Entry(text, tuple(mended)),
        units=scale.counter.measure(text),
        images=images,
        carried=beside,
        notes=tuple(notes),
        forged=own.forged.get(tag, ""),
        cleaned=own.cleaned.get(tag, ""),
        alike=own.alike.get(tag),
    )


def shorten_stretch(
    messages: Sequence[Message], scale: Scale, tag: str, tokens: int, *, newest: bool = False
) -> ConversationText:
    """A stretch within so many tokens, or as near to it as it gets: the longest words are cut
    first."""
    whole = write(
        [_lighter(message, tokens, scale) for message in messages], scale, tag, newest=newest
    )
    room, parts = (
        scale.counter.room(tokens),
        [list(message.parts) for message in whole.entry.messages],
    )
    cuts, originals, written = list[Omission](), dict[str, bytes](), whole
    for _ in range(TRIES):
        over = written.units - room
        places = [
            (i, j) for i, row in enumerate(parts) for j, part in enumerate(row) if _size(part)
        ]
        if over <= 0 or not places:
            break
        i, j = max(places, key=lambda place: _size(parts[place[0]][place[1]]))
        before = _words(parts[i][j])
        units = scale.counter.measure(before)
        least = scale.counter.room(LEAST_UNITS_TOKENS)
        if units <= least:
            break
        handle = handle_of(before.encode("utf-8", "surrogatepass"))
        parts[i][j] = _cut(parts[i][j], max(least, units - over - least // 2), scale, handle)
        lost = scale.counter.tokens(units) - scale.counter.count(_words(parts[i][j]))
        if lost <= 0:
            break
        originals[handle] = before.encode("utf-8", "surrogatepass")
        cuts.append(
            Omission(
                tag=tag,
                what=f"part of {_named(parts[i][j])}",
                tokens=lost,
                reason="larger than its room",
                handle=handle,
            )
        )
        shorter = [
            replace(message, parts=tuple(row))
            for message, row in zip(whole.entry.messages, parts, strict=True)
        ]
        written = write(shorter, scale, tag, newest=newest)
    return replace(written, notes=whole.notes, cuts=tuple(cuts), originals=tuple(originals.items()))


def _lighter(message: Message, tokens: int, scale: Scale) -> Message:
    """The message with a mark in place of documents and thoughts that would take more than half
    of the room."""
    most = max(1, tokens // 2)
    if scale.counter.count(carried(message)) <= most:
        return message
    kept = [part for part in message.parts if not isinstance(part, Opaque | Thinking)]
    lost = [
        Text(f"[left out, too large: {part_text(part).strip('[]') or 'a thought'}]")
        for part in message.parts
        if isinstance(part, Opaque | Thinking)
    ]
    parts = [
        replace(part, rest=tuple(one for one in part.rest if not isinstance(one, Opaque)))
        if isinstance(part, ToolResult)
        else part
        for part in kept
    ]
    return replace(message, parts=(*parts, *lost))


def _size(part: Part) -> int:
    return len(_words(part))


def _words(part: Part) -> str:
    match part:
        case Text(text=text) | ToolResult(text=text):
            return text
        case ToolCall(arguments=arguments):
            return arguments
        case _:
            return ""


def _named(part: Part) -> str:
    match part:
        case ToolResult(id=call):
            return f"the result of call {call!r}"
        case ToolCall(id=call):
            return f"the arguments of call {call!r}"
        case _:
            return "a message"


def _cut(part: Part, room: int, scale: Scale, handle: str) -> Part:
    def mark(lines: int, units: int) -> str:
        what = f"{lines:,} lines, " if lines > 1 else ""
        return (
            f"[... {what}{scale.counter.tokens(units):,} tokens left out: foreword recall {handle}]"
        )

    match part:
        case Text(text=text) | ToolResult(text=text):
            shorter = cut.excerpt(text, room, scale.counter.measure, mark, scale.task)
            return replace(
                part, text=mark(0, scale.counter.measure(text)) if shorter is None else shorter
            )
        case ToolCall(arguments=arguments):
            whole = mark(0, scale.counter.measure(arguments))
            return replace(part, arguments=_fewer_arguments(arguments, whole))
        case _:
            return part


def _fewer_arguments(arguments: str, mark: str) -> str:
    """The arguments of a call with long values cut; still JSON, and still the same names."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return json.dumps({"arguments": mark})
    shorter = {name: _short(one, mark) for name, one in value.items()}
    written = json.dumps(shorter, ensure_ascii=False)
    return written if len(written) < len(arguments) else json.dumps({"arguments": mark})


def _short(value: object, mark: str) -> object:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST_ARGUMENT else f"{text[: LONGEST_ARGUMENT // 2]} {mark}"
