"""Bring one section into a smaller form that fits a given room.

Pure. The forms a section may take are its rule's; which room it gets is `fit`'s. A text is cut by
`text.cut`, a list gives up entries one by one; both leave a mark that says what is missing and the
handle that brings it back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foreword.engine.render import Scale, turn_text
from foreword.section import Body, Entry, Form, Section
from foreword.text import cut

Cut = Callable[..., str | None]
SHORTEST_TO_CUT = 240  # characters
SCRAP_TOKENS = 60
CUTS: dict[Form, Cut] = {"summary": cut.summary, "relevant": cut.relevant, "excerpt": cut.excerpt}


def full(section: Section, scale: Scale) -> Body:
    """The section whole."""
    text = (
        _joined(section, section.entries, scale)
        if section.entries
        else scale.safe(section.text, section.origin)
    )
    return Body(text=scale.framed(section, text), form="full", kept_entries=section.entries)


def units(section: Section, body: Body, scale: Scale) -> int:
    """The size of a section in one form."""
    return scale.units(section.tag, body.text)


def best(section: Section, room: int, scale: Scale, whole: bool = True) -> tuple[Body, int] | None:
    """The first form on the section's ladder that fits the room, with its size; None where none
    does."""
    for form in section.rule.forms:
        if (
            form == "gone"
            or (form == "full" and not whole)
            or (form in CUTS and not _worth_it(section, room, scale))
        ):
            continue
        body = shrink(section, form, room, scale)
        if body is None:
            continue
        size = units(section, body, scale)
        if size <= room:
            return body, size
    return None


def _worth_it(section: Section, room: int, scale: Scale) -> bool:
    """Whether a cut would keep more than its mark costs; a reference, where there is one, is
    better than a scrap."""
    if len(section.text) < SHORTEST_TO_CUT:
        return False
    return "reference" not in section.rule.forms or room >= scale.counter.room(SCRAP_TOKENS)


def shrink(section: Section, form: Form, room: int, scale: Scale) -> Body | None:
    """The section in one form within the room, or None; the caller checks the size that comes
    back."""
    if form == "full":
        return full(section, scale)
    if form in ("core", "header"):
        return _authors_own(section, form, scale)
    if form == "reference":
        return Body(text=scale.framed(section, reference(section, scale)), form="reference")
    inner = room - scale.units(section.tag, scale.framed(section, ""))
    if inner <= 0:
        return None
    if section.entries:
        return fewer(section, inner, scale)
    return _cut(section, form, inner, scale)


def _authors_own(section: Section, form: Form, scale: Scale) -> Body | None:
    """The part that the author set apart, with a mark for the rest; None where nothing was."""
    part = section.core if form == "core" else section.header
    if not part or part == section.text:
        return None
    measure = scale.counter.measure
    lost_lines = section.text.count("\n") - part.count("\n")
    mark = mark_for(section, scale)(lost_lines, max(0, measure(section.text) - measure(part)))
    return Body(
        text=scale.framed(section, f"{scale.safe(part, section.origin)}\n{mark}"), form=form
    )


def _cut(section: Section, form: Form, room: int, scale: Scale) -> Body | None:
    text = scale.safe(section.text, section.origin)
    shorten = CUTS.get(form, cut.excerpt)
    shorter = shorten(text, room, scale.counter.measure, mark_for(section, scale), scale.task)
    if shorter is None:
        return None
    return Body(
        text=scale.framed(section, scale.safe(shorter, section.origin)),
        form=form if shorter != text else "full",
    )


def mark_for(section: Section, scale: Scale) -> Callable[[int, int], str]:
    """Writes the line that stands for what a cut took out."""

    def mark(lines: int, units: int) -> str:
        what = f"{lines:,} lines, " if lines > 1 else ""
        return (
            f"[... {what}{scale.counter.tokens(units):,} tokens left out: foreword recall"
            f" {section.handle}]"
        )

    return mark


def reference(section: Section, scale: Scale) -> str:
    """One line in place of the whole section."""
    tokens = scale.counter.count(section.text)
    path = (
        f" ({section.source})"
        if "/" in section.source and section.source not in section.name
        else ""
    )
    name = "" if section.name in section.before else f"{section.name}{path} ".replace("\n", " ")
    return f"[{scale.safe(name)}left out, {tokens:,} tokens: foreword recall {section.handle}]"


def fewer(section: Section, room: int, scale: Scale) -> Body | None:
    """A list with its oldest entries given up one by one; pinned entries stay, the others stay
    in one run."""
    entries = section.entries
    kept = {index for index, entry in enumerate(entries) if entry.pinned}
    room -= scale.counter.measure(_lost_mark(section, len(entries)) + section.rule.joiner)
    room -= sum(_size(section, entries[index], scale) for index in kept)
    for index in (
        range(len(entries)) if section.rule.newest_first else reversed(range(len(entries)))
    ):
        if index in kept:
            continue
        units = _size(section, entries[index], scale)
        if units > room:
            break
        kept.add(index)
        room -= units
    return _without(section, sorted(kept), scale) if kept else None


def _size(section: Section, entry: Entry, scale: Scale) -> int:
    return scale.counter.measure(_entry_text(entry, scale, section.origin) + section.rule.joiner)


def _without(section: Section, kept: Sequence[int], scale: Scale) -> Body:
    entries = tuple(section.entries[index] for index in kept)
    lost = members(section.entries) - members(entries)
    if not lost:
        return full(section, scale)
    mark = _lost_mark(section, lost)
    lines = [_entry_text(entry, scale, section.origin) for entry in entries]
    lines.insert(
        len(lines) if section.rule.newest_first else sum(entry.pinned for entry in entries), mark
    )
    return Body(
        text=scale.framed(section, section.rule.joiner.join(lines)),
        form="newest",
        kept_entries=entries,
        lost=lost,
        mark=mark,
    )


def members(entries: Sequence[Entry]) -> int:
    """How many there are: messages in a conversation, else entries."""
    return sum(len(entry.messages) or 1 for entry in entries)


def _lost_mark(section: Section, lost: int) -> str:
    what = "earlier messages" if section.entries[0].messages else "older entries"
    return f"[{lost:,} {what} left out: foreword recall {section.handle}]"


def _joined(section: Section, entries: Sequence[Entry], scale: Scale) -> str:
    return section.rule.joiner.join(_entry_text(entry, scale, section.origin) for entry in entries)


def _entry_text(entry: Entry, scale: Scale, origin: str) -> str:
    if not entry.messages:
        return scale.safe(entry.text, origin)
    return "\n".join(
        turn_text(message.role, scale.safe(message.text, origin)) for message in entry.messages
    )
