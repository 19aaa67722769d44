"""Write a stretch of a conversation once: the next call only puts it beside what is new.

Pure. A stretch is messages that belong together: a tool call with its results, or one message. What
is written here is what is counted; where a stretch is too large for its room, its longest words are
cut and leave a handle.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from foreword.engine.boundaries import data_to_send
from foreword.engine.forms import recall_mark
from foreword.engine.render import Scale, message_text
from foreword.engine.report import Omission
from foreword.messages.blocks import data_beside_words
from foreword.messages.call_pairs import is_opaque_answer, mend
from foreword.messages.message import Message, edit
from foreword.messages.parts import (
    Image,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    opaque_mark,
    part_text,
)
from foreword.section import Entry, handle_of
from foreword.text import cut
from foreword.text.lookalikes import Lookalike
from foreword.text.omission_mark import too_large_mark

# Characters of a value in a tool call that has to be shortened; half of them stay in front of the
# mark. Names, paths and numbers are shorter and stay whole; what is longer is a file's content.
LONGEST_ARGUMENT = 400
# No part is cut below this: there would be little but the mark. In a room of not even two such
# parts it is each part's share.
LEAST_PART_TOKENS = 60
TRIES = 40  # cuts of one stretch, each of its longest part: one that can't fit comes to an end, too


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationText:
    """A stretch as it stands in the text."""

    entry: Entry
    units: int
    images: int = 0
    data_tokens: int = 0  # of what goes along besides the words: documents, thoughts
    notes: tuple[str, ...] = ()  # what had to be mended
    cuts: tuple[Omission, ...] = ()
    originals: tuple[tuple[str, bytes], ...] = ()  # of what was cut, by handle
    forged: str = ""  # what read as a boundary tag and was made harmless
    cleaned: str = ""  # which characters had to be replaced
    alike: Lookalike | None = None  # what looks like a boundary tag


def write_stretch(
    messages: Sequence[Message], scale: Scale, tag: str, *, newest: bool = False
) -> ConversationText:
    """A stretch whole; in one that is not the newest, a call that was never answered is answered
    now."""
    if newest:
        mended, notes = mend(messages)
    else:
        # One more message behind it makes an open call one that was never answered.
        mended, notes = mend([*messages, Message("user", ())])
        mended = mended[:-1]
    own = scale.without_notices()
    turns: list[str] = []
    data_tokens = 0
    for message in mended:
        turns.append(message_text(message, lambda text: own.safe(text, tag)) + "\n")
        data_tokens += scale.counter.count(data_to_send(message, scale.pattern))
    text = "".join(turns)
    return ConversationText(
        entry=Entry(text, tuple(mended)),
        units=scale.counter.measure(text),
        images=sum(message.images for message in mended),
        data_tokens=data_tokens,
        notes=tuple(notes),
        forged=own.forged.get(tag, ""),
        cleaned=own.cleaned.get(tag, ""),
        alike=own.alike.get(tag),
    )


def shorten_stretch(
    messages: Sequence[Message],
    scale: Scale,
    tag: str,
    tokens: int,
    *,
    newest: bool,
    handle: str = "",
) -> ConversationText:
    """A stretch within so many tokens, or as near to it as it gets: the longest words are cut
    first. Marks name the handle, or one of the words that were cut."""
    lighter = _lighter_stretch(messages, tokens, scale)
    whole = write_stretch(lighter, scale, tag, newest=newest)
    room = scale.counter.room(tokens)
    parts = [list(message.parts) for message in whole.entry.messages]
    least_tokens = LEAST_PART_TOKENS
    if tokens < 2 * LEAST_PART_TOKENS:
        least_tokens = min(LEAST_PART_TOKENS, tokens // max(1, sum(map(len, parts))))
    least = scale.counter.room(least_tokens)
    cuts: list[Omission] = []
    originals: dict[str, bytes] = {}
    written = whole
    for _ in range(TRIES):
        over = written.units - room
        longest = _longest_part(parts)
        if over <= 0 or longest is None:
            break
        row, place = longest
        before = _words(row[place])
        units = scale.counter.measure(before)
        if units <= least:
            break
        original = before.encode("utf-8", "surrogatepass")
        own = handle or handle_of(original)
        row[place] = _cut(row[place], max(least, units - over - least // 2), scale, own)
        lost = scale.counter.tokens(units) - scale.counter.count(_words(row[place]))
        if lost <= 0:
            break
        if not handle:
            originals[own] = original
        cuts.append(
            Omission(
                tag=tag,
                what=f"part of {_part_name(row[place])}",
                tokens=lost,
                reason="larger than its room",
                handle=own,
            )
        )
        shorter: list[Message] = []
        for message, own_parts in zip(whole.entry.messages, parts, strict=True):
            shorter.append(edit(message, parts=tuple(own_parts)))
        written = write_stretch(shorter, scale, tag, newest=newest)
    return replace(written, notes=whole.notes, cuts=tuple(cuts), originals=tuple(originals.items()))


def _longest_part(parts: list[list[Part]]) -> tuple[list[Part], int] | None:
    """The message with the longest words and their place in it; the first of equals."""
    longest = None
    most = 0
    for row in parts:
        for place, part in enumerate(row):
            size = len(_words(part))
            if size > most:
                longest = (row, place)
                most = size
    return longest


def _lighter_stretch(messages: Sequence[Message], tokens: int, scale: Scale) -> list[Message]:
    """The messages without documents and thoughts that would take more than half of the room.

    A provider takes no answer without the call that only it reads, and no item with an id without
    the thought that it came with: what only it reads goes together, and ids go with a thought.
    """
    most = max(1, tokens // 2)
    heavy = [_data_tokens(message, scale) > most for message in messages]
    if any(heavy) and any(_has_provider_items(message) for message in messages):
        heavy = [True] * len(messages)
    lighter: list[Message] = []
    for message, is_heavy in zip(messages, heavy, strict=True):
        lighter.append(_lighter(message) if is_heavy else message)
    if _thoughts(lighter) == _thoughts(messages):
        return lighter
    from foreword.messages.openai_responses import without_item_ids  # few stretches need it

    return [without_item_ids(message) for message in lighter]


def _has_provider_items(message: Message) -> bool:
    if message.role == "assistant":
        return any(isinstance(part, Opaque) for part in message.parts)
    return is_opaque_answer(message)


def _data_tokens(message: Message, scale: Scale) -> int:
    """What a message takes besides its words."""
    return scale.counter.count(data_beside_words(message) + "".join(_attached_words(message)))


def _lighter(message: Message) -> Message:
    """The message without documents and thoughts: in place of a document stand its words, which
    can be cut, and of all else a mark."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, Opaque) and part.text:
            parts.append(Opaque(part.name, part.text))
        elif isinstance(part, Opaque | Thinking):
            parts.append(Text(_left_out_mark(part)))
        elif isinstance(part, ToolResult):
            parts.append(_lighter_result(part))
        else:
            parts.append(part)
    return edit(message, parts=tuple(parts))


