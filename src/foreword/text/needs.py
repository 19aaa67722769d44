"""What a piece can't be read without.

The headings above it, the line that leads in, the opening of its list item or of its torn sentence,
the sentence that a very short one leans on, table heads, code fences. It looks at the kinds and
places of the pieces only. That needed pieces are brought along, and paid for, is the business of
`choose`.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.text.pieces import LONGEST_LEAD, Piece, is_lead

# Bytes of a sentence that says nothing without the one before it: four or five words, or eight
# characters of Chinese.
_SHORT_BYTES = 24


def needs(pieces: Sequence[Piece]) -> list[tuple[int, ...]]:
    """For each piece the others it can't be read without."""
    leads = _leads(pieces)
    openings = _openings(pieces)
    heads = _table_heads(pieces)
    fences = _fences(pieces)
    above: list[int] = []
    found: list[tuple[int, ...]] = []
    for at, piece in enumerate(pieces):
        if piece.kind == "heading":
            while above and pieces[above[-1]].level >= piece.level:
                above.pop()
        around = [*above, *leads.get(at, ())]
        for opening in openings[at]:
            around += leads.get(opening, ())
            around.append(opening)
        around += heads.get(at, ())
        around += fences.get(at, ())
        found.append(tuple([other for other in dict.fromkeys(around) if other != at]))
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
            while path and _is_item_beside(pieces[path[-1]], piece):
                path.pop()
            found[at] = [other for other in path if len(pieces[other].text) <= LONGEST_LEAD]
            path.append(at)
        elif piece.kind == "paragraph" and not piece.level:
            path = [at] if is_lead(piece) else []
        elif piece.kind != "code":
            path = []
    return found


def _is_item_beside(earlier: Piece, item: Piece) -> bool:
    return earlier.kind == "item" and earlier.level >= item.level


def _openings(pieces: Sequence[Piece]) -> list[list[int]]:
    """What opens the list item a piece is in, the head of a torn sentence, and the sentence a
    short one leans on."""
    found: list[list[int]] = []
    items: list[int] = []
    sentence = 0  # where the one begins that this piece is part of
    for at, piece in enumerate(pieces):
        begins_block = piece.begins == "block"
        begins_item = begins_block and piece.kind == "item"
        if begins_block and piece.kind == "heading":
            items = []
        elif begins_block:
            items = [item for item in items if pieces[item].level < piece.level]
        if piece.begins != "middle":
            sentence = at
        opening = [] if begins_item else items[-1:]
        if sentence != at:
            opening.append(sentence)
        elif _leans(pieces, at):
            opening = [*found[at - 1], at - 1]
        found.append(opening)
        if begins_item:
            items.append(at)
    return found


def _leans(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a piece is a sentence of a few words (`1.5 s in all.`) that says nothing without
    the one before it."""
    piece = pieces[at]
    if piece.begins != "sentence" or piece.kind != "paragraph":
        return False
    if pieces[at - 1].text.endswith(("\n", "\r")):
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
