"""Variables in chunks: the first rule that fits, measured after secrets are hidden."""

from __future__ import annotations

import json
from types import MappingProxyType

from hypothesis import example, given, settings
from hypothesis import strategies as st

from foreword.plan.variable_text import CUT, MOST_SHOWN, display, of_node, variable_lines
from tests.examples import examples
from tests.secrets.test_secrets import SHAPED, shows_a_secret, structures, unique


def test_the_lines_of_a_listing() -> None:
    variables = {
        "gmail_creds": {"email": "user@gmail.com", "password": "hunter2"},
        "node4.loginRequired": True,
        "node7.emails": [],
        "search_results": [
            {"title": "Gmail API", "url": "https://developers.google.com/" + "x" * 90}
        ]
        * 8,
        "current_page": "gmail_inbox",
        "selected": None,
        "headers": {"X-Trace": 1, "tags": [{"a": 1}]},
        "api_key": "abc",
    }
    assert (
        variable_lines(variables)
        == """\
- gmail_creds = {email: "user@gmail.com", password: "[hidden]"}
- node4.loginRequired = true
- node7.emails = [] (empty)
- search_results = [Array of 8 - first: {"title": "Gmail API", "url": "https://developers.google.com/xxxxxxxxxxxxxxxxxx...
- current_page = "gmail_inbox"
- selected = null
- headers = {"X-Trace": 1, tags: [{"a": 1}]}
- api_key = [hidden]"""
    )


def test_no_variables_are_said_to_be_none() -> None:
    assert variable_lines({}) == "no variables are set"


def test_empty_values() -> None:
    values: list[object] = [[], (), {}, MappingProxyType({}), "", None]
    shown = [display("v", value) for value in values]
    assert shown == ["[] (empty)", "[] (empty)", "{} (empty)", "{} (empty)", '""', "null"]
    assert display("password", None) == "null"
    assert display("v", [[], {}, "", None]) == '[[], {}, "", null]'


def test_a_text_counts_before_its_control_characters_are_escaped() -> None:
    assert display("v", "\n" * 100) == '"' + "\\n" * 100 + '"'
    assert display("v", "\n" * 101) == '"' + "\\n" * 100 + "..."


def test_an_object_counts_as_it_is_written() -> None:
    frame = len('{a: ""}')
    for length in (99, 100):
        assert (
            display("v", {"a": "x" * (length - frame)}) == '{a: "' + "x" * (length - frame) + '"}'
        )
    assert display("v", {"a": "x" * (101 - frame)}) == '{a: "' + "x" * (101 - frame) + '"...'


def test_an_array_with_a_long_first_element_is_cut_at_a_hundred_and_not_before() -> None:
    head = len('[Array of 2 - first: ""]')
    assert (
        display("v", ["x" * (100 - head), "y" * 99])
        == '[Array of 2 - first: "' + "x" * (100 - head) + '"]'
    )
    assert (
        display("v", ["x" * (101 - head), "y" * 99])
        == '[Array of 2 - first: "' + "x" * (101 - head) + '"...'
    )


def test_a_secret_is_hidden_before_anything_is_measured() -> None:
    key = "sk-ant-api03-" + "Q1" * 200
    assert display("v", key) == "[hidden]"
    assert display("v", f"the key {key} works") == '"the key [hidden] works"'
    assert (
        display("v", {"a": key, "password": ["x" * 500]}) == '{a: "[hidden]", password: "[hidden]"}'
    )
    assert display("node7.password", ["x"] * 500) == "[hidden]"


@given(st.integers(0, 120), st.sampled_from(sorted(SHAPED)))
@settings(deadline=None)
def test_a_cut_through_a_secret_shows_none_of_it(before: int, kind: str) -> None:
    key = SHAPED[kind]
    for shown in (
        display("v", "a" * before + " " + key),
        display("v", [{"b": "a" * before + " " + key}]),
    ):
        assert key[:12] not in shown
        assert not any(key[at : at + 6] in shown for at in range(len(key) - 5))


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
nested = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


