"""A smaller form beside its original, line by line."""

from __future__ import annotations

from foreword.text.line_check import LineCheck, check_lines

ORIGINAL = "First. Second. Third.\nif balance < amount:\n    raise\nreturn 1\n"


def check(form: str) -> LineCheck:
    return check_lines(ORIGINAL, form)


def test_lines_in_their_order_with_a_mark_between_those_that_were_apart_are_the_authors() -> None:
    assert check("First. Second. Third.\n[... 2 lines]\nreturn 1\n") == LineCheck(
        lines=2, parts=0, torn=0, foreign=0
    )


def test_two_lines_that_were_apart_without_a_mark_between_are_not_in_their_place() -> None:
    assert check("if balance < amount:\nreturn 1\n").foreign == 2
    assert check("First. Second. Third.\nreturn 1\n").foreign == 1


def test_a_line_that_the_author_did_not_write_is_foreign() -> None:
    assert check("First. Second. Third.\n[...]\nreturn 2\n").foreign == 1


def test_whole_sentences_of_a_line_are_parts_and_half_of_one_is_torn() -> None:
    assert check("First. [...] Third.\n[... 3 lines]") == LineCheck(
        lines=1, parts=1, torn=0, foreign=0
    )
    assert check("First. Sec [...]\n").torn == 1


def test_a_whole_line_of_a_string_in_json_is_no_torn_one() -> None:
    whole = '{"source": ["import pots\\nlet a = 1\\nlet b = 2\\n"], "mode": 3}\n'
    form = '{"source": ["[...]let a = 1\\n[...]"], "mode": 3}\n'

    assert check_lines(whole, form) == LineCheck(lines=1, parts=1, torn=0, foreign=0)
