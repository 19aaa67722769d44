"""Bring one section into a smaller form that fits a given room.

Pure. The forms a section may take are its rule's; which room it gets is `fit`'s. A text is cut by
`text.cut`, a list gives up entries one by one; both leave a mark that says what is missing and the
handle that brings it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from foreword.engine.render import Scale, message_text
from foreword.section import Body, Entry, Form, Section
from foreword.text import lines
from foreword.text.omission_mark import cut_mark, missing_mark, reference_mark
from foreword.text.quantity import quantity
from foreword.tokens import Counter

Cut = Callable[..., str | None]
# Characters. A shorter text is not cut: the mark that stands for the rest takes about 70 of them.
SHORTEST_TO_CUT = 240
# Where a section may become a reference, room below this goes to one: a scrap of some lines says
# less than a name and a handle.
SCRAP_TOKENS = 60
# What is in whole before anything larger grows: half of what a mark with its handle and a sentence
# take together, so that nothing is gained by cutting it. At double, ten short notes would take the
# room of thirty.
WHOLE_TOKENS = 60
# For the least of a text without a sentence to lead with: a line or two of code, and the mark; else
# the header of a commit, or a first hunk. Three times as much would keep three others small.
LEAST_TOKENS = (90, 180)
VIEWS: tuple[Form, ...] = ("regions", "outline")  # made by whoever read the section
CUTS: tuple[Form, ...] = ("summary", "relevant", "excerpt")  # what `text.cut` makes


def full(section: Section, scale: Scale) -> Body:
    """The section whole."""
    if section.entries:
        lines = [_entry_text(entry, scale, section.origin) for entry in section.entries]
        text = section.rule.joiner.join(lines)
    else:
        text = scale.safe(section.text, section.origin)
    return Body(text=scale.with_frame(section, text), form="full", kept_entries=section.entries)


def units(section: Section, body: Body, scale: Scale) -> int:
    """The size of a section in one form."""
    return scale.units(section.tag, body.text)


def best(section: Section, room: int, scale: Scale, whole: bool = True) -> tuple[Body, int] | None:
    """The first form on the section's ladder that fits the room, with its size; None where none
    does."""
    for form in section.rule.forms:
        if form == "gone" or (form == "full" and not whole):
            continue
        if form in CUTS and not _is_worth_cutting(section, room, scale):
            continue
        body = shrink(section, form, room, scale)
        if body is None:
            continue
        size = units(section, body, scale)
        if size <= room:
            return body, size
    return _bare_mark(section, room, scale)


def _bare_mark(section: Section, room: int, scale: Scale) -> tuple[Body, int] | None:
    """Of what may be cut but never lost, and has no sentence that fits: the mark alone."""
    forms = section.rule.forms
    if section.entries or "gone" in forms or not any(form in CUTS for form in forms):
        return None
    mark = recall_mark(section.handle, scale.counter)
    lost_lines = lines.count(section.text)
    text = scale.with_frame(section, mark(lost_lines, scale.counter.measure(section.text)))
    body = Body(text=text, form="excerpt")
    size = units(section, body, scale)
    return (body, size) if size <= room else None


def _is_worth_cutting(section: Section, room: int, scale: Scale) -> bool:
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
        return _marked_part(section, form, scale)
    if form in VIEWS:
        return _view(section, form, scale)
    if form == "lead":
        return _lead(section, scale)
    if form == "reference":
        return Body(text=scale.with_frame(section, reference(section, scale)), form="reference")
    inner = room - scale.units(section.tag, scale.with_frame(section, ""))
    if inner <= 0:
        return None
    if section.entries:
        entries = newest_entries(section, inner, scale)
        may_be_cut = form in CUTS or section.rule.forms[-1] != "gone"
        if entries is not None or not may_be_cut or section.entries[0].messages:
            return entries
        # A list whose first entry alone is too long is cut as a text where its rule has a cut, and
        # where it is never lost.
    return _cut(section, form, inner, scale)


def _marked_part(section: Section, form: Form, scale: Scale) -> Body | None:
    """The part that the author set apart, with a mark for the rest; None where nothing was."""
    part = section.core if form == "core" else section.header
    if not part or part == section.text:
        return None
    measure = scale.counter.measure
    lost_lines = lines.count(section.text) - lines.count(part)
    lost_units = max(0, measure(section.text) - measure(part))
    mark = recall_mark(section.handle, scale.counter)(lost_lines, lost_units)
    text = f"{scale.safe(part, section.origin)}\n{mark}"
    return Body(text=scale.with_frame(section, text), form=form)


def _view(section: Section, form: Form, scale: Scale) -> Body | None:
    """A view that came with the section; None where it has none of that form."""
    text = dict(section.views).get(form)
    if not text:
        return None
    text = scale.safe(text, section.origin)
    return Body(text=scale.with_frame(section, text), form=form)


def least(section: Section, scale: Scale) -> Body | None:
    """The smallest form that says something: whole where that is short, else what it leads with
    and a handle. None for what may not be cut, or has nothing smaller than the whole."""
    if section.rule.forms[0] != "full" or section.entries:
        return None
    if is_short(section, scale):
        return full(section, scale)
    if not any(form in CUTS for form in section.rule.forms):
        return None
    if len(section.text) < SHORTEST_TO_CUT:
        return full(section, scale)
    return _lead(section, scale) or _least_cut(section, scale)


def is_short(section: Section, scale: Scale) -> bool:
    """Whether a section is so short that a smaller form would hardly be smaller."""
    room = scale.counter.room(WHOLE_TOKENS)
    if len(section.text) > room * scale.counter.usual_unit:
        return False
    return scale.counter.measure(section.text) <= room


def _lead(section: Section, scale: Scale) -> Body | None:
    """What a text leads with, and a mark for the rest."""
    from foreword.text.content_type import content_type  # like `cut`, for what does not fit
    from foreword.text.document_blocks import DOCUMENTS
    from foreword.text.lead import is_inside_a_line, lead

    kind = content_type(section.text, _file_name(section))
    opening = lead(section.text, kind) if kind in DOCUMENTS else None
    if opening is None:
        return None
    measure = scale.counter.measure
    lost_lines = lines.count(section.text) - lines.count(opening)
    lost_units = max(0, measure(section.text) - measure(opening))
    mark = recall_mark(section.handle, scale.counter)(lost_lines, lost_units)
    # On the same line where that goes on: what is missing begins there.
    between = " " if is_inside_a_line(section.text, opening) else "\n"
    text = f"{scale.safe(opening, section.origin)}{between}{mark}"
    return Body(text=scale.with_frame(section, text), form="lead")


def _least_cut(section: Section, scale: Scale) -> Body | None:
    """The first of the section's cuts that makes something of the least room."""
    cuts = [form for form in section.rule.forms if form in CUTS]
    for tokens, form in product(LEAST_TOKENS, cuts):
        body = _cut(section, form, scale.counter.room(tokens), scale)
        if body is not None:
            return body
    return None


