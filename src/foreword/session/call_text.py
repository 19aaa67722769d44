"""What a call sends: the head of its cut, and what was appended since, each written once.

The head has the parts, what stands in front of the newest messages, and the mark for what is
missing. Everything after it only grows, until the next cut. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain
from typing import Any

from foreword.context.item_sections import part_section
from foreword.engine.conversation_text import ConversationText
from foreword.engine.package import Package
from foreword.engine.render import (
    Scale,
    close_tag,
    open_tag,
    pieces_of,
    total_units,
    turn_text,
)
from foreword.engine.report import Omission, Report
from foreword.messages.call_pairs import mend
from foreword.messages.message import IMAGE_TOKENS, Message, bound_thinking, keep
from foreword.messages.parts import Text
from foreword.messages.record import from_record, to_record
from foreword.plan.fresh_parts import EMPTY
from foreword.recipe.selection import Selection
from foreword.section import Body, Budget, Choice, Entry, Form, Section
from foreword.session.history import Gap
from foreword.session.message_writer import MessageWriter
from foreword.store.cuts import EntryKind
from foreword.text.omission_mark import missing_mark
from foreword.text.quantity import quantity

NOTHING_SAID = EMPTY["conversation"] + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a call begins with from a cut on."""

    parts: Sequence[Choice]
    front: Sequence[ConversationText]
    gap: Gap | None  # what is missing after the front
    # of the messages after it those that were shortened, by the first of their group
    shortened: Mapping[int, ConversationText] = field(default_factory=dict)
    omissions: Sequence[Omission] = ()  # in what was shortened, and what the summary stands for

    def to_dict(self) -> dict[str, Any]:
        """The head as the store keeps it."""
        parts = list[dict[str, str]]()
        for choice in self.parts:
            part = {"tag": choice.section.tag, "body": choice.body.text, "form": choice.body.form}
            if choice.section.text != choice.body.text:
                part["text"] = choice.section.text
            parts.append(part)
        return {
            "parts": parts,
            "front": [_records(text) for text in self.front],
            "gap": None if self.gap is None else [*_fields(self.gap).values()],
            "shortened": {first: _records(text) for first, text in self.shortened.items()},
            "omissions": [[*_fields(omission).values()] for omission in self.omissions],
        }


def _fields(value: Gap | Omission) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__slots__}


def _records(text: ConversationText) -> list[str]:
    return [to_record(message) for message in text.entry.messages]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallText:
    """All that a call sends, in order."""

    head: Head
    mark: str  # the line for what is missing
    texts: Sequence[ConversationText] = field(repr=False)  # after the front
    parts_units: int
    units: int  # of the front, the mark and the texts
    digest: blake2b = field(repr=False)  # of all of it

    @property
    def sent(self) -> str:
        """What tells it from a call that sent anything else."""
        return self.digest.hexdigest()

    @property
    def written(self) -> Iterable[ConversationText]:
        """The front and the texts after it."""
        return chain(self.head.front, self.texts)

    @property
    def messages(self) -> int:
        """How many messages its conversation has."""
        return sum(len(text.entry.messages) for text in self.written)

    @property
    def thinking(self) -> int:
        """How many blocks of thinking it has that are bound to what is sent before them."""
        said = chain.from_iterable(text.entry.messages for text in self.written)
        return sum(map(bound_thinking, said))

    def with_texts(self, new: Sequence[ConversationText]) -> CallText:
        """The call with more after it."""
        digest = self.digest.copy()
        _add(digest, new)
        return replace(
            self,
            texts=[*self.texts, *new],
            units=self.units + sum(text.units for text in new),
            digest=digest,
        )

    def with_closed_calls(self, writer: MessageWriter) -> CallText:
        """The call with a placeholder for each result that was waited for: more is said now."""
        texts = list(self.texts)
        units = self.units
        for place in reversed(range(len(texts))):
            if not texts[place].entry.is_own:
                closed = writer.write(texts[place].entry.messages, newest=False)
                units += closed.units - texts[place].units
                texts[place] = closed
                break
        return replace(self, texts=texts, units=units)


def call_of(head: Head, texts: Sequence[ConversationText], writer: MessageWriter) -> CallText:
    """The call that begins with a head and goes on with texts."""
    counter = writer.scale.counter
    mark = ""
    if head.gap is not None:
        mark = missing_mark(quantity(head.gap.messages, "earlier message"), head.gap.handle)
    digest = blake2b(digest_size=16)
    for choice in head.parts:
        part = f"{choice.section.tag}\n{choice.body.text}\n"
        digest.update(part.encode("utf-8", "surrogatepass"))
    _add(digest, head.front)
    digest.update(mark.encode())
    _add(digest, texts)
    units = sum(text.units for text in chain(head.front, texts))
    if mark:
        units += counter.measure(f"{mark}\n")
    return CallText(
        head=head,
        mark=mark,
        texts=texts,
        parts_units=total_units(pieces_of(head.parts, is_followed=True), counter),
        units=units,
        digest=digest,
    )


def _add(digest: blake2b, texts: Iterable[ConversationText]) -> None:
    for text in texts:
        said = list(text.entry.messages)
        answered = {name for message in said for name in message.results}
        if any(name not in answered for message in said for name in message.calls):
            # as it is sent: one more message behind it makes an open call one with a placeholder
            said = mend([*said, Message("user", ())])[0][:-1]
        for message in said:
            digest.update(to_record(message).encode("utf-8", "surrogatepass"))


