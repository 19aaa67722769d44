"""How a session is opened: its recipe, its counter, its budget."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foreword.engine.package import CONVERSATION
from foreword.engine.render import scale_of_tags
from foreword.errors import UsageError
from foreword.model import Budget, Section
from foreword.recipe.load import load
from foreword.runtime.assembly import project_root
from foreword.runtime.budget import choose_counter, whole_number
from foreword.runtime.limits import Limits
from foreword.runtime.selection import Selection, select
from foreword.runtime.told import Writing
from foreword.tokens import Counter

DEFAULT_COUNTER = "o200k"  # tool results are mostly JSON, which characters / 4 gets wrong by a third


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session was opened with."""

    root: Path
    selection: Selection
    writing: Writing
    limits: Limits
    budget: Budget
    compress_with: Any
    auto_compress: bool


def opening_for(
    root: str | Path, recipe: str, limits: Limits, budget: object, model: str | None, counter: str | Counter | None,
    compress_with: Any, auto_compress: bool,
) -> Opening:  # fmt: skip
    """Everything that is worked out once, before the store is opened."""
    folder = project_root(root)
    selection = select(load(recipe, folder), {})
    counting = choose_counter(counter if counter or model else DEFAULT_COUNTER, model)
    allowed = budget_for(limits, whole_number(budget, "budget"))
    return Opening(folder, selection, _writing(selection, counting), limits, allowed, compress_with, auto_compress)


def budget_for(limits: Limits, given: int | None) -> Budget:
    """The budget that was given, else the size at which the history is compressed."""
    last = ("given", given) if given else ("compressed at", limits.compress_at)
    tokens = given or limits.compress_at
    return Budget(tokens, limits.window, (("window", limits.window), last, ("budget", tokens)))


def _writing(selection: Selection, counter: Counter) -> Writing:
    tag = next((tag for tag, spec in selection.sections.items() if spec.state == "messages"), None)
    if tag is None:
        raise UsageError(
            f"recipe {selection.recipe.name!r} has no conversation: a section with `state: messages`",
            hint="use workflow or workflow-cached",
        )
    rule, rank = selection.rule(tag), selection.rank(tag)
    section = Section(tag, "", rule, rank, "", "conversation", CONVERSATION, known_as="history")
    return Writing(scale_of_tags(selection.sections, counter), section)
