"""Words and names in a text, and texts made to be slow to read.

Nothing here looks at a clock: read in more than linear time, these texts would keep the suite busy
for hours.
"""

from __future__ import annotations

import pytest

from foreword.text import markdown, weight
from foreword.text.cut import summary
from foreword.text.layouts import layout_of
from foreword.text.lines import scan
from foreword.text.names import LONGEST_NAME, has_name, names
from foreword.text.relevance import rank
from foreword.text.sentences import sentences
from tests.corpus import rows

LONG = 200_000
NAMELIKE = rows("forms/namelike.jsonl")


def long(unit: str) -> str:
    return unit * (LONG // len(unit))


def test_words_numbers_and_punctuation_around_a_name_hide_nothing_of_it() -> None:
    text = "Plain words. Then: a.b, (c_d) 12 -- 3.4 -e/f 5g! x-y/z.py; ... end./h i.j() K l_"
    assert names(text) == ["a.b", "c_d", "3.4", "-e/f", "5g", "x-y/z.py", "end./h", "i.j()"]


def test_paths_identifiers_codes_and_terms_in_code_type_are_names() -> None:
    text = (
        "Ask `the pump` in src/app/main.py: load_config, _private, fooBar, os.path.join(), ERR42,"
        " FW-12, CSS, #7."
    )
    assert names(text) == [
        *(
            "the pump",
            "src/app/main.py",
            "load_config",
            "_private",
            "fooBar",
            "os.path.join()",
            "ERR42",
            "FW-12",
        ),
        *("CSS", "#7"),
    ]
    assert not has_name("Nothing here has a name of its own, not even 12 of them.")


@pytest.mark.parametrize("unit", NAMELIKE)
@pytest.mark.parametrize("end", ["", "-!"])
def test_names_in_a_run_of_any_length_are_found_in_one_pass(unit: str, end: str) -> None:
    text = long(unit) + end
    assert all(len(name) <= LONGEST_NAME for name in names(text))
    assert has_name(text) == bool(names(text))


def test_a_name_that_nobody_would_type_is_not_one() -> None:
    assert names(f"{'a1' * 60} stands beside src/app.py") == ["src/app.py"]


@pytest.mark.parametrize("unit", ["a", "a1", "中", "a b_c ", "x/"])
def test_a_query_of_any_length_is_ranked(unit: str) -> None:
    assert rank(["the pump", "the valve"], "pump " + long(unit))[0] > 0


@pytest.mark.parametrize(
    "unit", [".", "`", "(", "[", ". ", '."', "``x", "\r\n", "\n ", "|-", "<!-- ", "> ", "- "]
)
def test_a_run_of_marks_is_split_and_weighed_in_one_pass(unit: str) -> None:
    text = long(unit)
    assert "".join(sentences(text)) == text
    parts = layout_of(text, "markdown", lambda at, part: len(part) > 400).pieces
    assert "".join(part.text for part in parts) == text
    assert len(weight.carry(parts)) == len(parts)


def test_front_matter_and_headings_that_never_end_are_read_in_one_pass() -> None:
    assert markdown.headings("---\r\n" + long("a\r\n")) == []
    assert markdown.first_title("# Top" + " " * LONG + "x").startswith("Top")
    assert len(list(scan("|a\n|" + long("-|") + "x"))) == 2


def test_a_table_of_thirty_thousand_rows_is_one_block_for_each_row() -> None:
    text = "| a | b |\n|---|---|\n" + "".join(f"| {row} | v |\n" for row in range(30_000))
    assert len(markdown.blocks(text)) == 30_001
    assert summary(text, 1_000, len, lambda lines, units: "[...]") is not None
