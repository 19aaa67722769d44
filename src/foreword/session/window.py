"""Where a window on a conversation begins: as long as it can where it was, and when it must move,
far.

Prompt caches match exact prefixes, so dropping the oldest message at every turn makes each call a
new one. Here nothing goes until something has to, and then so much goes that many turns fit before
it happens again. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from foreword.session.timeline import Group, group_tokens

# Of the budget, over many turns: how full contexts are on average. What is left after a cut is
# chosen for this, a little above the 80% that is promised. Higher, and the window is cut more often
# and a prompt cache reuses less; lower, and more of the budget stays empty.
AVERAGE = 0.81
# Of the budget: how much of the size of large messages is added to make up for the room they leave
# when they no longer fit. The bound keeps one giant message from making every cut a small one.
LARGEST_SPREAD = 0.1
MUCH = 0.25  # of the low-water mark: too much to leave empty because of one large group
# Of the room for the run: a cut leaves at least so much of the conversation, also where the other
# parts take nearly the whole budget.
LEAST_RUN = 0.3


@dataclass(frozen=True, slots=True)
class Window:
    """The newest groups that fit, and whether the window had to move for that."""

    groups: Sequence[Group]
    moved: bool = False
    shorten_to: int = 0  # tokens for the oldest of the groups, where it does not fit whole


def low_water(groups: Sequence[Group], *, budget: int, others: int, room: int) -> int:
    """How many tokens of a conversation to keep at a cut, where other parts take so many of the
    budget.

    From there to full and back to there, call by call, is `AVERAGE` in the middle. It is never
    quite full: the group that no longer fits ends it, and that is more often a large one.
    """
    tokens = group_tokens(groups)
    spread = sum(group.tokens**2 for group in groups) / max(1, tokens)
    refill = (2 * AVERAGE - 1) * budget + min(spread, LARGEST_SPREAD * budget)
    return min(room, max(round(refill) - others, round(LEAST_RUN * room)))


def choose(groups: Sequence[Group], *, room: int, low: int, much: float = MUCH) -> Window:
    """The groups to send: all that are there where they fit, else the newest up to the low-water
    mark.

    The newest group always stays. One that is too large to stay whole, the newest or one that would
    leave much of the room empty (that share of the mark), is the last to come in, and is shortened.
    """
    if not groups or group_tokens(groups) <= room:
        return Window(groups)
    newest = groups[-1]
    if newest.tokens > room:
        return Window([newest], moved=len(groups) > 1, shorten_to=max(low, 1))
    start = len(groups) - 1
    size = newest.tokens
    while start > 0 and size + groups[start - 1].tokens <= low:
        start -= 1
        size += groups[start].tokens
    if low - size > much * low and start > 0:
        return Window(groups[start - 1 :], moved=start > 1, shorten_to=low - size)
    return Window(groups[start:], moved=True)