def _thoughts(messages: Iterable[Message]) -> int:
    """How many thoughts there are."""
    count = 0
    for message in messages:
        count += sum(isinstance(part, Thinking) for part in message.parts)
    return count


def _attached_words(message: Message) -> list[str]:
    """The words of documents and the like, in the message and in results."""
    texts: list[str] = []
    for part in message.parts:
        attached = part.rest if isinstance(part, ToolResult) else (part,)
        texts += [each.text for each in attached if isinstance(each, Opaque)]
    return texts


def _left_out_mark(part: Opaque | Thinking) -> str:
    what = opaque_mark(part).strip("[]") if isinstance(part, Opaque) else "a thought"
    return too_large_mark(what)


def _lighter_result(result: ToolResult) -> ToolResult:
    texts = [result.text]
    light: list[Image | Opaque] = []
    for each in result.rest:
        if isinstance(each, Image):
            light.append(each)
        else:
            texts.append(part_text(each) if each.text else _left_out_mark(each))
    return edit(result, text="\n".join(filter(None, texts)), rest=tuple(light))


def _words(part: Part) -> str:
    match part:
        case Text(text=text) | ToolResult(text=text) | Opaque(text=text, block=None):
            return text
        case ToolCall(arguments=arguments):
            return arguments
        case _:
            return ""


def _part_name(part: Part) -> str:
    match part:
        case ToolResult(id=call):
            return f"the result of call {call!r}"
        case ToolCall(id=call):
            return f"the arguments of call {call!r}"
        case _:
            return "a message"


def _cut(part: Part, room: int, scale: Scale, handle: str) -> Part:
    counter = scale.counter
    mark = recall_mark(handle, counter)
    match part:
        case Text(text=text) | ToolResult(text=text) | Opaque(text=text, block=None):
            shorter = cut.excerpt(text, room, counter.measure, mark, query=scale.task)
            if shorter is None:
                shorter = mark(0, counter.measure(text))
            return edit(part, text=shorter)
        case ToolCall(arguments=arguments):
            whole = mark(0, counter.measure(arguments))
            return edit(part, arguments=_fewer_arguments(arguments, whole))
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
    shorter = {name: _short_argument(argument, mark) for name, argument in value.items()}
    written = json.dumps(shorter, ensure_ascii=False)
    return written if len(written) < len(arguments) else json.dumps({"arguments": mark})


def _short_argument(value: object, mark: str) -> object:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= LONGEST_ARGUMENT else f"{text[: LONGEST_ARGUMENT // 2]} {mark}"
