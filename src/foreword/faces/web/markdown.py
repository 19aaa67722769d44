"""Markdown to HTML for the page: what a model writes is shown as it means it, and can do nothing.

HTML in it is shown as text, pictures are their words, links lead to other sites alone and pass
nothing on. No style is written into an element, since the policy of the page forbids it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# Levels of lists and quotations; deeper ones are shown as text. A page is not read beyond that.
DEEPEST = 12
LINK_SCHEMES = ("http://", "https://")


def html(text: str) -> Markup:
    """The text as HTML that is safe to be put into a page."""
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        _make_safe(token)
    return Markup(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False, "breaks": True, "maxNesting": DEEPEST}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = _is_web_address  # type: ignore[method-assign]
    return parser


def _is_web_address(url: str) -> bool:
    return url.lower().startswith(LINK_SCHEMES)


def _make_safe(token: Token) -> None:
    """Take styles out of a token, and let its links tell other sites nothing."""
    token.attrs.pop("style", None)
    if token.type == "link_open":
        token.attrs |= {"rel": "noopener noreferrer nofollow", "target": "_blank"}
    if token.tag in ("h1", "h2", "h3") and token.type.startswith("heading"):
        # the page has its own headings of these levels
        token.tag = "h4"
    children: Sequence[Token] = token.children or ()
    for child in children:
        _make_safe(child)
