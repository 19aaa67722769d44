"""What files define and import, in several languages, with grammars and without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.repository.definitions import outline_of
from foreword.repository.regions import LONGEST, regions_of
from foreword.text.division import rows_of
from tests.repository.checkout import CART, PRICES

SCRIPT = """import { price } from "./prices";

export class Cart {
  constructor() {
    this.lines = [];
  }

  total() {
    return this.lines.length;
  }
}

export const pay = async (cart) => {
  return cart.total();
};
"""
GO = """package shop

import "fmt"

type Cart struct {
	lines []string
}

func (c *Cart) Total() int {
	return len(c.lines)
}
"""


def names(text: str, language: str) -> list[str]:
    return [one.qualified_name for one in outline_of(text, language).definitions]


def test_python_is_read_with_its_lines() -> None:
    outline = outline_of(PRICES, "python")
    found = {one.qualified_name: (one.first, one.last) for one in outline.definitions}

    assert found["PriceList"] == (8, 16)
    assert found["PriceList.lookup"] == (14, 16)
    assert found["apply_discount"] == (19, 23)
    assert "RATES" in found
    assert outline_of(CART, "python").imports == (
        "shop.prices",
        "shop.prices.PriceList",
        "shop.prices.apply_discount",
    )


def test_other_languages_are_read_by_their_grammars() -> None:
    assert names(SCRIPT, "javascript") == ["Cart", "Cart.constructor", "Cart.total", "pay"]
    assert outline_of(SCRIPT, "javascript").imports == ("./prices",)
    assert "Total" in names(GO, "go")


def test_without_grammars_the_words_that_open_a_definition_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("foreword.repository.definitions.parser_of", lambda language: None)

    assert {"Cart", "Total"} <= set(names(GO, "go"))
    assert "Cart" in names(SCRIPT, "javascript")
    assert names(PRICES + "\nthis is no Python", "python")[:2] == ["PriceList", "__init__"]


@given(
    st.lists(st.sampled_from(["", "x = 1", "def f():", "    y", "class A:", "  "]), max_size=300)
)
def test_every_line_is_in_one_region(lines: list[str]) -> None:
    text = "\n".join(lines)
    rows = rows_of(text)

    regions = regions_of(rows, outline_of(text, "python").definitions)

    covered = [line for one in regions for line in range(one.first, one.last + 1)]
    assert covered == list(range(1, len(rows) + 1))
    blank_free = [one for one in regions if one.last - one.first >= 2 * LONGEST]
    assert not [one for one in blank_free if rows[one.last - 1].strip()]
