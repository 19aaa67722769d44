"""What a piece can't be read without: the headings above it, the line that leads in, the opening of its list item or
of its torn sentence, table heads, code fences.

It looks at the kinds and places of the pieces only. That needed pieces are brought along, and paid for, is the
business of `choose`.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.text.pieces import LONGEST_LEAD, Piece, is_lead


def needs(pieces: Sequence[Piece]) -> list[tuple[int, ...]]:
    """For each piece the others it can't be read without."""
    leads, openings, heads, fences = _leads(pieces), _openings(pieces), _table_heads(pieces), _fences(pieces)
    above: list[int] = []
    found: list[tuple[int, ...]] = []
    for at, piece in enumerate(pieces):
        if piece.kind == "heading":
            while above and pieces[above[-1]].level >= piece.level:
                above.pop()
        led = [
            *leads.get(at, ()),
            *(led for opening in openings.get(at, ()) for led in (*leads.get(opening, ()), opening)),
        ]
        around = (*above, *led, *heads.get(at, ()), *fences.get(at, ()))
        found.append(tuple(other for other in dict.fromkeys(around) if other != at))
        if piece.kind == "heading":
            above.append(at)
    return found


def _leads(pieces: Sequence[Piece]) -> dict[int, list[int]]:
    """For each list item the short line that leads in to the list, and the short items it is nested in."""
    found: dict[int, list[int]] = {}
    path: list[int] = []
    for at, piece in enumerate(pieces):
        if piece.begins != "block":
            continue
        if piece.kind == "item":
            while path and pieces[path[-1]].kind == "item" and pieces[path[-1]].level >= piece.level:
                path.pop()
            found[at] = [other for other in path if len(pieces[other].text) <= LONGEST_LEAD]
            path.append(at)
        elif piece.kind == "paragraph" and not piece.level:
            path = [at] if is_lead(piece) else []
        elif piece.kind != "code":
            path = []
    return found


def _openings(pieces: Sequence[Piece]) -> dict[int, list[int]]:
    """For what comes later in a list item the piece that opens it, and for a torn part the head of its sentence."""
    found: dict[int, list[int]] = {}
    items: list[int] = []
    head = 0
    for at, piece in enumerate(pieces):
        if piece.begins == "block":
            items = [item for item in items if piece.kind != "heading" and pieces[item].level < piece.level]
        found[at] = items[-1:]
        if piece.kind == "item" and piece.begins == "block":
            found[at] = []
            items.append(at)
        if piece.begins == "middle":
            found[at] = [*found[at], head]
        else:
            head = at
    return found


def _table_heads(pieces: Sequence[Piece]) -> dict[int, list[int]]:
    """For each row of a table the pieces of its head."""
    found: dict[int, list[int]] = {}
    head: list[int] = []
    for at, piece in enumerate(pieces):
        if piece.kind != "table":
            head = []
        elif piece.level:
            found[at] = head
        else:
            head = [*head, at] if at - 1 in head else [at]
    return found


def _fences(pieces: Sequence[Piece]) -> dict[int, tuple[int, ...]]:
    """For each part of a split code block the fences around it; the last one may be missing."""
    found: dict[int, tuple[int, ...]] = {}
    opening = -1
    for at, piece in enumerate(pieces):
        if piece.kind == "fence" and opening >= 0:
            found.update(dict.fromkeys(range(opening, at + 1), (opening, at)))
            opening = -1
        elif piece.kind == "fence":
            opening = at
        elif piece.kind == "code" and opening >= 0:
            found[at] = (opening,)
        else:
            opening = -1
    return found
