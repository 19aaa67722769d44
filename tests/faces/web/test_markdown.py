"""Markdown of a model on the page: what it looks like, and that it can do nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.faces.web.rendering import html
from tests.corpus import rows

SAFE_LINK = '<a href="https://example.com/a" rel="noopener noreferrer nofollow" target="_blank">'


def test_headings_lists_tables_and_code_are_elements() -> None:
    written = html(
        "# Done\n\n1. *one*\n2. **two**\n\n| a | b |\n|:-:|---|\n| `x` | y |\n\n```\nz\n```"
    )
    assert "<h4>Done</h4>" in written
    assert "<ol>\n<li><em>one</em></li>" in written
    assert "<td><code>x</code></td>" in written
    assert "<pre><code>z\n</code></pre>" in written
    assert "style" not in written  # the page's policy forbids it


@pytest.mark.parametrize("text", rows("http/markup.jsonl"))
def test_markup_scripts_pictures_and_odd_links_stay_words(text: str) -> None:
    written = html(text).lower()
    for element in ("<script", "<img", 'href="j', 'href="d', 'href="/', "<a onclick"):
        assert element not in written


def test_a_link_leads_to_another_site_and_tells_it_nothing() -> None:
    assert SAFE_LINK in html("[there](https://example.com/a)")
    assert SAFE_LINK in html("<https://example.com/a>")


@given(st.text(alphabet="<>[]()!`*_|#-\n\"' ajx:/&;", max_size=80))
def test_no_text_opens_an_element_of_its_own(text: str) -> None:
    import re

    tags = set(re.findall(r"<([a-z0-9]+)", html(text)))
    known = "p br h4 h5 h6 ul ol li em strong s code pre blockquote hr table thead tbody tr th td a"
    assert tags <= set(known.split())
