"""How large a package may be: the budget, step by step, and the counter that goes with the model.

Worked out before anything is read. Which tokens a text has is `tokens`' business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from foreword import tokens
from foreword.errors import BadBudget
from foreword.recipe.field_types import LARGEST_AMOUNT
from foreword.recipe.schema import BudgetSpec
from foreword.section import Budget
from foreword.tokens import Counter

# What a request may keep free of the window, and how it says so.
OPTIONS = {
    "system_prompt": "system-prompt-tokens",
    "response_reserve": "reserve",
    "tool_overhead": "tool-overhead",
}


def whole_number(value: object, what: str) -> int | None:
    """A positive whole number of tokens (`12000`, `12,000`, `12k`), or None where nothing was
    given."""
    if value is None:
        return None
    if isinstance(value, str):
        found = re.fullmatch(r"(\d[\d_,]{0,20})([kK]?)", value.strip())
        if found is None:
            raise BadBudget(value, what)
        value = int(re.sub(r"[_,]", "", found[1])) * (1000 if found[2] else 1)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= LARGEST_AMOUNT:
        raise BadBudget(value, what)
    return value


def choose_counter(counter: str | Counter | None, model: str | None) -> Counter:
    """The counter that was asked for, else the model's, else the exact default."""
    if isinstance(counter, Counter):
        return counter
    if counter:
        return tokens.counter(counter)
    return tokens.for_model(model)[1] if model else tokens.counter()


def work_out_budget(
    spec: BudgetSpec,
    *,
    budget: object,
    window: object,
    model: str | None,
    less: Mapping[str, object],
) -> Budget:
    """The budget with every step that led to it; `budget`, `window` and what is kept free of it
    (`less`) are the request's."""
    requested = whole_number(budget, "budget")
    window_tokens = whole_number(window, "window")
    kept_free = {**spec.less, **_kept_free(less, requested)}
    if window_tokens is None and model:
        window_tokens = tokens.for_model(model)[0]
    if requested is not None and window_tokens is None:
        return _requested_budget(spec, requested)
    window_tokens = window_tokens or tokens.default_window()
    steps = [("window", window_tokens)]
    left = window_tokens
    if spec.tokens is not None and spec.tokens < left:
        left = spec.tokens
        steps.append(("practical limit", left))
    share = _share(spec)
    if share < 1:
        left = int(left * share)
        steps.append((f"{share:.0%} of it", left))
    for what, kept in kept_free.items():
        left -= kept
        steps.append((f"less {what.replace('_', ' ')}", -kept))
    if requested is None and left <= 0:
        raise _no_room_error(window_tokens, kept_free)
    if requested is not None:
        steps.append(("given", requested))
    result = requested or left
    return Budget(result, window_tokens, steps=(*steps, ("budget", result)))


def _share(spec: BudgetSpec) -> float:
    return spec.share.value if spec.share else 1.0


def _requested_budget(spec: BudgetSpec, requested: int) -> Budget:
    """A budget that was given, with nothing around it. Sections are measured against what it is
    the recipe's share of: at 30%, 12,000 stand for 40,000."""
    whole = round(requested / _share(spec))
    steps = (("given", requested), ("budget", requested))
    return Budget(requested, whole, steps=steps, has_window=False)


def _kept_free(less: Mapping[str, object], requested: int | None) -> dict[str, int]:
    """What the request wants to be kept free of the window, by name."""
    kept_free = dict[str, int]()
    for name, amount in less.items():
        if amount is None:
            continue
        kept = 0 if amount in (0, "0") else whole_number(amount, OPTIONS[name])
        if requested is not None:
            problem = f"a budget of {requested:,} tokens is given, so nothing is taken off a window"
            hint = f"give --budget or --{OPTIONS[name]}, not both"
            raise BadBudget(amount, OPTIONS[name], problem=problem, hint=hint)
        kept_free[name] = kept or 0
    return kept_free


def _no_room_error(window_tokens: int, kept_free: Mapping[str, int]) -> BadBudget:
    reserves = [f"{what.replace('_', ' ')} {kept:,}" for what, kept in kept_free.items()]
    problem = (
        f"a window of {window_tokens:,} tokens leaves nothing for a context:"
        f" {', '.join(reserves)} are kept free"
    )
    hint = "give a larger --window, or a --budget"
    return BadBudget(window_tokens, "window", problem=problem, hint=hint)
