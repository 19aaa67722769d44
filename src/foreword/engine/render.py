"""Write sections out under boundary tags that no text inside them can open or close.

Pure. What is written here is exactly what is counted: `Scale` measures the written pieces and
nothing else. Neighbours with the same tag share one pair of tags. Choosing what to write is `fit`'s
business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby

from foreword.engine.outline import Outline
from foreword.messages.message import Message, edit
from foreword.origin import SPEAKER_TAGS, Origin, Speakers
from foreword.section import Choice, Section
from foreword.text.boundary_pattern import BoundaryPattern
from foreword.text.clean import clean
from foreword.text.lookalikes import Finder, Lookalike, may_hold_one
from foreword.tokens import Counter

GAP = "\n"  # between one closing tag's line and the next opening tag
BETWEEN = "\n\n"  # between two sections that share their tags
TURN = "turn"
# Of a forged tag that a warning repeats: enough to find it, no room for a speech.
FORGERY_CHARS = 24


@lru_cache(maxsize=64)
def boundary_pattern(tags: frozenset[str]) -> BoundaryPattern:
    """Finds the `<` of anything that reads as one of these tags; kept for the next call."""
    return BoundaryPattern(tags)


@lru_cache(maxsize=64)
def lookalikes_of(tags: frozenset[str]) -> Finder:
    """Finds what looks like one of these tags and is none."""
    return Finder(tags, boundary_pattern(tags))


def open_tag(tag: str) -> str:
    """The line before a section."""
    return f"<{tag}>\n"


def close_tag(tag: str, text: str = "") -> str:
    """The line after a section, on a line of its own whatever the text ends with."""
    return f"</{tag}>\n" if text.endswith("\n") else f"\n</{tag}>\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Weighs sections as they will be written, by one counter."""

    counter: Counter
    tags: frozenset[str]  # that nothing may open or close
    shared_tags: frozenset[str]
    task: str = ""
    # where a boundary was forged: name -> the forgery
    forged: dict[str, str] = field(default_factory=dict)
    # where characters had to be replaced: name -> which
    cleaned: dict[str, str] = field(default_factory=dict)
    # where something looks like a boundary: name -> what
    alike: dict[str, Lookalike] = field(default_factory=dict)

    def without_notices(self) -> Scale:
        """The same scale, which has noticed nothing yet."""
        return Scale(
            counter=self.counter, tags=self.tags, shared_tags=self.shared_tags, task=self.task
        )

    @property
    def pattern(self) -> BoundaryPattern:
        """Finds the `<` of what reads as one of the tags."""
        return boundary_pattern(self.tags)

    def safe(self, text: str, name: str = "") -> str:
        """The text as it may stand between tags; everything but a forged boundary stays byte for
        byte."""
        text, done = clean(text)
        if done:
            self.cleaned[name] = ", ".join(done)
        if not may_hold_one(text):  # as most texts
            return text
        self._note_lookalikes(text, name)
        if "<" not in text:
            return text
        guarded = self.pattern.escape(text)
        if guarded != text and name not in self.forged:
            at = next(self.pattern.finditer(text)).start()
            self.forged[name] = text[at : at + FORGERY_CHARS].splitlines()[0]
        return guarded

    def _note_lookalikes(self, text: str, name: str) -> None:
        """Remember what looks like a boundary."""
        found = lookalikes_of(self.tags).find(text)
        before = self.alike.get(name)
        # of a section in several forms, the longest
        if found and (before is None or found.count > before.count):
            self.alike[name] = found

    def with_frame(self, section: Section, text: str) -> str:
        """A text that is safe with what the recipe writes in front of it and behind it, made
        safe as well."""
        if not section.before and not section.after:
            return text
        before = self.safe(section.before, section.origin)
        after = self.safe(section.after, section.origin)
        return "\n".join(part for part in (before, text, after) if part)

    def units(self, tag: str, written: str) -> int:
        """The size of what is written between a pair of tags, and of the tags unless they are
        shared."""
        if tag in self.shared_tags:
            return self.counter.measure(written + BETWEEN)
        opening = self.counter.measure(open_tag(tag))
        return opening + self.counter.measure(written + close_tag(tag, written) + GAP)

    def tag_units(self, tag: str) -> int:
        """The size of a shared pair of tags; nothing where the tags are not shared."""
        if tag not in self.shared_tags:
            return 0
        return self.counter.measure(open_tag(tag)) + self.counter.measure(close_tag(tag) + GAP)


