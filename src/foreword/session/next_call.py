"""One call of a conversation: the fresh parts, and as much of the history as fits beside them.

The parts are fitted by the engine, as in any recipe. The history is written message by message and
never measured twice, so a turn costs what is new in it, however long the conversation is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from foreword.context.item_sections import part_section
from foreword.engine.fit import fit
from foreword.engine.outline import outline_of
from foreword.engine.package import Package
from foreword.engine.render import GAP, Scale, pieces_of, total_units
from foreword.engine.report import Report
from foreword.errors import EssentialsTooLarge
from foreword.message import IMAGE_TOKENS
from foreword.recipe.selection import Selection
from foreword.section import Budget, Choice, Tiers
from foreword.session.cache_reuse import Stretch
from foreword.session.history_section import MARK_TOKENS, HistorySection, Writing, tell
from foreword.session.message_cache import MessageCache
from foreword.store.compressions import Cut

LEAST_HISTORY = 0.2  # of the budget: the parts may not take more than the rest


@dataclass(frozen=True, slots=True)
class NextCall:
    """A call as it was made."""

    package: Package
    told: HistorySection
    stretches: list[Stretch]  # what a prompt cache sees, in order


def make(
    selection: Selection,
    parts: Mapping[str, str],
    transcript: MessageCache,
    writing: Writing,
    cut: Cut,
    budget: Budget,
    workflow: str,
    *,
    notes: Sequence[str] = (),
    cached: int = 0,
) -> NextCall:
    """The package for the next call; `cached` is how many messages the call before it had.

    Where the budget is too small, the error names the least that will do.
    """

    def within(allowed: Budget) -> NextCall:
        return _made(selection, parts, transcript, writing, cut, allowed, workflow, notes, cached)

    try:
        return within(budget)
    except EssentialsTooLarge as short:
        needed = _enough(within, budget, short.needed)
        sizes = _shares(within(replace(budget, tokens=needed)), needed)
        raise EssentialsTooLarge(needed=needed, budget=budget.tokens, sections=sizes) from None


def _enough(within: Callable[[Budget], NextCall], budget: Budget, guess: int) -> int:
    """The least budget that will do, found by trying: shares and floors grow with it, so no sum
    says it."""
    low, high = budget.tokens, max(guess, budget.tokens + 1)
    while not _fits(within, replace(budget, tokens=high)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if _fits(within, replace(budget, tokens=middle)) else (middle, high)
        )
    return high


def _shares(turned: NextCall, budget: int) -> dict[str, int]:
    """What each part takes of the least budget; what the others leave is the history's."""
    counter, history = turned.package.report.scale.counter, turned.told.choice
    sizes = {
        one.section.name: counter.tokens(one.units)
        for one in turned.package.report.choices
        if one is not history
    }
    return {**sizes, history.section.name: budget - sum(sizes.values())}


def _fits(within: Callable[[Budget], NextCall], budget: Budget) -> bool:
    try:
        within(budget)
    except EssentialsTooLarge:
        return False
    return True


def _made(
    selection: Selection,
    parts: Mapping[str, str],
    transcript: MessageCache,
    writing: Writing,
    cut: Cut,
    budget: Budget,
    workflow: str,
    notes: Sequence[str],
    cached: int,
) -> NextCall:
    # what is noticed belongs to this call
    scale = replace(writing.scale, forged={}, cleaned={}, alike={})
    before, after = _fitted(selection, parts, transcript, writing.tag, scale, budget)
    counter = scale.counter
    front, behind = _gapped(pieces_of(before)), pieces_of(after)
    others = total_units(front, counter) + total_units(behind, counter)
    told = _told(
        transcript, writing, cut, budget.tokens, others, workflow, [*before, *after], last=not after
    )
    middle = pieces_of([told.choice])
    choices = [*before, told.choice, *after]
    report = Report(
        selection.recipe.name,
        budget,
        counter.tokens(others + told.units),
        told.noticed(scale),
        tuple(choice.section for choice in choices),
        dict(enumerate(choices)),
        (),
        (*notes, *_notes(told, budget), *told.notes),
        {"workflow": workflow},
        cuts=told.cuts,
    )
    text = "".join([*front, *(_gapped(middle) if after else middle), *behind])
    package = Package(text, report, cut=told.originals, cached=0 if told.reason else cached)
    return NextCall(package, told, _stretches(choices, told, scale))


def _notes(told: HistorySection, budget: Budget) -> list[str]:
    notes = []
    if told.images:
        notes.append(
            f"{told.images:,} images take about {IMAGE_TOKENS * told.images:,} tokens beside the"
            " text"
        )
    if told.carried:
        notes.append(
            f"documents, thoughts and the like take about {told.carried:,} tokens beside the text"
        )
    if budget.tokens > budget.window_tokens:
        notes.append(
            f"the budget of {budget.tokens:,} is larger than the window of {budget.window_tokens:,}"
        )
    return notes


def _fitted(
    selection: Selection,
    parts: Mapping[str, str],
    transcript: MessageCache,
    history: str,
    scale: Scale,
    budget: Budget,
) -> tuple[list[Choice], list[Choice]]:
    """The parts in front of the history and behind it; they leave it its share of the budget."""
    # a file may not be there
    tags = [tag for tag in selection.sections if tag == history or tag in parts]
    sections = [part_section(tag, selection, parts[tag]) for tag in tags if tag != history]
    least = min(transcript.history_tokens + MARK_TOKENS, round(LEAST_HISTORY * budget.tokens))
    decided = fit(
        sections,
        outline_of(sections),
        budget_tokens=budget.tokens,
        scale=scale,
        tiers=Tiers(),
        spare_tokens=least,
    )
    at = tags.index(history)
    before = [decided[index] for index in sorted(decided) if index < at]
    return before, [decided[index] for index in sorted(decided) if index >= at]


def _told(
    transcript: MessageCache,
    writing: Writing,
    cut: Cut,
    budget: int,
    others: int,
    workflow: str,
    beside: Sequence[Choice],
    *,
    last: bool,
) -> HistorySection:
    """The history, measured as it is written; where mending or cutting made it larger than
    planned, planned smaller."""
    counter, spare = writing.scale.counter, 0
    while True:
        told = tell(transcript, writing, cut, budget, others + spare, workflow, last=last)
        over = others + told.units - counter.room(budget)
        if over <= 0:
            return told
        spare, before = min(spare + over, counter.room(budget)), spare
        if spare == before:
            sizes = {
                choice.section.name: counter.tokens(choice.units)
                for choice in (*beside, told.choice)
            }
            raise EssentialsTooLarge(
                needed=budget + counter.tokens(over), budget=budget, sections=sizes
            )


def _gapped(pieces: list[str]) -> list[str]:
    """Pieces that others follow: the line between them belongs to the last one."""
    return [*pieces[:-1], pieces[-1] + GAP] if pieces else []


def _stretches(choices: Sequence[Choice], told: HistorySection, scale: Scale) -> list[Stretch]:
    """The text in the stretches that stay or change as one."""
    stretches = list[Stretch]()
    for choice in choices:
        tag, tokens = choice.section.tag, scale.counter.tokens(choice.units)
        if choice is told.choice:
            opening = scale.counter.tokens(told.opening_units)
            stretches.append(Stretch(f"{tag} opening", told.opening, opening, is_history=True))
            stretches.append(Stretch(tag, told.run, tokens - opening, is_history=True))
        else:
            stretches.append(Stretch(tag, choice.body.text, tokens))
    return stretches