def _cut(section: Section, form: Form, room: int, scale: Scale) -> Body | None:
    text = scale.safe(section.text, section.origin)
    shorten = _cut_to(form)
    mark = recall_mark(section.handle, scale.counter)
    shorter = shorten(
        text, room, scale.counter.measure, mark, query=scale.task, name=_file_name(section)
    )
    if shorter is None:
        return None
    return Body(
        text=scale.with_frame(section, scale.safe(shorter, section.origin)),
        form=form if shorter != text else "full",
    )


def _cut_to(form: Form) -> Cut:
    """How a text is cut to a form; loaded only where something does not fit, for a tenth of the
    modules of a context are for that."""
    from foreword.text import cut

    if form == "summary":
        return cut.summary
    return cut.relevant if form == "relevant" else cut.excerpt


def _file_name(section: Section) -> str:
    """What a section's file is called; an item has only its title, for its source holds many."""
    return section.title if section.kind else section.source


def recall_mark(handle: str, counter: Counter) -> Callable[[int, int], str]:
    """What writes the line that stands for what a cut took out, by its lines and units."""

    def mark(lines: int, units: int) -> str:
        return cut_mark(tokens=counter.tokens(units), handle=handle, lines=lines)

    return mark


def reference(section: Section, scale: Scale) -> str:
    """One line in place of the whole section."""
    tokens = scale.counter.count(section.text)
    name = section.name
    if "/" in section.source and section.source not in name:
        name += f" ({section.source})"
    # What stands in front of the section in every form may have named it.
    label = "" if section.name in section.before else name.replace("\n", " ")
    return reference_mark(scale.safe(label), tokens=tokens, handle=section.handle)


