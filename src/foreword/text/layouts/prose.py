"""The pieces of Markdown, of reStructuredText and of prose: headings, whole lines, items, rows, and
code as code.

A run of lines that end with a sentence stays or goes whole; only one that is larger than the whole
room falls into its sentences.
What a piece needs (its headings, its lead-in, the tags around it) is told by `needs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from foreword.pattern import lazy_pattern
from foreword.text import markdown
from foreword.text.content_type import code_type
from foreword.text.division import line_parts, line_units, lines
from foreword.text.needs import needs
from foreword.text.pieces import BOLD_TITLE_LEVEL, Layout, LayoutBuilder, Over
from foreword.text.sentences import LONGEST_UNIT, sentences

_FENCE = lazy_pattern(r"[ \t]*(?:```+|~~~+)[ \t]*(?P<info>[^\s`{]*)")
_INNER_FENCE = lazy_pattern(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
# A line that is bold from its beginning to its end, and no sentence: many write titles so.
_BOLD_TITLE = lazy_pattern(r"(?:\*\*|__)(?=\S)[^*\r\n]{1,120}(?<![.!?\s])(?:\*\*|__):?")
# Characters of a code block, or of a comment, that stays or goes whole: a dozen short lines.
# An outline of less would be mostly marks.
_SMALL_BLOCK = 400
# A tag that has its line to itself, with a line behind it that may be Markdown.
_TAG_AND_TEXT = lazy_pattern(
    r"^[ \t]*</?(?P<name>[A-Za-z][\w:.-]*)(?:\s[^<>\r\n]*)?>[ \t]*\r?\n"
    r"(?! {4}| *\t| *<)(?=[^\S\n]*\S)(?P<title>#{1,6}[ \t]+\S)?",
    re.MULTILINE,
)
_CLOSING_LINE = lazy_pattern(r"^[ \t]*</(?P<name>[A-Za-z][\w:.-]*)>[ \t]*\r?$", re.MULTILINE)
_TAGS_LINE = lazy_pattern(r"[ \t]*<[^\r\n]*>\s*")
_PLAIN_WORD = lazy_pattern(r"(?<!\S)[\"'(]?[A-Za-z][a-z'’-]*[.,;:!?)\"']*(?!\S)")
_ITEM_SIGN = lazy_pattern(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
# A line with those that follow up to one that begins an item.
_INDENTED_PART = lazy_pattern(r"[^\n]*(?:\n(?![ \t]*(?:[-*+]|\d{1,9}[.)])[ \t])[^\n]*)*\n?")
# Of all that white space parts. Of 2,351 runs of code in 14 languages 3% have more, docstrings for
# the most part; at half it would be 45%. Of paragraphs in 150 real documents 42% have more.
_MOSTLY_WORDS = 0.8
_PROSE = ("paragraph", "item", "quote")

BlocksOf = Callable[[str], list[markdown.Block]]


def layout(text: str, over: Over, blocks_of: BlocksOf = markdown.blocks) -> Layout:
    """The pieces of a text whose blocks are found by `blocks_of`."""
    blocks = _with_underlined_titles(blocks_of(text), text)
    blocks = [part for block in blocks for part in _with_markdown_in_tags(block, text)]
    blocks = blocks or [markdown.Block("paragraph", 0, len(text))]
    starts = [0, *[block.start for block in blocks[1:]]]
    ends = [*starts[1:], len(text)]
    builder = LayoutBuilder()
    for block, start, end in zip(blocks, starts, ends, strict=True):
        _add_block(builder, block, text[start:end], over)
    for at, needed in enumerate(needs(builder.pieces)):
        if needed:
            builder.require(at, needed)
    return builder.layout()


def _with_underlined_titles(blocks: list[markdown.Block], text: str) -> list[markdown.Block]:
    """The blocks, a line with dashes or stars right below it as a title: by the letter a numbered
    one is a list and a rule, and one above stars is a paragraph and a rule."""
    found: list[markdown.Block] = []
    for block in blocks:
        before = found[-1] if found else None
        if block.kind == "rule" and before is not None and before.kind in ("item", "paragraph"):
            is_below = text[before.end : block.start] in ("\n", "\r\n")
            if is_below and "\n" not in text[before.start : before.end] and not before.level:
                found[-1] = replace(before, kind="heading", end=block.end, level=2)
                continue
        found.append(block)
    return found


def _with_markdown_in_tags(block: markdown.Block, text: str) -> list[markdown.Block]:
    """A block of HTML, what stands between its lines of tags as Markdown: by the letter all is HTML
    up to a blank line, but whoever wraps text in tags that HTML does not have, or begins it with a
    title, means Markdown."""
    if block.kind in ("item", "paragraph"):
        return _up_to_closing_tag(block, text)
    if block.kind != "html":
        return [block]
    found = _TAG_AND_TEXT.finditer(text, block.start, block.end)
    if not any(tag["title"] or not _is_html_tag(tag["name"]) for tag in found):
        return [block]
    parts: list[markdown.Block] = []
    start = block.start
    end = block.start
    for row in lines(text[block.start : block.end]):
        if _TAGS_LINE.fullmatch(row):
            parts += _markdown_parts(block, text, start, end)
            parts.append(replace(block, start=end, end=end + len(row.rstrip())))
            start = end + len(row)
        end += len(row)
    return [*parts, *_markdown_parts(block, text, start, end)]


def _up_to_closing_tag(block: markdown.Block, text: str) -> list[markdown.Block]:
    """An item or a paragraph up to a line that closes a tag around it: by the letter such a line,
    and the text right below it, goes on with the item."""
    closing = _CLOSING_LINE.search(text, block.start, block.end)
    if closing is None or _is_html_tag(closing["name"]):
        return [block]
    inside = text[block.start : closing.start()]
    if not inside.strip() or f"<{closing['name']}" in inside:
        return [block]
    rest = replace(block, kind="html", start=closing.start(), level=0)
    ended = replace(block, end=block.start + len(inside.rstrip()))
    return [ended, *_with_markdown_in_tags(rest, text)]


def _is_html_tag(name: str) -> bool:
    from markdown_it.common.html_blocks import block_names

    return name.lower() in block_names


def _markdown_parts(
    block: markdown.Block, text: str, start: int, end: int
) -> Iterator[markdown.Block]:
    """The blocks between two places of a block."""
    for part in markdown.blocks(text[start:end]):
        level = part.level
        if part.kind not in ("heading", "table"):  # whose level is not how deep they stand
            level += block.level
        yield replace(part, start=start + part.start, end=start + part.end, level=level)


def _add_block(builder: LayoutBuilder, block: markdown.Block, body: str, over: Over) -> None:
    if block.kind == "front_matter":
        _add_front_matter(builder, body, over)
    elif block.kind == "code" and len(body) > _SMALL_BLOCK:
        _add_code(builder, block, body, over)
    elif block.kind == "paragraph" and not block.level and _BOLD_TITLE.fullmatch(body.strip()):
        builder.add(body, "heading", level=BOLD_TITLE_LEVEL)
    elif block.kind in _PROSE:
        _add_units(builder, block, line_units(body), over)
    elif block.kind == "heading" and over(builder.start, body) and len(sentences(body)) > 1:
        # With the signs below it: without them a title is a line of text.
        _add_units(builder, replace(block, kind="paragraph"), [body], over)
    elif block.kind == "html" and len(body) > _SMALL_BLOCK:
        from foreword.text.layouts import markup

        offset = builder.start
        inner = markup.layout(body, lambda at, part: over(offset + at, part))
        builder.embed(inner, level=block.level)
    else:
        unit = "row" if block.kind == "table" and block.level else ""
        builder.add(body, block.kind, level=block.level, unit=unit)


def _add_units(builder: LayoutBuilder, block: markdown.Block, units: list[str], over: Over) -> None:
    """Add runs of lines; of one that is larger than the whole room, its sentences."""
    begins_block = True
    for unit in units:
        parts = [(unit, False)]
        if over(builder.start, unit):
            parts = line_parts(unit)
        for part, torn in parts:
            builder.add(
                part,
                block.kind,
                level=block.level,
                begins="block" if begins_block else "middle" if torn else "sentence",
                divisible=part is unit,
            )
            begins_block = False


def _add_code(builder: LayoutBuilder, block: markdown.Block, body: str, over: Over) -> None:
    """Add a long code block: its fences, which every part of it needs, and its own pieces."""
    rows = lines(body)
    opening = _FENCE.match(rows[0])
    if opening is None and _is_indented_prose(body):
        for part in _INDENTED_PART.findall(body):
            kind = "item" if _ITEM_SIGN.match(part) else "paragraph"
            _add_units(builder, replace(block, kind=kind), line_units(part), over)
        return
    if opening is None or len(rows) < 2 or len(rows[0]) > LONGEST_UNIT:
        inner = _inner(builder, body, "", over)
        builder.embed(inner, level=block.level)
        return
    is_closed = _FENCE.match(rows[-1]) is not None and len(rows) > 1
    code = "".join(rows[1:-1] if is_closed else rows[1:])
    fence = builder.add(rows[0], "fence", level=block.level)
    inside = builder.embed(
        _inner(builder, code, opening["info"], over), needs=fence, level=block.level
    )
    closing: list[int] = []
    if is_closed:
        closing = builder.add(rows[-1], "fence", needs=fence, level=block.level, begins="sentence")
    # Fences inside of this one stay with it: with one of two, what follows would be read as code.
    fences = [at for at in inside if _INNER_FENCE.search(builder.pieces[at].text)]
    for at in (*fence, *inside):
        builder.require(at, [*fences, *closing])


def _is_indented_prose(body: str) -> bool:
    """Whether what is indented, and so code by the letter, is words: people indent what an item
    goes on with, and quotations."""
    tokens = body.split()
    return len(_PLAIN_WORD.findall(body)) >= _MOSTLY_WORDS * len(tokens)


def _inner(builder: LayoutBuilder, code: str, info: str, over: Over) -> Layout:
    from foreword.text.layouts import layout_of

    offset = builder.start
    return layout_of(code, code_type(code, info), lambda at, part: over(offset + at, part))


def _add_front_matter(builder: LayoutBuilder, body: str, over: Over) -> None:
    from foreword.text.layouts import layout_of

    rows = lines(body)
    if len(rows) < 3:
        builder.add(body, "front_matter")
        return
    opening = builder.add(rows[0], "fence")
    offset = builder.start
    inner = layout_of("".join(rows[1:-1]), "yaml", lambda at, part: over(offset + at, part))
    inside = builder.embed(inner, needs=opening)
    closing = builder.add(rows[-1], "fence", needs=opening, begins="sentence")
    for at in (*opening, *inside):
        builder.require(at, closing)
