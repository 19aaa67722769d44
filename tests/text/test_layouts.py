"""The pieces of every kind of text join to the text, and need only each other."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.text.content_type import content_type
from foreword.text.division import chunks
from foreword.text.layouts import layout_of
from foreword.text.pieces import Layout
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


def test_a_character_is_not_parted_from_its_accent() -> None:
    assert not any(unicodedata.combining(part[0]) for part in chunks("e\u0301" * 100, 7))


@pytest.mark.parametrize(("name", "text", "kind"), rows("forms/kinds.jsonl"))
def test_a_text_is_known_by_its_name_or_by_what_it_looks_like(
    name: str, text: str, kind: str
) -> None:
    assert content_type(text, name) == kind