def newest_entries(section: Section, room: int, scale: Scale) -> Body | None:
    """A list with its oldest entries given up one by one; pinned entries stay, the others stay
    in one run. Of a newest message that is too large for the room, as much as there is room
    for."""
    entries = section.entries
    kept = {index: entry for index, entry in enumerate(entries) if entry.pinned}
    pinned = len(kept)
    most = room + scale.units(section.tag, scale.with_frame(section, ""))
    room -= scale.counter.measure(_missing_mark(section, len(entries)) + section.rule.joiner)
    room -= sum(_entry_units(section, entry, scale) for entry in kept.values())
    is_newest = True
    for index in _newest_first(section):
        if index in kept:
            continue
        entry: Entry | None = entries[index]
        if _entry_units(section, entries[index], scale) > room:
            entry = shorter_entry(section, entries[index], room, scale) if is_newest else None
        if entry is None:
            break
        kept[index] = entry
        room -= _entry_units(section, entry, scale)
        if entry is not entries[index]:
            break
        is_newest = False
    if len(kept) == pinned:
        # pieces measured one by one are a little more than the whole: the least may still fit
        least = least_entries(section, scale)
        if least is not None and units(section, least, scale) <= most:
            return least
    return _body_of_entries(section, kept, scale) if kept else None


def least_entries(section: Section, scale: Scale) -> Body | None:
    """The least of a list that is never lost: what is pinned in it, and of the newest message a
    mark."""
    kept = {index: entry for index, entry in enumerate(section.entries) if entry.pinned}
    for index in _newest_first(section):
        newest = section.entries[index]
        if index not in kept and newest.messages:
            kept[index] = _shortened(section, newest, 1, scale)
        break
    return _body_of_entries(section, kept, scale) if kept else None


def _newest_first(section: Section) -> Iterable[int]:
    places = range(len(section.entries))
    return places if section.rule.newest_first else reversed(places)


def shorter_entry(section: Section, entry: Entry, room: int, scale: Scale) -> Entry | None:
    """Messages within the room: their longest words are cut first. None where even without any
    words they are too large."""
    shorter = _shortened(section, entry, scale.counter.tokens(room), scale)
    return shorter if _entry_units(section, shorter, scale) <= room else None


def _shortened(section: Section, entry: Entry, tokens: int, scale: Scale) -> Entry:
    from foreword.engine.conversation_text import shorten_stretch  # which imports the marks here

    text = shorten_stretch(
        entry.messages,
        scale.without_notices(),
        section.tag,
        tokens,
        newest=True,
        handle=section.handle,
    )
    return replace(entry, messages=text.entry.messages)


def _entry_units(section: Section, entry: Entry, scale: Scale) -> int:
    return scale.counter.measure(_entry_text(entry, scale, section.origin) + section.rule.joiner)


def _body_of_entries(section: Section, kept: Mapping[int, Entry], scale: Scale) -> Body:
    """The section with these entries and a mark for the others, where the gap is."""
    entries = tuple([kept[index] for index in sorted(kept)])
    lost = members(section.entries) - members(entries)
    if entries == section.entries:
        return full(section, scale)
    mark = _missing_mark(section, lost) if lost else ""
    lines = [_entry_text(entry, scale, section.origin) for entry in entries]
    if mark:
        gap = len(lines) if section.rule.newest_first else sum(entry.pinned for entry in entries)
        lines.insert(gap, mark)
    return Body(
        text=scale.with_frame(section, section.rule.joiner.join(lines)),
        form="newest",
        kept_entries=entries,
        lost=lost,
        mark=mark,
    )


def members(entries: Sequence[Entry]) -> int:
    """How many there are: messages in a conversation, else entries."""
    return sum(len(entry.messages) or 1 for entry in entries)


def _missing_mark(section: Section, lost: int) -> str:
    which = "more" if section.rule.newest_first else "older"
    what = quantity(lost, f"{which} entry", plural=f"{which} entries")
    if section.entries[0].messages:
        what = quantity(lost, "earlier message")
    return missing_mark(what, section.handle)


def _entry_text(entry: Entry, scale: Scale, origin: str) -> str:
    if not entry.messages:
        return scale.safe(entry.text, origin)
    turns: list[str] = []
    for message in entry.messages:
        turns.append(message_text(message, lambda text: scale.safe(text, origin)))
    return "\n".join(turns)
