"""The blocks of a document in Markdown, reStructuredText or a markup of `line_markup`."""

from __future__ import annotations

from foreword.text import line_markup, markdown, rst
from foreword.text.content_type import LINE_MARKUP
from foreword.text.markdown import Block

DOCUMENTS = frozenset(("markdown", "rst", *LINE_MARKUP))  # what has a title and sentences


def document_blocks(text: str, kind: str) -> list[Block]:
    """The blocks of a text of a kind in order; what lies between them is only white space."""
    if kind == "rst":
        return rst.blocks(text)
    if kind in LINE_MARKUP:
        return line_markup.blocks(text, kind)
    return markdown.blocks(text)
