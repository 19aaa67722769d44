"""Where a window on a conversation begins: as long as it can where it was, and when it must move,
far.

Prompt caches match exact prefixes, so dropping the oldest message at every turn makes each call a
new one. Here nothing goes until something has to, and then so much goes that many turns fit before
it happens again. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foreword.session.timeline import Group

AVERAGE = 0.81  # of the budget, over many turns: what is left after a cut is chosen for this
LARGEST_SPREAD = 0.1  # of the budget
MUCH = 0.25  # of the low-water mark: too much to leave empty because of one large group
LEAST_RUN = 0.3  # of the room for the run: a cut leaves at least so much of the conversation


@dataclass(frozen=True, slots=True)
class Window:
    """The newest groups that fit, and whether the window had to move for that."""

    groups: Sequence[Group]
    moved: bool = False
    shorten_to: int = 0  # tokens for the oldest of the groups, where it does not fit whole


def low_water(groups: Sequence[Group], budget: int, others: int, room: int) -> int:
    """How many tokens of a conversation to keep at a cut, where other parts take so many of the
    budget.

    From there to full and back to there, call by call, is `AVERAGE` in the middle. It is never
    quite full: the group that no longer fits ends it, and that is more often a large one.
    """
    spread = sum(group.tokens**2 for group in groups) / max(
        1, sum(group.tokens for group in groups)
    )
    refill = (2 * AVERAGE - 1) * budget + min(spread, LARGEST_SPREAD * budget)
    return min(room, max(round(refill) - others, round(LEAST_RUN * room)))


def choose(groups: Sequence[Group], room: int, low: int) -> Window:
    """The groups to send: all that are there where they fit, else the newest up to the low-water
    mark.

    The newest group always stays. One that is too large to stay whole, the newest or one that would
    leave much of the room empty, is the last to come in, and is shortened.
    """
    if not groups or sum(group.tokens for group in groups) <= room:
        return Window(groups)
    newest = groups[-1]
    if newest.tokens > room:
        return Window([newest], moved=len(groups) > 1, shorten_to=max(low, 1))
    kept, size = 1, newest.tokens
    for group in reversed(groups[:-1]):
        if size + group.tokens > low:
            break
        kept, size = kept + 1, size + group.tokens
    if low - size > MUCH * low and kept < len(groups):
        return Window(
            groups[len(groups) - kept - 1 :], moved=kept + 1 < len(groups), shorten_to=low - size
        )
    return Window(groups[len(groups) - kept :], moved=True)
