"""One call of a conversation: the fresh parts, and as much of the history as fits beside them.

The parts are fitted by the engine, as in any recipe. The history is written message by message and
never measured twice, so a turn costs what is new in it, however long the conversation is. Nothing
is saved here: that is `call_memory`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from foreword.context.item_sections import part_section
from foreword.engine.fit import fit
from foreword.engine.outline import outline_of
from foreword.engine.package import Package
from foreword.engine.render import Scale, pieces_of, total_units
from foreword.engine.report import Report
from foreword.errors import EssentialsTooLarge
from foreword.messages.message import IMAGE_TOKENS, bound_thinking
from foreword.recipe.selection import Selection
from foreword.section import Budget, Choice, Section, Tiers
from foreword.session.cache_reuse import Stretch
from foreword.session.history_plan import LEFT_OUT, LITTLE, MARK_TOKENS
from foreword.session.history_section import HistorySection, HistoryWriter, history_section
from foreword.session.message_cache import MessageCache
from foreword.store.compressions import Cut
from foreword.tokens import Counter

# Of the budget: the parts may not take more than the rest. It keeps a large plan or snapshot from
# pushing out the conversation; where the whole history is smaller, only that much is reserved.
LEAST_HISTORY = 0.2
THINKING_LOST = "{:,} thinking blocks are not sent: what was sent before them has changed since"
REFILLS = 3  # tries to fill what a shortened message has left empty; each wins about half of it


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedParts:
    """The parts of a call but for its history, as they are written, and what that took."""

    texts: Mapping[str, str]  # what they were made of, by tag
    budget: int
    least_history: int  # tokens that were left to the history
    before: Sequence[Choice]
    after: Sequence[Choice]
    front: Sequence[str]
    behind: Sequence[str]
    units: int
    scale: Scale  # with what was noticed in them


class PartsMemory:
    """Fits the parts of the calls of one conversation; those that are as they were in the last
    call are not fitted again."""

    def __init__(self) -> None:
        self._last: FittedParts | None = None

    def fit(self, inputs: CallInputs, budget: int) -> FittedParts:
        """The parts; they leave the history its share of the budget."""
        history_tokens = inputs.message_cache.history_tokens
        least_history = min(history_tokens + MARK_TOKENS, round(LEAST_HISTORY * budget))
        last = self._last
        if (
            last is None
            or last.texts != inputs.parts
            or last.budget != budget
            or last.least_history != least_history
        ):
            last = self._last = _fit_parts(inputs, budget, least_history)
        return last


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInputs:
    """What a call is made of, besides its budget."""

    selection: Selection
    parts: Mapping[str, str]  # by tag, all but the history
    parts_memory: PartsMemory
    message_cache: MessageCache
    writer: HistoryWriter
    cut: Cut  # where the window began at the call before
    workflow: str
    notes: Sequence[str] = ()
    cached: int = 0  # how many messages the call before it had
    may_fill: bool = False  # whether a window that moves may leave no room for what comes


@dataclass(frozen=True, slots=True)
class NextCall:
    """A call as it was made."""

    package: Package
    history: HistorySection
    stretches: list[Stretch]  # what a prompt cache sees, in order

    def with_thinking_from(self, place: int) -> NextCall:
        """The call without the thinking before a message of its conversation that is bound to
        another prefix; the report says how much that is."""
        package = replace(self.package, thinking_from=place)
        talk = [
            message for entry in self.history.choice.body.kept_entries for message in entry.messages
        ]
        lost = sum(map(bound_thinking, talk[:place]))
        if lost:
            report = replace(
                package.report, notes=(*package.report.notes, THINKING_LOST.format(lost))
            )
            package = replace(package, report=report)
        return replace(self, package=package)


def make_call(inputs: CallInputs, budget: Budget) -> NextCall:
    """The package for the next call; where the budget is too small, the error names the least
    that will do."""
    try:
        return _call_within(inputs, budget)
    except EssentialsTooLarge as short:
        needed = _least_budget(inputs, budget, short.needed)
        call = _call_within(inputs, replace(budget, tokens=needed))
        raise EssentialsTooLarge(
            needed=needed,
            budget=budget.tokens,
            sections=_section_sizes(call, needed),
            pins=short.pins,
        ) from None


def _least_budget(inputs: CallInputs, budget: Budget, guess: int) -> int:
    """The least budget that will do, found by trying: shares and floors grow with it, so no sum
    says it."""
    low = budget.tokens
    high = max(guess, low + 1)
    while not _fits(inputs, replace(budget, tokens=high)):
        low = high
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(inputs, replace(budget, tokens=middle)):
            high = middle
        else:
            low = middle
    return high


def _fits(inputs: CallInputs, budget: Budget) -> bool:
    try:
        _call_within(inputs, budget)
    except EssentialsTooLarge:
        return False
    return True


def _section_sizes(call: NextCall, budget: int) -> dict[str, int]:
    """What each part takes of the least budget; what the others leave is the history's."""
    counter = call.package.report.scale.counter
    sizes = dict[str, int]()
    for choice in call.package.report.choices:
        if choice is not call.history.choice:
            sizes[choice.section.name] = counter.tokens(choice.units)
    rest = budget - sum(sizes.values())
    return {**sizes, call.history.choice.section.name: rest}


