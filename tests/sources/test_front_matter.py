"""Front matter is split off where it is honest, and left in the text where it lies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.sources.front_matter import (
    LARGEST_CHARS,
    front_matter,
    mapping,
    repeated_key,
    without_front_matter,
)

# Each line stands for ten of the line before.
BOMB = "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]"
    for before, name in (("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"))
)


def test_fields_and_body_are_parted() -> None:
    text = "---\nkind: decision\ntags: [a, b]\nvalidated: true\n---\n\n# Title\n"
    assert front_matter(text) == (
        {"kind": "decision", "tags": ["a", "b"], "validated": True},
        "\n# Title\n",
        "",
    )


@pytest.mark.parametrize(
    "text", ["# Title\n", "", "text\n---\na: 1\n---\n", "----\na: 1\n----\n", "--- a\n---\n"]
)
def test_a_text_without_front_matter_is_all_body(text: str) -> None:
    assert front_matter(text) == ({}, text, "")


def test_line_ends_and_closing_dots_are_understood() -> None:
    assert front_matter("---\r\nkind: a\r\n---\r\nbody\r\n") == ({"kind": "a"}, "body\r\n", "")
    assert front_matter("---\nkind: a\n...\nbody") == ({"kind": "a"}, "body", "")
    assert front_matter("---\n---\nbody") == ({}, "body", "")
    assert front_matter("---\n# only a comment\n---") == ({}, "", "")


def test_dates_stay_as_they_are_written() -> None:
    fields, _, _ = front_matter(
        "---\na: 2024-03-05\nb: 2024-13-45\nc: 2024-03-05 10:00:00 +02:00\n---\n"
    )
    assert fields == {"a": "2024-03-05", "b": "2024-13-45", "c": "2024-03-05 10:00:00 +02:00"}


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ("- a\n- b", "must be a mapping of names to values, not a list"),
        ("just words", "not plain text"),
        ("a: [1", "not valid YAML"),
        ("\ta: 1", "(line 2)"),
        ("a: !!python/object:os.system x", "not valid YAML"),
        ("? [a]\n: b", "not valid YAML"),
        ("a: !!int foo", "not valid YAML"),
        ("a: " + "9" * 5_000, "a number of more than 400 digits"),
        ("a: \x07", "not valid YAML"),
        ("a: &a [*a]", "*a stands inside its own anchor"),
        ("a: &a [x, x]\n" + BOMB, "aliases make it more than 10,000 values"),
        ("a: " + "[" * 60_000, "nested more than 20 levels deep"),
        ("- " * 30_000, "nested more than 20 levels deep"),
        ("a: " + "x" * LARGEST_CHARS, "longer than 65,536 characters"),
    ],
)
def test_front_matter_that_lies_is_named_and_stays_in_the_text(block: str, problem: str) -> None:
    text = f"---\n{block}\n---\nbody\n"
    fields, body, said = front_matter(text)
    assert (fields, body) == ({}, text)
    assert problem in said
    assert "\n" not in said


def test_what_an_alias_repeats_is_read() -> None:
    fields, problem = mapping("base: &base {a: 1}\nrule: {<<: *base, b: 2}")
    assert (fields["rule"], problem) == ({"a": 1, "b": 2}, "")


def test_a_name_that_is_there_twice_is_named_with_its_line() -> None:
    assert repeated_key("a: {b: 1}\nc: [{d: 1}, {d: 2}]") == ""
    assert repeated_key("a: 1\nc:\n  - d: 1\n    d: 2") == "'d' is there twice (line 4)"


def test_front_matter_that_never_closes_is_named() -> None:
    text = "---\nkind: decision\n\n# Title\n"
    assert front_matter(text) == ({}, text, "front matter opened with --- and never closed")


@given(st.text(alphabet="ab:-\n &*[]{}!?'\"#|>1.<\t", max_size=80))
def test_no_block_raises_and_nothing_is_lost(block: str) -> None:
    text = f"---\n{block}\n---\nbody"
    _, body, problem = front_matter(text)
    assert body == text if problem else text.endswith(body)


def test_front_matter_that_is_not_valid_yaml_is_still_no_part_of_the_body() -> None:
    text = "---\nname: auditor\ndescription: Use when: the code is new\n---\n\n# Auditor\n"
    assert without_front_matter(text) == "\n# Auditor\n"
    rule = "---\n\nA text between two rules stays.\n\n---\n\nMore.\n"
    assert without_front_matter(rule) == rule