def read_head(kept: Mapping[str, Any], selection: Selection, writer: MessageWriter) -> Head:
    """A head that the store has kept; secrets that are known by now are hidden in it."""
    hide = writer.secrets.hide_known_values
    parts = list[Choice]()
    for part in kept["parts"]:
        text = part.get("text", part["body"])
        body = Body(text=hide(part["body"]), form=part["form"])
        tag = part["tag"]
        is_known = tag in selection.sections  # else the recipe is another one
        section = part_section(tag, selection, text) if is_known else Section(tag=tag, text=text)
        parts.append(Choice(section, body, writer.scale.units(section.tag, body.text)))
    shortened = {int(first): _read(each, writer) for first, each in kept["shortened"].items()}
    return Head(
        parts=parts,
        front=[_read(each, writer) for each in kept["front"]],
        gap=None if kept["gap"] is None else Gap(*kept["gap"]),
        shortened=shortened,
        omissions=[
            Omission(tag=tag, what=what, tokens=tokens, reason=reason, handle=handle)
            for tag, what, tokens, reason, handle in kept["omissions"]
        ],
    )


def _read(records: Sequence[str], writer: MessageWriter) -> ConversationText:
    return writer.write([from_record(record) for record in records], newest=True)


def entry_text(kind: EntryKind, written: str, scale: Scale) -> ConversationText:
    """What was appended besides messages, as it stands in a call: the state as a message of the
    user's role under its own tags, a system prompt as one of the system."""
    message = Message("user", (Text(written),))
    text = f"{written}\n"
    if kind == "system":
        # the shape in which Anthropic's API takes a system message in the middle
        raw = {"role": "system", "content": written}
        message = keep(Message("system", (Text(written),), kind="instruction"), "anthropic", raw)
        text = turn_text("system", written) + "\n"
    units = scale.counter.measure(text)
    return ConversationText(entry=Entry(text, (message,), is_own=True), units=units)


def frame_units(tag: str, counter: Any) -> int:
    """What the tags around the history take."""
    return int(counter.measure(open_tag(tag)) + counter.measure(close_tag(tag, "\n")))


def total_tokens(call: CallText, writer: MessageWriter) -> int:
    """The tokens of a call as written."""
    counter = writer.scale.counter
    history = call.units or counter.measure(NOTHING_SAID)
    return counter.tokens(call.parts_units + frame_units(writer.tag, counter) + history)


def package_of(
    call: CallText,
    writer: MessageWriter,
    *,
    recipe: str,
    budget: Budget,
    profile: dict[str, str],
    notes: Sequence[str],
    cached: int,
) -> Package:
    """The package of a call; the first of a cut has the originals of what was shortened."""
    scale = writer.scale.without_notices()
    written = list(call.written)
    for choice in call.head.parts:
        scale.safe(choice.section.text, choice.section.origin)
    _record_notices(written, scale, writer.tag)
    history = _history_choice(call, written, writer)
    choices = [*call.head.parts, history]
    mended = [f"messages: {note}" for text in written for note in text.notes]
    report = Report(
        recipe=recipe,
        budget=budget,
        total_tokens=total_tokens(call, writer),
        scale=scale,
        came_in=tuple(choice.section for choice in choices),
        decided=dict(enumerate(choices)),
        notes=(*notes, *_size_notes(written, budget), *mended),
        profile=profile,
        cuts=tuple(call.head.omissions),
    )
    originals = dict[str, bytes]()
    if not cached:
        for text in written:
            originals.update(text.originals)
    return Package("".join(pieces_of(choices)), report, cut=originals, cached=cached)


def _history_choice(
    call: CallText, written: Sequence[ConversationText], writer: MessageWriter
) -> Choice:
    counter = writer.scale.counter
    gap = call.head.gap
    front = len(call.head.front)
    texts = [text.entry.text for text in written]
    if call.mark:
        texts.insert(front, f"{call.mark}\n")
    entries = [replace(text.entry, pinned=True) for text in written[:front]]
    entries += [text.entry for text in written[front:]]
    units = (call.units or counter.measure(NOTHING_SAID)) + frame_units(writer.tag, counter)
    form: Form = "excerpt" if call.head.omissions else "full"
    if gap is not None:
        form = "newest"
    body = Body(
        text="".join(texts) or NOTHING_SAID,
        form=form,
        kept_entries=tuple(entries),
        lost=gap.messages if gap else 0,
        lost_tokens=gap.tokens if gap else 0,
        mark=call.mark,
        units=units - counter.measure(open_tag(writer.tag)),
    )
    section = replace(
        writer.section,
        entries=tuple(entries),
        known_as=gap.handle if gap else writer.section.known_as,
    )
    return Choice(section, body, units, "no room left" if gap else "")


def _record_notices(texts: Iterable[ConversationText], scale: Scale, tag: str) -> None:
    """Write onto the scale what was noticed while the history was written."""
    for text in texts:
        if text.forged:
            scale.forged[tag] = text.forged
        if text.cleaned:
            scale.cleaned[tag] = text.cleaned
        if text.alike:
            before = scale.alike.get(tag)
            scale.alike[tag] = text.alike.with_more(before.count) if before else text.alike


def _size_notes(texts: Sequence[ConversationText], budget: Budget) -> list[str]:
    notes = []
    images = sum(text.images for text in texts)
    data_tokens = sum(text.data_tokens for text in texts)
    if images:
        notes.append(
            f"{images:,} images take about {IMAGE_TOKENS * images:,} tokens beside the text"
        )
    if data_tokens:
        notes.append(
            f"documents, thoughts and the like take about {data_tokens:,} tokens beside the text"
        )
    if budget.tokens > budget.window_tokens:
        notes.append(
            f"the budget of {budget.tokens:,} is larger than the window of {budget.window_tokens:,}"
        )
    return notes
