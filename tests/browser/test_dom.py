"""A page's elements as text: cleaned, and shortened along their structure without hiding that
they are."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.browser import Browser, Dom
from foreword.browser.dom import read
from foreword.demos.site import Site
from tests.browser.working import in_the_page
from tests.examples import examples


def _mark(lines: int, units: int) -> str:
    return f"[{lines} lines, {units} characters left out]"


def _element(tag: str, *children: Any, **attributes: str) -> list[Any]:
    return [tag, dict(attributes), list(children)]


def _page_with_rows(count: int) -> Dom:
    rows = [_element("li", f"row {at}") for at in range(count)]
    heading = _element("h1", "Rows")
    end = _element("p", "The end")
    return Dom(read(_element("body", heading, _element("ul", *rows), end)))


def test_scripts_styles_comments_and_what_is_invisible_are_not_in_it(
    browser: Browser, desk: Site
) -> None:
    browser.navigate(f"{desk.url}/hidden")
    text = browser.dom().text()

    assert "<button> In plain sight" in text
    for gone in (
        "Not displayed",
        "Not visible",
        "Has hidden",
        "No size",
        "Folded away",
        "comment",
        "font:",
        "A template",
    ):
        assert gone not in text


def test_frames_and_shadow_roots_are_in_their_places(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/frames")
    text = browser.dom().text()

    assert (
        text.index('<iframe title="Tides">')
        < text.index("04:12 high water")
        < text.index("<tide-gauge (shadow)>")
    )
    assert '<button id="read"> Read the gauge' in text


def test_events_data_addresses_and_odd_attributes_are_left_out(
    browser: Browser, desk: Site
) -> None:
    browser.navigate(f"{desk.url}/help")
    links = (
        '<a href="data:text/plain,x" onclick="no()" data-blob="y" id="a">A</a><a'
        ' href="/ok?token=abcdef123456">B</a>'
    )
    in_the_page(browser, f"() => {{ document.body.innerHTML = `{links}` }}")

    assert browser.dom().text() == '<body>\n  <a id="a"> A\n  <a href="/ok?token=[hidden]"> B'


def test_a_page_of_thousands_of_rows_is_cut_at_its_rows(browser: Browser, desk: Site) -> None:
    browser.navigate(f"{desk.url}/large")
    dom = browser.dom()
    short = dom.shorten(2_000, len, _mark)

    assert short is not None
    assert len(short) <= 2_000
    assert "more <tr> like this" in short
    assert '<p id="end"> The end of the list.' in short
    assert short.endswith("characters left out]")


def test_rows_give_way_first_then_depth_then_texts() -> None:
    assert _page_with_rows(3).shorten(1_000, len, _mark) == _page_with_rows(3).text()
    rows = _page_with_rows(100).shorten(220, len, _mark)
    assert rows is not None
    assert "... 9" in rows
    assert "<p> The end" in rows

    deep: Any = "far below"
    for _ in range(20):
        deep = _element("div", deep, _element("b", "beside"))
    cut = Dom(read(_element("body", deep))).shorten(300, len, _mark)
    assert cut is not None
    assert "elements," in cut

    long = Dom(read(_element("body", _element("p", "word " * 500)))).shorten(200, len, _mark)
    assert long is not None
    assert "more characters)" in long


def test_what_fits_nothing_gives_nothing() -> None:
    assert _page_with_rows(100).shorten(20, len, _mark) is None


_trees = st.recursive(
    st.text(min_size=1, max_size=30),
    lambda below: st.tuples(
        st.sampled_from(["div", "p", "li"]), st.just({}), st.lists(below, max_size=5)
    ).map(list),
    max_leaves=40,
)


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(_trees, max_size=6), st.integers(30, 600))
def test_a_shortened_page_is_never_over_its_budget(trees: list[Any], budget: int) -> None:
    dom = Dom(read(["body", {}, trees]))
    short = dom.shorten(budget, len, _mark)

    assert short is None or len(short) <= budget
