"""What a piece of Markdown can't be read without.

The headings above it, the line that leads in, what it leads in to, the items around it, the opening
of its list item or of its torn sentence, the sentence that a very short one leans on, the exception
behind it, the head of its table, the tags around it. It looks at the kinds and places of the
pieces, and at tags. That needed pieces are brought along, and paid for, is the business of
`choose`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.text.pieces import BOLD_TITLE_LEVEL, LONGEST_LEAD, Piece, ends_in_colon
from foreword.text.qualifiers import opens_exception, turns_list

# Bytes of a sentence that says nothing without the one before it: four or five words, or eight
# characters of Chinese.
_SHORT_BYTES = 24
_INLINE_CODE = lazy_pattern(r"`[^`\n]*`")
_TAG = lazy_pattern(
    r"(?P<comment><!--)|(?P<comment_end>-->)"
    # An arrow in an attribute (`@click="() => save()"`) does not end the tag.
    r"|<(?P<closes>/?)(?P<name>[A-Za-z][\w:.-]*)(?:\s(?:[^<>=/]|/(?!>)|=>?)*)?(?P<empty>/?)>"
)
# `:::{note}`, `::: warning` and the colons that close it: boxes of MyST, Docusaurus, VitePress and
# Pandoc; `{% note %}` and `{% endnote %}` of Liquid and Jinja; `{{< note >}}` and `{{< /note >}}`
# of Hugo.
_BOX_END = lazy_pattern(
    r"^[ \t]*:{3,}[ \t]*(?P<box>[^\s:][^\n]*)?$"
    r"|\{(?:%[-+~]?|\{[<%])[ \t]*(?P<ends>end|/)?[ \t]*(?P<template>[A-Za-z][\w-]*)",
    re.MULTILINE,
)
_IF_WORDS = ("if", "unless", "ifversion", "case")
_ELSE_WORDS = ("else", "elif", "elsif", "elseif", "when")
_OWN_LINE = lazy_pattern(r"^[ \t]*(<[^<>\n]*>|<!--|-->)[ \t]*$", re.MULTILINE)
_TEXT_KINDS = ("paragraph", "item", "quote", "html", "heading", "table")
_LEADING_KINDS = ("paragraph", "item", "quote", "html", "heading")
_SENTENCE_KINDS = ("paragraph", "item", "quote")
_EXCEPTED_KINDS = (*_SENTENCE_KINDS, "code", "fence")
_DEEPEST_TAGS = 24  # tags around a piece: nobody writes more by hand, and each has to be paid for


def needs(pieces: Sequence[Piece]) -> list[tuple[int, ...]]:
    """For each piece the others it can't be read without."""
    leads = _leads(pieces)
    openings = _openings(pieces)
    heads = _table_heads(pieces)
    tags = tags_around(pieces)
    exceptions = _exceptions(pieces)
    above: list[int] = []
    found: list[tuple[int, ...]] = []
    for at, piece in enumerate(pieces):
        is_title = piece.kind == "heading" and piece.begins == "block"  # none inside a fence
        if is_title:
            while above and pieces[above[-1]].level >= piece.level:
                above.pop()
        around = [*above, *leads.get(at, ())]
        for opening in openings[at]:
            around += leads.get(opening, ())
            around.append(opening)
        around += heads.get(at, ())
        around += tags.get(at, ())
        around += _led_in(pieces, at)
        around += exceptions.get(at, ())
        found.append(tuple([other for other in dict.fromkeys(around) if other != at]))
        if is_title:
            above.append(at)
    return found


@dataclass(frozen=True, slots=True)
class _Outer:
    """A line that leads in to what follows, or an item with others in it: of these, the level of
    the outermost."""

    at: int
    inner_level: int
    is_lead: bool


