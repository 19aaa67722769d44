"""The pieces of every kind of text join to the text, and need only each other."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.text.content_type import content_type
from foreword.text.division import chunks, line_parts
from foreword.text.layouts import layout_of
from foreword.text.pieces import Layout
from foreword.text.sentences import sentences
from tests.corpus import rows
from tests.examples import examples

KINDS = "markdown python code go typescript diff log json yaml settings table".split()
SIGNS = st.text(alphabet='aB .!?\n\r`#-|>*1e\u0301。漢\u200d{}[]":,@+<>/=_', max_size=200)
WORDS = st.lists(
    st.sampled_from(
        ["def f():", "  x: 1", "- a", "@@ -1 +1 @@", "{", "}", '"k": [', "],", "a,b", ""]
    ),
    max_size=20,
).map("\n".join)


EMPHASIS = (
    "It **costs 4 euro in winter. Or 5 in summer.** Ask for `a. b` in the harbour, before noon."
)


def layout(text: str, kind: str = "markdown", room: int = 10**9) -> Layout:
    return layout_of(text, kind, lambda _, part: len(part) > room)


@pytest.mark.parametrize("kind", KINDS)
@given(text=SIGNS | WORDS, room=st.integers(1, 80))
@settings(max_examples=examples(20), deadline=None)
def test_the_pieces_join_to_the_text(kind: str, text: str, room: int) -> None:
    found = layout(text, kind, room)
    assert "".join(piece.text for piece in found.pieces) == text
    assert all(text.startswith(piece.text, piece.start) and piece.text for piece in found.pieces)
    assert len(found.needs) == len(found.pieces)
    assert all(0 <= other < len(found.pieces) for needed in found.needs for other in needed)


@given(st.text(alphabet="ab \u0301漢", min_size=2000, max_size=4000))
@settings(max_examples=examples(10))
def test_an_endless_line_falls_into_parts_and_only_the_first_begins_it(text: str) -> None:
    found = line_parts(text)
    assert "".join(part for part, _ in found) == text
    assert [torn for _, torn in found] == [False] + [True] * (len(found) - 1)


def test_a_character_is_not_parted_from_its_accent() -> None:
    assert not any(unicodedata.combining(part[0]) for part in chunks("e\u0301" * 100, 7))


def test_a_sentence_is_not_parted_inside_emphasis_or_code() -> None:
    assert [part for part, _ in line_parts(EMPHASIS)] == [
        "It **costs 4 euro in winter. Or 5 in summer.** ",
        "Ask for `a. b` in the harbour, before noon.",
    ]


def test_small_code_and_whole_lines_are_pieces() -> None:
    text = "# Title\n\nOne. Two.\n\n```\ncode\n```\n"
    assert [(piece.kind, piece.text) for piece in layout(text).pieces] == [
        ("heading", "# Title\n\n"),
        ("paragraph", "One. Two.\n\n"),
        ("code", "```\ncode\n```\n"),
    ]


def test_only_a_line_larger_than_the_room_falls_into_sentences() -> None:
    text = "A first. And a second sentence.\n\nA third. And a fourth one, which is longer.\n"
    assert [piece.text for piece in layout(text, room=35).pieces] == [
        "A first. And a second sentence.\n\n",
        "A third. ",
        "And a fourth one, which is longer.\n",
    ]


def test_long_code_has_its_fences_as_pieces_that_all_of_it_needs() -> None:
    found = layout("```py\n" + "value = 1\n" * 60 + "```\n")
    assert [piece.kind for piece in (found.pieces[0], found.pieces[-1])] == ["fence", "fence"]
    assert all({0, 61} <= {at, *found.needs[at]} for at in range(62))


def test_abbreviations_numbers_and_file_names_do_not_end_a_sentence() -> None:
    text = "Use e.g. Foo or v1.2 of a.b here. See Fig. 3 by Dr. Who. 1. First of all. Done"
    assert sentences(text) == [
        "Use e.g. Foo or v1.2 of a.b here. ",
        "See Fig. 3 by Dr. Who. ",
        "1. First of all. ",
        "Done",
    ]


def test_sentences_end_in_chinese_and_japanese_too() -> None:
    assert sentences("これは文です。次の文！真的吗？好") == [
        "これは文です。",
        "次の文！",
        "真的吗？",
        "好",
    ]


def test_labelled_lines_are_sentences_of_their_own() -> None:
    assert sentences("**A:** one\n**B:** two") == ["**A:** one\n", "**B:** two"]


@pytest.mark.parametrize(("name", "text", "kind"), rows("forms/kinds.jsonl"))
def test_a_text_is_known_by_its_name_or_by_what_it_looks_like(
    name: str, text: str, kind: str
) -> None:
    assert content_type(text, name) == kind
