"""Adding to JSON files: nothing of the author's is lost or moved, and what comes out is what
should be in it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.coding_agents import jsonc
from foreword.errors import BadSource
from tests.corpus import rows
from tests.examples import examples

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4)
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])
COMMENTED = """\
{
  // who we are
  "name": "tidepool", /* a harbour */
  "mcp": {
    "other": {"type": "local"}, // theirs
    // the last word
  },
}
"""


@settings(max_examples=examples(40), deadline=None)
@given(OBJECTS, INDENTS, VALUES, st.booleans())
def test_a_new_member_is_in_and_all_others_are_what_they_were(
    before: dict[str, Any], indent: Any, value: Any, wide: bool
) -> None:
    text = json.dumps(before, indent=indent, ensure_ascii=wide)
    after = jsonc.with_member(text, "a.json", ("the new one", "inside"), value)
    assert json.loads(after) == {**before, "the new one": {"inside": value}}
    assert jsonc.with_member(after, "a.json", ("the new one", "inside"), value) == after
    assert not jsonc.differs(after, "a.json", ("the new one", "inside"), value)


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(VALUES, max_size=4), INDENTS)
def test_a_new_item_is_the_last_of_its_list(before: list[Any], indent: Any) -> None:
    text = json.dumps({"hooks": {"Stop": before}}, indent=indent)
    mark = re.compile("us now")
    after = jsonc.with_item(text, "a.json", ("hooks", "Stop"), {"run": "us now"}, mark=mark)
    assert json.loads(after) == {"hooks": {"Stop": [*before, {"run": "us now"}]}}
    again = jsonc.with_item(after, "a.json", ("hooks", "Stop"), {"run": "us now"}, mark=mark)
    assert again == after


@settings(max_examples=examples(50), deadline=None)
@given(st.text(alphabet='{}[]",:/*\\ \n01truefalsn.e-', max_size=40))
def test_what_python_takes_for_json_is_taken_and_nothing_else(text: str) -> None:
    expected = None
    is_json = False
    try:
        expected = json.loads(text, parse_constant=lambda name: pytest.fail(name))
        is_json = True
    except (ValueError, pytest.fail.Exception):
        pass
    try:
        found = jsonc.read(text, "a.json")
    except BadSource:
        assert not is_json
    else:
        assert is_json
        assert found.value == expected or found.kind != "other"


def test_comments_and_trailing_commas_stay_where_they_are() -> None:
    after = jsonc.with_member(
        COMMENTED, "a.jsonc", ("mcp", "foreword"), {"type": "local"}, comments=True
    )
    after = jsonc.with_member(after, "a.jsonc", ("more",), True, comments=True)
    for line in COMMENTED.splitlines():
        assert line in after.splitlines() or line.strip() in after
    assert [line for line in after.splitlines() if line not in COMMENTED.splitlines()] == [
        '    "foreword": {',
        '      "type": "local"',
        "    },",
        '  "more": true,',
    ]
    without = re.sub(r"//.*|/\*.*\*/|,(?=\s*(?://.*\s*)*[}\]])", "", after)
    assert json.loads(re.sub(r",(?=\s*[}\]])", "", without))["mcp"].keys() == {"other", "foreword"}


def test_a_comment_behind_the_last_member_stays_behind_it() -> None:
    text = '{\n\t"a": 1 // one\n}\n'
    assert (
        jsonc.with_member(text, "f", ("b",), 2, comments=True)
        == '{\n\t"a": 1, // one\n\t"b": 2\n}\n'
    )


def test_windows_line_ends_stay_windows_line_ends() -> None:
    after = jsonc.with_member('{\r\n  "a": 1\r\n}\r\n', "f", ("b",), {"c": 2})
    assert after.count("\n") == after.count("\r\n") == 6


@pytest.mark.parametrize(("text", "where"), rows("no_jsonc.jsonl"))
def test_what_is_no_json_is_an_error_with_its_place(text: str, where: str) -> None:
    with pytest.raises(BadSource) as wrong:
        jsonc.with_member(text, "a.json", ("mcp", "x"), 1)
    assert str(wrong.value).startswith(where)
