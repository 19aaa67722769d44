"""Characters that nothing downstream takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foreword.text.clean import clean


def test_nuls_and_lone_surrogates_are_replaced_and_told() -> None:
    assert clean("a\x00b\x00\ud800") == (
        "a\ufffdb\ufffd\ufffd",
        ["2 NUL characters replaced", "1 lone surrogate replaced"],
    )


def test_a_clean_text_is_the_same_object() -> None:
    text = "naïve 漢字 😀"
    assert clean(text)[0] is text


@given(st.text(alphabet=st.characters()))
def test_the_result_can_always_be_encoded_and_keeps_its_length(text: str) -> None:
    cleaned, _ = clean(text)
    assert len(cleaned) == len(text)
    assert "\x00" not in cleaned.encode().decode()