def _leads(pieces: Sequence[Piece]) -> dict[int, list[int]]:
    """For each list item the items it is nested in and the line that leads in to the list; for
    each other block the line right above it that does so."""
    found: dict[int, list[int]] = {}
    outer: list[_Outer] = []
    in_fence = False
    for at, piece in enumerate(pieces):
        begins_item = piece.kind == "item" and piece.begins == "block"
        if begins_item:
            outer = [other for other in outer if other.inner_level <= piece.level]
            found[at] = [other.at for other in outer]
        elif at and piece.kind != "heading" and _leads_in(pieces, at - 1):
            found[at] = [at - 1]
        elif piece.kind == "code" and piece.begins != "block":
            found[at] = found.get(at - 1, [])  # goes on the block of the one before
        in_fence ^= piece.kind == "fence"
        # Code stands between items, or is what was led in to.
        if not in_fence and piece.kind not in ("code", "fence"):
            outer = _outer_behind(outer, pieces, at)
    return found


def _outer_behind(outer: list[_Outer], pieces: Sequence[Piece], at: int) -> list[_Outer]:
    """What the piece behind one may be inside of."""
    piece = pieces[at]
    inner_level = piece.level
    if piece.kind == "heading":
        return []
    if piece.kind == "item" and piece.begins == "block":
        return [*outer, _Outer(at, inner_level + 1, is_lead=False)]
    if piece.kind == "item":
        inner_level += 1
        outer = [other for other in outer if other.at != at - 1 or not other.is_lead]
    elif piece.kind == "table":
        outer = [other for other in outer if _is_inside(piece, pieces[other.at])]
    else:
        outer = [other for other in outer if _is_around(other, inner_level)]
    if not _leads_in(pieces, at):
        return outer
    return [*outer, _Outer(at, inner_level, is_lead=True)]


def _is_around(outer: _Outer, level: int) -> bool:
    """Whether a paragraph of a level stands in something; one more paragraph ends what was led in
    to."""
    return outer.inner_level < level or (outer.inner_level == level and not outer.is_lead)


