"""What a match gives to those beside it: less from passage to passage, nothing past a session."""

from __future__ import annotations

from collections.abc import Sequence

from foreword.relevance.passage import Passage

_FARTHEST = 64  # passages; beyond it even the slowest decay leaves nothing that counts


def spread(scores: Sequence[int], passages: Sequence[Passage], decay: int) -> list[int]:
    """Each score with those of its neighbours, each less by `decay` 1024ths for every step.

    Passages of a session are neighbours by position, whether or not all of them are here.
    """
    total = list(scores)
    powers = _powers(decay)
    for session in _sessions(passages):
        for direction in (session, session[::-1]):
            reached = 0
            before = direction[0][0]
            for position, at in direction:
                steps = abs(position - before)
                reached = reached * powers[min(steps, _FARTHEST)] >> 20
                total[at] += reached
                reached += scores[at]
                before = position
    return total


def _sessions(passages: Sequence[Passage]) -> list[list[tuple[int, int]]]:
    """The passages of each session that have a position, by it: the position and the place."""
    sessions: dict[str, list[tuple[int, int]]] = {}
    for at, passage in enumerate(passages):
        if passage.position is not None:
            sessions.setdefault(passage.session, []).append((passage.position, at))
    for session in sessions.values():
        session.sort()
    return list(sessions.values())


def _powers(decay: int) -> list[int]:
    """What is left after each number of steps, with 20 bits behind the point."""
    powers = [1 << 20]
    for _ in range(_FARTHEST):
        powers.append(powers[-1] * decay >> 10)
    return powers