def scale_for(outline: Outline, counter: Counter, task: str, tags: Iterable[str] = ()) -> Scale:
    """A scale that guards the tags of these sections and any others the recipe knows."""
    return Scale(
        counter=counter,
        tags=outline.tags.union(tags, (TURN,)),
        shared_tags=outline.shared_tags,
        task=task,
    )


def scale_of_tags(tags: Iterable[str], counter: Counter) -> Scale:
    """A scale that guards these tags, for sections that share none of them."""
    return Scale(counter=counter, tags=frozenset((*tags, TURN)), shared_tags=frozenset())


def pieces_of(choices: Iterable[Choice], *, is_followed: bool = False) -> list[str]:
    """The text in pieces that join without anything between them, in reading order; these are
    what was weighed. The gap behind the last is left out unless others follow."""
    pieces: list[str] = []
    for tag, group in groupby(choices, key=lambda choice: choice.section.tag):
        bodies = [choice.body.text for choice in group]
        pieces.append(open_tag(tag))
        pieces += [body + BETWEEN for body in bodies[:-1]]
        pieces.append(bodies[-1] + close_tag(tag, bodies[-1]) + GAP)
    if pieces and not is_followed:
        pieces[-1] = pieces[-1].removesuffix(GAP)
    return pieces


def written_units(choices: Iterable[Choice], counter: Counter) -> list[int]:
    """The size of what each choice adds to the text: its words, and at the edges of a pair of
    tags the tags."""
    sizes: list[int] = []
    for tag, group in groupby(choices, key=lambda choice: choice.section.tag):
        same = list(group)
        present = [place for place, choice in enumerate(same) if choice.body.form != "gone"]
        first, last = (present[0], present[-1]) if present else (-1, -1)
        for place, choice in enumerate(same):
            body = choice.body.text
            size = counter.measure(open_tag(tag)) if place == first else 0
            if place == last and choice.body.units is not None:
                size += choice.body.units
            elif place == last:
                size += counter.measure(body + close_tag(tag, body) + GAP)
            elif choice.body.form != "gone":
                size += counter.measure(body + BETWEEN)
            sizes.append(size)
    return sizes


def total_units(pieces: Sequence[str], counter: Counter) -> int:
    """The size of the joined pieces, measured in runs that a tokenizer never joins tokens
    across."""
    if not counter.splits_at_lines:
        return counter.measure("".join(pieces))
    total = 0
    run = ""
    for piece in pieces:
        begins_anew = bool(piece) and not piece[0].isspace() and piece[0] != "/"
        if begins_anew and run.endswith("\n"):
            total += counter.measure(run)
            run = piece
        else:
            run += piece
    return total + counter.measure(run)


def message_text(message: Message, write: Callable[[str], str]) -> str:
    """Return a message as it stands in the text form, its words written by `write`: what a tool
    printed or a file says in a message of the user or the assistant has a turn of its own, and only
    a summary has the tags of one."""
    turns = list[str]()
    for role, said in _turns(message):
        words = said.text
        if message.kind != "summary" and "<" in words:
            words = boundary_pattern(frozenset(SPEAKER_TAGS)).escape(words)
        if words:
            turns.append(turn_text(role, write(words)))
    return "\n".join(turns) or turn_text(message.role, "")


def _turns(message: Message) -> Iterator[tuple[str, Message]]:
    """Yield a message in the pieces that one speaker says, each with its role in the text."""
    origins = Speakers().of_parts(message) if message.role != "tool" else ()
    if not any(origin.is_low_trust for origin in origins):
        yield message.role, message
        return
    speakers = zip(message.parts, origins, strict=True)
    for role, run in groupby(speakers, key=lambda each: _turn_role(message, each[1])):
        parts = tuple([part for part, _ in run])
        # `replace` forgets the name of a user, who says nothing of what a tool printed
        own = edit if role == message.role else replace
        yield role, own(message, parts=parts)


def _turn_role(message: Message, origin: Origin) -> str:
    return origin.kind if origin.is_low_trust else message.role


def turn_text(role: str, text: str) -> str:
    """One message of a conversation as it stands in the text form."""
    return f'<{TURN} role="{role}">\n{text}{close_tag(TURN, text)}'.removesuffix("\n")