def _leads_in(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a line leads in to what stands below it: it ends in a colon, or is short, above a
    list, and says something without which that would say something else."""
    piece = pieces[at]
    if piece.kind not in ("item", "paragraph"):
        return False
    if ends_in_colon(piece.text):
        return True
    following = pieces[at + 1] if at + 1 < len(pieces) else None
    if following is None or following.kind not in ("item", "code", "fence"):
        return False
    return len(piece.text) <= LONGEST_LEAD and turns_list(piece.text)


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
            items = [item for item in items if _is_inside(piece, pieces[item])]
        if piece.begins != "middle":
            sentence = at
        opening = [] if begins_item else items[-1:]
        if sentence != at:
            opening.append(sentence)
        elif _leans(pieces, at) and not _leans(pieces, at - 1):  # a row of them stands by itself
            opening = [*found[at - 1], at - 1]
        found.append(opening)
        if begins_item:
            items.append(at)
    return found


def _is_inside(piece: Piece, item: Piece) -> bool:
    """Whether a block stands in a list item; the level of a table's rows tells them from its
    head, so that their indent decides."""
    if piece.kind == "table":
        return _indent(piece) > _indent(item)
    return item.level < piece.level


def _indent(piece: Piece) -> int:
    return len(piece.text) - len(piece.text.lstrip(" \t"))


def _leans(pieces: Sequence[Piece], at: int) -> bool:
    """Whether a piece is a sentence of a few words (`1.5 s in all.`) that says nothing without
    the one before it."""
    piece = pieces[at]
    if piece.begins != "sentence" or piece.kind != "paragraph":
        return False
    if pieces[at - 1].text.endswith(("\n", "\r")):
        return False
    return len(piece.text.rstrip().encode(errors="replace")) <= _SHORT_BYTES


def _exceptions(pieces: Sequence[Piece]) -> dict[int, list[int]]:
    """Each sentence with an exception behind it, and that with the sentence: "Except on Fridays."
    says nothing alone, and the sentence in front of it would say something else."""
    found: dict[int, list[int]] = {}
    for at, piece in enumerate(pieces):
        if not at or piece.kind not in _SENTENCE_KINDS or piece.begins == "middle":
            continue
        before = pieces[at - 1]
        inside_line = piece.begins == "sentence" and not before.text.endswith(("\n", "\r"))
        is_exception = opens_exception(piece.text, inside_line=inside_line)
        if is_exception and before.kind in _EXCEPTED_KINDS:
            found.setdefault(at - 1, []).append(at)
            found.setdefault(at, []).append(at - 1)
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


def _led_in(pieces: Sequence[Piece], at: int) -> list[int]:
    """What a piece that ends in a colon leads in to: the first of what follows it."""
    piece = pieces[at]
    if piece.kind not in _LEADING_KINDS or not ends_in_colon(piece.text):
        return []
    led: list[int] = []
    for following in range(at + 1, min(at + 4, len(pieces))):
        other = pieces[following]
        is_title = other.kind == "heading"
        if is_title and other.level < BOLD_TITLE_LEVEL:
            break
        led.append(following)
        is_head = other.kind == "table" and not other.level
        # None of these is what was led in to, but what stands behind it.
        if not (is_title or is_head or other.kind == "fence"):
            break
    return led


def tags_around(pieces: Sequence[Piece]) -> dict[int, tuple[int, ...]]:
    """For each piece the ones that hold the innermost tag around it, opening and closing; those
    need the next pair."""
    pairs = sorted(tag_pairs(pieces), key=lambda pair: (pair[0], -pair[1]))
    if not pairs:
        return {}
    found: dict[int, tuple[int, ...]] = {}
    around: list[tuple[int, int]] = []
    waiting = 0
    for at in range(len(pieces)):
        around = [pair for pair in around if pair[1] >= at]
        while waiting < len(pairs) and pairs[waiting][0] == at:
            if len(around) < _DEEPEST_TAGS:
                around.append(pairs[waiting])
            waiting += 1
        if around:
            found[at] = tuple([end for pair in around for end in pair])
    return found


def tag_pairs(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Where tags open and where the same ones close, in different pieces; what the author never
    closed is no pair."""
    pairs: list[tuple[int, int]] = []
    open_tags: dict[str, list[int]] = {}
    for at, piece in enumerate(pieces):
        for name, opens, closes in (*_tags(piece), *_box_ends(piece)):
            if closes and open_tags.get(name):
                opening = open_tags[name].pop()
                if opening != at:
                    pairs.append((opening, at))
            if opens:
                open_tags.setdefault(name, []).append(at)
    return pairs


def _tags(piece: Piece) -> Iterator[tuple[str, bool, bool]]:
    """The tags and comments in a piece: name, whether it opens, whether it closes."""
    for tag in _TAG.finditer(_text_with_tags(piece)):
        closes = bool(tag["closes"] or tag["comment_end"])
        if not tag["empty"]:
            yield (tag["name"] or "").lower(), not closes, closes


def _box_ends(piece: Piece) -> Iterator[tuple[str, bool, bool]]:
    """The same for boxes of Markdown's relatives. What stands behind an `else` belongs to it as to
    the `if`, so it closes one and opens the next."""
    if piece.kind not in _TEXT_KINDS or not (":::" in piece.text or "{" in piece.text):
        return
    for end in _BOX_END.finditer(_INLINE_CODE.sub("", piece.text)):
        if end["template"] is None:
            yield ":::", bool(end["box"]), not end["box"]
        elif end["template"] in _ELSE_WORDS:
            yield "if", True, True
        else:
            name = end["template"]
            yield ("if" if name in _IF_WORDS else name), not end["ends"], bool(end["ends"])


def _text_with_tags(piece: Piece) -> str:
    """Where tags are looked for: in code only among those on a line of their own."""
    if "<" not in piece.text and "-->" not in piece.text:
        return ""
    if piece.kind in _TEXT_KINDS:
        return _INLINE_CODE.sub("", piece.text)
    return "\n".join(_OWN_LINE.findall(piece.text)) if piece.kind == "code" else ""
