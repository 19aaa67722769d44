"""Where sentences end, and which lines stand alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.text.sentences import sentences, unwrapped_lines


@pytest.mark.parametrize(
    "text",
    [
        "It converts files (PyMuPDF backend. No system dependencies) to PDF",
        "The call `git add . && echo Done. Next` stages all of it",
        "Read `a.` Then the other letter is no sentence of its own",
        "See the list [first. Second] in the appendix",
        "Written by A. B. Smith et al. In the U.S. Navy it is used, cf. Jones, z. B. Berlin",
        "Compare No. 5, p. 12, vol. 3 and Fig. 2 of 1.2.3 in README.md",
        "It was (see p. 3 (or 4. Not 5) there) good",
    ],
)
def test_dots_in_brackets_code_and_abbreviations_end_nothing(text: str) -> None:
    assert sentences(text) == [text]


def test_a_sentence_that_ends_with_its_bracket_or_code_has_ended() -> None:
    assert sentences("It has no dependencies (none at all). Next. (An aside.) And `code`. End") == [
        "It has no dependencies (none at all). ",
        "Next. ",
        "(An aside.) ",
        "And `code`. ",
        "End",
    ]


def test_a_bracket_that_never_closes_swallows_nothing() -> None:
    assert sentences("Sad :( Really. Then this. Then that.") == [
        "Sad :( Really. ",
        "Then this. ",
        "Then that.",
    ]


def test_an_answer_of_no_ends_its_sentence() -> None:
    assert sentences("The answer is no. Then we left.") == ["The answer is no. ", "Then we left."]


def test_log_lines_stand_alone_and_wrapped_prose_does_not() -> None:
    log = [f"[12:0{n}] worker {n} took {'a' * n * 9} from the queue\n" for n in range(9)]
    assert unwrapped_lines("".join(log)) == log
    wrapped = (
        "The harbour master keeps a list of pumps and\nValves that were seen to leak on a day"
        " with a\n" * 5
    )
    assert unwrapped_lines(wrapped) == [wrapped]


@given(st.text(alphabet="aB .(`)[]\n\r1。", max_size=900))
def test_sentences_and_lines_join_to_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text
    assert "".join(unwrapped_lines(text)) == text


@pytest.mark.parametrize(
    "parts",
    [
        ["यह खुला है। ", "कुछ न भेजें।"],
        ["هل فشل؟ ", "افتح تذكرة."],
        ["« Non. » ", "Mais oui."],
        ["Das gilt z. B. Montags. ", "Dann nicht."],
        ["Это т. е. Москва. ", "Да."],
    ],
)
def test_sentences_end_in_other_languages(parts: list[str]) -> None:
    assert sentences("".join(parts)) == parts


def test_dots_with_a_space_in_front_end_nothing() -> None:
    assert sentences("test lid ... FAILED") == ["test lid ... FAILED"]


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
