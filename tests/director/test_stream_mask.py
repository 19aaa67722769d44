"""What a model says is passed on word by word, and never half of a secret."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.director.stream_mask import StreamMask
from tests.secrets.test_known_values import PASSWORD, known_values

pytestmark = pytest.mark.attack


@given(st.text(alphabet="ab \n7-", max_size=30), st.lists(st.integers(0, 60), max_size=12))
def test_a_stream_says_what_the_whole_text_says_and_never_half_a_secret(
    around: str, cuts: list[int]
) -> None:
    whole = f"{around} the word is {PASSWORD} and {PASSWORD}.\n{around}"
    told: list[str] = []
    stream = StreamMask(known_values(), told.append)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    for start, end in pairwise(places):
        stream(whole[start:end])
    stream.end()
    assert (
        "".join(told)
        == stream.text
        == "\n".join(known_values().text(line) for line in whole.split("\n"))
    )
    assert PASSWORD not in stream.text


def test_a_stream_that_begins_again_says_so() -> None:
    told: list[str] = []
    stream = StreamMask(known_values(), told.append)
    for piece in ("half of", " it ", "", "whole ", "answer"):
        stream(piece)
    stream.end()
    assert told[told.index("") :] == ["", "whole ", "answer"]
    assert stream.text == "whole answer"
