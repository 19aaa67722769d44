"""How large a package may be: the budget, step by step, and the counter that goes with the model.

Worked out before anything is read. Which tokens a text has is `tokens`' business.
"""

from __future__ import annotations

import re

from foreword import tokens
from foreword.errors import BadBudget
from foreword.recipe.schema import LARGEST_AMOUNT, BudgetSpec
from foreword.section import Budget
from foreword.tokens import Counter


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
    """The counter that was asked for, else the model's, else the estimate."""
    if isinstance(counter, Counter):
        return counter
    if counter:
        return tokens.counter(counter)
    return tokens.for_model(model)[1] if model else tokens.counter("estimate")


def work_out_budget(
    spec: BudgetSpec, *, budget: object = None, window: object = None, model: str | None = None
) -> Budget:
    """The budget with every step that led to it; `budget` and `window` are the request's."""
    requested = whole_number(budget, "budget")
    window_tokens = whole_number(window, "window")
    share = spec.share.value if spec.share else 1.0
    if window_tokens is None and model:
        window_tokens = tokens.for_model(model)[0]
    # a budget of 12,000 at 30% stands for a window of 40,000
    if window_tokens is None and requested is not None:
        window_tokens = round((requested + sum(spec.less.values())) / share)
    window_tokens = window_tokens or tokens.default_window()
    steps = [("window", window_tokens)]
    left = window_tokens
    if spec.tokens is not None and spec.tokens < left:
        left = spec.tokens
        steps.append(("practical limit", left))
    if share < 1:
        left = int(left * share)
        steps.append((f"{share:.0%} of it", left))
    for what, less in spec.less.items():
        left -= less
        steps.append((f"less {what.replace('_', ' ')}", -less))
    if requested is None and left <= 0:
        reserves = [f"{what.replace('_', ' ')} {less:,}" for what, less in spec.less.items()]
        problem = (
            f"a window of {window_tokens:,} tokens leaves nothing for a context:"
            f" {', '.join(reserves)} are kept free"
        )
        raise BadBudget(
            window_tokens, "window", problem=problem, hint="give a larger --window, or a --budget"
        )
    if requested is not None:
        steps.append(("given", requested))
    result = requested or left
    return Budget(result, window_tokens, steps=(*steps, ("budget", result)))
