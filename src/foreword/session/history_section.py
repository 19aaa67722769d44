"""The history as it stands in one call: what is in front, the mark for what is missing, the run up
to the newest.

Nothing that was written for the last call is written again. Where the window begins is
`session.window`'s decision; what the parts beside the history take is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from foreword.engine.conversation_text import ConversationText, shorten_stretch, write_stretch
from foreword.engine.render import GAP, Scale, close_tag, open_tag
from foreword.engine.report import Omission
from foreword.plan.fresh_parts import EMPTY
from foreword.secrets.known_values import KnownValues
from foreword.section import Body, Choice, Form, Section
from foreword.session.message_cache import Dropped, MessageCache, summary_group
from foreword.session.secret_messages import without_secrets
from foreword.session.timeline import Group
from foreword.session.window import Window, choose, low_water
from foreword.store.compressions import Cut

# of the budget: what stands in front and is larger is shortened
FRONT_SHARE, SUMMARY_SHARE = 0.25, 0.6
NOTHING_SAID = EMPTY["conversation"] + "\n"
MARK_TOKENS = 40
LEFT_OUT, SHORTENED = (
    "older messages left out to make room",
    "a message had to be shortened to make room",
)


@dataclass(slots=True)
class Writing:
    """What has been written of a conversation, kept from call to call."""

    scale: Scale
    section: Section  # the history's, empty
    secrets: KnownValues = field(default_factory=KnownValues)  # hidden in all that is written
    groups: dict[tuple[int, int, bool, int], ConversationText] = field(default_factory=dict)

    @property
    def tag(self) -> str:
        """The tag of the history."""
        return self.section.tag

    def of(self, group: Group, *, newest: bool = False, shorten_to: int = 0) -> ConversationText:
        """A group as written, shortened to so many tokens where that is not 0."""
        key = (group.turns[0].seq, group.turns[-1].seq, newest, shorten_to)
        found = self.groups.get(key)
        if found is None:
            said = [without_secrets(message, self.secrets) for message in group.messages]
            found = self.groups[key] = (
                shorten_stretch(said, self.scale, self.tag, shorten_to, newest=newest)
                if shorten_to
                else write_stretch(said, self.scale, self.tag, newest=newest)
            )
        return found

    def hide(self, secrets: KnownValues) -> None:
        """Hide these from now on; where they are others than before, nothing that was written
        holds any longer."""
        if secrets.digest != self.secrets.digest:
            self.groups.clear()
        self.secrets = secrets

    def forget(self, start: int) -> None:
        """Drop what no window will show again."""
        self.groups = {key: written for key, written in self.groups.items() if key[1] >= start}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySection:
    """The history of one call."""

    choice: Choice
    opening: str  # the text in front of the run
    run: str
    opening_units: int
    units: int
    cut: Cut
    reason: str  # why the window moved; nothing where it did not
    written: tuple[ConversationText, ...]
    cuts: tuple[Omission, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be mended."""
        return tuple(f"messages: {note}" for written in self.written for note in written.notes)

    @property
    def originals(self) -> dict[str, bytes]:
        """Of messages that were shortened, by handle."""
        return {
            handle: original for written in self.written for handle, original in written.originals
        }

    def noticed(self, scale: Scale) -> Scale:
        """The scale with what was noticed while the history was written."""
        tag = self.choice.section.tag
        for written in self.written:
            scale.forged.update({tag: written.forged} if written.forged else {})
            scale.cleaned.update({tag: written.cleaned} if written.cleaned else {})
            if written.alike:
                before = scale.alike.get(tag)
                scale.alike[tag] = (
                    written.alike.with_more(before.count) if before else written.alike
                )
        return scale

    @property
    def carried(self) -> int:
        """The tokens of what goes along besides the words and the images."""
        return sum(written.data_tokens for written in self.written)

    @property
    def images(self) -> int:
        """How many images it has."""
        return sum(written.images for written in self.written)