@given(st.text(), nested)
@settings(deadline=None)
def test_a_variable_is_one_line_of_at_most_a_hundred_characters_and_the_marks(
    name: str, value: object
) -> None:
    line = variable_lines({name: value})
    assert len(line.splitlines()) == 1
    assert line.encode()
    if not isinstance(value, str):
        assert len(display("v", value)) <= MOST_SHOWN + len(CUT)


@given(st.lists(st.integers() | st.booleans() | st.text("abc é漢", max_size=9), min_size=1))
@settings(deadline=None)
@example([1])
def test_an_array_is_json_when_it_fits(value: list[object]) -> None:
    written = json.dumps(value, ensure_ascii=False)
    if len(written) <= MOST_SHOWN:
        assert display("v", value) == written
    else:
        first = f"[Array of {len(value)} - first: {json.dumps(value[0], ensure_ascii=False)}]"
        assert display("v", value) == first


@given(st.integers(0, 130), st.text("ab é漢😀", max_size=130))
@settings(deadline=None)
def test_the_cut_is_at_a_hundred_exactly(padding: int, text: str) -> None:
    whole = "x" * padding + text
    assert display("v", whole) == (f'"{whole}"' if len(whole) <= 100 else f'"{whole[:100]}...')


@given(structures, unique)
@settings(max_examples=examples(50), deadline=None)
def test_no_six_characters_of_a_secret_show(value: object, secret: str) -> None:
    shown = variable_lines(
        {"plain": value, "list": [value], "client_secret": secret, f"password={secret}": 1}
    )
    assert not shows_a_secret(shown)


def test_names_keep_to_their_line_and_hide_their_secrets() -> None:
    assert (
        variable_lines({"a\n- b": 1, "c\u2028\x1b": 2})
        == "- a\\u000a- b = 1\n- c\\u2028\\u001b = 2"
    )
    assert variable_lines({"sk-ant-api03-abcdefgh": 1}) == "- [hidden] = 1"


def test_depth_cycles_and_odd_values_are_shown_as_far_as_they_fit() -> None:
    deep: object = 1
    for _ in range(5000):
        deep = [deep]
    cycle: dict[str, object] = {}
    cycle["a"] = cycle
    assert display("v", deep).startswith("[Array of 1 - first: [[[[")
    assert display("v", cycle).startswith("{a: {a: {a: ")
    assert display("v", 10**5000).startswith("0x")
    assert display("v", b"abc") == '"[3 bytes]"'
    assert display("v", "\ud800") == '"\\ud800"'


def test_only_what_is_shown_of_a_large_value_is_read() -> None:
    class Rows(list[object]):
        def __getitem__(self, index: object) -> object:  # type: ignore[override]
            assert index == 0
            return "row"

        def __iter__(self):  # type: ignore[no-untyped-def]
            for _ in range(101):
                yield "row"
            raise AssertionError

        def __len__(self) -> int:
            return 10_000_000

    assert display("v", Rows()) == '[Array of 10000000 - first: "row"]'
    assert display("v", "ab " * 4_000_000).endswith("...")
    assert display("v", {"a": ["x: " * 4_000_000]}).endswith("...")


def test_a_long_secret_at_the_front_of_a_large_text_is_hidden_and_what_follows_it_shown() -> None:
    key = "-----BEGIN PRIVATE KEY-----" + "QX" * 100_000 + "-----END PRIVATE KEY-----"
    assert display("v", key + " is the key") == '"[hidden] is the key"'


def test_the_variables_of_a_node_by_any_of_its_names() -> None:
    variables = {"node7.a": 1, "node_7.b": 2, "node70.a": 3, "node7": 4, "login.page": 5, "page": 6}
    for node in (7, "7", "node7", "node_7"):
        assert of_node(variables, node) == {"node7.a": 1, "node_7.b": 2}
    assert of_node(variables, "login") == {"login.page": 5}
    assert of_node(variables, 8) == {}
