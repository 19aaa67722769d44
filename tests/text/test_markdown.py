"""Blocks and headings as offsets into the author's own text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.text import markdown
from tests.corpus import rows, text_of

GUIDE = text_of("documents/guide.md")

MARKDOWN_LINES = st.lists(
    st.sampled_from(
        [
            "# A",
            "## B",
            "text. More text",
            "- item",
            "  - sub",
            "```",
            "| a | b |",
            "|---|---|",
            "> q",
            "",
            "---",
        ]
    )
)


def kinds(text: str) -> list[str]:
    return [block.kind for block in markdown.blocks(text)]


def block_texts(text: str, kind: str) -> list[str]:
    return [text[block.start : block.end] for block in markdown.blocks(text) if block.kind == kind]


def test_every_kind_of_block_is_found_where_it_stands() -> None:
    assert block_texts(GUIDE, "item") == ["- one", "  - nested", "- two"]
    assert block_texts(GUIDE, "table") == ["| a | b |\n|---|---|", "| 1 | 2 |", "| 3 | 4 |"]
    assert block_texts(GUIDE, "code") == ["```sh\n# not a heading\n```"]
    assert block_texts(GUIDE, "quote") == ["> a quote\n> of two lines"]
    assert block_texts(GUIDE, "heading") == [
        "# Guide",
        "## Setup ##",
        "## Use",
        "Old style\n---------",
    ]


def test_front_matter_is_one_block_and_not_a_rule() -> None:
    text = "---\nname: x\n---\n\n# Title\n\n---\n"
    assert kinds(text) == ["front_matter", "heading", "rule"]


def test_link_definitions_are_not_lost() -> None:
    text = "# Title\n[a]: https://example.com\n"
    assert block_texts(text, "paragraph") == ["[a]: https://example.com"]


def test_windows_line_ends_give_the_same_blocks() -> None:
    windows = GUIDE.replace("\n", "\r\n")
    assert kinds(windows) == kinds(GUIDE)
    assert [title.title for title in markdown.headings(windows)] == [
        "Guide",
        "Setup",
        "Use",
        "Old style",
    ]
    assert markdown.under_heading(windows, "Old style") == "Last words."


def test_front_matter_behind_a_byte_order_mark_is_front_matter() -> None:
    kinds = [block.kind for block in markdown.blocks("\ufeff---\nname: a\n---\n\n# Title\n")]
    assert kinds == ["front_matter", "heading"]


def test_a_hash_inside_a_fence_is_no_heading() -> None:
    assert [heading.title for heading in markdown.headings(GUIDE)] == [
        "Guide",
        "Setup",
        "Use",
        "Old style",
    ]


def test_a_section_ends_at_the_next_heading_of_its_rank() -> None:
    text = "# A\n\n## B\n\nbody\n\n### C\n\ndeep\n\n## D\n\nend\n"
    assert markdown.under_heading(text, "b") == "body\n\n### C\n\ndeep"
    assert markdown.under_heading(text, "D") == "end"
    assert markdown.under_heading(text, "E") is None


def test_the_title_matches_whatever_its_case_and_markup() -> None:
    text = "## **Done When:**\n\n  indented first line\nsecond\n\n"
    assert markdown.under_heading(text, "done when") == "  indented first line\nsecond"


def test_the_first_title_is_that_of_the_first_heading() -> None:
    assert markdown.first_title("text\n\n## Two `words` #\n") == "Two `words`"
    assert markdown.first_title("no heading") == ""


@pytest.mark.parametrize("text", rows("documents/first_titles.jsonl"))
def test_the_first_title_is_the_same_with_and_without_the_parser(text: str) -> None:
    assert markdown.first_title(text) == markdown.headings(text)[0].title


def test_a_text_too_large_to_parse_still_has_its_headings_and_rows() -> None:
    text = (
        "# Top\n\n"
        + "word " * 100_000
        + "\n\n```\n# no\n```\n## Next\n| a |\n|---|\n| 1 |\n- item\n"
    )
    assert [heading.title for heading in markdown.headings(text)] == ["Top", "Next"]
    assert kinds(text) == ["heading", "paragraph", "code", "heading", "table", "table", "item"]


@given(MARKDOWN_LINES.map("\n".join) | st.text(alphabet="#-*|>` \t\r\na.1"))
def test_between_blocks_there_is_only_white_space(text: str) -> None:
    reached = 0
    for block in markdown.blocks(text):
        assert block.start >= reached
        assert not text[reached : block.start].strip()
        assert text[block.start : block.end].strip()
        reached = block.end
    assert not text[reached:].strip()


LINES_AROUND_HEADINGS = (
    *("# a", "## b ##", "#", "#x", "####### c", " # y", "    # q", "\t# t", "# \u00a0"),
    *("```", "````", "```py", "``` `a`", "~~~", "   ```", "    ```", "- ```", "> ```", "~~~ x"),
    *("text", "", "  ", "---", "===", "  ---", "-", "--", "* * *", "word\\", "    code"),
    *("- a", "- # in", "  # c", "1. a", "   # c", "> q", "> # h", "| a |", "|---|", "---|---"),
    *("<div>", "</div>", "<!-- c", "-->", "[foo]: /u", "[foo]:", "'t", "\u2028# x"),
)


@given(
    st.lists(st.sampled_from(LINES_AROUND_HEADINGS), max_size=9), st.sampled_from(["", "\n", " "])
)
def test_headings_are_the_same_with_and_without_the_parser(lines: list[str], end: str) -> None:
    text = "\n".join(lines) + end
    parsed = [block for block in markdown.blocks(text) if block.kind == "heading"]
    found = markdown.headings(text)
    assert [(one.start, one.body, one.level) for one in found] == [
        (block.start, block.end, block.level) for block in parsed
    ]