def _call_within(inputs: CallInputs, budget: Budget) -> NextCall:
    parts = inputs.parts_memory.fit(inputs, budget.tokens)
    counter = parts.scale.counter
    history = _fit_history(
        inputs,
        budget.tokens,
        parts.units,
        beside=[*parts.before, *parts.after],
        is_last=not parts.after,
    )
    # what is noticed in the history belongs to this call
    scale = parts.scale.with_notices()
    history.record_notices(scale)
    middle = pieces_of([history.choice], is_followed=bool(parts.after))
    choices = [*parts.before, history.choice, *parts.after]
    report = Report(
        recipe=inputs.selection.recipe.name,
        budget=budget,
        total_tokens=counter.tokens(parts.units + history.units),
        scale=scale,
        came_in=tuple(choice.section for choice in choices),
        decided=dict(enumerate(choices)),
        notes=(*inputs.notes, *_notes(history, budget), *history.notes),
        profile={"workflow": inputs.workflow},
        cuts=history.cuts,
    )
    package = Package(
        "".join([*parts.front, *middle, *parts.behind]),
        report,
        cut=history.originals,
        cached=0 if history.reason else inputs.cached,
    )
    return NextCall(package, history, _stretches(choices, history, scale))


def _notes(history: HistorySection, budget: Budget) -> list[str]:
    notes = []
    if history.images:
        notes.append(
            f"{history.images:,} images take about {IMAGE_TOKENS * history.images:,} tokens beside"
            " the text"
        )
    if history.data_tokens:
        notes.append(
            f"documents, thoughts and the like take about {history.data_tokens:,} tokens beside the"
            " text"
        )
    if budget.tokens > budget.window_tokens:
        notes.append(
            f"the budget of {budget.tokens:,} is larger than the window of {budget.window_tokens:,}"
        )
    return notes


def _fit_parts(inputs: CallInputs, budget: int, least_history: int) -> FittedParts:
    """The parts in front of the history and behind it, where so many tokens are left to it."""
    selection = inputs.selection
    scale = inputs.writer.scale.without_notices()
    history_tag = inputs.writer.tag
    place = 0  # how many parts stand in front of the history
    sections = list[Section]()
    for tag in selection.sections:
        if tag == history_tag:
            place = len(sections)
        elif tag in inputs.parts:  # a file may not be there
            sections.append(part_section(tag, selection, inputs.parts[tag]))
    outline = outline_of(sections)
    choices = fit(
        sections,
        outline,
        budget_tokens=budget,
        scale=scale,
        tiers=Tiers(),
        spare_tokens=least_history,
    )
    if not choices.keys() >= set(outline.lasting):  # a state is never lost without a word
        raise EssentialsTooLarge(needed=budget + 1, budget=budget, sections={})
    before = [choices[index] for index in sorted(choices) if index < place]
    after = [choices[index] for index in sorted(choices) if index >= place]
    front = pieces_of(before, is_followed=True)
    behind = pieces_of(after)
    return FittedParts(
        texts=inputs.parts,
        budget=budget,
        least_history=least_history,
        before=before,
        after=after,
        front=front,
        behind=behind,
        units=total_units(front, scale.counter) + total_units(behind, scale.counter),
        scale=scale,
    )


