"""What a text leads with: the least of it that still says what it is about.

The author's own beginning up to the end of the first sentence that says something, word for word:
a status, a date, a notice in a quote or a list of links says nothing. Only prose has such a
sentence; of code, tables and data `lead` gives nothing, and the caller cuts them by their own
structure. The mark behind it is the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from foreword.pattern import lazy_pattern
from foreword.text.document_blocks import document_blocks
from foreword.text.markdown import Block
from foreword.text.omission_mark import GAP
from foreword.text.pieces import BARE_MARKUP_LINE
from foreword.text.qualifiers import opens_exception
from foreword.text.sentences import sentences

# Characters. What is longer is no sentence that anybody wrote; and above 90 tokens the least that
# is kept of one item would take the place of two others.
LONGEST_LEAD = 360
# Characters in front of the first sentence (a title, a badge, a line of front matter) that stay;
# more than that gives way to a mark.
LONGEST_OPENING = 120
# Characters. A lead is at the beginning: with twice as much, a text of a megabyte is parsed no
# further either, and nothing more is found.
LOOKED_AT = 4_000
# Letters, outside links, of what ends as a sentence and of what does not: fewer are a status, a
# name or a date. `Accepted.` has 8 and `Accepted by the board` 18, `Pump nine is new.` 13.
# Ideographs count twice.
LEAST_LETTERS = (10, 20)
_PROSE = ("paragraph", "item", "quote")
_SKIPPED = ("heading", "rule", "front_matter", "html")
_CODE = lazy_pattern(
    r"[{};\\]\s*$|^\s*(?:@@|diff --git|[+-]{3} |#!)"
    r"|^\s*(?:def|class|import|from|function|const|let|var|package|func|fn|pub|public|private"
    r"|struct|export|return|if|for|while)\b.*[:{;(]$|^(?:import|from) [\w.]+(?: import .*)?$"
    r"|^\s*[\w.\[\]]+ *(?:=|:=|\+=) *\S|^\s*[\[{]\s*$|^\s*\"[\w-]+\"\s*:"
    r"|^\d{4}-\d\d-\d\d[ T]\d\d:\d\d",
    re.MULTILINE,
)
_TAG = lazy_pattern(r"<(?P<closing>/?)(?P<name>[A-Za-z][\w-]*)[^<>]*?(?P<alone>/?)>")
_COLON = (":", "\uff1a")
_LINK = lazy_pattern(r"!?\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])?|<?https?://\S+")


def lead(text: str, kind: str = "markdown") -> str | None:
    """The beginning of a document up to the end of its first sentence; None where it has none, or
    is hardly longer than it."""
    return _first_lead(text, kind, must_inform=True) or _first_lead(text, kind)


def _first_lead(text: str, kind: str, *, must_inform: bool = False) -> str | None:
    blocks = document_blocks(text[:LOOKED_AT], kind)
    has_title = False
    for place, block in enumerate(blocks):
        has_title = has_title or block.kind == "heading"
        is_beside_text = has_title and text.startswith(("```", "~~~", ".. "), block.start)
        if block.kind in _SKIPPED or is_beside_text:
            continue
        while line := BARE_MARKUP_LINE.match(text, block.start, block.end):
            block = replace(block, start=line.end())
        if block.start >= block.end:
            continue
        if block.kind not in _PROSE or _CODE.search(text[block.start : block.end]):
            return None
        end = _sentence_end(text, block)
        if text[block.start : end].rstrip(" *_").endswith(_COLON):
            following = blocks[place + 1 : place + 2]
            if not following or following[0].kind not in _PROSE:
                return None
            end = _sentence_end(text, following[0])
        sentence = text[block.start : end]
        if must_inform and (block.kind == "quote" or not _informs(sentence)):
            continue
        if _closes_what_it_opens(sentence):
            return _opening(text, block.start, end, blocks[:place])
    return None


def _informs(sentence: str) -> bool:
    """Whether a sentence says something without the words of its links."""
    plain = _LINK.sub("", sentence)
    letters = sum(2 if char > "\u2e7f" else 1 for char in plain if char.isalpha())
    is_ended = plain.rstrip(" \n*_").endswith((".", "!", "?", "\u3002"))
    return letters >= LEAST_LETTERS[0 if is_ended else 1]


def is_inside_a_line(text: str, opening: str) -> bool:
    """Whether the line that a lead ends in goes on in the text."""
    last_row = opening.rpartition("\n")[2]
    rest = text[text.index(last_row) + len(last_row) :].lstrip(" \t")
    return not rest.startswith(("\n", "\r"))


def _sentence_end(text: str, block: Block) -> int:
    """Where the first sentence of a block ends, with the exceptions to it right behind it."""
    first, *others = sentences(text[block.start : block.end])
    for other in others:
        if not opens_exception(other, inside_line=not first.endswith(("\n", "\r"))):
            break
        first += other
    return block.start + len(first.rstrip())


def _closes_what_it_opens(text: str) -> bool:
    """Whether every tag, and all emphasis, that opens in a text also closes there; what opens a box
    is closed behind it."""
    opened = list[str]()
    for tag in _TAG.finditer(text):
        if tag["closing"]:
            if not opened or opened.pop() != tag["name"]:
                return False
        elif not tag["alone"]:
            opened.append(tag["name"])
    opens_box = ":::" in text or "{%" in text
    return not opened and not opens_box and text.count("**") % 2 == 0 and text.count("`") % 2 == 0


def _opening(text: str, start: int, end: int, above: Sequence[Block]) -> str | None:
    """What stands in front of the sentence, or the titles and a mark for it, and the sentence."""
    if end - start > LONGEST_LEAD or not text[end:].strip():
        return None
    before = text[:start].lstrip()
    if len(before) > LONGEST_OPENING or not _closes_what_it_opens(before):
        before = _titles(text, start, above)
    return f"{before}{text[start:end]}"


def _titles(text: str, start: int, above: Sequence[Block]) -> str:
    """The first heading and the one that the sentence stands under, with a mark in every gap."""
    headings = [block for block in above if block.kind == "heading"]
    written = ""
    done = 0
    for heading in dict.fromkeys([*headings[:1], *headings[-1:]]):
        if text[done : heading.start].strip():
            written += f"{GAP}\n\n"
        written += f"{text[heading.start : heading.end].rstrip()}\n\n"
        done = heading.end
    return f"{written}{GAP}\n\n" if text[done:start].strip() else written
