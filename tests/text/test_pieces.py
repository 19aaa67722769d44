"""Pieces that join to the text."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.text import pieces

TEXTS = st.text() | st.text(alphabet="aB .!?\n\r`#-|>*1e\u0301。漢\u200d", max_size=300)


@given(TEXTS, st.integers(1, 60), st.booleans())
def test_the_pieces_join_to_the_text_and_tear_no_sentence(
    text: str, largest: int, finely: bool
) -> None:
    found = pieces.split(text, largest, finely=finely)
    assert "".join(piece.text for piece in found) == text
    assert all(text.startswith(piece.text, piece.start) and piece.text for piece in found)
    assert not any(piece.begins == "middle" for piece in found)


@given(st.text(alphabet="ab \u0301漢", min_size=2000, max_size=4000), st.integers(1, 60))
@settings(max_examples=20)
def test_what_is_too_long_for_a_sentence_falls_into_parts_and_only_the_first_begins_it(
    text: str, largest: int
) -> None:
    found = pieces.split(text, largest)
    assert "".join(piece.text for piece in found) == text
    assert all(0 < len(piece.text) <= largest for piece in found)
    assert [piece.begins for piece in found] == ["block"] + ["middle"] * (len(found) - 1)


def test_blocks_stay_whole_when_they_are_small_enough() -> None:
    text = "# Title\n\nOne. Two.\n\n```\ncode\n```\n"
    found = pieces.split(text, 80)
    assert [(piece.kind, piece.text) for piece in found] == [
        ("heading", "# Title\n\n"),
        ("paragraph", "One. Two.\n\n"),
        ("code", "```\ncode\n```\n"),
    ]


def test_finely_split_every_sentence_is_a_piece() -> None:
    found = pieces.split("One thing. Another thing.\n\n- an item. With two.\n", 80, finely=True)
    assert [piece.text for piece in found] == [
        "One thing. ",
        "Another thing.\n\n",
        "- an item. With two.\n",
    ]


def test_abbreviations_numbers_and_file_names_do_not_end_a_sentence() -> None:
    text = "Use e.g. Foo or v1.2 of a.b here. See Fig. 3 by Dr. Who. 1. First of all. Done"
    assert pieces.sentences(text) == [
        "Use e.g. Foo or v1.2 of a.b here. ",
        "See Fig. 3 by Dr. Who. ",
        "1. First of all. ",
        "Done",
    ]


def test_sentences_end_in_chinese_and_japanese_too() -> None:
    assert pieces.sentences("これは文です。次の文！真的吗？好") == [
        "これは文です。",
        "次の文！",
        "真的吗？",
        "好",
    ]


def test_labelled_lines_are_sentences_of_their_own() -> None:
    assert pieces.sentences("**A:** one\n**B:** two") == ["**A:** one\n", "**B:** two"]


def test_split_code_has_its_fences_as_pieces() -> None:
    text = "```py\n" + "value = 1\n" * 20 + "```\n"
    found = pieces.split(text, 40)
    assert [piece.kind for piece in (found[0], found[1], found[-1])] == ["fence", "code", "fence"]


def test_a_character_is_not_parted_from_its_accent() -> None:
    text = "e\u0301" * 100
    assert not any(unicodedata.combining(piece.text[0]) for piece in pieces.split(text, 7))


def test_a_key_of_front_matter_keeps_its_indented_lines() -> None:
    text = (
        "---\nname: pumps\nintro: |\n  A list of pumps. Each\n  named pump has a valve.\nturns:"
        " 5\n---\n\n# Title\n"
    )
    found = [piece.text for piece in pieces.split(text, 20) if piece.kind == "front_matter"]
    assert "intro: |\n  A list of pumps. Each\n  named pump has a valve.\n" in found
