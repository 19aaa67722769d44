"""What a piece can't be read without: the headings above it, the line that leads in, the opening of
its list item or of its torn sentence, the sentence that a very short one leans on, table heads,
code fences.

It looks at the kinds and places of the pieces only. That needed pieces are brought along, and paid
for, is the business of `choose`.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.text.pieces import LONGEST_LEAD, Piece, is_lead

_SHORT_BYTES = 24


def needs(pieces: Sequence[Piece]) -> list[tuple[int, ...]]:
    """For each piece the others it can't be read without."""
    leads, openings, heads, fences = (
        _leads(pieces),
        _openings(pieces),
        _table_heads(pieces),
        _fences(pieces),
    )
    above: list[int] = []
    found: list[tuple[int, ...]] = []
    for at, piece in enumerate(pieces):
        if piece.kind == "heading":
            while above and pieces[above[-1]].level >= piece.level:
                above.pop()
        led = [other for opening in openings[at] for other in (*leads.get(opening, ()), opening)]
        around = (*above, *leads.get(at, ()), *led, *heads.get(at, ()), *fences.get(at, ()))
        found.append(tuple(other for other in dict.fromkeys(around) if other != at))
        if piece.kind == "heading":
            above.append(at)
    return found


def _leads(pieces: Sequence[Piece]) -> dict[int, list[int]]:
    """For each list item the short line that leads in to the list, and the short items it is
    nested in."""
    found: dict[int, list[int]] = {}
    path: list[int] = []
    for at, piece in enumerate(pieces):
        if piece.begins != "block":
            continue
        if piece.kind == "item":
            while (
                path and pieces[path[-1]].kind == "item" and pieces[path[-1]].level >= piece.level
            ):
                path.pop()
            found[at] = [other for other in path if len(pieces[other].text) <= LONGEST_LEAD]
            path.append(at)
        elif piece.kind == "paragraph" and not piece.level:
            path = [at] if is_lead(piece) else []
        elif piece.kind != "code":
            path = []
    return found


def _openings(pieces: Sequence[Piece]) -> list[list[int]]:
    """What opens the list item a piece is in, the head of a torn sentence, and the sentence a
    short one leans on."""
    found: list[list[int]] = []
    items: list[int] = []
    head = 0
    for at, piece in enumerate(pieces):
        opens = piece.begins == "block"
        if opens:
            items = [
                item
                for item in items
                if piece.kind != "heading" and pieces[item].level < piece.level
            ]
        head = at if piece.begins != "middle" else head
        inside = items[-1:] if not (opens and piece.kind == "item") else []
        if head != at:
            inside = [*inside, head]
        elif _leans(pieces, at):
            inside = [*found[at - 1], at - 1]
        found.append(inside)
        if opens and piece.kind == "item":
            items.append(at)
    return found


def _leans(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a piece is a sentence of a few words (`1.5 s in all.`) that says nothing without
    the one before it."""
    piece = pieces[at]
    if (
        piece.begins != "sentence"
        or piece.kind != "paragraph"
        or pieces[at - 1].text.endswith(("\n", "\r"))
    ):
        return False
    return len(piece.text.rstrip().encode(errors="replace")) <= _SHORT_BYTES


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
