"""Make a cut: the parts fitted into the budget, and as much of the history as fits beside them.

The parts are fitted by the engine, as in any recipe. What is written is measured, and the history
planned smaller where it came out larger than planned. Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foreword.context.item_sections import part_section
from foreword.engine.conversation_text import ConversationText
from foreword.engine.fit import fit
from foreword.engine.outline import outline_of
from foreword.engine.render import pieces_of, total_units
from foreword.engine.report import Omission
from foreword.errors import EssentialsTooLarge
from foreword.recipe.selection import Selection
from foreword.section import Budget, Choice, Tiers
from foreword.session.call_text import CallText, Head, call_of, frame_units, total_tokens
from foreword.session.call_tools import CallTools
from foreword.session.cut_plan import MARK_TOKENS, CutPlan, Fill, nothing_of, plan_cut
from foreword.session.history import History
from foreword.session.message_writer import MessageWriter
from foreword.session.state_parts import State

# Of the budget: the parts may not take more than the rest. It keeps a large plan or snapshot from
# pushing out the conversation; where the whole history is smaller, only that much is reserved.
LEAST_HISTORY = 0.2
MOST_TRIES = 10  # of budgets for an error, each a quarter larger than the one before


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInputs:
    """What the next call is made of, besides the call log."""

    state: State
    selection: Selection
    tools: CallTools
    budget: Budget
    workflow: str
    notes: Sequence[str] = ()


def make_cut(
    history: History,
    writer: MessageWriter,
    inputs: CallInputs,
    *,
    start: int,
    fill: Fill,
) -> tuple[CallText, int]:
    """The call, and the first message after its head; messages from `start` on were in the call
    before. Raises `EssentialsTooLarge` with a budget that will do where this one is too small."""
    try:
        return _cut_within(history, writer, inputs, inputs.budget.tokens, start=start, fill=fill)
    except EssentialsTooLarge as short:
        needed = short.needed
        for _ in range(MOST_TRIES):  # shares grow with the budget: a sum of sizes may be too small
            try:
                _cut_within(history, writer, inputs, needed, start=start, fill=fill)
                break
            except EssentialsTooLarge as again:
                needed = max(again.needed, needed + needed // 4)
        raise EssentialsTooLarge(
            needed=needed, budget=inputs.budget.tokens, sections=short.sections, pins=short.pins
        ) from None


def _cut_within(
    history: History,
    writer: MessageWriter,
    inputs: CallInputs,
    budget: int,
    *,
    start: int,
    fill: Fill,
) -> tuple[CallText, int]:
    choices = _fit_parts(history, writer, inputs, budget)
    counter = writer.scale.counter
    parts_units = total_units(pieces_of(choices, is_followed=True), counter)
    frame = frame_units(writer.tag, counter)
    room = counter.room(budget)
    spare = 0
    while True:
        plan = plan_cut(
            history,
            start,
            budget=budget,
            taken=counter.tokens(parts_units + frame + spare),
            workflow=inputs.workflow,
            fill=fill,
            tokens_within=writer.tokens_within,
        )
        text = _write(plan, history, writer, choices)
        over = total_tokens(text, writer) - budget
        if over <= 0:
            return text, plan.start
        if spare >= room:
            break
        # mending or cutting made it larger than planned
        spare = min(spare + counter.room(over), room)
    pins = _pins(history)
    if pins:  # they are never left out
        needed = budget + over
        raise EssentialsTooLarge(needed=needed, budget=budget, sections={}, pins=pins)
    plan = nothing_of(history)
    text = _write(plan, history, writer, choices)
    over = total_tokens(text, writer) - budget
    if over > 0:
        sections = {each.section.name: counter.tokens(each.units) for each in choices}
        sections[writer.section.name] = counter.tokens(text.units + frame)
        raise EssentialsTooLarge(needed=budget + over, budget=budget, sections=sections)
    return text, plan.start


def _fit_parts(
    history: History, writer: MessageWriter, inputs: CallInputs, budget: int
) -> list[Choice]:
    """The parts, where the history is left its share of the budget."""
    least_history = min(history.tokens + MARK_TOKENS, round(LEAST_HISTORY * budget))
    sections = [
        part_section(tag, inputs.selection, part.text) for tag, part in inputs.state.parts.items()
    ]
    outline = outline_of(sections)
    choices = fit(
        sections,
        outline,
        budget_tokens=budget,
        scale=writer.scale.without_notices(),
        tiers=Tiers(),
        spare_tokens=least_history,
    )
    if not choices.keys() >= set(outline.lasting):  # a state is never lost without a word
        raise EssentialsTooLarge(needed=budget + 1, budget=budget, sections={})
    return [choices[index] for index in sorted(choices)]


def _pins(history: History) -> dict[int, int]:
    """The tokens of each pinned message, by its number."""
    pins = dict[int, int]()
    for group in history.staying:
        pins.update({turn.seq: turn.tokens for turn in group.turns if turn.pinned})
    return pins


def _write(
    plan: CutPlan, history: History, writer: MessageWriter, choices: Sequence[Choice]
) -> CallText:
    front = [writer.text_of(piece.group, piece.shorten_to) for piece in plan.front.pieces]
    texts = list[ConversationText]()
    shortened = dict[int, ConversationText]()
    for place, group in enumerate(plan.groups, 1):
        shorten_to = plan.excerpts.get(group.first, 0)
        text = writer.text_of(group, shorten_to, newest=place == len(plan.groups))
        texts.append(text)
        if shorten_to:
            shortened[group.first] = text
    gap = history.gap_before(plan.start, plan.front.staying)
    if gap is None and history.compression is not None and not plan.front.has_summary:
        gap = history.summary_gap()
    omissions = [cut for text in (*front, *texts) for cut in text.cuts]
    omissions += _summary_omission(history, writer.tag)
    head = Head(parts=choices, front=front, gap=gap, shortened=shortened, omissions=omissions)
    return call_of(head, texts, writer)


def _summary_omission(history: History, tag: str) -> list[Omission]:
    """The messages that the summary stands for, where there is one."""
    made = history.compression
    if made is None:
        return []
    omission = Omission(
        tag=tag,
        what=f"messages 1-{made.last:,}, summed up",
        tokens=max(0, made.replaced_tokens - made.summary_tokens),
        reason=f"compressed ({made.method})",
        handle=history.summarized_handle(),
    )
    return [omission]
