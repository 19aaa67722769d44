"""The history as it stands in one call: what is in front, the mark for what is missing, the run up
to the newest.

Nothing that was written for the last call is written again. Where the window begins is
`session.window`'s decision; what the parts beside the history take is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from foreword.engine.boundaries import escape_boundaries
from foreword.engine.conversation_text import ConversationText, shorten_stretch, write_stretch
from foreword.engine.render import GAP, Scale, close_tag, open_tag, turn_text
from foreword.engine.report import Omission
from foreword.message import IMAGE_TOKENS, NOT_HISTORY, Message, data_beside_words
from foreword.plan.fresh_parts import EMPTY
from foreword.secrets.known_values import KnownValues
from foreword.section import Body, Choice, Entry, Form, Section
from foreword.session.message_cache import Dropped, MessageCache, summary_group
from foreword.session.secret_messages import without_secrets
from foreword.session.timeline import Group
from foreword.session.window import Window, choose, low_water
from foreword.store.compressions import Cut
from foreword.text.omission_mark import missing_mark
from foreword.tokens import Counter

# Of the budget, each: a first or pinned message, or a summary, that is larger is shortened, so
# that what stands in front can't push out the newest messages. A summary stands for the whole
# past, so it may have more.
FRONT_SHARE = 0.25
SUMMARY_SHARE = 0.6
NOTHING_SAID = EMPTY["conversation"] + "\n"
# The line that names what is missing, a little generously: its room is set aside before its numbers
# are known, and what it takes is measured afterwards.
MARK_TOKENS = 40
LEFT_OUT = "older messages left out to make room"
SHORTENED = "a message had to be shortened to make room"


@dataclass(slots=True, kw_only=True)
class Run:
    """Stretches of a conversation one behind another, and what they come to."""

    groups: list[Group] = field(default_factory=list)
    excerpts: Mapping[int, int] = field(default_factory=dict)  # they were shortened by
    entries: list[Entry] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    units: int = 0
    messages: int = 0
    images: int = 0
    data_tokens: int = 0
    remarkable: list[ConversationText] = field(default_factory=list)  # that something was done to

    def add(self, text: ConversationText) -> None:
        """Put a stretch behind the others."""
        self.entries.append(text.entry)
        self.texts.append(text.entry.text)
        self.units += text.units
        self.messages += len(text.entry.messages)
        self.images += text.images
        self.data_tokens += text.data_tokens
        if _is_remarkable(text):
            self.remarkable.append(text)

    def copy(self) -> Run:
        """The same, to be added to."""
        return replace(
            self,
            groups=list(self.groups),
            entries=list(self.entries),
            texts=list(self.texts),
            remarkable=list(self.remarkable),
        )

    def begins(self, groups: Sequence[Group], excerpts: Mapping[int, int]) -> bool:
        """Whether these groups, shortened so, begin with those that are in it.

        Groups are added at the end and dropped in front, and one that grows is another: where the
        first and the last are the same, so are all between them.
        """
        if not self.groups:
            return True
        last = len(self.groups) - 1
        if len(groups) <= last or self.excerpts != excerpts:
            return False
        return groups[0] is self.groups[0] and groups[last] is self.groups[last]


def _is_remarkable(text: ConversationText) -> bool:
    """Whether anything was done to a stretch that a report tells."""
    done = (text.notes, text.cuts, text.originals, text.forged, text.cleaned, text.alike)
    return any(done)


@dataclass(slots=True, kw_only=True)
class HistoryWriter:
    """Writes the messages of a conversation, and keeps what it wrote from call to call."""

    scale: Scale
    section: Section  # the history's, empty
    secrets: KnownValues = field(default_factory=KnownValues)  # hidden in all that is written
    # by first and last message, whether it was the newest, and the tokens it was shortened to
    texts: dict[tuple[int, int, bool, int], ConversationText] = field(default_factory=dict)
    settled: Run = field(default_factory=Run)  # what the last call carried but for the newest group

    @property
    def tag(self) -> str:
        """The tag of the history."""
        return self.section.tag

    def tokens_of(self, message: Message) -> int:
        """The tokens of a message in the history, with all that goes along besides its words."""
        if message.kind in NOT_HISTORY:
            return 0
        count = self.scale.counter.count
        words = turn_text(message.role, self.scale.safe(message.text, self.tag))
        data = data_beside_words(escape_boundaries(message, self.scale.pattern))
        return count(f"{words}\n") + IMAGE_TOKENS * message.images + count(data)

    def text_of(
        self, group: Group, *, newest: bool = False, shorten_to: int = 0
    ) -> ConversationText:
        """A group as written, shortened to so many tokens where that is not 0."""
        newest = newest and any(message.calls for message in group.messages)  # it may be open
        key = (group.first, group.last, newest, shorten_to)
        text = self.texts.get(key)
        if text is None:
            messages = [without_secrets(message, self.secrets) for message in group.messages]
            if shorten_to:
                text = shorten_stretch(messages, self.scale, self.tag, shorten_to, newest=newest)
            else:
                text = write_stretch(messages, self.scale, self.tag, newest=newest)
            self.texts[key] = text
        return text

    def run_of(self, groups: Sequence[Group], excerpts: Mapping[int, int]) -> Run:
        """Groups as written, the last of them as the newest; of those that the last call carried
        only what is new is added."""
        if not groups:
            return Run()
        *older, newest = groups
        if not self.settled.begins(older, excerpts):
            self.settled = Run()
        self.settled.excerpts = excerpts
        for group in older[len(self.settled.groups) :]:
            self.settled.add(self.text_of(group, shorten_to=excerpts.get(group.first, 0)))
            self.settled.groups.append(group)
        run = self.settled.copy()
        shorten_to = excerpts.get(newest.first, 0)
        run.add(self.text_of(newest, newest=True, shorten_to=shorten_to))
        return run

    def hide(self, secrets: KnownValues) -> None:
        """Hide these from now on; where they are others than before, nothing that was written
        holds any longer."""
        if secrets.digest != self.secrets.digest:
            self.forget_all()
        self.secrets = secrets

    def forget(self, start: int) -> None:
        """Drop what no window will show again."""
        self.texts = {key: text for key, text in self.texts.items() if key[1] >= start}

    def forget_all(self) -> None:
        """Write everything anew."""
        self.texts.clear()
        self.settled = Run()


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
    cuts: tuple[Omission, ...]
    messages: int
    images: int
    data_tokens: int  # of what goes along besides the words and the images
    remarkable: tuple[ConversationText, ...]  # that something was done to

    @property
    def notes(self) -> tuple[str, ...]:
        """What had to be mended."""
        notes = list[str]()
        for text in self.remarkable:
            notes += [f"messages: {note}" for note in text.notes]
        return tuple(notes)

    @property
    def originals(self) -> dict[str, bytes]:
        """Of messages that were shortened, by handle."""
        originals = dict[str, bytes]()
        for text in self.remarkable:
            originals.update(text.originals)
        return originals

    def record_notices(self, scale: Scale) -> None:
        """Write onto the scale what was noticed while the history was written."""
        tag = self.choice.section.tag
        for text in self.remarkable:
            if text.forged:
                scale.forged[tag] = text.forged
            if text.cleaned:
                scale.cleaned[tag] = text.cleaned
            if text.alike:
                before = scale.alike.get(tag)
                scale.alike[tag] = text.alike.with_more(before.count) if before else text.alike


def history_section(
    message_cache: MessageCache,
    writer: HistoryWriter,
    cut: Cut,
    *,
    budget: int,
    other_units: int,
    workflow: str,
    is_last: bool,
) -> HistorySection:
    """The history within a budget of which the other parts take so many units; `is_last` where
    none of them comes behind it."""
    counter = writer.scale.counter
    tag = writer.tag
    closing = close_tag(tag, "\n")
    frame_units = counter.measure(open_tag(tag))
    frame_units += counter.measure(closing if is_last else closing + GAP)
    plan = _plan(
        message_cache,
        cut,
        budget=budget,
        taken=counter.tokens(other_units + frame_units),
        workflow=workflow,
    )
    front = _write_front(plan, writer)
    # a group has another size in the window where it is shortened, and is the same one here
    groups = message_cache.timeline.groups
    run = writer.run_of(groups[len(groups) - len(plan.window.groups) :], plan.excerpts)
    dropped = message_cache.dropped(plan.start)
    opening = _opening(front, dropped, counter)
    if not front.entries and not run.entries:
        opening = replace(opening, text=NOTHING_SAID, units=counter.measure(NOTHING_SAID))
    run_text = "".join(run.texts)
    units = opening.units + run.units
    remarkable = (*front.remarkable, *run.remarkable)
    cuts = _cuts(remarkable) + _summary_omission(message_cache, tag)
    entries = (*_pinned_entries(front), *run.entries)
    body = Body(
        text=opening.text + run_text,
        form=_form(is_dropped=dropped is not None, is_cut=bool(cuts)),
        kept_entries=entries,
        lost=dropped.messages if dropped else 0,
        lost_tokens=dropped.tokens if dropped else 0,
        mark=opening.mark,
        units=units + counter.measure(closing + GAP),
    )
    section = replace(
        writer.section,
        entries=entries,
        known_as=dropped.handle if dropped else writer.section.known_as,
    )
    return HistorySection(
        choice=Choice(section, body, units + frame_units, "no room left" if dropped else ""),
        opening=opening.text,
        run=run_text,
        opening_units=opening.units,
        units=units + frame_units,
        cut=Cut(plan.start, plan.excerpts),
        reason=plan.reason,
        cuts=tuple(cuts),
        messages=front.messages + run.messages,
        images=front.images + run.images,
        data_tokens=front.data_tokens + run.data_tokens,
        remarkable=remarkable,
    )


def _write_front(plan: _HistoryPlan, writer: HistoryWriter) -> Run:
    front = Run()
    for group, most_tokens in plan.front:
        shorten_to = most_tokens if group.tokens > most_tokens else 0
        front.add(writer.text_of(group, shorten_to=shorten_to))
    return front


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """What stands in front of the run; its last line is the mark, where messages are missing."""

    text: str
    units: int
    mark: str = ""


def _opening(front: Run, dropped: Dropped | None, counter: Counter) -> _Opening:
    text = "".join(front.texts)
    if dropped is None:
        return _Opening(text=text, units=front.units)
    what = f"{dropped.messages:,} earlier message{'s' if dropped.messages > 1 else ''}"
    mark = missing_mark(what, dropped.handle)
    line = f"{mark}\n"
    return _Opening(text=text + line, units=front.units + counter.measure(line), mark=mark)


def _form(*, is_dropped: bool, is_cut: bool) -> Form:
    if is_dropped:
        return "newest"
    return "excerpt" if is_cut else "full"


def _pinned_entries(front: Run) -> list[Entry]:
    return [replace(entry, pinned=True) for entry in front.entries]


def _cuts(texts: Sequence[ConversationText]) -> list[Omission]:
    cuts = list[Omission]()
    for text in texts:
        cuts += text.cuts
    return cuts


def _summary_omission(message_cache: MessageCache, tag: str) -> list[Omission]:
    """The messages that the summary stands for, where there is one."""
    made = message_cache.compression
    if made is None:
        return []
    omission = Omission(
        tag=tag,
        what=f"messages 1-{made.last:,}, summed up",
        tokens=max(0, made.replaced_tokens - made.summary_tokens),
        reason=f"compressed ({made.method})",
        handle=message_cache.summarized_handle(),
    )
    return [omission]


@dataclass(frozen=True, slots=True, kw_only=True)
class _HistoryPlan:
    """Which messages a call carries."""

    front: list[tuple[Group, int]]  # each with the most tokens it may have
    window: Window
    start: int
    excerpts: dict[int, int]  # by the first message of a group: the tokens it is shortened to
    reason: str = ""


def _plan(
    message_cache: MessageCache, cut: Cut, *, budget: int, taken: int, workflow: str
) -> _HistoryPlan:
    """Keep the window where it is while that fits; else move it far enough for many turns."""
    excerpts = dict(cut.excerpts)
    room = max(0, budget - taken)
    start = max(cut.start, message_cache.start)
    groups = message_cache.timeline.groups_from(start)
    if excerpts:
        groups = [_with_excerpt_size(group, excerpts.get(group.first)) for group in groups]
    front = _front(message_cache, start, budget=budget, workflow=workflow)
    window = choose(groups, room=room - _size(front), low=0)
    if not window.moved and not window.shorten_to:
        return _HistoryPlan(front=front, window=window, start=start, excerpts=excerpts)
    # From here on the first message and what is pinned stand in front: leave room for them.
    newest = groups[-1].first
    reserved = _size(_front(message_cache, newest, budget=budget, workflow=workflow)) + MARK_TOKENS
    free = max(1, room - reserved)
    low = low_water(groups, budget=budget, others=taken + reserved, room=free)
    window = choose(groups, room=free, low=low)
    is_shorter = len(window.groups) < len(groups)
    if is_shorter:
        start = window.groups[0].first
    if window.shorten_to:
        excerpts[window.groups[0].first] = window.shorten_to
    return _HistoryPlan(
        front=_front(message_cache, start, budget=budget, workflow=workflow),
        window=window,
        start=start,
        excerpts={first: tokens for first, tokens in excerpts.items() if first >= start},
        reason=LEFT_OUT if is_shorter else SHORTENED,
    )


def _with_excerpt_size(group: Group, tokens: int | None) -> Group:
    """A group with the size it has in the window, shortened or not."""
    if tokens is None or tokens >= group.tokens:
        return group
    return replace(group, tokens=tokens)


def _front(
    message_cache: MessageCache, start: int, *, budget: int, workflow: str
) -> list[tuple[Group, int]]:
    """What stands in front (the first message, what is pinned, the summary), each with the most
    tokens it may have."""
    most = round(FRONT_SHARE * budget)
    summarized = list[tuple[Group, int]]()
    later = list[tuple[Group, int]]()
    for group in message_cache.in_front_of(start):
        if group.first <= message_cache.compressed_to:
            summarized.append((group, most))
        else:
            later.append((group, most))
    if message_cache.compression is None:
        return [*summarized, *later]
    summary = (summary_group(message_cache.compression, workflow), round(SUMMARY_SHARE * budget))
    return [*summarized, summary, *later]


def _size(front: Sequence[tuple[Group, int]]) -> int:
    return sum(min(group.tokens, most) for group, most in front)
