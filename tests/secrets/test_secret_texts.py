"""What a text says of secrets is hidden however it is written; what only talks about them is
left alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foreword.secrets.masking import HIDDEN, mask
from foreword.secrets.token_formats import formats
from tests.attacks import sample
from tests.corpus import check_each, rows
from tests.examples import examples
from tests.work_done import comes_to_an_end

pytestmark = pytest.mark.attack


def test_a_secret_is_hidden_however_the_text_gives_it_away() -> None:
    def is_hidden(text: str) -> None:
        for secret in ("hunter2Qx9Zk4Wv7Lm3", "s3cr3t-Pa55word-0f-m1ne-42abcdefgh"):
            masked = mask(text.replace("X", secret))
            assert secret not in masked
            assert HIDDEN in masked
            assert mask(masked) == masked

    check_each(rows("secrets/given_away.jsonl"), is_hidden)


def test_only_the_secret_itself_is_replaced() -> None:
    def is_replaced(row: tuple[str, str]) -> None:
        text, masked = row
        assert mask(text) == masked
        assert mask(masked) == masked

    check_each(rows("secrets/masked.jsonl"), is_replaced)


WORDS = r"""
    password token api_key pass session_id name value type auth Authorization: Bearer curl mysql
    -u -p me:x --password is the for = : := " ' ` { } [ ] ( ) < > , ; $ ${A} \ | [hidden] hunter2
    abc123def456 str null a.b f( cookie: a=b eyJabcdef.abcdef.x sk-ant-api03-abcdefgh ://a:b@c
    """.split()
BEGINNINGS = [beginning for beginning, _ in formats()]
words = st.sampled_from([*WORDS, *BEGINNINGS, " ", "\n", "  ", ": ", " = ", '": "', "password is "])
texts = st.lists(words | st.text(max_size=3), max_size=14).map("".join)


@given(texts)
@example("password is token=a")
@settings(max_examples=examples(75), deadline=None)
def test_what_is_hidden_stays_as_it_is_when_hidden_again(text: str) -> None:
    masked = mask(text)
    assert mask(masked) == masked


def test_a_secret_behind_a_hostile_text_is_still_found() -> None:
    """A pattern that tries everything would not come to the end of these."""
    tokens = [*BEGINNINGS]
    for beginning in BEGINNINGS:
        tokens += [beginning + "a1" * 7, "\\n" + beginning]
    for unit in [*rows("secrets/hostile.jsonl"), *sample(tokens, 14)]:
        with comes_to_an_end():
            masked = mask((unit * 100_000)[:100_000] + "\n password: hunter22")
        assert "hunter22" not in masked, unit
