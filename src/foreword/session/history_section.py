"""The history as it stands in one call: what is in front, the mark for what is missing, the run up
to the newest.

Nothing that was written for the last call is written again. Where the window begins is
`session.window`'s decision; what the parts beside the history take is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from foreword.compression.extract import summarize
from foreword.engine.boundaries import data_to_send
from foreword.engine.conversation_text import ConversationText, shorten_stretch, write_stretch
from foreword.engine.render import GAP, Scale, close_tag, message_text, open_tag
from foreword.engine.report import Omission
from foreword.messages.message import IMAGE_TOKENS, NOT_HISTORY, Message, edit
from foreword.messages.parts import Text
from foreword.plan.fresh_parts import EMPTY
from foreword.secrets.known_values import KnownValues
from foreword.section import Body, Choice, Entry, Form, Section, handle_of
from foreword.session.history_plan import HEAD_TOKENS, HistoryPlan, nothing_of, plan_history
from foreword.session.message_cache import Gap, MessageCache, summary_head
from foreword.session.secret_messages import without_secrets
from foreword.session.timeline import Group
from foreword.store.compressions import Cut
from foreword.text.omission_mark import missing_mark
from foreword.text.quantity import quantity
from foreword.tokens import Counter

NOTHING_SAID = EMPTY["conversation"] + "\n"


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
        """A copy that can be added to without changing this one."""
        return Run(
            groups=self.groups,
            excerpts=self.excerpts,
            entries=list(self.entries),
            texts=list(self.texts),
            units=self.units,
            messages=self.messages,
            images=self.images,
            data_tokens=self.data_tokens,
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
        words = message_text(message, lambda text: self.scale.safe(text, self.tag))
        data = data_to_send(message, self.scale.pattern)
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
            if shorten_to and group.first < 0:
                text = self._shorten_summary(messages[0], shorten_to)
            elif shorten_to:
                text = shorten_stretch(messages, self.scale, self.tag, shorten_to, newest=newest)
            else:
                text = write_stretch(messages, self.scale, self.tag, newest=newest)
            self.texts[key] = text
        return text

    def tokens_within(self, group: Group, tokens: int) -> int:
        """What a group takes that is shortened to so many tokens, as the newest or not: hardly ever
        exactly that. Images and thoughts go along whole."""
        sizes = list[int]()
        for newest in (False, True):
            text = self.text_of(group, newest=newest, shorten_to=tokens)
            beside = IMAGE_TOKENS * text.images + text.data_tokens
            sizes.append(self.scale.counter.tokens(text.units) + beside)
        return max(sizes)

    def _shorten_summary(self, message: Message, tokens: int) -> ConversationText:
        """A summary within so many tokens, by its own parts: what lasts stays, the rest by its
        weight."""
        head, summary = summary_head(message)
        counter = self.scale.counter
        shorter = summarize((), max(1, tokens - HEAD_TOKENS), counter, earlier=summary)
        words = f"{head}\n\n{shorter}"
        text = write_stretch([edit(message, parts=(Text(words),))], self.scale, self.tag)
        original = message.text.encode("utf-8", "surrogatepass")
        handle = handle_of(original)
        cut = Omission(
            tag=self.tag,
            what="part of the summary",
            tokens=max(0, counter.count(message.text) - counter.count(words)),
            reason="larger than its room",
            handle=handle,
        )
        return replace(text, cuts=(cut,), originals=((handle, original),))

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
    may_fill: bool,
    mark_only: bool,
) -> HistorySection:
    """The history within a budget of which the other parts take so many units; `is_last` where
    none of them comes behind it. `mark_only` leaves the line that says what is missing."""
    counter = writer.scale.counter
    tag = writer.tag
    closing = close_tag(tag, "\n")
    frame_units = counter.measure(open_tag(tag))
    frame_units += counter.measure(closing if is_last else closing + GAP)
    plan = plan_history(
        message_cache,
        cut,
        budget=budget,
        taken=counter.tokens(other_units + frame_units),
        workflow=workflow,
        may_fill=may_fill,
        tokens_within=writer.tokens_within,
    )
    if mark_only:
        plan = nothing_of(message_cache)
    front = _write_front(plan, writer)
    # a group has another size in the window where it is shortened, and is the same one here
    groups = message_cache.timeline.groups
    run = writer.run_of(groups[len(groups) - len(plan.window.groups) :], plan.excerpts)
    dropped = message_cache.dropped_gap(plan.start, plan.front.staying)
    if dropped is None and message_cache.compression is not None and not plan.front.has_summary:
        dropped = message_cache.summary_gap()
    opening = _opening(front, dropped, counter)
    if not front.entries and not run.entries and dropped is None:
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


def _write_front(plan: HistoryPlan, writer: HistoryWriter) -> Run:
    front = Run()
    for piece in plan.front.pieces:
        front.add(writer.text_of(piece.group, shorten_to=piece.shorten_to))
    return front


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """What stands in front of the run; its last line is the mark, where messages are missing."""

    text: str
    units: int
    mark: str = ""


def _opening(front: Run, dropped: Gap | None, counter: Counter) -> _Opening:
    text = "".join(front.texts)
    if dropped is None:
        return _Opening(text=text, units=front.units)
    mark = missing_mark(quantity(dropped.messages, "earlier message"), dropped.handle)
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