def tell(
    transcript: MessageCache,
    writing: Writing,
    cut: Cut,
    budget: int,
    others: int,
    workflow: str,
    *,
    last: bool,
) -> HistorySection:
    """The history within a budget of which the other parts take so many units."""
    counter, tag = writing.scale.counter, writing.tag
    frame = counter.measure(open_tag(tag)) + counter.measure(
        close_tag(tag, "\n") + ("" if last else GAP)
    )
    planned = _plan(transcript, cut, budget, counter.tokens(others + frame), workflow)
    front = [
        writing.of(group, shorten_to=most if group.tokens > most else 0)
        for group, most in planned.front
    ]
    run = [
        writing.of(
            group,
            newest=group is planned.window.groups[-1],
            shorten_to=planned.excerpts.get(group.first, 0),
        )
        for group in planned.window.groups
    ]
    dropped = transcript.dropped(planned.start)
    mark = _mark(dropped) if dropped else ""
    opening = "".join(written.entry.text for written in front) + (f"{mark}\n" if mark else "")
    opening_units = sum(written.units for written in front) + (
        counter.measure(f"{mark}\n") if mark else 0
    )
    if not front and not run:
        opening, opening_units = NOTHING_SAID, counter.measure(NOTHING_SAID)
    text, units = (
        "".join(written.entry.text for written in run),
        opening_units + sum(one.units for one in run),
    )
    cuts = [cut for written in (*front, *run) for cut in written.cuts] + _summed_up(transcript, tag)
    form: Form = "newest" if dropped else "excerpt" if cuts else "full"
    entries = (
        *(replace(written.entry, pinned=True) for written in front),
        *(written.entry for written in run),
    )
    body = Body(
        text=opening + text,
        form=form,
        kept_entries=entries,
        lost=dropped.messages if dropped else 0,
        lost_tokens=dropped.tokens if dropped else 0,
        mark=mark,
        units=units + counter.measure(close_tag(tag, "\n") + GAP),
    )
    section = replace(
        writing.section,
        entries=entries,
        known_as=dropped.handle if dropped else writing.section.known_as,
    )
    choice = Choice(section, body, units + frame, "no room left" if dropped else "")
    now = Cut(planned.start, planned.excerpts)
    return HistorySection(
        choice=choice,
        opening=opening,
        run=text,
        opening_units=opening_units,
        units=units + frame,
        cut=now,
        reason=planned.reason,
        written=(*front, *run),
        cuts=tuple(cuts),
    )


def _mark(dropped: Dropped) -> str:
    what = f"{dropped.messages:,} earlier message{'s' if dropped.messages > 1 else ''}"
    return f"[{what} left out: foreword recall {dropped.handle}]"


def _summed_up(transcript: MessageCache, tag: str) -> list[Omission]:
    made = transcript.compression
    if made is None:
        return []
    tokens = max(0, made.tokens_before - made.tokens_after)
    what = f"messages 1-{made.last:,}, summed up"
    return [
        Omission(
            tag=tag,
            what=what,
            tokens=tokens,
            reason=f"compressed ({made.method})",
            handle=transcript.summed_up(),
        )
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _HistoryPlan:
    """Which messages a call carries."""

    front: list[tuple[Group, int]]
    window: Window
    start: int
    excerpts: dict[int, int]
    reason: str = ""


def _plan(
    transcript: MessageCache, cut: Cut, budget: int, taken: int, workflow: str
) -> _HistoryPlan:
    """Keep the window where it is while that fits; else move it far enough for many turns."""
    excerpts, room = dict(cut.excerpts), max(0, budget - taken)
    start = max(cut.start, transcript.start)
    groups = [
        _sized(group, excerpts) for group in transcript.timeline.groups if group.first >= start
    ]
    front = _front(transcript, start, budget, workflow)
    window = choose(groups, room - _size(front), 0)
    if not window.moved and not window.shorten_to:
        return _HistoryPlan(front=front, window=window, start=start, excerpts=excerpts)
    # From here on the first message and what is pinned stand in front: leave room for them.
    held = _size(_front(transcript, groups[-1].first, budget, workflow)) + MARK_TOKENS
    free = max(1, room - held)
    window = choose(groups, free, low_water(groups, budget, taken + held, free))
    gone = len(groups) - len(window.groups)
    start = window.groups[0].first if gone else start
    if window.shorten_to:
        excerpts[window.groups[0].first] = window.shorten_to
    excerpts = {first: tokens for first, tokens in excerpts.items() if first >= start}
    front = _front(transcript, start, budget, workflow)
    return _HistoryPlan(
        front=front,
        window=window,
        start=start,
        excerpts=excerpts,
        reason=LEFT_OUT if gone else SHORTENED,
    )


def _sized(group: Group, excerpts: Mapping[int, int]) -> Group:
    """A group with the size it has in the window, shortened or not."""
    shorter = excerpts.get(group.first) if excerpts else None
    return group if shorter is None or shorter >= group.tokens else replace(group, tokens=shorter)


def _front(
    transcript: MessageCache, start: int, budget: int, workflow: str
) -> list[tuple[Group, int]]:
    """What stands in front (the first message, what is pinned, the summary), each with the most
    tokens it may have."""
    most = round(FRONT_SHARE * budget)
    before = [
        group for group in transcript.in_front_of(start) if group.first <= transcript.compressed_to
    ]
    front = [(group, most) for group in before]
    if transcript.compression is not None:
        front.append(
            (summary_group(transcript.compression, workflow), round(SUMMARY_SHARE * budget))
        )
    return front + [(group, most) for group in transcript.in_front_of(start)[len(before) :]]


def _size(front: Sequence[tuple[Group, int]]) -> int:
    return sum(min(group.tokens, most) for group, most in front)