def _fit_history(
    inputs: CallInputs, budget: int, other_units: int, *, beside: Sequence[Choice], is_last: bool
) -> HistorySection:
    """The history, measured as it is written; where mending or cutting made it larger than
    planned, planned smaller, and larger where it came out smaller and may fill the room."""
    counter = inputs.writer.scale.counter
    room = counter.room(budget)

    def within(spare: int, *, cut: Cut = inputs.cut, mark_only: bool = False) -> HistorySection:
        return history_section(
            inputs.message_cache,
            inputs.writer,
            cut,
            budget=budget,
            other_units=other_units + spare,
            workflow=inputs.workflow,
            is_last=is_last,
            may_fill=inputs.may_fill,
            mark_only=mark_only,
        )

    # Rounded up group by group, a window that is nearly full may seem too large and is not.
    unmoved = within(-round(LITTLE * room))
    if not unmoved.reason and other_units + unmoved.units <= room:
        return unmoved
    spare = 0
    history = within(spare)
    while other_units + history.units > room:
        if spare == room:
            pins = inputs.message_cache.pins()
            if pins:  # they are never left out
                raise EssentialsTooLarge(needed=budget + 1, budget=budget, sections={}, pins=pins)
            # What the next call makes of a window behind everything: the first message, if it fits.
            first = within(0, cut=Cut(inputs.message_cache.known + 1))
            if other_units + first.units <= room:
                return replace(first, reason=first.reason or LEFT_OUT)
            marked = within(room, mark_only=True)
            return _marked_history(marked, counter, budget, other_units=other_units, beside=beside)
        spare = min(spare + other_units + history.units - room, room)
        history = within(spare)
    if history.reason and inputs.may_fill:
        return _fill_history(history, within, spare, room - other_units)
    return history


def _fill_history(
    history: HistorySection, within: Callable[[int], HistorySection], spare: int, room: int
) -> HistorySection:
    """The history as planned with more room than there is, as far as it fits all the same: a
    message that is cut at the end of a line leaves room."""
    best = history
    extra = room - history.units
    for _ in range(REFILLS):
        if room - best.units <= LITTLE * room:
            break
        larger = within(spare - extra)
        if best.units < larger.units <= room:
            best = larger
            extra += room - larger.units
        else:
            extra //= 2
    return best


def _marked_history(
    history: HistorySection,
    counter: Counter,
    budget: int,
    *,
    other_units: int,
    beside: Sequence[Choice],
) -> HistorySection:
    """The history as one line that says what is missing, or an error where there is no room even
    for that."""
    over = other_units + history.units - counter.room(budget)
    if over <= 0:
        return history
    choices = [*beside, history.choice]
    raise EssentialsTooLarge(
        needed=budget + counter.tokens(over),
        budget=budget,
        sections={choice.section.name: counter.tokens(choice.units) for choice in choices},
    )


def _stretches(choices: Sequence[Choice], history: HistorySection, scale: Scale) -> list[Stretch]:
    """The text in the stretches that stay or change as one."""
    stretches = list[Stretch]()
    for choice in choices:
        tag = choice.section.tag
        tokens = scale.counter.tokens(choice.units)
        if choice is history.choice:
            opening = scale.counter.tokens(history.opening_units)
            stretches.append(Stretch(f"{tag} opening", history.opening, opening, is_history=True))
            stretches.append(Stretch(tag, history.run, tokens - opening, is_history=True))
        else:
            stretches.append(Stretch(tag, choice.body.text, tokens))
    return stretches
